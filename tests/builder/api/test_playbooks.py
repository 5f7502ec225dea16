"""Playbooks and drafts over HTTP."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from builder.models import SavedPlaybook
from builder.transfer import export
from tests.builder.api.conftest import Person, error_of
from tests.builder.documents import document, end, rule, stage


def test_a_new_playbook_is_kept_exactly_as_it_was_sent(ana: Person) -> None:
    sent = document(colour="teal", metadata={"studio": {"layout": {"greet": {"x": 1.5, "y": -2}}}})
    sent["stages"][0]["futureField"] = [1, {"two": None}]
    detail = ana.create(sent)
    assert json.dumps(detail["document"]) == json.dumps(sent)
    assert json.dumps(ana.get(f"/playbooks/{detail['id']}").json()["document"]) == json.dumps(sent)


def test_a_playbook_starts_from_nothing_a_template_or_another_one(ana: Person) -> None:
    blank = ana.post("/playbooks", {}).json()
    assert [s["id"] for s in blank["document"]["stages"]] == ["start"]
    template = ana.post("/playbooks", {"template": "customer-support"}).json()
    assert template["name"] == "Customer support"
    copy = ana.post("/playbooks", {"copyOf": template["id"]}).json()
    assert copy["name"] == "Customer support copy"
    assert copy["document"]["stages"] == template["document"]["stages"]
    assert copy["document"]["id"] == "customer-support-2"


def test_a_template_that_is_opened_twice_gets_a_name_of_its_own(ana: Person) -> None:
    first, second = (ana.post("/playbooks", {"template": "customer-support"}).json() for _ in range(2))
    assert (first["name"], second["name"]) == ("Customer support", "Customer support 2")


def test_two_starting_points_at_once_are_refused(ana: Person) -> None:
    answer = ana.post("/playbooks", {"template": "customer-support", "document": document()})
    assert (answer.status_code, error_of(answer)["code"]) == (422, "invalid-request")


def test_the_list_shows_problems_and_a_thumbnail(ana: Person) -> None:
    lonely = document(stages=[stage("greet"), stage("lost")], rules=[])
    lonely["metadata"] = {"studio": {"layout": {"greet": {"x": 8, "y": 16}, "lost": "nonsense"}}}
    ana.create(lonely)
    [entry] = ana.get("/playbooks").json()
    assert (entry["stageCount"], entry["transitionCount"]) == (2, 0)
    assert entry["problems"]["errors"] == 0
    assert entry["problems"]["warnings"] > 0
    assert entry["thumbnail"]["stages"][0] == {"id": "greet", "x": 8.0, "y": 16.0, "kind": "chat"}
    assert entry["thumbnail"]["stages"][1] == {"id": "lost", "x": None, "y": None, "kind": "chat"}


def test_a_save_names_its_revision_and_gets_the_next_one(ana: Person) -> None:
    playbook = ana.create(document())
    changed = document(name="Front desk")
    answer = ana.put(f"/playbooks/{playbook['id']}/draft", {"revision": 1, "document": changed})
    assert answer.status_code == 200
    assert answer.json()["revision"] == 2
    assert answer.json()["updatedAt"].endswith("Z")
    [entry] = ana.get("/playbooks").json()
    assert (entry["name"], entry["revision"]) == ("Front desk", 2)


def test_a_stale_save_changes_nothing_and_shows_what_stands_there(ana: Person) -> None:
    playbook = ana.create(document())
    path = f"/playbooks/{playbook['id']}/draft"
    ana.put(path, {"revision": 1, "document": document(name="First")})
    answer = ana.put(path, {"revision": 1, "document": document(name="Second")})
    assert answer.status_code == 409
    assert error_of(answer)["code"] == "stale-revision"
    current = answer.json()["current"]
    assert (current["revision"], current["document"]["name"]) == (2, "First")
    assert ana.get(f"/playbooks/{playbook['id']}").json()["document"]["name"] == "First"


def test_a_draft_with_errors_can_be_saved_and_says_so(ana: Person) -> None:
    playbook = ana.create(document())
    broken = document(rules=[rule("t", "greet", "gone")])
    answer = ana.put(f"/playbooks/{playbook['id']}/draft", {"revision": 1, "document": broken})
    assert answer.status_code == 200
    [found] = [d for d in answer.json()["diagnostics"] if d["severity"] == "error"]
    assert (found["code"], found["path"], found["transition"]) == (
        "unknown-stage",
        "/transitions/0/action/targetStage",
        "t",
    )


def test_a_document_of_the_wrong_shape_is_refused_with_places_in_the_document(ana: Person) -> None:
    playbook = ana.create(document())
    wrong = document()
    wrong["name"] = 7
    wrong["transitions"][0]["condition"] = {"type": "intent", "intent": "refund", "confidence": "high"}
    del wrong["transitions"][0]["action"]
    answer = ana.put(f"/playbooks/{playbook['id']}/draft", {"revision": 1, "document": wrong})
    error = error_of(answer)
    assert (answer.status_code, error["code"]) == (422, "invalid-document")
    assert {detail["path"]: detail["message"] for detail in error["details"]} == {
        "/name": "name must be a text.",
        "/transitions/0/action": "transitions[0].action is missing.",
        "/transitions/0/condition/confidence": "transitions[0].condition.confidence must be a number.",
    }
    assert SavedPlaybook.objects.get().revision == 1


def test_an_unknown_condition_lists_the_known_ones(ana: Person) -> None:
    wrong = document()
    wrong["transitions"][0]["condition"] = {"type": "mood"}
    error = error_of(ana.post("/validate", {"document": wrong}))
    assert error["path"] == "/transitions/0/condition"
    assert "“mood”" in error["message"]
    assert "'keyword'" in error["message"]


def test_a_draft_is_savable_at_every_letter_of_a_name(ana: Person) -> None:
    playbook = ana.create(document())
    revision = playbook["revision"]
    half_typed: dict[str, Any] = {
        "id": "my playbook",
        "globalTools": [{"name": ""}, {"name": "check stock", "parameters": {"type": "object"}}],
        "variables": [{"name": ""}],
        "agents": [{"name": "", "playbook": ""}],
    }
    wrong = {**document(), **half_typed}
    wrong["transitions"][0]["condition"] = {"type": "tool_call", "toolName": ""}
    wrong["stages"][0]["toolChoice"] = {"name": ""}
    wrong["stages"][0]["onEnter"] = [{"call": ""}]
    answer = ana.put(f"/playbooks/{playbook['id']}/draft", {"revision": revision, "document": wrong})
    assert answer.status_code == 200
    found = {(finding["code"], finding["path"]): finding for finding in answer.json()["diagnostics"]}
    assert found.keys() >= {
        ("bad-playbook-id", "/id"),
        ("bad-tool-name", "/globalTools/0/name"),
        ("bad-tool-name", "/globalTools/1/name"),
        ("missing-name", "/variables/0/name"),
        ("missing-name", "/agents/0/name"),
        ("missing-tool", "/transitions/0/condition/toolName"),
    }
    assert "check_stock" in found["bad-tool-name", "/globalTools/1/name"]["message"]


def test_a_wrong_request_is_told_apart_from_a_wrong_document(ana: Person) -> None:
    playbook = ana.create(document())
    for body, path in (({"document": document()}, "/revision"), ({"revision": 1}, "/document"), ([], None)):
        answer = ana.put(f"/playbooks/{playbook['id']}/draft", body)
        error = error_of(answer)
        assert (answer.status_code, error["code"], error["path"]) == (422, "invalid-request", path)


def test_a_revision_that_no_database_holds_is_refused(ana: Person) -> None:
    playbook = ana.create(document())
    body = {"revision": 10**30, "document": document()}
    assert ana.put(f"/playbooks/{playbook['id']}/draft", body).status_code == 422


def test_a_deleted_playbook_is_gone_until_it_is_restored(ana: Person) -> None:
    playbook = ana.create(document())
    path = f"/playbooks/{playbook['id']}"
    assert ana.send("DELETE", path).status_code == 204
    assert ana.get(path).status_code == 404
    assert ana.get("/playbooks").json() == []
    assert [entry["id"] for entry in ana.get("/playbooks?deleted=true").json()] == [playbook["id"]]
    restored = ana.post(f"{path}/restore")
    assert (restored.status_code, restored.json()["document"]) == (200, playbook["document"])
    assert ana.get(path).status_code == 200


def test_ids_that_nobody_has_are_not_found(ana: Person) -> None:
    for playbook_id in (str(uuid4()), "nonsense", "../x", "%00"):
        answer = ana.get(f"/playbooks/{playbook_id}")
        assert answer.status_code == 404
    assert error_of(ana.get(f"/playbooks/{uuid4()}"))["code"] == "not-found"


def test_another_person_s_playbook_looks_like_none_at_all(ana: Person, ben: Person) -> None:
    playbook = ana.create(document())
    ana.post(f"/playbooks/{playbook['id']}/versions", {"revision": 1})
    mine, nobodys = f"/playbooks/{playbook['id']}", f"/playbooks/{uuid4()}"
    save = {"revision": 1, "document": document()}
    attempts: list[tuple[str, str, Any]] = [
        ("GET", "", None),
        ("PUT", "/draft", save),
        ("DELETE", "", None),
        ("POST", "/restore", None),
        ("GET", "/versions", None),
        ("POST", "/versions", {"revision": 1}),
        ("GET", "/versions/1", None),
        ("POST", "/versions/1/restore", {"revision": 1}),
        ("GET", "/export", None),
        ("GET", "/export?version=1", None),
        ("GET", "/export?format=markdown", None),
        ("GET", "/exports", None),
        ("GET", "/diff", None),
        ("GET", "/diff?before=1", None),
        ("POST", "/merge", {"base": document(), "mine": document(name="Mine")}),
    ]
    for method, path, body in attempts:
        theirs, none = ben.send(method, mine + path, body), ben.send(method, nobodys + path, body)
        assert theirs.status_code == none.status_code == 404, (method, path)
        assert theirs.content == none.content
    assert ben.post("/playbooks", {"copyOf": playbook["id"]}).status_code == 404
    into = f"/import?save=true&revision=1&into={playbook['id']}"
    assert ben.post(into, export(document(name="Ben's"))).status_code == 404
    assert ben.get("/playbooks").json() == []
    assert ana.get(mine).json()["revision"] == 1


@pytest.mark.parametrize(
    "name", ["__proto__", "constructor", "__class__", "null", "0", "a.b[c]", "../x", "stage/1", "a'b\"c", "~"]
)
def test_ids_that_are_special_elsewhere_work_like_any_other(ana: Person, name: str) -> None:
    odd = document(
        stages=[stage(name), end()], rules=[rule(name, name, "bye", action={"targetStage": "bye"})]
    )
    odd["transitions"][0]["action"]["data"] = {name: name}
    odd["variables"] = [{"name": name}]
    detail = ana.create(odd)
    assert detail["diagnostics"] == []
    written = json.loads(ana.get(f"/playbooks/{detail['id']}/export").content)
    assert written["stages"][0]["id"] == written["transitions"][0]["from"] == name
    assert written["transitions"][0]["action"]["data"] == {name: name}
