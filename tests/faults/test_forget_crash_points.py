"""Forgetting that is killed at any step: the next process finds it done or not begun, and cleans up."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from branches import in_child
from faults.test_turn_crash_points import CHANGES, counted
from forget_readers import speakers
from homes import new_home

from fixtures import CounterClock, fsck, git
from gitmem import AgentHome
from gitmem.json_view import to_json

KILLED = 9
WORD = "zebrafisch"

pytestmark = pytest.mark.slow


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    """A home that has a word everywhere, closed."""
    root = tmp_path / "seed"
    with new_home(root, now=CounterClock(), operator=True) as home:
        home.record([{"kind": "message", "role": "user", "text": f"The hint is {WORD}."}], session="s1")
        with home.turn(session="s2") as turn:
            turn.message("user", "Which port?")
            turn.message("assistant", f"{WORD} has 2222.")
            turn.tool("bash", "cat", f"{WORD}\n" * 5_000)
        home.entries("memory").add(f"{WORD} is the hint.")
        home.entries("memory").add("The port is 2222.")
        home.note_add("a.md", content=f"# A\n\n{WORD}\n")
        home.session("s1").prompt_block()
        home.episode_close(session="s2")
        home.catch_up()
    return root


def copy(seed: Path, step: int) -> Path:
    """Return a home of its own for one step."""
    root = seed.with_name(f"home-{step}")
    shutil.copytree(seed, root, symlinks=True)
    return root


def test_a_kill_leaves_nothing_half_forgotten(seed: Path) -> None:
    """Whatever the step: forgotten and cleaned once a process opens the home, or whole and forgotten then."""
    step, killed, begun = 0, True, 0
    while killed:
        root = copy(seed, step)
        at = step

        def act() -> None:
            home = AgentHome.open(root)  # noqa: B023 - called at once

            def die(name: str) -> None:
                os._exit(KILLED)

            with counted(CHANGES, at, die):  # noqa: B023
                home.forget_matching(WORD)
            home.close()

        killed = in_child(act) == KILLED
        with AgentHome.open(root) as home:
            in_force = bool(home.ledger.receipts().lines)
            begun += in_force
            if in_force:
                assert speakers(home, root, WORD) == []
                assert home.forget_matching(WORD).unchanged
            else:
                assert not home.forget_matching(WORD).unchanged
                assert speakers(home, root, WORD) == []
            found = home.verify(full=True)
            assert [to_json(one) for one in found.findings if one.severity == "error"] == []
            assert home.entries("memory").texts == ["The port is 2222."]
        assert git("status", "--porcelain", cwd=root) == ""
        fsck(root)
        shutil.rmtree(root)
        step += 4
    assert step > 60
    assert begun > 5
