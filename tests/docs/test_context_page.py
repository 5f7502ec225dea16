"""docs/context.md shows what really comes out; `STUDIO_WRITE_GOLDEN=1` writes its blocks and picture anew."""

from __future__ import annotations

import os
import re

import pytest

from tests.docs.blocks import BLOCKS, ROOT
from tests.docs.window_picture import FILE, picture

PAGE = ROOT / "docs" / "context.md"
BLOCK = re.compile(r"(<!-- made from real output: (\w+) -->\n```\w+\n)(.*?)(```\n)", re.DOTALL)
WRITE = os.environ.get("STUDIO_WRITE_GOLDEN") == "1"


@pytest.fixture(scope="module", autouse=True)
def written_anew() -> None:
    if WRITE:
        text = BLOCK.sub(lambda match: match[1] + made(match[2]) + match[4], PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(text, encoding="utf-8")
        FILE.write_text(picture(), encoding="utf-8")


def made(name: str) -> str:
    return "".join(f"{line}\n" for line in BLOCKS[name]())


def shown() -> dict[str, str]:
    return {match[2]: match[3] for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))}


def test_the_page_has_every_block_once() -> None:
    assert sorted(match[2] for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))) == sorted(BLOCKS)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_what_really_comes_out(name: str) -> None:
    assert shown()[name] == made(name)


def test_the_picture_is_drawn_from_that_conversation() -> None:
    assert FILE.read_text(encoding="utf-8") == picture()


def test_what_the_page_says_of_the_blocks_is_so() -> None:
    """Numbers and names that the text around the blocks repeats."""
    text, blocks = PAGE.read_text(encoding="utf-8"), shown()
    assert re.search(r"\"\$(a_[0-9a-f]{8})\"", text)[1] in blocks["artifacts"]  # type: ignore[index]
    calls = {int(line.split()[0]): line.split() for line in blocks["calls"].splitlines()[1:-2]}
    shrunk = [n for n in calls if n > 1 and calls[n][1] == "desk" and calls[n - 1][1] == "search"]
    assert f"(calls {shrunk[0]} and {shrunk[1]})" in text
    assert "artifact" not in [line.split()[1] for line in blocks["agent"].splitlines()[1:-3]]
    assert {"yes", "no"} <= set(blocks["compactions"].split())
    assert "budget 5,300" in blocks["compactions"]
