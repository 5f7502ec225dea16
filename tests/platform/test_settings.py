"""From what an operator sets to what Django gets."""

import stat
from pathlib import Path

import pytest

from builder.config.database import BadDatabaseUrl, database_settings
from builder.config.environment import Environment
from builder.config.secret_key import load_or_create_secret_key


def test_by_default_the_database_is_a_file_in_the_data_folder_with_a_patient_writer(tmp_path: Path) -> None:
    found = database_settings(None, tmp_path)
    assert found["NAME"] == str(tmp_path / "studio.sqlite3")
    assert found["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert found["OPTIONS"]["timeout"] == 20
    assert "journal_mode=WAL" in found["OPTIONS"]["init_command"]


def test_one_address_makes_it_postgresql(tmp_path: Path) -> None:
    found = database_settings("postgresql://ann:p%40ss@db.example:5433/studio?sslmode=require", tmp_path)
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert (found["USER"], found["PASSWORD"], found["HOST"], found["PORT"], found["NAME"]) == (
        *("ann", "p@ss", "db.example", "5433", "studio"),
    )
    assert found["OPTIONS"]["sslmode"] == "require"


@pytest.mark.parametrize("url", ["mysql://localhost/studio", "postgresql://localhost", "studio"])
def test_an_address_that_cannot_be_used_says_what_is_accepted(url: str, tmp_path: Path) -> None:
    with pytest.raises(BadDatabaseUrl, match="postgresql://user:password@host:5432/name"):
        database_settings(url, tmp_path)


def test_redis_ends_the_embedded_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STUDIO_REDIS_URL", raising=False)
    assert Environment().embedded
    monkeypatch.setenv("STUDIO_REDIS_URL", "redis://localhost:6379/0")
    assert not Environment().embedded


def test_lists_are_written_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUDIO_ALLOWED_HOSTS", "studio.example.org, 127.0.0.1")
    assert Environment().allowed_hosts == ("studio.example.org", "127.0.0.1")


def test_the_common_name_of_the_database_setting_is_understood_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://localhost/common")
    assert Environment().database_url == "postgresql://localhost/common"
    monkeypatch.setenv("STUDIO_DATABASE_URL", "postgresql://localhost/ours")
    assert Environment().database_url == "postgresql://localhost/ours"


def test_the_secret_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "data" / "secret-key"
    key = load_or_create_secret_key(path)
    assert len(key) > 60
    assert load_or_create_secret_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_the_tests_do_not_touch_the_persons_own_data_folder() -> None:
    from django.conf import settings

    assert "studio-tests-" in str(settings.STUDIO.data_dir)
