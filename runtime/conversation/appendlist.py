"""A sequence that only grows, whose older versions stay valid: appending costs O(1) and shares the storage.

An agent's segments and a lane's requests stand in one; copying a tuple at each request would cost the square
of the conversation. What others work out from the items can be kept beside them and grows with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Generic, Protocol, Self, TypeVar, cast, overload

T = TypeVar("T")


class Note(Protocol):
    """Something worked out from the items of a list, that holds for each longer version as well."""

    def upto(self, count: int) -> Self:
        """The same for a list that shares only the first `count` items."""
        ...


N = TypeVar("N", bound=Note)


class AppendList(Sequence[T], Generic[T]):
    """An immutable view of the first `len` items of a list that may be shared with later versions."""

    __slots__ = ("_items", "_length", "_notes")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items: list[T] = list(items)
        self._length = len(self._items)
        self._notes: dict[object, Note] = {}

    def append(self, item: T) -> AppendList[T]:
        """A new version with `item` at its end; this version is unchanged."""
        grown = self._open()
        grown._items.append(item)
        grown._length += 1
        return grown

    def extend(self, items: Iterable[T]) -> AppendList[T]:
        """A new version with all of `items` at its end."""
        added = list(items)
        if not added:
            return self
        grown = self._open()
        grown._items.extend(added)
        grown._length += len(added)
        return grown

    def upto(self, count: int) -> AppendList[T]:
        """The version that has only the first `count` items; this one if it has no more."""
        if count >= self._length:
            return self
        shorter: AppendList[T] = AppendList.__new__(AppendList)
        shorter._items, shorter._length, shorter._notes = self._items, max(0, count), self._notes
        return shorter

    def begins_like(self, other: AppendList[T], count: int) -> bool:
        """Whether the first `count` items of both are equal; both have at least so many."""
        if self._items is other._items:
            return True
        return self._items[:count] == other._items[:count]

    def note(self, key: object, make: Callable[[], N]) -> N:
        """What is kept with the items under that key; made at first. Longer versions have the same object:
        whoever reads it must mind that it may know of more items than this version has."""
        found = self._notes.get(key)
        if found is None:
            found = self._notes[key] = make()
        return cast(N, found)

    @property
    def noted(self) -> bool:
        """Whether something is kept with the items."""
        return bool(self._notes)

    def take_notes(self, other: AppendList[T], count: int) -> None:
        """Keep what `other` keeps, as far as it holds for the first `count` items, which both share."""
        if not self._notes and other._notes:
            self._notes = {key: note.upto(count) for key, note in list(other._notes.items())}

    def _open(self) -> AppendList[T]:
        """A version of the same items to which can be added."""
        grown: AppendList[T] = AppendList.__new__(AppendList)
        grown._length = self._length
        if len(self._items) == self._length:
            grown._items, grown._notes = self._items, self._notes
        else:
            grown._items, grown._notes = self._items[: self._length], {}
            grown.take_notes(self, self._length)
        return grown

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return self._items[slice(*_forwards(index, self._length))]
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
        return self._length == other._length and self.begins_like(other, self._length)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"AppendList({list(self)!r})"


def _forwards(index: slice, length: int) -> tuple[int, int | None, int]:
    start, stop, step = index.indices(length)
    return start, None if stop < 0 else stop, step
