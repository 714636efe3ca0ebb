"""Decides how pending writes get onto the operator's branch: which commits, which files, which index entries.

A pure function of what the branch, the staging area and the disk hold of the paths concerned. It never takes
what an operator has done for the agent's, nor the other way round:

- disk as the agent left it: an operator's edit that was underneath is committed first, as found;
- disk as the branch has it (`reset --hard`, `stash` or `rebase --abort` took the write back): the write is
  merged in and written again;
- disk with the write and further edits: the write is committed, the edits stay uncommitted;
- disk with other edits only: they are committed first, as found, and the write is merged in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from gitmem.branch_changes import PendingChange, PendingWrite
from gitmem.branch_merge import EPISODES, merge_path

#: What is left of a forgotten episode.
_STUB: Final = re.compile(rb"---\nid: [^\n]+\nforgotten: true\n---\n")
_Standing = Literal["ours", "back", "left", "found"]
#: Returns a file without what was forgotten, None where it goes.
Close = Callable[[str, bytes], bytes | None]


@dataclass(frozen=True, slots=True)
class PathSight:
    """What there is at one path; contents are those of blobs, None where there is no file.

    Attributes:
        head: on the branch.
        disk: in the work tree, converted as `git add` would.
        staged_is_head: the staging area holds what the branch holds.
        staged_is_disk: the staging area holds what the disk holds.
        landed: the disk holds what a commit that was broken off had put there.
        unmerged: the operator has to resolve it first.
        fault: why the path is never committed, for example because it is a link.
    """

    head: bytes | None
    disk: bytes | None
    staged_is_head: bool = True
    staged_is_disk: bool = True
    landed: bool = False
    unmerged: bool = False
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedCommit:
    """A commit to be made.

    Attributes:
        write: id of the pending write it holds; None for an operator's edits as they were found.
        files: new contents by path, None to remove.
    """

    write: str | None
    files: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class SettlePlan:
    """What has to be done.

    Attributes:
        commits: in order, each on top of the one before.
        disk: files to write, None to remove.
        stage: paths whose index entry changes; whether the disk then holds what is staged.
        contents: what the branch will hold of each path that is touched.
        found: paths whose bytes on disk are committed as the operator's, with the mode they have there.
        conflicts: pending write id -> conflict copies that its commit adds.
        blocked: pending write id -> why it goes on waiting.
        settled: ids of the pending writes that wait no more once all is done.
    """

    commits: tuple[PlannedCommit, ...] = ()
    disk: Mapping[str, bytes | None] = field(default_factory=dict)
    stage: Mapping[str, bool] = field(default_factory=dict)
    contents: Mapping[str, bytes | None] = field(default_factory=dict)
    found: frozenset[str] = frozenset()
    conflicts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    blocked: Mapping[str, str] = field(default_factory=dict)
    settled: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Nothing has to be committed, written or staged."""
        return not self.commits and not self.disk and not self.stage


def _as_it_is(path: str, content: bytes) -> bytes | None:  # noqa: ARG001
    return content


def plan_settling(
    writes: Sequence[PendingWrite], look: Callable[[str], PathSight], close: Close = _as_it_is
) -> SettlePlan:
    """Work out how pending writes get onto the branch.

    Args:
        writes: all that wait, in order.
        look: tells what there is at a path; asked for the writes' paths and for new conflict copies.
        close: leaves out what was forgotten: what writes come to by merging is written without it.
    """
    active, blocked = _sort_out(writes, look)
    while True:
        planner = _Planner(active, look, close)
        fault = planner.run()
        if fault is None:
            return planner.plan(blocked)
        blocked[fault[0]] = fault[1]
        active, more = _sort_out([write for write in active if write.id != fault[0]], look)
        blocked.update(more)


def _sort_out(
    writes: Sequence[PendingWrite], look: Callable[[str], PathSight]
) -> tuple[list[PendingWrite], dict[str, str]]:
    """Tell the writes that can be settled from those that cannot, which hold up later ones of their paths."""
    active: list[PendingWrite] = []
    blocked: dict[str, str] = {}
    barred: dict[str, str] = {}
    for write in writes:
        reasons = (barred.get(path) or _fault(path, look(path)) for path in write.paths)
        reason = next((reason for reason in reasons if reason), None)
        if reason is None:
            active.append(write)
        else:
            blocked[write.id] = reason
            for path in write.paths:
                barred.setdefault(path, f"{path} waits for an earlier write: {reason}")
    return active, blocked


def _fault(path: str, sight: PathSight) -> str | None:
    if sight.fault is None and sight.unmerged:
        return f"{path} is unmerged"
    if sight.fault is None and not sight.staged_is_head and not sight.staged_is_disk:
        return f"{path} is partly staged"
    return sight.fault


def holds_change(change: PendingChange, disk: bytes | None) -> bool:
    """Say whether the disk has what a change brings, perhaps with more."""
    if change.base in (change.result, disk):
        return False
    merged = merge_path(change.path, change.base, disk, change.result)
    if merged.live == disk and not merged.copies:
        return True
    # An edit right beside what was changed clashes with it in a merge, and yet is on top of it.
    if disk is None or change.result is None or not _has_lines(disk, change.result):
        return False
    base = change.base or b""
    return not _has_lines(disk, base) or _has_lines(change.result, base)


def _has_lines(content: bytes, part: bytes) -> bool:
    """Say whether the lines of a part are in a content, in their order."""
    lines = iter(content.split(b"\n"))
    return all(line in lines for line in part.split(b"\n"))


class _Planner:
    """Follows the paths of the active writes from the branch's present contents to the new ones."""

    def __init__(
        self, writes: Sequence[PendingWrite], look: Callable[[str], PathSight], close: Close
    ) -> None:
        self._writes = writes
        self._look = look
        self._close = close
        self._chains: dict[str, list[PendingChange]] = {}
        for write in writes:
            for change in write.changes:
                self._chains.setdefault(change.path, []).append(change)
        self._now: dict[str, bytes | None] = {path: look(path).head for path in self._chains}
        self._seen = {path: chain[0].head for path, chain in self._chains.items()}
        self._standing = {path: self._stand(path, chain) for path, chain in self._chains.items()}
        self._commits: list[PlannedCommit] = []
        self._conflicts: dict[str, tuple[str, ...]] = {}

    def run(self) -> tuple[str, str] | None:
        """Plan the commits; return a write that cannot be settled and why, or None when all is planned."""
        found = [path for path, standing in self._standing.items() if standing == "found"]
        self._commit(None, {path: self._look(path).disk for path in found})
        for write in self._writes:
            edits, lost = self._edits_under(write)
            self._commit(None, {**edits, **lost})
            merged, copies = self._merge(write)
            self._commit(write.id, {**merged, **copies})
            copies.update(lost)
            blocked = next((path for path in copies if not self._is_free(path, copies[path])), None)
            if blocked is not None:
                return write.id, f"{blocked} is in the way"
            new = tuple(path for path in copies if self._look(path).head is None)
            if new:
                self._conflicts[write.id] = new
        return None

    def plan(self, blocked: Mapping[str, str]) -> SettlePlan:
        """Return the whole plan."""
        disk: dict[str, bytes | None] = {}
        stage: dict[str, bool] = {}
        for path, content in self._now.items():
            sight = self._look(path)
            left = self._standing.get(path) == "left"
            if not left and sight.disk != content:
                disk[path] = content
            staged = sight.head if sight.staged_is_head else sight.disk
            if staged != content and not (left and not sight.staged_is_head):
                stage[path] = not left or sight.disk == content
        return SettlePlan(
            commits=tuple(self._commits),
            disk=disk,
            stage=stage,
            contents=dict(self._now),
            found=frozenset(path for path, standing in self._standing.items() if standing == "found"),
            conflicts=self._conflicts,
            blocked=dict(blocked),
            settled=tuple(write.id for write in self._writes),
        )

    def _stand(self, path: str, chain: Sequence[PendingChange]) -> _Standing:
        sight = self._look(path)
        if sight.disk == sight.head:
            return "back"
        if sight.disk == chain[-1].result or sight.landed:
            return "ours"
        return "left" if self._holds(path, chain, sight) else "found"

    def _holds(self, path: str, chain: Sequence[PendingChange], sight: PathSight) -> bool:
        """Say whether the disk has the writes and further edits, and the writes merge without those edits."""
        whole = PendingChange(path, chain[0].head, chain[0].base, chain[-1].result)
        if whole.base != whole.result and not holds_change(whole, sight.disk):
            return False
        content = sight.head
        for change in chain:
            merged = merge_path(path, change.base, content, change.result)
            if merged.copies:
                return False
            content = merged.live
        return True

    def _edits_under(self, write: PendingWrite) -> tuple[dict[str, bytes | None], dict[str, bytes]]:
        """Return the operator's edits that a write was made on top of, while the disk still holds both."""
        edits: dict[str, bytes | None] = {}
        copies: dict[str, bytes] = {}
        for change in write.changes:
            seen = self._seen[change.path]
            # A base that was the branch's own text is none: there Git had taken an earlier write back.
            if self._standing[change.path] == "ours" and change.base not in (seen, change.head):
                done = merge_path(change.path, seen, self._now[change.path], change.base)
                edits[change.path] = done.live
                copies.update(self._closed_copies(done.copies))
        return edits, copies

    def _merge(self, write: PendingWrite) -> tuple[dict[str, bytes | None], dict[str, bytes]]:
        merged: dict[str, bytes | None] = {}
        copies: dict[str, bytes] = {}
        for change in write.changes:
            if _is_stub(change):  # no merge ends an episode, but its forgetting does
                merged[change.path] = change.result
                continue
            done = merge_path(change.path, change.base, self._now[change.path], change.result)
            merged[change.path] = self._closed(change.path, done.live)
            copies.update(self._closed_copies(done.copies))
            self._seen[change.path] = change.result
        return merged, copies

    def _closed(self, path: str, content: bytes | None) -> bytes | None:
        return None if content is None else self._close(path, content)

    def _closed_copies(self, copies: Mapping[str, bytes]) -> dict[str, bytes]:
        closed = ((path, self._close(path, content)) for path, content in copies.items())
        return {path: content for path, content in closed if content is not None}

    def _is_free(self, path: str, content: bytes) -> bool:
        sight = self._look(path)
        return sight.fault is None and all(there in (None, content) for there in (sight.head, sight.disk))

    def _commit(self, write: str | None, files: Mapping[str, bytes | None]) -> None:
        changed = {path: content for path, content in files.items() if self._present(path) != content}
        self._now.update(changed)
        if changed:
            self._commits.append(PlannedCommit(write, changed))

    def _present(self, path: str) -> bytes | None:
        return self._now[path] if path in self._now else self._look(path).head


def _is_stub(change: PendingChange) -> bool:
    return change.path.startswith(f"{EPISODES}/") and _STUB.fullmatch(change.result or b"") is not None
