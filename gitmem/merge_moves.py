"""Moves in a merge of trees: where one side moved a file and the other edited it, the edit follows."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Final

from gitmem.branch_merge import CONFLICTS, EPISODES
from gitmem.note_identity import match_renames
from gitmem.tree_edit import TreeFile

#: Episodes never leave their place, and copies are known by what they say.
_FIXED: Final = (f"{EPISODES}/", f"{CONFLICTS}/")

Tree = Mapping[str, TreeFile]
_Files = MutableMapping[str, TreeFile]


def follow_moves(base: _Files, first: _Files, second: _Files) -> dict[str, str]:
    """Put what is told of a moved file's old path under its new one, in all three trees.

    Only an exact move counts: one path vanished, and the same bytes, not none, appeared under one new path.
    Of two sides that moved a file to two places both keep it.

    Args:
        base: files by path that differ between the three; edited in place.
        first: one side, likewise.
        second: the other side, likewise.

    Returns:
        New path -> old path of each move that an edit followed.
    """
    moves = (_moves(base, first), _moves(base, second))
    edits = {
        (new, old)
        for found, other in zip(moves, (second, first), strict=True)
        for new, old in found.items()
        if old in other and other[old] != base[old]
    }
    for found, mover, other in zip(moves, (first, second), (second, first), strict=True):
        for new, old in found.items():
            if (new, old) in edits:
                _carry(base, mover, other, (new, old))
    return dict(edits)


def _moves(base: Tree, side: Tree) -> dict[str, str]:
    """Return new path -> old path of what a side moved."""
    vanished = {path: file.id for path, file in base.items() if path not in side and _may_move(path, file)}
    appeared = {path: file.id for path, file in side.items() if path not in base and _may_move(path, file)}
    return match_renames(vanished, appeared)


def _may_move(path: str, file: TreeFile) -> bool:
    return file.is_regular and not path.startswith(_FIXED)


def _carry(base: _Files, mover: _Files, other: _Files, move: tuple[str, str]) -> None:
    new, old = move
    if new in other:
        # The other side has a file of its own there; the edited text stands against it.
        mover[new] = other.pop(old)
    else:
        base[new], other[new] = base[old], other.pop(old)
    del base[old]
