"""The agent's commits on the operator's branch, made so that nothing of the operator's Git state changes.

Every write goes one way: it is put in the queue of pending writes, then the queue is settled. If the branch
can take it, that ends in a commit at once; if not, the files are written, the queue keeps the write, and
whoever next holds the home's lock settles it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Final

from gitmem.accepted_changes import accept_change
from gitmem.attribute_files import AttributeFiles
from gitmem.branch_changes import (
    PathChange,
    PendingChange,
    PendingTag,
    PendingWrite,
    Settled,
    WriteOutcome,
)
from gitmem.branch_files import BranchFiles
from gitmem.branch_home import BranchHome
from gitmem.branch_landing import BranchLanding
from gitmem.branch_queue import QueueParts, QueueTurn
from gitmem.branch_snapshot import BranchSnapshot
from gitmem.branch_tags import TAGS
from gitmem.errors import HeadMoved, UsageError
from gitmem.file_lock import file_lock
from gitmem.git_state import held_lock, read_git_state
from gitmem.head_advance import Advance, HeadAdvance, HeadMove
from gitmem.home_owner import HomeOwner
from gitmem.layout import Layout
from gitmem.pending_writes import PendingWrites, mint_write_id
from gitmem.repository import Repository
from gitmem.work_tree import replaced_file

_HOME_WAIT: Final = 10.0


def _nothing(_: object) -> None:
    return


def _nothing_found(path: str, edit: bytes, before: bytes | None) -> None:  # noqa: ARG001
    return


def _as_it_is(path: str, content: bytes) -> bytes | None:  # noqa: ARG001
    return content


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
        inspect: called with path, bytes and the branch's bytes of an operator's uncommitted edit that a write
            is about to commit first; raises a `RefusedError` to have the write wait instead.
        close: called with path and bytes; returns them without what was forgotten, None where the file goes.
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
        inspect: Callable[[str, bytes, bytes | None], None] = _nothing_found,
        close: Callable[[str, bytes], bytes | None] = _as_it_is,
    ) -> None:
        name = branch if branch is None or branch.startswith("refs/") else f"refs/heads/{branch}"
        self.operator = operator
        self._now = now
        self._owner = HomeOwner(layout, repository.config)
        files = BranchFiles(layout, self._owner, repository.config, now, checkpoint)
        attributes = AttributeFiles(layout, repository.config)
        self._advance = HeadAdvance(
            repository, layout, attributes, files, self._owner, branch=name, checkpoint=checkpoint
        )
        self._parts = QueueParts(
            repository=repository,
            layout=layout,
            attributes=attributes,
            pending=PendingWrites(layout.pending),
            files=files,
            landing=BranchLanding(
                repository,
                layout,
                files,
                self._owner,
                agent=agent,
                operator=operator,
                now=now,
                checkpoint=checkpoint,
            ),
            home=BranchHome(repository, home_id),
            branch=name,
            record=record,
            step=checkpoint,
            inspect=inspect,
            close=close,
        )

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
        message_if_kept: str | None = None,
        tag: PendingTag | None = None,
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
            message_if_kept: the message of a write that is kept, where the other one may not hold then.
            tag: what the commit is tagged with, now or when it is made.

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
            snapshot = self.look()
            root, close = self._parts.layout.root, self._parts.close
            accepted = tuple(accept_change(root, one, snapshot.view(one.path), close) for one in changes)
            self._refuse_loss(accepted)
            done = self._already(accepted, snapshot)
            if done is not None and (tag is None or done.committed is None or self._is_tagged(tag)):
                return done
            write = PendingWrite(mint_write_id(), 0, self._now(), operation, turn, author, message, accepted)
            write = replace(write, recorded=not defer, tag=tag)
            return self._commit_or_keep(write, snapshot, message_if_kept or message, defer=defer)

    def settle(self, *, locked: bool = False) -> list[Settled]:
        """Bring pending writes to the branch as far as it takes them; return those that wait no more.

        Args:
            locked: the caller holds the home's lock.
        """
        pending = self._parts.pending
        if not pending.read() and pending.read_landing() is None and not self._advance.is_begun:
            return []
        self._owner.check()
        with self._lock(locked=locked):
            turn = QueueTurn(self._parts)
            return [*turn.done.values(), *turn.settle().settled.values()]

    def clean(self) -> None:
        """Take what was forgotten out of the writes that wait.

        Raises:
            HomeLocked: another process kept the home's lock.
        """
        pending = self._parts.pending
        if pending.read() or pending.read_landing() is not None:
            with self._lock(locked=False):
                turn = QueueTurn(self._parts)
                for write in turn.waiting:
                    pending.put(write)

    def advance(self, move: HeadMove, *, locked: bool = False) -> Advance:
        """Move HEAD's branch to a commit that follows it, with files and staging area, as a pull does.

        Args:
            move: from where to where.
            locked: the caller holds the home's lock.

        Raises:
            HeadMoved: the branch is not where the move begins; nothing was done.
            HomeLocked: another process kept the home's lock.
        """
        self._owner.check()
        with self._lock(locked=locked):
            return self._advance.move(move)

    def look(self, *, staged: bool = True) -> BranchSnapshot:
        """Return what there is now.

        Args:
            staged: whether the staging area is read.
        """
        return self._parts.look(staged=staged)

    def pending(self) -> list[PendingWrite]:
        """Return the writes that wait, each with the reason that holds it up now."""
        waiting = self._parts.pending.read()
        if not waiting:
            return []
        reason = self.obstacle()
        if reason is not None:
            return [replace(write, reason=reason) for write in waiting]
        snapshot = self.look()
        if snapshot.refused is not None:
            return [replace(write, reason=snapshot.refused.reason) for write in waiting]
        blocked = self._parts.plan(waiting, snapshot).blocked
        return [replace(write, reason=blocked.get(write.id, write.reason)) for write in waiting]

    def damaged(self) -> list[str]:
        """Return the names of files among the pending writes that cannot be read."""
        return self._parts.pending.damaged()

    def obstacle(self) -> str | None:
        """Return what keeps the branch from taking a commit now, None if nothing does."""
        state = read_git_state(self._parts.layout, self._parts.repository, self._parts.branch)
        fault = state.obstacle or held_lock(self._parts.layout, state.head)
        if fault is not None or state.head.commit is None:
            return fault
        tree = self._parts.repository.read_commit(state.head.commit).tree
        return self._parts.home.fault(tree, state.head.branch or "", [])

    @contextmanager
    def _lock(self, *, locked: bool) -> Iterator[None]:
        with nullcontext() if locked else file_lock(self._parts.layout.home_lock, wait=_HOME_WAIT):
            try:
                if self._advance.is_begun:
                    self._advance.finish()
                yield
            finally:
                self._owner.hand_over()

    def _refuse_loss(self, changes: Sequence[PendingChange]) -> None:
        """Refuse to take words of an operator off the disk that must not be committed first."""
        for one in changes:
            is_edited = one.base is not None and one.base not in (one.head, one.result)
            if is_edited and not _keeps(one):
                self._parts.inspect(one.path, one.base or b"", one.head)

    def _is_tagged(self, tag: PendingTag) -> bool:
        return self._parts.repository.read_ref(f"{TAGS}{tag.name}") is not None

    def _already(self, changes: Sequence[PendingChange], snapshot: BranchSnapshot) -> WriteOutcome | None:
        """Return the outcome where the branch, or a write that waits, holds all of the changes already."""
        rest = [
            one for one in changes if not one.result == snapshot.sight(one.path).head == _disk(one, snapshot)
        ]
        if not rest:
            return WriteOutcome(snapshot.state.head.commit, None, on_disk=True, unchanged=True)
        waiting = {
            change.path: (write, change) for write in self._parts.pending.read() for change in write.changes
        }
        for one in rest:
            write, change = waiting.get(one.path, (None, one))
            if write is None or change.result != one.result or _disk(one, snapshot) != one.result:
                return None
        return WriteOutcome(None, waiting[rest[0].path][0].reason, on_disk=True, unchanged=True)

    def _commit_or_keep(
        self, write: PendingWrite, snapshot: BranchSnapshot, later: str, *, defer: bool
    ) -> WriteOutcome:
        turn = QueueTurn(self._parts)
        write = replace(write, number=turn.next_number())
        try:
            run = turn.settle(write, snapshot, queued=defer)
        except OSError as error:
            if not defer or not self._is_on_disk(write):
                raise
            # The files are moved already: what failed behind that is done again when it can be.
            return self._keep_begun(replace(write, message=later), error.strerror or str(error))
        if write.id in run.settled:
            done = run.settled[write.id]
            if done.committed is None:
                return WriteOutcome(run.head, None, on_disk=True, unchanged=True)
            return WriteOutcome(done.committed, None, on_disk=True, conflicts=done.conflicts)
        return self._keep(replace(write, message=later), run.blocked[write.id], defer=defer)

    def _keep_begun(self, write: PendingWrite, reason: str) -> WriteOutcome:
        """Keep a write whose files are moved, also where a full disk has no room to say so once more."""
        try:
            return self._keep(write, reason, defer=True)
        except OSError:
            landing = self._parts.pending.read_landing()
            kept = [landing.fresh, *self._parts.pending.read()] if landing else self._parts.pending.read()
            if all(one is None or one.id != write.id for one in kept):
                raise
            return WriteOutcome(None, reason, on_disk=True)

    def _keep(self, write: PendingWrite, reason: str, *, defer: bool) -> WriteOutcome:
        if not defer:
            return WriteOutcome(None, reason, on_disk=self._is_on_disk(write))
        write = replace(write, reason=reason)
        self._parts.pending.put(write)
        self._parts.step("kept")
        try:
            self._write_files(write)
        except BaseException:
            if not self._is_on_disk(write):
                self._parts.pending.drop([write])
            raise
        with suppress(OSError):  # the write is kept; its record is made when it settles
            self._parts.record(write)
            self._parts.pending.put(replace(write, recorded=True))
        return WriteOutcome(None, reason, on_disk=True)

    def _write_files(self, write: PendingWrite) -> None:
        snapshot = self.look(staged=False)
        for change in write.changes:
            view = snapshot.view(change.path)
            if view.sight.disk == change.result:
                continue
            if view.sight.disk != change.base:
                raise HeadMoved(f"{change.path} changed meanwhile", hint="Read it again.", path=change.path)
            raw = None if change.result is None else snapshot.disk_bytes(change.path, change.result)
            mode = view.stat.st_mode if view.stat else None
            with replaced_file(
                self._parts.layout.root, change.path, raw, mode=mode, token=write.id, grant=self._owner.give
            ) as file:
                file.place(view.stat)
                file.settle()
            self._parts.step("written")

    def _is_on_disk(self, write: PendingWrite) -> bool:
        snapshot = self.look(staged=False)
        return all(snapshot.sight(change.path).disk == change.result for change in write.changes)


def _keeps(change: PendingChange) -> bool:
    """Say whether every line that the file has and the branch has not is in the result too."""
    edit, before, result = (
        set((part or b"").splitlines()) for part in (change.base, change.head, change.result)
    )
    return edit - before <= result


def _disk(change: PendingChange, snapshot: BranchSnapshot) -> bytes | None:
    return snapshot.sight(change.path).disk
