"""Which branches are turn lines of this home, and what it costs to know that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures import commit_all, git, make_repo
from gitmem.layout import find_layout
from gitmem.lines import Lines
from gitmem.repository import Commit
from turns import Desk, again, make_desk, put_on_line

HERE = "refs/heads/gitmem/turns/w0000000a"
THERE = "refs/remotes/origin/gitmem/turns/w0000000b"
FOREIGN = "refs/remotes/o/gitmem/turns/w0000000c"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with two lines of this home and one of another."""
    root = make_repo(tmp_path / "home")
    put_on_line(root, HERE, {"ledger/x": b"1"})
    put_on_line(root, THERE, {"ledger/x": b"2"})
    put_on_line(root, FOREIGN, {"ledger/x": b"3"}, home_id="hffffffffffffffff")
    return root


def lines_at(root: Path) -> Lines:
    """Return what another process would know."""
    return Desk(root).ledger.lines


def test_lines_are_branches_here_and_at_remotes(root: Path) -> None:
    """A plain clone has them as remote-tracking branches; other names are none of ours."""
    tip = commit_all(root, files={"a.md": "a\n"})
    for name in (
        "refs/heads/gitmem/turns/other",
        "refs/heads/gitmem/turns/w0000000a1",
        "refs/heads/gitmem/x/w0000000a",
        "refs/remotes/origin/turns/w0000000d",
        "refs/remotes/a/b/gitmem/turns/w0000000d",
        "refs/tags/gitmem/turns/w0000000d",
    ):
        git("update-ref", name, tip, cwd=root)
    assert sorted(lines_at(root).tips()) == [HERE, THERE]


def test_packed_lines_are_lines(root: Path) -> None:
    """After `git gc` there are no loose refs."""
    before = lines_at(root).tips()
    git("pack-refs", "--all", cwd=root)
    assert lines_at(root).tips() == before


def test_a_line_of_another_home_is_named(root: Path) -> None:
    """Somebody fetched from the wrong place; nothing of it is read."""
    lines = lines_at(root)
    lines.tips()
    assert dict(lines.foreign()) == {FOREIGN: "hffffffffffffffff"}
    put_on_line(root, FOREIGN, {"ledger/x": b"4"})
    assert sorted(lines.tips()) == [HERE, THERE]
    git("update-ref", "-d", FOREIGN, cwd=root)
    put_on_line(root, FOREIGN, {"ledger/x": b"5"})
    assert len(lines.tips()) == 3
    assert dict(lines.foreign()) == {}


def test_a_line_replaced_by_another_homes_is_noticed(root: Path) -> None:
    """What was checked is a commit, not a name."""
    lines = lines_at(root)
    assert THERE in lines.tips()
    git("update-ref", "-d", THERE, cwd=root)
    put_on_line(root, THERE, {"ledger/x": b"2"}, home_id="hffffffffffffffff")
    assert THERE not in lines.tips()


def test_a_shallow_line_is_taken_for_ours(root: Path, tmp_path: Path) -> None:
    """Its root is not here to say otherwise."""
    put_on_line(root, THERE, {"ledger/x": b"4"})
    clone = tmp_path / "clone"
    git("clone", "-q", "--bare", "--depth", "1", f"file://{root}", str(clone), cwd=tmp_path, check=False)
    git("init", "-q", str(tmp_path / "work"), cwd=tmp_path)
    git("fetch", "-q", "--depth", "1", f"file://{root}", f"{THERE}:{THERE}", cwd=tmp_path / "work")
    assert list(lines_at(tmp_path / "work").tips()) == [THERE]


def test_histories_are_walked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither each turn nor each process pays for the length of other lines, nor for its own."""
    desk = make_desk(tmp_path / "home")
    for number in range(30):
        desk.say(str(number))
    put_on_line(desk.layout.root, THERE, {"ledger/x": b"1"})
    for number in range(10):
        put_on_line(desk.layout.root, THERE, {"ledger/x": str(number).encode()})
    walked: list[str] = []

    def count(of: Desk) -> None:
        real = of.repository.walk_first_parents

        def walk(commit_id: str) -> Iterator[Commit]:
            for commit in real(commit_id):
                walked.append(commit.id)
                yield commit

        monkeypatch.setattr(of.repository, "walk_first_parents", walk)

    count(desk)
    desk.ledger.tips()
    assert len(walked) == 11
    put_on_line(desk.layout.root, THERE, {"ledger/x": b"last"})
    desk.ledger.tips()
    assert len(walked) == 13
    desk.settle()
    other = again(desk)
    count(other)
    other.ledger.tips()
    assert len(walked) == 13


def test_a_damaged_note_costs_only_time(root: Path) -> None:
    """It is derived."""
    lines = lines_at(root)
    lines.tips()
    lines.remember()
    note = find_layout(root).derived / "lines.json"
    assert note.exists()
    for content in (b"{", b"[]", b'{"a":1,"b":[1],"c":["x"]}', b"\xff"):
        note.write_bytes(content)
        assert sorted(lines_at(root).tips()) == [HERE, THERE]
