"""Objects in memory: bounded, and the last used ones stay."""

from __future__ import annotations

from gitmem.recent_objects import RecentObjects
from gitmem.repository import FILE_MODE, TreeEntry


def test_the_least_recently_used_go_first() -> None:
    """A budget of bytes holds, whatever is read."""
    recent = RecentObjects(budget=100)
    for name in "abc":
        recent.add(name, "blob", b"x" * 40)
    assert recent.get("a") is None
    assert recent.get("b") == ("blob", b"x" * 40)
    recent.add("d", "blob", b"x" * 40)
    assert recent.get("c") is None
    assert recent.get("b") is not None


def test_large_objects_are_not_kept() -> None:
    """One long text does not push out everything else."""
    recent = RecentObjects()
    recent.add("a", "blob", b"small")
    recent.add("b", "blob", b"x" * (1 << 20))
    assert recent.get("a") is not None
    assert recent.get("b") is None


def test_parsed_trees_count_too() -> None:
    """Trees and contents share the budget; the same object is counted once."""
    recent = RecentObjects(budget=1000)
    tree = (TreeEntry("a", FILE_MODE, "1" * 40),) * 4
    for _ in range(10):
        recent.add_entries("t", tree)
        recent.add("a", "blob", b"x" * 100)
    assert recent.entries("t") == tree
    assert recent.get("a") is not None
    recent.add_entries("u", tree)
    assert recent.entries("t") is None
    recent.clear()
    assert (recent.entries("u"), recent.get("a")) == (None, None)
