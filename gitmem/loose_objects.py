"""Loose objects: found, read with their id checked, and removed once a durable pack has them."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from gitmem.errors import CorruptionError
from gitmem.git_objects import hash_object
from gitmem.pack_format import PackEntry, whole_entry
from gitmem.repository import GitObject, ObjectKind

#: Git's own level; an object is packed once and kept.
_LEVEL: Final = 6
_FOLDER: Final = re.compile(r"[0-9a-f]{2}")
_REST: Final = re.compile(r"[0-9a-f]{38}")
#: No header of an object is longer: a word, a number, a zero byte.
_HEADER: Final = 32
_KINDS: Final = ("commit", "tree", "blob", "tag")


@dataclass(frozen=True, slots=True)
class LooseObject:
    """One loose object with its content, on its way into a pack."""

    id: str
    kind: ObjectKind
    content: bytes

    def head(self) -> tuple[ObjectKind | None, int]:
        """Return kind and size."""
        return self.kind, len(self.content)

    def inflate(self) -> bytes:
        """Return the content."""
        return self.content

    def read(self) -> PackEntry:
        """Return the entry that holds it whole."""
        stream = zlib.compress(self.content, _LEVEL)
        return whole_entry(GitObject(self.kind, self.content, self.id, stream))


def loose_ids(objects: Path) -> Iterator[str]:
    """Yield the ids of the loose objects below `objects/`; other files are passed over."""
    with suppress(FileNotFoundError):
        for folder in sorted(os.listdir(objects)):  # noqa: PTH208 - names are enough
            if _FOLDER.fullmatch(folder):
                with suppress(FileNotFoundError, NotADirectoryError):
                    names = os.listdir(objects / folder)  # noqa: PTH208
                    yield from (folder + name for name in names if _REST.fullmatch(name))


def loose_head(objects: Path, object_id: str) -> tuple[ObjectKind, int]:
    """Return kind and size of a loose object, from the first bytes of its file.

    Raises:
        FileNotFoundError: it is not loose (any more).
        CorruptionError: the file is damaged.
    """
    with _path(objects, object_id).open("rb") as file:
        return _parse_head(object_id, _inflate(object_id, file.read(256), _HEADER))[:2]


def read_loose(objects: Path, object_id: str) -> LooseObject:
    """Return a loose object whose content has the id that its name says.

    Raises:
        FileNotFoundError: it is not loose (any more).
        CorruptionError: the file is damaged.
    """
    raw = _path(objects, object_id).read_bytes()
    kind, size, start = _parse_head(object_id, _inflate(object_id, raw, _HEADER))
    content = _inflate(object_id, raw, start + size + 1)[start:]
    if len(content) != size or hash_object(kind, content) != object_id:
        raise _damaged(object_id)
    return LooseObject(object_id, kind, content)


def remove_loose(objects: Path, ids: Iterable[str]) -> int:
    """Remove loose files, and folders that fall empty; return how many went."""
    removed = 0
    for object_id in ids:
        path = _path(objects, object_id)
        with suppress(FileNotFoundError):
            path.unlink()
            removed += 1
        with suppress(OSError):
            path.parent.rmdir()
    return removed


def _path(objects: Path, object_id: str) -> Path:
    return objects / object_id[:2] / object_id[2:]


def _inflate(object_id: str, raw: bytes, limit: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(raw, limit)
    except zlib.error as error:
        raise _damaged(object_id) from error


def _parse_head(object_id: str, start: bytes) -> tuple[ObjectKind, int, int]:
    head, nul, _ = start.partition(b"\0")
    kind, _, size = head.decode("ascii", "replace").partition(" ")
    if not nul or kind not in _KINDS or not size.isdigit():
        raise _damaged(object_id)
    return cast("ObjectKind", kind), int(size), len(head) + 1


def _damaged(object_id: str) -> CorruptionError:
    return CorruptionError(f"the loose object {object_id} is damaged", hint="Run `git fsck`.")
