"""From a spooled turn to ledger lines: place in the chain, long texts apart, snapshots of objects."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitmem.errors import GitmemError
from gitmem.forgotten import Receipts
from gitmem.ledger_format import NO_PREV, Line, blob_path, next_clock, seal
from gitmem.lifecycle_rules import Snapshot, next_snapshot
from gitmem.long_text import split_long
from gitmem.plan_notices import plan_mark
from gitmem.records import LIFECYCLE_KINDS, LINKS, Event, Record, record_of, record_ref
from gitmem.spool_file import SpooledTurn
from gitmem.times import format_time
from gitmem.turn_evidence import TurnEvidence
from gitmem.turn_work import TurnWork, WorkSource
from gitmem.work_ref import refs_to_json
from gitmem.work_ref_evidence import derive_refs

#: Of a turn's own record: its events that were refused, as the receipt names them, for the process that told
#: the turn where another one sealed it.
REFUSALS: Final = "refusals"
_MOST_REFUSALS: Final = 100

#: Of a turn's own record as it will be, and its other lines: the records of the episodes that it finishes.
#: The last argument says whether somebody asked for it.
Closing = Callable[[Record, Sequence[Line], bool], Sequence[Event]]


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """Where a writer's chain ends.

    Attributes:
        seq: of the last line; 0 before the first.
        prev: hash of that line's envelope.
        clock: the highest clock known here.
    """

    writer: str
    seq: int = 0
    prev: str = NO_PREV
    clock: str = "0" * 16


@dataclass(frozen=True, slots=True)
class SealedTurn:
    """A turn as lines.

    Attributes:
        turn_index: its number on this line.
        state: how it ended.
        lines: one for each event that was not refused, the turn's own record last.
        blobs: long texts by path.
        snapshots: of the objects that it changed, in order, with whole bodies.
        refused: `{"event", "code"}` of the events that conflict with the ledger.
        added: `{"id", "kind", "source_ref"}` of the records that follow from its events.
        plans: for each work item whose plan may be out of line now, what happened to it (`PlanNotices`).
        end: where the chain ends after it.
    """

    turn: str
    turn_index: int
    state: str
    lines: tuple[Line, ...]
    blobs: Mapping[str, bytes]
    snapshots: tuple[Snapshot, ...]
    refused: tuple[Mapping[str, Any], ...]
    end: ChainEnd
    added: tuple[Mapping[str, str], ...] = ()
    plans: Mapping[str, str] = field(default_factory=dict)

    def kinds(self) -> list[str]:
        """Return the kind of each line, without the turn's own."""
        return [line.kind for line in self.lines[:-1]]


def _closes_nothing(turn: Record, lines: Sequence[Line], asked: bool) -> Sequence[Event]:  # noqa: ARG001
    return ()


def seal_turn(
    turn: SpooledTurn,
    start: ChainEnd,
    *,
    turn_index: int,
    now: float,
    work: WorkSource,
    receipts: Receipts,
    closing: Closing = _closes_nothing,
) -> SealedTurn:
    """Give a spooled turn its place at the end of a chain.

    Args:
        turn: as the spool tells it.
        start: where the chain ends now.
        turn_index: the number to give to it.
        now: seconds since 1970; the day of its segment and blobs.
        work: what is known of work items, tasks and waits.
        receipts: what was forgotten; a record listed there is refused.
        closing: decides which episodes end with the turn. An `episode` event in the spool only asks for that.
    """
    sealer = _Sealer(turn, start, now, work)
    for number, event in enumerate(turn.events):
        if event.kind != "episode":
            sealer.add(number, event, forgotten=event.id in receipts.records)
    sealer.follow(receipts)
    sealer.end_turn(turn, turn_index, closing, receipts)
    return SealedTurn(
        turn.turn,
        turn_index,
        turn.end or "interrupted",
        tuple(sealer.lines),
        sealer.blobs,
        tuple(sealer.snapshots),
        tuple(sealer.refused),
        sealer.end,
        tuple(sealer.added),
        sealer.plans,
    )


class _Sealer:
    """Collects the lines of one turn."""

    def __init__(self, turn: SpooledTurn, start: ChainEnd, now: float, work: WorkSource) -> None:
        self.end = start
        self.lines: list[Line] = []
        self.blobs: dict[str, bytes] = {}
        self.refused: list[Mapping[str, Any]] = []
        self.snapshots: list[Snapshot] = []
        self.added: list[Mapping[str, str]] = []
        self.plans: dict[str, str] = {}
        self._whole: list[Event] = []
        self._turn = turn.turn
        self._now = now
        self._work = TurnWork(work, turn.turn, turn.header, turn.events, is_completed=turn.end == "completed")

    def add(self, number: int, event: Event, *, forgotten: bool) -> None:
        if forgotten:
            self.refused.append({"event": number, "code": "forgotten"})
            return
        try:
            self._add(event)
        except GitmemError as error:
            # It costs only itself: what cannot be sealed now never can, and would hold up all turns after it.
            self.refused.append(
                {"event": number, "code": error.code, "message": error.message, **error.details}
            )

    def follow(self, receipts: Receipts) -> None:
        """Seal what follows from the events; what cannot be, the rules of its object forbid by now."""
        first = len(self.lines)
        for event in self._work.consequences():
            if event.id not in receipts.records:
                with suppress(GitmemError):
                    self._add(event)
        self._tell_added(first)

    def _tell_added(self, first: int) -> None:
        self.added += [
            {"id": line.id, "kind": line.kind, "source_ref": record_ref(line.kind, line.id, line.object)}
            for line in self.lines[first:]
        ]

    def end_turn(self, turn: SpooledTurn, turn_index: int, closing: Closing, receipts: Receipts) -> None:
        body: dict[str, Any] = {"turn_index": turn_index, "end": turn.end or "interrupted"}
        if self.refused:
            body |= {"refused": len(self.refused), REFUSALS: self.refused[:_MOST_REFUSALS]}
        header = turn.header
        if header.get("ts"):
            body["imported"] = True
        # An import's turn ended when it happened, not when it was read.
        ts = header.get("ts") or turn.ended or (turn.events[-1].ts if turn.events else header.get("opened"))
        links = {name: header.get(name) for name in LINKS}
        body |= self._work_fields(Event(turn.turn, "turn", str(ts), body, **links))
        event = Event(turn.turn, "turn", str(ts), body, **links)
        self._close_episodes(event, closing, receipts, asked=any(e.kind == "episode" for e in turn.events))
        try:
            self._add(event)
        except GitmemError:  # a header that a power cut damaged
            self._add(Event(turn.turn, "turn", format_time(self._now), body))

    def _work_fields(self, turn: Event) -> Mapping[str, Any]:
        """Return the work item that the turn belongs to, and what its evidence names."""
        item = self._work.item()
        if item is None:
            return {}
        end = self.end
        own = record_of(turn, turn.id, writer=end.writer, seq=end.seq + 1, clock=end.clock)
        evidence = TurnEvidence(own, tuple(self._records()))
        found = refs_to_json(derive_refs(evidence, item))
        return {"work_item": item, "work_refs": found} if found else {"work_item": item}

    def _records(self) -> Iterator[Record]:
        for line, event in zip(self.lines, self._whole, strict=True):
            record = record_of(event, self._turn, writer=line.writer, seq=line.seq, clock=line.clock)
            yield replace(record, revision=line.revision, status=line.status)

    def _close_episodes(self, event: Event, closing: Closing, receipts: Receipts, *, asked: bool) -> None:
        end = self.end
        turn = Record(
            event.id, "turn", event.ts, event.id, event.body, end.writer, end.seq + 1, end.clock,
            session=event.session, work_item=event.work_item, workspace=event.workspace,
        )  # fmt: skip
        first = len(self.lines)
        for number, episode in enumerate(closing(turn, self.lines, asked), first):
            self.add(number, episode, forgotten=episode.id in receipts.records)
        self._tell_added(first)

    def _add(self, event: Event) -> None:
        ready = self._work.ready(event)
        if ready is None:
            return
        event, envelope = self._snapshot(ready)
        mark = plan_mark(ready)
        if ready.object is not None and mark is not None:
            self.plans[ready.object] = min(mark, self.plans.get(ready.object, mark))
        body, blob = split_long(event.body)
        self._append(replace(event, body=body), envelope, event)
        if blob is not None:
            self.blobs[blob_path(self._now, event.id)] = blob

    def _snapshot(self, event: Event) -> tuple[Event, Mapping[str, Any]]:
        if event.kind not in LIFECYCLE_KINDS or event.object is None:
            return event, {}
        snapshot = next_snapshot(event, self._work.heads(event.kind, event.object))
        envelope = {"revision": snapshot.revision, "status": snapshot.status, "after": snapshot.after}
        return replace(event, body=snapshot.body), envelope

    def _append(self, event: Event, envelope: Mapping[str, Any], whole: Event) -> None:
        clock = next_clock(int(self._now * 1000), self.end.clock)
        line = seal(
            event,
            turn=self._turn,
            writer=self.end.writer,
            seq=self.end.seq + 1,
            clock=clock,
            prev=self.end.prev,
            salt=secrets.token_hex(16),
            **envelope,
        )
        self.lines.append(line)
        self._whole.append(whole)
        self.end = replace(self.end, seq=line.seq, prev=line.envelope_hash, clock=clock)
        if line.object is not None:
            snapshot = Snapshot.of(line, whole.body)
            self.snapshots.append(snapshot)
            self._work.took(whole, snapshot)
