"""What the watcher takes for a difference."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from fixtures import write_files
from gitmem.changes import Hints
from gitmem.layout import Layout
from gitmem.tree_sight import TreeSight, stat_tree

LATER = 3_000_000_000


class Wall:
    """A wall clock far enough ahead that no file is young, unless a test says so."""

    ahead = LATER

    def __call__(self) -> int:
        """Return nanoseconds."""
        return time.time_ns() + self.ahead


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A tree with two notes."""
    write_files(tmp_path, {"notes/a.md": "a", "notes/x/b.md": "b", ".git/refs/heads/main": ""})
    return tmp_path


@pytest.fixture
def wall() -> Wall:
    """The clock by which files are young or not."""
    return Wall()


@pytest.fixture
def sight(home: Path, wall: Wall) -> TreeSight:
    """A sight that has looked once."""
    sight = TreeSight(Layout(home, home / ".git", home / ".git"), wall)
    sight.look()
    return sight


def test_the_first_look_finds_everything(home: Path) -> None:
    """A watcher that starts knows nothing."""
    sight = TreeSight(Layout(home, home / ".git", home / ".git"))
    assert sight.look().paths == {"notes", "notes/a.md", "notes/x", "notes/x/b.md"}


def test_an_unchanged_tree_has_no_difference(sight: TreeSight, home: Path) -> None:
    """Reading files and writing litter beside them is nothing to act on."""
    (home / "notes/a.md").read_text()
    write_files(
        home, {"notes/4913": "", "notes/a.md~": "", "notes/.a.md.swp": "", "src/x": "", "ledger/x": ""}
    )
    assert sight.look() == Hints()


def test_changes_are_found_without_hints(sight: TreeSight, home: Path) -> None:
    """Where no notification comes, looking is enough (OPEN-WATCH-08)."""
    write_files(home, {"notes/a.md": "changed", "memory/self.md": "new", "AGENTS.md": "new"})
    (home / "notes/x/b.md").unlink()
    assert sight.look().paths == {"notes/a.md", "notes/x/b.md", "memory", "memory/self.md", "AGENTS.md"}
    assert sight.look() == Hints()


def test_a_hint_at_an_unchanged_file_is_dropped(sight: TreeSight, home: Path) -> None:
    """A hint says where to look, not that there is something."""
    assert not sight.look_at(["notes/a.md", "notes", "notes/none.md"])
    write_files(home, {"notes/a.md": "changed"})
    assert sight.look_at(["notes/a.md", "notes/x/b.md"]).paths == {"notes/a.md"}
    assert not sight.look_at(["notes/a.md"])


def test_a_hint_at_a_folder_finds_what_came_and_went_in_it(sight: TreeSight, home: Path) -> None:
    """A folder moved out is one notification for all that was in it (OPEN-WATCH-04)."""
    (home / "notes/x").rename(home / "outside")
    assert sight.look_at(["notes/x"]).paths == {"notes/x", "notes/x/b.md"}
    (home / "outside").rename(home / "notes/x")
    assert sight.look_at(["notes/x"]).paths == {"notes/x", "notes/x/b.md"}
    assert sight.look() == Hints()


def test_a_file_in_place_of_a_folder_is_seen(sight: TreeSight, home: Path) -> None:
    """What was below the folder is gone, too."""
    (home / "notes/x/b.md").unlink()
    (home / "notes/x").rmdir()
    write_files(home, {"notes/x": "a file"})
    assert sight.look_at(["notes/x"]).paths == {"notes/x", "notes/x/b.md"}


def test_very_many_hints_are_one_look(sight: TreeSight, home: Path) -> None:
    """A burst of a thousand files costs no more than a look at everything, and loses nothing beside."""
    names = {f"notes/n{number}.md": "x" for number in range(300)}
    write_files(home, {**names, ".git/refs/heads/gitmem/turns/w0123abcd": "1"})
    assert sight.look_at(names) == Hints(frozenset(names), turns=True)


def test_a_file_that_became_readable_is_seen(sight: TreeSight, home: Path) -> None:
    """What could not be indexed for its permissions is tried again once they change (OPEN-FM-08)."""
    (home / "notes/a.md").chmod(0o600)
    (home / "notes/x").chmod(0o700)
    assert sight.look().paths == {"notes/a.md", "notes/x"}


def test_a_young_file_is_not_trusted(sight: TreeSight, home: Path, wall: Wall) -> None:
    """Within one tick of the clock a file can change twice and look the same; a hint then counts."""
    wall.ahead = 0
    write_files(home, {"notes/a.md": "one"})
    assert sight.look_at(["notes/a.md"]).paths == {"notes/a.md"}
    assert sight.look_at(["notes/a.md"]).paths == {"notes/a.md"}
    wall.ahead = LATER
    sight.look()
    assert not sight.look_at(["notes/a.md"])


def test_whole_seconds_are_distrusted_for_longer(home: Path) -> None:
    """File systems of memory cards date by two seconds."""
    sight = TreeSight(Layout(home, home / ".git", home / ".git"), lambda: 1_700_000_001_000_000_000)
    os.utime(home / "notes/a.md", ns=(0, 1_700_000_000_000_000_000))
    sight.look()
    # ctime has a fraction here, so only its being ahead of the given clock makes the file young.
    assert sight.look_at(["notes/a.md"]).paths == {"notes/a.md"}


def test_turn_lines_and_the_spool_are_seen(sight: TreeSight, home: Path) -> None:
    """Records come from refs, own and fetched, and from finished spool files."""
    git = home / ".git"
    for name in (
        "refs/heads/gitmem/turns/w0123abcd",
        "refs/remotes/origin/gitmem/turns/w0000aaaa",
        "packed-refs",
        "gitmem/main/spool/0001-turn_1.turn",
    ):
        write_files(git, {name: "x"})
        assert sight.look() == Hints(turns=True)
    write_files(git, {"gitmem/main/spool/turn_2.open": "x", "refs/heads/gitmem/turns/w0123abcd.lock": ""})
    write_files(git, {"refs/heads/main": "x", "index": "x"})
    assert sight.look() == Hints()


def test_links_are_seen_and_not_followed(home: Path) -> None:
    """A planted link leads nowhere, and round no circle (OPEN-AGENT-10)."""
    (home / "notes/loop").symlink_to(home / "notes")
    (home / "notes/etc").symlink_to("/etc")
    assert {"notes/loop", "notes/etc"} <= set(stat_tree(home))
    assert not [path for path in stat_tree(home) if path.startswith(("notes/loop/", "notes/etc/"))]


def test_a_very_deep_tree_is_no_trouble(home: Path) -> None:
    """A home that came by sync may nest as deep as it likes."""
    folders = [home / "notes" / "/".join(["d"] * depth) for depth in range(1, 1200)]
    for folder in folders:
        folder.mkdir()
    assert folders[-1].relative_to(home).as_posix() in stat_tree(home)
    for folder in reversed(folders):  # Python's own removal of trees recurses
        folder.rmdir()
