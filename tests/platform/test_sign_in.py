"""Who gets in, and with what headers the answers come."""

from http.cookies import Morsel
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from builder.config import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "links_dir", lambda: tmp_path / "sign-in")


@pytest.fixture(autouse=True)
def page_without_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are about who sees the page, not about what the frontend put in it."""
    monkeypatch.setattr("django_vite.templatetags.django_vite.DjangoViteAssetLoader.instance", FakeLoader)


class FakeLoader:
    def generate_vite_asset(self, *args: object, **kwargs: object) -> str:
        return '<script type="module" src="/static/app/assets/main.js"></script>'


def cookie(client: Client, name: str) -> "Morsel[str]":
    return client.cookies[name]


def test_a_link_signs_the_owner_in_and_leads_to_the_application(client: Client) -> None:
    answer = client.get(f"/enter/{sign_in.make_link_token()}")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    page = client.get("/")
    assert page.status_code == 200
    assert 'name="csrf-token"' in page.content.decode()
    assert User.objects.get().username == "owner"


def test_a_link_works_once_and_says_how_to_get_another(client: Client) -> None:
    token = sign_in.make_link_token()
    client.get(f"/enter/{token}")
    second = Client().get(f"/enter/{token}")
    assert second.status_code == 410
    assert "manage.py link" in second.content.decode()


def test_a_used_link_still_leads_a_signed_in_owner_to_the_application(client: Client) -> None:
    token = sign_in.make_link_token()
    client.get(f"/enter/{token}")
    assert client.get(f"/enter/{token}").status_code == 302


def test_the_next_start_makes_old_links_useless(client: Client) -> None:
    token = sign_in.make_link_token()
    sign_in.forget_links()
    assert client.get(f"/enter/{token}").status_code == 410
    assert not User.objects.exists()


def test_the_token_itself_is_kept_nowhere() -> None:
    token = sign_in.make_link_token()
    files = list(sign_in.links_dir().iterdir())
    assert len(files) == 1
    assert token not in files[0].name
    assert files[0].read_bytes() == b""


@pytest.mark.parametrize("path", ["/", "/playbooks/1", "/playbooks/1/versions/2", "/sessions/abc"])
def test_a_stranger_is_told_where_the_link_is(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 401
    assert "manage.py link" in answer.content.decode()


@pytest.mark.parametrize("path", ["/playbooks/1", "/sessions/abc", "/playbooks/1/chat"])
def test_every_address_of_the_application_is_the_one_page(client: Client, path: str) -> None:
    client.force_login(sign_in.owner())
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("path", ["/nowhere", "/playbook/1", "/healthy", "/enter/", "/apiary", "/%E0%A4%A"])
def test_an_unknown_address_is_the_one_page_too_with_its_own_way_home(client: Client, path: str) -> None:
    client.force_login(sign_in.owner())
    answer = client.get(path)
    assert answer.status_code == 404
    assert 'id="root"' in answer.content.decode()


@pytest.mark.parametrize("path", ["/api/nowhere", "/static/nowhere.js", "/ws/nowhere", "/admin/nowhere/"])
def test_an_unknown_address_that_no_person_types_is_no_page(client: Client, path: str) -> None:
    client.force_login(sign_in.owner())
    answer = client.get(path)
    assert answer.status_code in (302, 404)  # the administration asks its own users to sign in
    assert b'id="root"' not in answer.content


def test_an_unknown_address_tells_a_stranger_where_the_link_is(client: Client) -> None:
    answer = client.get("/nowhere")
    assert answer.status_code == 401
    assert "manage.py link" in answer.content.decode()


def test_the_administration_is_found_without_its_slash(client: Client) -> None:
    assert client.get("/admin")["Location"] == "/admin/"


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(client: Client) -> None:
    client.get(f"/enter/{sign_in.make_link_token()}")
    session = cookie(client, "studio-session")
    assert session["httponly"]
    assert session["samesite"] == "Lax"


def test_every_answer_carries_the_security_headers(client: Client) -> None:
    for path in ("/", "/health", "/nothing-here"):
        headers = client.get(path).headers
        assert "script-src 'self'" in headers["Content-Security-Policy"]
        assert "unsafe-eval" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Referrer-Policy"] == "same-origin"


def test_the_api_refuses_strangers(client: Client) -> None:
    assert client.get("/api/playbooks").status_code == 401


def test_the_api_refuses_a_change_without_the_csrf_token() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(sign_in.owner())
    answer = client.post("/api/playbooks", data="{}", content_type="application/json")
    assert answer.status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "a_b%", "x" * 5000, "127.0.0.1.evil.example:8000"])
def test_a_host_that_is_not_ours_is_refused_in_one_line_that_names_the_setting(
    client: Client, caplog: pytest.LogCaptureFixture, host: str
) -> None:
    answer = client.get("/health", headers={"host": host})
    assert answer.status_code == 400
    assert "STUDIO_ALLOWED_HOSTS" in answer.content.decode()
    assert host not in answer.content.decode()
    (line,) = caplog.records
    assert line.exc_info is None
    assert "STUDIO_ALLOWED_HOSTS" in line.getMessage()
    assert host[:80] in line.getMessage()
    assert len(line.getMessage()) < 300


def test_the_api_refuses_an_unknown_host_in_its_own_shape(client: Client) -> None:
    answer = client.get("/api/me", headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "unknown-host"
    assert "STUDIO_ALLOWED_HOSTS" in answer.json()["error"]["message"]


def test_health_answers_without_signing_in(client: Client) -> None:
    answer = client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
