"""A mapping that only grows: older versions stay what they were."""

from __future__ import annotations

import pytest

from runtime.conversation.appendmap import AppendMap


def test_an_older_version_does_not_see_what_was_added_later() -> None:
    first = AppendMap([("a", 1)])
    second = first.add([("b", 2)])
    assert dict(first) == {"a": 1}
    assert dict(second) == {"a": 1, "b": 2}
    assert ("b" in first, "b" in second, "c" in second) == (False, True, False)
    with pytest.raises(KeyError):
        first["b"]


def test_two_versions_can_grow_apart() -> None:
    root = AppendMap([("a", 1)])
    left, right = root.add([("b", 2)]), root.add([("b", 3)])
    assert (left["b"], right["b"]) == (2, 3)
    assert (len(root), len(left), len(right)) == (1, 2, 2)


def test_a_key_keeps_its_first_value() -> None:
    assert AppendMap([("a", 1)]).add([("a", 9), ("b", 2)])["a"] == 1
    assert "AppendMap({'a': 1})" in repr(AppendMap([("a", 1)]))
