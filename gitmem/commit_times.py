"""When each authored file was last changed and each entry brought in, read from the history of HEAD.

Only first parents are followed: what a merge brought in came with the merge. What each commit did never
changes, so it is read once and kept in a file of one line for each commit; after an amended commit, a rebase
or a reset only the new commits are read.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gitmem.authored_times import UNKNOWN, AuthoredTimes, commit_time, digest_of
from gitmem.curated import NOTE_SUFFIXES, STORES
from gitmem.durable_file import write_file
from gitmem.entries import parse_store
from gitmem.errors import GitmemError
from gitmem.git_objects import decode_path
from gitmem.layout import EPISODES, MEMORY, NOTES, Layout
from gitmem.repository import Commit, Repository

_FORMAT: Final = {"format": 1}
_ID: Final = re.compile(r"[0-9a-f]{40}")
_ENTRY: Final = re.compile(rb"([0-7]{5,6}) ([^\0]+)\0(.{20})", re.DOTALL)
_FOLDERS: Final = {folder: folder.encode() for folder in (MEMORY, NOTES, EPISODES)}
_FILE_MODES: Final = frozenset({b"100644", b"100755", b"100664"})
_TREE_MODES: Final = frozenset({b"40000", b"040000"})
#: Trees of neighbouring commits are looked at twice; a flat folder of 10,000 notes takes 2 MB.
_KEPT_TREES: Final = 16
#: What is older than so many commits is as old as its file.
_MOST_COMMITS: Final = 100_000
#: Of commits that nobody has read yet a search reads no more; about 20 ms.
_READ_IN_PASSING: Final = 32
#: Seconds that a search waits for whoever is reading history.
_PATIENCE: Final = 0.05

#: Mode, name and raw id of an entry of a tree.
_Row = tuple[bytes, bytes, bytes]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a commit did, compared with its first parent.

    Attributes:
        at: seconds since 1970; None where it has no time that can be.
        changed: paths of authored files that it added or changed.
        brought: path of a store -> ids of the entries that were not in it before.
    """

    parent: str | None
    at: int | None
    changed: tuple[str, ...]
    brought: Mapping[str, tuple[str, ...]]


class CommitTimes:
    """Tells the times of authored files; safe to use from several threads.

    Args:
        repository: where history is.
        layout: where what was read of it is kept.
    """

    def __init__(self, repository: Repository, layout: Layout) -> None:
        self._repository = repository
        self._trees = _Trees(repository)
        self._parent: Commit | None = None
        self._log = _FactsLog(layout.derived / "commit-times.jsonl")
        self._folders: dict[str, tuple[str, dict[str, str]]] = {}
        self._last: tuple[str, AuthoredTimes] | None = None
        self._lock = threading.Lock()

    def at(self, head: str | None, is_late: Callable[[], bool] = lambda: False) -> AuthoredTimes | None:
        """Return the times as of a commit; None where `is_late` ended the reading before all were known.

        Args:
            head: the commit; None on an unborn branch, where nothing is committed.
            is_late: asked before each commit that was not read yet but the first; what was read is kept for
                the next call.
        """
        with self._lock:
            return self._at(head, is_late)

    def in_passing(self, head: str | None) -> AuthoredTimes:
        """Return the times as of a commit as far as they are known without any delay."""
        last = self._last
        if last is not None and last[0] == head:
            return last[1]
        left = iter(range(_READ_IN_PASSING))
        if not self._lock.acquire(timeout=_PATIENCE):
            return UNKNOWN
        try:
            return self._at(head, lambda: next(left, None) is None) or UNKNOWN
        except (GitmemError, OSError):
            return UNKNOWN
        finally:
            self._lock.release()

    def now(self) -> AuthoredTimes:
        """Return the times as of HEAD as far as they are known without any delay."""
        return self.in_passing(self._repository.head().commit)

    def _at(self, head: str | None, is_late: Callable[[], bool]) -> AuthoredTimes | None:
        if head is None:
            return AuthoredTimes(digest=digest_of(None))
        if self._last is not None and self._last[0] == head:
            return self._last[1]
        try:
            files = self._files_of(head)
            entries = {path: self._entries_of(files[path]) for path in STORES.values() if path in files}
        except GitmemError:
            return AuthoredTimes(digest=digest_of(head, head))
        search = _Search(files, entries)
        with self._log.kept():
            is_whole, end = self._follow(head, search, is_late)
        if not is_whole:
            return None
        times = search.times(digest_of(head, end))
        if not end:  # where history is cut off, a fetch may bring the rest without moving HEAD
            self._last = head, times
        return times

    def _follow(self, head: str, search: _Search, is_late: Callable[[], bool]) -> tuple[bool, str]:
        """Follow history until all is found; return whether there was time, and where history is cut off."""
        commit_id: str | None = head
        is_first = True
        for _ in range(_MOST_COMMITS):
            if commit_id is None or search.is_done:
                break
            facts = self._log.get(commit_id)
            if facts is None:
                if not is_first and is_late():
                    return False, ""
                is_first = False
                try:
                    facts = self._read(commit_id)
                except GitmemError:
                    return True, commit_id
                self._log.add(commit_id, facts)
            search.take(facts)
            commit_id = facts.parent
        return True, ""

    def _read(self, commit_id: str) -> _Facts:
        commit = self._commit(commit_id)
        parent = commit.parents[0] if commit.parents else None
        before = self._trees.folders(self._commit(parent).tree) if parent else {}
        changed: list[str] = []
        brought: dict[str, tuple[str, ...]] = {}
        for folder, tree in self._trees.folders(commit.tree).items():
            for path, gone, came in self._trees.changes(before.get(folder), tree, folder):
                changed.append(path)
                if path in STORES.values():
                    kept = frozenset(self._entries_of(gone)) if gone else frozenset()
                    brought[path] = tuple(one for one in self._entries_of(came) if one not in kept)
        at = commit_time(commit.author_time, commit.commit_time)
        return _Facts(parent, at, tuple(changed), brought)

    def _commit(self, commit_id: str) -> Commit:
        """Return a commit; the one that was a parent is asked for again."""
        if self._parent is None or self._parent.id != commit_id:
            self._parent = self._repository.read_commit(commit_id)
        return self._parent

    def _files_of(self, head: str) -> dict[str, str]:
        """Return path and blob of all authored files that a commit has."""
        files: dict[str, str] = {}
        for folder, tree in self._trees.folders(self._commit(head).tree).items():
            known = self._folders.get(folder)
            if known is None or known[0] != tree:
                found = {path: blob for path, _, blob in self._trees.changes(None, tree, folder)}
                known = self._folders[folder] = tree, found
            files.update(known[1])
        return files

    def _entries_of(self, blob: str) -> list[str]:
        text = self._repository.read(blob)[1].decode("utf-8", "replace")
        return [entry.id for entry in parse_store(text)]


class _Trees:
    """Compares trees; such as are looked at twice are read once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._kept: dict[str, frozenset[_Row]] = {}

    def folders(self, root: str) -> dict[str, str]:
        """Return the trees of the folders that hold authored files."""
        rows = {name: raw for mode, name, raw in self._rows(root) if mode in _TREE_MODES}
        return {folder: rows[name].hex() for folder, name in _FOLDERS.items() if name in rows}

    def changes(self, old: str | None, new: str, folder: str) -> Iterator[tuple[str, str | None, str]]:
        """Yield path, old and new blob of each authored file that was added or changed.

        Args:
            old: the earlier tree, None for none.
            new: the later tree.
            folder: of which they are trees.
        """
        if old == new:
            return
        before = frozenset[_Row]() if old is None else self._rows(old)
        after = self._rows(new)
        gone = {name: (mode, raw.hex()) for mode, name, raw in before - after}
        for mode, name, raw in sorted(after - before, key=lambda row: row[1]):
            path = f"{folder}/{decode_path(name)}"
            was_mode, was = gone.get(name, (b"", ""))
            if mode in _TREE_MODES:
                yield from self.changes(was if was_mode in _TREE_MODES else None, raw.hex(), path)
            elif mode in _FILE_MODES and path.lower().endswith(NOTE_SUFFIXES):
                earlier = was if was_mode in _FILE_MODES else None
                if earlier != raw.hex():
                    yield path, earlier, raw.hex()

    def _rows(self, tree: str) -> frozenset[_Row]:
        rows = self._kept.get(tree)
        if rows is None:
            rows = frozenset(_ENTRY.findall(self._repository.read(tree)[1]))
            if len(self._kept) >= _KEPT_TREES:
                self._kept.clear()
            self._kept[tree] = rows
        return rows


class _Search:
    """What of a commit's files is not found yet, while its history is followed back."""

    def __init__(self, files: Mapping[str, str], entries: Mapping[str, list[str]]) -> None:
        self._files = files
        self._entries = entries
        self._wanted = set(files)
        self._wanted_entries = {path: set(ids) for path, ids in entries.items() if ids}
        self._found: dict[str, tuple[str, int]] = {}
        self._found_entries: dict[str, dict[str, int]] = {path: {} for path in entries}

    @property
    def is_done(self) -> bool:
        """Whether everything is found."""
        return not self._wanted and not self._wanted_entries

    def take(self, facts: _Facts) -> None:
        """Take what a commit did, the newest commit first."""
        for path in facts.changed:
            if path in self._wanted:
                self._wanted.discard(path)
                if facts.at is not None:
                    self._found[path] = self._files[path], facts.at
        for path, ids in facts.brought.items():
            wanted = self._wanted_entries.get(path)
            if wanted is None:
                continue
            for entry in wanted.intersection(ids):
                wanted.discard(entry)
                if facts.at is not None:
                    self._found_entries[path][entry] = facts.at
            if not wanted:
                del self._wanted_entries[path]

    def times(self, digest: str) -> AuthoredTimes:
        """Return what was found."""
        entries = {path: {one: self._found_entries[path].get(one) for one in ids}
                   for path, ids in self._entries.items()}  # fmt: skip
        return AuthoredTimes(self._found, entries, digest)


class _FactsLog:
    """What is known of commits, in memory and in a file that is only ever appended to."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, _Facts] | None = None
        self._fresh: list[str] = []

    def get(self, commit_id: str) -> _Facts | None:
        """Return what is known of a commit."""
        if self._known is None:
            self._known = self._load()
        return self._known.get(commit_id)

    def add(self, commit_id: str, facts: _Facts) -> None:
        """Take what was read of a commit."""
        assert self._known is not None
        self._known[commit_id] = facts
        self._fresh.append(commit_id)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep what is added meanwhile in the file, whatever ends it."""
        try:
            yield
        finally:
            with suppress(OSError):  # a home that cannot be written is still read
                self._append()
            self._fresh.clear()

    def _append(self) -> None:
        if not self._fresh or self._known is None:
            return
        rows = [_to_row(commit_id, self._known[commit_id]) for commit_id in self._fresh]
        if not self._file.exists():
            write_file(self._file, json.dumps(_FORMAT).encode() + b"\n", durable=False)
        # The leading line feed ends a line that a killed process left torn.
        with self._file.open("ab") as file:
            file.write(("\n" + "\n".join(json.dumps(row, separators=(",", ":")) for row in rows)).encode())
            file.write(b"\n")

    def _load(self) -> dict[str, _Facts]:
        try:
            lines = self._file.read_bytes().split(b"\n")
        except OSError:
            return {}
        if _json(lines[0]) != _FORMAT:
            with suppress(OSError):
                self._file.unlink(missing_ok=True)
            return {}
        return dict(filter(None, (_from_row(_json(line)) for line in lines[1:] if line)))


def _to_row(commit_id: str, facts: _Facts) -> list[Any]:
    return [commit_id, facts.parent, facts.at, facts.changed, dict(facts.brought)]


def _from_row(row: Any) -> tuple[str, _Facts] | None:
    """Return what was kept of a commit; None for a torn line, whose commit is then read again."""
    try:
        commit_id, parent, at, changed, brought = row
        texts = [*changed, *(one for ids in brought.values() for one in ids)]
        if not all(map(_ID.fullmatch, [commit_id, *([] if parent is None else [parent])])):
            return None
        if not all(isinstance(text, str) for text in texts) or (at is not None and at != commit_time(at, at)):
            return None
        ids = {path: tuple(entries) for path, entries in brought.items()}
        return commit_id, _Facts(parent, at, tuple(changed), ids)
    except (TypeError, ValueError, AttributeError):
        return None


def _json(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
