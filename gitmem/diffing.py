"""What changed in memory between two moments, and who changed it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from gitmem.config import HomeConfig
from gitmem.counted import counted
from gitmem.curated import STORES
from gitmem.entries import count_chars, parse_store
from gitmem.identity import is_agent
from gitmem.json_view import JsonView
from gitmem.memory_rules import percent_of
from gitmem.moment_files import MomentFiles, Side
from gitmem.note_ids import NoteIds
from gitmem.repository import FILE_MODE, Commit, Repository
from gitmem.semantic_diff import Change, diff_files
from gitmem.times import format_time
from gitmem.tree_changes import changed_paths
from gitmem.undo_rules import steps_of

_BEFORE, _AFTER = 0, 1
_Files = Mapping[str, tuple[bytes | None, bytes | None]]


@dataclass(frozen=True, slots=True)
class AuthoredChange(JsonView):
    """A change, and who made it.

    Attributes:
        change: what it is.
        author: `agent` or `operator`; None where the history between both moments does not tell.
        name: the author's, as the commit has it.
        commit: the last one that made it; None for an edit that is not committed.
        at: when that was.
    """

    change: Change
    author: str | None = None
    name: str | None = None
    commit: str | None = None
    at: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as replies have it."""
        one = self.change
        told: dict[str, Any] = {
            "kind": one.kind,
            "change": one.change,
            "source_ref": one.source_ref,
            "path": one.path,
        }
        told |= {"title": one.name, "before": one.before, "after": one.after, "words": [*one.words]}
        return {**told, "author": self.author, "name": self.name, "commit": self.commit, "at": self.at}


@dataclass(frozen=True, slots=True)
class DiffReply(JsonView):
    """What changed between two moments.

    Attributes:
        before: the commit that was compared; None for none yet.
        after: the same; None for the working tree.
        changes: in the order of their kinds, then of paths.
        budgets: how full each store was and is, in percent of its limit.
        patch: the texts as Git shows them, where they were asked for.
    """

    before: str | None
    after: str | None
    changes: Sequence[AuthoredChange]
    budgets: Mapping[str, Mapping[str, int]]
    patch: str | None = None

    @property
    def summary(self) -> str:
        """All of it in a sentence or two."""
        counts: dict[tuple[str, str], int] = {}
        for one in self.changes:
            key = (one.change.kind.replace("_", " "), one.change.change)
            counts[key] = counts.get(key, 0) + 1
        if not counts:
            return "Nothing changed."
        told = [f"{counted(count, noun, _plural(noun))} {word}" for (noun, word), count in counts.items()]
        budgets = ((name, one["before"], one["after"]) for name, one in self.budgets.items())
        full = [f"{name} {before} % to {after} %" for name, before, after in budgets if before != after]
        return f"{', '.join(told)}.{' Budgets: ' + ', '.join(full) + '.' if full else ''}"


@dataclass(slots=True)
class _Authors:
    """Who changed what between two commits: the last one to do so counts."""

    of_path: dict[str, Commit] = field(default_factory=dict)
    of_entry: dict[tuple[str, str], Commit] = field(default_factory=dict)

    def of(self, change: Change) -> Commit | None:
        """Return the commit that made a change."""
        if change.kind != "entry":
            return self.of_path.get(change.path)
        old, new = change.key
        return self.of_entry.get((change.path, new or old or ""))


class Differ:
    """Compares moments of a home's files.

    Args:
        repository: the history.
        files: reads those of moments.
        config: the limits of stores.
        note_ids: gives notes their ids.
        on_disk: returns the paths of the notes that are on disk.
        operator: `Name <mail>` of whoever edits here.
    """

    def __init__(
        self,
        repository: Repository,
        files: MomentFiles,
        config: HomeConfig,
        *,
        note_ids: NoteIds,
        on_disk: Callable[[], Iterable[str]],
        operator: str,
    ) -> None:
        self._repository = repository
        self._files = files
        self._config = config
        self._note_ids = note_ids
        self._on_disk = on_disk
        self._operator = operator

    def diff(
        self,
        one: str | None = None,
        other: str | None = None,
        *,
        author: str | None = None,
        patch: bool = False,
    ) -> DiffReply:
        """Return what changed between two moments; arguments and errors are those of `AgentHome.diff`."""
        before = self._files.side(one)
        after = self._files.disk() if other is None else self._files.side(other)
        files = self._files.differing(before, after)
        changes = self._changes(before, after, files)
        committed = {*self._changes(before, self._files.side(None))} if after.edited else {*changes}
        authors = self._authors(before, after, [one for one in changes if one in committed])
        told = [self._authored(one, authors, is_committed=one in committed) for one in changes]
        kept = [one for one in told if author is None or author in (one.author, one.name)]
        return DiffReply(
            before.commit,
            None if after.disk is not None else after.commit,
            kept,
            {target: self._budget(target, before, after) for target in STORES},
            patch_of(files) if patch else None,
        )

    def _changes(self, before: Side, after: Side, files: _Files | None = None) -> list[Change]:
        files = self._files.differing(before, after) if files is None else files
        one, other = (
            {path: both[side] or b"" for path, both in files.items() if both[side] is not None}
            for side in (_BEFORE, _AFTER)
        )
        return diff_files(one, other, self._note_refs(before, after, other.keys()))

    def _note_refs(self, before: Side, after: Side, paths: Collection[str]) -> Callable[[str], str | None]:
        @cache  # reads history, and most changes are none of notes
        def find(side: Side) -> Callable[[str], str] | None:
            if side.disk is not None:
                return self._note_ids.lookup(self._on_disk())
            return self._note_ids.lookup_at(side.commit) if side.commit else None

        def ref(path: str) -> str | None:
            id_of = find(after if path in paths else before)
            return None if id_of is None else f"note:{id_of(path)}"

        return ref

    def _budget(self, target: str, before: Side, after: Side) -> dict[str, int]:
        return {
            "before": self._percent(target, self._files.content(before, STORES[target])),
            "after": self._percent(target, self._files.content(after, STORES[target])),
        }

    def _percent(self, target: str, content: bytes | None) -> int:
        entries = parse_store((content or b"").decode("utf-8", "replace"))
        return percent_of(count_chars(entries), self._config.memory[target].char_limit)

    # Who it was

    def _authors(self, before: Side, after: Side, changes: Sequence[Change]) -> _Authors:
        """Read the commits between two moments, the newest first, until every change has its author."""
        found = _Authors()
        paths = {one.path for one in changes if one.kind != "entry"}
        entries = {(one.path, one.key[1] or one.key[0] or "") for one in changes if one.kind == "entry"}
        for commit in self._between(before.commit, after.commit) if changes else ():
            parent = self._repository.read_commit(commit.parents[0]).tree if commit.parents else None
            sides = (Side(None, parent), Side(commit.id, commit.tree))
            for one in changed_paths(self._repository, parent, commit.tree):
                found.of_path.setdefault(one.path, commit)
                if one.path in STORES.values():
                    contents = (self._files.content(side, one.path) for side in sides)
                    for text in (entry.text for step in steps_of(*contents) for entry in step if entry):
                        found.of_entry.setdefault((one.path, text), commit)
            if paths <= found.of_path.keys() and entries <= found.of_entry.keys():
                break
        return found

    def _between(self, old: str | None, new: str | None) -> Iterator[Commit]:
        if new is None or (old is not None and not self._repository.is_ancestor(old, new)):
            return
        for commit in self._repository.walk_first_parents(new):
            if commit.id == old:
                return
            yield commit

    def _authored(self, change: Change, authors: _Authors, *, is_committed: bool) -> AuthoredChange:
        if not is_committed:
            return AuthoredChange(change, "operator", self._operator.rpartition(" <")[0])
        commit = authors.of(change)
        if commit is None:
            return AuthoredChange(change)
        author = "agent" if is_agent(commit.author, self._config.home_id) else "operator"
        name = commit.author.rpartition(" <")[0]
        return AuthoredChange(change, author, name, commit.id, format_time(commit.author_time))


def patch_of(files: _Files) -> str:
    """Return the texts of files that differ as Git shows them; of what is no text, that it differs."""
    return "".join(line for path, both in files.items() for line in _patch(path, *both))


def _patch(path: str, old: bytes | None, new: bytes | None) -> Iterator[str]:
    yield f"diff --git a/{path} b/{path}\n"
    if old is None or new is None:
        yield f"{'new' if old is None else 'deleted'} file mode {FILE_MODE:o}\n"
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    try:
        before, after = ((one or b"").decode().splitlines(keepends=True) for one in (old, new))
    except UnicodeDecodeError:
        yield f"Binary files {names[0]} and {names[1]} differ\n"
        return
    for line in difflib.unified_diff(before, after, *names):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _plural(noun: str) -> str:
    return {"entry": "entries"}.get(noun, f"{noun}s")
