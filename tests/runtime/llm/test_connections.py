"""Connections: from the environment and a file to who answers a stage."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.conversation.messages import AssistantMessage
from runtime.llm.base import BadRequest, LLMError, MessageComplete, NotAllowed
from runtime.llm.connection import without_key
from runtime.llm.connections_file import (
    NO_FILE,
    parse_connections,
    read_connections_file,
    usable_url,
)
from runtime.llm.source import Connections, make_server
from runtime.llm.trying import offer_of, try_connection
from runtime.playbook import LLMConfig
from tests.runtime.llm.fake_servers import FakeServer, connection_to, make_fake
from tests.runtime.llm.requests import simple_request

CANARY = "canary-7f3a-key"


def connections(text: str = "", **environ: str) -> Connections:
    file = parse_connections(text) if text else NO_FILE
    return Connections(environ, file=file, make=make_fake)


LOCAL = """
[connections.local]
url = "http://127.0.0.1:8080/v1/"
model = "qwen"
"""


# The file


def test_the_file_can_say_what_the_servers_models_can_do() -> None:
    text = f"{LOCAL}window = 32768\ntools = false\n"
    source = Connections({}, file=parse_connections(text))
    llm, model = source.get(LLMConfig(provider="local"))
    assert (model.window, model.tools) == (32768, False)
    assert llm.left_out(simple_request()) == ("tools",)
    assert "tools" not in llm.render(simple_request())
    plain = Connections({}, file=parse_connections(LOCAL)).get(LLMConfig(provider="local"))[1]
    assert (plain.window, plain.tools) == (8192, True)


def test_only_chat_completions_can_do_without_tools() -> None:
    text = '[connections.team]\napi = "anthropic"\nurl = "http://h"\ntools = false\n'
    [team] = [one for one in connections(text).all() if one.name == "team"]
    assert "`tools = false`" in team.settings.note


def test_a_file_names_connections_and_the_default() -> None:
    read = parse_connections(
        f'default = "local"\n{LOCAL}\n[connections.team]\napi = "anthropic"\nkey_env = "TEAM_KEY"'
    )
    assert read.problems == ()
    assert (read.default, list(read.entries)) == ("local", ["local", "team"])
    assert read.entries["local"].url == "http://127.0.0.1:8080/v1"


@pytest.mark.parametrize(
    ("text", "line", "place", "words"),
    [
        ("a = 1\nb =\n", 2, "", "no TOML"),
        (f"[connections.a]\nkey = {CANARY}\n", 2, "", "no TOML"),
        ("[connection.a]\nurl = 'http://x'", 1, "connection", "unknown"),
        ("[connections.a]\n\nurll = 'http://x'", 3, "connections.a.urll", "unknown"),
        ("[connections.a]\nurl = 'x:8080'", 2, "connections.a.url", "http://"),
        (f"[connections.a]\nurl = 'http://u:{CANARY}@[bad'", 2, "connections.a.url", ""),
        (f"[connections.a]\nurl = 'http://u:{CANARY}@h/v1'", 2, "connections.a.url", "password"),
        (f"[connections.a]\nurl = 'http://h/v1?k={CANARY}'", 2, "connections.a.url", "password"),
        ("[connections.b]\nurl='http://b'\n[connections.a]\nurl = 7", 4, "connections.a.url", "string"),
        ("[connections.a]\napi = 'soap'", 2, "connections.a.api", "'responses'"),
        (f"[connections.a]\nkey = '{CANARY} {CANARY}'", 2, "connections.a.key", "one word"),
        (f"[connections.a]\nkey_env = '{CANARY}'", 2, "connections.a.key_env", "environment variable"),
        (f"[connections.a]\nkey = '{CANARY}'\nkey_env = 'B'", 3, "connections.a", "one is enough"),
        ("[connections.'a/b']\nurl = 'http://x'", 1, "connections.a/b", "cannot be a name"),
        ("[connections.rehearsal]\nurl = 'http://x'", 1, "connections.rehearsal", "cannot be a name"),
        ("connections = 3", 1, "connections", "tables"),
        ("[connections]\na = 3", 2, "connections.a", "table"),
        ("default = 3", 1, "default", "name"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_with_its_line_and_without_its_values(
    text: str, line: int, place: str, words: str
) -> None:
    (problem,) = parse_connections(text).problems
    assert (problem.line, problem.place) == (line, place)
    assert words in problem.message
    assert CANARY not in str(problem)


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 5000, "a = " + "{a = " * 3000, "a = " + "9" * 5000],
    ids=["lists", "tables", "digits"],
)
def test_toml_that_its_reader_gives_up_on_is_a_problem_and_no_failure(text: str) -> None:
    [problem] = parse_connections(text).problems
    assert "Nothing of the file is used." in problem.message


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "connections.toml"
    path.write_text(LOCAL, "utf-8-sig")
    read = read_connections_file(path)
    assert (list(read.entries), read.problems) == (["local"], ())


@pytest.mark.parametrize(
    "url",
    [
        "http://h:abc",
        "http://h:99999",
        "http://h:0",
        "http://a b",
        "http://a\nb",
        "http://a/\x01",
        "http://[v1.a]",
        "http://[::1",
        "http://a\x7f",
    ],
)
def test_an_address_that_no_request_can_be_sent_to_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        usable_url(url)
    [settings] = [one.settings for one in connections(OPENAI_BASE_URL=url).all() if one.name == "openai"]
    assert settings.problem.startswith("OPENAI_BASE_URL cannot be used")


@pytest.mark.parametrize("url", ["http://h", "HTTPS://H:1/v1/", "http://[::1]:8080", "http://é.example/v1"])
def test_an_address_that_a_request_can_be_sent_to_is_taken(url: str) -> None:
    assert usable_url(f" {url}") == url.rstrip("/")


def test_one_bad_entry_leaves_the_others() -> None:
    read = parse_connections(f"{LOCAL}\n[connections.bad]\nurl = 1")
    assert list(read.entries) == ["local"]


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    Connections({}, file=parse_connections(text), make=make_fake)


def test_a_file_that_is_not_there_is_no_problem(tmp_path: Path) -> None:
    read = read_connections_file(tmp_path / "connections.toml")
    assert (read.found, read.problems) == (False, ())


def test_a_file_that_cannot_be_read_is_one(tmp_path: Path) -> None:
    (tmp_path / "connections.toml").write_bytes(b"\xff\xfe")
    assert "UTF-8" in read_connections_file(tmp_path / "connections.toml").problems[0].message
    assert "cannot be read" in read_connections_file(tmp_path).problems[0].message


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_key_that_others_can_read_is_pointed_out(tmp_path: Path) -> None:
    path = tmp_path / "connections.toml"
    path.write_text(f"[connections.a]\nurl = 'http://x'\nkey = '{CANARY}'", "utf-8")
    path.chmod(0o644)
    assert "chmod 600" in read_connections_file(path).problems[0].message
    path.chmod(0o600)
    assert read_connections_file(path).problems == ()


# The environment and the file together


def test_without_anything_both_vendors_say_what_they_need() -> None:
    notes = {one.name: (one.settings.note, one.settings.sources) for one in connections().all()}
    assert notes == {
        "anthropic": ("Needs ANTHROPIC_API_KEY.", ()),
        "openai": ("Needs OPENAI_API_KEY.", ()),
    }


@pytest.mark.parametrize(
    ("environ", "text", "api", "model"),
    [
        ({"OPENAI_API_KEY": "k"}, "", "responses", "gpt-6.2-sol"),
        ({"OPENAI_BASE_URL": "http://h/v1"}, "", "chat", ""),
        (
            {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://eu.api.openai.com/v1"},
            "",
            "responses",
            "gpt-6.2-sol",
        ),
        (
            {"OPENAI_BASE_URL": "http://h/v1"},
            "[connections.openai]\napi = 'responses'",
            "responses",
            "gpt-6.2-sol",
        ),
        ({"OPENAI_API_KEY": "k"}, "[connections.openai]\nurl = 'http://h/v1'\nmodel = 'm'", "chat", "m"),
    ],
)
def test_an_address_of_its_own_is_a_compatible_server_unless_the_file_says_otherwise(
    environ: dict[str, str], text: str, api: str, model: str
) -> None:
    one = connections(text, **environ).named("openai")
    assert one is not None
    assert (one.settings.api, one.settings.model, one.settings.usable) == (api, model, True)


def test_the_file_goes_before_the_environment_and_both_are_named() -> None:
    text = "[connections.anthropic]\nmodel = 'claude-opus-5'"
    one = connections(text, ANTHROPIC_API_KEY="k").named("anthropic")
    assert one is not None
    assert one.settings.sources == ("environment", "connections.toml")
    assert (one.settings.key_source, one.settings.model) == ("ANTHROPIC_API_KEY", "claude-opus-5")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("[connections.a]\nkey_env = 'A_KEY'\nurl = 'http://x'", "Needs A_KEY."),
        ("[connections.a]\napi = 'anthropic'", "Needs `key_env` or `key` in connections.toml."),
        ("[connections.a]\nkey = 'k'", "Needs `url` in connections.toml."),
    ],
)
def test_an_entry_that_lacks_something_says_what(text: str, note: str) -> None:
    one = connections(text).named("a")
    assert one is not None
    assert (one.settings.usable, one.settings.note) == (False, note)


def test_a_variable_that_cannot_be_used_is_named_without_its_value() -> None:
    source = connections(ANTHROPIC_API_KEY=f"{CANARY}\nx", OPENAI_BASE_URL=f"ftp://{CANARY}")
    notes = [one.settings.note for one in source.all()]
    assert ["ANTHROPIC_API_KEY" in notes[0], "OPENAI_BASE_URL" in notes[1]] == [True, True]
    assert CANARY not in " ".join(notes)
    assert not any(one.settings.usable for one in source.all())


def test_a_key_is_in_no_representation_of_its_connection() -> None:
    assert CANARY not in repr(connections(f"[connections.b]\nurl = 'http://x'\nkey = '{CANARY}'").named("b"))


# Who answers


@pytest.mark.parametrize(
    ("config", "by", "name", "model"),
    [
        ({"provider": "local"}, "model", "local", "qwen"),
        ({"provider": "local", "model": "other"}, "model", "local", "other"),
        ({"model": "qwen"}, "model", "local", "qwen"),
        ({"model": "mistral-small"}, "model", "local", "mistral-small"),
        ({"model": "claude-opus-5"}, "rehearsal", "anthropic", "claude-opus-5"),
        ({"provider": "elsewhere", "model": "x"}, "rehearsal", None, "x"),
        ({"provider": "rehearsal"}, "rehearsal", None, ""),
        ({}, "rehearsal", None, ""),
    ],
)
def test_a_stage_s_settings_name_who_answers(
    config: dict[str, str], by: str, name: str | None, model: str
) -> None:
    answer = connections(LOCAL).answer(LLMConfig.model_validate(config))
    assert (answer.by, answer.connection and answer.connection.name, answer.model) == (by, name, model)
    assert bool(answer.reason) == (by != "model" and config.get("provider") != "rehearsal")


def test_the_default_answers_a_playbook_that_names_nothing() -> None:
    assert connections(f'default = "local"\n{LOCAL}').answer(LLMConfig()).model == "qwen"
    (problem,) = connections(f'default = "locale"\n{LOCAL}').problems
    assert problem.place == "default"


@pytest.mark.parametrize(
    ("choice", "name", "model"),
    [
        ("local/qwen", "local", "qwen"),
        ("local/org/model:7b", "local", "org/model:7b"),
        ("local/", "local", "qwen"),
        ("anthropic/claude-opus-5", "anthropic", "claude-opus-5"),
        ("claude-opus-5", "anthropic", "claude-opus-5"),
        ("org/model", "local", "org/model"),
    ],
)
def test_a_session_s_choice_names_a_connection_and_a_model(choice: str, name: str, model: str) -> None:
    answer = connections(LOCAL, ANTHROPIC_API_KEY="k").answer(LLMConfig(model="x"), choice)
    assert answer.connection is not None
    assert (answer.connection.name, answer.model) == (name, model)


def test_the_record_is_that_of_the_api_which_is_spoken() -> None:
    llm, model = connections(LOCAL).get(LLMConfig(provider="local"))
    assert (llm.provider, model.provider, model.prices) == ("openai-chat", "openai-chat", None)


def test_a_connection_without_a_model_asks_for_one_instead_of_playing_something_else() -> None:
    source = connections("[connections.a]\nurl = 'http://x'")
    with pytest.raises(BadRequest, match="has no model of its own"):
        source.get(LLMConfig(provider="a"))


def test_a_model_of_two_connections_is_offered_by_both() -> None:
    menu = connections("[connections.team]\napi = 'anthropic'\nkey = 'k'", ANTHROPIC_API_KEY="k").models()
    assert {one.provider for one in menu if one.id == "claude-opus-5"} == {"anthropic", "team"}


def test_what_a_model_does_not_take_is_known_without_a_key() -> None:
    source = Connections({}, make=make_server)
    config = LLMConfig(model="claude-sonnet-5", temperature=0.5)
    assert source.left_out(config) == ("temperature",)
    assert source.left_out(LLMConfig(temperature=0.5)) == ()


# A test of a connection


async def test_a_test_asks_for_the_connection_s_own_model_and_lists_what_there_is() -> None:
    server = FakeServer(models=["qwen", "other"])
    trial = await try_connection(connection_to(server, model="qwen"))
    assert (trial.ok, trial.message, trial.offer.models) == (
        True,
        "It answers and has qwen.",
        ("qwen", "other"),
    )
    assert server.asked == ["qwen"]


async def test_a_missing_model_is_told_with_those_that_there_are() -> None:
    class Without(FakeServer):
        async def check(self, model: str | None) -> None:
            raise BadRequest("The provider does not know this model.", status=404)

    trial = await try_connection(connection_to(Without(models=["qwen"])), "qwem")
    assert (trial.ok, trial.code, trial.offer.models) == (False, "bad_request", ("qwen",))


async def test_a_server_that_does_not_answer_is_not_waited_for_for_ever() -> None:
    class Silent(FakeServer):
        async def check(self, model: str | None) -> None:
            await asyncio.Event().wait()

    trial = await try_connection(connection_to(Silent()), patience_s=0.01)
    assert (trial.ok, trial.code) == (False, "connection_lost")
    assert "did not answer" in trial.message


async def test_what_is_not_set_up_is_not_asked() -> None:
    one = connections().named("openai")
    assert one is not None
    trial = await try_connection(one)
    assert (trial.code, trial.message) == ("not_set_up", "Needs OPENAI_API_KEY.")
    assert (await offer_of(one)).problem == "Needs OPENAI_API_KEY."


async def test_a_key_that_a_server_repeats_is_hidden_in_every_error() -> None:
    server = FakeServer(key=CANARY, failure=NotAllowed(f"Incorrect API key provided: {CANARY}."))
    connection = connection_to(server)
    trial = await try_connection(connection)
    assert "Incorrect API key" in trial.message
    assert CANARY not in repr((trial, await offer_of(connection)))
    with pytest.raises(LLMError) as caught:
        [event async for event in connection.llm.stream(simple_request())]
    assert CANARY not in f"{caught.value!r} {caught.value} {caught.value.message}"


@pytest.mark.parametrize("cut", range(4, len(CANARY)))
def test_a_key_that_was_cut_off_is_hidden_too(cut: int) -> None:
    assert without_key(f"You sent {CANARY[:cut]}…", CANARY) == "You sent ***"
    assert without_key(f"{CANARY} and {CANARY[:cut]}", CANARY) == "*** and ***"


def test_a_server_without_a_key_says_what_it_likes() -> None:
    assert without_key("Not found", "") == "Not found"


async def test_leaving_a_stream_leaves_the_adapter_s() -> None:
    left: list[str] = []

    class Endless(FakeServer):
        async def stream(self, request):  # type: ignore[no-untyped-def]
            try:
                while True:
                    yield MessageComplete(AssistantMessage(text="x"))
            finally:
                left.append("left")

    stream = connection_to(Endless()).llm.stream(simple_request())
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    assert left == ["left"]
