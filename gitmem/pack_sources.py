"""Own packs opened together to be merged: what they hold, once each, without holding it in memory."""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final, Self

from gitmem.errors import CorruptionError
from gitmem.pack_files import OwnPack, is_own
from gitmem.pack_format import (
    IndexRow,
    PackEntry,
    ids_between,
    index_holds,
    inflate,
    parse_entry,
    parse_index,
)
from gitmem.repository import ObjectKind

#: No header of an entry is longer: size, then the id of a base.
_LONGEST_HEADER: Final = 64
#: Ids are compared by ranges of their first byte, so that few of them are in memory at once.
_RANGE: Final = 16


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """One entry of an open pack; read only when it is written or compared."""

    row: IndexRow
    content: mmap.mmap

    @property
    def id(self) -> str:
        """Its id."""
        return self.row.id

    def read(self) -> PackEntry:
        """Return the entry as it is stored."""
        return PackEntry(self.row.id, self.content[self.row.offset : self.row.end], self.row.crc)

    def head(self) -> tuple[ObjectKind | None, int]:
        """Return kind (None for a delta) and size, without reading the rest."""
        parsed = parse_entry(self.content[self.row.offset : self.row.offset + _LONGEST_HEADER])
        return parsed.kind, parsed.size

    def base(self) -> str | None:
        """Return the id of a delta's base; None for an object that is stored whole."""
        return parse_entry(self.content[self.row.offset : self.row.offset + _LONGEST_HEADER]).base

    def inflate(self) -> bytes:
        """Return the content of an object that is stored whole."""
        raw = self.content[self.row.offset : self.row.end]
        return inflate(raw, parse_entry(raw))


@dataclass(frozen=True, slots=True)
class PackSource:
    """An open pack that was found whole.

    Attributes:
        mode: permission bits of its file.
    """

    pack: OwnPack
    index: bytes
    content: mmap.mmap
    mode: int

    def rows(self) -> list[IndexRow]:
        """Return the rows of the index in the order of the pack."""
        return parse_index(self.index, len(self.content))

    def is_within(self, other: PackSource) -> bool:
        """Say whether another pack holds every object of this one."""
        ids = (
            raw_id for low in range(0, 256, _RANGE) for raw_id in ids_between(self.index, low, low + _RANGE)
        )
        return all(index_holds(other.index, raw_id) for raw_id in ids)


class PackSources:
    """Packs opened together, in the order given.

    Attributes:
        readable: those that are whole; what vanished meanwhile is left out.
        damaged: names of those that do not read.
    """

    def __init__(self, packs: Sequence[OwnPack]) -> None:
        self.readable: list[PackSource] = []
        self.damaged: list[str] = []
        self._packs = packs
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with self._stack:
            for pack in self._packs:
                try:
                    self.readable.append(_open(pack, self._stack))
                except FileNotFoundError:
                    continue
                except CorruptionError:
                    self.damaged.append(pack.stem.name)
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def entries(self) -> tuple[int, Iterator[StoredEntry]]:
        """Return how many different objects there are, and each once, from the first pack that has it.

        A delta's base is then in the same pack or in an earlier one, so no two deltas need each other.
        """
        repeated = self._repeated()
        total = sum(len(ids_between(source.index, 0, 256)) for source in self.readable)
        count = total - sum(len(ids) for ids in repeated)
        return count, self._once(repeated)

    def _once(self, repeated: list[set[str]]) -> Iterator[StoredEntry]:
        for source, known in zip(self.readable, repeated, strict=True):
            for row in source.rows():
                if row.id not in known:
                    yield StoredEntry(row, source.content)
            _let_go(source.content)

    def _repeated(self) -> list[set[str]]:
        """Return, for each pack, the ids that an earlier one has."""
        repeated: list[set[str]] = [set() for _ in self.readable]
        for low in range(0, 256, _RANGE):
            seen: set[bytes] = set()
            for source, known in zip(self.readable, repeated, strict=True):
                ids = ids_between(source.index, low, low + _RANGE)
                known.update(raw_id.hex() for raw_id in ids if raw_id in seen)
                seen.update(ids)
        return repeated


def _let_go(content: mmap.mmap) -> None:
    """Give back the memory that a mapped pack was read through."""
    if hasattr(mmap, "MADV_DONTNEED"):
        content.madvise(mmap.MADV_DONTNEED)


def _open(pack: OwnPack, stack: ExitStack) -> PackSource:
    index = pack.stem.with_suffix(".idx").read_bytes()
    with pack.stem.with_suffix(".pack").open("rb") as file:
        status = os.fstat(file.fileno())
        if status.st_size < 32:
            raise CorruptionError(f"{pack.stem.name} is cut off")
        content = stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    source = PackSource(pack, index, content, status.st_mode & 0o777)
    _check(source)
    return source


def _check(source: PackSource) -> None:
    trailer = source.content[-20:]
    rows = source.rows()
    if not is_own(source.pack.stem, trailer) or source.index[-40:-20] != trailer:
        raise CorruptionError(f"{source.pack.stem.name} does not agree with its index")
    with memoryview(source.content) as view:
        for row in rows:
            with view[row.offset : row.end] as raw:
                if zlib.crc32(raw) != row.crc:
                    raise CorruptionError(f"{source.pack.stem.name} is damaged at {row.offset}")
    _let_go(source.content)
