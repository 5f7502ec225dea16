"""What the API does with strangers and with hostile requests."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from builder.api.openapi import openapi_document
from builder.models import SavedPlaybook
from tests.builder.api.conftest import Person, error_of
from tests.builder.documents import document, stage

HOSTILE = {
    "nothing": b"",
    "no JSON": b"{",
    "text": b"hello",
    "binary": b"\x80\x81\x82",
    "UTF-16": json.dumps({"document": {}}).encode("utf-16"),
    "NaN": b'{"document": {"a": NaN}}',
    "infinity": b'{"document": {"a": 1e999}}',
    "a number of 10,000 digits": b'{"document": {"a": ' + b"9" * 10_000 + b"}}",
    "a key twice": b'{"document": {"a": 1, "a": 2}}',
    "half a character": b'{"document": {"a": "\\ud800"}}',
    "NUL": b'{"document": {"a": "\\u0000"}}',
    "deep": b'{"document": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "less deep": b'{"document": ' + b'{"a":' * 150 + b"1" + b"}" * 150 + b"}",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_json_gets_a_sentence(ana: Person, body: bytes) -> None:
    for method, path in (("POST", "/validate"), ("POST", "/import"), ("POST", "/import?save=true")):
        answer = ana.send(method, path, body)
        assert answer.status_code in (400, 422), (path, answer.content)
        assert error_of(answer)["code"] in ("bad-json", "invalid-request")
    assert not SavedPlaybook.objects.exists()


@pytest.mark.parametrize(
    "value", [None, 42, "text", [], [[]], {}, {"stages": None}, {"id": "x", "stages": []}]
)
def test_json_that_is_no_playbook_is_refused(ana: Person, value: Any) -> None:
    body = json.dumps(value).encode()
    for answer in (ana.post("/import?save=true", body), ana.post("/validate", {"document": value})):
        assert answer.status_code == 422
        assert error_of(answer)["message"]
    assert not SavedPlaybook.objects.exists()


def test_a_body_over_five_megabytes_is_too_large(ana: Person) -> None:
    body = json.dumps({"document": document(description="x" * 5_000_000)}).encode()
    for path in ("/validate", "/import", "/playbooks"):
        answer = ana.post(path, body)
        assert (answer.status_code, error_of(answer)["code"]) == (413, "too-large")


def test_a_body_just_under_the_limit_is_read(ana: Person) -> None:
    body = json.dumps({"document": document(description="x" * 4_900_000)}).encode()
    assert ana.post("/validate", body).status_code == 200


def test_a_form_upload_is_told_to_send_the_file_itself(ana: Person) -> None:
    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.json"\r\n\r\n{}\r\n--b--\r\n'
    answer = ana.client.generic(
        "POST",
        "/api/import",
        form,
        content_type="multipart/form-data; boundary=b",
        headers={"X-CSRFToken": ana.token},
    )
    assert (answer.status_code, error_of(answer)["code"]) == (415, "unsupported-type")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("PATCH", "/playbooks", 405, "wrong-method"),
        ("FOO", "/sessions", 405, "wrong-method"),
        ("GET", "/nothing-here", 404, "not-found"),
        ("GET", "/playbooks/x/y/z", 404, "not-found"),
    ],
)
def test_what_no_view_answers_has_the_shape_of_every_error(
    ana: Person, method: str, path: str, status: int, code: str
) -> None:
    answer = ana.send(method, path)
    assert (answer.status_code, error_of(answer)["code"]) == (status, code)
    assert (status == 405) == ("GET" in answer.headers.get("Allow", ""))


def test_a_form_that_cannot_be_read_has_the_shape_of_every_error(ana: Person) -> None:
    answer = ana.client.generic("POST", "/api/validate", b"x", content_type="multipart/form-data")
    assert (answer.status_code, error_of(answer)["code"]) == (400, "bad-request")


@pytest.mark.parametrize("change", [{"maxTurns": "3"}, {"maxTurns": True}, {"speakOnEnter": "false"}])
def test_what_a_browser_would_read_otherwise_is_refused(ana: Person, change: dict[str, Any]) -> None:
    answer = ana.post("/playbooks", {"document": document([{**stage("a"), **change}], [])})
    (field,) = change
    assert (answer.status_code, error_of(answer)["path"]) == (422, f"/stages/0/{field}")


def test_a_field_has_one_name(ana: Person) -> None:
    """Kept as sent, a document with Python's names would be empty for every other reader."""
    renamed = document()
    renamed["transitions"][0]["from_stage"] = renamed["transitions"][0].pop("from")
    answer = ana.post("/playbooks", {"document": renamed})
    assert (answer.status_code, error_of(answer)["path"]) == (422, "/transitions/0/from")


@pytest.mark.parametrize("field", ["timeoutMs", "maxTurns"])
def test_a_number_that_cannot_be_computed_with_is_refused(ana: Person, field: str) -> None:
    answer = ana.post("/sessions", {"document": document([{**stage("a"), field: 10**30}], [])})
    assert (answer.status_code, error_of(answer)["path"]) == (422, f"/stages/0/{field}")


def test_a_session_is_refused_with_places_in_its_document(ana: Person) -> None:
    shapeless = document()
    del shapeless["transitions"][0]["action"]
    answer = ana.post("/sessions", {"document": shapeless})
    assert (answer.status_code, error_of(answer)["path"]) == (422, "/transitions/0/action")
    pointless = document(initialStage="gone")
    answer = ana.post("/sessions", {"document": pointless})
    assert (answer.status_code, error_of(answer)["path"]) == (422, "/initialStage")


def test_a_byte_order_mark_does_no_harm(ana: Person) -> None:
    body = b"\xef\xbb\xbf" + json.dumps({"document": document()}).encode()
    assert ana.post("/validate", body).status_code == 200


def test_a_stranger_is_told_to_sign_in(db: None) -> None:
    for path in ("/api/me", "/api/playbooks", "/api/templates", "/api/connections"):
        answer = Client().get(path)
        assert (answer.status_code, error_of(answer)["code"]) == (401, "not-signed-in")


def test_every_address_of_the_api_asks_a_stranger_to_sign_in(db: None) -> None:
    asked = 0
    for path, operations in openapi_document()["paths"].items():
        address = path.replace("{n}", "1").replace("{id}", str(uuid4()))
        for method in operations:
            answer = Client().generic(method.upper(), address, b"{}", content_type="application/json")
            assert answer.status_code == 401, (method, path)
            asked += 1
    assert asked > 25


def test_a_foreign_page_cannot_change_anything(ana: Person) -> None:
    ana.token = "wrong"
    answer = ana.post("/playbooks", {"document": document()})
    assert (answer.status_code, error_of(answer)["code"]) == (403, "csrf")
    assert not SavedPlaybook.objects.exists()


def test_an_exception_is_answered_without_its_words(ana: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("password=hunter2 in /etc/secret")

    monkeypatch.setattr("builder.api.rows.owned", fail)
    answer = ana.get("/playbooks")
    assert (answer.status_code, error_of(answer)["code"]) == (500, "internal")
    assert "hunter2" not in answer.content.decode()


def test_me_says_who_is_there_and_always_offers_the_rehearsal(ana: Person) -> None:
    me = ana.get("/me").json()
    assert me["user"] == {"name": "ana"}
    first = me["models"][0]
    assert (first["id"], first["available"]) == ("rehearsal", True)
    assert len({(model["provider"], model["id"]) for model in me["models"]}) == len(me["models"])
