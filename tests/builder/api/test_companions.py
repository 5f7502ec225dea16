"""Playbooks that call others: a template, a file and a copy bring along whom they call."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from builder.models import SavedPlaybook
from builder.transfer import export
from builder.transfer.companions import packed
from tests.builder.api.conftest import Person, error_of
from tests.builder.api.test_agents import calling

Json = dict[str, Any]


def from_template(person: Person) -> Json:
    answer = person.post("/playbooks", {"template": "research-assistant"})
    assert answer.status_code == 201
    created: Json = answer.json()
    return created


def called(person: Person, created: Json) -> list[str]:
    """The ids of the playbooks that a session of it would be given."""
    answer = person.post("/playbooks/agents", {"document": created["document"]}).json()
    return [document["name"] for document in answer["agents"].values()]


def came(created: Json) -> list[tuple[str, bool]]:
    return [(one["name"], one["created"]) for one in created["companions"]]


def names() -> set[str]:
    return set(SavedPlaybook.objects.values_list("name", flat=True))


def change(person: Person, row: SavedPlaybook, **fields: Any) -> None:
    changed = {"revision": row.revision, "document": {**row.document, **fields}}
    assert person.put(f"/playbooks/{row.pk}/draft", changed).status_code == 200


def test_the_gallery_says_who_comes_with_a_template(ana: Person) -> None:
    agents = {template["slug"]: template["agents"] for template in ana.get("/templates").json()}
    assert agents["research-assistant"] == ["Fact checker"]
    assert agents["customer-support"] == []


def test_a_template_brings_the_playbook_that_it_calls(ana: Person) -> None:
    created = from_template(ana)
    assert came(created) == [("Fact checker", True)]
    assert called(ana, created) == ["Fact checker"]
    assert ana.get(f"/playbooks/{created['companions'][0]['id']}").json()["diagnostics"] == []


def test_a_second_one_calls_the_same_agent_and_says_so(ana: Person) -> None:
    from_template(ana)
    second = from_template(ana)
    assert came(second) == [("Fact checker", False)]
    assert names() == {"Research assistant", "Research assistant 2", "Fact checker"}
    assert called(ana, second) == ["Fact checker"]


def test_an_agent_that_was_changed_stays_as_it_is_and_the_next_one_gets_its_own(ana: Person) -> None:
    first = from_template(ana)
    change(ana, SavedPlaybook.objects.get(name="Fact checker"), description="Mine.")
    second, third = from_template(ana), from_template(ana)
    assert came(second) == [("Fact checker 2", True)]
    assert came(third) == [("Fact checker 2", False)]
    assert [called(ana, one) for one in (first, second, third)] == [
        ["Fact checker"],
        ["Fact checker 2"],
        ["Fact checker 2"],
    ]


def test_an_agent_that_was_deleted_comes_anew(ana: Person) -> None:
    first = from_template(ana)
    ana.send("DELETE", f"/playbooks/{first['companions'][0]['id']}")
    second = from_template(ana)
    assert came(second) == [("Fact checker", True)]
    assert called(ana, second) == ["Fact checker"]


def test_somebody_elses_agent_is_not_taken(ana: Person, ben: Person) -> None:
    from_template(ana)
    assert came(from_template(ben)) == [("Fact checker", True)]


def test_a_file_has_its_agents_inside_and_brings_them_to_another_studio(ana: Person) -> None:
    created = from_template(ana)
    file = ana.get(f"/playbooks/{created['id']}/export").content
    SavedPlaybook.objects.all().delete()
    looked_at = ana.post("/import", file).json()
    assert (looked_at["agents"], names()) == (["Fact checker"], set())
    imported = ana.post("/import?save=true", file).json()["playbook"]
    assert came(imported) == [("Fact checker", True)]
    assert called(ana, imported) == ["Fact checker"]
    assert "agents" not in imported["document"]["metadata"]["studio"]
    assert ana.get(f"/playbooks/{imported['id']}/export").content == file


def test_a_pair_that_comes_in_beside_another_state_of_itself_keeps_to_itself(ana: Person) -> None:
    created = from_template(ana)
    file = ana.get(f"/playbooks/{created['id']}/export").content
    change(ana, SavedPlaybook.objects.get(name="Fact checker"), description="Mine.")
    imported = ana.post("/import?save=true", file).json()["playbook"]
    assert came(imported) == [("Fact checker 2", True)]
    assert (called(ana, imported), called(ana, created)) == (["Fact checker 2"], ["Fact checker"])


def test_two_files_in_any_order_find_one_another(ana: Person) -> None:
    for file in (export(calling("desk", "pay")), export(calling("pay"))):
        assert ana.post("/import?save=true", file).status_code == 200
    assert called(ana, {"document": calling("desk", "pay")}) == ["pay"]


def test_an_agent_that_is_named_by_its_row_is_named_by_its_id_in_the_file(ana: Person) -> None:
    key = ana.create(calling("pay"))["id"]
    desk = ana.create(calling("desk", key))
    file = json.loads(ana.get(f"/playbooks/{desk['id']}/export").content)
    assert file["agents"][0]["playbook"] == "pay"
    assert list(file["metadata"]["studio"]["agents"]) == ["pay"]


def test_playbooks_that_call_one_another_come_along_once_and_under_their_new_ids(ana: Person) -> None:
    pay, bank = calling("pay", "bank"), calling("bank", "pay")
    file = export(packed(calling("desk", "pay"), {"pay": pay, "bank": bank}))
    ana.post("/import?save=true", file)
    change(ana, SavedPlaybook.objects.get(name="bank"), description="Mine.")
    second = ana.post("/import?save=true", file).json()["playbook"]
    assert came(second) == [("pay 2", True), ("bank 2", True)]
    assert second["document"]["agents"][0]["playbook"] == "pay-2"
    links = {row.document["id"]: row.document["agents"][0]["playbook"] for row in SavedPlaybook.objects.all()}
    assert (links["pay-2"], links["bank-2"], links["pay"]) == ("bank-2", "pay-2", "bank")


def test_an_agent_that_calls_its_caller_back_calls_the_copy(ana: Person) -> None:
    ana.create(calling("pay", "desk"))
    desk = ana.create(calling("desk", "pay"))
    file = ana.get(f"/playbooks/{desk['id']}/export").content
    assert list(json.loads(file)["metadata"]["studio"]["agents"]) == ["pay"]
    change(ana, SavedPlaybook.objects.get(name="pay"), description="Mine.")
    ana.post("/import?save=true", file)
    links = {row.document["id"]: row.document["agents"][0]["playbook"] for row in SavedPlaybook.objects.all()}
    assert links == {"desk": "pay", "pay": "desk", "desk-2": "pay-2", "pay-2": "desk-2"}


def test_a_file_whose_agent_cannot_be_used_is_refused_whole(ana: Person) -> None:
    broken = packed(calling("desk", "pay"), {"pay": {"id": "pay", "name": "Pay", "stages": 3}})
    answer = ana.post("/import?save=true", json.dumps(broken).encode())
    assert (answer.status_code, error_of(answer)["code"]) == (422, "invalid-document")
    assert error_of(answer)["details"][0]["path"].startswith("/metadata/studio/agents/pay/stages")
    assert names() == set()


def test_what_nobody_calls_is_left_out_of_a_file_and_said(ana: Person) -> None:
    file = packed(calling("desk", "pay"), {"pay": calling("pay"), "other": calling("other")})
    answer = ana.post("/import?save=true", export(file)).json()
    assert [entry["code"] for entry in answer["report"]] == ["agent-not-called"]
    assert names() == {"desk", "pay"}


@pytest.mark.parametrize("inside", [[], "pay", {"pay": 5}, {"pay": None}, {"": {}}, None])
def test_anything_odd_in_the_place_of_agents_is_refused_or_kept_and_never_a_crash(
    ana: Person, inside: Any
) -> None:
    file = {**calling("desk", "pay"), "metadata": {"studio": {"agents": inside}}}
    assert ana.post("/import?save=true", export(file)).status_code in (200, 422)


def test_a_file_that_replaces_a_draft_brings_its_agents_and_a_stale_one_brings_nothing(ana: Person) -> None:
    desk = ana.create(calling("desk"))
    file = export(packed(calling("other", "pay"), {"pay": calling("pay")}))
    path = f"/import?save=true&into={desk['id']}&revision="
    assert ana.post(f"{path}7", file).status_code == 409
    assert names() == {"desk"}
    replaced = ana.post(f"{path}1", file).json()["playbook"]
    assert (replaced["id"], came(replaced)) == (desk["id"], [("pay", True)])
    assert called(ana, replaced) == ["pay"]


def test_only_what_does_not_come_along_is_said_to_be_needed(ana: Person) -> None:
    file = packed(calling("desk", "pay", "bank"), {"pay": calling("pay", "tax", "desk")})
    report = ana.post("/import", export(file)).json()["report"]
    assert [(entry["code"], entry["path"]) for entry in report] == [
        ("needs-playbook", "/agents/1/playbook"),
        ("needs-playbook", "/metadata/studio/agents/pay/agents/0/playbook"),
    ]


def test_other_formats_have_no_documents_inside(ana: Person) -> None:
    created = from_template(ana)
    llmrtc = ana.get(f"/playbooks/{created['id']}/export?format=llmrtc").content
    assert b"find_passages" not in llmrtc


def test_the_commands_write_and_read_the_pair_as_one_file(ana: Person, tmp_path: Path) -> None:
    created = from_template(ana)
    file = tmp_path / "pair.json"
    call_command("export", created["id"], output=file)
    SavedPlaybook.objects.all().delete()
    out = io.StringIO()
    call_command("import", str(file), save=True, owner="ana", stdout=out)
    assert "In it is what it calls as an agent: “Fact checker”." in out.getvalue()
    assert "which was saved as well." in out.getvalue()
    assert names() == {"Research assistant", "Fact checker"}
