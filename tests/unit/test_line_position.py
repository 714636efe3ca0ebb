"""Where a line stands is read from its tip; what is remembered saves time and is never believed unchecked."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures import git
from gitmem.errors import LedgerCorrupt, ObjectMissing
from gitmem.line_position import LinePosition, read_position
from gitmem.writer import read_writer
from turns import Desk, make_desk, put_on_line


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A line of three turns in two segments."""
    desk = make_desk(tmp_path / "home")
    for text in ("one", "x" * 15_000 * 4, "three"):
        for part in range(0, len(text), 15_000):
            desk.say(text[part : part + 15_000])
    desk.say("y" * 15_000)
    desk.say("last")
    return desk


def position_of(desk: Desk, *, segment: str | None = None, number: int = 0) -> LinePosition:
    """Read the position from the tip."""
    state = read_writer(desk.layout.writer_file)
    assert state
    return read_position(desk.repository, state.writer, state.last, segment=segment, number=number)


def test_a_new_line_stands_nowhere(desk: Desk) -> None:
    """Its first turn has seq 1."""
    position = read_position(desk.repository, "w00000000", None)
    assert (position.tip, position.end.seq, position.number, position.segment) == (None, 0, 0, None)


def test_what_is_remembered_and_what_is_read_agree(desk: Desk) -> None:
    """With the right note, with none, with a wrong one."""
    state = read_writer(desk.layout.writer_file)
    assert state
    assert state.number == len(desk.ledger.segments()) >= 1
    found = [
        position_of(desk, segment=segment, number=number)
        for segment, number in ((state.segment, state.number), (None, 0), ("ledger/x", 9), ("README", 1))
    ]
    last = next(desk.ledger.lines_newest_first())
    for position in found:
        assert (position.end.seq, position.end.prev) == (last.seq, last.envelope_hash)
        assert (position.segment, position.number, position.is_closed) == (state.segment, state.number, False)
        assert position.turn_index == 8


def test_a_tip_without_its_line_is_corrupt(desk: Desk) -> None:
    """To write on would hide that something is gone."""
    ref = desk.own_ref()
    message = git("show", "-s", "--format=%B", ref, cwd=desk.layout.root)
    path = max(desk.ledger.segments())
    content = git("show", f"{ref}:{path}", cwd=desk.layout.root).encode() + b"\n"
    cut = content[: content.rfind(b"\n", 0, -1) + 1]
    tip = put_on_line(desk.layout.root, ref, {path: cut}, message=message)
    with pytest.raises(LedgerCorrupt) as caught:
        read_position(desk.repository, ref[-9:], tip)
    assert caught.value.details["writer"] == ref[-9:]


def test_a_missing_object_is_said(desk: Desk) -> None:
    """It may come back with a fetch."""
    with pytest.raises(ObjectMissing):
        read_position(desk.repository, "w00000000", "1" * 40)


def test_lines_behind_the_chains_end_close_the_segment(desk: Desk) -> None:
    """What a copy of the folder wrote stands there; the next turn begins a segment of its own."""
    ref = desk.own_ref()
    message = git("show", "-s", "--format=%B", ref, cwd=desk.layout.root)
    path = max(desk.ledger.segments())
    content = git("show", f"{ref}:{path}", cwd=desk.layout.root).encode() + b"\n"
    for behind in (b"torn", b'{"ts":"not a line"}\n'):
        tip = put_on_line(desk.layout.root, ref, {path: content + behind}, message=message)
        position = read_position(desk.repository, ref[-9:], tip)
        assert position.segment == path
        assert position.is_closed
