"""Agent homes for tests, as `AgentHome.init` makes them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from originals import copy_of

from fixtures import CounterClock, set_identity
from gitmem import AgentHome


def new_home(
    path: Path, agent: str = "aria", *, now: Callable[[], float] = time.time, operator: bool = False
) -> AgentHome:
    """Make an agent home and open it. All homes of one name have one id: they are copies.

    Args:
        path: nothing is there.
        agent: whose home it is.
        now: the wall clock; one that counts goes on as if the home were made now.
        operator: whether an operator is configured.
    """
    make_home(path, agent, now=now, operator=operator)
    return AgentHome.open(path, now=now)


def make_home(
    path: Path, agent: str = "aria", *, now: Callable[[], float] = time.time, operator: bool = False
) -> Path:
    """Make an agent home as `new_home` does, without opening it."""
    if isinstance(now, CounterClock):
        start, step = now.seconds, now.step
        key = ("home", agent, operator, start, step)
        now.seconds = copy_of(key, lambda at: _create(at, agent, operator, CounterClock(start, step)), path)
    else:
        copy_of(("home", agent, operator), lambda at: _create(at, agent, operator, now), path)
    return path


def make_home_to_edit(path: Path) -> Path:
    """Make the agent home of an operator, with a note and two entries."""
    copy_of("home to edit", _create_to_edit, path)
    return path


def _create_to_edit(path: Path) -> None:
    with new_home(path, operator=True) as home:
        home.note_add("a.md", content="# A\n\none\ntwo\nthree\n")
        home.entries("memory").add("Alpha one.")
        home.entries("memory").add("Beta two.")


def _create(path: Path, agent: str, operator: bool, now: Callable[[], float]) -> float:
    AgentHome.create(path, agent, now=now)
    if operator:
        set_identity(path)
    return now.seconds if isinstance(now, CounterClock) else 0.0
