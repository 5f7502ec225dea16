"""`manage.py chat`: with a pipe, with a terminal, and with what it cannot use."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.desk import rule, says, stage

Put = Callable[[str, dict[str, Any]], Path]

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "builder" / "transfer" / "gallery" / "customer-support.json"
COMMAND = [sys.executable, "manage.py", "chat"]
SECONDS = 90.0


def environment(**more: str) -> dict[str, str]:
    return {**{k: v for k, v in os.environ.items() if k != "ANTHROPIC_API_KEY"}, **more}


def piped(*arguments: str | Path, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=ROOT,
        env=environment(),
        input=typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=SECONDS,
    )


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes a document into a file."""

    def write(name: str, document: dict[str, Any]) -> Path:
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps(document), "utf-8")
        return file

    return write


def test_a_piped_conversation_reads_as_one() -> None:
    done = piped(GALLERY, typed="Hi\n/stage\n/window\n")
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[:3] == ["Customer support · /help lists the commands", "  · stage greeting", "you> Hi"]
    assert lines[3].startswith("rehearsal (no model)> ")
    assert "Greeting (greeting), 1 answered here" in lines
    assert any(line.startswith("call 1 · greeting · rehearsal") for line in lines)


def test_an_unusable_file_is_a_sentence_and_two() -> None:
    done = piped(ROOT / "README.md")
    assert (done.returncode, done.stdout) == (2, "")
    assert "This is not JSON" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_model_that_needs_a_key_is_refused_before_the_chat() -> None:
    done = piped(GALLERY, "--model", "claude-sonnet-5")
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs a key" in done.stderr


PAYER = {"id": "pay-desk", "name": "Pay desk", "initialStage": "ask", "stages": [stage("ask")]}
CALLER = {
    "id": "shop",
    "name": "Shop",
    "initialStage": "talk",
    "stages": [stage("talk")],
    "transitions": [rule("t", "talk", "agent:Payer", says("pay", source="user"), mode="call")],
    "agents": [{"name": "Payer", "playbook": "pay-desk"}],
}


def test_an_agents_playbook_is_given_beside_the_playbook_that_calls_it(put: Put) -> None:
    done = piped(put("shop", CALLER), "--agent", put("payer", PAYER), typed="I want to pay\n/stage\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  Ask (ask) of Payer(agent 1000), 1 answered here" in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("agents", "expected"),
    [
        (
            [],
            "caller.json#/transitions/0/action/targetStage: The playbook 'pay-desk' of agent 'Payer' was not",
        ),
        ([PAYER, {**PAYER, "name": "Other"}], "agent1.json#/id: There are two agent playbooks 'pay-desk'."),
        (
            [{**PAYER, "initialStage": "x"}],
            "caller.json#/agents: The agent playbook 'pay-desk' cannot be run",
        ),
        ([{**PAYER, "stages": []}], "agent0.json#/stages"),
    ],
)
def test_an_agents_playbook_that_cannot_be_used_is_a_sentence_and_two(
    put: Put, agents: list[dict[str, Any]], expected: str
) -> None:
    files = [put(f"agent{number}", document) for number, document in enumerate(agents)]
    done = piped(put("caller", CALLER), *(part for file in files for part in ("--agent", file)))
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1


class Terminal:
    """A person at a terminal."""

    def __init__(self, *arguments: str | Path, **more: str) -> None:
        mine, theirs = pty.openpty()
        self._fd = mine
        self.shown = ""
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            cwd=ROOT,
            env=environment(TERM="dumb", **more),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: controlling(theirs),
        )
        os.close(theirs)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def wait_for(self, text: str) -> None:
        end = time.monotonic() + SECONDS
        while text not in self.shown:
            ready, _, _ = select.select([self._fd], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{text!r} did not come; on the screen: {self.shown!r}"
            try:
                self.shown += os.read(self._fd, 4096).decode("utf-8", "replace")
            except OSError:  # the other side is closed
                assert text in self.shown, self.shown
        self.shown = self.shown.split(text, 1)[1]

    def close(self) -> int:
        code = self.process.wait(SECONDS)
        os.close(self._fd)
        return code


def controlling(fd: int) -> None:
    """Makes the terminal the process's own, so that Ctrl+C reaches it."""
    import fcntl
    import termios

    fcntl.ioctl(fd, termios.TIOCSCTTY, 0)


def test_ctrl_c_stops_the_reply_and_ctrl_d_leaves(tmp_path: Path) -> None:
    # A stage without tools: its reply streams from the first word.
    document = {"id": "p", "name": "P", "initialStage": "talk", "stages": [stage("talk")]}
    (tmp_path / "p.json").write_text(json.dumps(document))
    terminal = Terminal(tmp_path / "p.json", STUDIO_REHEARSAL_DELAY_MS="500")
    terminal.wait_for("you> ")
    terminal.type("Hi\n")
    terminal.wait_for("(no model)> ")
    terminal.type("\x03")
    terminal.wait_for("· stopped (stop)")
    terminal.wait_for("you> ")
    terminal.type("\x03")
    terminal.wait_for("(nothing runs; Ctrl+D or /quit leaves)")
    terminal.type("\x04")
    assert terminal.close() == 0
