"""Deltas for a pack that is put together: versions of one file or folder found, the longest kept whole."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, Protocol, TypeVar

from gitmem.errors import CorruptionError
from gitmem.git_objects import parse_commit
from gitmem.pack_format import PackEntry, delta_entry
from gitmem.repository import ObjectKind

#: Longest object that is inflated to make a delta.
LARGEST_DELTA: Final = 4 << 20
#: Objects shorter than that are not worth a delta: the name of its base and a header cost some forty bytes.
_SMALLEST: Final = 100
#: Bytes at the start of a file by which its versions know each other.
_START: Final = 64
#: Whole versions that a further one is tried against.
_WINDOW: Final = 3
_TREE_ENTRY: Final = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)


class Stored(Protocol):
    """One object on its way into a pack."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    def head(self) -> tuple[ObjectKind | None, int]:
        """Return kind (None for a delta) and size of what is stored."""
        ...

    def read(self) -> PackEntry:
        """Return the entry as it is."""
        ...

    def inflate(self) -> bytes:
        """Return the content of an object that is stored whole."""
        ...


S = TypeVar("S", bound=Stored)


def by_path(entries: Sequence[S]) -> Iterable[Sequence[S]]:
    """Return entries, whole ones, in groups: those that commits among them name by one path."""
    groups: dict[object, list[S]] = defaultdict(list)
    places = _places(entries)
    for entry in entries:
        groups[places.get(entry.id, entry.id)].append(entry)
    return groups.values()


def by_start(entries: Iterable[S]) -> Iterable[Sequence[S]]:
    """Return entries in groups: files that start with the same bytes, folders with the same first name.

    It needs no commits, so it finds versions that lie in several packs. What is a delta already, small or
    very large stands alone.
    """
    groups: dict[object, list[S]] = defaultdict(list)
    for entry in entries:
        kind, size = entry.head()
        key: object = entry.id
        if kind in ("blob", "tree") and _SMALLEST <= size <= LARGEST_DELTA:
            content = entry.inflate()
            key = kind, content[: content.find(b"\0") if kind == "tree" else _START]
        groups[key].append(entry)
    return groups.values()


def with_deltas(groups: Iterable[Sequence[S]]) -> Iterator[PackEntry]:
    """Yield all entries; of each group the longest whole, and others as deltas where that saves something."""
    for group in groups:
        if len(group) == 1:
            yield group[0].read()
            continue
        bases: deque[tuple[str, bytes]] = deque(maxlen=_WINDOW)
        for entry in sorted(group, key=lambda entry: (-entry.head()[1], entry.id)):
            content = entry.inflate()
            whole = entry.read()
            delta = _shortest(entry.id, content, bases)
            if delta is not None and len(delta.raw) < len(whole.raw):
                yield delta
            else:
                yield whole
                bases.append((entry.id, content))


def _shortest(object_id: str, content: bytes, bases: Iterable[tuple[str, bytes]]) -> PackEntry | None:
    deltas = [delta_entry(object_id, content, base_id, base) for base_id, base in bases]
    return min((delta for delta in deltas if delta is not None), key=lambda it: len(it.raw), default=None)


def _places(entries: Sequence[Stored]) -> Mapping[str, tuple[str, bytes]]:
    """Return kind and path of the files and folders that the commits among the entries name."""
    known = {entry.id: (entry, *entry.head()) for entry in entries}
    places: dict[str, tuple[str, bytes]] = {}
    pending: list[tuple[str, bytes]] = []
    for entry, kind, _ in known.values():
        if kind == "commit":
            with suppress(CorruptionError):
                pending.append((parse_commit(entry.id, entry.inflate()).tree, b""))
    while pending:
        object_id, path = pending.pop()
        if object_id in places or object_id not in known:
            continue
        entry, kind, size = known[object_id]
        if kind is None or size > LARGEST_DELTA:
            continue
        places[object_id] = (kind, path)
        if kind == "tree":
            rows = _TREE_ENTRY.findall(entry.inflate())
            pending += [(found.hex(), path + b"/" + name) for _, name, found in rows if found.hex() in known]
    return places
