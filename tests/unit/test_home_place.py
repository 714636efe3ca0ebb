"""Whether a home is still there, and whether what came in its place is whole."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from fixtures import make_repo, write_files
from gitmem.home_place import HomePlace, fresh_index_lock, mark_of
from gitmem.layout import Layout, find_layout
from gitmem.watch_state import watch_lock


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A home with one note."""
    root = make_repo(tmp_path / "home")
    write_files(root, {"gitmem.toml": "", "notes/a.md": "a"})
    return find_layout(root)


def test_a_home_that_stays_is_here(layout: Layout) -> None:
    """Whatever happens in it, its folders are the same."""
    with watch_lock(layout):
        place = HomePlace(layout)
        write_files(layout.root, {"notes/b.md": "b"})
        assert place.look() == "here"


def test_without_its_own_file_it_is_away(layout: Layout) -> None:
    """A checkout of another branch takes the file, half of a removal too."""
    with watch_lock(layout):
        place = HomePlace(layout)
        (layout.root / "gitmem.toml").unlink()
        assert place.look() == "away"


@pytest.mark.parametrize("gone", [".", ".git", ".git/gitmem", ".git/gitmem/watch.lock"])
def test_without_a_folder_it_is_replaced(layout: Layout, gone: str) -> None:
    """The lock file counts as well: numbers of removed folders are given to new ones."""
    with watch_lock(layout):
        place = HomePlace(layout)
        path = layout.root / gone
        path.rename(layout.root.parent / "away")
        assert place.look() == "replaced"


def test_another_copy_is_replaced(layout: Layout) -> None:
    """A clone in its place is another home (OPEN-WATCH-05)."""
    with watch_lock(layout):
        place = HomePlace(layout)
        shutil.copytree(layout.root, layout.root.parent / "copy")
        shutil.rmtree(layout.root)
        (layout.root.parent / "copy").rename(layout.root)
        assert place.look() == "replaced"


def test_a_whole_home_has_a_steady_mark(layout: Layout) -> None:
    """Nobody is putting it there any more."""
    now = time.time()
    assert mark_of(layout.root, now) == mark_of(layout.root, now) is not None


@pytest.mark.parametrize("gone", ["gitmem.toml", ".git", ".git/objects", "."])
def test_half_a_home_has_no_mark(layout: Layout, gone: str) -> None:
    """Opening it would write into a removal or a clone."""
    (layout.root / gone).rename(layout.root.parent / "away")
    assert mark_of(layout.root, time.time()) is None


def test_a_checkout_in_progress_has_no_mark(layout: Layout) -> None:
    """A clone writes its files last, under the index's lock; a leftover lock is not waited for."""
    lock = layout.git_dir / "index.lock"
    lock.touch()
    assert fresh_index_lock(layout, time.time()) == "index.lock"
    assert mark_of(layout.root, time.time()) is None
    os.utime(lock, (time.time() - 3600, time.time() - 3600))
    assert mark_of(layout.root, time.time()) is not None


def test_a_mark_changes_while_something_comes_or_goes(layout: Layout) -> None:
    """Two looks some time apart tell."""
    before = mark_of(layout.root, time.time())
    (layout.root / "notes/a.md").unlink()
    assert mark_of(layout.root, time.time()) != before
