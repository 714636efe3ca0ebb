"""A tree with a few files changed: only the folders on their paths are read and written again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitmem.errors import CorruptionError, ProtectedPath
from gitmem.git_objects import encode_path, make_object
from gitmem.repository import TREE_MODE, GitObject, ObjectReader


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file as a tree names it."""

    mode: int
    id: str


_Changes = Mapping[tuple[str, ...], TreeFile | None]


def edit_tree(
    objects: ObjectReader, root: str | None, changes: Mapping[str, TreeFile | None]
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


class _Editor:
    """Edits folders from the inside out and collects the trees that come of it."""

    def __init__(self, objects: ObjectReader) -> None:
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
        # Removals first, so that a file may take the name of a folder that falls empty, and a folder a file's.
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
    at, key = 0, encode_path(name)
    while at < len(content):
        end, mode, found = _entry(content, at)
        if found == key and (mode == TREE_MODE) is folder:
            return content[:at] + content[end:]
        at = end
    return content


def _put(content: bytes, name: str, file: TreeFile, where: tuple[str, ...]) -> bytes:
    """Return a tree's bytes with one entry set; all other entries keep their bytes."""
    key = encode_path(name)
    order = key + b"/" if file.mode == TREE_MODE else key
    at = place = 0
    start = stop = 0
    while at < len(content):
        end, mode, found = _entry(content, at)
        if found == key:
            if mode == TREE_MODE and file.mode != TREE_MODE:
                raise ProtectedPath(f"{'/'.join(where)} is a folder", hint="Choose another path.")
            start, stop = at, end
        elif (found + b"/" if mode == TREE_MODE else found) < order:
            place = end
        at = end
    content = content[:start] + content[stop:]
    place -= stop - start if place > start else 0
    return content[:place] + b"%o %s\0" % (file.mode, key) + bytes.fromhex(file.id) + content[place:]


def _find(content: bytes, key: bytes) -> TreeFile | None:
    at = 0
    while at < len(content):
        end, mode, found = _entry(content, at)
        if found == key:
            return TreeFile(mode, content[end - 20 : end].hex())
        at = end
    return None


def _entry(content: bytes, at: int) -> tuple[int, int, bytes]:
    space = content.find(b" ", at)
    nul = content.find(b"\0", space)
    if space < 0 or nul < 0 or nul + 21 > len(content):
        raise CorruptionError("a damaged tree object", hint="Run `git fsck`.")
    return nul + 21, int(content[at:space], 8), content[space + 1 : nul]
