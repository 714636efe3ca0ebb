"""The agent's commits on the operator's branch, made so that nothing of the operator's Git state changes.

Every write goes one way: it is put in the queue of pending writes, then the queue is settled. If the branch
can take it, that ends in a commit at once; if not, the files are written, the queue keeps the write, and
whoever next holds the home's lock settles it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Final

from gitmem.attribute_files import AttributeFiles
from gitmem.branch_changes import PathChange, PendingChange, PendingWrite, Settled, WriteOutcome
from gitmem.branch_home import BranchHome
from gitmem.branch_landing import BranchBusy, BranchLanding
from gitmem.branch_snapshot import BranchSnapshot, PathView
from gitmem.commit_signing import SigningFailed
from gitmem.errors import HeadMoved, ProtectedPath, UsageError
from gitmem.file_lock import file_lock
from gitmem.git_objects import hash_object
from gitmem.git_state import held_lock, read_git_state
from gitmem.home_owner import HomeOwner
from gitmem.layout import Layout, is_managed
from gitmem.pending_writes import Landing, PendingWrites, mint_write_id
from gitmem.repository import Head, Repository
from gitmem.settling import SettlePlan, plan_settling
from gitmem.staging_extensions import StagingRefused
from gitmem.work_tree import check_way, find_twin, remove_beside, replaced_file

#: How often a commit is prepared anew when something moved meanwhile.
_TRIES: Final = 6
_HOME_WAIT: Final = 10.0
#: Files that are not managed and that `init` writes.
_RULE_FILES: Final = (".gitattributes", ".gitignore")


def _nothing(_: object) -> None:
    return


@dataclass(frozen=True, slots=True)
class _Run:
    """What one pass over the queue did."""

    settled: dict[str, Settled]
    blocked: dict[str, str]
    head: str | None = None


class OperatorBranch:
    """Commits managed files on HEAD's branch, or keeps them pending.

    Args:
        repository: the object store, refs and configuration.
        layout: folders.
        home_id: HEAD's tree must hold this home.
        agent: `Name <mail>` of the agent.
        operator: `Name <mail>` for what the operator wrote.
        now: the wall clock, seconds since 1970.
        branch: the one branch that is committed on (`main` or `refs/heads/main`); None takes any.
        record: makes a write's record durable in the spool; called before a pending write is dropped, and
            again after a kill, so it must know what it has recorded.
        checkpoint: called with a name between any two steps; tests let it raise or act.
    """

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        *,
        home_id: str,
        agent: str,
        operator: str,
        now: Callable[[], float],
        branch: str | None,
        record: Callable[[PendingWrite], None] = _nothing,
        checkpoint: Callable[[str], None] = _nothing,
    ) -> None:
        self._repository = repository
        self._layout = layout
        self.operator = operator
        self._now = now
        self._branch = branch if branch is None or branch.startswith("refs/") else f"refs/heads/{branch}"
        self._record = record
        self._step = checkpoint
        self._owner = HomeOwner(layout, repository.config)
        self._attributes = AttributeFiles(layout, repository.config)
        self._pending = PendingWrites(layout.pending)
        self._landing = BranchLanding(
            repository, layout, self._owner, agent=agent, operator=operator, now=now, checkpoint=checkpoint
        )
        self._home = BranchHome(repository, home_id)
        self._unfinished: Landing | None = None
        self._fresh: PendingWrite | None = None

    def write(
        self,
        changes: Sequence[PathChange],
        *,
        message: str,
        author: str,
        operation: str,
        turn: str | None,
        locked: bool = False,
        defer: bool = True,
    ) -> WriteOutcome:
        """Bring files to a new content and commit them, those paths only.

        A file that already holds its result is committed as it is: so an agent's own edit is claimed for it.

        Args:
            changes: each path once, with what the caller saw.
            message: the whole commit message, trailers included.
            author: `Name <mail>`.
            operation: what is done, for `status`.
            turn: id of the turn that it belongs to.
            locked: the caller holds the home's lock (`layout.home_lock`).
            defer: keep the write pending if the branch cannot take it; else leave all as it is.

        Raises:
            ProtectedPath: a path is a link, is in another repository or has a twin; or the home is another
                user's.
            HeadMoved: a file is no longer what the caller saw.
            HomeLocked: another process kept the home's lock.
        """
        self._owner.check()
        if not changes or len({change.path for change in changes}) != len(changes):
            raise UsageError("a write names each of its paths once")
        with self._lock(locked=locked):
            self._unfinished = None
            snapshot = self.look([change.path for change in changes])
            accepted = tuple(self._accept(change, snapshot) for change in changes)
            done = self._already(accepted, snapshot)
            if done is not None:
                return done
            write = PendingWrite(mint_write_id(), 0, self._now(), operation, turn, author, message, accepted)
            return self._commit_or_keep(replace(write, recorded=not defer), snapshot, defer=defer)

    def settle(self, *, locked: bool = False) -> list[Settled]:
        """Bring pending writes to the branch as far as it takes them; return those that wait no more.

        Args:
            locked: the caller holds the home's lock.
        """
        if not self._pending.read() and self._pending.read_landing() is None:
            return []
        self._owner.check()
        with self._lock(locked=locked):
            self._unfinished = self._fresh = None
            waiting, done = self._begin(self._repository.head())
            return [*done.values(), *self._settle(waiting, None).settled.values()]

    def look(self, staged: Sequence[str] | None = ()) -> BranchSnapshot:
        """Return what there is now.

        Args:
            staged: paths whose staged content matters; None leaves the staging area unread.
        """
        return BranchSnapshot(
            self._layout,
            self._repository,
            self._attributes,
            branch=self._branch,
            staged=staged,
            landed=self._unfinished.files if self._unfinished else {},
        )

    def pending(self) -> list[PendingWrite]:
        """Return the writes that wait, each with the reason that holds it up now."""
        waiting = self._pending.read()
        if not waiting:
            return []
        reason = self.obstacle()
        if reason is not None:
            return [replace(write, reason=reason) for write in waiting]
        snapshot = self.look([path for write in waiting for path in write.paths])
        if snapshot.refused is not None:
            return [replace(write, reason=snapshot.refused.reason) for write in waiting]
        blocked = plan_settling(waiting, snapshot.sight).blocked
        return [replace(write, reason=blocked.get(write.id, write.reason)) for write in waiting]

    def damaged(self) -> list[str]:
        """Return the names of files among the pending writes that cannot be read."""
        return self._pending.damaged()

    def obstacle(self) -> str | None:
        """Return what keeps the branch from taking a commit now, None if nothing does."""
        state = read_git_state(self._layout, self._repository, self._branch)
        fault = state.obstacle or held_lock(self._layout, state.head)
        if fault is not None or state.head.commit is None:
            return fault
        tree = self._repository.read_commit(state.head.commit).tree
        return self._home.fault(tree, state.head.branch or "", [])

    @contextmanager
    def _lock(self, *, locked: bool) -> Iterator[None]:
        with nullcontext() if locked else file_lock(self._layout.home_lock, wait=_HOME_WAIT):
            try:
                yield
            finally:
                self._hand_over()

    def _accept(self, change: PathChange, snapshot: BranchSnapshot) -> PendingChange:
        """Check a change against the disk and put it in the words of a pending write."""
        if not is_managed(change.path) and change.path not in _RULE_FILES:
            raise ProtectedPath(
                f"gitmem does not manage {change.path}", hint="Use notes/ or work/.", path=change.path
            )
        view = snapshot.view(change.path)
        if view.sight.fault is not None:
            raise ProtectedPath(view.sight.fault, hint="Nothing was written.", path=change.path)
        if view.raw is None and change.result is not None:
            check_way(self._layout.root, change.path)
        if view.raw is None and view.head is None and change.result is not None:
            twin = find_twin(self._layout.root, change.path)
            if twin is not None:
                raise ProtectedPath(
                    f"{change.path} is the same name as {twin} on other machines",
                    hint=f"Use {twin}, or another name.",
                    path=change.path,
                    twin=twin,
                )
        return _accept_change(change, view)

    def _already(self, changes: Sequence[PendingChange], snapshot: BranchSnapshot) -> WriteOutcome | None:
        """Return the outcome where the branch, or a write that waits, holds all of the changes already."""
        rest = [
            one for one in changes if not one.result == snapshot.sight(one.path).head == _disk(one, snapshot)
        ]
        if not rest:
            return WriteOutcome(snapshot.state.head.commit, None, on_disk=True, unchanged=True)
        waiting = {change.path: (write, change) for write in self._pending.read() for change in write.changes}
        for one in rest:
            write, change = waiting.get(one.path, (None, one))
            if write is None or change.result != one.result or _disk(one, snapshot) != one.result:
                return None
        return WriteOutcome(None, waiting[rest[0].path][0].reason, on_disk=True, unchanged=True)

    def _commit_or_keep(self, write: PendingWrite, snapshot: BranchSnapshot, *, defer: bool) -> WriteOutcome:
        self._fresh = None
        waiting, before = self._begin(snapshot.state.head)
        write = replace(write, number=max((one.number for one in waiting), default=0) + 1)
        self._fresh = write if defer else None
        # What was just seen serves for the first try, unless others wait, whose paths were not looked at.
        try:
            run = self._settle([*waiting, write], None if waiting or before else snapshot)
        except OSError as error:
            if not defer or not self._is_on_disk(write):
                raise
            # The files are moved already: what failed behind that is done again when it can be.
            return self._keep(write, error.strerror or str(error), defer=defer)
        if write.id in run.settled:
            done = run.settled[write.id]
            if done.committed is None:
                return WriteOutcome(run.head, None, on_disk=True, unchanged=True)
            return WriteOutcome(done.committed, None, on_disk=True, conflicts=done.conflicts)
        return self._keep(write, run.blocked[write.id], defer=defer)

    def _keep(self, write: PendingWrite, reason: str, *, defer: bool) -> WriteOutcome:
        if not defer:
            return WriteOutcome(None, reason, on_disk=self._is_on_disk(write))
        write = replace(write, reason=reason)
        self._pending.put(write)
        self._step("kept")
        try:
            self._write_files(write)
        except BaseException:
            if not self._is_on_disk(write):
                self._pending.drop([write])
            raise
        self._record(write)
        self._pending.put(replace(write, recorded=True))
        return WriteOutcome(None, reason, on_disk=True)

    def _write_files(self, write: PendingWrite) -> None:
        snapshot = self.look(None)
        for change in write.changes:
            view = snapshot.view(change.path)
            if view.sight.disk == change.result:
                continue
            if view.sight.disk != change.base:
                raise HeadMoved(f"{change.path} changed meanwhile", hint="Read it again.", path=change.path)
            raw = None if change.result is None else snapshot.disk_bytes(change.path, change.result)
            mode = view.stat.st_mode if view.stat else None
            with replaced_file(
                self._layout.root, change.path, raw, mode=mode, token=write.id, grant=self._owner.give
            ) as file:
                file.place()
                file.settle()
            self._step("written")

    def _is_on_disk(self, write: PendingWrite) -> bool:
        snapshot = self.look(None)
        return all(snapshot.sight(change.path).disk == change.result for change in write.changes)

    def _begin(self, head: Head) -> tuple[list[PendingWrite], dict[str, Settled]]:
        """Clear up after a process that was killed; return what waits, and what it had put on the branch."""
        self._landing.clear_stale_locks(head)
        waiting = self._pending.read()
        for write in waiting:
            self._remove_leftovers(write.paths, write.id)
        landing = self._pending.read_landing()
        if landing is None:
            return waiting, {}
        self._remove_leftovers([*landing.files], landing.token)
        self._pending.sweep()
        waiting += self._queue_fresh(landing, waiting)
        done = self._landed(waiting, landing)
        if done:
            self._landing.make_durable(self._branch or head.branch)
            self._finish(waiting, done)
        else:
            self._unfinished = replace(landing, fresh=None)
        return [write for write in waiting if write.id not in done], done

    def _queue_fresh(self, landing: Landing, waiting: Sequence[PendingWrite]) -> list[PendingWrite]:
        """Queue the write that a killed process was making, if it had moved a file; else it was nothing."""
        fresh = landing.fresh
        if fresh is None or any(write.id == fresh.id for write in waiting):
            return []
        self._unfinished = landing
        snapshot = self.look(None)
        for change in fresh.changes:
            sight = snapshot.sight(change.path)
            if sight.landed or sight.disk == change.result != change.base:
                number = max((write.number for write in waiting), default=0) + 1
                fresh = replace(fresh, number=number)
                self._pending.put(fresh)
                return [fresh]
        return []

    def _remove_leftovers(self, paths: Sequence[str], token: str) -> None:
        for path in paths:
            remove_beside(self._layout.root, path, token)

    def _landed(self, waiting: Sequence[PendingWrite], landing: Landing) -> dict[str, Settled]:
        tip = self._repository.read_ref(self._branch) if self._branch else self._repository.head().commit
        if tip is None or not self._repository.contains(landing.tip):
            return {}
        if not self._repository.is_ancestor(landing.tip, tip):
            return {}
        return {
            write.id: Settled(write, landing.commits[write.id], landing.conflicts.get(write.id, ()))
            for write in waiting
            if write.id in landing.commits
        }

    def _settle(self, waiting: Sequence[PendingWrite], snapshot: BranchSnapshot | None) -> _Run:
        """Bring what waits to the branch as far as it goes, and drop that from the queue."""
        reason = "the branch keeps moving"
        for _ in range(_TRIES if waiting else 0):
            try:
                run = self._try(waiting, snapshot)
            except HeadMoved:
                snapshot = None
                self._step("moved meanwhile")
                continue
            except ProtectedPath as error:
                reason = error.message
                break
            except (StagingRefused, BranchBusy, SigningFailed) as refused:
                reason = str(refused)
                break
            self._finish(waiting, run.settled)
            return run
        return _Run({}, {write.id: reason for write in waiting})

    def _try(self, waiting: Sequence[PendingWrite], snapshot: BranchSnapshot | None) -> _Run:
        snapshot = snapshot or self.look([path for write in waiting for path in write.paths])
        if snapshot.state.obstacle is not None:
            raise BranchBusy(snapshot.state.obstacle)
        if snapshot.refused is not None:
            raise snapshot.refused
        head = snapshot.state.head
        assert head.branch is not None
        fault = self._home.fault(snapshot.tree, head.branch, waiting)
        if fault is not None:
            raise BranchBusy(fault)
        return self._carry_out(snapshot, plan_settling(waiting, snapshot.sight), waiting)

    def _carry_out(
        self,
        snapshot: BranchSnapshot,
        plan: SettlePlan,
        waiting: Sequence[PendingWrite],
    ) -> _Run:
        by_id = {write.id: write for write in waiting}
        head = snapshot.state.head
        tip, commits = head.commit, {}
        if not plan.is_empty:
            made = self._landing.make(snapshot, plan, by_id)
            index = self._landing.prepare_index(snapshot, plan)
            self._landing.land(snapshot, plan, made, index, self._note)
            tip, commits = (made.chain[-1][0] if made.chain else tip), dict(made.by_write)
        done = {
            key: Settled(by_id[key], commits.get(key), plan.conflicts.get(key, ())) for key in plan.settled
        }
        return _Run(done, dict(plan.blocked), tip)

    def _finish(self, waiting: Sequence[PendingWrite], settled: dict[str, Settled]) -> None:
        """Drop what is on the branch, once its record is in the spool."""
        done = [write for write in waiting if write.id in settled]
        for write in done:
            if not write.recorded:
                self._record(write)
        if done:
            self._pending.drop([write for write in done if write is not self._fresh])
            self._step("dropped")
            self._pending.forget_landing()

    def _note(self, landing: Landing | None) -> None:
        if landing is not None:
            self._pending.note_landing(replace(landing, fresh=self._fresh))
        elif self._unfinished is not None:
            self._pending.note_landing(self._unfinished)
        else:
            self._pending.forget_landing()

    def _hand_over(self) -> None:
        if self._owner.is_other:
            common, own = self._layout.common_dir, self._layout.git_dir
            places = ("gitmem", "logs", "refs", "objects/pack")
            self._owner.hand_over(
                [*(common / name for name in places), own / "gitmem", own / "logs", own / "index"]
            )


def _disk(change: PendingChange, snapshot: BranchSnapshot) -> bytes | None:
    return snapshot.sight(change.path).disk


def _accept_change(change: PathChange, view: PathView) -> PendingChange:
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
