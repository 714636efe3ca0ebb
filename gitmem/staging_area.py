"""Changes to Git's staging area as bytes: own entries are patched, everything else stays byte for byte.

Git's index file is rewritten here and not through a library, because a rewrite loses what the operator put
there: the cached tree, resolve-undo, the untracked cache, the file system monitor's token, assume-unchanged.

Layout of the file: header (12 bytes), entries sorted by name, extensions, SHA-1 of all that. An entry is ten
stat words (40 bytes), the blob id (20), flags (2), two more bytes if the flag 0x4000 is set, and the name.
"""

from __future__ import annotations

import hashlib
import os
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gitmem.staging_extensions import (
    DAMAGED,
    TRAILER,
    StagingRefused,
    check_extensions,
    keep_extension,
    read_varint,
    resolved_sides,
    split_extensions,
    write_varint,
)

_HEADER: Final = struct.Struct(">4sLL")
_STAT: Final = struct.Struct(">10L")
_FIXED: Final = 62
_ID_AT: Final = 40
_FLAGS_AT: Final = 60

_ASSUME_UNCHANGED: Final = 0x8000
_EXTENDED: Final = 0x4000
_STAGE: Final = 0x3000
_LENGTH: Final = 0x0FFF
_SKIP_WORKTREE: Final = 0x4000
_INTENT_TO_ADD: Final = 0x2000

_FOLDER_MODE: Final = 0o040000


def _digest(content: bytes | bytearray) -> bytes:
    return hashlib.sha1(content, usedforsecurity=False).digest()


_EMPTY: Final = _HEADER.pack(b"DIRC", 2, 0) + _digest(_HEADER.pack(b"DIRC", 2, 0))


@dataclass(frozen=True, slots=True)
class StagedFile:
    """What the staging area shall hold for a path."""

    mode: int
    id: str


@dataclass(frozen=True, slots=True)
class StagedEntry:
    """One entry as it stands in the staging area.

    Attributes:
        stage: 0, or 1 to 3 while the path is unmerged.
        intent_to_add: made by `git add -N`; its content is not staged.
        skip_worktree: a sparse checkout leaves the file out of the work tree.
        stat_words: of the file when it was staged.
    """

    path: bytes
    mode: int
    id: str
    stage: int
    intent_to_add: bool = False
    skip_worktree: bool = False
    stat_words: bytes = b""

    def is_file(self, found: os.stat_result, index_modified: int) -> bool:
        """Say whether a file is certainly what is staged, by its stat data alone, as Git would.

        Args:
            found: of the file.
            index_modified: when the index file was written, in nanoseconds; a file as new as that may have
                been changed since without a trace.
        """
        if found.st_mtime_ns // 1_000_000_000 >= index_modified // 1_000_000_000:
            return False
        # ctime, mtime, inode, user, group, size: of these words Git on every machine takes note.
        words = _STAT.unpack(self.stat_words) if self.stat_words else ()
        fresh = _STAT.unpack(_stat_words(found, self.mode))
        return bool(words) and all(words[at] == fresh[at] for at in (0, 2, 5, 7, 8, 9))


@dataclass(frozen=True, slots=True)
class StagingPlan:
    """A new index file, complete but for the stat data of the changed files and the checksum."""

    body: bytes
    stat_offsets: Mapping[bytes, int]
    checksummed: bool

    def seal(self, stats: Mapping[bytes, os.stat_result]) -> bytes:
        """Return the new index file.

        Args:
            stats: `lstat` of changed files after their last write; a file left out is compared by content
                when Git next looks at it.
        """
        body = bytearray(self.body)
        for path, offset in self.stat_offsets.items():
            if path in stats:
                mode = int.from_bytes(body[offset + 24 : offset + 28], "big")
                body[offset : offset + _ID_AT] = _stat_words(stats[path], mode)
        return bytes(body) + (_digest(body) if self.checksummed else bytes(TRAILER))


@dataclass(frozen=True, slots=True)
class _Walk:
    """Where each entry of an index file begins, and what is behind them."""

    index: bytes
    version: int
    starts: Sequence[int]
    names: Sequence[bytes]
    end: int

    def flags(self, number: int) -> int:
        at = self.starts[number] + _FLAGS_AT
        return self.index[at] << 8 | self.index[at + 1]

    def raw(self, first: int, last: int) -> bytes:
        """Return the bytes of entries `first` up to, without, `last`."""
        if first >= last:
            return b""
        stop = self.starts[last] if last < len(self.starts) else self.end
        return self.index[self.starts[first] : stop]


class StagingArea:
    """An index file's content.

    Args:
        content: its bytes; None where there is no file.

    Raises:
        StagingRefused: it is damaged, or has a feature that is not understood.
    """

    def __init__(self, content: bytes | None) -> None:
        self._content = _EMPTY if content is None else content
        self._walk = _walk(self._content)
        check_extensions(self._content, self._walk.end)

    def entries(self) -> Iterator[StagedEntry]:
        """Yield every entry in the file's order."""
        return (_entry(self._walk, number) for number in range(len(self._walk.starts)))

    def rows(self, path: bytes) -> tuple[StagedEntry, ...]:
        """Return a path's entries, all stages; none where nothing is staged."""
        names = self._walk.names
        first, last = bisect_left(names, path), bisect_right(names, path)
        return tuple(_entry(self._walk, number) for number in range(first, last))

    def resolved_sides(self, path: bytes) -> tuple[str, str] | None:
        """Return the blob ids of both sides of a path that was unmerged before it was staged."""
        for signature, extension in split_extensions(self._content, self._walk.end):
            if signature == b"REUC":
                with suppress(ValueError):  # only a hint: a damaged one is none
                    return resolved_sides(extension, path)
        return None

    def plan(self, changes: Mapping[bytes, StagedFile | None]) -> StagingPlan:
        """Work out the index file in which `changes` are staged and nothing else differs.

        Args:
            changes: for each path the file to stage, or None to remove its entry.

        Raises:
            StagingRefused: the checksum is wrong, or an entry is in the way.
        """
        walk, content = self._walk, self._content
        checksummed = content[-TRAILER:] != bytes(TRAILER)
        if checksummed and _digest(content[:-TRAILER]) != content[-TRAILER:]:
            raise StagingRefused(DAMAGED)
        _check_ways(walk, changes)
        entries, offsets, count = _new_entries(walk, changes)
        reshaped = count != len(walk.starts) or any(not _has(walk, path) for path in offsets)
        body = _HEADER.pack(b"DIRC", walk.version, count) + entries
        for signature, extension in split_extensions(content, walk.end):
            kept = keep_extension(signature, extension, list(changes), reshaped=reshaped)
            if kept is not None:
                body += signature + len(kept).to_bytes(4, "big") + kept
        return StagingPlan(body, offsets, checksummed)


def _walk(index: bytes) -> _Walk:
    if len(index) < _HEADER.size + TRAILER or index[:4] != b"DIRC":
        raise StagingRefused(DAMAGED)
    _, version, count = _HEADER.unpack_from(index)
    if version not in (2, 3, 4):
        raise StagingRefused(f"unsupported index feature: version {version}")
    try:
        starts, names, end = (_walk_v4 if version == 4 else _walk_padded)(index, count)
    except (IndexError, ValueError) as error:
        raise StagingRefused(DAMAGED) from error
    if end > len(index) - TRAILER or names != sorted(names):
        raise StagingRefused(DAMAGED)
    return _Walk(index, version, starts, names, end)


def _walk_padded(index: bytes, count: int) -> tuple[list[int], list[bytes], int]:
    starts, names, at = [], [], _HEADER.size
    for _ in range(count):
        high = index[at + _FLAGS_AT]
        name_at = at + (_FIXED + 2 if high & 0x40 else _FIXED)
        length = (high & 0x0F) << 8 | index[at + _FLAGS_AT + 1]
        if length == _LENGTH:
            length = index.index(0, name_at + length) - name_at
        starts.append(at)
        names.append(index[name_at : name_at + length])
        at += (name_at - at + length + 8) & ~7
    return starts, names, at


def _walk_v4(index: bytes, count: int) -> tuple[list[int], list[bytes], int]:
    starts, names, at, name = [], [], _HEADER.size, b""
    for _ in range(count):
        starts.append(at)
        strip, suffix_at = read_varint(index, at + (_FIXED + 2 if index[at + _FLAGS_AT] & 0x40 else _FIXED))
        if strip > len(name):
            raise ValueError(strip)
        stop = index.index(0, suffix_at)
        name = name[: len(name) - strip] + index[suffix_at:stop]
        names.append(name)
        at = stop + 1
    return starts, names, at


def _entry(walk: _Walk, number: int) -> StagedEntry:
    start, flags = walk.starts[number], walk.flags(number)
    more = int.from_bytes(walk.index[start + _FIXED : start + _FIXED + 2], "big") if flags & _EXTENDED else 0
    return StagedEntry(
        path=walk.names[number],
        mode=int.from_bytes(walk.index[start + 24 : start + 28], "big"),
        id=walk.index[start + _ID_AT : start + _FLAGS_AT].hex(),
        stage=(flags & _STAGE) >> 12,
        intent_to_add=bool(more & _INTENT_TO_ADD),
        skip_worktree=bool(more & _SKIP_WORKTREE),
        stat_words=walk.index[start : start + _ID_AT],
    )


def _check_ways(walk: _Walk, changes: Mapping[bytes, StagedFile | None]) -> None:
    gone = {path for path, file in changes.items() if file is None}
    for path, file in changes.items():
        at = bisect_left(walk.names, path)
        if at < len(walk.names) and walk.names[at] == path and walk.flags(at) & _STAGE:
            raise StagingRefused(f"{os.fsdecode(path)} is unmerged")
        parents = [path[:cut] for cut in range(len(path)) if path[cut : cut + 1] == b"/"]
        for parent in parents:
            if _has(walk, parent + b"/"):
                raise StagingRefused("unsupported index feature: sparse index, collapsed over this path")
            if file is not None and parent not in gone and _has(walk, parent):
                raise StagingRefused(f"{os.fsdecode(parent)} is staged and is not a folder")
        if file is not None:
            _check_not_folder(walk, path, gone)


def _check_not_folder(walk: _Walk, path: bytes, gone: set[bytes]) -> None:
    first, last = bisect_left(walk.names, path + b"/"), bisect_left(walk.names, path + b"0")
    if any(name not in gone for name in walk.names[first:last]):
        raise StagingRefused(f"{os.fsdecode(path)} is a folder in the staging area")


def _has(walk: _Walk, name: bytes) -> bool:
    at = bisect_left(walk.names, name)
    return at < len(walk.names) and walk.names[at] == name


def _new_entries(
    walk: _Walk, changes: Mapping[bytes, StagedFile | None]
) -> tuple[bytes, dict[bytes, int], int]:
    pieces: list[bytes] = []
    offsets: dict[bytes, int] = {}
    length, count, done, last_name = _HEADER.size, 0, 0, b""
    for path in sorted(changes):
        at = bisect_left(walk.names, path)
        for piece in _run(walk, done, at, last_name):
            pieces.append(piece)
            length += len(piece)
        count += at - done
        last_name = walk.names[at - 1] if at > done else last_name
        there = at < len(walk.names) and walk.names[at] == path
        file = changes[path]
        if file is not None:
            piece = _file_entry(walk, at if there else None, path, file, last_name)
            offsets[path] = length
            pieces.append(piece)
            length += len(piece)
            count += 1
            last_name = path
        done = at + 1 if there else at
    pieces += _run(walk, done, len(walk.names), last_name)
    return b"".join(pieces), offsets, count + len(walk.names) - done


def _run(walk: _Walk, first: int, last: int, previous: bytes) -> list[bytes]:
    """Return entries as they are; in version 4 the first is told anew what it shares with its neighbour."""
    if first >= last:
        return []
    if walk.version < 4 or previous == (walk.names[first - 1] if first else b""):
        return [walk.raw(first, last)]
    start = walk.starts[first]
    fixed = _FIXED + 2 if walk.flags(first) & _EXTENDED else _FIXED
    head = walk.index[start : start + fixed] + _shared_name(walk.names[first], previous)
    return [head, walk.raw(first + 1, last)]


def _file_entry(walk: _Walk, number: int | None, path: bytes, file: StagedFile, previous: bytes) -> bytes:
    # Keeping the extended word, zeroed, drops intent-to-add and skip-worktree without moving what follows.
    extended = number is not None and walk.flags(number) & _EXTENDED
    flags = min(len(path), _LENGTH) | (_EXTENDED if extended else 0)
    head = (
        _STAT.pack(0, 0, 0, 0, 0, 0, file.mode, 0, 0, 0) + bytes.fromhex(file.id) + flags.to_bytes(2, "big")
    )
    head += bytes(2) if extended else b""
    if walk.version == 4:
        return head + _shared_name(path, previous)
    entry = head + path
    return entry + bytes(8 - len(entry) % 8)


def _shared_name(name: bytes, previous: bytes) -> bytes:
    shared = 0
    for ours, theirs in zip(name, previous, strict=False):
        if ours != theirs:
            break
        shared += 1
    return write_varint(len(previous) - shared) + name[shared:] + b"\0"


def _stat_words(stat: os.stat_result, mode: int) -> bytes:
    ctime, ctime_ns = divmod(stat.st_ctime_ns, 1_000_000_000)
    mtime, mtime_ns = divmod(stat.st_mtime_ns, 1_000_000_000)
    words = (
        *(ctime, ctime_ns, mtime, mtime_ns, stat.st_dev, stat.st_ino),
        *(mode, stat.st_uid, stat.st_gid, stat.st_size),
    )
    return _STAT.pack(*(word & 0xFFFFFFFF for word in words))
