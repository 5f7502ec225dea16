"""Each command that README and docs/ show is run here, or named with the test that runs it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)

RUN_ELSEWHERE = {
    "up": "tests/e2e/test_up.py",
    "verify": ".ci/run: this test is a part of it",
    "chat": "tests/runtime/runner: it waits for a person",
}
"""Subcommand -> where it is run; these start servers, run this suite, or wait for somebody."""


def shown_commands() -> list[tuple[str, str]]:
    """(page, command) of each `$ python3 manage.py …` line in a console block."""
    found = []
    for page in PAGES:
        for block in FENCE.findall(page.read_text(encoding="utf-8")):
            lines = block.replace("\\\n", " ").splitlines()
            found += [(page.name, line[2:].strip()) for line in lines if line.startswith("$ ")]
    return found


def subcommand(command: str) -> str:
    words = shlex.split(command)
    return words[2] if words[:2] == ["python3", "manage.py"] and len(words) > 2 else words[0]


def test_the_documentation_shows_the_two_commands() -> None:
    shown = {subcommand(command) for page, command in shown_commands() if page == "README.md"}
    assert {"up", "verify"} <= shown


@pytest.mark.parametrize(
    ("shown_in", "command"), [(p, c) for p, c in shown_commands() if subcommand(c) not in RUN_ELSEWHERE]
)
def test_a_shown_command_runs(shown_in: str, command: str, tmp_path: Path) -> None:
    arguments, _, target = command.partition(" > ")
    words = shlex.split(arguments)
    assert words[:2] == ["python3", "manage.py"], f"{shown_in}: no test can run {command}"
    environment = {**os.environ, "STUDIO_DATA_DIR": str(tmp_path / "data")}
    done = subprocess.run(
        [sys.executable, *words[1:]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, f"{shown_in}: {command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    if target:
        assert done.stdout.strip(), f"{shown_in}: {command} wrote nothing to {target}"
