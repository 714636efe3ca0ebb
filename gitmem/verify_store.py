"""The object store as a check reads it: many objects in little time, each held against its id.

What lies in a pack is taken from there; a loose object, and what came since, as everybody reads it. Besides:
whether the stored bytes are those that were written, by the checksums of packs and their indexes.
"""

from __future__ import annotations

import mmap
import re
import struct
import zlib
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from typing import Final, Self, TypeVar

from gitmem.errors import CorruptionError, GitmemError, ObjectMissing
from gitmem.git_objects import hash_object, parse_commit, parse_tree
from gitmem.git_transport.pack_stream import apply_delta
from gitmem.pack_format import inflate, parse_entry, parse_index
from gitmem.repository import Commit, ObjectKind, ObjectReader, TreeEntry
from gitmem.verify_finding import Finding

#: Bytes that are hashed or inflated at once.
_PIECE: Final = 1 << 20
_HASH: Final = 20
_LONGEST_HEADER: Final = 64
#: Objects that are kept, the longest of them, the longest that a delta makes, the longest chain of deltas.
_KEPT: Final = 16
_SMALL: Final = 1 << 18
_LARGEST: Final = 1 << 30
_DEEPEST: Final = 60
#: Where the ids begin in an index of version 2: behind 8 bytes and the fan-out table.
_IDS: Final = 8 + 1024
_NUMBER: Final = struct.Struct(">L")
_LARGE_NUMBER: Final = struct.Struct(">Q")
_LARGE: Final = 1 << 31
_LOOSE: Final = re.compile(r"[0-9a-f]{2}/[0-9a-f]{38}")


_Object = tuple[ObjectKind, bytes]
_Key = TypeVar("_Key")


class StoredObjects:
    """Reads objects past every cache; a context.

    Args:
        objects: asked for whatever does not lie in a pack that was there when the context began.
        common_dir: the repository's git dir.
    """

    def __init__(self, objects: ObjectReader, common_dir: Path) -> None:
        self._objects = objects
        self._folder = common_dir / "objects" / "pack"
        self._packs: list[_OpenPack] = []
        #: What deltas were made on last, many have one base; and the folders that were read last.
        self._bases: OrderedDict[bytes, _Object] = OrderedDict()
        self._folders: OrderedDict[str, _Object] = OrderedDict()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for path in sorted(self._folder.glob("pack-*.idx")):
            with suppress(OSError, ValueError):  # gone meanwhile, or empty: what it held is asked for
                self._packs.append(_open(path, self._stack))
        return self

    def __exit__(self, *_: object) -> None:
        self._packs.clear()
        self._bases.clear()
        self._folders.clear()
        self._stack.close()

    def read(self, object_id: str) -> _Object:
        """Return kind and content of an object.

        Raises:
            ObjectMissing: it is not here, or what is stored under its id is something else.
        """
        known = self._folders.get(object_id)
        if known is not None:
            return known
        found = self._in_packs(bytes.fromhex(object_id))
        if found is None or hash_object(*found) != object_id:
            found = self._objects.read(object_id)
            if hash_object(*found) != object_id:
                raise ObjectMissing(f"what is stored as {object_id} is another object", object=object_id)
        if found[0] == "tree":
            _keep(self._folders, object_id, found)
        return found

    def read_tree(self, tree_id: str) -> Sequence[TreeEntry]:
        """Return the entries of a tree in Git's order."""
        return parse_tree(self._read_as("tree", tree_id))

    def read_commit(self, commit_id: str) -> Commit:
        """Return a parsed commit."""
        return parse_commit(commit_id, self._read_as("commit", commit_id))

    def contains(self, object_id: str) -> bool:
        """Say whether the object is in the store."""
        return self._objects.contains(object_id)

    def _read_as(self, kind: ObjectKind, object_id: str) -> bytes:
        found, content = self.read(object_id)
        if found != kind:
            raise CorruptionError(f"{object_id} is a {found}, not a {kind}", object=object_id)
        return content

    def _in_packs(self, raw_id: bytes, depth: int = 0) -> _Object | None:
        for number, pack in enumerate(self._packs):
            with suppress(GitmemError, struct.error, IndexError):
                offset = pack.find(raw_id)
                if offset is None:
                    continue
                if number:  # the next object mostly lies in the same pack
                    self._packs.insert(0, self._packs.pop(number))
                kind, content, base = pack.read(offset)
                return (kind, content) if kind else self._from_base(bytes.fromhex(base or ""), content, depth)
        return None

    def _from_base(self, raw_id: bytes, delta: bytes, depth: int) -> _Object | None:
        """Return what a delta makes of its base; None where that does not lie in a pack."""
        base = self._bases.get(raw_id)
        if base is None:
            base = self._in_packs(raw_id, depth + 1) if depth < _DEEPEST else None
            if base is None:
                return None
            _keep(self._bases, raw_id, base)
        return base[0], apply_delta(base[1], delta, _LARGEST)


@dataclass(frozen=True, slots=True)
class _OpenPack:
    index: mmap.mmap
    content: mmap.mmap
    count: int

    def find(self, raw_id: bytes) -> int | None:
        """Return where an object's entry begins; None if it is not here."""
        index = self.index
        first = raw_id[0]
        low = _NUMBER.unpack_from(index, 4 + 4 * first)[0] if first else 0
        high = _NUMBER.unpack_from(index, 8 + 4 * first)[0]
        number = bisect_left(
            range(high), raw_id, low, key=lambda at: index[_IDS + _HASH * at : _IDS + _HASH * (at + 1)]
        )
        if number >= high or index[_IDS + _HASH * number : _IDS + _HASH * (number + 1)] != raw_id:
            return None
        offsets = _IDS + (_HASH + 4) * self.count
        place: int = _NUMBER.unpack_from(index, offsets + 4 * number)[0]
        if place & _LARGE:
            place = _LARGE_NUMBER.unpack_from(index, offsets + 4 * self.count + 8 * (place - _LARGE))[0]
        return place

    def read(self, offset: int) -> tuple[ObjectKind | None, bytes, str | None]:
        """Return kind (None for a delta), the content or the delta, and the id of a delta's base."""
        entry = parse_entry(self.content[offset : offset + _LONGEST_HEADER])
        # A stream that does not get shorter is stored in blocks with a few bytes each.
        longest = entry.stream_at + entry.size + (entry.size >> 8) + _LONGEST_HEADER
        return entry.kind, inflate(self.content[offset : offset + longest], entry), entry.base


def _keep(among: OrderedDict[_Key, _Object], key: _Key, found: _Object) -> None:
    if len(found[1]) <= _SMALL:
        among[key] = found
    if len(among) > _KEPT:
        among.popitem(last=False)


def _open(path: Path, stack: ExitStack) -> _OpenPack:
    index, content = (_map(file, stack) for file in (path, path.with_suffix(".pack")))
    return _OpenPack(index, content, _NUMBER.unpack_from(index, _IDS - 4)[0])


def _map(path: Path, stack: ExitStack) -> mmap.mmap:
    with path.open("rb") as file:
        return stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def store_findings(common_dir: Path) -> Iterator[Finding]:
    """Yield the packs, indexes and loose objects whose bytes are not those that were written.

    Args:
        common_dir: the repository's git dir.
    """
    folder = common_dir / "objects"
    for path in sorted((folder / "pack").glob("pack-*.pack")):
        with suppress(FileNotFoundError):  # merged meanwhile
            yield from _pack_findings(path)
    for path in sorted(folder.glob("[0-9a-f][0-9a-f]/*")):
        name = path.relative_to(folder).as_posix()
        if _LOOSE.fullmatch(name) is not None:
            with suppress(FileNotFoundError):
                if _loose_id(path) != name.replace("/", ""):
                    message = f"the stored bytes of object {name.replace('/', '')} are not its own"
                    yield Finding("store", message, path=f"objects/{name}")


def _pack_findings(path: Path) -> Iterator[Finding]:
    name = f"objects/pack/{path.name}"
    index = path.with_suffix(".idx").read_bytes()
    if sha1(index[:-_HASH], usedforsecurity=False).digest() != index[-_HASH:]:
        message = f"the index of {path.name} is not what was written"
        yield Finding("store", message, path=name.removesuffix(".pack") + ".idx")
        return
    trailer = index[-2 * _HASH : -_HASH]
    with ExitStack() as stack:
        content = _map(path, stack)
        if content[-_HASH:] == trailer and _digest_of(content) == trailer:
            return
        damaged = list(_damaged_entries(index, content))
        for object_id, offset in damaged:
            message = f"the stored bytes of object {object_id} are not its own, at {offset:,} of {path.name}"
            yield Finding("store", message, path=name)
        if not damaged:
            yield Finding("store", f"{path.name} is not what was written", path=name)


def _digest_of(content: mmap.mmap) -> bytes:
    """Return the checksum of a pack but for its trailer."""
    digest = sha1(usedforsecurity=False)
    end = len(content) - _HASH
    for at in range(0, end, _PIECE):
        digest.update(content[at : min(at + _PIECE, end)])
    return digest.digest()


def _damaged_entries(index: bytes, content: mmap.mmap) -> Iterator[tuple[str, int]]:
    try:
        rows = parse_index(index, len(content))
    except CorruptionError:
        return
    for row in rows:
        if zlib.crc32(content[row.offset : row.end]) != row.crc:
            yield row.id, row.offset


def _loose_id(path: Path) -> str | None:
    """Return the id of what a loose object's file holds; None where it does not inflate."""
    digest = sha1(usedforsecurity=False)
    engine = zlib.decompressobj()
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                digest.update(engine.decompress(piece))
    except zlib.error:
        return None
    return digest.hexdigest() if engine.eof else None
