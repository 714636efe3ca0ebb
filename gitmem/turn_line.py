"""The turn line: one commit for each turn, on a branch that only this work tree's writer moves.

Order of a commit, which the crash tests walk through: objects in one durable pack, ref by compare-and-swap,
copy on disk, position remembered, spool file marked as sealed. A sealed spool file goes once the ref's
folder is durable.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gitmem.disk_copy import DiskCopy, Growth
from gitmem.durable_file import remove_file, sync_folder
from gitmem.errors import GitmemError
from gitmem.file_lock import file_lock
from gitmem.forgotten import Receipts
from gitmem.git_objects import make_commit, make_object
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.ledger_format import segment_path
from gitmem.lifecycle import Lifecycle
from gitmem.line_merge import MergedLines, merge_lines
from gitmem.line_position import LinePosition, read_position
from gitmem.line_recovery import own_tip
from gitmem.pack_maintenance import TURN_PACKS, merge_packs
from gitmem.repository import ABSENT, GitObject, Repository
from gitmem.sealing import SealedTurn, seal_turn
from gitmem.spool import Spool, SpooledTurn, read_turn
from gitmem.subjects import (
    CHAIN,
    HEAD,
    HOME,
    KIND,
    TURN,
    format_message,
    parse_subject,
    parse_trailers,
    turn_subject,
)
from gitmem.writer import WriterState, mint_writer, read_writer, write_writer

#: A segment is not extended by another turn once it has this many bytes (L4).
SEGMENT_BYTES: Final = 64 * 1024
#: Sealed turns after which the ref's folder is made durable and their spool files go.
CHECKPOINT_EVERY: Final = 16
#: Turns that go into one pack when many are waiting (an import).
BATCH: Final = 32
SEALED: Final = ".sealed"


@dataclass(frozen=True, slots=True)
class CommittedTurn:
    """A turn that stands on the line.

    Attributes:
        refused: `{"event", "code"}` of its events that conflicted with the ledger.
    """

    turn: str
    turn_index: int
    commit: str
    refused: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class SpoolRun:
    """What one pass over the spool did.

    Attributes:
        committed: by turn id.
        reason: why the spool was left alone, None if it was not.
        warnings: what was found out of place and mended.
    """

    committed: Mapping[str, CommittedTurn]
    reason: str | None = None
    warnings: Sequence[str] = ()


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
        self._ledger = ledger
        self._home_id = home_id
        self._agent = agent
        self._now = now
        self._step = checkpoint
        self._spool = Spool(layout.spool)
        self._disk = DiskCopy(repository, layout)
        self._lifecycle = Lifecycle(ledger)
        self._mutex = threading.RLock()
        self._state: WriterState | None = None
        self._position: LinePosition | None = None
        self._unsettled = 0
        self._packs = 0
        self._warnings: list[str] = []

    def writer(self) -> WriterState | None:
        """Return what is remembered of the own line; None for a work tree that never wrote."""
        return self._state or read_writer(self._layout.writer_file)

    def commit_spooled(self, *, wait: float) -> SpoolRun:
        """Seal and commit every finished turn of the spool, in order.

        Args:
            wait: seconds to wait for the home's lock.

        Raises:
            HomeLocked: another process kept the lock.
        """
        with self._mutex:
            with file_lock(self._layout.home_lock, wait=wait):
                try:
                    run = self._run()
                except BaseException:
                    self._position = None  # half edited; read again from the tip
                    self._lifecycle.forget_notes()
                    raise
            if self._packs >= TURN_PACKS:
                self._merge_packs()
            return run

    def settle(self) -> None:
        """Make the last turns durable on the line and let their spool files go."""
        with self._mutex, file_lock(self._layout.home_lock, wait=5.0):
            try:
                if self._has_spooled() and self._run().reason is None:
                    self._settle()
            except BaseException:
                self._position = None
                raise
        self._merge_packs()

    def find(self, turn_id: str, *, within: int = 2000) -> CommittedTurn | None:
        """Return a turn that another process committed, searching the newest commits of the own line."""
        state = read_writer(self._layout.writer_file)
        tip = self._repository.read_ref(state.ref) if state else None
        if tip is None:
            return None
        for count, commit in enumerate(self._repository.walk_first_parents(tip)):
            if parse_trailers(commit.message).get(TURN) == turn_id:
                subject = parse_subject(commit.message)
                return CommittedTurn(turn_id, (subject and subject.index) or 0, commit.id)
            if count >= within:
                break
        return None

    def _run(self) -> SpoolRun:
        state = self._load_state()
        if self._repository.head().branch == state.ref:
            return SpoolRun(
                {}, f"HEAD names {state.branch}, which only gitmem writes; switch to your own branch"
            )
        before = self._position
        position = self._current(state)
        paths = self._waiting(position, fresh=position is not before)
        committed: dict[str, CommittedTurn] = {}
        for first in range(0, len(paths), BATCH):
            turns = [read_turn(path) for path in paths[first : first + BATCH]]
            committed.update(self._commit(position, turns))
        warnings, self._warnings = self._warnings, []
        return SpoolRun(committed, None, warnings)

    def _load_state(self) -> WriterState:
        found = read_writer(self._layout.writer_file)
        if found is None:
            found = mint_writer()
            write_writer(self._layout.writer_file, found, durable=True)
        if self._state is None or found.writer != self._state.writer or found.last != self._state.last:
            self._state, self._position = found, None
        return self._state

    def _current(self, state: WriterState) -> LinePosition:
        if self._position is not None and self._repository.read_ref(state.ref) == self._position.tip:
            return self._position
        tip, warnings = own_tip(self._repository, self._layout, state, self._agent)
        self._warnings += warnings
        if self._position is None or self._position.tip != tip:
            same = tip == state.last
            self._position = read_position(
                self._repository,
                state.writer,
                tip,
                segment=state.segment if same else None,
                merged=state.merged if same else {},
            )
            if not same:  # or a ref that is deleted next would take the turns with it
                self._remember(self._position, durable=True)
        return self._position

    def _waiting(self, position: LinePosition, *, fresh: bool) -> list[Path]:
        """Return the spool files to seal; those on the line already (a kill came first) are marked."""
        finished = self._spool.finished()
        if not fresh:
            return finished
        sealed = self._sealed()
        if not finished and not sealed:
            return []
        done = self._turns_since_checkpoint(position)
        for path in sealed:
            if _turn_of(path) not in done:  # a power cut took the ref's move back
                finished.append(path.rename(path.with_suffix(".turn")))
        waiting = []
        for path in sorted(finished):
            if _turn_of(path) in done:
                self._mark_sealed(path)
            else:
                waiting.append(path)
        return waiting

    def _turns_since_checkpoint(self, position: LinePosition) -> set[str]:
        assert self._state is not None
        done: set[str] = set()
        if position.tip is None:
            return done
        for commit in self._repository.walk_first_parents(position.tip):
            if commit.id == self._state.checkpoint:
                break
            done.update(_turns_named(commit.message))
        return done

    def _commit(self, position: LinePosition, turns: Sequence[SpooledTurn]) -> dict[str, CommittedTurn]:
        assert self._state is not None
        now = self._now()
        merged = merge_lines(self._repository, self._ledger, position, self._state.ref)
        receipts = self._receipts(position)
        objects: list[GitObject] = []
        changes: dict[str, Growth] = {}
        committed = {}
        tip = position.tip
        for turn in turns:
            sealed = self._seal(position, turn, now, receipts)
            written = self._write_turn(
                position, sealed, now, merged if position.tip == tip else None, changes
            )
            objects += written
            committed[turn.turn] = CommittedTurn(turn.turn, sealed.turn_index, written[-1].id, sealed.refused)
        self._step("sealed")
        self._publish(position, tip, objects, changes)
        for turn in turns:
            self._mark_sealed(turn.path)
            self._step("marked")
        if self._unsettled >= CHECKPOINT_EVERY:
            self._settle()
        return committed

    def _receipts(self, position: LinePosition) -> Receipts:
        """Return what is forgotten; the tree holds the receipts of all lines once it holds the lines."""
        if position.tip is not None and position.tree.get("ledger/forgotten") is None:
            return Receipts()
        return self._ledger.receipts()

    def _seal(self, position: LinePosition, turn: SpooledTurn, now: float, receipts: Receipts) -> SealedTurn:
        sealed = seal_turn(
            turn,
            position.end,
            turn_index=position.turn_index + 1,
            now=now,
            heads_of=self._lifecycle.heads,
            receipts=receipts,
        )
        self._lifecycle.note(sealed.lines)
        position.end = sealed.end
        position.turn_index = sealed.turn_index
        return sealed

    def _write_turn(
        self,
        position: LinePosition,
        sealed: SealedTurn,
        now: float,
        merged: MergedLines | None,
        changes: dict[str, Growth],
    ) -> list[GitObject]:
        objects = list(merged.objects) if merged else []
        if merged:
            changes.update({path: Growth(None, content) for path, content in merged.files.items()})
        for path, content in sealed.blobs.items():
            blob = make_object("blob", content)
            objects.append(blob)
            position.tree.put(path, blob.id)
            changes[path] = Growth(None, content)
        objects.append(_extend_segment(position, sealed, now, changes))
        root, trees = position.tree.write()
        objects += trees
        objects.append(self._commit_object(position, sealed, root, merged, now))
        position.tip = objects[-1].id
        return objects

    def _commit_object(
        self, position: LinePosition, sealed: SealedTurn, root: str, merged: MergedLines | None, now: float
    ) -> GitObject:
        head = self._repository.head().commit
        end = sealed.end
        trailers: list[tuple[str, str | None]] = [
            (KIND, "turn"),
            (TURN, sealed.turn),
            (CHAIN, f"{end.writer}:{end.seq}:{end.prev}"),
        ]
        trailers += [(HEAD, head), (HOME, self._home_id if position.tip is None else None)]
        parents = [] if position.tip is None else [position.tip]
        return make_commit(
            tree=root,
            parents=[*parents, *(merged.parents if merged and parents else ())],
            author=self._agent,
            committer=self._agent,
            seconds=int(now),
            message=format_message(turn_subject(sealed.turn_index, sealed.kinds(), sealed.state), trailers),
        )

    def _publish(
        self,
        position: LinePosition,
        old: str | None,
        objects: Sequence[GitObject],
        changes: Mapping[str, Growth],
    ) -> None:
        assert self._state is not None
        assert position.tip is not None
        with self._repository.write_pack(objects):
            self._packs += 1
            self._step("packed")
            self._repository.move_ref(
                self._state.ref, old=old or ABSENT, new=position.tip, message="turn", who=self._agent
            )
            self._step("moved")
        self._ledger.lines.trust(self._state.ref, position.tip)
        for path in self._disk.update(changes):
            self._warnings.append(f"{path}: foreign bytes were set aside and the file restored")
        self._step("copied")
        self._remember(position, durable=False)
        self._step("remembered")

    def _remember(self, position: LinePosition, *, durable: bool) -> None:
        assert self._state is not None
        self._state = replace(
            self._state, last=position.tip, segment=position.segment, merged=dict(position.merged)
        )
        write_writer(self._layout.writer_file, self._state, durable=durable)

    def _mark_sealed(self, path: Path) -> None:
        path.rename(path.with_suffix(SEALED))
        self._unsettled += 1

    def _settle(self) -> None:
        """Let go of every sealed spool file; only then does the checkpoint move past their turns.

        The other way round a kill in between would leave a file whose turn no longer counts as done.
        """
        assert self._state is not None
        assert self._position is not None
        self._repository.settle_refs()
        self._step("settled")
        for path in self._sealed():
            remove_file(path)
        sync_folder(self._layout.spool)
        self._step("cleared")
        self._unsettled = 0
        self._state = replace(self._state, last=self._position.tip, checkpoint=self._position.tip)
        write_writer(self._layout.writer_file, self._state, durable=False)

    def _merge_packs(self) -> None:
        """Keep the number of packs small; without the home's lock, so that nobody's turn waits for it."""
        self._packs = 0
        with suppress(OSError, GitmemError):  # many packs are slow, not wrong; the next turns try again
            merge_packs(self._layout)

    def _sealed(self) -> list[Path]:
        return sorted(self._layout.spool.glob(f"*{SEALED}"))

    def _has_spooled(self) -> bool:
        return self._layout.spool.is_dir() and bool(self._sealed() or self._spool.finished())


def _extend_segment(
    position: LinePosition, sealed: SealedTurn, now: float, changes: dict[str, Growth]
) -> GitObject:
    """Append a turn's lines to the current segment, or begin the next one; return the segment's blob."""
    path = segment_path(now, sealed.end.writer, max(position.number, 1))
    if position.segment is None or path != position.segment or len(position.file.content) >= SEGMENT_BYTES:
        position.number += 1
        path = position.segment = segment_path(now, sealed.end.writer, position.number)
        position.file = type(position.file)()
    before = len(position.file.content)
    position.file.extend(b"".join(line.raw for line in sealed.lines))
    blob = position.file.blob()
    position.tree.put(path, blob.id)
    earlier = changes.get(path)
    start = earlier.before if earlier else (before or None)
    changes[path] = Growth(start, blob.content)
    return blob


def _turn_of(path: Path) -> str:
    return path.stem.partition("-")[2]


def _turns_named(message: str) -> list[str]:
    turn = parse_trailers(message).get(TURN)
    return [turn] if turn else []
