"""Packs as bytes: entries, the pack, its version 2 index; made from objects and from entries of other packs.

An entry is either a whole object or a delta that names its base by id, so that it may be copied unchanged
into another pack as long as its base goes with it.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from gitmem.errors import CorruptionError
from gitmem.repository import GitObject, ObjectKind

_TYPES: Final[dict[str, int]] = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
_KINDS: Final = {number: kind for kind, number in _TYPES.items()}
_REF_DELTA: Final = 7
_INDEX_MAGIC: Final = b"\xfftOc\x00\x00\x00\x02"
_HASH: Final = 20
_LARGE: Final = 1 << 31
_ROW: Final = struct.Struct(">20sLQ")
#: A delta carries its base's id and a second header; below this it saves nothing.
_SMALLEST_SAVING: Final = 40
#: Bytes up to which an object is small, the power of two that this is, and zlib's memory level for it.
_SMALL: Final = 4096
_SMALL_WINDOW: Final = 12
_SMALL_MEMORY: Final = 5
_LARGEST_COPY: Final = 0xFFFFFF
_LARGEST_INSERT: Final = 127


@dataclass(frozen=True, slots=True)
class PackEntry:
    """One object inside a pack, as stored: header, the base's id if it is a delta, zlib stream.

    Attributes:
        crc: CRC-32 of `raw`, as the index lists it.
    """

    id: str
    raw: bytes
    crc: int


class IndexRow(NamedTuple):
    """One row of a pack's index; `end` is where the entry ends in the pack."""

    id: str
    crc: int
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    """The header of an entry.

    Attributes:
        kind: None for a delta.
        size: length of the object, or of the delta, once inflated.
        base: id of the delta's base, else None.
        stream_at: where the zlib stream starts in the entry.
    """

    kind: ObjectKind | None
    size: int
    base: str | None
    stream_at: int


@dataclass(frozen=True, slots=True)
class Pack:
    """A whole pack and its index as bytes; `checksum` (40 hex) is the pack's trailer."""

    content: bytes
    index: bytes
    checksum: str


class PackAssembler:
    """Puts a pack together piece by piece, so that a large one need not be held in memory."""

    def __init__(self, count: int) -> None:
        self._digest = hashlib.sha1(usedforsecurity=False)
        #: Id, CRC-32 and offset of each entry, 32 bytes, by the first byte of the id.
        self._rows: dict[int, bytearray] = defaultdict(bytearray)
        self._offset = 0
        self.header = struct.pack(">4sLL", b"PACK", 2, count)
        self._take(self.header)

    def add(self, entry: PackEntry) -> bytes:
        """Note one entry and return the bytes to write for it."""
        raw_id = bytes.fromhex(entry.id)
        self._rows[raw_id[0]] += _ROW.pack(raw_id, entry.crc, self._offset)
        self._take(entry.raw)
        return entry.raw

    def finish(self) -> tuple[bytes, bytes]:
        """Return the pack's trailer and the bytes of its index."""
        trailer = self._digest.digest()
        return trailer, _index(self._rows, trailer)

    def _take(self, piece: bytes) -> None:
        self._digest.update(piece)
        self._offset += len(piece)


def build_pack(entries: Sequence[PackEntry]) -> Pack:
    """Return the pack that holds `entries` in their order; no id may stand there twice."""
    assembler = PackAssembler(len(entries))
    pieces = [assembler.header, *map(assembler.add, entries)]
    trailer, index = assembler.finish()
    return Pack(b"".join([*pieces, trailer]), index, trailer.hex())


def whole_entry(item: GitObject) -> PackEntry:
    """Return the entry that holds an object whole; its ready zlib stream is taken if there is one."""
    stream = _deflate(item.content) if item.deflated is None else item.deflated
    return _entry(item.id, _entry_header(_TYPES[item.kind], len(item.content)) + stream)


def _deflate(content: bytes) -> bytes:
    """Return content as a zlib stream; for a small one without the 256 KiB that zlib prepares by default."""
    if len(content) > _SMALL:
        return zlib.compress(content, 1)
    small = zlib.compressobj(1, zlib.DEFLATED, _SMALL_WINDOW, _SMALL_MEMORY)
    return small.compress(content) + small.flush()


def delta_entry(object_id: str, content: bytes, base_id: str, base: bytes) -> PackEntry | None:
    """Return an entry that takes its start and end from `base`, or None if that saves little.

    Args:
        object_id: id of `content`.
        content: the object, of the same kind as its base.
        base_id: id of the base, which must be in the same pack.
        base: the base's content.
    """
    start = common_start(content, base)
    end = common_end(content[start:], base[start:])
    middle = content[start : len(content) - end]
    if 2 * len(middle) > len(content) or start + end < _SMALLEST_SAVING:
        return None
    pieces: list[slice | bytes] = [slice(0, start), middle, slice(len(base) - end, len(base))]
    return delta_of_pieces(object_id, len(content), base_id, len(base), pieces)


def delta_of_pieces(
    object_id: str, size: int, base_id: str, base_size: int, pieces: Iterable[slice | bytes]
) -> PackEntry:
    """Return an entry that is put together of pieces: slices of its base, and bytes of its own.

    Args:
        object_id: id of the whole.
        size: its length.
        base_id: id of the base, which must be in the same pack.
        base_size: the base's length.
        pieces: in the order of the whole.
    """
    delta = bytearray(_varint(base_size) + _varint(size))
    for piece in pieces:
        delta += (
            _inserts(piece) if isinstance(piece, bytes) else _copies(piece.start, piece.stop - piece.start)
        )
    header = _entry_header(_REF_DELTA, len(delta)) + bytes.fromhex(base_id)
    return _entry(object_id, header + _deflate(bytes(delta)))


def copied_entry(
    object_id: str, kind: ObjectKind | None, size: int, base_id: str | None, stream: bytes
) -> PackEntry:
    """Return the entry of a zlib stream that was made elsewhere.

    Args:
        object_id: id of the object.
        kind: its kind; None for a delta.
        size: length of what the stream inflates to.
        base_id: of a delta, the id of its base.
        stream: the zlib stream.
    """
    number = _REF_DELTA if kind is None else _TYPES[kind]
    base = b"" if base_id is None else bytes.fromhex(base_id)
    return _entry(object_id, _entry_header(number, size) + base + stream)


def common_start(one: bytes, other: bytes) -> int:
    """Return how many bytes two contents share at their start."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_end(one: bytes, other: bytes) -> int:
    """Return how many bytes two contents share at their end."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def parse_entry(raw: bytes) -> ParsedEntry:
    """Decode an entry's header.

    Raises:
        CorruptionError: the bytes are no entry, or a delta against an offset, which gitmem never writes.
    """
    try:
        byte, at = raw[0], 1
        number, size, shift = (byte >> 4) & 7, byte & 15, 4
        while byte & 0x80:
            byte = raw[at]
            size |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
    except IndexError as error:
        raise _damaged("an entry breaks off") from error
    if number == _REF_DELTA:
        return ParsedEntry(None, size, raw[at : at + _HASH].hex(), at + _HASH)
    if number not in _KINDS:
        raise _damaged(f"an entry of type {number}")
    return ParsedEntry(cast("ObjectKind", _KINDS[number]), size, None, at)


def inflate(raw: bytes, entry: ParsedEntry) -> bytes:
    """Return the content of an entry that holds an object whole.

    Raises:
        CorruptionError: the zlib stream is damaged or of another length.
    """
    engine = zlib.decompressobj()
    try:
        content = engine.decompress(raw[entry.stream_at :], entry.size + 1)
    except zlib.error as error:
        raise _damaged("an entry does not inflate") from error
    if len(content) != entry.size or not engine.eof:
        raise _damaged("an entry has another length than it says")
    return content


def parse_index(index: bytes, pack_size: int) -> list[IndexRow]:
    """Decode a version 2 index, in the order in which the entries lie in the pack.

    Args:
        index: the whole index file.
        pack_size: length of the pack in bytes.

    Raises:
        CorruptionError: it is no such index, or points outside the pack.
    """
    if index[:8] != _INDEX_MAGIC or len(index) < 8 + 1024 + 2 * _HASH:
        raise _damaged("a pack index that is not of version 2")
    count = int.from_bytes(index[8 + 1020 : 8 + 1024], "big")
    ids = 8 + 1024
    crcs = ids + _HASH * count
    offsets = crcs + 4 * count
    large = offsets + 4 * count
    if len(index) < large + 2 * _HASH:
        raise _damaged("a pack index breaks off")
    places = list(struct.unpack_from(f">{count}L", index, offsets))
    for number, place in enumerate(places):
        if place & _LARGE:
            (places[number],) = struct.unpack_from(">Q", index, large + 8 * (place - _LARGE))
    order = sorted(range(count), key=places.__getitem__)
    starts = [places[number] for number in order]
    ends = [*starts[1:], pack_size - _HASH] if starts else []
    if any(end <= start for start, end in zip(starts, ends, strict=True)):
        raise _damaged("a pack index points outside its pack")
    names = index[ids:crcs].hex()
    sums = struct.unpack_from(f">{count}L", index, crcs)
    return [
        IndexRow(names[40 * number : 40 * number + 40], sums[number], start, end)
        for number, start, end in zip(order, starts, ends, strict=True)
    ]


def ids_between(index: bytes, low: int, high: int) -> list[bytes]:
    """Return the raw ids in a pack's index whose first byte is at least `low` and below `high`."""
    start, end = (_count_below(index, byte) for byte in (low, high))
    return [index[at : at + _HASH] for at in range(1032 + _HASH * start, 1032 + _HASH * end, _HASH)]


def index_holds(index: bytes, raw_id: bytes) -> bool:
    """Say whether a raw id stands in a pack's index."""
    start, end = (1032 + _HASH * _count_below(index, byte) for byte in (raw_id[0], raw_id[0] + 1))
    at = index.find(raw_id, start, end)
    while at >= 0 and (at - start) % _HASH:
        at = index.find(raw_id, at + 1, end)
    return at >= 0


def _count_below(index: bytes, byte: int) -> int:
    # The fan-out table starts behind 8 bytes; entry N counts the ids whose first byte is at most N.
    return int.from_bytes(index[4 + 4 * byte : 8 + 4 * byte], "big") if byte else 0


def _entry(object_id: str, raw: bytes) -> PackEntry:
    return PackEntry(object_id, raw, zlib.crc32(raw))


def _entry_header(number: int, size: int) -> bytes:
    byte = (number << 4) | (size & 15)
    size >>= 4
    header = bytearray()
    while size:
        header.append(byte | 0x80)
        byte = size & 0x7F
        size >>= 7
    header.append(byte)
    return bytes(header)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _copies(offset: int, size: int) -> bytes:
    out = bytearray()
    while size:
        # Version 2 packs allow three size bytes; a size of zero would mean 0x10000, so it is never written.
        piece = min(size, _LARGEST_COPY)
        out += _copy(offset, piece)
        offset, size = offset + piece, size - piece
    return bytes(out)


def _copy(offset: int, size: int) -> bytes:
    command, arguments = 0x80, bytearray()
    for bit, byte in enumerate(offset.to_bytes(4, "little")):
        if byte:
            command |= 1 << bit
            arguments.append(byte)
    for bit, byte in enumerate(size.to_bytes(3, "little")):
        if byte:
            command |= 0x10 << bit
            arguments.append(byte)
    return bytes([command]) + bytes(arguments)


def _inserts(content: bytes) -> bytes:
    out = bytearray()
    for at in range(0, len(content), _LARGEST_INSERT):
        piece = content[at : at + _LARGEST_INSERT]
        out.append(len(piece))
        out += piece
    return bytes(out)


def _index(rows: Mapping[int, bytearray], trailer: bytes) -> bytes:
    ids, crcs, offsets, large = bytearray(), bytearray(), bytearray(), bytearray()
    fanout = []
    for byte in range(256):
        for raw_id, crc, offset in sorted(_ROW.iter_unpack(rows[byte])) if byte in rows else ():
            ids += raw_id
            crcs += crc.to_bytes(4, "big")
            if offset >= _LARGE:
                offsets += (_LARGE | len(large) // 8).to_bytes(4, "big")
                large += offset.to_bytes(8, "big")
            else:
                offsets += offset.to_bytes(4, "big")
        fanout.append(len(ids) // _HASH)
    body = b"".join([_INDEX_MAGIC, struct.pack(">256L", *fanout), ids, crcs, offsets, large, trailer])
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _damaged(what: str) -> CorruptionError:
    return CorruptionError(f"a damaged pack: {what}", hint="Run `git fsck`.")
