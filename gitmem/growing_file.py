"""Bytes that grow at the end and are hashed and deflated at every turn, without starting over.

A segment and the tree of a busy day are written again at each turn with a few bytes changed at their end.
What stands before is kept hashed and deflated, so that a turn costs the same in a small home and in a large
one.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Final

from gitmem.git_objects import encode_path, make_object, parse_tree, tree_order
from gitmem.repository import TREE_MODE, GitObject, ObjectKind, TreeEntry

#: Git's own default for loose objects is 1: nine times faster than 6 on a segment, 17 % larger.
_LEVEL: Final = 1
#: The last block of a stream, an empty one.
_END: Final = b"\x03\x00"
#: Bytes up to which a tree is hashed and deflated as a whole.
_SMALL: Final = 4096


class GrowingFile:
    """A file that only grows; gives its blob after each growth."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = bytearray()
        self._deflate = zlib.compressobj(_LEVEL)
        self._deflated = bytearray()
        self._checksum = zlib.adler32(b"")
        self.extend(content)

    def extend(self, more: bytes) -> None:
        """Append bytes."""
        self.content += more
        self._deflated += self._deflate.compress(more)
        self._checksum = zlib.adler32(more, self._checksum)

    def blob(self) -> GitObject:
        """Return the blob of all bytes so far."""
        content = bytes(self.content)
        # Brought to the end of a byte, the stream can go on later, and for now ends with an empty block and
        # the checksum. To copy the compressor instead costs ten times as much: it copies 256 KiB.
        self._deflated += self._deflate.flush(zlib.Z_SYNC_FLUSH)
        deflated = b"".join((self._deflated, _END, self._checksum.to_bytes(4, "big")))
        return _object("blob", content, deflated)


class GrowingTree:
    """A tree of which one entry, mostly the last, changes at each turn.

    Args:
        content: the tree's bytes as they stand in Git; empty for a new tree.
    """

    def __init__(self, content: bytes = b"") -> None:
        self._entries = {entry.name: entry for entry in parse_tree(content)}
        self._changed_at = self._kept = 0
        self._lay_out()

    def get(self, name: str) -> TreeEntry | None:
        """Return the entry called `name`, or None."""
        return self._entries.get(name)

    def entries(self) -> list[TreeEntry]:
        """Return all entries in Git's order."""
        return sorted(self._entries.values(), key=tree_order)

    def put(self, name: str, mode: int, object_id: str) -> None:
        """Set one entry."""
        old = self._entries.get(name)
        self._entries[name] = TreeEntry(name, mode, object_id)
        if old is None or old.mode != mode:
            self._lay_out()
        else:
            at = self._places[name]
            self._content[at : at + 20] = bytes.fromhex(object_id)
            self._changed_at = min(self._changed_at, at)

    def drop(self, name: str) -> None:
        """Remove one entry, if it is there."""
        if self._entries.pop(name, None) is not None:
            self._lay_out()

    def tree(self) -> GitObject:
        """Return the tree object of all entries."""
        if len(self._content) <= _SMALL:
            return make_object("tree", bytes(self._content))
        if self._changed_at < self._kept:
            self._keep(self._changed_at)
        rest = bytes(self._content[self._kept :])
        hasher = self._hasher.copy()
        hasher.update(rest)
        deflate = self._deflate.copy()
        deflated = bytes(self._deflated) + deflate.compress(rest) + deflate.flush()
        return GitObject("tree", bytes(self._content), hasher.hexdigest(), deflated)

    def _lay_out(self) -> None:
        self._content = bytearray()
        self._places: dict[str, int] = {}
        for entry in self.entries():
            self._content += b"%o %s\0" % (entry.mode, encode_path(entry.name))
            self._places[entry.name] = len(self._content)
            self._content += bytes.fromhex(entry.id)
        if len(self._content) > _SMALL:
            # All before the last id is likely to stay; a change further up moves the boundary back.
            self._keep(max(0, len(self._content) - 20))

    def _keep(self, upto: int) -> None:
        head = bytes(self._content[:upto])
        self._kept = self._changed_at = upto
        self._hasher = hashlib.sha1(b"tree %d\0" % len(self._content) + head, usedforsecurity=False)
        self._deflate = zlib.compressobj(_LEVEL)
        self._deflated = bytearray(self._deflate.compress(head))


def is_folder(entry: TreeEntry | None) -> bool:
    """Say whether an entry is there and is a tree."""
    return entry is not None and entry.mode == TREE_MODE


def _object(kind: ObjectKind, content: bytes, deflated: bytes) -> GitObject:
    header = b"%s %d\0" % (kind.encode(), len(content))
    hasher = hashlib.sha1(header, usedforsecurity=False)
    hasher.update(content)
    return GitObject(kind, content, hasher.hexdigest(), deflated)
