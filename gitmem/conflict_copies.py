"""Conflict copies of a tree: a set of texts by the path that they lost; only their names are told by text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from gitmem.branch_merge import CONFLICTS, Blob, conflict_of, conflict_path
from gitmem.repository import FILE_MODE
from gitmem.tree_edit import TreeFile

#: Path that a text lost, and the text's blob id.
Copy = tuple[str, str]

#: Digits of a text's hash in a copy's name; more where the shorter name is another text's.
_DIGITS: Final = (12, 64)


def is_copy(path: str, file: TreeFile) -> bool:
    """Say whether a file of a tree is a conflict copy; links are none, they are never read."""
    return path.startswith(f"{CONFLICTS}/") and file.is_regular


def copies_in(files: Mapping[str, TreeFile]) -> set[Copy]:
    """Return the conflict copies of a tree."""
    return {(conflict_of(path), file.id) for path, file in files.items() if is_copy(path, file)}


def merge_copies(base: AbstractSet[Copy], first: AbstractSet[Copy], second: AbstractSet[Copy]) -> set[Copy]:
    """Return the copies that stay: those on both sides, and those that are new on one."""
    return {*(first & second), *(first - base), *(second - base)}


def list_conflicts(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the open conflicts of a tree: the copies of each path, both in byte order.

    Args:
        paths: of the tree's files; others than copies are passed over.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(path for path in paths if path.startswith(f"{CONFLICTS}/")):
        found.setdefault(conflict_of(path), []).append(path)
    return {path: tuple(found[path]) for path in sorted(found)}


def place_copies(
    copies: Iterable[Copy],
    taken: Mapping[str, TreeFile],
    folders: Collection[str],
    blob: Callable[[str], Blob],
) -> dict[str, TreeFile]:
    """Return a file for each copy, named by its text.

    Args:
        copies: to be placed.
        taken: the other files of the tree; one that is this copy already takes its place.
        folders: of the tree; none of them gives its name to a file.
        blob: returns the blob of an id.
    """
    present = copies_in(taken)
    placed: dict[str, TreeFile] = {}
    for path, blob_id in sorted(copy for copy in copies if copy not in present):
        names = (conflict_path(path, blob(blob_id).content, digits=digits) for digits in _DIGITS)
        free = (name for name in names if name not in placed and name not in taken and name not in folders)
        name = next(free, None)
        # Nobody finds two texts with one SHA-256; a file that was given such a name by hand gives way.
        placed[name or conflict_path(path, blob(blob_id).content, digits=64)] = TreeFile(FILE_MODE, blob_id)
    return placed
