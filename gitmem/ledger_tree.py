"""The tree of a turn line as it is edited: only the folders on a changed path are read and written again."""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.errors import CorruptionError
from gitmem.growing_file import GrowingTree, is_folder
from gitmem.repository import FILE_MODE, TREE_MODE, GitObject, ObjectReader, TreeEntry, walk_tree


class LedgerTree:
    """An editable tree over the object store.

    Args:
        objects: where its folders are read from.
        tree_id: the tree to begin with; None for an empty one.
    """

    def __init__(self, objects: ObjectReader, tree_id: str | None) -> None:
        self._objects = objects
        self._folders: dict[str, GrowingTree] = {}
        self._dirty: set[str] = set()
        content = b"" if tree_id is None else objects.read(tree_id)[1]
        self._folders[""] = GrowingTree(content)

    def get(self, path: str) -> TreeEntry | None:
        """Return the entry at `path` (slashes), or None."""
        folder, _, name = path.rpartition("/")
        tree = self._folder(folder)
        return tree.get(name) if tree else None

    def has_folder(self, path: str) -> bool:
        """Say whether there is a folder at `path`, also one that was made and not written yet."""
        return self._folder(path) is not None

    def walk(self, folder: str) -> Iterator[tuple[str, str]]:
        """Yield path and blob id of every file below a folder, as edited."""
        tree = self._folder(folder)
        if tree is None:
            return
        made = {path for path in self._folders if path.rpartition("/")[0] == folder and path}
        for entry in tree.entries():
            path = f"{folder}/{entry.name}" if folder else entry.name
            if path in made:
                continue
            if entry.mode == TREE_MODE:
                yield from ((found, e.id) for found, e in walk_tree(self._objects, entry.id, path + "/"))
            else:
                yield path, entry.id
        for path in sorted(made):
            yield from self.walk(path)

    def put(self, path: str, blob_id: str) -> None:
        """Set a file."""
        folder, _, name = path.rpartition("/")
        self._made_folder(folder).put(name, FILE_MODE, blob_id)
        self._touch(folder)

    def drop(self, path: str) -> None:
        """Remove a file, if it is there."""
        folder, _, name = path.rpartition("/")
        tree = self._folder(folder)
        if tree and tree.get(name):
            tree.drop(name)
            self._touch(folder)

    def write(self) -> tuple[str, list[GitObject]]:
        """Return the root tree's id and the trees that have to be written for it, deepest first."""
        objects = []
        for folder in sorted(self._dirty, key=lambda path: -path.count("/") - (path != "")):
            tree = self._folders[folder].tree()
            objects.append(tree)
            if folder:
                parent, _, name = folder.rpartition("/")
                self._folders[parent].put(name, TREE_MODE, tree.id)
        self._dirty.clear()
        return (objects[-1].id if objects else self._folders[""].tree().id), objects

    def _folder(self, path: str) -> GrowingTree | None:
        if path not in self._folders:
            entry = self.get(path)
            if not is_folder(entry):
                return None
            assert entry is not None
            self._folders[path] = GrowingTree(self._objects.read(entry.id)[1])
        return self._folders[path]

    def _made_folder(self, path: str) -> GrowingTree:
        tree = self._folder(path)
        if tree is None:
            if self.get(path) is not None:
                raise CorruptionError(f"{path} is a file where the ledger has a folder", path=path)
            self._made_folder(path.rpartition("/")[0])
            tree = self._folders[path] = GrowingTree()
        return tree

    def _touch(self, folder: str) -> None:
        while folder:
            self._dirty.add(folder)
            folder = folder.rpartition("/")[0]
        self._dirty.add("")


def brought_by(
    objects: ObjectReader, ours: str | None, theirs: str, prefix: str = ""
) -> Iterator[tuple[str, TreeEntry | None, TreeEntry]]:
    """Yield `(path, our entry, their entry)` for each file of their tree that ours lacks or has otherwise."""
    if ours == theirs:
        return
    own = {} if ours is None else {entry.name: entry for entry in objects.read_tree(ours)}
    for entry in objects.read_tree(theirs):
        mine = own.get(entry.name)
        path = prefix + entry.name
        if entry.mode != TREE_MODE:
            if mine is None or mine.id != entry.id:
                yield path, mine, entry
        elif mine is None or mine.mode == TREE_MODE:
            yield from brought_by(objects, mine.id if mine else None, entry.id, path + "/")
        else:
            yield from ((found, mine, item) for found, item in walk_tree(objects, entry.id, path + "/"))
