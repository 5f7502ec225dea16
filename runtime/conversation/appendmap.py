"""A mapping that only grows, whose older versions stay valid: adding costs O(1) and shares the storage.

For content-addressed values, where a key is never given a second meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class AppendMap(Mapping[K, V], Generic[K, V]):
    """An immutable view of the first `len` additions to a dictionary shared with later versions."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[tuple[K, V]] = ()) -> None:
        self._items: dict[K, tuple[int, V]] = {}
        for key, value in items:
            self._items.setdefault(key, (len(self._items), value))
        self._length = len(self._items)

    def add(self, items: Iterable[tuple[K, V]]) -> AppendMap[K, V]:
        """A new version with `items` too; a key that is there keeps its value. This version is unchanged."""
        grown: AppendMap[K, V] = AppendMap.__new__(AppendMap)
        is_newest = len(self._items) == self._length
        grown._items = (
            self._items if is_newest else {k: v for k, v in self._items.items() if v[0] < self._length}
        )
        for key, value in items:
            grown._items.setdefault(key, (len(grown._items), value))
        grown._length = len(grown._items)
        return grown

    def __getitem__(self, key: K) -> V:
        index, value = self._items[key]
        if index >= self._length:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._items and self._items[key][0] < self._length

    def __iter__(self) -> Iterator[K]:
        return (key for key, (index, _) in self._items.items() if index < self._length)

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"AppendMap({dict(self)!r})"
