"""Trees of turn lines: what a line moved on from is let go of, what stayed is not read again."""

from __future__ import annotations

from pathlib import Path

from gitmem.line_trees import LineTrees
from turns import Desk, again, make_desk


def read(desk: Desk, trees: LineTrees) -> set[str]:
    """Return the paths that the tips of a home hold."""
    tips = desk.ledger.tips().values()
    return {path for _, tree in trees.read(frozenset(tips)) if tree is not None for path, _ in tree.files}


def test_a_day_that_a_line_moved_on_from_is_let_go_of(tmp_path: Path) -> None:
    """A process that reads after each of its turns holds the days of the tips, not one day for each turn."""
    desk = make_desk(tmp_path / "home")
    trees = LineTrees(desk.repository)
    held = []
    for number in range(40):
        desk.say(str(number))
        assert read(desk, trees) == set(again(desk).ledger.segments())
        held.append(len(trees._folders))
    assert max(held) < 12


def test_reading_after_each_turn_keeps_one_version_of_a_segment(tmp_path: Path) -> None:
    """The last segment grows with each turn: what it was before is not kept beside what it is."""
    desk = make_desk(tmp_path / "home")
    text = "words " * 400
    for _ in range(5):
        desk.say(text)
    for _ in range(10):
        desk.say(text)
        whole = sum(len(desk.ledger.read_segment(one)) for one in desk.ledger.segments().values())
    assert desk.ledger._cached == whole
