"""The examples of connections.toml, in the documentation and on the page, are files without problems."""

from __future__ import annotations

import re

import pytest

from runtime.llm.connections_file import parse_connections
from runtime.llm.source import Connections
from tests.docs.test_commands_in_the_documentation import ROOT
from tests.runtime.llm.fake_servers import make_fake

PAGE = (ROOT / "docs/connections.md").read_text("utf-8")
SCREEN = (ROOT / "frontend/src/app/connections/ConnectionsPage.tsx").read_text("utf-8")
EXAMPLES = [
    *re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL),
    *re.findall(r"^const EXAMPLE = `(.*?)`;", SCREEN, re.MULTILINE | re.DOTALL),
]


def test_both_places_have_an_example() -> None:
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_can_be_used_as_it_stands(text: str) -> None:
    known = Connections(
        {"TEAM_KEY": "k", "OPENAI_API_KEY": "k"}, file=parse_connections(text), make=make_fake
    )
    assert known.problems == ()
    named = [one for one in known.all() if "connections.toml" in one.settings.sources]
    assert [one.settings.note for one in named] == [""] * len(named)
    assert {"local", "team"} <= {one.name for one in named}
