"""A memory call that is killed, or that meets a full disk, at any step: the old entries or the new ones."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from branches import in_child
from faults.test_turn_crash_points import CHANGES, GROWING, counted

from fixtures import fsck, git
from gitmem import AgentHome
from gitmem.entries import parse_store

KILLED = 9
PATH = "memory/MEMORY.md"
OLD = ["one", "two"]
NEW = ["one", "2"]

pytestmark = pytest.mark.slow


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    """A home with two entries, closed."""
    with AgentHome.init(tmp_path / "seed", agent="aria") as home:
        home.memory(operations=[{"action": "add", "content": text} for text in OLD])
    return tmp_path / "seed"


def copy(seed: Path, step: int) -> Path:
    """Return a home of its own for one step."""
    root = seed.with_name(f"home-{step}")
    shutil.copytree(seed, root, symlinks=True)
    return root


def texts(root: Path) -> list[str]:
    """Return the entries on disk."""
    return [entry.text for entry in parse_store((root / PATH).read_text("utf-8"))]


def check(root: Path, expected: list[list[str]]) -> None:
    """Fail unless the next process finds one of the states, whole, committed and recorded once."""
    with AgentHome.open(root) as home:
        found = texts(root)
        assert found in expected
        assert home.memory("add", content="after").success
        assert texts(root) == [*found, "after"]
        home.apply_spool(wait=5.0)
        records = [line for line in home.ledger.lines_newest_first() if line.kind == "memory"]
        assert len(records) == len({line.id for line in records}) == (3 if found == NEW else 2)
    assert git("status", "--porcelain", cwd=root) == ""
    assert not list((root / "memory").glob(".*"))
    fsck(root)
    shutil.rmtree(root)


def test_a_kill_leaves_the_old_or_the_new(seed: Path) -> None:
    """Whatever the step, no entry is lost, none comes twice, and nothing is left lying about."""
    step, killed = 0, True
    while killed:
        root = copy(seed, step)
        at = step

        def act() -> None:
            home = AgentHome.open(root)  # noqa: B023 - called at once

            def die(name: str) -> None:
                os._exit(KILLED)

            with counted(CHANGES, at, die):  # noqa: B023
                home.memory("replace", content="2", old_text="two")
            home.close()

        killed = in_child(act) == KILLED
        check(root, [OLD, NEW] if killed else [NEW])
        step += 3
    assert step > 40


@pytest.mark.parametrize(
    ("names", "code"),
    [(GROWING, errno.ENOSPC), (("fsync",), errno.EIO)],
    ids=["full", "broken"],
)
def test_a_full_disk_leaves_the_old_or_the_new(seed: Path, names: tuple[str, ...], code: int) -> None:
    """Where the disk is full the call raises or waits; what it acknowledged is there, and so is the rest."""
    step, failed = 0, True
    while failed:
        root = copy(seed, step)
        home = AgentHome.open(root)
        reply = None

        def fail(name: str) -> None:
            raise OSError(code, os.strerror(code))

        with counted(names, step, fail) as calls, suppress(OSError):
            reply = home.memory("replace", content="2", old_text="two")
        failed = calls[0] > step
        home.close()
        check(root, [NEW] if reply is not None and reply.success else [OLD, NEW])
        step += 1
    assert step > 5
