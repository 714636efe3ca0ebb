"""Segments of a writer, taken one after the other and each in the versions that several lines hold."""

from __future__ import annotations

from gitmem.forgotten import Receipts
from gitmem.ledger_chain import LedgerChains
from gitmem.ledger_format import Line
from ledgers import EVENT, WRITER, chain, join_lines

FIRST, SECOND = (f"ledger/2026-12/01/{WRITER}-000{number}.jsonl" for number in (1, 2))


def told(words: str) -> list[Line]:
    """Return a line for each word."""
    return chain([{**EVENT, "text": word} for word in words.split()])


def rules(*segments: tuple[str, list[Line]]) -> list[str]:
    """Return what is wrong with segments that are taken in this order."""
    chains = LedgerChains(Receipts())
    found = [one for path, lines in segments for one in chains.check(path, join_lines(lines))]
    return [one.rule for one in [*found, *chains.finish()]]


def test_versions_of_a_forked_segment_are_no_lines_twice() -> None:
    """A copied folder begins its next segment sooner, and lines hold it at two lengths: that is legal."""
    one, other = told("a b c d e"), told("a b x y z")
    assert one[:2] == other[:2]
    assert rules((FIRST, one), (SECOND, other[2:4]), (SECOND, other[2:])) == []


def test_lines_of_another_segment_are_lines_twice() -> None:
    """Whatever number their file was given."""
    lines = told("a b c d e")
    assert "duplicate" in rules((FIRST, lines), (SECOND, lines[3:]))
