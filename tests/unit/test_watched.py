"""Which paths of a home are watched."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.git_state import STATES
from gitmem.layout import Layout
from gitmem.watched import GIT_STATES, Area, Scope, is_litter

ROOT = Path("/h/home")
PLAIN = Scope(Layout(ROOT, ROOT / ".git", ROOT / ".git"))
LINKED = Scope(Layout(ROOT, Path("/r/.git/worktrees/home"), Path("/r/.git")))


@pytest.mark.parametrize(
    "path",
    [
        "notes/a.md",
        "notes/x/y/a.md",
        "memory/MEMORY.md",
        "AGENTS.md",
        "gitmem.toml",
        "work/a/plan.md",
        "notes",
        "conflicts",
    ],
)
def test_authored_files_are_watched(path: str) -> None:
    """What people and the agent write is to be found by search."""
    assert PLAIN.area_of(f"/h/home/{path}") is Area.TREE
    assert PLAIN.tree_path(f"/h/home/{path}") == path


@pytest.mark.parametrize(
    "path",
    [
        "notes/4913",
        "notes/a.md~",
        "notes/.a.md.swp",
        "notes/.git/HEAD",
        "notes/.obsidian/workspace.json",
        "notes/#a.md#",
        "notes/.#a.md",
        "notes/a.md___jb_tmp___",
        ".a.md.0123456789ab.part",
        "ledger/2026-12/01/w01234567-0001.jsonl",
        "src/notes/a.md",
        "README.md.orig",
        ".git/index",
        ".git/index.lock",
        ".git/objects/pack/x.pack",
        ".git/gitmem/index/MAIN_1.toc",
        ".git/gitmem/main/spool/turn_1.open",
        ".git/refs/heads/main",
        ".git/refs/heads/gitmem/turns/w01234567.lock",
        ".git/refs/tags/episode/1",
        ".git/COMMIT_EDITMSG",
    ],
)
def test_the_rest_is_noise(path: str) -> None:
    """Nothing that Git, gitmem or an editor does beside wakes the watcher (OPEN-WATCH-06)."""
    assert PLAIN.area_of(f"/h/home/{path}") is None


def test_neighbours_are_not_the_home() -> None:
    """A path that only begins like the home's is another's."""
    assert PLAIN.area_of("/h/home2/notes/a.md") is None
    assert PLAIN.area_of("/h/home") is None


@pytest.mark.parametrize(
    ("path", "area"),
    [
        ("/r/.git/refs/heads/gitmem/turns/w01234567", Area.TURNS),
        ("/r/.git/refs/heads/gitmem", Area.TURNS),
        ("/r/.git/refs/remotes/origin/gitmem/turns/w01234567", Area.TURNS),
        ("/r/.git/packed-refs", Area.TURNS),
        ("/r/.git/gitmem/worktrees/home/spool/0001-turn_1.turn", Area.TURNS),
        ("/r/.git/worktrees/home/HEAD", Area.STATE),
        ("/r/.git/worktrees/home/rebase-merge", Area.STATE),
        ("/r/.git/HEAD", None),
        ("/r/.git/MERGE_HEAD", None),
        ("/r/.git/gitmem/main/spool/0001-turn_1.turn", None),
    ],
)
def test_a_linked_worktree_has_its_own_state_and_shares_the_lines(path: str, area: Area | None) -> None:
    """HEAD and a merge belong to one work tree, branches to all (OPEN-GIT-20)."""
    assert LINKED.area_of(path) is area


@pytest.mark.parametrize(
    ("folder", "entered"),
    [
        ("/h/home/notes", True),
        ("/h/home/notes/x", True),
        ("/h/home/notes/.git", False),
        ("/h/home/node_modules", False),
        ("/h/home/ledger", False),
        ("/h/home/AGENTS.md", False),
        ("/h/home/.git/objects", False),
        ("/h/home/.git/gitmem", True),
        ("/h/home/.git/gitmem/main/spool", True),
        ("/h/home/.git/gitmem/index", False),
        ("/h/home/.git/refs/heads", True),
        ("/h/home/.git/refs/heads/gitmem/turns", True),
        ("/h/home/.git/refs/remotes/origin", True),
        ("/h/home/.git/refs/remotes/origin/main", False),
        ("/h/home/.git/refs/tags", False),
    ],
)
def test_only_folders_with_something_of_the_home_are_entered(folder: str, entered: bool) -> None:
    """Each watched folder takes one of the system's watches, which are limited."""
    assert PLAIN.enters(folder) is entered


def test_litter_is_told_by_its_name() -> None:
    """One rule for the watcher and for who looks at files."""
    assert [is_litter(name) for name in (".x", "x~", "4913", "x.swp")] == [True] * 4
    assert [is_litter(name) for name in ("x.md", "49130", "4913.md", "a~b.md", "#1.md")] == [False] * 5


def test_every_state_of_git_is_watched() -> None:
    """What keeps a commit waiting is heard of when it ends."""
    assert {"HEAD", *dict(STATES)} == GIT_STATES
