"""Versions: what is kept for good."""

from __future__ import annotations

from tests.builder.api.conftest import Person, error_of
from tests.builder.documents import document


def test_a_version_keeps_the_draft_and_later_saves_leave_it_alone(ana: Person) -> None:
    playbook = ana.create(document(name="One"))
    path = f"/playbooks/{playbook['id']}"
    made = ana.post(f"{path}/versions", {"revision": 1, "note": "as shown to Eve"})
    assert made.status_code == 201
    ana.put(f"{path}/draft", {"revision": 1, "document": document(name="Two")})
    version = ana.get(f"{path}/versions/1").json()
    assert (version["number"], version["note"], version["author"]) == (1, "as shown to Eve", "ana")
    assert version["document"]["name"] == "One"
    assert [entry["number"] for entry in ana.get(f"{path}/versions").json()] == [1]
    assert ana.get(path).json()["versions"][0]["note"] == "as shown to Eve"


def test_a_version_of_a_draft_that_moved_on_is_refused(ana: Person) -> None:
    playbook = ana.create(document())
    path = f"/playbooks/{playbook['id']}"
    ana.put(f"{path}/draft", {"revision": 1, "document": document(name="Two")})
    answer = ana.post(f"{path}/versions", {"revision": 1})
    assert (answer.status_code, error_of(answer)["code"]) == (409, "stale-revision")
    assert answer.json()["current"]["revision"] == 2
    assert ana.get(f"{path}/versions").json() == []


def test_restoring_a_version_is_a_new_revision_of_the_draft(ana: Person) -> None:
    playbook = ana.create(document(name="One"))
    path = f"/playbooks/{playbook['id']}"
    ana.post(f"{path}/versions", {"revision": 1})
    ana.put(f"{path}/draft", {"revision": 1, "document": document(name="Two")})
    restored = ana.post(f"{path}/versions/1/restore", {"revision": 2}).json()
    assert (restored["revision"], restored["document"]["name"], restored["name"]) == (3, "One", "One")
    assert ana.post(f"{path}/versions/1/restore", {"revision": 2}).status_code == 409


def test_versions_are_numbered_one_by_one(ana: Person) -> None:
    playbook = ana.create(document())
    path = f"/playbooks/{playbook['id']}/versions"
    numbers = [ana.post(path, {"revision": 1}).json()["number"] for _ in range(3)]
    assert numbers == [1, 2, 3]
    assert [entry["number"] for entry in ana.get(path).json()] == [3, 2, 1]
    assert ana.get(f"{path}/4").status_code == 404
