"""The own line under other hands: moved, deleted, damaged, locked, written on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fixtures import commit_all, fsck, git
from turns import Desk, again, check_chains, history, make_desk, put_on_line, ref_file


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home's turn path."""
    return make_desk(tmp_path / "home")


def _edit_writer(desk: Desk, **fields: object) -> None:
    data = json.loads(desk.layout.writer_file.read_bytes())
    desk.layout.writer_file.write_text(json.dumps({**data, **fields}))


@pytest.mark.parametrize("settled", [True, False])
def test_a_deleted_ref_comes_back(desk: Desk, settled: bool) -> None:
    """Deleting a branch is no way to forget."""
    desk.say("one")
    if settled:
        desk.settle()
    git("branch", "-q", "-D", desk.own_ref().removeprefix("refs/heads/"), cwd=desk.layout.root)
    for number, someone in enumerate((desk, again(desk))):
        receipt = someone.recorder.record([{"kind": "message", "role": "user", "text": f"more {number}"}])
        assert any("put back" in warning for warning in receipt.warnings) is (number == 0)
    assert desk.texts() == ["one", "more 0", "more 1"]
    check_chains(desk.ledger)


def test_a_ref_moved_back_returns_and_the_move_is_kept(desk: Desk) -> None:
    """What somebody did is not thrown away, only undone."""
    for text in ("one", "two", "three"):
        desk.say(text)
    desk.settle()
    root = desk.layout.root
    older = git("rev-parse", f"{desk.own_ref()}~1", cwd=root)
    git("update-ref", desk.own_ref(), older, cwd=root)
    other = again(desk)
    other.say("four")
    assert other.texts() == ["one", "two", "three", "four"]
    assert git("for-each-ref", "--format=%(objectname)", "refs/gitmem/rescue", cwd=root) == older


def test_what_somebody_committed_on_the_line_is_set_aside(desk: Desk) -> None:
    """Only gitmem writes there; a file that came in would travel with every push."""
    desk.say("one")
    root = desk.layout.root
    foreign = put_on_line(root, desk.own_ref(), {"README.md": b"x"}, message="mine\n")
    desk.say("two")
    assert history(desk) == ["turn 1: 1 message", "turn 2: 1 message"]
    assert git("for-each-ref", "--format=%(objectname)", "refs/gitmem/rescue", cwd=root) == foreign
    assert "README.md" not in git("ls-tree", "--name-only", desk.own_ref(), cwd=root)


@pytest.mark.parametrize("content", [b"", b"garbage\n", b"\0" * 41, b"ref: nowhere\n", b"1" * 40 + b"\n"])
@pytest.mark.parametrize("settled", [True, False])
def test_a_damaged_ref_goes_to_its_newest_readable_turn(desk: Desk, content: bytes, settled: bool) -> None:
    """A power cut leaves empty or torn refs; no acknowledged turn is lost by it."""
    desk.say("one")
    desk.say("two")
    if settled:
        desk.settle()
    ref_file(desk).write_bytes(content)
    other = again(desk)
    receipt = other.recorder.record([{"kind": "message", "role": "user", "text": "three"}])
    assert receipt.committed
    assert receipt.warnings
    assert other.texts() == ["one", "two", "three"]
    check_chains(other.ledger)
    fsck(desk.layout.root)


def test_a_ref_damaged_while_the_process_lives_is_mended(desk: Desk) -> None:
    """Not only the next open looks."""
    desk.say("one")
    ref_file(desk).write_bytes(b"")
    desk.say("two")
    assert desk.texts() == ["one", "two"]


def test_a_packed_ref_is_the_ref(desk: Desk) -> None:
    """After `git gc` no loose file is left."""
    desk.say("one")
    git("pack-refs", "--all", cwd=desk.layout.root)
    desk.say("two")
    git("gc", "-q", "--prune=now", cwd=desk.layout.root)
    other = again(desk)
    other.say("three")
    assert other.texts() == ["one", "two", "three"]


def test_a_reflog_that_is_gone_is_no_matter(desk: Desk) -> None:
    """What is remembered of the line is enough."""
    desk.say("one")
    ref_file(desk).write_bytes(b"")
    shutil.rmtree(desk.layout.common_dir / "logs")
    other = again(desk)
    other.say("two")
    assert other.texts() == ["one", "two"]


def test_a_line_of_which_nothing_is_left_is_begun_under_another_name(desk: Desk) -> None:
    """Under the old one the chain would begin twice."""
    desk.say("one")
    old = desk.own_ref()
    for pack in (desk.layout.common_dir / "objects" / "pack").iterdir():
        pack.unlink()
    other = again(desk)
    receipt = other.recorder.record([{"kind": "message", "role": "user", "text": "two"}])
    assert receipt.committed
    assert any("new line" in warning for warning in receipt.warnings)
    assert other.own_ref() != old
    assert other.texts() == ["one", "two"]  # the first one was still in the spool


def test_the_lock_of_a_killed_process_is_removed(desk: Desk) -> None:
    """Or no turn would ever be committed again; a lock of git's is waited for and left."""
    desk.say("one")
    lock = ref_file(desk).with_name(ref_file(desk).name + ".lock")
    lock.write_text("gitmem")
    again(desk).say("two")
    lock.write_text("gitmem")
    desk.say("three")
    assert desk.texts() == ["one", "two", "three"]
    assert not lock.exists()


def test_a_lock_of_gits_is_left(desk: Desk) -> None:
    """Somebody is at work there; the turn waits in the spool."""
    desk.say("one")
    lock = ref_file(desk).with_name(ref_file(desk).name + ".lock")
    lock.write_text("1" * 40 + "\n")
    receipt = desk.recorder.record([{"kind": "message", "role": "user", "text": "two"}])
    assert receipt.committed is None
    assert lock.exists()
    lock.unlink()
    desk.say("three")
    assert desk.texts() == ["one", "two", "three"]


def test_a_branch_in_the_way_is_named(desk: Desk) -> None:
    """A file and a folder cannot have one name; the turn waits, and the reason says what to rename."""
    root = desk.layout.root
    commit_all(root, files={"a.md": "a\n"})
    git("branch", "gitmem", cwd=root)
    receipt = desk.recorder.record([{"kind": "message", "role": "user", "text": "one"}])
    assert receipt.committed is None
    assert "refs/heads/gitmem" in (receipt.reason or "")
    git("branch", "-q", "-D", "gitmem", cwd=root)
    desk.say("two")
    assert desk.texts() == ["one", "two"]


def test_a_tampered_line_takes_no_more_turns(desk: Desk) -> None:
    """To write on would hide it; the turns wait in the spool, and the reason is said."""
    desk.say("one")
    ref = desk.own_ref()
    path = next(iter(desk.ledger.segments()))
    message = git("show", "-s", "--format=%B", ref, cwd=desk.layout.root)
    put_on_line(desk.layout.root, ref, {path: b"{}\n"}, message=message)
    receipt = desk.recorder.record([{"kind": "message", "role": "user", "text": "two"}])
    assert receipt.committed is None
    assert "does not hold the line" in (receipt.reason or "")


def test_a_lost_note_of_the_writer_is_read_from_the_ref(desk: Desk) -> None:
    """The ref is the position; the note only saves time."""
    for text in ("one", "two"):
        desk.say(text)
    (desk.layout.private / "last").write_bytes(b"")
    _edit_writer(desk, last=None, checkpoint=None, segment=None, merged="x", number=-1)
    other = again(desk)
    other.say("three")
    assert other.texts() == ["one", "two", "three"]


def test_private_state_that_was_deleted_begins_another_writer(desk: Desk) -> None:
    """The old line stays and is read."""
    desk.say("one")
    desk.settle()
    shutil.rmtree(desk.layout.common_dir / "gitmem")
    other = again(desk)
    other.say("two")
    assert other.texts() == ["one", "two"]
    assert len(other.ledger.tips()) == 2
    assert len(check_chains(other.ledger)) == 2
