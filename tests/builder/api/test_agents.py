"""The documents of the playbooks that a document calls as agents."""

from __future__ import annotations

from typing import Any

from tests.builder.api.conftest import Person
from tests.builder.documents import document


def calling(name: str, *ids: str) -> dict[str, Any]:
    """A document of that id with agents of those ids."""
    agents = [{"name": f"A{number}", "playbook": called} for number, called in enumerate(ids)]
    return document(id=name, name=name, agents=agents)


def found(person: Person, *ids: str) -> dict[str, str]:
    answer = person.post("/playbooks/agents", {"document": calling("root", *ids)})
    assert answer.status_code == 200
    names = {key: value["name"] for key, value in answer.json()["playbooks"].items()}
    assert names == {key: value["name"] for key, value in answer.json()["agents"].items()}
    return names


def test_agents_are_found_by_the_id_of_their_document_with_those_they_call(ana: Person) -> None:
    ana.create(calling("pay", "bank"))
    ana.create(calling("bank", "pay"))
    ana.create(calling("other"))
    assert found(ana, "pay") == {"pay": "pay", "bank": "bank"}


def test_an_agent_may_be_named_by_the_id_of_the_playbook(ana: Person) -> None:
    key = ana.create(calling("pay"))["id"]
    assert found(ana, key) == {key: "pay"}


def test_an_agent_that_nobody_has_or_that_is_deleted_is_left_out(ana: Person) -> None:
    ana.send("DELETE", f"/playbooks/{ana.create(calling('gone'))['id']}")
    assert found(ana, "gone", "never") == {}


def test_of_several_with_one_id_the_newest_is_meant(ana: Person) -> None:
    ana.create({**calling("pay"), "name": "old"})
    newer = ana.create({**calling("pay"), "name": "new"})
    changed = {"revision": 1, "document": {**calling("pay"), "name": "new"}}
    assert ana.put(f"/playbooks/{newer['id']}/draft", changed).status_code == 200
    assert found(ana, "pay") == {"pay": "new"}


def test_somebody_elses_playbook_is_no_agent(ana: Person, ben: Person) -> None:
    ben.create(calling("pay"))
    assert found(ana, "pay") == {}
