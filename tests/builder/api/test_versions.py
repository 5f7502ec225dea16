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


def test_two_versions_or_a_version_and_the_draft_are_compared(ana: Person) -> None:
    playbook = ana.create(document(name="One"))
    path = f"/playbooks/{playbook['id']}"
    ana.post(f"{path}/versions", {"revision": 1})
    ana.put(f"{path}/draft", {"revision": 1, "document": document(name="Two")})
    ana.post(f"{path}/versions", {"revision": 2})
    for query in ("before=1&after=2", "before=1"):
        (change,) = ana.get(f"{path}/diff?{query}").json()["changes"]
        assert (change["kind"], change["fields"][0]["before"], change["fields"][0]["after"]) == (
            "renamed",
            "One",
            "Two",
        )
    assert ana.get(f"{path}/diff?before=2").json()["changes"] == []
    assert ana.get(f"{path}/diff?before=9").status_code == 404


def test_a_stale_save_is_merged_with_what_was_saved_in_the_meantime(ana: Person) -> None:
    playbook = ana.create(document())
    path = f"/playbooks/{playbook['id']}"
    ana.put(f"{path}/draft", {"revision": 1, "document": document(name="Theirs")})
    mine = document(description="Mine")
    merged = ana.post(f"{path}/merge", {"base": document(), "mine": mine}).json()
    assert (merged["revision"], merged["conflicts"]) == (2, [])
    assert (merged["document"]["name"], merged["document"]["description"]) == ("Theirs", "Mine")
    assert [change["kind"] for change in merged["taken"]["changes"]] == ["renamed"]
    saved = ana.put(f"{path}/draft", {"revision": 2, "document": merged["document"]})
    assert saved.status_code == 200


def test_what_both_changed_waits_for_a_choice_and_nothing_is_saved(ana: Person) -> None:
    playbook = ana.create(document())
    path = f"/playbooks/{playbook['id']}"
    ana.put(f"{path}/draft", {"revision": 1, "document": document(name="Theirs")})
    given = {"base": document(), "mine": document(name="Mine")}
    (conflict,) = ana.post(f"{path}/merge", given).json()["conflicts"]
    assert (conflict["key"], conflict["choice"]) == ("/name", None)
    assert [conflict[side]["value"] for side in ("base", "mine", "theirs")] == ["Desk", "Mine", "Theirs"]
    settled = ana.post(f"{path}/merge", {**given, "choices": {"/name": "theirs"}}).json()
    assert (settled["document"]["name"], settled["conflicts"][0]["choice"]) == ("Theirs", "theirs")
    assert ana.get(path).json()["revision"] == 2
    unknown = ana.post(f"{path}/merge", {"mine": document(name="Mine")}).json()
    assert [conflict["key"] for conflict in unknown["conflicts"]] == ["/name"]
    assert ana.post(f"{path}/merge", {**given, "choices": {"/name": "nobody"}}).status_code == 422
