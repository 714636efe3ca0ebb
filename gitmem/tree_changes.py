"""What changed between two trees, compared by id from the top, so that equal folders are never read.

Two versions of a folder mostly differ in few of many entries: only what lies between the bytes that both
begin with and those that both end with is decoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.git_objects import parse_tree
from gitmem.pack_format import common_end, common_start
from gitmem.repository import TREE_MODE, ObjectReader, TreeEntry

#: Shorter folders are decoded whole.
_LONG: Final = 2048
#: The longest row of whole entries from where one begins.
_ENTRIES: Final = re.compile(rb"(?:[0-7]{5,6} [^\0]+\0.{20})*", re.DOTALL)
_ENTRY: Final = re.compile(rb"[0-7]{5,6} [^\0]+\0.{20}", re.DOTALL)


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
    earlier, later = _differing(objects, old, new)
    before = {entry.name: entry for entry in earlier}
    after = {entry.name: entry for entry in later}
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


def _differing(
    objects: ObjectReader, old: str | None, new: str | None
) -> tuple[Sequence[TreeEntry], Sequence[TreeEntry]]:
    """Return the entries of two folders, without some that both have."""
    if old is not None and new is not None:
        (one, before), (other, after) = objects.read(old), objects.read(new)
        if one == other == "tree" and min(len(before), len(after)) >= _LONG:
            middles = _middles(before, after)
            if middles is not None:
                return parse_tree(middles[0]), parse_tree(middles[1])
    return (
        objects.read_tree(old) if old is not None else (),
        objects.read_tree(new) if new is not None else (),
    )


def _middles(before: bytes, after: bytes) -> tuple[bytes, bytes] | None:
    """Return what is between the entries that two folders share at start and end; None if that is unclear."""
    start = _end_of_entries(after, common_start(before, after))
    before, after = before[start:], after[start:]
    end = _first_entry(after, len(after) - common_end(before, after))
    # Counted from behind it is one place in both; in the earlier one, too, an entry has to begin there.
    before_end = len(before) - (len(after) - end)
    return (before[:before_end], after[:end]) if _first_entry(before, before_end) == before_end else None


def _end_of_entries(content: bytes, limit: int) -> int:
    found = _ENTRIES.match(content, 0, limit)
    return found.end() if found else 0


def _first_entry(content: bytes, at_least: int) -> int:
    """Return where the first entry begins that does not begin before a place."""
    at = 0
    while at < at_least:
        found = _ENTRY.match(content, at)
        if found is None:
            return len(content)
        at = found.end()
    return at
