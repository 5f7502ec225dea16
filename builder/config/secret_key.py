"""The site's secret key: made once, kept in the data folder, readable by its owner only."""

import os
import secrets
from pathlib import Path


def read_secret_key(path: Path) -> str | None:
    """The key in `path`, or None where there is none that could be read."""
    try:
        return path.read_text("ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def load_or_create_secret_key(path: Path) -> str:
    """The key in `path`; made on the first call. Two processes that start together get the same one."""
    return read_secret_key(path) or create_secret_key(path)


def create_secret_key(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Written aside and linked into place: a reader never sees half a key, and the first writer wins.
    aside = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(64))
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink()
    return path.read_text("ascii").strip()
