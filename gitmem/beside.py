"""What goes on beside a watcher, in processes of their own that it begins and ends: sync and maintenance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from gitmem.duty import Duty
from gitmem.sync_pace import next_after
from gitmem.watch_parts import Pace, WatchParts


class Beside:
    """Begins what is due.

    Args:
        parts: of the open home.
        pace: how often.
        now: seconds that only go forward.
        duty: makes a duty of a name and an action.
    """

    def __init__(
        self,
        parts: WatchParts,
        pace: Pace,
        now: Callable[[], float],
        duty: Callable[[str, Callable[[], object]], Duty],
    ) -> None:
        self._parts = parts
        self._pace = pace
        self._now = now
        self._sync = duty("sync", self._begin_sync)
        self._sync_every = 0.0
        self._maintenance = duty("maintenance", self._begin_maintenance)
        self.duties: Final = (self._sync, self._maintenance)

    def start(self) -> None:
        """Let the first look at the repository come a while after the start."""
        self._maintenance.ask(self._now() + next_after(self._pace.census))

    def plan(self) -> None:
        """Let the next sync be due as the setting says, where that has changed."""
        every = self._parts.sync_every()
        if every != self._sync_every:
            self._sync_every = every
            first = next_after(min(every, self._pace.first_sync))
            self._sync.due_at = self._now() + first if every else math.inf

    def end(self) -> None:
        """End what is under way."""
        self._parts.end_sync()
        self._parts.end_maintenance()

    def _begin_sync(self) -> None:
        self._sync.ask(self._now() + next_after(self._sync_every))
        self._parts.begin_sync()

    def _begin_maintenance(self) -> None:
        # Asked for first: what fails is due again all the same.
        self._maintenance.put_off(self._now() + next_after(self._pace.census))
        if self._parts.begin_maintenance():
            self._maintenance.put_off(self._now() + next_after(self._pace.maintenance))
