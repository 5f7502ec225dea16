"""How many examples a property test tries: a share of what the profile says (tests/conftest.py)."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import settings


def a_share(part: Fraction) -> settings:
    """For a property whose examples are slow: that part of the profile's number, so that the nightly profile
    reaches it as well."""
    return settings(max_examples=max(1, round(settings().max_examples * part)))
