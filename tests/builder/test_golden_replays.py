"""Conversations with the gallery's playbooks and an agent, compared byte for byte with what was looked at.

`STUDIO_WRITE_GOLDEN=1 pytest tests/builder/test_golden_replays.py` writes them anew; read the difference
before you commit it.
"""

from __future__ import annotations

import io
import os
from itertools import zip_longest
from pathlib import Path

import pytest
from django.core.management import call_command

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "builder" / "transfer" / "gallery"
GOLDEN = ROOT / "tests" / "golden"
EXAMPLES = ROOT / "docs" / "examples"
PLAYED = [
    (GALLERY / "customer-support.json", EXAMPLES / "parcel.json"),
    (GALLERY / "customer-support.json", GOLDEN / "refused-refund.json"),
    (GALLERY / "customer-support.json", GOLDEN / "unknown-customer.json"),
    (GALLERY / "restaurant-booking.json", GOLDEN / "table-for-four.json"),
    (GALLERY / "restaurant-booking.json", GOLDEN / "called-off.json"),
    (GALLERY / "research-assistant.json", EXAMPLES / "keepers-log.json"),
    (GALLERY / "research-assistant.json", GOLDEN / "no-dragons.json"),
    (GALLERY / "research-assistant.json", EXAMPLES / "small-window.json"),
    (EXAMPLES / "travel-desk.json", EXAMPLES / "pay-by-agent.json"),
]
WRITE = os.environ.get("STUDIO_WRITE_GOLDEN") == "1"


def output_of(playbook: Path, script: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("replay", str(playbook), str(script), *options, stdout=out)
    return out.getvalue()


def first_difference(expected: str, actual: str) -> str | None:
    """The first line that differs, around the place where it does."""
    for number, (old, new) in enumerate(
        zip_longest(expected.splitlines(), actual.splitlines(), fillvalue=""), 1
    ):
        if old != new:
            place = next((i for i, (a, b) in enumerate(zip_longest(old, new)) if a != b), 0)
            start = max(0, place - 80)
            return f"line {number}:\n was {old[start : place + 160]!r}\n  is {new[start : place + 160]!r}"
    return None if expected == actual else "the line ends differ"


@pytest.mark.parametrize(("playbook", "script"), PLAYED, ids=[script.stem for _, script in PLAYED])
@pytest.mark.parametrize(
    ("suffix", "options"), [(".jsonl", ["--json"]), (".txt", [])], ids=["json", "transcript"]
)
def test_the_conversation_is_as_it_was(playbook: Path, script: Path, suffix: str, options: list[str]) -> None:
    file = GOLDEN / (script.stem + suffix)
    actual = output_of(playbook, script, *options)
    if WRITE:
        file.write_bytes(actual.encode())
        pytest.skip(f"{file.name} was written")
    assert first_difference(file.read_bytes().decode(), actual) is None
