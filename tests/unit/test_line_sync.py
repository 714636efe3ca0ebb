"""What becomes of turn lines between here and a remote: a rule over commits, without any remote."""

from __future__ import annotations

import pytest

from gitmem.git_objects import make_commit, make_object, make_tree
from gitmem.line_sync import QUIET_SECONDS, judge_incoming, line_names, prunable_lines, stand_of
from gitmem.repository import GitObject
from gitmem.subjects import HOME, format_message
from gitmem.testing.memory_repository import MemoryRepository

HERE = "h0123456789abcde"
WHO = "aria <aria@example.com>"
A, B, C = "w0000000a", "w0000000b", "w0000000c"


class Line:
    """Grows lines of commits in memory."""

    def __init__(self) -> None:
        self.repository = MemoryRepository()
        self.seconds = 1_700_000_000
        self._put(make_tree([]))

    def commit(self, *parents: str, home: str | None = None) -> str:
        """Make a commit; the root of a line names its home."""
        self.seconds += 1
        trailers = [(HOME, home or HERE)] if not parents else []
        message = format_message("turn 1: 1 message", [("Gitmem-Kind", "turn"), *trailers])
        made = make_commit(
            tree=make_tree([]).id,
            parents=list(parents),
            author=WHO,
            committer=WHO,
            seconds=self.seconds,
            message=message,
        )
        return self._put(made)

    def _put(self, item: GitObject) -> str:
        with self.repository.write_pack([item]):
            return item.id

    def blob(self) -> str:
        """Make something that is no commit."""
        return self._put(make_object("blob", b"x"))


@pytest.fixture
def line() -> Line:
    """An empty store."""
    return Line()


def test_only_names_of_writers_are_lines() -> None:
    """Whatever else stands below the prefix is none of gitmem's."""
    refs = {f"refs/heads/gitmem/turns/{name}": "1" * 40 for name in (A, "main", f"{A}/x", "w12")}
    assert [*line_names({**refs, "refs/heads/main": "2" * 40})] == [A]


def test_a_line_comes_if_it_grows(line: Line) -> None:
    """A new one, and one that follows what was known of it; the same one is nothing."""
    root = line.commit()
    tip = line.commit(root)
    found = judge_incoming(line.repository, HERE, {A: tip, B: root, C: root}, {B: root, C: root} | {A: root})
    assert found.moves == {A: (root, tip)}
    assert judge_incoming(line.repository, HERE, {A: tip}, {}).moves == {A: (None, tip)}


def test_a_line_that_does_not_follow_is_refused(line: Line) -> None:
    """Set back, or another one: what was known stays, and both commits are named."""
    root = line.commit()
    tip, other = line.commit(root), line.commit(line.commit(root))
    for changed in (root, other):
        found = judge_incoming(line.repository, HERE, {A: changed}, {A: tip})
        assert found.moves == {}
        assert tip in found.refused[f"gitmem/turns/{A}"]
        assert changed in found.refused[f"gitmem/turns/{A}"]


def test_another_homes_line_and_what_is_no_line_are_ignored(line: Line) -> None:
    """Each costs only itself."""
    lines = {A: line.commit(home="hffffffffffffff"), B: line.blob(), C: line.commit()}
    found = judge_incoming(line.repository, HERE, lines, {})
    assert [*found.moves] == [C]
    assert sorted(found.ignored) == [f"gitmem/turns/{A}", f"gitmem/turns/{B}"]


def test_how_a_line_here_stands_to_the_remotes(line: Line) -> None:
    """The five standings, and a line that the remote needs no more."""
    root = line.commit()
    tip, other = line.commit(root), line.commit(root)
    merged = line.commit(other, tip)
    ask = line.repository.is_ancestor
    assert stand_of(ask, tip, None, []) == "new"
    assert stand_of(ask, tip, None, [merged]) == "contained"
    assert stand_of(ask, tip, tip, []) == "same"
    assert stand_of(ask, tip, root, []) == "ahead"
    assert stand_of(ask, root, tip, []) == "behind"
    assert stand_of(ask, tip, other, []) == "forked"


def test_only_old_and_contained_lines_of_others_are_pruned(line: Line) -> None:
    """W4: its records stand in another line there, its writer has been silent, and it is not ours."""
    old = [line.commit() for _ in range(5)]
    names = [f"w000000{number:02x}" for number in range(5)]
    silent = line.commit()
    newest = line.commit(line.commit(), *old[1:])
    lines = {**dict(zip(names, old, strict=True)), C: silent, A: newest}
    later = line.seconds + QUIET_SECONDS + 1

    def pruned(now: float) -> list[str]:
        return [*prunable_lines(line.repository, lines, [names[1]], now)]

    assert pruned(line.seconds) == []
    assert pruned(later) == names[2:4]  # the first is in no other, the second ours, the last of the newest
