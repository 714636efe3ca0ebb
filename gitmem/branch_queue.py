"""One holder's turn at the queue of pending writes, under the home's lock.

First comes what a killed process left: locks with gitmem's mark, files beside others, a commit that was on
the branch already. Then everything that waits is brought to the branch, as far as that takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from gitmem.attribute_files import AttributeFiles
from gitmem.branch_changes import PendingChange, PendingWrite, Settled
from gitmem.branch_files import BranchBusy, BranchFiles
from gitmem.branch_home import BranchHome
from gitmem.branch_landing import BranchLanding
from gitmem.branch_merge import CONFLICTS, conflict_of
from gitmem.branch_snapshot import BranchSnapshot
from gitmem.branch_tags import TAGS, BranchTags
from gitmem.commit_signing import SigningFailed
from gitmem.durable_file import sync_folder
from gitmem.errors import HeadMoved, ProtectedPath, RefusedError
from gitmem.git_lock import remove_stale
from gitmem.layout import Layout
from gitmem.pending_writes import Landing, PendingWrites
from gitmem.repository import Repository
from gitmem.settling import PathSight, SettlePlan, holds_change, plan_settling
from gitmem.staging_extensions import StagingRefused
from gitmem.work_tree import remove_beside

#: How often a commit is prepared anew when something moved meanwhile.
_TRIES: Final = 6


@dataclass(frozen=True, slots=True)
class QueueParts:
    """What a turn at the queue works with.

    Attributes:
        branch: full name of the branch that may be committed on, None for any.
        record: makes a write's record durable in the spool.
        step: called with a name between any two steps.
        inspect: called with path, bytes and the branch's bytes of an operator's edit that is about to be
            committed as found; raises a `RefusedError` to keep it out of the repository.
        close: called with path and bytes; returns them without what was forgotten, None where the file goes.
    """

    repository: Repository
    layout: Layout
    attributes: AttributeFiles
    pending: PendingWrites
    files: BranchFiles
    landing: BranchLanding
    home: BranchHome
    branch: str | None
    record: Callable[[PendingWrite], None]
    step: Callable[[str], None]
    inspect: Callable[[str, bytes, bytes | None], None]
    close: Callable[[str, bytes], bytes | None]

    def close_write(self, write: PendingWrite) -> PendingWrite:
        """Return a write that waits without what was forgotten since: it must not come back by it."""
        changes = tuple(self._close_change(change) for change in write.changes)
        return write if changes == write.changes else replace(write, changes=changes)

    def _close_change(self, change: PendingChange) -> PendingChange:
        sides = (change.head, change.base, change.result)
        closed = (None if side is None else self.close(change.path, side) for side in sides)
        return PendingChange(change.path, *closed)

    def look(self, landing: Landing | None = None, *, staged: bool = True) -> BranchSnapshot:
        """Return what there is now.

        Args:
            landing: what a killed process was about to put where.
            staged: whether the staging area is read.
        """
        return BranchSnapshot(
            self.layout,
            self.repository,
            self.attributes,
            branch=self.branch,
            staged=staged,
            landed=landing.files if landing else {},
        )

    def plan(self, writes: Sequence[PendingWrite], snapshot: BranchSnapshot) -> SettlePlan:
        """Return how writes get onto the branch; those on top of an edit that must not be committed wait."""
        faults: dict[str, str] = {}
        paths = {path for write in writes for path in write.paths}

        def look(path: str) -> PathSight:
            sight = snapshot.sight(path)
            return replace(sight, fault=sight.fault or faults[path]) if path in faults else sight

        while True:
            plan = plan_settling(writes, look, self.close)
            found = {path: fault for path, fault in self._faults_of(plan, snapshot) if path in paths}
            if found.keys() <= faults.keys():
                return plan
            faults |= found

    def _faults_of(self, plan: SettlePlan, snapshot: BranchSnapshot) -> Iterator[tuple[str, str]]:
        """Yield path and reason of each edit of an operator that a plan commits and must not."""
        edits = [commit.files for commit in plan.commits if commit.write is None]
        for path, content in (item for files in edits for item in files.items()):
            try:
                if content is not None:
                    self.inspect(path, content, snapshot.sight(path).head)
            except RefusedError as refused:
                yield conflict_of(path) if path.startswith(f"{CONFLICTS}/") else path, refused.message


@dataclass(frozen=True, slots=True)
class QueueRun:
    """What was done with the queue.

    Attributes:
        settled: writes that wait no more, by id.
        blocked: why the others go on waiting, by id.
        head: the branch's commit behind it.
    """

    settled: dict[str, Settled]
    blocked: dict[str, str]
    head: str | None = None


class QueueTurn:
    """One turn at the queue; made under the home's lock, used once.

    Attributes:
        waiting: what waits, in order.
        done: what a killed process had put on the branch; it is dropped already.
    """

    def __init__(self, parts: QueueParts) -> None:
        self._parts = parts
        self._fresh: PendingWrite | None = None
        self._unfinished: Landing | None = None
        self.waiting = [parts.close_write(write) for write in parts.pending.read()]
        self.done: dict[str, Settled] = {}
        parts.files.clear_stale_locks(parts.repository.head(), parts.branch)
        for write in self.waiting:
            self._remove_leftovers(write.paths, write.id)
        landing = parts.pending.read_landing()
        if landing is not None:
            self._recover(landing)

    def next_number(self) -> int:
        """Return the number of a write that is put behind all others."""
        return max((write.number for write in self.waiting), default=0) + 1

    def settle(
        self,
        fresh: PendingWrite | None = None,
        snapshot: BranchSnapshot | None = None,
        *,
        queued: bool = True,
    ) -> QueueRun:
        """Bring what waits to the branch as far as it goes, and drop that from the queue.

        Args:
            fresh: a write that is made just now, behind all others; it has no file in the queue.
            snapshot: what was just seen of it; serves for the first try if nothing else waits.
            queued: whether `fresh` is to be taken up by others if this process is killed.
        """
        self._fresh = fresh if queued else None
        if self.waiting or self.done:
            snapshot = None
        writes = [*self.waiting, *([fresh] if fresh else [])]
        reason = "the branch keeps moving"
        for _ in range(_TRIES if writes else 0):
            try:
                run = self._try(writes, snapshot)
            except HeadMoved:
                snapshot = None
                self._parts.step("moved meanwhile")
                continue
            except ProtectedPath as error:
                reason = error.message
                break
            except (StagingRefused, BranchBusy, SigningFailed) as refused:
                reason = str(refused)
                break
            self._finish(writes, run.settled)
            return run
        return QueueRun({}, {write.id: reason for write in writes})

    def _recover(self, landing: Landing) -> None:
        self._remove_leftovers([*landing.files], landing.token)
        self._parts.pending.sweep()
        fresh = landing.fresh
        if fresh is not None and all(write.id != fresh.id for write in self.waiting):
            fresh = self._parts.close_write(replace(fresh, number=self.next_number()))
            if self._has_landed(landing) or self._has_begun(fresh, landing):
                self._parts.pending.put(fresh)
                self.waiting.append(fresh)
        if not self._has_landed(landing):
            self._unfinished = replace(landing, fresh=None)
            return
        self.done = {
            write.id: Settled(write, landing.commits[write.id], landing.conflicts.get(write.id, ()))
            for write in self.waiting
            if write.id in landing.commits
        }
        self._parts.files.make_durable(self._parts.branch or self._parts.repository.head().branch)
        self._finish(self.waiting, self.done)
        self.waiting = [write for write in self.waiting if write.id not in self.done]

    def _has_landed(self, landing: Landing) -> bool:
        repository, branch = self._parts.repository, self._parts.branch
        tip = repository.read_ref(branch) if branch else repository.head().commit
        if tip is None or not repository.contains(landing.tip):
            return False
        return repository.is_ancestor(landing.tip, tip)

    def _has_begun(self, fresh: PendingWrite, landing: Landing) -> bool:
        """Say whether a killed process had moved a file; if not, its write was nothing yet.

        Somebody may have edited the file since: what was written there is not theirs for that.
        """
        snapshot = self._parts.look(landing, staged=False)
        sights = [(change, snapshot.sight(change.path)) for change in fresh.changes]
        return any(sight.landed or holds_change(change, sight.disk) for change, sight in sights)

    def _remove_leftovers(self, paths: Sequence[str], token: str) -> None:
        for path in paths:
            remove_beside(self._parts.layout.root, path, token)

    def _try(self, writes: Sequence[PendingWrite], snapshot: BranchSnapshot | None) -> QueueRun:
        snapshot = snapshot or self._parts.look(self._unfinished)
        if snapshot.state.obstacle is not None:
            raise BranchBusy(snapshot.state.obstacle)
        if snapshot.refused is not None:
            raise snapshot.refused
        head = snapshot.state.head
        assert head.branch is not None
        fault = self._parts.home.fault(snapshot.tree, head.branch, writes)
        if fault is not None:
            raise BranchBusy(fault)
        return self._carry_out(snapshot, self._parts.plan(writes, snapshot), writes)

    def _carry_out(
        self, snapshot: BranchSnapshot, plan: SettlePlan, writes: Sequence[PendingWrite]
    ) -> QueueRun:
        by_id = {write.id: write for write in writes}
        tip, commits = snapshot.state.head.commit, {}
        if not plan.is_empty:
            landing = self._parts.landing
            made = landing.make(snapshot, plan, by_id)
            index = landing.prepare_index(snapshot, plan)
            landing.land(snapshot, plan, made, index, self._note)
            tip, commits = (made.chain[-1][0] if made.chain else tip), dict(made.by_write)
        done = {
            key: Settled(by_id[key], commits.get(key), plan.conflicts.get(key, ())) for key in plan.settled
        }
        return QueueRun(done, dict(plan.blocked), tip)

    def _finish(self, writes: Sequence[PendingWrite], settled: dict[str, Settled]) -> None:
        """Drop what is on the branch, once its record is in the spool and its tag stands."""
        done = [write for write in writes if write.id in settled]
        for write in done:
            if not write.recorded:
                self._parts.record(write)
        waiting = {write.id for write in done if not self._tag(write, settled[write.id])}
        if done:
            self._parts.pending.drop(
                [write for write in done if write is not self._fresh and write.id not in waiting]
            )
            self._parts.step("dropped")
            self._parts.pending.forget_landing()

    def _tag(self, write: PendingWrite, settled: Settled) -> bool:
        """Tag a write's commit; one that cannot be tagged now goes on waiting for that alone."""
        if write.tag is None:
            return True
        with suppress(OSError):  # a killed process of gitmem held it; under the home's lock nobody does
            remove_stale(self._parts.layout.common_dir / f"{TAGS}{write.tag.name}")
        tags = BranchTags(self._parts.repository)
        commit = settled.committed or tags.commit_of(write.path, self._parts.repository.head().commit)
        fault = "its commit is not found" if commit is None else tags.put(write.tag, commit, write.author)
        if fault is None:
            ref = self._parts.layout.common_dir / f"{TAGS}{write.tag.name}"
            for folder in (ref.parent, ref.parent.parent):
                with suppress(FileNotFoundError):  # it was packed already
                    sync_folder(folder)
            self._parts.step("tagged")
            return True
        self._parts.pending.put(replace(write, reason=fault, recorded=True))
        return False

    def _note(self, landing: Landing | None) -> None:
        if landing is not None:
            self._parts.pending.note_landing(replace(landing, fresh=self._fresh))
        elif self._unfinished is not None:
            self._parts.pending.note_landing(self._unfinished)
        else:
            self._parts.pending.forget_landing()
