"""The builder's commands, as a shell sees them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from builder import __version__, drafts
from builder.api.openapi import openapi_document
from builder.management.commands import generate
from builder.models import SavedPlaybook
from builder.seeding import seed_gallery
from builder.transfer import export, load
from builder.transfer.schema import playbook_schema
from tests.builder.documents import document, end, rule, stage


def write(folder: Path, name: str, content: Any) -> str:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return str(file)


def validate(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("validate", *arguments, stdout=out)
    except SystemExit as stop:
        return int(str(stop.code)), out.getvalue()
    return 0, out.getvalue()


def test_validate_is_silent_about_a_good_file(tmp_path: Path) -> None:
    file = write(tmp_path, "good.json", document())
    assert validate(file) == (0, f"{file}: no problems\n")


def test_validate_exits_with_1_for_errors_and_names_their_places(tmp_path: Path) -> None:
    bad = write(tmp_path, "bad.json", document(rules=[rule("t", "greet", "gone")]))
    good = write(tmp_path, "good.json", document())
    code, text = validate(good, bad, "--json")
    files = json.loads(text)["files"]
    assert (code, [entry["file"] for entry in files]) == (1, [good, bad])
    assert files[0]["diagnostics"] == []
    assert files[1]["diagnostics"][0]["severity"] in ("error", "warning")
    errors = [(d["code"], d["path"]) for d in files[1]["diagnostics"] if d["severity"] == "error"]
    assert errors == [("unknown-stage", "/transitions/0/action/targetStage")]
    assert "/transitions/0/action/targetStage: error:" in validate(bad)[1]


def test_warnings_alone_are_no_failure(tmp_path: Path) -> None:
    file = write(tmp_path, "warned.json", document(colour=1))
    code, text = validate(file)
    assert code == 0
    assert "[unknown-field]" in text


def test_validate_exits_with_2_for_a_file_it_cannot_use(tmp_path: Path) -> None:
    assert validate(str(tmp_path / "absent.json"))[0] == 2
    code, text = validate(write(tmp_path, "text.json", b"hello"), "--json")
    assert code == 2
    assert json.loads(text)["files"][0]["diagnostics"][0]["code"] == "bad-json"


def test_validate_reports_faults_of_shape(tmp_path: Path) -> None:
    code, text = validate(write(tmp_path, "shape.json", {"stages": [{"id": 7}]}), "--json")
    assert code == 1
    assert "/stages/0/id" in [d["path"] for d in json.loads(text)["files"][0]["diagnostics"]]


def test_validate_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO(json.dumps(document(rules=[rule("t", "greet", "gone")])).encode()))
    monkeypatch.setattr("sys.stdin", given)
    code, text = validate("-", "--json")
    assert (code, json.loads(text)["files"][0]["file"]) == (1, "-")


def test_a_report_shows_the_way_to_an_end_and_what_all_conversations_pass(tmp_path: Path) -> None:
    stages = [stage("greet"), stage("check", name="Check *all*"), stage("mend"), end()]
    rules = [
        rule("a", "greet", "check"),
        rule("b", "check", "mend"),
        rule("c", "mend", "bye"),
        rule("d", "check", "bye"),
    ]
    code, text = validate(write(tmp_path, "desk.json", document(stages, rules)), "--report")
    assert code == 0
    assert "- 4 stages, 1 end among them" in text
    assert "1. Greet\n2. Check \\*all\\*, by `a` (model decides)\n3. Bye, by `d` (model decides)\n" in text
    assert "- Check \\*all\\*: every conversation that ends; the only way to 2 other stages" in text


def test_a_report_lists_traps_and_what_is_never_reached(tmp_path: Path) -> None:
    stages = [stage("greet"), stage("loop"), stage("attic"), end()]
    rules = [rule("a", "greet", "loop"), rule("b", "loop", "greet"), rule("c", "attic", "bye")]
    code, text = validate(write(tmp_path, "desk.json", document(stages, rules)), "--report")
    assert (code, "None: no conversation ends by itself." in text) == (0, True)
    assert "## No way to an end\n\n- Greet, Loop\n" in text
    assert "## Never reached\n\nAttic, Bye\n" in text
    assert "(`no-way-to-end` at `/stages/0`)" in text


def test_export_writes_a_saved_draft_or_version(db: None, tmp_path: Path) -> None:
    owner = User.objects.create_user("ana")
    row = drafts.create(owner, document(name="One"))
    drafts.keep_version(row, 1, "", owner)
    drafts.save(SavedPlaybook.objects.filter(pk=row.pk), 1, document(name="Two"))
    output = tmp_path / "out.json"
    call_command("export", str(row.pk), "--output", str(output))
    assert output.read_bytes() == export(document(name="Two"))
    call_command("export", str(row.pk), "--version", "1", "--output", str(output))
    assert output.read_bytes() == export(document(name="One"))
    for unknown in ("nonsense", "00000000-0000-0000-0000-000000000000"):
        with pytest.raises(CommandError, match="no playbook"):
            call_command("export", unknown)


def test_export_brings_a_file_into_canonical_form(tmp_path: Path) -> None:
    file, output = write(tmp_path, "in.json", document()), tmp_path / "out.json"
    call_command("export", "--file", file, "--output", str(output))
    assert output.read_bytes() == export(document())


def test_export_writes_other_formats_and_says_what_they_cannot_carry(tmp_path: Path) -> None:
    file = write(tmp_path, "in.json", document(rules=[rule("t", "greet", "bye", disabled=True)]))
    output, said = tmp_path / "out.json", io.StringIO()
    arguments = ("export", "--file", file, "--output", str(output))
    call_command(*arguments, "--format", "llmrtc", stderr=said)
    assert json.loads(output.read_bytes())["transitions"] == []
    assert "warning: /transitions/0: Transition “t” is left out" in said.getvalue()
    call_command(*arguments, "--format", "mermaid", stderr=said)
    assert output.read_text(encoding="utf-8").startswith("flowchart LR\n")


def import_file(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("import", *arguments, stdout=out)
    except SystemExit as stop:
        return int(str(stop.code)), out.getvalue()
    return 0, out.getvalue()


def test_import_shows_a_report_and_saves_only_when_told_to(db: None, tmp_path: Path) -> None:
    User.objects.create_user("ana")
    file = write(tmp_path, "in.json", document(colour=1))
    code, text = import_file(file)
    assert (code, SavedPlaybook.objects.count()) == (0, 0)
    assert text.splitlines()[0] == "“Desk”: 2 stages, 1 transitions."
    assert "warning: /colour:" in text
    assert "Nothing was saved" in text
    assert "Saved as “Desk”" in import_file(file, "--save")[1]
    shown = json.loads(import_file(file, "--save", "--json")[1])
    assert SavedPlaybook.objects.get(pk=shown["playbook"]).document["id"] == "desk-2"


def test_import_never_saves_half_of_a_file(db: None, tmp_path: Path) -> None:
    User.objects.create_user("ana")
    code, text = import_file(write(tmp_path, "in.json", {"stages": [{"id": 7}]}), "--save")
    assert (code, SavedPlaybook.objects.count()) == (1, 0)
    assert "error: /stages/0/id" in text
    with pytest.raises(CommandError, match="UTF-16"):
        import_file(write(tmp_path, "in.json", "{}".encode("utf-16")), "--save")


def test_import_into_a_playbook_keeps_the_draft_there_was(db: None, tmp_path: Path) -> None:
    row = drafts.create(User.objects.create_user("ana"), document(name="One"))
    import_file(write(tmp_path, "in.json", document(name="Two")), "--into", str(row.pk))
    row.refresh_from_db()
    assert (row.name, row.revision, row.versions.get().document["name"]) == ("Two", 2, "One")


def test_import_asks_whose_it_becomes_where_there_are_several(db: None, tmp_path: Path) -> None:
    file = write(tmp_path, "in.json", document())
    with pytest.raises(CommandError, match="nobody yet"):
        import_file(file, "--save")
    for name in ("ana", "ben"):
        User.objects.create_user(name)
    with pytest.raises(CommandError, match="--owner"):
        import_file(file, "--save")
    import_file(file, "--save", "--owner", "ben")
    assert SavedPlaybook.objects.get().owner.username == "ben"


def test_diff_compares_files_drafts_and_versions(db: None, tmp_path: Path) -> None:
    owner = User.objects.create_user("ana")
    row = drafts.create(owner, document(name="One"))
    drafts.keep_version(row, 1, "", owner)
    drafts.save(SavedPlaybook.objects.filter(pk=row.pk), 1, document(name="Two"))
    file = write(tmp_path, "three.json", document(name="Three"))
    out = io.StringIO()
    call_command("diff", f"{row.pk}@1", str(row.pk), stdout=out)
    assert out.getvalue() == '~ renamed: Playbook Two\n    name: "One" → "Two"\n'
    out = io.StringIO()
    call_command("diff", str(row.pk), file, "--json", stdout=out)
    assert json.loads(out.getvalue())["changes"][0]["fields"][0]["after"] == "Three"
    with pytest.raises(SystemExit) as stop:
        call_command("diff", str(row.pk), file, "--exit-code", stdout=out)
    assert stop.value.code == 1
    call_command("diff", file, file, "--exit-code", stdout=out)
    with pytest.raises(CommandError, match="no version 9"):
        call_command("diff", f"{row.pk}@9", file)


def test_the_generated_files_are_up_to_date() -> None:
    assert generate.up_to_date(generate.OPENAPI, generate.as_json(openapi_document()))
    assert generate.up_to_date(generate.SCHEMA, generate.as_json(playbook_schema()))
    page = generate.VALIDATION_DOCS.read_text(encoding="utf-8")
    assert generate.with_codes(page) == page


def test_the_frontend_s_types_are_up_to_date() -> None:
    types = generate.typescript(generate.as_json(openapi_document()))
    if types is None:
        pytest.skip("Node or the frontend's packages are not installed here")
    assert generate.up_to_date(generate.TYPES, types)


def test_a_new_owner_finds_one_playbook_and_never_again_after_deleting_it(db: None) -> None:
    owner = User.objects.create_user("owner")
    row = seed_gallery(owner)
    assert row is not None
    assert row.name == "Customer support"
    assert seed_gallery(owner) is None
    SavedPlaybook.objects.update(deleted_at=row.created_at)
    assert seed_gallery(owner) is None
    assert SavedPlaybook.objects.count() == 1


def test_the_version_is_the_project_s() -> None:
    project = (Path(generate.ROOT) / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in project


def test_what_the_schema_describes_is_what_is_loaded() -> None:
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    validator = jsonschema_rs.validator_for(playbook_schema())
    data = json.loads(export(document()))
    assert validator.is_valid(data)
    assert not validator.is_valid({**data, "stages": "none"})
    assert load(json.dumps(data).encode()).errors == ()


@pytest.mark.parametrize("output", [".", "no/such/folder.json"])
def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path, output: str) -> None:
    file = tmp_path / "in.json"
    file.write_bytes(export(document()))
    with pytest.raises(CommandError, match=r"cannot be written: .*\.$"):
        call_command("export", "--file", str(file), "--output", str(tmp_path / output))
