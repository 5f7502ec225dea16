"""Repairs on documents; the editor's are held to the same cases (`frontend/src/playbook/fixes.test.ts`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builder.validation import Fix, apply_fix
from builder.validation.fixes import FIX_COMMANDS

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "frontend" / "src" / "playbook" / "fixes.cases.json").read_text(
        encoding="utf-8"
    )
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_repair_changes_what_it_says_and_nothing_else(case: dict[str, Any]) -> None:
    before = json.dumps(case["document"])
    fix = Fix(command=case["command"], label="Mend it", args=case["args"])
    assert apply_fix(case["document"], fix) == case["result"]
    assert json.dumps(case["document"]) == before


def test_every_command_has_a_case() -> None:
    assert {case["command"] for case in CASES} == set(FIX_COMMANDS)
