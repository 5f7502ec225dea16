"""A sequence that only grows, whose older versions stay valid: appending costs O(1) and shares the storage.

An agent's segments and a lane's requests stand in one; copying a tuple at each request would cost the square
of the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class AppendList(Sequence[T], Generic[T]):
    """An immutable view of the first `len` items of a list that may be shared with later versions."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items: list[T] = list(items)
        self._length = len(self._items)

    def append(self, item: T) -> AppendList[T]:
        """A new version with `item` at its end; this version is unchanged."""
        grown: AppendList[T] = AppendList.__new__(AppendList)
        grown._items = self._items if len(self._items) == self._length else self._items[: self._length]
        grown._items.append(item)
        grown._length = self._length + 1
        return grown

    def extend(self, items: Iterable[T]) -> AppendList[T]:
        """A new version with all of `items` at its end."""
        more = list(items)
        if not more:
            return self
        grown = self.append(more[0])
        grown._items.extend(more[1:])
        grown._length += len(more) - 1
        return grown

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return self._items[: self._length][index]
        if index < 0:
            index += self._length
        if not 0 <= index < self._length:
            raise IndexError(index)
        return self._items[index]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return islice(self._items, self._length)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AppendList):
            return NotImplemented
        return self._length == other._length and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"AppendList({list(self)!r})"
