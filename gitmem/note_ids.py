"""Ids of notes that have none in their front matter, read from the history of HEAD."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gitmem.authored_text import Problem, decode_text
from gitmem.curated import is_note_path
from gitmem.durable_file import write_file
from gitmem.errors import ObjectMissing
from gitmem.front_matter import read_front_matter
from gitmem.git_objects import decode_path, hash_object
from gitmem.layout import NOTES, Layout
from gitmem.note_identity import NotesChange, NotesState, apply_change, match_renames, merge_states
from gitmem.repository import TREE_MODE, Repository
from gitmem.tree_files import ManagedFile, read_managed

_FORMAT: Final = {"format": 1}
_ENTRY: Final = re.compile(rb"([0-7]{5,6}) ([^\0]+)\0(.{20})", re.DOTALL)
_ID: Final = re.compile(r"[0-9a-f]{40}")
_FILE_MODES: Final = frozenset({0o100644, 0o100755, 0o100664})
#: Trees of neighbouring commits are looked at twice; a flat folder of 10,000 notes takes 2 MB.
_KEPT_TREES: Final = 64

Tree = dict[str, tuple[int, str]]


@dataclass(frozen=True, slots=True)
class _Commit:
    """What is known of a commit: its parents that are here, and what it did to the notes."""

    parents: tuple[str, ...]
    notes: str | None
    change: NotesChange


class NoteIds:
    """Gives notes their derived ids; safe to use from several threads.

    Args:
        repository: whose HEAD decides.
        layout: where the notes are, and where what was read of history is kept.
    """

    def __init__(self, repository: Repository, layout: Layout) -> None:
        self._repository = repository
        self._root = layout.root
        self._history = _History(repository, layout.derived / "note-history.jsonl")
        self._head: tuple[str | None, NotesState] = (None, NotesState())
        self._lock = threading.Lock()

    def lookup(self, paths: Iterable[str]) -> Callable[[str], str]:
        """Return the function that gives a path's id; history is read when it is first called.

        Args:
            paths: all notes that are on disk now. One that HEAD does not know is the next introduction of its
                path; or, with the very content of one that is gone from the disk, that note moved.
        """
        return _Lookup(self._root, frozenset(paths), self.state)

    def lookup_at(self, commit: str) -> Callable[[str], str]:
        """Return the function that gives the id that a path had as of a commit."""
        with self._lock:
            state = self._history.state_at(commit, (None, NotesState()))

        def id_of(path: str) -> str:
            one = state.live.get(path)
            return one.id if one else state.next_id(path)

        return id_of

    def state(self) -> NotesState:
        """Return the notes as HEAD has them; not to be changed."""
        with self._lock:
            head = self._repository.head().commit
            if head is None:
                return NotesState()
            if head != self._head[0]:
                self._head = (head, self._history.state_at(head, self._head))
            return self._head[1]

    def find_removed(self, note_id: str, paths: Iterable[str]) -> str | None:
        """Return the last path of a note that is no longer there, or None if there never was one.

        Args:
            note_id: derived, or from the front matter the note had.
            paths: all notes that are on disk now.
        """
        state = self.state()
        here = frozenset(paths)
        gone = [(one.id, path, one.blob) for path, one in state.live.items() if path not in here]
        gone += [(one_id, path, blob) for one_id, (path, blob) in state.gone.items()]
        derived = next((path for one_id, path, _ in gone if one_id == note_id), None)
        if derived is not None:
            return derived
        return next((path for _, path, blob in reversed(gone) if self._id_in(blob) == note_id), None)

    def _id_in(self, blob: str) -> str | None:
        try:
            text = decode_text(self._repository.read(blob)[1])
        except ObjectMissing:
            return None
        return None if isinstance(text, Problem) else read_front_matter(text).id


class _Lookup:
    """Ids of the notes that were on disk at one moment."""

    def __init__(self, root: Path, paths: frozenset[str], state: Callable[[], NotesState]) -> None:
        self._root = root
        self._paths = paths
        self._read_state = state
        self._ready: tuple[NotesState, Mapping[str, str]] | None = None

    def __call__(self, path: str) -> str:
        """Return the id of the note at `path`."""
        if self._ready is None:
            state = self._read_state()
            self._ready = state, self._moved(state)
        state, moved = self._ready
        one = state.live.get(moved.get(path, path))
        return one.id if one else state.next_id(path)

    def _moved(self, state: NotesState) -> Mapping[str, str]:
        """Return the notes that were moved on disk and not yet committed: new path -> old path."""
        vanished = {path: one.blob for path, one in state.live.items() if path not in self._paths}
        if not vanished:
            return {}
        appeared = {}
        for path in self._paths - state.live.keys():
            file = read_managed(self._root, path)
            if isinstance(file, ManagedFile):
                appeared[path] = hash_object("blob", file.content)
        return match_renames(vanished, appeared)


class _History:
    """What each commit did to the notes: read once, kept in a file of one line for each commit."""

    def __init__(self, repository: Repository, file: Path) -> None:
        self._repository = repository
        self._file = file
        self._trees: dict[str, Tree] = {}
        self._known: dict[str, _Commit] | None = None

    def state_at(self, head: str, start: tuple[str | None, NotesState]) -> NotesState:
        """Return the notes as of a commit.

        Args:
            head: the commit.
            start: a commit and its state, from which to go on where it is an ancestor.
        """
        known = self._read()
        fresh = self._learn(head, start[0], known)
        if fresh:
            self._append(fresh, known)
        return _fold(_parents_first(head, start[0], known), start, known) if head in known else NotesState()

    def _learn(self, head: str, stop: str | None, known: dict[str, _Commit]) -> list[str]:
        """Make every ancestor known; return the new ones that will stay true whatever is fetched."""
        found: dict[str, tuple[tuple[str, ...], str | None]] = {}
        missing: set[str] = set()
        passed = {stop}
        waiting = [head]
        while waiting:
            commit_id = waiting.pop()
            if commit_id in passed:
                continue
            passed.add(commit_id)
            if commit_id in known:  # behind it may be one that was not kept, or whose line is torn
                waiting += known[commit_id].parents
                continue
            try:
                commit = self._repository.read_commit(commit_id)
                found[commit_id] = commit.parents, self._notes_of(commit.tree)
            except ObjectMissing:
                missing.add(commit_id)
                continue
            waiting += commit.parents
        # Where history is cut off (a shallow clone, a damaged object) a later fetch may mend it.
        cut = {commit_id for commit_id, (parents, _) in found.items() if not missing.isdisjoint(parents)}
        for commit_id, (parents, notes) in found.items():
            here = tuple(parent for parent in parents if parent not in missing)
            before = (found[here[0]][1] if here[0] in found else known[here[0]].notes) if here else None
            try:
                change = self._compare(before, notes)
            except ObjectMissing:
                change = NotesChange()
                cut.add(commit_id)
            known[commit_id] = _Commit(here, notes, change)
        return [commit_id for commit_id in found if commit_id not in cut]

    def _notes_of(self, root: str) -> str | None:
        mode, tree = self._tree(root).get(NOTES, (0, ""))
        return tree if mode == TREE_MODE else None

    def _compare(self, before: str | None, after: str | None) -> NotesChange:
        present: dict[str, str] = {}
        removed: list[str] = []
        for path, old, new in self._differences(before, after, NOTES):
            if new is not None:
                present[path] = new
            elif old is not None:
                removed.append(path)
        return NotesChange(present, tuple(removed))

    def _differences(
        self, before: str | None, after: str | None, folder: str
    ) -> Iterator[tuple[str, str | None, str | None]]:
        """Yield path, old blob and new blob of each note that two trees do not have in common."""
        if before == after:
            return
        old = self._tree(before) if before else {}
        new = self._tree(after) if after else {}
        for name in sorted({name for name, _ in old.items() ^ new.items()}):
            path = f"{folder}/{name}"
            one, other = old.get(name), new.get(name)
            yield from self._differences(_tree_of(one), _tree_of(other), path)
            if is_note_path(path):
                files = _file_of(one), _file_of(other)
                if files[0] != files[1]:
                    yield path, *files

    def _tree(self, tree_id: str) -> Tree:
        tree = self._trees.get(tree_id)
        if tree is None:
            _, content = self._repository.read(tree_id)
            rows = _ENTRY.findall(content)
            tree = {decode_path(name): (int(mode, 8), raw.hex()) for mode, name, raw in rows}
            if len(self._trees) >= _KEPT_TREES:
                self._trees.clear()
            self._trees[tree_id] = tree
        return tree

    def _read(self) -> dict[str, _Commit]:
        if self._known is None:
            try:
                lines = self._file.read_bytes().split(b"\n")
            except FileNotFoundError:
                lines = []
            is_ours = bool(lines) and _json(lines[0]) == _FORMAT
            rows = (_json(line) for line in lines[1:]) if is_ours else ()
            self._known = dict(filter(None, map(_from_row, rows)))
            if lines and not is_ours:
                self._file.unlink(missing_ok=True)
        return self._known

    def _append(self, fresh: Sequence[str], known: Mapping[str, _Commit]) -> None:
        lines = [json.dumps(_to_row(commit_id, known[commit_id])) for commit_id in fresh]
        if not self._file.exists():
            write_file(self._file, json.dumps(_FORMAT).encode() + b"\n", durable=False)
        # The leading line feed ends a line that a killed process left torn.
        with self._file.open("ab") as file:
            file.write(("\n" + "\n".join(lines) + "\n").encode())


def _parents_first(head: str, stop: str | None, known: Mapping[str, _Commit]) -> list[str]:
    """Return the ancestors of a commit and itself, each behind its parents; not beyond `stop`."""
    order: list[str] = []
    seen: set[str] = set()
    waiting = [(head, False)]
    while waiting:
        commit_id, is_done = waiting.pop()
        if is_done:
            order.append(commit_id)
        elif commit_id not in seen and commit_id != stop:
            seen.add(commit_id)
            waiting.append((commit_id, True))
            waiting += [(parent, False) for parent in known[commit_id].parents]
    return order


def _fold(
    order: Sequence[str], start: tuple[str | None, NotesState], known: Mapping[str, _Commit]
) -> NotesState:
    """Return the state of the last commit; states live only as long as a later commit needs them."""
    needed: dict[str, int] = {}
    for commit_id in order:
        for parent in known[commit_id].parents:
            needed[parent] = needed.get(parent, 0) + 1
    states = {start[0]: start[1].copy()} if start[0] is not None else {}
    state = NotesState()
    for commit_id in order:
        commit = known[commit_id]
        parents = [states[parent] for parent in commit.parents]
        for parent in commit.parents:
            needed[parent] -= 1
        if len(parents) > 1:
            state = merge_states(parents, commit.change)
        else:
            state = _single(commit.parents, parents, needed)
            apply_change(state, commit.change)
        for parent in commit.parents:
            if not needed[parent]:
                states.pop(parent, None)
        states[commit_id] = state
    return state


def _single(names: Sequence[str], states: Sequence[NotesState], needed: Mapping[str, int]) -> NotesState:
    if not states:
        return NotesState()
    return states[0].copy() if needed[names[0]] else states[0]


def _tree_of(entry: tuple[int, str] | None) -> str | None:
    return entry[1] if entry and entry[0] == TREE_MODE else None


def _file_of(entry: tuple[int, str] | None) -> str | None:
    return entry[1] if entry and entry[0] in _FILE_MODES else None


def _to_row(commit_id: str, commit: _Commit) -> list[Any]:
    change = commit.change
    return [commit_id, list(commit.parents), commit.notes, dict(change.present), list(change.removed)]


def _from_row(row: Any) -> tuple[str, _Commit] | None:
    """Return a kept commit; None for a torn line, whose commit is then read again."""
    try:
        commit_id, parents, notes, present, removed = row
        ids = [commit_id, *parents, *present.values(), *([] if notes is None else [notes])]
        if not all(map(_ID.fullmatch, ids)) or not all(
            isinstance(path, str) for path in (*present, *removed)
        ):
            return None
        return commit_id, _Commit(tuple(parents), notes, NotesChange(present, tuple(removed)))
    except (TypeError, ValueError, AttributeError):
        return None


def _json(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
