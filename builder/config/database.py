"""From one address to Django's database settings."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

# A writer waits this long for another one before "database is locked".
SQLITE_BUSY_SECONDS = 20

# Room for the threads of one process: sockets' database pool, requests, jobs and their heartbeats.
POOL = {"min_size": 2, "max_size": 24, "timeout": 10.0}


class BadDatabaseUrl(ValueError):
    """The address cannot be used; the text says which part and what is accepted."""


def database_settings(url: str | None, data_dir: Path) -> dict[str, Any]:
    """SQLite in the data folder, or the PostgreSQL of `url`. Raises BadDatabaseUrl."""
    if url is None:
        return sqlite(data_dir / "studio.sqlite3")
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return sqlite(Path(unquote(parts.path)))
    if parts.scheme in ("postgres", "postgresql"):
        return postgresql(url)
    raise BadDatabaseUrl(
        f"STUDIO_DATABASE_URL starts with '{parts.scheme}:'; use postgresql://user:password@host:5432/name"
    )


def sqlite(path: Path) -> dict[str, Any]:
    """WAL lets readers go on while one writes; IMMEDIATE takes the write lock at the start of a transaction,
    so that two that read first and write later queue up and do not fail."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {
            "timeout": SQLITE_BUSY_SECONDS,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
        },
        "TEST": {"NAME": None},
    }


def postgresql(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise BadDatabaseUrl(
            "STUDIO_DATABASE_URL names no database; use postgresql://user:password@host:5432/name"
        )
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"pool": POOL, **dict(parse_qsl(parts.query))},
    }
