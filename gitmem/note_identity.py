"""Which note is which along history: the rule that gives a note without an id of its own a lasting one.

A path is introduced where it appears without having been there before; the note keeps the id of that moment
through edits and exact renames until it vanishes. The same path introduced again is another note.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

#: The blob of an empty file; two of them say nothing about a rename.
_EMPTY: Final = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note at one point of history: its id and the blob of its content."""

    id: str
    blob: str


@dataclass(frozen=True, slots=True)
class NotesChange:
    """What one commit did to the notes, compared with its first parent.

    Attributes:
        present: blob by path of the notes that it added or changed.
        removed: paths that it removed.
    """

    present: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()


@dataclass(slots=True)
class NotesState:
    """The notes as of one commit.

    Attributes:
        live: the notes by path.
        introductions: how often each path was introduced so far.
        gone: the notes that were removed: by id, path and last blob.
    """

    live: dict[str, NoteFile] = field(default_factory=dict)
    introductions: dict[str, int] = field(default_factory=dict)
    gone: dict[str, tuple[str, str]] = field(default_factory=dict)

    def copy(self) -> NotesState:
        """Return a state that may be changed on its own."""
        return NotesState(dict(self.live), dict(self.introductions), dict(self.gone))

    def next_id(self, path: str) -> str:
        """Return the id that the next introduction of a path gives."""
        return derive_note_id(path, self.introductions.get(path, 0))


def derive_note_id(path: str, earlier: int) -> str:
    """Return 15 hex of the SHA-256 of a path, a NUL, and the count of its earlier introductions."""
    return hashlib.sha256(f"{path}\0{earlier}".encode("utf-8", "surrogatepass")).hexdigest()[:15]


def apply_change(state: NotesState, change: NotesChange) -> None:
    """Bring a state from a commit's only parent to the commit."""
    removed = {path: state.live.pop(path) for path in change.removed if path in state.live}
    added = [path for path in sorted(change.present) if path not in state.live]
    moved = match_renames({p: one.blob for p, one in removed.items()}, {p: change.present[p] for p in added})
    for path, blob in change.present.items():
        if path in state.live:
            state.live[path] = NoteFile(state.live[path].id, blob)
    for path in added:
        source = moved.get(path)
        if source is not None:
            note_id = removed.pop(source).id
        else:
            note_id = state.next_id(path)
            state.introductions[path] = state.introductions.get(path, 0) + 1
        state.live[path] = NoteFile(note_id, change.present[path])
        state.gone.pop(note_id, None)
    state.gone.update((one.id, (path, one.blob)) for path, one in removed.items())


def merge_states(parents: Sequence[NotesState], change: NotesChange) -> NotesState:
    """Return the state of a commit with several parents; their order does not matter.

    Args:
        parents: the states of all parents.
        change: what the commit did, compared with the first of them.
    """
    tree = {path: one.blob for path, one in parents[0].live.items()} | dict(change.present)
    for path in change.removed:
        tree.pop(path, None)
    joined = NotesState()
    for parent in parents:
        joined.gone.update(parent.gone)
        for path, count in parent.introductions.items():
            joined.introductions[path] = max(count, joined.introductions.get(path, 0))
    for path in sorted({path for parent in parents for path in parent.live}):
        joined.live[path] = _choose([p.live[path] for p in parents if path in p.live], tree.get(path))
    _part_twins(joined, tree)
    apply_change(joined, NotesChange(tree, tuple(path for path in joined.live if path not in tree)))
    for one in joined.live.values():
        joined.gone.pop(one.id, None)
    return joined


def match_renames(vanished: Mapping[str, str], appeared: Mapping[str, str]) -> dict[str, str]:
    """Return new path -> old path where exactly one path vanished and one appeared with the same content."""
    old, new = _by_blob(vanished.items()), _by_blob(appeared.items())
    return {
        new[blob][0]: paths[0]
        for blob, paths in old.items()
        if blob != _EMPTY and len(paths) == 1 and len(new.get(blob, ())) == 1
    }


def _by_blob(files: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    paths: dict[str, list[str]] = {}
    for path, blob in files:
        paths.setdefault(blob, []).append(path)
    return paths


def _choose(candidates: Sequence[NoteFile], blob: str | None) -> NoteFile:
    """Return which note a path is where parents differ: the one whose text the merge took."""
    taken = [one for one in candidates if one.blob == blob] or candidates
    return min(taken, key=lambda one: (one.id, one.blob))


def _part_twins(joined: NotesState, tree: Mapping[str, str]) -> None:
    """Leave an id to one path where both sides moved a note to different ones; the other is a new note."""
    owners: dict[str, str] = {}
    for path in sorted(joined.live):
        if path in tree and owners.setdefault(joined.live[path].id, path) != path:
            del joined.live[path]
