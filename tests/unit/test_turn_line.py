"""The turn line: what a turn's commit holds, and when its spool file goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fixtures import CounterClock, commit_all, fsck, git, make_repo
from gitmem.ledger_format import SEGMENT_BYTES, parse_segment_path
from gitmem.subjects import parse_trailers
from gitmem.turn_line import CHECKPOINT_EVERY
from gitmem.writer import read_writer
from turns import Desk, again, check_chains, history, make_desk, ref_file


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home's turn path."""
    return make_desk(tmp_path / "home")


def test_a_turn_is_one_commit_of_ledger_only(desk: Desk) -> None:
    """Nothing of the operator's tree travels with the line."""
    root = desk.layout.root
    commit_all(root, files={"notes/secret.md": "x\n"})
    desk.say("one")
    desk.say("two")
    paths = git("ls-tree", "-r", "--name-only", desk.own_ref(), cwd=root).split("\n")
    assert [bool(parse_segment_path(path)) for path in paths] == [True]
    assert history(desk) == ["turn 1: 1 message", "turn 2: 1 message"]
    assert git("merge-base", "main", desk.own_ref(), cwd=root, check=False) == ""


def test_the_trailers_name_turn_chain_and_home(desk: Desk) -> None:
    """`verify` checks commits by them without tree diffs; only the root names the home."""
    turns = [desk.say("one"), desk.say("two")]
    messages = git("log", "--reverse", "--format=%B%x00", desk.own_ref(), cwd=desk.layout.root).split("\0")[
        :2
    ]
    trailers = [parse_trailers(message.strip("\n")) for message in messages]
    assert [found["Gitmem-Turn"] for found in trailers] == turns
    lines = list(reversed(list(desk.ledger.lines_newest_first())))
    ends = [f"{line.writer}:{line.seq}:{line.envelope_hash}" for line in lines if line.kind == "turn"]
    assert [found["Gitmem-Chain"] for found in trailers] == ends
    assert ["Gitmem-Home" in found for found in trailers] == [True, False]


def test_segments_roll_over_between_turns(desk: Desk) -> None:
    """No turn is split, and what grows stays small."""
    for _ in range(9):
        desk.say("x" * 15_000)
    files = git("ls-tree", "-r", "-l", desk.own_ref(), cwd=desk.layout.root).split("\n")
    sizes = [int(row.split()[3]) for row in files]
    assert len(sizes) == 2
    assert SEGMENT_BYTES <= sizes[0] < SEGMENT_BYTES + 20_000
    for segment in desk.ledger.segments().values():
        assert desk.ledger.segment_lines(segment)[-1].kind == "turn"
    check_chains(desk.ledger)


def test_a_new_day_begins_a_segment(tmp_path: Path) -> None:
    """The day is that of sealing, and the number goes on; a clock set back changes only the day."""
    clock = CounterClock()
    desk = make_desk(tmp_path / "home", clock=clock)
    for back in (86_400, 86_400, -172_800, 0):
        desk.say("x")
        clock.advance(back)
    names = [parse_segment_path(path) for path in desk.ledger.segments()]
    assert sorted((name.number, name.day[-2:]) for name in names if name) == [
        (1, "02"),
        (2, "03"),
        (3, "04"),
        (4, "02"),
    ]
    assert desk.texts() == ["x"] * 4
    check_chains(desk.ledger)


def test_a_clock_set_back_or_far_ahead_keeps_the_order(tmp_path: Path) -> None:
    """Records are read in the order in which they were told, whatever the wall says."""
    clock = CounterClock()
    desk = make_desk(tmp_path / "home", clock=clock)
    texts = [str(number) for number in range(6)]
    for text, jump in zip(texts, (0, 4_000_000_000, -5_000_000_000, 7_200, -1_772_000_000, 0), strict=True):
        desk.say(text)
        clock.advance(jump)
    assert again(desk).texts() == texts
    check_chains(desk.ledger)
    fsck(desk.layout.root)


def test_many_waiting_turns_become_one_pack(desk: Desk) -> None:
    """An import of a hundred turns does not make a hundred packs."""
    for number in range(70):
        with_turn = desk.recorder.open()
        with_turn.message("user", str(number))
        with_turn.spool_only()
    run = desk.line.commit_spooled(wait=1)
    assert len(run.committed) == 70
    assert len(list((desk.layout.common_dir / "objects" / "pack").glob("*.pack"))) == 3
    assert desk.texts() == [str(number) for number in range(70)]
    assert len(history(desk)) == 70
    check_chains(desk.ledger)


def test_packs_stay_few(desk: Desk) -> None:
    """Git and gitmem look into each."""
    for number in range(100):
        desk.say(str(number))
    assert len(list((desk.layout.common_dir / "objects" / "pack").glob("*.pack"))) < 40
    fsck(desk.layout.root)


def test_a_spool_file_goes_once_the_ref_is_durable(desk: Desk) -> None:
    """Until then a power cut could take the ref's move back."""
    for number in range(1, CHECKPOINT_EVERY):
        desk.say(str(number))
        assert len(desk.spool.sealed()) == number
    desk.say("last")
    assert desk.spool.sealed() == []
    assert {path.stat().st_size for path in desk.layout.spool.iterdir()} == {0}  # kept for the next turns
    desk.say("one more")
    desk.settle()
    assert not [*desk.layout.spool.iterdir()]
    state = read_writer(desk.layout.writer_file)
    assert state
    assert state.checkpoint == state.last == git("rev-parse", desk.own_ref(), cwd=desk.layout.root)


def test_a_turn_already_on_the_line_is_not_applied_again(desk: Desk) -> None:
    """The process died between the ref and the mark."""
    desk.say("one")
    (sealed,) = desk.spool.sealed()
    desk.spool.unseal(sealed)
    other = again(desk)
    other.say("two")
    assert other.texts() == ["one", "two"]


def test_a_ref_that_a_power_cut_took_back_is_moved_again(desk: Desk) -> None:
    """Sealed turns wait in the spool just for that."""
    for text in ("one", "two", "three"):
        desk.say(text)
    older = git("rev-parse", f"{desk.own_ref()}~2", cwd=desk.layout.root)
    ref_file(desk).write_text(f"{older}\n")
    (desk.layout.private / "last").unlink()
    _edit_writer(desk, last=older)
    other = again(desk)
    other.say("four")
    assert other.texts() == ["one", "two", "three", "four"]
    assert len(history(desk)) == 4
    check_chains(other.ledger)


def test_an_emptied_spool_file_is_passed_over(desk: Desk) -> None:
    """An import is not durable turn by turn; what a power cut emptied would be a turn of nothing."""
    desk.layout.spool.mkdir(parents=True)
    (desk.layout.spool / "0000000000000001-turn_00000000000000b.turn").write_bytes(b"\0" * 300)
    desk.say("one")
    assert desk.texts() == ["one"]
    assert desk.spool.finished() == []


def _edit_writer(desk: Desk, **fields: object) -> None:
    data = json.loads(desk.layout.writer_file.read_bytes())
    desk.layout.writer_file.write_text(json.dumps({**data, **fields}))


def test_find_stops_where_the_turn_cannot_be(desk: Desk) -> None:
    """A turn that nobody committed is not on the line, and a home without a line has none."""
    assert desk.line.find("turn_000000000000000") is None
    turn = desk.say("one")
    found = desk.line.find(turn)
    assert found
    assert (found.turn_index, found.turn) == (1, turn)
    assert desk.line.find("turn_000000000000000") is None


def test_an_unrelated_repository_is_no_home_of_lines(tmp_path: Path) -> None:
    """Reading needs nothing to be there."""
    desk = Desk(make_repo(tmp_path / "empty"))
    assert desk.texts() == []
    assert desk.line.writer() is None
    desk.settle()
