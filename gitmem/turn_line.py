"""The turn line: one commit for each turn, on a branch that only this work tree's writer moves.

Order of a commit, which the crash tests walk through: objects in one durable pack, ref by compare-and-swap,
copy on disk, position remembered, spool file marked as sealed. A sealed spool file goes once the ref's
folder is durable.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from gitmem.disk_copy import DiskChanges, DiskCopy
from gitmem.durable_file import remove_file
from gitmem.episode_closing import EpisodeClosing
from gitmem.errors import GitmemError, HeadMoved, HomeLocked, ObjectMissing
from gitmem.file_lock import file_lock
from gitmem.forget_notices import ForgetNotices
from gitmem.forgotten import Receipts
from gitmem.found_turn import find_turn_commit
from gitmem.git_lock import remove_stale
from gitmem.home_owner import HomeOwner
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.lifecycle import Lifecycle
from gitmem.line_draft import CommittedTurn, Draft, Moment, SpoolRun, TurnDrafter
from gitmem.line_merge import merge_lines
from gitmem.line_position import LinePosition, read_position
from gitmem.line_recovery import OwnTip, own_tip, restore
from gitmem.line_turns import turns_since
from gitmem.pack_maintenance import TURN_PACKS, merge_packs
from gitmem.plan_notices import PlanNotices
from gitmem.repository import ABSENT, Head, Repository
from gitmem.spool import Spool, SpooledTurn, read_turn, turn_of
from gitmem.writer import WriterState, mint_writer, read_writer, write_last, write_writer
from gitmem.writer_change import change_writer

#: Sealed turns after which the ref's folder is made durable and their spool files go.
CHECKPOINT_EVERY: Final = 16
#: Turns that go into one pack when many are waiting (an import).
BATCH: Final = 32
#: How often a turn is built again because the ref moved or was locked meanwhile.
_ATTEMPTS: Final = 3


class TurnLine:
    """Seals and commits the spooled turns of one work tree.

    Args:
        repository: the object store and refs.
        layout: folders.
        ledger: reads what is known.
        home_id: named by the line's root commit.
        agent: `Name <mail>` of the commits.
        now: the wall clock, seconds since 1970.
        checkpoint: called with a name between any two steps; tests let it raise.
    """

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        ledger: Ledger,
        *,
        home_id: str,
        agent: str,
        now: Callable[[], float],
        checkpoint: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._home_lock = layout.home_lock
        self._writer_file = layout.writer_file
        self._ledger = ledger
        self._agent = agent
        self._now = now
        self._step = checkpoint
        self._owner = HomeOwner(layout, repository.config)
        self._spool = Spool(layout.spool)
        self._plans = PlanNotices(layout)
        self._disk = DiskCopy(repository, layout, ledger.receipts)
        self._lifecycle = Lifecycle(layout, ledger)
        self._episodes = EpisodeClosing(layout, ledger)
        self._forgotten = ForgetNotices(layout)
        self._drafter = TurnDrafter(repository, self._lifecycle, self._episodes, home_id=home_id, agent=agent)
        self._mutex = threading.RLock()
        self._state: WriterState | None = None
        self._others: Mapping[str, str] = {}
        self._position: LinePosition | None = None
        self._unsettled = 0
        self._packs = 0
        self._warnings: list[str] = []

    def writer(self) -> WriterState | None:
        """Return what is remembered of the own line; None for a work tree that never wrote."""
        return self._state or read_writer(self._writer_file)

    def commit_spooled(self, *, wait: float, told: SpooledTurn | None = None) -> SpoolRun:
        """Seal and commit every finished turn of the spool, in order.

        Args:
            wait: seconds to wait for the home's lock.
            told: one of them, if its content is at hand.

        Raises:
            HomeLocked: another process kept the lock.
        """
        if self._lifecycle.is_behind or (
            told is not None and any(event.object is not None for event in told.events)
        ):
            self._lifecycle.catch_up()  # before the lock: nobody's turn waits while the ledger is read
        if told is not None:
            self._episodes.prepare()
        with self._locked(wait):
            run = self._run(told)
        if self._packs >= TURN_PACKS:
            self._merge_packs()
        return run

    def settle(self) -> None:
        """Make the last turns durable on the line and let their spool files go."""
        with self._locked(5.0):
            if self._spool.finished() or self._spool.sealed():
                reason = self._run(None).reason
                if reason is None and self._position is not None:
                    self._settle(self._position)
            self._spool.drop_spares()
        self._merge_packs()

    def change_writer(self, expected: str, ahead: str | None, *, wait: float) -> str | None:
        """Begin to write under a new id, as `writer_change` says; None if the line moved meanwhile."""
        with self._locked(wait):
            self._let_go()
            self._run(None)
            if self._position is not None:
                self._settle(self._position)
            self._let_go()
            self._state = None
            return change_writer(self._repository, self._writer_file, expected, ahead, self._agent)

    def find(self, turn_id: str, *, within: int = 2000) -> CommittedTurn | None:
        """Return a turn that another process committed, searching the newest commits of the own line.

        What it says was added has the turn's own events among it.
        """
        state = read_writer(self._writer_file)
        tip = self._repository.read_ref(state.ref) if state else None
        if tip is None:
            return None
        newest_first = self._ledger.lines_newest_first
        return find_turn_commit(self._repository, tip, turn_id, newest_first, within=within)

    @contextmanager
    def _locked(self, wait: float) -> Iterator[None]:
        with self._mutex, file_lock(self._home_lock, wait=wait):
            try:
                yield
            except BaseException:
                self._let_go()
                raise
            finally:
                self._owner.hand_over()

    def _let_go(self) -> None:
        """Forget a position that may be half edited; the next turn reads it again from the tip."""
        self._position = None
        self._lifecycle.forget_notes()
        self._episodes.forget_notes()

    def _run(self, told: SpooledTurn | None) -> SpoolRun:
        committed: dict[str, CommittedTurn] = {}
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                reason = self._commit_waiting(committed, told)
                break
            except (HeadMoved, HomeLocked) as error:
                self._let_go()
                moved = isinstance(error, HeadMoved) or self._remove_stale_lock()
                if attempt == _ATTEMPTS or not moved:
                    raise
        warnings, self._warnings = self._warnings, []
        return SpoolRun(committed, reason, warnings)

    def _remove_stale_lock(self) -> bool:
        """Remove the lock that a killed process left on the own line; say whether there was one.

        Under the home's lock nobody else of gitmem moves that ref.
        """
        writer = self.writer()
        return writer is not None and remove_stale(self._layout.common_dir / writer.ref)

    def _commit_waiting(self, committed: dict[str, CommittedTurn], told: SpooledTurn | None) -> str | None:
        """Commit what waits, batch by batch; return why it was left alone, if it was."""
        head = self._repository.head()
        writer = self.writer()
        if writer is not None and head.branch == writer.ref:
            return f"HEAD names {writer.branch}, which only gitmem writes; switch to your own branch"
        refs = self._ledger.lines.refs()
        position, is_fresh = self._stand(refs)
        assert self._state is not None
        others = {name: tip for name, tip in refs.items() if name != self._state.ref}
        if is_fresh or others != self._others:
            self._lifecycle.fall_behind()
            self._others = others
        paths = self._waiting(position) if is_fresh else self._spool.finished()
        for first in range(0, len(paths), BATCH):
            turns = self._read(paths[first : first + BATCH], told)
            if turns:
                tips = self._ledger.lines.tips(others)
                committed.update(self._commit(position, turns, tips, head))
        return None

    def _stand(self, refs: Mapping[str, str]) -> tuple[LinePosition, bool]:
        """Return where the line ends, and whether that had to be read anew."""
        if self._position is not None and self._state is not None:
            if refs.get(self._state.ref) == self._position.tip:
                return self._position, False
            self._position = None  # another process was here; what it wrote is read
        state = read_writer(self._writer_file)
        if state is None:
            state = mint_writer()
            write_writer(self._writer_file, state)
        self._state = state
        self._remove_stale_lock()
        self._position = self._read_position(own_tip(self._repository, self._layout, state, self._agent))
        return self._position, True

    def _read_position(self, found: OwnTip) -> LinePosition:
        assert self._state is not None
        self._warnings += found.warnings
        if found.is_lost:  # under the old id the chain would begin twice
            self._state = mint_writer()
            write_writer(self._writer_file, self._state)
        state = self._state
        known = state if found.tip == state.last else WriterState(state.writer)
        try:
            position = read_position(
                self._repository,
                state.writer,
                found.tip,
                segment=known.segment,
                number=known.number,
                merged=known.merged,
            )
        except ObjectMissing:
            if found.warnings:
                raise
            return self._read_position(restore(self._repository, self._layout, state, self._agent))
        if position.tip != state.last:  # or a ref that is deleted next would take the turns with it
            self._remember(position)
        return position

    def _waiting(self, position: LinePosition) -> list[Path]:
        """Return the spool files to seal; those on the line already (a kill came first) are marked."""
        finished, sealed = self._spool.finished(), self._spool.sealed()
        if not finished and not sealed:
            return []
        assert self._state is not None
        done = turns_since(self._repository, position.tip, self._state.checkpoint)
        # A sealed turn that is not on the line: a power cut took the ref's move back.
        finished += [self._spool.unseal(path) for path in sealed if turn_of(path) not in done]
        waiting = []
        for path in sorted(finished):
            if turn_of(path) in done:
                self._mark_sealed(path)
            else:
                waiting.append(path)
        return waiting

    def _read(self, paths: Sequence[Path], told: SpooledTurn | None) -> list[SpooledTurn]:
        turns = [told if told is not None and told.path == path else read_turn(path) for path in paths]
        for turn in turns:
            if not turn.events:  # an import's, which a power cut emptied before it was durable
                remove_file(turn.path)
        return [turn for turn in turns if turn.events]

    def _commit(
        self, position: LinePosition, turns: Sequence[SpooledTurn], tips: Mapping[str, str], head: Head
    ) -> Mapping[str, CommittedTurn]:
        old = position.tip
        merge = merge_lines(self._repository, position, tips)
        self._warnings += merge.warnings
        moment = Moment(self._now(), head.commit, self._receipts(position))
        draft = self._drafter.draft(position, turns, merge, moment)
        self._step("sealed")
        self._episodes.announce()
        self._step("announced")
        if draft.plans:
            self._plans.put(draft.plans, head.commit)
            self._step("noticed")
        if draft.forgets:
            self._forgotten.put()
            self._step("forgetting noticed")
        self._publish(position, old, draft)
        try:
            self._follow(position, draft.changes, head)
            for turn in turns:
                self._mark_sealed(turn.path)
                self._step("marked")
            if self._unsettled >= CHECKPOINT_EVERY:
                self._settle(position)
        except OSError as error:  # the turns stand on the line; what is missing is done at the next one
            self._warnings.append(f"the turn is committed, but not all notes of it could be made: {error}")
            self._let_go()
        return draft.committed

    def _receipts(self, position: LinePosition) -> Receipts:
        """Return what is forgotten; the tree holds the receipts of all lines once it holds the lines."""
        if position.tip is not None and not position.tree.has_folder("ledger/forgotten"):
            return Receipts()
        return self._ledger.receipts()

    def _publish(self, position: LinePosition, old: str | None, draft: Draft) -> None:
        assert self._state is not None
        assert position.tip is not None
        ref = self._state.ref
        try:
            # Until all is settled the spool holds the turn, and a damaged line is put right from it.
            with self._repository.write_pack(draft.objects, durable=False):
                self._packs += 1
                self._step("packed")
                self._repository.move_ref(
                    ref,
                    old=old or ABSENT,
                    new=position.tip,
                    message="turn",
                    who=self._agent,
                    durable=False,
                )
                self._step("moved")
        except OSError as error:  # of a lock or a keep that could not be removed, perhaps
            if self._repository.read_ref(ref) != position.tip:
                raise
            self._warnings.append(f"the turn is committed, but not all was cleared away: {error}")
        self._ledger.lines.trust(ref, position.tip)
        self._lifecycle.note_written()
        self._episodes.note_written()

    def _follow(self, position: LinePosition, changes: DiskChanges, head: Head) -> None:
        self._warnings += self._disk.update(changes, head.commit)
        self._step("copied")
        self._remember(position)
        self._step("remembered")

    def _remember(self, position: LinePosition) -> None:
        assert self._state is not None
        before = self._state
        self._state = replace(
            before,
            last=position.tip,
            segment=position.segment,
            number=position.number,
            merged=dict(position.merged),
        )
        if replace(self._state, last=before.last) == before:
            write_last(self._writer_file, self._state)
        else:
            write_writer(self._writer_file, self._state)

    def _mark_sealed(self, path: Path) -> None:
        self._spool.mark_sealed(path)
        self._unsettled += 1

    def _settle(self, position: LinePosition) -> None:
        """Let go of every sealed spool file; only then does the checkpoint move past their turns.

        The other way round a kill in between would leave a file whose turn no longer counts as done.
        """
        assert self._state is not None
        self._repository.settle_refs()
        self._step("settled")
        write_last(self._writer_file, self._state, durable=True)
        self._spool.clear_sealed(spares=CHECKPOINT_EVERY)
        self._step("cleared")
        self._unsettled = 0
        self._state = replace(self._state, checkpoint=position.tip)
        write_writer(self._writer_file, self._state)

    def _merge_packs(self) -> None:
        """Keep the number of packs small; without the home's lock, so that nobody's turn waits for it."""
        self._packs = 0
        with suppress(OSError, GitmemError):  # many packs are slow, not wrong; the next turns try again
            merge_packs(self._layout)
            self._owner.hand_over()
