"""Judgements as a home remembers them: at once, in every process, and without their texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import new_home

from gitmem import AgentHome
from gitmem.judgement_rules import RETRACT, judgement_body
from gitmem.judgements import Judgements, judgement_event
from gitmem.ledger_text import render_ledger


@pytest.fixture
def home(tmp_path: Path) -> Iterator[AgentHome]:
    """A new home."""
    with new_home(tmp_path / "home") as home:
        yield home


def judgements(home: AgentHome) -> Judgements:
    """Return what a process that begins now knows."""
    return Judgements(home.ledger, home.layout)


def retract(home: AgentHome, text: str, **fields: str) -> str:
    """Say something, take it back; return its ref."""
    with home.turn(session="s1") as turn:
        ref = turn.message("user", text)
    home.retract(ref, by="operator", **fields)
    return ref


def test_nothing_was_judged(home: AgentHome) -> None:
    """The ordinary case."""
    assert judgements(home).find("anything") is None
    assert judgements(home).of("message:msg_000000000000000") is None
    assert judgements(home).retracted() == {}


def test_all_of_it_is_told(home: AgentHome) -> None:
    """By the text and by the ref alike."""
    ref = retract(home, "Port 22", replaced_by="Port 2222", reason="moved")
    found = judgements(home).find("port 22.")
    assert found is not None
    assert found == judgements(home).of(ref)
    assert (found.kind, found.by, found.ref) == ("retracted", "operator", ref)
    assert (found.reason, found.replaced_by) == ("moved", "Port 2222")


def test_a_long_correction_is_told_whole(home: AgentHome) -> None:
    """Long texts stand beside the ledger's lines."""
    long = "word " * 20_000
    ref = retract(home, "Port 22", replaced_by=long)
    found = judgements(home).of(ref)
    assert found is not None
    assert found.replaced_by == long


def test_a_turn_that_waits_counts(home: AgentHome) -> None:
    """An acknowledged turn that is not on its line yet is in the spool."""
    body = judgement_body(RETRACT, by="agent", ref="message:msg_000000000000000", text="Port 22")
    turn = home.turn()
    turn.tell(judgement_event(body, now=0))
    turn.spool_only()
    assert judgements(home).find("Port 22") is not None
    known = judgements(home)
    home.apply_spool(wait=5)
    assert known.find("Port 22") is not None


@pytest.mark.parametrize("damage", ["gone", "torn", "foreign"])
def test_the_file_of_known_judgements_may_go(home: AgentHome, damage: str) -> None:
    """It is a cache: the ledger is read again."""
    for number in range(8):
        retract(home, f"Port {number}")
    assert judgements(home).find("Port 3") is not None
    for file in (home.layout.derived / "facts").glob("judgements*"):
        if damage == "gone":
            file.unlink()
        else:
            file.write_bytes(file.read_bytes()[:40] if damage == "torn" else b"{}")
    assert judgements(home).find("Port 3") is not None


def test_what_others_judge_is_known_at_once(home: AgentHome) -> None:
    """Two processes on one home are ordinary."""
    mine = judgements(home)
    assert mine.find("Port 22") is None
    with AgentHome.open(home.layout.root) as other:
        retract(other, "Port 22")
    assert mine.find("Port 22") is not None


def test_no_text_is_in_the_cache(home: AgentHome) -> None:
    """What is forgotten later must not live on in it."""
    for number in range(8):
        retract(home, f"Port {number}", replaced_by="Instead of it", reason="Because of it")
    judgements(home).find("x")
    kept = b"".join(path.read_bytes() for path in (home.layout.derived / "facts").glob("judgements*"))
    assert b"of it" not in kept


def test_git_shows_it_as_a_sentence(home: AgentHome) -> None:
    """`git log -p` of a turn line reads like a story."""
    ref = retract(home, "Port 22", replaced_by="Port 2222", reason="moved")
    segments = home.ledger.segments().values()
    text = render_ledger(b"".join(home.ledger.read_segment(segment) for segment in segments))
    assert f"the operator judged: retract {ref}, because moved\n    instead: Port 2222" in text
