"""A tree with a few files changed: only the folders on their paths are read and written again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from gitmem.errors import CorruptionError, ProtectedPath
from gitmem.git_objects import encode_path, make_object
from gitmem.repository import EXECUTABLE_MODE, FILE_MODE, TREE_MODE, GitObject, ObjectKind


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

    @property
    def is_regular(self) -> bool:
        """It is neither a link nor a submodule nor a folder."""
        return self.mode in (FILE_MODE, EXECUTABLE_MODE)


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
    return TreeLookup(objects, root).find(path)


class TreeLookup:
    """Finds the files of one tree; each of its folders is read once, however many are asked for.

    Args:
        objects: where trees are read from.
        root: id of the tree.
    """

    def __init__(self, objects: TreeSource, root: str) -> None:
        self._objects = objects
        self._root = root
        self._folders: dict[str, _Folder] = {}

    def find(self, path: str) -> TreeFile | None:
        """Return what the tree has at `path` (slashes), a folder included."""
        found: TreeFile | None = TreeFile(TREE_MODE, self._root)
        for name in path.split("/"):
            if found is None or found.mode != TREE_MODE:
                return None
            found = self._folder(found.id).find(encode_path(name))
        return found

    def _folder(self, tree: str) -> _Folder:
        if tree not in self._folders:
            self._folders[tree] = _Folder(self._objects.read(tree)[1])
        return self._folders[tree]


class _Folder:
    """The entries of one tree, decoded as far as somebody had to look."""

    def __init__(self, content: bytes) -> None:
        self._known: dict[bytes, re.Match[bytes]] = {}
        self._rest = _entries(content)

    def find(self, key: bytes) -> TreeFile | None:
        entry = self._known.get(key)
        while entry is None:
            following = next(self._rest, None)
            if following is None:
                return None
            known = self._known.setdefault(following[2], following)
            entry = known if following[2] == key else None
        return _file_of(entry)


class _Editor:
    """Edits folders from the inside out and collects the trees that come of it."""

    def __init__(self, objects: TreeSource) -> None:
        self.written: list[GitObject] = []
        self._objects = objects

    def edit(self, tree: str | None, changes: _Changes, where: tuple[str, ...]) -> bytes:
        """Return the bytes of a folder's changed tree; empty if nothing is left in it."""
        rows = _Rows(b"" if tree is None else self._objects.read(tree)[1])
        inner: dict[str, dict[tuple[str, ...], TreeFile | None]] = {}
        for path, file in changes.items():
            if len(path) > 1:
                inner.setdefault(path[0], {})[path[1:]] = file
        own = {path[0]: file for path, file in changes.items() if len(path) == 1}
        # Removals first: a file may take the name of a folder that falls empty, and a folder a file's.
        for name in (name for name, file in own.items() if file is None):
            rows.remove(name)
        for name, below in inner.items():
            self._edit_folder(rows, name, below, (*where, name))
        for name, file in own.items():
            if file is not None:
                rows.put(name, file, (*where, name))
        return rows.content()

    def _edit_folder(self, rows: _Rows, name: str, changes: _Changes, where: tuple[str, ...]) -> None:
        found = rows.find(name)
        if found is not None and found.mode != TREE_MODE:
            if all(file is None for file in changes.values()):
                return
            raise ProtectedPath(f"{'/'.join(where)} is a file", hint="Choose another path.")
        inner = self.edit(found.id if found else None, changes, where)
        if not inner:
            rows.remove(name, folder=True)
            return
        tree = make_object("tree", inner)
        self.written.append(tree)
        rows.put(name, TreeFile(TREE_MODE, tree.id), where)


class _Rows:
    """The entries of a folder's tree by name and kind; those that are not changed keep their bytes."""

    def __init__(self, content: bytes) -> None:
        self._rows: dict[tuple[bytes, bool], bytes] = {}
        for entry in _entries(content):
            self._rows.setdefault((entry[2], _is_folder(entry)), entry[0])

    def find(self, name: str) -> TreeFile | None:
        key = encode_path(name)
        row = self._rows.get((key, False)) or self._rows.get((key, True))
        return next((_file_of(entry) for entry in _entries(row)), None) if row else None

    def remove(self, name: str, *, folder: bool = False) -> None:
        self._rows.pop((encode_path(name), folder), None)

    def put(self, name: str, file: TreeFile, where: tuple[str, ...]) -> None:
        key, is_folder = encode_path(name), file.mode == TREE_MODE
        if not is_folder and (key, True) in self._rows:
            raise ProtectedPath(f"{'/'.join(where)} is a folder", hint="Choose another path.")
        self._rows[key, is_folder] = b"%o %s\0" % (file.mode, key) + bytes.fromhex(file.id)

    def content(self) -> bytes:
        """Return the tree in Git's order, in which a folder's name ends in a slash."""
        names = sorted(self._rows, key=lambda name: name[0] + b"/" if name[1] else name[0])
        return b"".join([self._rows[name] for name in names])


def _file_of(entry: re.Match[bytes]) -> TreeFile:
    return TreeFile(int(entry[1], 8), entry[3].hex())


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
