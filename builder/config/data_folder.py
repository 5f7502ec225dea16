"""The data folder: made with care, and locked by the one server that uses it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from builder.config.bootstrap import locks

LOCK_FILE = "server.lock"
ADDRESS_FILE = "server.json"


class DataFolderProblem(Exception):
    """The folder cannot be used; the text is one sentence that says what to do."""


def prepare(folder: Path) -> None:
    """Makes the folder, private to its owner, and tries to write in it. Raises DataFolderProblem."""
    probe = folder / f".writable-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise DataFolderProblem(
            f"The data folder {folder} cannot be written to ({error.strerror or error}): "
            "make it writable or choose another one with `--data DIR`."
        ) from error


@contextmanager
def server_lock(folder: Path) -> Iterator[None]:
    """Held by the operating system for as long as this process lives, `kill -9` included.
    Raises DataFolderProblem when another server has this folder."""
    with (folder / LOCK_FILE).open("a+") as file:
        if not locks.lock(file):
            address = running_address(folder)
            where = f" at {address}" if address else ""
            raise DataFolderProblem(
                f"Playbook Studio already runs with the data folder {folder}{where}: "
                "use that one (`python3 manage.py link` prints a sign-in link), stop it, "
                "or choose another folder with `--data DIR`."
            )
        yield


def server_is_running(folder: Path) -> bool:
    """Whether some process holds the folder's lock now."""
    return locks.is_held(folder / LOCK_FILE)


def write_address(folder: Path, address: str) -> None:
    (folder / ADDRESS_FILE).write_text(json.dumps({"address": address, "pid": os.getpid()}), encoding="utf-8")


def remove_address(folder: Path) -> None:
    (folder / ADDRESS_FILE).unlink(missing_ok=True)


def running_address(folder: Path) -> str | None:
    """Where the last server of this folder listens; ask `server_is_running` whether it still does."""
    try:
        found: dict[str, Any] = json.loads((folder / ADDRESS_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return str(found.get("address", "")) or None
