"""Compares the scanner with what the published hermes-agent 0.19.0 found in the same texts."""

from __future__ import annotations

from differential.scanner_texts import LET_PASS, NEGATIVES, POSITIVES
from differential.scanners import all_texts, missed_texts, recorded
from gitmem.threats import find_threats


def test_what_hermes_finds_is_found() -> None:
    """Each of its 36 rules hits, whatever white space is between the words (hermes 3.3)."""
    found = recorded()
    assert set(found) == set(all_texts())
    rules = {rule for ids in found.values() for rule in ids["strict"]}
    assert rules >= POSITIVES.keys() - {"invisible", "folded"}
    assert list(missed_texts(lambda text, scope: found[text][scope])) == []


def test_ordinary_texts_pass_there_too() -> None:
    """The neighbours are harmless to Hermes, and what only gitmem lets pass is what is listed."""
    found = recorded()
    assert [text for text in NEGATIVES if found[text]["strict"]] == []
    assert [text for text in LET_PASS if not found[text]["strict"] or find_threats(text)] == []
