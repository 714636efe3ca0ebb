"""A work tree is removed while turns wait in its spool: another one brings them to its line, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures import commit_all, git
from gitmem.adoption import adopt_spools
from gitmem.file_lock import file_lock
from turns import Desk, check_chains, make_desk


@pytest.fixture
def desks(tmp_path: Path) -> tuple[Desk, Desk]:
    """Two work trees of one home, each with a turn on its line."""
    desk = make_desk(tmp_path / "home")
    commit_all(desk.layout.root, files={"a.md": "a\n"})
    git("worktree", "add", "-q", "--detach", str(tmp_path / "second"), cwd=desk.layout.root)
    second = Desk(tmp_path / "second", desk.recorder.now)
    desk.say("first")
    second.say("second")
    return desk, second


def wait(desk: Desk, text: str) -> None:
    """Finish a turn and leave it in the spool."""
    turn = desk.recorder.open()
    turn.message("user", text)
    turn.spool_only()


def remove(desk: Desk, second: Desk) -> None:
    """Remove the second work tree as people do."""
    second.repository.close()
    git("worktree", "remove", "--force", str(second.layout.root), cwd=desk.layout.root)


def adopt(desk: Desk) -> int:
    """Do what opening a home does."""
    count = adopt_spools(desk.layout, desk.repository, now=desk.recorder.now())
    desk.line.commit_spooled(wait=1)
    return count


def test_what_waits_is_taken_over_once(desks: tuple[Desk, Desk]) -> None:
    """Turns on the removed tree's own line stay there; what was acknowledged only is committed here."""
    desk, second = desks
    wait(second, "waiting")
    dead = second.recorder.open()
    dead.message("user", "dead")
    dead.file.close()
    remove(desk, second)
    assert adopt(desk) == 2
    assert adopt(desk) == 0
    assert sorted(desk.texts()) == ["dead", "first", "second", "waiting"]
    assert not [*second.layout.spool.iterdir()]
    desk.settle()
    check_chains(desk.ledger)


def test_a_living_work_tree_keeps_its_own(desks: tuple[Desk, Desk]) -> None:
    """It commits them itself."""
    desk, second = desks
    wait(second, "waiting")
    assert adopt(desk) == 0
    second.line.commit_spooled(wait=1)
    assert sorted(desk.texts()) == ["first", "second", "waiting"]


def test_a_removed_tree_whose_process_still_writes_is_left(desks: tuple[Desk, Desk]) -> None:
    """Its lock says that it lives."""
    desk, second = desks
    wait(second, "waiting")
    remove(desk, second)
    with file_lock(second.layout.home_lock, wait=0):
        assert adopt(desk) == 0
    assert adopt(desk) == 1


def test_a_line_that_cannot_be_read_is_left_for_later(desks: tuple[Desk, Desk]) -> None:
    """Better late than twice."""
    desk, second = desks
    wait(second, "waiting")
    ref = second.own_ref()
    tip = git("rev-parse", ref, cwd=desk.layout.root)
    remove(desk, second)
    (desk.layout.common_dir / ref).write_text("garbage\n")
    assert adopt(desk) == 0
    (desk.layout.common_dir / ref).write_text(f"{tip}\n")
    assert adopt(desk) == 1


def test_a_home_without_linked_trees_has_nothing_to_adopt(tmp_path: Path) -> None:
    """Which is most of them."""
    assert adopt(make_desk(tmp_path / "home")) == 0
