"""A kill at every single step of writing a turn's pack and moving its ref."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from contract.repository_contract import LINE, WHO, commit_of
from fixtures import fsck, make_repo
from gitmem.backends.dulwich_repository import DulwichRepository, open_repository
from gitmem.git_objects import make_object, make_tree
from gitmem.layout import find_layout
from gitmem.pack_files import stale_files
from gitmem.repository import ABSENT, FILE_MODE, GitObject, TreeEntry

#: Every call by which gitmem changes what is on the disk.
STEPS = ("open", "link", "write", "fsync", "rename", "replace", "unlink", "mkdir", "chmod", "fchmod")
KILLED = 42


def turn_of(parents: list[str], number: int) -> list[GitObject]:
    """Return the objects of a turn, its commit last."""
    blob = make_object("blob", b"turn %d\n" % number)
    tree = make_tree([TreeEntry("a", FILE_MODE, blob.id)])
    return [blob, tree, commit_of(tree, *parents, message=f"turn {number}\n")]


def write_turn(repository: DulwichRepository, old: str, objects: list[GitObject]) -> None:
    """Write a turn and move the line."""
    with repository.write_pack(objects):
        repository.move_ref(LINE, old=old, new=objects[-1].id, message="turn", who=WHO)
    repository.settle_refs()


def killed_at(step: int, work: Callable[[], None]) -> bool:
    """Do something in a child process that is killed before one of its steps; say whether it got so far."""
    child = os.fork()
    if child == 0:
        left = step

        def counted(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **more: Any) -> Any:
                nonlocal left
                if left == 0:
                    os._exit(KILLED)
                left -= 1
                return real(*args, **more)

            return call

        for name in STEPS:
            setattr(os, name, counted(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED


@pytest.mark.parametrize(
    "first",
    [pytest.param(True, id="first turn", marks=pytest.mark.slow), pytest.param(False, id="later turn")],
)
def test_a_kill_anywhere_leaves_the_old_or_the_new_turn(tmp_path: Path, first: bool) -> None:
    """The line names a whole commit, nothing stays locked or kept, and the same turn goes through again."""
    step = 0
    while True:
        repo = make_repo(tmp_path / f"{step}")
        layout = find_layout(repo)
        repository = open_repository(layout)
        objects = turn_of([], 1)
        old = ABSENT
        if not first:
            write_turn(repository, old, objects)
            old = objects[-1].id
            objects = turn_of([old], 2)
        repository.config("core.bare")
        if not killed_at(step, partial(write_turn, repository, old, objects)):
            break
        check_after_kill(repo, old, objects)
        repository.close()
        step += 1
    repository.close()
    assert step > 20


def check_after_kill(repo: Path, old: str, objects: list[GitObject]) -> None:
    """Open the repository as the next process does, and write the turn if it is not there."""
    lock = repo / ".git" / f"{LINE}.lock"
    if lock.exists() and lock.read_bytes() == b"gitmem":
        lock.unlink()  # the next holder of the home's lock does that
    fresh = open_repository(find_layout(repo))
    now = fresh.read_ref(LINE) or ABSENT
    assert now in (old, objects[-1].id)
    fsck(repo)
    if now == old:
        write_turn(fresh, old, objects)
    for item in objects:
        fresh._recent.clear()
        assert fresh.read(item.id) == (item.kind, item.content)
    assert stale_files(repo / ".git" / "objects" / "pack") == []
    assert not list((repo / ".git" / "objects" / "pack").glob("*.keep"))
    fsck(repo)
    fresh.close()
