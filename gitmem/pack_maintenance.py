"""Many small packs become few: thirty-two packs of a turn one, eight of one level one of the next.

Only packs of gitmem's own making are merged. In the first merge older versions of a file or folder become
deltas against the longest one; further merges copy entries as they are. The new pack is durable before an old
one goes, so a kill at any moment leaves every object in place, at worst twice.
"""

from __future__ import annotations

import mmap
import os
import re
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from gitmem.errors import CorruptionError, HomeLocked
from gitmem.file_lock import file_lock
from gitmem.git_objects import parse_commit
from gitmem.layout import Layout
from gitmem.pack_files import OwnPack, is_own, levels_of, own_packs, remove_pack, write_pack_files
from gitmem.pack_format import IndexRow, PackEntry, delta_entry, inflate, parse_entry, parse_index

#: Packs of a turn, and packs of a higher level, that become one. About fifty remain, however long the
#: history is; with more than fifty `git gc --auto` would merge them by itself.
TURN_PACKS: Final = 32
LARGER_PACKS: Final = 8
#: Bytes that one merge copies; a pack of half this size is left as it is.
_LARGEST_MERGE: Final = 256 << 20
#: Longest object that is inflated to make a delta.
_LARGEST_DELTA: Final = 4 << 20
_LONGEST_HEADER: Final = 64
_TREE_ENTRY: Final = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a call did.

    Attributes:
        merged: packs that were merged and removed.
        made: packs that were made of them.
        damaged: names of own packs that do not read and were left alone.
    """

    merged: int = 0
    made: int = 0
    damaged: tuple[str, ...] = ()


def merge_packs(layout: Layout, *, seconds: float = 1.0) -> MergeReport:
    """Merge own packs wherever enough of one level have come together; nothing while another process does.

    Where there is nothing to do, the cost is one listing of the folder.

    Args:
        layout: where the repository lies.
        seconds: after this time no further merge is begun.

    Raises:
        OSError: the disk is full, for example; all packs are as they were.
    """
    folder = layout.common_dir / "objects" / "pack"
    if not any(_is_due(level, count) for level, count in levels_of(folder).items()):
        return MergeReport()
    try:
        with file_lock(layout.maintenance_lock, wait=0):
            return _merge_levels(folder, time.monotonic() + seconds)
    except HomeLocked:
        return MergeReport()


def _is_due(level: int, count: int) -> bool:
    return count >= (LARGER_PACKS if level else TURN_PACKS)


def _merge_levels(folder: Path, deadline: float) -> MergeReport:
    merged = made = 0
    damaged: dict[str, None] = {}
    while time.monotonic() < deadline:
        packs = [pack for pack in own_packs(folder) if pack.stem.name not in damaged]
        batch = _next_batch(packs)
        if not batch:
            break
        with _Sources(batch) as sources:
            damaged |= dict.fromkeys(sources.damaged)
            removable, new = _merge(folder, sources, packs)
            # Counted by what is there: git may have removed some of them meanwhile, a `.keep` may hold one.
            merged += sum(remove_pack(source.pack.stem) for source in removable)
            made += new
    return MergeReport(merged, made, tuple(damaged))


def _next_batch(packs: Sequence[OwnPack]) -> list[OwnPack]:
    """Return the oldest packs of the lowest level that has enough, as many as one merge may copy."""
    movable = [pack for pack in packs if pack.size <= _LARGEST_MERGE // 2]
    for level in sorted({pack.level for pack in movable}):
        batch = [pack for pack in movable if pack.level == level]
        if _is_due(level, len(batch)):
            return _within_limit(batch[: LARGER_PACKS if level else TURN_PACKS])
    return []


def _within_limit(batch: list[OwnPack]) -> list[OwnPack]:
    total = 0
    taken: list[OwnPack] = []
    for pack in batch:
        total += pack.size
        if total > _LARGEST_MERGE and len(taken) >= 2:
            break
        taken.append(pack)
    return taken


def _merge(folder: Path, sources: _Sources, packs: Sequence[OwnPack]) -> tuple[list[_Source], int]:
    """Write what is to be written; return the packs that may go now, and how many packs were made."""
    copied = _copied_before(sources, packs)
    if copied or len(sources.readable) < 2:
        return copied, 0
    first = sources.readable[0]
    entries = sources.entries()
    stored = (entry.read() for entry in entries) if first.pack.level else _with_deltas(entries)
    write_pack_files(folder, stored, len(entries), level=first.pack.level + 1, mode=first.mode)
    return sources.readable, 1


def _copied_before(sources: _Sources, packs: Sequence[OwnPack]) -> list[_Source]:
    """Return packs whose objects are all in the newest pack of the next level: a killed merge left them."""
    level = sources.level + 1
    above = [pack for pack in packs if pack.level == level][-1:]
    with _Sources(above) as merged:
        ids = {row.id for source in merged.readable for row in source.rows}
    return [source for source in sources.readable if {row.id for row in source.rows} <= ids]


@dataclass(frozen=True, slots=True)
class _Source:
    pack: OwnPack
    rows: list[IndexRow]
    content: mmap.mmap
    mode: int


@dataclass(frozen=True, slots=True)
class _Stored:
    """One entry in a pack on disk; read only when it is written or compared."""

    row: IndexRow
    content: mmap.mmap

    def read(self) -> PackEntry:
        return PackEntry(self.row.id, self.content[self.row.offset : self.row.end], self.row.crc)

    def head(self) -> tuple[str | None, int]:
        """Return kind and size, without reading the rest."""
        parsed = parse_entry(self.content[self.row.offset : self.row.offset + _LONGEST_HEADER])
        return parsed.kind, parsed.size

    def inflate(self) -> bytes:
        raw = self.content[self.row.offset : self.row.end]
        return inflate(raw, parse_entry(raw))


class _Sources:
    """Packs opened together; those that vanished are left out, those that are damaged are named."""

    def __init__(self, packs: Sequence[OwnPack]) -> None:
        self.level = packs[0].level if packs else 0
        self.readable: list[_Source] = []
        self.damaged: list[str] = []
        self._packs = packs
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with self._stack:
            for pack in self._packs:
                try:
                    self.readable.append(_open_source(pack, self._stack))
                except FileNotFoundError:
                    continue
                except CorruptionError:
                    self.damaged.append(pack.stem.name)
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def entries(self) -> list[_Stored]:
        """Return each object once, from the first pack that has it.

        A delta's base is then in the same pack or in an earlier one, so no two deltas need each other.
        """
        found: dict[str, _Stored] = {}
        for source in self.readable:
            for row in source.rows:
                found.setdefault(row.id, _Stored(row, source.content))
        return [*found.values()]


def _open_source(pack: OwnPack, stack: ExitStack) -> _Source:
    index = pack.stem.with_suffix(".idx").read_bytes()
    with pack.stem.with_suffix(".pack").open("rb") as file:
        status = os.fstat(file.fileno())
        if status.st_size < 32:
            raise CorruptionError(f"{pack.stem.name} is cut off")
        content = stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    trailer = content[-20:]
    rows = parse_index(index, len(content))
    if not is_own(pack.stem, trailer) or index[-40:-20] != trailer:
        raise CorruptionError(f"{pack.stem.name} does not agree with its index")
    with memoryview(content) as view:
        for row in rows:
            with view[row.offset : row.end] as raw:
                if zlib.crc32(raw) != row.crc:
                    raise CorruptionError(f"{pack.stem.name} is damaged at {row.offset}")
    return _Source(pack, rows, content, status.st_mode & 0o777)


def _with_deltas(entries: Sequence[_Stored]) -> Iterator[PackEntry]:
    """Yield all entries; of each file and folder the longest version whole, the others as deltas of it."""
    groups: dict[object, list[_Stored]] = defaultdict(list)
    places = _places(entries)
    for entry in entries:
        groups[places.get(entry.row.id, entry.row.id)].append(entry)
    for group in groups.values():
        longest, *others = sorted(group, key=lambda entry: (-entry.head()[1], entry.row.id))
        yield longest.read()
        base = longest.inflate() if others else b""
        for other in others:
            whole = other.read()
            delta = delta_entry(other.row.id, other.inflate(), longest.row.id, base)
            yield whole if delta is None or len(delta.raw) >= len(whole.raw) else delta


def _places(entries: Sequence[_Stored]) -> Mapping[str, tuple[str | None, bytes]]:
    """Return kind and path of the files and folders that the commits among the entries name."""
    known = {entry.row.id: (entry, *entry.head()) for entry in entries}
    places: dict[str, tuple[str | None, bytes]] = {}
    pending: list[tuple[str, bytes]] = []
    for entry, kind, _ in known.values():
        if kind == "commit":
            with suppress(CorruptionError):
                pending.append((parse_commit(entry.row.id, entry.inflate()).tree, b""))
    while pending:
        object_id, path = pending.pop()
        if object_id in places or object_id not in known:
            continue
        entry, kind, size = known[object_id]
        if size > _LARGEST_DELTA:
            continue
        places[object_id] = (kind, path)
        if kind == "tree":
            rows = _TREE_ENTRY.findall(entry.inflate())
            pending += [(found.hex(), path + b"/" + name) for _, name, found in rows if found.hex() in known]
    return places
