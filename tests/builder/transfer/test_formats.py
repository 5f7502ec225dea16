"""Files of every format there has been: they are kept as they were written, and load for good."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from builder.transfer import export, load
from builder.transfer.report import ReportEntry
from builder.transfer.upgrades import UPGRADES, upgrade
from builder.validation import check_document
from runtime.playbook import FORMAT_VERSION

FORMATS = Path(__file__).with_name("formats")
FILES = sorted(FORMATS.glob("*/*.json"))
Json = dict[str, Any]


def test_each_format_has_a_file_that_was_kept_and_an_upgrade_to_the_next() -> None:
    assert sorted(int(folder.name) for folder in FORMATS.iterdir()) == list(range(1, FORMAT_VERSION + 1))
    assert sorted(UPGRADES) == list(range(1, FORMAT_VERSION))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_kept_file_is_read_without_loss(file: Path) -> None:
    loaded = load(file.read_bytes())
    assert [entry for entry in loaded.report if entry.level != "info"] == []
    assert loaded.document is not None
    assert loaded.document["formatVersion"] == FORMAT_VERSION
    assert [d for d in check_document(loaded.document) if d.severity == "error"] == []
    if file.parent.name == str(FORMAT_VERSION):
        assert loaded.document == json.loads(file.read_bytes())
    again = load(export(loaded.document))
    assert again.document == loaded.document


def start_becomes_initial_stage(document: Json) -> tuple[Json, list[ReportEntry]]:
    rest = {name: value for name, value in document.items() if name != "start"}
    return {**rest, "initialStage": document["start"]}, []


def moods_are_gone(document: Json) -> tuple[Json, list[ReportEntry]]:
    rest = {name: value for name, value in document.items() if name != "mood"}
    entry = ReportEntry(level="warning", path="/mood", code="mood", message="There are no moods any more.")
    return rest, [entry] if "mood" in document else []


def test_upgrades_are_made_one_after_the_other_and_leave_the_old_document_alone() -> None:
    old: Json = {"formatVersion": 1, "start": "a", "mood": "sad"}
    before = copy.deepcopy(old)
    new, report = upgrade(old, {1: start_becomes_initial_stage, 2: moods_are_gone}, newest=3)
    assert (new, [entry.code for entry in report]) == ({"formatVersion": 3, "initialStage": "a"}, ["mood"])
    assert old == before


@pytest.mark.parametrize(
    ("version", "code"), [(4, "newer-format"), (0, "unknown-format"), ("2", "bad-format-version")]
)
def test_a_number_that_no_upgrade_begins_with_is_refused(version: object, code: str) -> None:
    document = {"formatVersion": version}
    unchanged, report = upgrade(document, {1: start_becomes_initial_stage, 2: moods_are_gone}, newest=3)
    assert (unchanged, [entry.code for entry in report]) == (document, [code])
