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


def test_a_host_that_is_not_ours_is_refused(client: Client) -> None:
    assert client.get("/health", headers={"host": "evil.example"}).status_code == 400


def test_health_answers_without_signing_in(client: Client) -> None:
    answer = client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
