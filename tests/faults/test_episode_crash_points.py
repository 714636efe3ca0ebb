"""The turn that finishes an episode, killed or failing at every step: one episode, whole, or none yet."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from branches import in_child, status
from episode_checks import faults
from faults.test_turn_crash_points import CHANGES, GROWING, counted

from fixtures import CounterClock, fsck, git, set_identity
from gitmem import AgentHome
from gitmem.episode_closing import EpisodeNotices
from gitmem.episode_facts import EpisodeFacts
from gitmem.episode_file import digest_of

KILLED = 9
DONE = {"kind": "work_item", "action": "complete", "work_item_id": "w1", "report": "Moved."}
LAST = [{"kind": "message", "role": "user", "text": "Done?"}, DONE]


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    """A home with a work item that is about to be completed, closed."""
    root = tmp_path / "seed"
    with AgentHome.init(root, agent="aria", now=CounterClock()) as home:
        set_identity(root)
        create = {"kind": "work_item", "action": "create", "work_item_id": "w1", "objective": "Move it"}
        pick = {"kind": "work_item", "action": "pick", "work_item_id": "w1"}
        home.record([{"kind": "message", "role": "user", "text": "Move it."}, create, pick], session="s1")
    return root


def copy(seed: Path, step: int) -> Path:
    """Return a home of its own for one step."""
    root = seed.with_name(f"home-{step}")
    shutil.copytree(seed, root, symlinks=True)
    return root


def complete(home: AgentHome) -> None:
    """Record the turn that ends it."""
    home.record(LAST, session="s1")


def open_home(root: Path) -> AgentHome:
    """Open a home at the time of its turns, so that no pause comes between them."""
    return AgentHome.open(root, now=CounterClock(1_772_442_500.0))


def check(root: Path, *, whole: bool) -> None:
    """Fail unless the next process finds it finished once, all of it, or not begun and then finished."""
    with open_home(root) as home:
        found = [one for one in home.ledger.find_all(b'"kind":"episode"') if one.kind == "episode"]
        assert len(found) == 1 if whole else len(found) <= 1
        if not found:
            complete(home)
    with open_home(root) as home:
        (record,) = [one for one in home.ledger.find_all(b'"kind":"episode"') if one.kind == "episode"]
        (view,) = home.episodes().episodes
        assert view.state == "final"
        assert digest_of(view.content.encode()) == record.body["sha256"]
        assert faults(EpisodeFacts(home.layout, home.ledger).rows(), record.writer) == []
        assert EpisodeNotices(home.layout).read() == []
        assert home.branch.pending() == []
    commits = git("log", "--format=%s", cwd=root).split("\n")
    assert sum(one.startswith("episode:") for one in commits) == 1
    names = git("show", "--format=", "--name-only", f"{view.tag}^{{commit}}", cwd=root).split("\n")
    assert view.path in names
    assert list((root / "work" / "done").glob("*/plan.md"))
    assert not list((root / "work").glob("2026-*/plan.md"))
    assert git("tag", cwd=root) == view.tag
    assert status(root) == ""
    fsck(root)
    shutil.rmtree(root)


def walk(seed: Path, stride: int) -> int:
    """Kill the turn at each step, and look at what the next process makes of it; return how many."""
    step, killed = 0, True
    while killed:
        root = copy(seed, step)

        def act(root: Path = root, at: int = step) -> None:
            home = open_home(root)

            def die(name: str) -> None:
                os._exit(KILLED)

            with counted(CHANGES, at, die):
                complete(home)
            home.close()

        killed = in_child(act) == KILLED
        check(root, whole=not killed)
        step += stride
    return step


def test_some_steps(seed: Path) -> None:
    """A kill at one step of thirteen."""
    assert walk(seed, 13) > 40


@pytest.mark.slow
def test_every_step(seed: Path) -> None:
    """A kill anywhere leaves it finished once, or not finished at all."""
    assert walk(seed, 1) > 40


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "code"), [(GROWING, errno.ENOSPC), (("fsync",), errno.EIO)], ids=["full", "broken"]
)
def test_a_full_disk(seed: Path, names: tuple[str, ...], code: int) -> None:
    """What could not be written is written by the next process."""
    step, failed = 0, True
    while failed:
        root = copy(seed, step)
        home = open_home(root)

        def fail(name: str) -> None:
            raise OSError(code, os.strerror(code))

        with counted(names, step, fail) as calls, suppress(OSError):
            complete(home)
        failed = calls[0] > step
        home.close()
        check(root, whole=False)
        step += 1
    assert step > 5


@pytest.mark.slow
def test_every_step_of_settling_what_waited(seed: Path) -> None:
    """The branch comes back, and the process that puts the episode there is killed."""
    git("checkout", "-q", "--detach", cwd=seed)
    with open_home(seed) as home:
        complete(home)
    git("switch", "-q", "main", cwd=seed)
    step, killed = 0, True
    while killed:
        root = copy(seed, step)

        def act(root: Path = root, at: int = step) -> None:
            def die(name: str) -> None:
                os._exit(KILLED)

            with counted(CHANGES, at, die):
                open_home(root).close()

        killed = in_child(act) == KILLED
        check(root, whole=True)
        step += 1
    assert step > 20
