"""What a server has against a pushed turn line, seen from inside Git's own hook `update`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from gitmem.cat_file import CatFile, run_git
from gitmem.forgotten import FOLDER
from gitmem.ledger_growth import ledger_losses
from gitmem.repository import TREE_MODE, ObjectReader, read_path, walk_tree

_MOST: Final = 100
_PURGES: Final = f"{FOLDER}/purge"


def push_faults(old: str, new: str, folder: Path | None = None) -> Iterator[str]:
    """Yield what speaks against moving a turn line from one commit to another, a sentence each.

    Args:
        old: the commit that it is.
        new: the commit that is pushed.
        folder: of the repository; by default the current folder, as a hook has it.
    """
    with CatFile(folder) as objects:
        follows = run_git("merge-base", "--is-ancestor", old, new, folder=folder) is not None
        if not follows and not _is_purge(objects, old, new, folder):
            yield f"a turn line only grows; {new[:10]} does not follow {old[:10]}: fetch it first"
            return
        for loss in islice(ledger_losses(objects, old, new), _MOST):
            yield f"{loss.path}: {loss.rule}: {loss.message}"


def _is_purge(objects: ObjectReader, old: str, new: str, folder: Path | None) -> bool:
    """Say whether history was rewritten by a purge that the new commit names, and the owner lets it in."""
    allowed = run_git("config", "--type=bool", "--get", "gitmem.allowPurge", folder=folder)
    return allowed == b"true\n" and bool(_purges(objects, new) - _purges(objects, old))


def _purges(objects: ObjectReader, commit: str) -> set[str]:
    entry = read_path(objects, objects.read_commit(commit).tree, _PURGES)
    if entry is None or entry.mode != TREE_MODE:
        return set()
    return {path for path, _ in walk_tree(objects, entry.id)}
