"""Tests of `gitmem.work_turns`: the places of turns; what they find is in the tests of work refs."""

from __future__ import annotations

from typing import Any

import pytest

from gitmem.work_turns import WorkTurns

SEGMENTS: dict[str, list[list[Any]]] = {
    "1": [["w1", "t1", "T1", "c1", "a", 1, False], ["w2", "t2", "T2", "c2", "a", 2, True]],
    "2": [["w1", "t3", "T3", "c3", "a", 3, True]],
}


def turns_in(segments: dict[str, list[list[Any]]]) -> WorkTurns:
    """Return what knows some segments."""
    turns = WorkTurns(segments.get)
    for path, rows in segments.items():
        turns.take(path, rows)
    return turns


def test_turns_are_in_the_order_of_the_ledger() -> None:
    """Whichever segment was read first."""
    turns = turns_in(dict(reversed(SEGMENTS.items())))
    assert [(one.turn, one.path, one.has_refs) for one in turns.of("w1")] == [
        ("t1", "1", False),
        ("t3", "2", True),
    ]
    assert (turns.last_at("w1"), turns.last_at("w2"), turns.last_at("w3")) == ("T3", "T2", "")


def test_a_segment_that_changed_counts_anew() -> None:
    """A turn changes the last segment of its line; what was read of it before is not asked any more."""
    segments = {path: list(rows) for path, rows in SEGMENTS.items()}
    turns = turns_in(segments)
    assert len(turns.of("w1")) == 2
    segments["2"] = [["w2", "t4", "T4", "c4", "a", 4, False]]
    turns.take("2", segments["2"])
    assert [one.turn for one in turns.of("w1")] == ["t1"]
    assert [one.turn for one in turns.of("w2")] == ["t2", "t4"]


def test_work_items_beyond_those_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with the ledger; an item that was put aside is read again."""
    monkeypatch.setattr("gitmem.work_turns._READ", 1)
    turns = turns_in(SEGMENTS)
    for _ in range(2):
        assert [one.turn for one in turns.of("w1")] == ["t1", "t3"]
        assert [one.turn for one in turns.of("w2")] == ["t2"]
