"""A tree with a few files changed: only the folders on their paths are read and written again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from gitmem.errors import CorruptionError, ProtectedPath
from gitmem.git_objects import encode_path, make_object
from gitmem.repository import TREE_MODE, GitObject, ObjectKind


class TreeSource(Protocol):
    """Gives the bytes of trees."""

    def read(self, object_id: str) -> tuple[ObjectKind, bytes]:
        """Return kind and raw content."""
        ...


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file as a tree names it."""

    mode: int
    id: str


#: Mode, name, id.
_ENTRY: Final = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_FOLDER_MODES: Final = (b"40000", b"040000")
_Changes = Mapping[tuple[str, ...], TreeFile | None]


def edit_tree(
    objects: TreeSource, root: str | None, changes: Mapping[str, TreeFile | None]
) -> tuple[str, list[GitObject]]:
    """Return the id of a changed tree and the trees to write for it.

    Args:
        objects: where the present trees are read from.
        root: id of the tree to begin with; None for an empty one.
        changes: for each path (slashes) its new file, None to remove it; folders that fall empty go.

    Raises:
        ProtectedPath: a file stands where a folder is needed, or the other way round.
    """
    editor = _Editor(objects)
    content = editor.edit(root, {tuple(path.split("/")): file for path, file in changes.items()}, ())
    tree = make_object("tree", content)
    return tree.id, [*editor.written, tree]


def find_file(objects: TreeSource, root: str, path: str) -> TreeFile | None:
    """Return what a tree has at `path` (slashes), a folder included; other entries are not decoded."""
    found: TreeFile | None = TreeFile(TREE_MODE, root)
    for name in path.split("/"):
        if found is None or found.mode != TREE_MODE:
            return None
        found = _find(objects.read(found.id)[1], encode_path(name))
    return found


class _Editor:
    """Edits folders from the inside out and collects the trees that come of it."""

    def __init__(self, objects: TreeSource) -> None:
        self.written: list[GitObject] = []
        self._objects = objects

    def edit(self, tree: str | None, changes: _Changes, where: tuple[str, ...]) -> bytes:
        """Return the bytes of a folder's changed tree; empty if nothing is left in it."""
        content = b"" if tree is None else self._objects.read(tree)[1]
        inner: dict[str, dict[tuple[str, ...], TreeFile | None]] = {}
        for path, file in changes.items():
            if len(path) > 1:
                inner.setdefault(path[0], {})[path[1:]] = file
        own = {path[0]: file for path, file in changes.items() if len(path) == 1}
        # Removals first: a file may take the name of a folder that falls empty, and a folder a file's.
        for name in (name for name, file in own.items() if file is None):
            content = _remove(content, name)
        for name, below in inner.items():
            content = self._edit_folder(content, name, below, (*where, name))
        for name, file in own.items():
            if file is not None:
                content = _put(content, name, file, (*where, name))
        return content

    def _edit_folder(self, content: bytes, name: str, changes: _Changes, where: tuple[str, ...]) -> bytes:
        found = _find(content, encode_path(name))
        if found is not None and found.mode != TREE_MODE:
            if all(file is None for file in changes.values()):
                return content
            raise ProtectedPath(f"{'/'.join(where)} is a file", hint="Choose another path.")
        inner = self.edit(found.id if found else None, changes, where)
        if not inner:
            return _remove(content, name, folder=True)
        tree = make_object("tree", inner)
        self.written.append(tree)
        return _put(content, name, TreeFile(TREE_MODE, tree.id), where)


def _remove(content: bytes, name: str, *, folder: bool = False) -> bytes:
    """Return a tree's bytes without one file, or without one folder."""
    key = encode_path(name)
    for entry in _entries(content):
        if entry[2] == key and _is_folder(entry) is folder:
            return content[: entry.start()] + content[entry.end() :]
    return content


def _put(content: bytes, name: str, file: TreeFile, where: tuple[str, ...]) -> bytes:
    """Return a tree's bytes with one entry set; all other entries keep their bytes."""
    key = encode_path(name)
    order, last = (key + b"/" if file.mode == TREE_MODE else key), key + b"/"
    place = start = stop = 0
    for entry in _entries(content):
        found = entry[2] + b"/" if _is_folder(entry) else entry[2]
        if entry[2] == key:
            if _is_folder(entry) and file.mode != TREE_MODE:
                raise ProtectedPath(f"{'/'.join(where)} is a folder", hint="Choose another path.")
            start, stop = entry.span()
        elif found < order:
            place = entry.end()
        if found > last:
            break
    content = content[:start] + content[stop:]
    place -= stop - start if place > start else 0
    return content[:place] + b"%o %s\0" % (file.mode, key) + bytes.fromhex(file.id) + content[place:]


def _find(content: bytes, key: bytes) -> TreeFile | None:
    for entry in _entries(content):
        if entry[2] == key:
            return TreeFile(int(entry[1], 8), entry[3].hex())
    return None


def _entries(content: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the entries of a tree's bytes; each is found where the one before it ends."""
    end = 0
    for entry in _ENTRY.finditer(content):
        if entry.start() != end:
            break
        end = entry.end()
        yield entry
    else:
        if end == len(content):
            return
    raise CorruptionError("a damaged tree object", hint="Run `git fsck`.")


def _is_folder(entry: re.Match[bytes]) -> bool:
    return entry[1] in _FOLDER_MODES
