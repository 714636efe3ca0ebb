"""Whether a change of one file can be made as things stand, and what a pending write says of it then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from gitmem.branch_changes import PathChange, PendingChange
from gitmem.branch_snapshot import PathView
from gitmem.errors import HeadMoved, ProtectedPath, RefusedError
from gitmem.git_objects import hash_object
from gitmem.layout import is_managed
from gitmem.tree_files import MAX_FILE
from gitmem.work_tree import check_way, find_twin

#: Files that are not managed and that `init` writes.
_RULE_FILES: Final = (".gitattributes", ".gitignore")
#: Returns a file without what was forgotten, None where it goes.
Close = Callable[[str, bytes], bytes | None]


def accept_change(root: Path, change: PathChange, view: PathView, close: Close) -> PendingChange:
    """Check a change against the disk and put it in the words of a pending write.

    Args:
        root: the work tree.
        change: what is wanted.
        view: what there is at its path.
        close: leaves out what was forgotten.

    Raises:
        ProtectedPath: the path is not gitmem's, is a link, has a twin, or the text is too large.
        RefusedError: the text, or a part of it, was forgotten.
        HeadMoved: the file is no longer what the caller saw.
    """
    if not is_managed(change.path) and change.path not in _RULE_FILES:
        raise ProtectedPath(
            f"gitmem does not manage {change.path}", hint="Use notes/ or work/.", path=change.path
        )
    if view.sight.fault is not None:
        raise ProtectedPath(view.sight.fault, hint="Nothing was written.", path=change.path)
    if change.result is not None and len(change.result) > MAX_FILE:
        raise ProtectedPath(f"{change.path}: larger than {MAX_FILE >> 20} MiB", path=change.path)
    change = _closed(change, view, close)
    if view.raw is None and change.result is not None:
        check_way(root, change.path)
        if view.head is None:
            _refuse_twin(root, change.path)
    return _accepted(change, view)


def _refuse_twin(root: Path, path: str) -> None:
    twin = find_twin(root, path)
    if twin is not None:
        raise ProtectedPath(
            f"{path} is the same name as {twin} on other machines",
            hint=f"Use {twin}, or another name.",
            path=path,
            twin=twin,
        )


def _closed(change: PathChange, view: PathView, close: Close) -> PathChange:
    """Refuse what would bring back what was forgotten; what a file has of it already goes on the way."""
    result = None if change.result is None else close(change.path, change.result)
    if result == change.result:
        return change
    found = None if view.raw is None else close(change.path, view.raw)
    if found is None or result is None or view.raw in (found, change.result):
        raise RefusedError(
            f"{change.path}: something of it was forgotten here",
            hint="What was forgotten is not taken back: docs/forgetting.md.",
            path=change.path,
        )
    return replace(change, result=result)


def _accepted(change: PathChange, view: PathView) -> PendingChange:
    sight = view.sight
    result = None if change.result is None else view.conversion.to_blob(change.result, sight.head)
    if result == sight.disk:
        # The file holds the result already: its writer claims it. What they began with was on the branch.
        return PendingChange(change.path, sight.head, sight.head, result)
    if change.base in _seen(view):
        return PendingChange(change.path, sight.head, sight.disk, result)
    raise HeadMoved(f"{change.path} changed since it was read", hint="Read it again.", path=change.path)


def _seen(view: PathView) -> tuple[str | None, ...]:
    if view.raw is None:
        return (None,)
    disk = view.sight.disk
    return hash_object("blob", view.raw), hash_object("blob", disk if disk is not None else view.raw)
