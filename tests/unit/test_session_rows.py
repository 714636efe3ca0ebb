"""What is kept of a session's lines: who spoke, where, and what its events say; never a word."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitmem.records import Record
from gitmem.session_rows import (
    code_of,
    from_row,
    is_summary,
    meant_titles,
    role_of,
    segment_rows,
    session_of,
    title_key,
)
from ledgers import chain, join_lines


def record(kind: str, **body: Any) -> Record:
    """Return a record of a session."""
    return Record("x_1", kind, "2026-11-30T09:00:00.000Z", "turn_1", body, "w1", 1, "0" * 16, session="s1")


@pytest.mark.parametrize(
    ("kind", "body", "code", "role"),
    [
        ("message", {"role": "user", "text": "words"}, "u", "user"),
        ("message", {"role": "assistant", "text": " \n"}, "A", "assistant"),
        ("message", {"role": "system", "text": "words"}, "s", "system"),
        ("message", {"role": "tool", "text": "words"}, "t", "tool"),
        ("message", {"role": "oracle", "text": ["no text"]}, "S", "system"),
        ("message", {"role": "user", "text": "[CONTEXT SUMMARY]: x"}, "p", "user"),
        ("message", {"role": "assistant", "text": "\n[CONTEXT COMPACTION 3] x"}, "q", "assistant"),
        ("tool_execution", {"tool": "ls"}, "x", "tool"),
    ],
)
def test_codes_and_roles(kind: str, body: dict[str, Any], code: str, role: str) -> None:
    """A letter says who spoke and whether there are words; foreign lines may hold anything."""
    assert code_of(record(kind, **body)) == code
    assert role_of(code) == role


@pytest.mark.parametrize(
    ("event", "code"),
    [("undo", "<"), ("clear", "!"), ("compact", "|"), ("start", "e"), (None, "e"), ([], "e")],
)
def test_event_codes(event: Any, code: str) -> None:
    """Three events change what can be seen."""
    assert code_of(record("session", event=event)) == code


def test_what_a_summary_begins_with() -> None:
    """Only the two beginnings that programs write; speaking of summaries makes none."""
    assert is_summary("[CONTEXT SUMMARY]: of it")
    assert not is_summary("The [CONTEXT SUMMARY]: of it")
    assert not is_summary("[CONTEXT SUMMARY] of it")


def test_titles() -> None:
    """Case, spacing and what stands around it do not make another title; a number makes a continuation."""
    assert title_key(' "The  Plan" ') == title_key("the plan")
    digest, number = title_key("The plan #12")
    assert (digest, number) == (title_key("the plan")[0], 12)
    assert title_key("Issue #12 #2") == (title_key("x")[0] and meant_titles("Issue #12")[1][0], 2)
    assert meant_titles("the plan") == [(digest, None)]
    assert meant_titles("the plan #3")[0] == (digest, 3)
    assert meant_titles(' `" ') == []
    assert title_key("#5") == (title_key("#5")[0], 0)


def test_no_word_is_kept() -> None:
    """What is kept outlives what was forgotten until the next call; so there are no texts in it."""
    told = [
        {"kind": "session", "event": "start", "title": "Quokka plan", "source": " cli ", "session": "s1"},
        {"kind": "message", "role": "user", "text": "quokka secret", "session": "s1"},
        {"kind": "tool_execution", "tool": "ls", "input": "quokka", "output": "quokka"},
        {"kind": "brief", "brief_kind": "result", "text": "quokka", "session": "s1"},
    ]
    kept = segment_rows(join_lines(chain(told)))
    assert "uokka" not in json.dumps(kept)
    part = from_row(kept["s1"])
    assert part.codes == "eu"
    assert (part.events[0].source, part.events[0].title) == ("cli", title_key("Quokka plan"))
    assert part.first == part.last != ""
    assert from_row(kept["turn_00000000000000a"]).codes == "x"


@pytest.mark.parametrize("value", [None, 5, ["s"], {"a": 1}, "no id at all", "x" * 200, "s1"])
def test_odd_values_of_events(value: Any) -> None:
    """Nobody checked what stands in a session event; what cannot be meant is nothing."""
    told = {
        "kind": "session",
        "event": "start",
        "parent": value,
        "source": value,
        "count": value,
        "session": "s1",
    }
    (event,) = from_row(segment_rows(join_lines(chain([told])))["s1"]).events
    assert event.parent == ""
    assert len(event.source) <= 80
    assert event.count == (5 if value == 5 else 1)


def test_turns_without_a_session() -> None:
    """They are named by the turn."""
    assert session_of(record("message")) == "s1"
    alone = Record("x_1", "message", "2026-11-30T09:00:00.000Z", "turn_1", {}, "w1", 1, "0" * 16)
    assert session_of(alone) == "turn_1"
