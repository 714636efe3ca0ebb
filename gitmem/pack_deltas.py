"""Deltas for a pack that is put together: versions of one file or folder found, the longest kept whole."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

from gitmem.errors import CorruptionError
from gitmem.git_objects import parse_commit
from gitmem.pack_format import PackEntry, delta_entry, delta_of_pieces
from gitmem.repository import ObjectKind

#: Longest object that is inflated to make a delta.
LARGEST_DELTA: Final = 4 << 20
#: Objects shorter than that are not worth a delta: the name of its base and a header cost some forty bytes.
_SMALLEST: Final = 100
#: Bytes at the start of a file by which its versions know each other.
_START: Final = 64
#: Longest chain of deltas, each of which a reader has to go through; Git's own limit is 50.
DEEPEST: Final = 20
#: Whole versions that a further one is tried against.
_WINDOW: Final = 3
#: A delta of at most so many bytes is not worth the search for a shorter one.
_SHORT: Final = 120
#: Longest object that is compared line by line.
_LARGEST_SPREAD: Final = 1 << 20
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
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


def chain_heights(bases: Mapping[str, str]) -> dict[str, int]:
    """Return, for each object that is whole, how many deltas lead to it at most, one on the other.

    Args:
        bases: the id of the base of each delta, by the delta's own id.
    """
    roots: dict[str, tuple[str, int]] = {}
    for one in bases:
        path = []
        while one in bases and one not in roots:
            path.append(one)
            one = bases[one]  # noqa: PLW2901
        root, depth = roots.get(one, (one, 0))
        for step in reversed(path):
            depth += 1
            roots[step] = root, depth
    heights: dict[str, int] = defaultdict(int)
    for root, depth in roots.values():
        heights[root] = max(heights[root], depth)
    return dict(heights)


def with_deltas(
    groups: Iterable[Sequence[S]], heights: Mapping[str, int] = MappingProxyType({})
) -> Iterator[PackEntry]:
    """Yield all entries; of each group the longest whole, and others as deltas where that saves something.

    Args:
        groups: of entries.
        heights: of chains of deltas that are among the entries already; none becomes longer than a limit.
    """
    for group in groups:
        if len(group) == 1:
            yield group[0].read()
            continue
        bases: deque[tuple[str, bytes]] = deque(maxlen=_WINDOW)
        for entry in sorted(group, key=lambda entry: (-entry.head()[1], entry.id)):
            content = entry.inflate()
            whole = entry.read()
            delta = _shortest(entry, content, bases) if heights.get(entry.id, 0) < DEEPEST else None
            if delta is not None and len(delta.raw) < len(whole.raw):
                yield delta
            else:
                yield whole
                bases.append((entry.id, content))


def pieces_of(content: bytes, base: bytes, kind: ObjectKind) -> list[slice | bytes]:
    """Return content as slices of a base and bytes of its own, by whole lines, or entries of a folder."""
    places: dict[bytes, slice] = {}
    for piece in _cut(base, kind):
        places.setdefault(base[piece], piece)
    pieces: list[slice | bytes] = []
    own = bytearray()
    for piece in _cut(content, kind):
        word = content[piece]
        last = pieces[-1] if pieces and not own else None
        if isinstance(last, slice) and base.startswith(word, last.stop):
            pieces[-1] = slice(last.start, last.stop + len(word))
        elif word in places:
            pieces += [bytes(own), places[word]] if own else [places[word]]
            own.clear()
        else:
            own += word
    return [*pieces, bytes(own)] if own else pieces


def _cut(content: bytes, kind: ObjectKind) -> Iterator[slice]:
    pattern = _TREE_ENTRY if kind == "tree" else _LINE
    return (slice(*found.span()) for found in pattern.finditer(content))


def _shortest(entry: Stored, content: bytes, bases: Iterable[tuple[str, bytes]]) -> PackEntry | None:
    found: PackEntry | None = None
    for base_id, base in bases:
        delta = delta_entry(entry.id, content, base_id, base)
        # Perhaps it changed in more than one place.
        if (delta is None or len(delta.raw) > _SHORT) and len(content) <= _LARGEST_SPREAD:
            pieces = pieces_of(content, base, entry.head()[0] or "blob")
            spread = delta_of_pieces(entry.id, len(content), base_id, len(base), pieces)
            delta = min((one for one in (delta, spread) if one is not None), key=lambda one: len(one.raw))
        if delta is not None and (found is None or len(delta.raw) < len(found.raw)):
            found = delta
        if found is not None and len(found.raw) <= _SHORT:
            break
    return found


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
