"""Counting failures of a turn: in this process, or in a file that several share."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.failure_counts import FailureCounts
from gitmem.layout import Layout


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Folders of a home that has none yet."""
    return Layout(tmp_path, tmp_path / ".git", tmp_path / ".git")


@pytest.mark.parametrize("shared", [True, False])
def test_counts_in_a_row_until_reset(layout: Layout, shared: bool) -> None:
    """Each name has its own count; a reset of one leaves the others."""
    counts = FailureCounts(layout)
    assert [counts.add("a", shared=shared) for _ in range(3)] == [1, 2, 3]
    assert counts.add("b", shared=shared) == 1
    counts.reset("a", shared=shared)
    counts.reset("never", shared=shared)
    assert (counts.add("a", shared=shared), counts.add("b", shared=shared)) == (1, 2)


def test_only_shared_ones_are_seen_by_others(layout: Layout) -> None:
    """What a process counts for itself ends with it."""
    first = FailureCounts(layout)
    first.add("a", shared=True)
    first.add("b", shared=False)
    second = FailureCounts(layout)
    assert (second.add("a", shared=True), second.add("b", shared=False)) == (2, 1)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"a": -3}',
        b'{"a": true}',
        b'{"a": "9"}',
        b"[" * 70_000,
        b'{"\\ud800": 1}',
    ],
)
def test_a_damaged_file_counts_nothing(layout: Layout, content: bytes) -> None:
    """It is derived from nothing and worth little: what cannot be read is begun anew."""
    layout.private.mkdir(parents=True)
    (layout.private / "memory-failures.json").write_bytes(content)
    assert FailureCounts(layout).add("a", shared=True) == 1


def test_a_file_that_cannot_be_written_is_no_failure(layout: Layout) -> None:
    """A call is answered even where its failure cannot be counted."""
    layout.private.parent.mkdir(parents=True)
    layout.private.write_text("a file where the folder should be")
    assert FailureCounts(layout).add("a", shared=True) == 1
