"""How long things take, and turns to take time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem import AgentHome


def timed(action: Callable[[], object]) -> float:
    """Return the seconds that an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def record(home: AgentHome, events: list[dict[str, object]]) -> None:
    """Record a turn."""
    with home.turn(session="s1") as turn:
        for event in events:
            turn.add(event)
