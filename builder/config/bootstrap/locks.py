"""Locks on files: kept by the operating system for as long as a process lives, `kill -9` included."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt

    def lock(file: IO[str], *, shared: bool = False, wait: bool = False) -> bool:
        """Windows has no shared locks: one holder it is."""
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def lock(file: IO[str], *, shared: bool = False, wait: bool = False) -> bool:
        """Takes the lock until `file` is closed; False when another process has it and we do not wait."""
        mode = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
        try:
            fcntl.flock(file, mode)
        except OSError:
            return False
        return True


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """One process at a time; the others wait here."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        lock(file, wait=True)
        yield


def is_held(path: Path) -> bool:
    """Whether some process holds a lock on `path` now."""
    try:
        with path.open("a+") as file:
            return not lock(file)
    except OSError:
        return False
