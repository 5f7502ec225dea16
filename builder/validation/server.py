"""What a check may know of the server that will run the playbook; a file alone is checked without it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Facts of one server. None means "not known", and nothing is said about it then."""

    secrets: frozenset[str] | None = None
    """Names of the secrets that tools may use there."""


NOTHING_KNOWN = ServerFacts()
