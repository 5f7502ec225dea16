"""Import, export, validation and templates over HTTP."""

from __future__ import annotations

import json

import pytest

from builder.models import SavedPlaybook
from builder.transfer import export
from tests.builder.api.conftest import Person, error_of
from tests.builder.documents import document, stage


def test_an_export_that_is_imported_and_exported_again_has_the_same_bytes(ana: Person) -> None:
    playbook = ana.post("/playbooks", {"template": "customer-support"}).json()
    first = ana.get(f"/playbooks/{playbook['id']}/export").content
    SavedPlaybook.objects.all().delete()
    imported = ana.post("/import?save=true", first).json()["playbook"]
    assert ana.get(f"/playbooks/{imported['id']}/export").content == first


def test_an_import_is_only_looked_at_until_it_is_saved(ana: Person) -> None:
    answer = ana.post("/import", export(document())).json()
    assert (answer["playbook"], answer["document"]["id"]) == (None, "desk")
    assert not SavedPlaybook.objects.exists()


def test_importing_what_exists_makes_a_copy_with_an_id_of_its_own(ana: Person) -> None:
    ana.create(document())
    imported = ana.post("/import?save=true", export(document())).json()["playbook"]
    assert (imported["document"]["id"], imported["name"]) == ("desk-2", "Desk 2")
    assert SavedPlaybook.objects.count() == 2


def test_a_refused_import_names_every_problem_and_saves_nothing(ana: Person) -> None:
    wrong = document(stages=[stage("greet"), {"id": "b", "name": ["B"], "systemPrompt": "B."}])
    wrong["transitions"] = [{"id": "t", "from": "greet"}]
    answer = ana.post("/import?save=true", json.dumps(wrong).encode())
    error = error_of(answer)
    assert (answer.status_code, error["code"]) == (422, "invalid-document")
    paths = {"/stages/1/name", "/transitions/0/condition", "/transitions/0/action"}
    assert {detail["path"] for detail in error["details"]} == paths
    assert {entry["path"] for entry in answer.json()["report"] if entry["level"] == "error"} == paths
    assert not SavedPlaybook.objects.exists()


def test_an_import_into_a_playbook_keeps_the_draft_there_was_and_never_a_stale_one(ana: Person) -> None:
    playbook = ana.create(document(name="One"))
    path = f"/import?save=true&into={playbook['id']}"
    file = export(document(name="Two"))
    assert error_of(ana.post(path, file))["path"] == "/revision"
    answer = ana.post(f"{path}&revision=7", file)
    assert (answer.status_code, answer.json()["current"]["document"]["name"]) == (409, "One")
    imported = ana.post(f"{path}&revision=1", file).json()["playbook"]
    assert (imported["id"], imported["name"], imported["revision"]) == (playbook["id"], "Two", 2)
    assert [version["note"] for version in imported["versions"]] == ["Before an import"]
    assert SavedPlaybook.objects.count() == 1


def test_a_playbook_is_exported_in_every_format_with_a_name_of_its_own(ana: Person) -> None:
    playbook = ana.create(document(name="One"))
    path = f"/playbooks/{playbook['id']}"
    listed = ana.get(f"{path}/exports").json()
    assert [kind["format"] for kind in listed][:2] == ["json", "llmrtc"]
    for kind in listed:
        answer = ana.get(f"{path}/export?format={kind['format']}")
        assert kind["fileName"] in answer["Content-Disposition"]
        assert answer.content
    assert [entry["code"] for entry in listed[1]["report"]] == ["lost-kind"]
    assert ana.get(f"{path}/export?format=doc").status_code == 404
    assert ana.get(f"{path}/exports?version=1").status_code == 404


def test_the_export_of_a_version_is_the_version(ana: Person) -> None:
    playbook = ana.create(document(name="One"))
    path = f"/playbooks/{playbook['id']}"
    ana.post(f"{path}/versions", {"revision": 1})
    ana.put(f"{path}/draft", {"revision": 1, "document": document(name="Two")})
    assert json.loads(ana.get(f"{path}/export?version=1").content)["name"] == "One"
    assert json.loads(ana.get(f"{path}/export").content)["name"] == "Two"
    assert ana.get(f"{path}/export?version=9").status_code == 404


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Customer support", 'attachment; filename="customer-support.json"'),
        ('semi;colon"quote\r\nX-Test: 1', 'attachment; filename="semi-colon-quote-x-test-1.json"'),
        ("旅行计划 (v2)", "attachment; filename*=utf-8''%E6%97%85%E8%A1%8C%E8%AE%A1%E5%88%92-v2.json"),
        ("  ", 'attachment; filename="playbook.json"'),
        ("CON", 'attachment; filename="playbook-con.json"'),
        ("../..", 'attachment; filename="playbook.json"'),
    ],
)
def test_every_name_gives_a_usable_file_name(ana: Person, name: str, file: str) -> None:
    playbook = ana.create(document(name=name))
    answer = ana.get(f"/playbooks/{playbook['id']}/export")
    assert answer["Content-Disposition"] == file
    assert "X-Test" not in answer
    assert json.loads(answer.content)["name"] == name


def test_validation_saves_nothing_and_says_what_it_found(ana: Person) -> None:
    lonely = document(stages=[stage("greet"), stage("lost")], rules=[])
    answer = ana.post("/validate", {"document": lonely})
    codes = [(d["code"], d["stage"]) for d in answer.json()["diagnostics"]]
    assert ("unreachable-stage", "lost") in codes
    assert not SavedPlaybook.objects.exists()


def test_the_gallery_lists_its_templates(ana: Person) -> None:
    slugs = [template["slug"] for template in ana.get("/templates").json()]
    assert "customer-support" in slugs
    assert ana.post("/playbooks", {"template": "../../etc/passwd"}).status_code == 404
