"""Brings the database to this release, by one process at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management import call_command
from django.db import DatabaseError, connection

# Any number, the same in every process of this product.
ADVISORY_LOCK = 7_305_501


class DatabaseProblem(Exception):
    """The database cannot be used; the text is one sentence that says what to do."""


def migrate() -> None:
    """Applies what is missing. Processes that start together wait for one another. Raises DatabaseProblem."""
    try:
        with alone():
            call_command("migrate", verbosity=0, interactive=False)
    except DatabaseError as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DatabaseProblem(
            f"The database {connection.settings_dict['NAME']} cannot be used ({reason}): check that it can "
            "be reached and that its disk has room, and start again."
        ) from error


@contextmanager
def alone() -> Iterator[None]:
    """PostgreSQL does not keep two migrations apart; SQLite's folder is locked by its one server."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [ADVISORY_LOCK])
