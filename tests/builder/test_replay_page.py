"""docs/replay.md says what replay does: its examples run, and no field of a script is missing from it."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from runtime.runner.replay import script as parts
from runtime.runner.replay.script import Script, ScriptPart
from tests.runtime.desk import desk
from tests.support.replays import replayed

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "replay.md").read_text("utf-8")
GALLERY = ROOT / "builder" / "transfer" / "gallery" / "customer-support.json"
PARCEL = ROOT / "docs" / "examples" / "parcel.json"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_script_on_the_page_plays() -> None:
    script: dict[str, Any] = json.loads(blocks("json")[0])
    chat = script.pop("chat")
    seen = replayed(desk(start="pick"), *chat, **script)
    assert seen.problems == []
    assert seen.replies == ["We have two.", "Booked."]


def test_the_program_on_the_page_runs() -> None:
    names: dict[str, Any] = {"document": json.loads(GALLERY.read_text("utf-8"))}
    names["script"] = json.loads(PARCEL.read_text("utf-8"))
    exec(textwrap.dedent(blocks("python")[0]), names)
    assert names["outcome"].unused == 0


def kinds() -> list[type[ScriptPart]]:
    found = [kind for kind in vars(parts).values() if isinstance(kind, type) and issubclass(kind, ScriptPart)]
    return [kind for kind in found if kind is not ScriptPart]


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_every_field_of_a_script_stands_on_the_page(kind: type[ScriptPart]) -> None:
    missing = [name for name in kind.model_fields if not re.search(rf"\b{name}\b", PAGE)]
    assert missing == []


def test_the_example_of_the_readme_is_a_script() -> None:
    Script.model_validate_json(PARCEL.read_bytes())
