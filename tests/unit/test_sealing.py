"""From a spooled turn to lines: a place in the chain for each event that can have one, one for the turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitmem.focus_rules import FocusState
from gitmem.forgotten import Receipts
from gitmem.ledger_format import LAST_CLOCK, NO_PREV, decode
from gitmem.lifecycle_rules import Snapshot
from gitmem.records import Event, parse_event
from gitmem.sealing import ChainEnd, SealedTurn, seal_turn
from gitmem.spool_file import SpooledTurn
from gitmem.wait_rules import Wait

NOW = 1_772_442_000.0
TURN = "turn_0123456789abcde"
START = ChainEnd("w0123abcd")


class NothingKnown:
    """A ledger without objects."""

    def heads(self, kind: str, object_id: str) -> Sequence[Snapshot]:
        """Return none."""
        return ()

    def snapshot(self, kind: str, object_id: str, snapshot_id: str) -> Snapshot | None:
        """Return none."""

    def status(self, kind: str, object_id: str) -> str | None:
        """Return none."""

    def waits(self) -> Sequence[Wait]:
        """Return none."""
        return ()

    def focus(self) -> FocusState:
        """Return nobody's."""
        return FocusState()


def say(text: str, **fields: Any) -> Event:
    """Return an event."""
    return parse_event({"kind": "message", "role": "user", "text": text, **fields}, now=NOW)


def spooled(*events: Event, header: Mapping[str, Any] | None = None) -> SpooledTurn:
    """Return a finished turn."""
    given = {"opened": "2026-03-02T09:00:00.000Z", "session": "s1"} if header is None else header
    return SpooledTurn(TURN, given, events, (), "completed", "2026-03-02T09:00:05.000Z", Path("x"))


def sealed(turn: SpooledTurn, start: ChainEnd = START, forgotten: frozenset[str] = frozenset()) -> SealedTurn:
    """Seal a turn."""
    receipts = Receipts(records=forgotten)
    return seal_turn(turn, start, turn_index=7, now=NOW, work=NothingKnown(), receipts=receipts)


def test_lines_form_one_chain_and_the_turn_ends_it() -> None:
    """Seq, clock and hash follow on from where the chain ended."""
    first = sealed(spooled(say("one"), say("two")))
    assert [line.seq for line in first.lines] == [1, 2, 3]
    assert [line.prev for line in first.lines] == [
        NO_PREV,
        *(line.envelope_hash for line in first.lines[:-1]),
    ]
    second = sealed(spooled(say("three")), first.end)
    assert (second.lines[0].seq, second.lines[0].prev) == (4, first.lines[-1].envelope_hash)
    clocks = [line.clock for line in (*first.lines, *second.lines)]
    assert clocks == sorted(set(clocks))
    end = decode(first.lines[-1])
    assert (end.id, end.kind, end.ts, end.session) == (TURN, "turn", "2026-03-02T09:00:05.000Z", "s1")
    assert end.body == {"turn_index": 7, "end": "completed"}
    assert first.kinds() == ["message", "message"]


def test_equal_texts_have_unequal_digests() -> None:
    """A forgotten text cannot be found by hashing guesses."""
    one, two = sealed(spooled(say("same"), say("same"))).lines[:2]
    assert one.digest != two.digest


def test_a_clock_at_the_end_of_time_stays_there() -> None:
    """A hostile line must not stop all writing."""
    found = sealed(spooled(say("one")), replace(START, clock=LAST_CLOCK))
    assert {line.clock for line in found.lines} == {LAST_CLOCK}
    assert [line.seq for line in found.lines] == [1, 2]


def test_what_was_forgotten_is_refused() -> None:
    """An import, or a turn that waited, does not bring it back."""
    gone, kept = say("gone"), say("kept")
    found = sealed(spooled(gone, kept), forgotten=frozenset({gone.id}))
    assert found.refused == ({"event": 0, "code": "forgotten"},)
    assert [decode(line).body.get("text") for line in found.lines] == ["kept", None]
    assert decode(found.lines[-1]).body["refused"] == 1


@pytest.mark.parametrize(
    "event",
    [
        replace(say("x"), ts="yesterday"),
        replace(say("x"), id="../x"),
        replace(say("x"), kind="a b"),
        Event("task_0123456789abcde", "task", "2026-03-02T09:00:00.000Z", {"status": "running"}),
    ],
    ids=["time", "id", "kind", "task without a name"],
)
def test_what_cannot_be_sealed_costs_only_itself(event: Event) -> None:
    """A spool file that was damaged holds up no other turn."""
    found = sealed(spooled(say("one"), event, say("two")))
    assert [refused["event"] for refused in found.refused] == [1]
    assert [line.seq for line in found.lines] == [1, 2, 3]


@pytest.mark.parametrize("header", [{}, {"session": 7, "ts": "x"}, {"session": "a b", "opened": 1}])
def test_a_damaged_header_still_ends_the_turn(header: Mapping[str, Any]) -> None:
    """The turn's own record is never missing."""
    found = sealed(spooled(say("one"), header=header))
    assert [line.kind for line in found.lines] == ["message", "turn"]
    assert found.lines[-1].id == TURN


def test_an_import_ends_when_it_happened() -> None:
    """Not when it was read."""
    found = sealed(spooled(say("one"), header={"ts": "2023-05-08T13:56:00.000Z"}))
    assert found.lines[-1].ts == "2023-05-08T13:56:00.000Z"


def test_long_texts_go_to_a_file_of_the_day() -> None:
    """One file a record, whatever the number of its long fields."""
    event = say("x" * 20_000, more="y" * 20_000)
    found = sealed(spooled(event))
    assert dict(found.blobs) == {f"ledger/blobs/2026-03/02/{event.id}": b"x" * 20_000 + b"y" * 20_000}
    assert len(found.lines[0].raw) < 8_000
