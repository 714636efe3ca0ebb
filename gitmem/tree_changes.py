"""What changed between two trees, compared by id from the top, so that equal folders are never read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gitmem.repository import TREE_MODE, ObjectReader, TreeEntry


@dataclass(frozen=True, slots=True)
class TreeChange:
    """One path that differs; `old` is None where it was added, `new` is None where it was removed."""

    path: str
    old: TreeEntry | None
    new: TreeEntry | None


def changed_paths(
    objects: ObjectReader, old: str | None, new: str | None, prefix: str = ""
) -> Iterator[TreeChange]:
    """Yield every file that differs between two trees, in the order of their names.

    Args:
        objects: where the trees are read from.
        old: id of the earlier tree; None for an empty one.
        new: id of the later tree; None for an empty one.
        prefix: put before each path.
    """
    if old == new:
        return
    before = {} if old is None else {entry.name: entry for entry in objects.read_tree(old)}
    after = {} if new is None else {entry.name: entry for entry in objects.read_tree(new)}
    for name in sorted(before.keys() | after.keys()):
        yield from _changed_entry(objects, before.get(name), after.get(name), prefix + name)


def _changed_entry(
    objects: ObjectReader, old: TreeEntry | None, new: TreeEntry | None, path: str
) -> Iterator[TreeChange]:
    if old and new and (old.id, old.mode) == (new.id, new.mode):
        return
    old_tree, new_tree = (entry if entry and entry.mode == TREE_MODE else None for entry in (old, new))
    if old_tree or new_tree:
        yield from changed_paths(
            objects, old_tree.id if old_tree else None, new_tree.id if new_tree else None, path + "/"
        )
    old_file, new_file = old if not old_tree else None, new if not new_tree else None
    if old_file or new_file:
        yield TreeChange(path, old_file, new_file)
