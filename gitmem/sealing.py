"""From a spooled turn to ledger lines: place in the chain, long texts apart, snapshots of objects."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitmem.errors import GitmemError
from gitmem.forgotten import Receipts
from gitmem.ledger_format import NO_PREV, Line, blob_path, next_clock, seal
from gitmem.lifecycle_rules import Snapshot, next_snapshot
from gitmem.long_text import split_long
from gitmem.records import LIFECYCLE_KINDS, LINKS, Event
from gitmem.spool_file import SpooledTurn
from gitmem.times import format_time

Heads = Callable[[str, str], Sequence[Snapshot]]


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
        snapshots: the last one of each object that it changed, with its whole body.
        refused: `{"event", "code"}` of the events that conflict with the ledger.
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

    def kinds(self) -> list[str]:
        """Return the kind of each line, without the turn's own."""
        return [line.kind for line in self.lines[:-1]]


def seal_turn(
    turn: SpooledTurn, start: ChainEnd, *, turn_index: int, now: float, heads_of: Heads, receipts: Receipts
) -> SealedTurn:
    """Give a spooled turn its place at the end of a chain.

    Args:
        turn: as the spool tells it.
        start: where the chain ends now.
        turn_index: the number to give to it.
        now: seconds since 1970; the day of its segment and blobs.
        heads_of: the snapshots of an object (kind, id) that no other snapshot names.
        receipts: what was forgotten; a record listed there is refused.
    """
    sealer = _Sealer(turn.turn, start, now, heads_of)
    for number, event in enumerate(turn.events):
        sealer.add(number, event, forgotten=event.id in receipts.records)
    sealer.end_turn(turn, turn_index)
    return SealedTurn(
        turn.turn,
        turn_index,
        turn.end or "interrupted",
        tuple(sealer.lines),
        sealer.blobs,
        tuple(sealer.snapshots.values()),
        tuple(sealer.refused),
        sealer.end,
    )


class _Sealer:
    """Collects the lines of one turn."""

    def __init__(self, turn: str, start: ChainEnd, now: float, heads_of: Heads) -> None:
        self.end = start
        self.lines: list[Line] = []
        self.blobs: dict[str, bytes] = {}
        self.refused: list[Mapping[str, Any]] = []
        self._turn = turn
        self._now = now
        self._heads_of = heads_of
        self.snapshots: dict[tuple[str, str], Snapshot] = {}

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

    def end_turn(self, turn: SpooledTurn, turn_index: int) -> None:
        body: dict[str, Any] = {"turn_index": turn_index, "end": turn.end or "interrupted"}
        if self.refused:
            body["refused"] = len(self.refused)
        header = turn.header
        # An import's turn ended when it happened, not when it was read.
        ts = header.get("ts") or turn.ended or (turn.events[-1].ts if turn.events else header.get("opened"))
        links = {name: header.get(name) for name in LINKS}
        try:
            self._add(Event(turn.turn, "turn", str(ts), body, **links))
        except GitmemError:  # a header that a power cut damaged
            self._add(Event(turn.turn, "turn", format_time(self._now), body))

    def _add(self, event: Event) -> None:
        event, envelope = self._snapshot(event)
        body, blob = split_long(event.body)
        self._append(replace(event, body=body), envelope, event)
        if blob is not None:
            self.blobs[blob_path(self._now, event.id)] = blob

    def _snapshot(self, event: Event) -> tuple[Event, Mapping[str, Any]]:
        if event.kind not in LIFECYCLE_KINDS or event.object is None:
            return event, {}
        own = self.snapshots.get((event.kind, event.object))
        heads = [own] if own is not None else self._heads_of(event.kind, event.object)
        snapshot = next_snapshot(event, heads)
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
        self.end = replace(self.end, seq=line.seq, prev=line.envelope_hash, clock=clock)
        if line.object is not None:
            self.snapshots[line.kind, line.object] = Snapshot.of(line, whole.body)
