"""Who may see a session."""

from __future__ import annotations

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client

from runtime.access import may_use
from runtime.models import StoredSession
from tests.runtime.web.conftest import PLAYBOOK

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana() -> User:
    return User.objects.create_user("ana")


@pytest.fixture
def session(ana: User) -> uuid.UUID:
    return StoredSession.objects.create(owner=ana, document=PLAYBOOK).pk


def login(user: User) -> str:
    client = Client()
    client.force_login(user)
    return str(client.session.session_key)


def test_the_owner_may_while_signed_in(ana: User, session: uuid.UUID) -> None:
    client = Client()
    client.force_login(ana)
    key = str(client.session.session_key)
    assert may_use(session, ana.pk, key)
    client.logout()
    assert not may_use(session, ana.pk, key)


def test_nobody_may_by_another_persons_login(ana: User, session: uuid.UUID) -> None:
    ben = User.objects.create_user("ben")
    assert not may_use(session, ana.pk, login(ben))
    assert not may_use(session, ben.pk, login(ben))


def test_an_account_that_was_switched_off_may_not(ana: User, session: uuid.UUID) -> None:
    key = login(ana)
    User.objects.filter(pk=ana.pk).update(is_active=False)
    assert not may_use(session, ana.pk, key)


def test_a_session_that_is_not_there_is_nobodys(ana: User) -> None:
    assert not may_use(uuid.uuid4(), ana.pk, login(ana))
