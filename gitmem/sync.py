"""Sync with one remote: what it has comes beside what is here, what it lacks goes, then HEAD's branch moves.

The order keeps every step harmless to a kill: fetch to side refs, receipts of forgetting first; merge among
objects only; push; and only when the remote has it, move HEAD's branch. The network is never waited for under
the home's lock. A remote that moved meanwhile is looked at anew; a merge that it did not take is thrown away.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Final

from gitmem.branch_sync import BranchStep, BranchSync
from gitmem.errors import (
    ConflictError,
    GitmemError,
    HeadMoved,
    HomeLocked,
    RefusedError,
    RemoteError,
    RemoteTimeout,
)
from gitmem.file_lock import file_lock
from gitmem.git_state import short_name
from gitmem.head_advance import Advance, HeadMove
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.operator_branch import OperatorBranch
from gitmem.quarantine_rules import Held
from gitmem.remote_repository import Connect, RemoteRepository, TransferLimits
from gitmem.remotes import Remote, Remotes
from gitmem.repository import Repository
from gitmem.rescue_refs import drop_old_rescues, keep_rescue
from gitmem.stale_ref_locks import clear_stale_ref_locks
from gitmem.sync_delivery import SyncDelivery
from gitmem.sync_intake import SyncIntake
from gitmem.sync_notes import SyncNote, SyncNotes
from gitmem.sync_reply import SyncReply
from gitmem.sync_tally import SyncTally
from gitmem.tag_sync import tag_names
from gitmem.turn_line import TurnLine

#: Seconds that a sync may take by itself.
TIMEOUT: Final = 120.0
#: Seconds to wait for the home's lock, which is never held while the network is waited for.
_LOCK_WAIT: Final = 5.0
#: How often a remote that moved meanwhile is looked at anew.
_ROUNDS: Final = 8
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0
#: Seconds that syncs nobody asked for are put off after a failure; doubled with each further one, to a limit.
_AFTER_FAILURE: Final = 30.0
_RAREST: Final = 3600.0
#: What Git answers for a ref whose objects the server has no room for, or may not write.
_NOT_STORED: Final = "unpacker error"


@dataclass(frozen=True, slots=True)
class SyncParts:
    """What a sync works with.

    Attributes:
        home_id: of this home.
        agent: `Name <mail>` for reflogs and merges.
        settle: brings turns of the spool and pending writes where they belong, as far as that goes.
        restore_copy: makes the ledger's copy on disk whole.
        connect: returns a remote by its URL.
        now: seconds since 1970.
        quarantined: returns what is kept from the agent, since it was asked last.
    """

    repository: Repository
    layout: Layout
    home_id: str
    agent: str
    ledger: Ledger
    line: TurnLine
    branch: OperatorBranch
    remotes: Remotes
    settle: Callable[[], object]
    restore_copy: Callable[[], object]
    connect: Connect
    now: Callable[[], float]
    quarantined: Callable[[], Sequence[Held]] = tuple


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How a sync is done.

    Attributes:
        dry_run: fetch objects, but move nothing, here or there.
        timeout: seconds for all of it.
        branch: sync the operator's branch too; without it lines and tags travel.
        wait: seconds to wait for another sync with that remote.
    """

    dry_run: bool = False
    timeout: float = TIMEOUT
    branch: bool = True
    wait: float = 5.0


class Syncing:
    """Syncs one home with its remotes."""

    def __init__(self, parts: SyncParts) -> None:
        self._parts = parts
        self.notes = SyncNotes(parts.layout)

    def sync(self, name: str | None = None, options: SyncOptions = SyncOptions()) -> SyncReply:
        """Sync with a remote; without a name with `origin`, else the only one.

        Raises:
            NotFound: there is no such remote.
            HomeError: the remote is another home, or none; nothing was moved.
            RefusedError: the remote does not take the branch or this home's line; the rest was done.
            RemoteError: it failed, has no room for what was sent, or took too long; the rest was done.
            HomeLocked: another process syncs with it.
            ConflictError: it moved faster than could be followed.
        """
        remote = self._parts.remotes.find(name)
        with self.notes.lock(remote.id, wait=options.wait):
            note = self.notes.read(remote.id)
            try:
                run = _Run(self._parts, remote, options)
                reply, refused = run.go()
            except GitmemError as error:
                if not options.dry_run:
                    self._note_failure(remote.id, note, error)
                raise
            if not options.dry_run:
                self._note_success(remote.id, reply, run.tags, note if not options.branch else SyncNote())
        if refused is not None:
            refused.details["sync"] = reply.to_json()
            raise refused
        return reply

    def is_too_soon(self, name: str | None) -> bool:
        """Say whether a sync that nobody asked for should wait, because the last ones have failed."""
        note = self.notes.read(self._parts.remotes.find(name).id)
        if not note.failures or note.tried is None:
            return False
        pause = min(_AFTER_FAILURE * 2.0 ** (note.failures - 1), _RAREST)
        return 0 <= self._parts.now() - note.tried < pause

    def _note_failure(self, remote: str, note: SyncNote, error: GitmemError) -> None:
        with suppress(OSError):
            failures = note.failures + 1
            self.notes.write(
                remote, replace(note, tried=self._parts.now(), failures=failures, error=error.message)
            )

    def _note_success(self, remote: str, reply: SyncReply, tags: Sequence[str], before: SyncNote) -> None:
        now = self._parts.now()
        tampered = reply.tampered
        refused = [told for one, why in reply.refused.items() if (told := f"{one}: {why}") not in tampered]
        with suppress(OSError):
            reason, blocked = reply.branch.reason or before.reason, reply.branch.blocked or before.blocked
            warnings = [*reply.warnings, *refused]
            note = SyncNote(now, now, 0, None, reason, blocked, warnings, tags, tampered)
            self.notes.write(remote, note)


class _Run:
    """One sync with one remote."""

    def __init__(self, parts: SyncParts, remote: Remote, options: SyncOptions) -> None:
        self._parts = parts
        self._remote = remote
        self._options = options
        self._deadline = time.monotonic() + options.timeout
        self._branch = BranchSync(
            parts.repository,
            parts.layout,
            home_id=parts.home_id,
            agent=parts.agent,
            receipts=parts.ledger.receipts,
        )
        self._intake = SyncIntake(
            parts.repository,
            self._branch,
            home_id=parts.home_id,
            remote=remote.id,
            who=parts.agent,
            dry_run=options.dry_run,
        )
        self._delivery = SyncDelivery(
            parts.repository,
            parts.layout,
            parts.line,
            remote=remote.id,
            who=parts.agent,
            tips=parts.ledger.tips,
        )
        self._tally = SyncTally(parts.repository, remote.id, dry_run=options.dry_run)
        self._held = ExitStack()
        #: What the remote said when it was last found to have moved.
        self._because = ""
        #: Names of the tags that the remote has.
        self.tags: Sequence[str] = ()

    def go(self) -> tuple[SyncReply, RefusedError | RemoteError | None]:
        """Do all of it; return what was done, and what the remote refused."""
        self._parts.settle()
        if not self._options.dry_run:
            with suppress(HomeLocked), file_lock(self._parts.layout.home_lock, wait=_LOCK_WAIT):
                clear_stale_ref_locks(self._parts.layout, self._remote.id)
        before = set() if self._options.dry_run else self._receipts()
        with self._held:
            for attempt in range(_ROUNDS):
                if self._round():
                    break
                self._pause(attempt)
            else:
                raise self._outrun()
        if not self._options.dry_run:
            self._follow(before)
        return self._tally.reply, self._refusal()

    def _outrun(self) -> ConflictError:
        said = f" ({self._because})" if self._because else ""
        hint = "Try again; where nobody else pushes, a killed process may have left a `.lock` file there."
        return ConflictError(f"{self._remote.id} moved faster than could be followed{said}", hint=hint)

    def _round(self) -> bool:
        """Do one round; say whether it was the last."""
        intake = self._intake.take(self._connect())
        self._tally.took(intake)
        self.tags = sorted(tag_names(intake.refs.refs))
        if not self._options.dry_run:
            self._tally.writes_as(self._delivery.prepare_lines(intake.lines))
        step = self._branch.plan(intake.branch) if self._options.branch else None
        updates = self._delivery.updates(intake, step, self._parts.now())
        self._tally.decided(step)
        if self._options.dry_run:
            self._tally.would(intake, step, updates)
            return True
        if step is not None and step.objects:
            self._held.enter_context(self._parts.repository.write_pack(step.objects))
        if step is not None and step.merges:
            self._keep_rescue(step)
        if updates:
            done = self._delivery.push(self._connect(pushing=True), updates, intake.known)
            self._tally.sent(done, intake, step)
            self.tags = sorted({*self.tags, *done.tags})
            if done.again:
                self._because = done.because
                return False
            if step is not None and step.branch in done.refused:
                return True
        return step is None or self._advance(step)

    # The branch

    def _advance(self, step: BranchStep) -> bool:
        """Move HEAD's branch; say False where it moved meanwhile, so that all begins anew."""
        self._tally.agreed(step)
        if not step.comes:
            return True
        assert step.target is not None
        words = "sync: merge" if step.merges else "sync: fast-forward"
        move = HeadMove(step.branch, step.here, step.target, words, self._parts.agent)
        try:
            outcome = self._parts.branch.advance(move)
        except HeadMoved:
            return False
        except HomeLocked as error:
            outcome = Advance(moved=False, reason=error.message)
        self._tally.advanced(step, outcome)
        return True

    def _keep_rescue(self, step: BranchStep) -> None:
        assert step.here is not None
        repository, agent = self._parts.repository, self._parts.agent
        ref = keep_rescue(repository, step.here, self._parts.now(), agent)
        drop_old_rescues(repository, step.here, agent)
        self._tally.rescued(ref)

    # The end

    def _follow(self, before: set[str]) -> None:
        """Let the ledger's copy on disk hold what came, and name what was forgotten elsewhere."""
        with suppress(OSError):
            try:
                self._parts.restore_copy()
            except HomeLocked as error:
                self._tally.warn([f"the copy of the ledger on disk is behind: {error.message}"])
        self._tally.forgot(sorted(self._receipts() - before))
        if self._tally.reply.fetched or self._tally.reply.merged:
            self._tally.held(self._parts.quarantined())

    def _receipts(self) -> set[str]:
        return {f"{kind}:{name}" for kind, name in self._parts.ledger.receipts().lines}

    def _refusal(self) -> RefusedError | RemoteError | None:
        """Return what the remote would not take of this home's own, if anything."""
        state = self._parts.line.writer()
        own = {self._branch.name, state.ref if state else None}
        for name, reason in self._tally.reply.refused.items():
            if name in own:
                hint = "Look at the remote's hooks and rules."
                if reason.startswith(_NOT_STORED):
                    message = f"{self._remote.id} could not store what was sent: {reason}"
                    hint = "Look at its disk, at who may write there, and at its limits; then sync again."
                    return RemoteError(message, hint=hint, remote=self._remote.id, ref=name)
                if "checked out" in reason:
                    hint = "Sync with a bare repository: git init --bare; nobody works in it."
                message = f"{self._remote.id} does not take {short_name(name)}: {reason}"
                return RefusedError(message, hint=hint, remote=self._remote.id, ref=name)
        return None

    # The network

    def _connect(self, *, pushing: bool = False) -> RemoteRepository:
        limits = TransferLimits(seconds=self._remaining(), given=self._options.timeout)
        address = self._remote.push_address if pushing else self._remote.address
        return self._parts.connect(address, repository=self._parts.repository, limits=limits, pushing=pushing)

    def _remaining(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            seconds = f"{self._options.timeout:g}"
            raise RemoteTimeout(f"{self._remote.id} did not finish within {seconds} s", hint="Try again.")
        return left

    def _pause(self, attempt: int) -> None:
        longest = min(_FIRST_PAUSE * 2.0**attempt, _LONGEST_PAUSE, self._remaining())
        time.sleep(longest * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, not secrecy
