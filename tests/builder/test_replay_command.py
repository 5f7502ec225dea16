"""`manage.py replay`: what it prints, how it ends, and what it says of files it cannot use. No database."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.runtime.desk import DECISION, rule, stage

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "builder" / "transfer" / "gallery" / "customer-support.json"
PARCEL = ROOT / "docs" / "examples" / "parcel.json"

SMALL: dict[str, Any] = {
    "id": "small",
    "name": "Small",
    "initialStage": "talk",
    "stages": [stage("talk")],
}
KEYWORD: dict[str, Any] = {"type": "keyword", "keywords": ["ui"]}
HELLO: dict[str, Any] = {"chat": [{"user": "hi", "model": [{"text": "Hello."}]}]}


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def replay(*arguments: str | Path) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("replay", *map(str, arguments), stdout=out, stderr=err)
    except SystemExit as end:
        return Ran(int(end.code or 0), out.getvalue(), err.getvalue())
    return Ran(0, out.getvalue(), err.getvalue())


@pytest.fixture
def put(tmp_path: Path) -> Any:
    """Writes a file of a test: JSON, or bytes as they are."""

    def write(name: str, content: Any) -> Path:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


def test_the_transcript_tells_who_spoke_what_ran_and_where_it_went() -> None:
    ran = replay(GALLERY, PARCEL)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "stage    greeting"
    assert any(line.startswith("tool     lookup_customer {") for line in lines)
    assert any(line.startswith("move     triage → resolution by t-order") for line in lines)
    assert lines[-1].startswith("end      ")


def test_json_is_one_object_a_line_of_the_three_kinds() -> None:
    ran = replay(GALLERY, PARCEL, "--json")
    kinds = [line["kind"] for line in ran.objects]
    assert set(kinds) == {"event", "call", "end"}
    assert kinds[-1] == "end"
    assert kinds.count("end") == 1


def test_the_objects_have_exactly_the_documented_fields() -> None:
    objects = replay(GALLERY, PARCEL, "--json").objects
    call = next(line for line in objects if line["kind"] == "call")
    assert list(call) == [
        "kind", "turn", "phase", "stage", "model", "window", "request", "predicted", "usage", "cost",
    ]  # fmt: skip
    assert list(call["window"]) == ["layout", "segments", "cachePoints"]
    fields = ["id", "kind", "role", "text", "tokens", "hash", "sources", "frame", "replaced"]
    assert list(call["window"]["segments"][0]) == fields
    assert list(call["window"]["cachePoints"][0]) == ["segment", "ttl", "reason"]
    assert list(call["predicted"]) == ["read", "write5m", "write1h", "fresh"]
    assert list(objects[0])[:6] == ["kind", "seq", "at", "session", "turn", "type"]
    assert list(objects[-1]) == [
        "kind", "stage", "complete", "variables", "callStack", "replies", "unusedOutputs", "efficiency",
    ]  # fmt: skip


def test_a_failed_turn_ends_with_one_and_a_sentence(put: Any) -> None:
    script = {"chat": [{"user": "hi", "model": []}]}
    ran = replay(put("p.json", SMALL), put("s.json", script), "--json")
    assert ran.code == 1
    assert ran.err.strip() == "Step 1: The script has no model output left for call 1."
    assert ran.objects[-1]["kind"] == "end"


def test_outputs_left_over_are_told_and_no_failure(put: Any) -> None:
    script = {"chat": [{"user": "hi", "model": [{"text": "Hello."}, {"text": "?"}]}]}
    ran = replay(put("p.json", SMALL), put("s.json", script))
    assert ran.code == 0
    assert ran.err.strip() == "1 model output of the script was not asked for."


@pytest.mark.parametrize("wire", ["openai", "openai-chat"])
def test_a_wire_of_a_later_release_is_refused_in_a_sentence(wire: str) -> None:
    ran = replay(GALLERY, PARCEL, "--wire", wire)
    assert ran.code == 2
    assert "comes with" in ran.err
    assert ran.out == ""


UNUSABLE_SCRIPTS = [
    (b"{", "The JSON ends too early"),
    (b"", "empty"),
    (b"\x89PNG\r\n\x1a\n\x00\xff", "not UTF-8"),
    (b'{"chat": [] "x"}', "line 1, column 13"),
    ([], "must be an object"),
    ({}, "#/chat: chat is missing"),
    ({"chat": [{"user": 4}]}, "#/chat/0/user: chat[0].user must be a text"),
    ({"chat": [{"usr": "hi"}]}, "#/chat/0: chat[0]: no kind of step"),
    ({"chat": [{"user": "hi", "model": [{"txt": "a"}]}]}, "#/chat/0/model/0/txt"),
    ({"chat": [{"user": "hi", "model": [{}]}]}, "#/chat/0/model/0"),
    ({"chat": [{"user": "hi", "stop": {}}]}, "#/chat/0/stop"),
    ({"chat": [{"wait_s": -1}]}, "#/chat/0/wait_s"),
    ({"chat": [{"wait_s": 1}, {"start": True}]}, "#/chat: "),
    ({"chat": [{"user": "hi", "interrupt": {"at_chunk": 1}}]}, "#/chat: "),
    ({"chat": [], "options": {"maxTools": 1}}, "#/options: options: there is no option maxTools"),
    (
        {"chat": [], "context": {"budget": 1}},
        "#/context: context: there is no setting of the context budget",
    ),
    ({"chat": [], "clock": "noon"}, "#/clock"),
    ({"chat": [], "tools": {"stock": {}}}, "#/tools/stock"),
]


@pytest.mark.parametrize(("content", "said"), UNUSABLE_SCRIPTS)
def test_an_unusable_script_is_one_sentence_with_its_place(put: Any, content: Any, said: str) -> None:
    ran = replay(put("p.json", SMALL), put("s.json", content))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert "s.json" in ran.err


def test_a_file_without_a_format_version_is_of_our_first_format(put: Any) -> None:
    rules = [{"id": "t", "from": "talk", "condition": KEYWORD, "action": {"targetStage": "end"}}]
    document = {**SMALL, "stages": [stage("talk"), stage("end")], "transitions": rules}
    script = {"chat": [{"user": "hi", "model": [{"text": "I build quietly."}]}]}
    assert replay(put("p.json", document), put("s.json", script), "--json").objects[-1]["stage"] == "talk"


LOST_TARGET = {**SMALL, "transitions": [rule("t", "talk", "nowhere", DECISION)]}
UNUSABLE_PLAYBOOKS = [
    (b"no json", "This is not JSON"),
    ([SMALL], "import one playbook at a time"),
    ({"nodes": [], "edges": []}, "comes from another product"),
    ({**SMALL, "formatVersion": 99}, "#/formatVersion"),
    ({**SMALL, "initialStage": "nowhere"}, "#/initialStage"),
    ({**SMALL, "stages": [stage("talk"), stage("talk")]}, "#/stages/1/id"),
    (LOST_TARGET, "#/transitions/0/action/targetStage"),
]


@pytest.mark.parametrize(("content", "said"), UNUSABLE_PLAYBOOKS)
def test_an_unusable_playbook_is_one_sentence_with_its_place(put: Any, content: Any, said: str) -> None:
    ran = replay(put("p.json", content), put("s.json", HELLO))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert "p.json" in ran.err


def test_a_missing_file_and_a_folder_are_named(put: Any, tmp_path: Path) -> None:
    script = put("s.json", HELLO)
    assert "none.json cannot be read: No such file" in replay(tmp_path / "none.json", script).err
    assert replay(tmp_path / "none.json", script).code == 2
    assert "cannot be read: Is a directory" in replay(put("p.json", SMALL), tmp_path).err


def test_what_a_reply_says_cannot_steer_the_terminal(put: Any) -> None:
    script = {"chat": [{"user": "hi", "model": [{"text": "\x1b[2Jgone\rnow\x07"}]}]}
    ran = replay(put("p.json", SMALL), put("s.json", script))
    assert not {"\x1b", "\r", "\x07"} & set(ran.out)


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "manage.py", "replay", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_the_output_is_the_same_in_every_process_and_language() -> None:
    first = run(GALLERY, PARCEL, "--json", PYTHONHASHSEED="1")
    second = run(
        GALLERY, PARCEL, "--json", PYTHONHASHSEED="77", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout


def test_a_reader_who_has_enough_is_no_error() -> None:
    command = f"{sys.executable} manage.py replay {GALLERY} {PARCEL} --json | head -1"
    done = subprocess.run(
        command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""


def test_it_needs_no_data_folder_no_vendor_and_no_connection(tmp_path: Path) -> None:
    program = (
        "import os, sys, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'builder.config.settings';"
        "django.setup();"
        "from django.core.management import call_command;"
        f"call_command('replay', {str(GALLERY)!r}, {str(PARCEL)!r});"
        "from django.db import connection;"
        "assert connection.connection is None;"
        "assert not {'anthropic', 'openai'} & set(sys.modules)"
    )
    folder = tmp_path / "data"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "STUDIO_DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert not folder.exists()


PAYER = {"id": "pay-desk", "name": "Pay desk", "initialStage": "ask", "stages": [stage("ask")]}
CALLER: dict[str, Any] = {
    **SMALL,
    "transitions": [rule("t", "talk", "agent:Payer", DECISION, mode="call")],
    "agents": [{"name": "Payer", "playbook": "pay-desk"}],
}
ASKS: dict[str, Any] = {"id": "c1", "name": "playbook_transition", "args": {"targetStage": "agent:Payer"}}
PAYS: dict[str, Any] = {"chat": [{"user": "pay", "model": [{"tool_calls": [ASKS]}, {"text": "Which card?"}]}]}


def test_an_agents_playbook_is_a_file_beside_the_script(put: Any) -> None:
    put("payer.json", PAYER)
    script = put("script.json", {**PAYS, "agents": {"pay-desk": "payer.json"}})
    ran = replay(put("caller.json", CALLER), script, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.objects[-1]["callStack"] == ["talk", "ask"]
    assert ran.objects[-1]["replies"] == ["Which card?"]


def test_an_agents_playbook_may_stand_in_the_script(put: Any) -> None:
    ran = replay(put("caller.json", CALLER), put("script.json", {**PAYS, "agents": {"pay-desk": PAYER}}))
    assert (ran.code, ran.err) == (0, "")
    assert "agent    Payer(agent 1000) is called" in ran.out


@pytest.mark.parametrize(
    ("agents", "expected"),
    [
        ({}, "caller.json#/transitions/0/action/targetStage: The playbook 'pay-desk' of agent 'Payer'"),
        ({"pay-desk": "lost.json"}, "lost.json cannot be read"),
        ({"pay-desk": {**PAYER, "stages": []}}, "script.json#/agents/pay-desk/stages"),
        ({"pay-desk": {**PAYER, "initialStage": "x"}}, "caller.json#/agents: The agent playbook 'pay-desk'"),
        ({"pay-desk": 7}, "script.json#/agents/pay-desk"),
    ],
)
def test_an_agents_playbook_that_cannot_be_used_is_told_with_its_place(
    put: Any, agents: dict[str, Any], expected: str
) -> None:
    ran = replay(put("caller.json", CALLER), put("script.json", {**PAYS, "agents": agents}))
    assert ran.code == 2
    assert expected in ran.err
