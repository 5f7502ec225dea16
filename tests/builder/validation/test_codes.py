"""Each code fires where it should, not where it nearly should; and what a click repairs is repaired."""

from __future__ import annotations

import pytest

from builder.transfer.templates import template_document, template_slugs
from builder.validation import Diagnostic, ServerFacts, apply_fix, check_document
from builder.validation.codes import CODES
from tests.builder.documents import Json
from tests.builder.validation.cases import CASES, Case


def found(value: Json, case: Case) -> list[Diagnostic]:
    return list(check_document(value, server=case.server))


@pytest.mark.parametrize("code", CASES)
def test_a_code_fires_with_its_severity_on_its_document_and_not_on_the_near_miss(code: str) -> None:
    case = CASES[code]
    fired = [diagnostic for diagnostic in found(case.fires, case) if diagnostic.code == code]
    assert fired
    assert {diagnostic.severity for diagnostic in fired} == {CODES[code].severity}
    assert code not in {diagnostic.code for diagnostic in found(case.clean, case)}


def test_each_code_has_a_case_and_nothing_gives_another_code() -> None:
    assert set(CASES) == set(CODES)
    given = {
        d.code for case in CASES.values() for value in (case.fires, case.clean) for d in found(value, case)
    }
    assert given == set(CODES)


@pytest.mark.parametrize("code", CASES)
def test_messages_are_sentences_at_a_place_of_the_document(code: str) -> None:
    case = CASES[code]
    for diagnostic in found(case.fires, case):
        assert diagnostic.message.endswith((".", "?")), diagnostic.message
        for path in (diagnostic.path, *diagnostic.related):
            assert path == "" or path.startswith("/")
            assert exists(case.fires, path) or diagnostic.code in ("bad-expression", "missing-target"), path


def exists(document: Json, path: str) -> bool:
    """Whether the pointer leads to something, or to a field that its holder does not have yet."""
    value: object = document
    parts = path.split("/")[1:]
    for index, part in enumerate(parts):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            if int(key) >= len(value):
                return False
            value = value[int(key)]
        elif isinstance(value, dict):
            if key not in value:
                return index == len(parts) - 1
            value = value[key]
    return True


@pytest.mark.parametrize("code", [code for code in CASES if CODES[code].mends])
def test_a_click_makes_the_finding_go_away_and_brings_no_error(code: str) -> None:
    case = CASES[code]
    before = found(case.fires, case)
    mended = next(d for d in before if d.code == code and d.fix is not None)
    assert mended.fix is not None
    after = found(apply_fix(case.fires, mended.fix), case)
    assert (mended.code, mended.path, mended.message) not in [(d.code, d.path, d.message) for d in after]
    assert sum(d.code == code for d in after) < sum(d.code == code for d in before)
    errors = {d.message for d in before if d.severity == "error"}
    assert [d.message for d in after if d.severity == "error" and d.message not in errors] == []


@pytest.mark.parametrize("code", [code for code in CASES if not CODES[code].mends])
def test_the_list_of_codes_says_which_ones_a_click_repairs(code: str) -> None:
    case = CASES[code]
    assert [d for d in found(case.fires, case) if d.code == code and d.fix is not None] == []


@pytest.mark.parametrize("slug", template_slugs())
def test_the_gallery_has_no_findings(slug: str) -> None:
    document = template_document(slug)
    assert document is not None
    assert check_document(document, server=ServerFacts(secrets=frozenset())) == ()
