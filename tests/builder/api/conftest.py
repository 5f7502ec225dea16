"""People who are signed in, and what they say to the API."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client


@dataclass
class Person:
    """A signed-in browser; it sends the page's token, as the frontend does."""

    user: User
    client: Client
    token: str = ""

    def get(self, path: str) -> Any:
        return self.client.get(f"/api{path}")

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Sends JSON; bytes are sent as they are."""
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return self.client.generic(
            method, f"/api{path}", data, content_type="application/json", headers={"X-CSRFToken": self.token}
        )

    def post(self, path: str, body: Any = None) -> Any:
        return self.send("POST", path, body)

    def put(self, path: str, body: Any = None) -> Any:
        return self.send("PUT", path, body)

    def create(self, document: Any) -> Any:
        """A saved playbook, as the API answers it."""
        answer = self.post("/playbooks", {"document": document})
        assert answer.status_code == 201, answer.content
        return answer.json()


def signed_in(name: str) -> Person:
    person = Person(User.objects.create_user(name), Client(enforce_csrf_checks=True))
    person.client.force_login(person.user)
    person.token = person.get("/me").json()["csrfToken"]
    return person


@pytest.fixture
def ana(db: None) -> Person:
    return signed_in("ana")


@pytest.fixture
def ben(db: None) -> Person:
    return signed_in("ben")


def error_of(answer: Any) -> Any:
    """The error in an answer; its shape is asserted."""
    error = json.loads(answer.content)["error"]
    assert set(error) == {"code", "message", "path", "details"}
    assert error["message"].endswith((".", ")"))
    assert "Traceback" not in answer.content.decode()
    return error
