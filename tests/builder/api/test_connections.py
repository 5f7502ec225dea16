"""The page of connections: what it shows, what a test says, and that no key is ever in an answer."""

from __future__ import annotations

import pytest
from django.test import Client

from runtime import wiring
from runtime.llm.base import NotAllowed
from runtime.llm.connections_file import Api, parse_connections
from runtime.llm.source import Connections
from tests.builder.api.conftest import Person, error_of
from tests.runtime.llm.fake_servers import FakeServer

CANARY = "canary-7f3a-key"
FILE = f"""
default = "local"
oops = 1

[connections.local]
url = "http://127.0.0.1:8080/v1"
key = "{CANARY}"
model = "qwen"
"""


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeServer]:
    """The servers behind this process's connections, by API."""
    made: dict[str, FakeServer] = {}

    def make(api: Api, key: str, url: str | None) -> FakeServer:
        made[api] = FakeServer(api, key, url, ["qwen", "other"])
        return made[api]

    known = Connections({"ANTHROPIC_API_KEY": CANARY}, file=parse_connections(FILE), make=make)
    monkeypatch.setattr(wiring, "connections", lambda: known)
    return made


def test_the_page_says_where_each_connection_comes_from_and_never_its_key(
    ana: Person, servers: dict[str, FakeServer]
) -> None:
    answer = ana.get("/connections")
    shown = answer.json()
    anthropic, openai, local = shown["connections"]
    assert (anthropic["name"], anthropic["keySource"], anthropic["usable"]) == (
        "anthropic",
        "ANTHROPIC_API_KEY",
        True,
    )
    assert (openai["usable"], openai["keyPresent"], openai["note"]) == (False, False, "Needs OPENAI_API_KEY.")
    assert (local["url"], local["sources"], local["isDefault"]) == (
        "http://127.0.0.1:8080/v1",
        ["connections.toml"],
        True,
    )
    assert [(problem["line"], problem["place"]) for problem in shown["problems"]] == [(3, "oops")]
    assert CANARY not in answer.content.decode()


def test_a_test_names_the_model_and_lists_what_the_server_has(
    ana: Person, servers: dict[str, FakeServer]
) -> None:
    result = ana.post("/connections/local/test", {}).json()
    assert (result["ok"], result["model"], result["offer"]["models"]) == (True, "qwen", ["qwen", "other"])
    ana.post("/connections/local/test", {"model": "third"})
    assert servers["chat"].asked == ["qwen", "third"]
    assert ana.get("/connections/local/models").json() == {"models": ["qwen", "other"], "problem": ""}


def test_a_failed_test_is_an_answer_in_words(ana: Person, servers: dict[str, FakeServer]) -> None:
    servers["anthropic"].failure = NotAllowed(f"The provider does not accept the key {CANARY}.", status=401)
    answer = ana.post("/connections/anthropic/test", {})
    assert (answer.status_code, answer.json()["ok"], answer.json()["code"]) == (200, False, "not_allowed")
    assert answer.json()["message"] == "The provider does not accept the key ***."


def test_an_unknown_connection_is_not_found(ana: Person, servers: dict[str, FakeServer]) -> None:
    for answer in (ana.post("/connections/nothing/test", {}), ana.get("/connections/nothing/models")):
        assert (answer.status_code, error_of(answer)["code"]) == (404, "not-found")


@pytest.mark.parametrize(
    ("config", "answers", "connection", "left_out"),
    [
        ({"provider": "local", "model": "x", "temperature": 1}, "model", "local", ["temperature"]),
        ({"model": "gpt-6.2-sol", "temperature": 1}, "rehearsal", "openai", ["temperature"]),
        ({}, "model", "local", []),
        ({"provider": "elsewhere"}, "rehearsal", "", []),
    ],
)
def test_a_stage_s_settings_say_who_would_answer(
    ana: Person,
    servers: dict[str, FakeServer],
    config: dict[str, object],
    answers: str,
    connection: str,
    left_out: list[str],
) -> None:
    told = ana.post("/connections/resolve", {"config": config}).json()
    assert (told["answers"], told["connection"], told["leftOut"]) == (answers, connection, left_out)
    assert bool(told["reason"]) == (answers != "model")


def test_a_stranger_learns_nothing_of_connections(db: None) -> None:
    for method, path in (
        ("GET", ""),
        ("POST", "/resolve"),
        ("GET", "/anthropic/models"),
        ("POST", "/anthropic/test"),
    ):
        answer = Client().generic(method, f"/api/connections{path}", b"{}", content_type="application/json")
        assert (answer.status_code, error_of(answer)["code"]) == (401, "not-signed-in"), path
