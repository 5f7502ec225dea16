"""A key in every connection, used, refused and repeated by its server; then it is looked for everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.people import Person, say, until
from tests.support.providers import Providers, providers
from tests.support.studio import StudioServer

pytestmark = pytest.mark.slow

CANARIES = {
    name: f"canary-{name}-0123456789"
    for name in ("anthropic", "openai", "inline", "team", "wrong", "password")
}
FILE = """
default = "inline"

[connections.inline]
url = "{url}/v1"
key = "{inline}"
model = "llama-local"

[connections.team]
api = "anthropic"
url = "{url}"
key_env = "TEAM_KEY"
model = "claude-sonnet-5"

[connections.named]
url = "http://me:{password}@{host}/v1?token={password}"

[connections.wrong]
url = "{url}/v1"
key = "{wrong} {wrong}"
"""
PLAYBOOK = {
    "id": "p",
    "name": "Keys",
    "initialStage": "a",
    "stages": [{"id": "a", "name": "A", "systemPrompt": "Answer."}],
    "options": {"llmRetries": 0, "debug": True},
}
MODELS = (
    "anthropic/claude-sonnet-5",
    "openai/gpt-6.2-sol",
    "inline/llama-local",
    "team/claude-sonnet-5",
)


def start_studio(folder: Path, servers: Providers) -> StudioServer:
    studio = StudioServer(
        folder,
        STUDIO_LOG_LEVEL="DEBUG",
        STUDIO_CONNECTIONS_FILE=str(folder / "connections.toml"),
        ANTHROPIC_API_KEY=CANARIES["anthropic"],
        ANTHROPIC_BASE_URL=servers.url,
        OPENAI_API_KEY=CANARIES["openai"],
        OPENAI_BASE_URL=f"{servers.url}/v1",
        TEAM_KEY=CANARIES["team"],
    )
    text = FILE.format(url=servers.url, host=servers.url.removeprefix("http://"), **CANARIES)
    text += '[connections.openai]\napi = "responses"\n'
    (folder / "connections.toml").write_text(text, "utf-8")
    (folder / "connections.toml").chmod(0o600)
    studio.start()
    return studio


def talk(person: Person, model: str, servers: Providers) -> list[str]:
    """A turn that is answered and one that the server refuses, with all that can be read of them."""
    session, seen = person.start(PLAYBOOK, model=model), []
    with person.socket(session) as socket:
        say(socket, type="hello", afterSeq=0)
        say(socket, type="message", clientId="m1", text="Hello")
        heard = until(socket, "turn_complete", "turn_failed")
        assert heard[-1]["type"] == "turn_complete", (model, heard[-1])
        servers.repeats_keys = True
        say(socket, type="message", clientId="m2", text="Again")
        failed = until(socket, "turn_complete", "turn_failed")
        assert failed[-1]["type"] == "turn_failed", model
        servers.repeats_keys = False
    seen += [json.dumps(heard + failed)]
    for path in ("", "/events", "/turns", "/costs", "/state", "/calls", "/calls/1", "/calls/1/request"):
        seen.append(person.text(f"/api/sessions/{session}{path}"))
    return seen


def test_no_key_gets_out_of_its_connection(tmp_path: Path) -> None:
    with providers() as servers:
        studio = start_studio(tmp_path, servers)
        person = Person(studio)
        seen = [person.text("/api/connections"), person.text("/api/me")]
        places = [problem["place"] for problem in json.loads(seen[0])["problems"]]
        assert places == ["connections.named.url", "connections.wrong.key"]
        assert all(place in studio.log_tail() for place in places), "the start says what it does not use"
        for model in MODELS:
            seen += talk(person, model, servers)
            name = model.partition("/")[0]
            for servers.repeats_keys in (False, True):
                seen.append(person.text(f"/api/connections/{name}/test", {}))
                assert json.loads(seen[-1])["ok"] is not servers.repeats_keys, seen[-1]
                seen.append(person.text(f"/api/connections/{name}/models"))
            servers.repeats_keys = False
        playbook = person.post("/api/playbooks", {"document": PLAYBOOK})["id"]
        seen.append(person.text(f"/api/playbooks/{playbook}/export"))
        studio.stop()
        stored = [path.read_bytes().decode("latin-1") for path in studio.data.rglob("*") if path.is_file()]
        assert {CANARIES[name] for name in ("anthropic", "openai", "inline", "team")} <= set(servers.keys)
    for canary in CANARIES.values():
        for text in (*seen, *stored, studio.log_tail(10**9)):
            at = text.find(canary)
            assert at < 0, text[max(0, at - 300) : at + 100]
