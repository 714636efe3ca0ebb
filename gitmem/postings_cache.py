"""Decoded postings, kept within a bound of memory: what was not asked for longest goes first."""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, Generic, Protocol, TypeVar

_MIB: Final = 1024 * 1024
#: Bytes for all parts of an index together; some 100,000 records fill a tenth of it.
DEFAULT_BYTES: Final = 64 * _MIB
#: The setting that bounds it, in MiB, and the largest value that it takes.
CACHE_SETTING: Final = "gitmem.search.cacheMiB"
MOST_MIB: Final = 1024 * 1024
#: What an entry costs beside its numbers.
_OVERHEAD: Final = 400

Postings = tuple["array[int]", "array[float]"]


class Sized(Protocol):
    """An array of numbers."""

    @property
    def itemsize(self) -> int:
        """Bytes of each number."""
        ...

    def __len__(self) -> int: ...


Kept = TypeVar("Kept", bound=tuple[Sized, Sized])


class PostingsCache(Generic[Kept]):
    """Decoded postings by key; may be used by several threads.

    Args:
        limit: bytes at most.
    """

    def __init__(self, limit: int = DEFAULT_BYTES) -> None:
        self.limit = limit
        self._guard = threading.Lock()
        self._entries: OrderedDict[Hashable, Kept] = OrderedDict()
        self._bytes = 0

    @property
    def used(self) -> int:
        """How many bytes there are."""
        return self._bytes

    def get(self, key: Hashable) -> Kept | None:
        """Return what is kept under a key."""
        with self._guard:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
            return found

    def add(self, key: Hashable, postings: Kept) -> None:
        """Keep postings; others go where there is no room, and what is larger than all room is not kept."""
        size = _size(postings)
        with self._guard:
            if size > self.limit or key in self._entries:
                return
            self._entries[key] = postings
            self._bytes += size
            while self._bytes > self.limit:
                self._bytes -= _size(self._entries.popitem(last=False)[1])

    def clear(self) -> None:
        """Forget everything."""
        with self._guard:
            self._entries.clear()
            self._bytes = 0


def _size(postings: tuple[Sized, Sized]) -> int:
    numbers, counts = postings
    return len(numbers) * numbers.itemsize + len(counts) * counts.itemsize + _OVERHEAD


def cache_bytes(setting: str | None) -> int:
    """Return the bound that a setting gives, in bytes; the default for none, and for what is no number.

    >>> cache_bytes("2"), cache_bytes("much")
    (2097152, 67108864)
    """
    mib = parse_mib(setting or "")
    return DEFAULT_BYTES if mib is None else mib * _MIB


def parse_mib(text: str) -> int | None:
    """Return a number of MiB that can be set, or None."""
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST_MIB))):
        return None
    return int(text) if int(text) <= MOST_MIB else None
