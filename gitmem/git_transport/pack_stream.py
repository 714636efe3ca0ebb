"""A pack as a server sends it: entries found one after the other, deltas applied, nothing believed."""

from __future__ import annotations

import hashlib
import mmap
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, cast

from gitmem.errors import RemoteMisbehaved
from gitmem.git_objects import hash_object
from gitmem.pack_format import PackEntry, copied_entry
from gitmem.repository import ObjectKind

Content = bytes | mmap.mmap
ReadOwn = Callable[[str], tuple[ObjectKind, bytes] | None]

_HEADER: Final = 12
_HASH: Final = 20
_KINDS: Final = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFFSET_DELTA: Final = 6
_ID_DELTA: Final = 7
#: A header and the shortest zlib stream.
_SHORTEST_ENTRY: Final = 9
#: Digits of seven bits that a length may have.
_LONGEST_NUMBER: Final = 9
_FED: Final = 1 << 16


@dataclass(slots=True)
class ArrivedEntry:
    """One entry where it lies in the pack.

    Attributes:
        kind: None for a delta.
        size: length of the object or delta, inflated.
        base: of a delta, the id of its base, or where in this pack the base lies.
        stream: where its zlib stream starts and ends.
        id: of the object; empty until it is known.
    """

    offset: int
    kind: ObjectKind | None
    size: int
    base: str | int | None
    stream: tuple[int, int]
    id: str = ""


class PackStream:
    """A whole pack that arrived.

    Args:
        content: its bytes.
        read_own: returns an object of the own store, for deltas against what is here already, or None.
        largest: the longest object that is taken.
        pulse: called for each object; what it raises ends the work.

    Raises:
        RemoteMisbehaved: it is no pack.
    """

    def __init__(
        self, content: Content, read_own: ReadOwn, largest: int, pulse: Callable[[], object]
    ) -> None:
        self._pulse = pulse
        self._view = memoryview(content)
        self._read_own = read_own
        self._largest = largest
        self._end = len(content) - _HASH
        self.entries: list[ArrivedEntry] = []
        if self._end < _HEADER or content[:8] != b"PACK\0\0\0\2":
            raise RemoteMisbehaved("what the remote sent is not a pack")
        self._count = int.from_bytes(content[8:_HEADER], "big")
        if self._count * _SHORTEST_ENTRY > self._end - _HEADER:
            raise RemoteMisbehaved(f"a pack too short for the {self._count} objects that it claims")
        if hashlib.sha1(self._view[: self._end], usedforsecurity=False).digest() != content[self._end :]:
            raise RemoteMisbehaved("the pack does not have the checksum that it says")

    def objects(self) -> Iterator[tuple[str, ObjectKind, bytes]]:
        """Yield id, kind and content of each object, and fill `entries`.

        Raises:
            RemoteMisbehaved: an entry is damaged, too large, or a delta of nothing.
        """
        deltas: dict[str | int, list[ArrivedEntry]] = defaultdict(list)
        places: dict[str, ArrivedEntry] = {}
        at = _HEADER
        for _ in range(self._count):
            entry, data = self._entry_at(at)
            self.entries.append(entry)
            at = entry.stream[1]
            if entry.kind is None:
                deltas[cast("str | int", entry.base)].append(entry)
                continue
            entry.id = hash_object(entry.kind, data)
            places[entry.id] = entry
            yield entry.id, entry.kind, data
        if at != self._end:
            raise RemoteMisbehaved("a pack with more in it than it says")
        yield from self._resolved(deltas, places)

    def stored(self) -> Iterator[PackEntry]:
        """Yield the entries as gitmem stores them: each id once, a delta by the id of its base."""
        ids = {entry.offset: entry.id for entry in self.entries}
        seen = set()
        for entry in self.entries:
            if entry.id in seen:
                continue
            seen.add(entry.id)
            stream = bytes(self._view[entry.stream[0] : entry.stream[1]])
            base = ids[entry.base] if isinstance(entry.base, int) else entry.base
            yield copied_entry(entry.id, entry.kind, entry.size, base, stream)

    def outside_bases(self) -> list[str]:
        """Return the ids of bases that are in the own store and not in this pack."""
        inside = {entry.id for entry in self.entries}
        return list(
            dict.fromkeys(
                entry.base
                for entry in self.entries
                if isinstance(entry.base, str) and entry.base not in inside
            )
        )

    def close(self) -> None:
        """Let go of the bytes."""
        self._view.release()

    def _resolved(
        self, deltas: dict[str | int, list[ArrivedEntry]], places: dict[str, ArrivedEntry]
    ) -> Iterator[tuple[str, ObjectKind, bytes]]:
        for base in list(deltas):
            if isinstance(base, str) and base not in places:
                continue  # perhaps a delta itself, which comes up below
            if base in deltas:
                found = places[base] if isinstance(base, str) else self._whole_at(base)
                if found is not None:
                    yield from self._children(deltas, found.id, found.offset, found)
        for base in list(deltas):
            found_here = self._read_own(base) if isinstance(base, str) and base in deltas else None
            if found_here is not None:
                kind, content = found_here
                yield from self._grow(deltas, [(entry, kind, content) for entry in deltas.pop(base)])
        if deltas:
            raise RemoteMisbehaved("a pack with a delta of an object that is neither in it nor here")

    def _whole_at(self, offset: int) -> ArrivedEntry | None:
        low, high = 0, len(self.entries)
        while low < high:
            middle = (low + high) // 2
            if self.entries[middle].offset < offset:
                low = middle + 1
            else:
                high = middle
        found = self.entries[low] if low < len(self.entries) else None
        return found if found is not None and found.offset == offset and found.kind is not None else None

    def _children(
        self,
        deltas: dict[str | int, list[ArrivedEntry]],
        object_id: str,
        offset: int,
        entry: ArrivedEntry,
    ) -> Iterator[tuple[str, ObjectKind, bytes]]:
        content = self._inflate(entry.stream[0], entry.size)[0]
        kind = cast("ObjectKind", entry.kind)
        first = [*deltas.pop(offset, ()), *deltas.pop(object_id, ())]
        yield from self._grow(deltas, [(child, kind, content) for child in first])

    def _grow(
        self,
        deltas: dict[str | int, list[ArrivedEntry]],
        waiting: list[tuple[ArrivedEntry, ObjectKind, bytes]],
    ) -> Iterator[tuple[str, ObjectKind, bytes]]:
        while waiting:
            entry, kind, base = waiting.pop()
            content = apply_delta(base, self._inflate(entry.stream[0], entry.size)[0], self._largest)
            entry.id = hash_object(kind, content)
            yield entry.id, kind, content
            below = [*deltas.pop(entry.offset, ()), *deltas.pop(entry.id, ())]
            waiting += [(child, kind, content) for child in below]

    def _entry_at(self, at: int) -> tuple[ArrivedEntry, bytes]:
        offset = at
        byte, at = self._byte(at)
        number, size, shift = (byte >> 4) & 7, byte & 15, 4
        while byte & 0x80:
            byte, at = self._byte(at)
            size |= (byte & 0x7F) << shift
            shift += 7
            if shift > 7 * _LONGEST_NUMBER:
                raise RemoteMisbehaved("a pack with a length that never ends")
        if size > self._largest:
            raise RemoteMisbehaved(f"an object of {size} bytes, which is more than allowed")
        base: str | int | None = None
        if number == _ID_DELTA:
            base, at = bytes(self._view[at : at + _HASH]).hex(), at + _HASH
        elif number == _OFFSET_DELTA:
            base, at = self._offset_base(offset, at)
        elif number not in _KINDS:
            raise RemoteMisbehaved(f"a pack with an entry of type {number}")
        data, end = self._inflate(at, size)
        kind = cast("ObjectKind | None", _KINDS.get(number))
        return ArrivedEntry(offset, kind, size, base, (at, end)), data

    def _offset_base(self, offset: int, at: int) -> tuple[int, int]:
        byte, at = self._byte(at)
        distance = byte & 0x7F
        while byte & 0x80:
            byte, at = self._byte(at)
            distance = ((distance + 1) << 7) | (byte & 0x7F)
            if distance > offset:
                break
        if not 0 < distance <= offset - _HEADER:
            raise RemoteMisbehaved("a pack with a delta of something outside it")
        return offset - distance, at

    def _byte(self, at: int) -> tuple[int, int]:
        if at >= self._end:
            raise RemoteMisbehaved("a pack that breaks off")
        return self._view[at], at + 1

    def _inflate(self, at: int, size: int) -> tuple[bytes, int]:
        """Return content and end of a zlib stream that must hold exactly `size` bytes."""
        self._pulse()
        engine = zlib.decompressobj()
        out = b""
        fed = min(_FED, size + 64)
        try:
            while not engine.eof and len(out) <= size and at < self._end:
                piece = self._view[at : min(at + fed, self._end)]
                out += engine.decompress(piece, size + 1 - len(out))
                at += len(piece) - len(engine.unused_data) - len(engine.unconsumed_tail)
        except zlib.error as error:
            raise RemoteMisbehaved("a pack with an entry that does not inflate") from error
        if not engine.eof or len(out) != size:
            raise RemoteMisbehaved("a pack with an entry of another length than it says")
        return out, at


def apply_delta(base: bytes, delta: bytes, largest: int) -> bytes:
    """Return what a delta makes of its base.

    Raises:
        RemoteMisbehaved: it does not fit, or makes more than `largest` bytes.
    """
    try:
        base_size, at = _number(delta, 0)
        size, at = _number(delta, at)
        if base_size != len(base) or size > largest:
            raise RemoteMisbehaved("a delta that does not fit its base or makes too much of it")
        out = bytearray()
        while at < len(delta) and len(out) <= size:
            command, at = delta[at], at + 1
            if command & 0x80:
                start, length, at = _copy(delta, command, at)
                piece = base[start : start + length]
                if len(piece) != length:
                    raise RemoteMisbehaved("a delta that copies from outside its base")
            else:
                piece, at = delta[at : at + command], at + command
                if not command or len(piece) != command:
                    raise RemoteMisbehaved("a delta that breaks off")
            out += piece
    except IndexError as error:
        raise RemoteMisbehaved("a delta that breaks off") from error
    if len(out) != size:
        raise RemoteMisbehaved("a delta that makes another length than it says")
    return bytes(out)


def _copy(delta: bytes, command: int, at: int) -> tuple[int, int, int]:
    numbers = []
    for first, count in ((0, 4), (4, 3)):
        value = 0
        for place in range(count):
            if command & (1 << (first + place)):
                value |= delta[at] << (8 * place)
                at += 1
        numbers.append(value)
    return numbers[0], numbers[1] or 0x10000, at


def _number(delta: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, at = delta[at], at + 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
        if shift > 7 * _LONGEST_NUMBER:
            raise RemoteMisbehaved("a delta with a length that never ends")
