"""Ancestry over any history and any clocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import ObjectMissing
from gitmem.reachability import first_parents, reaches
from gitmem.repository import Commit

Rows = list[tuple[list[int], int]]


def commits_of(rows: Rows) -> dict[str, Commit]:
    """Return commits: row N has parents among the rows before it and a time of its own."""
    commits = {}
    for number, (parents, when) in enumerate(rows):
        ids = tuple(dict.fromkeys(f"c{parent % number}" for parent in parents)) if number else ()
        commits[f"c{number}"] = Commit(f"c{number}", "t", ids, "a", when, "a", when, "")
    return commits


def read_from(commits: dict[str, Commit], reads: list[str] | None = None):
    """Return a reader that notes what it read."""

    def read(commit_id: str) -> Commit:
        if reads is not None:
            reads.append(commit_id)
        try:
            return commits[commit_id]
        except KeyError:
            raise ObjectMissing(commit_id) from None

    return read


def closure(commits: dict[str, Commit], tip: str) -> set[str]:
    """Return what `tip` reaches, by walking all of it."""
    found, pending = set(), [tip]
    while pending:
        commit = pending.pop()
        if commit not in found:
            found.add(commit)
            pending += commits[commit].parents if commit in commits else ()
    return found


ROWS = st.lists(
    st.tuples(st.lists(st.integers(0, 20), max_size=3), st.integers(0, 9)), min_size=1, max_size=14
)


@given(ROWS, st.integers(0, 13), st.integers(0, 13), st.sets(st.integers(0, 13), max_size=3))
def test_the_answer_is_that_of_a_full_walk(rows: Rows, tip: int, ancestor: int, missing: set[int]) -> None:
    """Merges, several roots, equal and falling times, missing commits: never another answer."""
    commits = commits_of(rows)
    top, wanted = f"c{tip % len(rows)}", f"c{ancestor % len(rows)}"
    for number in missing:
        if f"c{number}" != top:
            commits.pop(f"c{number}", None)
    assert reaches(read_from(commits), top, wanted) is (wanted in closure(commits, top))


def test_shared_history_is_not_walked() -> None:
    """Of two branches that parted lately only the new commits are read."""
    rows: Rows = [([number - 1] if number else [], number) for number in range(1000)]
    rows += [([999], 2000), ([999], 2001), ([1000], 2002)]
    reads: list[str] = []
    assert not reaches(read_from(commits_of(rows), reads), "c1002", "c1001")
    assert len(reads) < 10


def test_a_missing_tip_is_told() -> None:
    """Nothing is known of what is not here; a missing parent only ends its path."""
    commits = commits_of([([], 0), ([0], 1)])
    with pytest.raises(ObjectMissing):
        reaches(read_from(commits), "gone", "c0")
    with pytest.raises(ObjectMissing):
        list(first_parents(read_from(commits), "gone"))
    del commits["c0"]
    assert [commit.id for commit in first_parents(read_from(commits), "c1")] == ["c1"]
    assert reaches(read_from(commits), "c1", "c0")
