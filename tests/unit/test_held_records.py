"""Tests of how often records of other writers are judged; what is held is in the tests of quarantine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gitmem.findings import Finding
from gitmem.held_records import HeldRecords
from ledgers import WRITER, chain, join_lines
from turns import Desk, make_desk, put_on_line

LINE = "refs/remotes/origin/gitmem/turns/w0000000a"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home that knows three messages of another machine, one of them refused."""
    desk = make_desk(tmp_path / "home")
    told = [{"kind": "message", "role": "user", "text": text} for text in ("one", "bad", "three")]
    put_on_line(desk.layout.root, LINE, {f"ledger/2026-11/30/{WRITER}-0001.jsonl": join_lines(chain(told))})
    return desk


class Judge:
    """Refuses a word; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, text: str, scope: str) -> Sequence[Finding]:
        """Return what is wrong with a text."""
        self.asked.append(text)
        return [Finding("rule", scope, "It is bad.", 0, 3)] if "bad" in text else []


def test_what_comes_again_in_every_record_is_judged_once(desk: Desk) -> None:
    """The names of fields and who speaks are clean once and for all; a refused text is refused each time."""
    judge, allowed = Judge(), [frozenset({"a"})]
    records = HeldRecords(desk.layout, desk.ledger, judge, lambda: allowed[0])
    held, left = records.items(lambda: True)
    assert ([one.rules for one in held], left) == ([("rule",)], 0)
    assert (judge.asked.count("role"), judge.asked.count("user")) == (1, 1)
    assert records.refuses({"role": "user", "text": "bad"})
    assert records.refuses({"other": "bad"})
    assert (judge.asked.count("role"), judge.asked.count("bad")) == (1, 3)


def test_other_exceptions_judge_anew(desk: Desk) -> None:
    """What is clean under one list of exceptions may not be under another."""
    judge, allowed = Judge(), [frozenset({"a"})]
    records = HeldRecords(desk.layout, desk.ledger, judge, lambda: allowed[0])
    records.items(lambda: True)
    allowed[0] = frozenset()
    records.items(lambda: True)
    assert judge.asked.count("role") == 2
