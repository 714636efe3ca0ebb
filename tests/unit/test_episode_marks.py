"""What of a turn the boundaries of episodes see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from homes import new_home

from fixtures import CounterClock
from gitmem import AgentHome


@pytest.fixture
def home(tmp_path: Path, clock: CounterClock) -> Iterator[AgentHome]:
    """A home."""
    with new_home(tmp_path / "home", now=clock) as made:
        yield made


def task(status: str) -> dict[str, Any]:
    """Return the event of a task."""
    return {"kind": "task", "task_id": "t1", "status": status}


@pytest.mark.parametrize(
    ("turns", "ended"),
    [
        ([["running"], ["completed"]], True),
        ([["queued"], ["running"], ["failed"]], True),
        ([["running"], ["running"]], False),
        ([["completed"]], True),
        ([["running", "completed"]], False),
    ],
)
def test_a_task_that_comes_back_is_a_boundary(home: AgentHome, turns: list[list[str]], ended: bool) -> None:
    """The end of a task ends an episode (issue 5), its beginning told or not; one within a turn does not."""
    home.record([{"kind": "message", "role": "user", "text": "Build it."}], session="s1")
    for statuses in turns:
        home.record([task(status) for status in statuses], session="s1")
    assert [one.boundary for one in (e.episode for e in home.episodes().episodes)] == ["task_ended"] * ended
