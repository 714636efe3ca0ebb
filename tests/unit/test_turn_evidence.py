"""The records of a turn, and what belongs to it."""

from __future__ import annotations

from dataclasses import replace

from gitmem.records import Record
from gitmem.turn_evidence import evidence_of

TURN = Record(
    id="turn_000000000000001",
    kind="turn",
    ts="2026-11-30T09:00:00.000Z",
    turn="turn_000000000000001",
    body={"turn_index": 7, "end": "completed"},
    writer="w0123abcd",
    seq=9,
    clock="0" * 16,
)
MESSAGE = replace(TURN, id="msg_000000000000001", kind="message", body={"role": "user", "text": "hi"}, seq=8)


def test_a_turn_has_its_records_in_order() -> None:
    """Its own record tells its number and how it ended."""
    found = evidence_of([MESSAGE, TURN])
    assert found is not None
    assert (found.id, found.index, found.end, found.records) == (TURN.id, 7, "completed", (MESSAGE,))


def test_what_only_stands_beside_it_does_not_belong_to_it() -> None:
    """Neither a record of another turn nor one of another writer is evidence of this one."""
    other = replace(MESSAGE, turn="turn_000000000000002")
    foreign = replace(MESSAGE, writer="w89ef4567")
    found = evidence_of([other, foreign, TURN])
    assert found is not None
    assert found.records == ()


def test_without_its_own_record_there_is_no_turn() -> None:
    """A turn that is cut off proves nothing yet."""
    assert evidence_of([MESSAGE]) is None
    assert evidence_of([TURN, replace(TURN, id="turn_000000000000002")]) is None


def test_a_turns_number_is_a_number() -> None:
    """What a hostile line says instead is unknown, not an error."""
    found = evidence_of([replace(TURN, body={"turn_index": True})])
    assert found is not None
    assert (found.index, found.end) == (0, "interrupted")


def test_redacted_records_prove_nothing() -> None:
    """What was forgotten is not evidence."""
    found = evidence_of([replace(MESSAGE, redacted=True), MESSAGE, TURN])
    assert found is not None
    assert list(found.of_kind("message")) == [MESSAGE]
