"""Changes that a test tells: an in-memory source of hints with fault switches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from gitmem.changes import Hints
from gitmem.watched import is_litter


class ScriptedChanges:
    """Hands on at once what it was told.

    Args:
        sleep: lets time pass while there is nothing to tell; a test's clock goes on there by itself.
    """

    def __init__(self, *, sleep: Callable[[float], object] = time.sleep) -> None:
        self._sleep = sleep
        self._gathered = Hints()
        self._script: deque[Hints | Callable[[], object]] = deque()
        self._started = False
        self._woken = False
        self._dead = False
        self._degraded: str | None = None
        self.starts = 0

    def happen(self, *paths: str, turns: bool = False, state: bool = False) -> None:
        """Let changes happen now, as on a disk: one set between two waits, and no litter in it."""
        if self._started:
            seen = frozenset(path for path in paths if not any(map(is_litter, path.split("/"))))
            self._gathered |= Hints(seen, turns=turns, state=state)

    def tell(self, *steps: Hints | Callable[[], object]) -> None:
        """Let the following waits return these sets one by one; a step that is no set is called."""
        self._script.extend(steps)

    def tell_first(self, *steps: Hints | Callable[[], object]) -> None:
        """Put steps before all that wait already; for a step that wants to go on later."""
        self._script.extendleft(reversed(steps))

    def degrade(self, reason: str | None) -> None:
        """Let the source say that it has to be polled."""
        self._degraded = reason

    def die(self) -> None:
        """Let no hints come any more; the next wait finds out and starts again."""
        self._dead = True

    def start(self) -> None:
        """Begin."""
        self._started, self._dead = True, False
        self.starts += 1

    def stop(self) -> None:
        """End."""
        self._started = False
        self._gathered = Hints()

    def wait(self, timeout: float) -> Hints:
        """Return the next set."""
        if self._started and self._dead:
            self.start()
            return Hints(doubt="the watching thread ended")
        if self._gathered:
            gathered, self._gathered = self._gathered, Hints()
            return gathered
        while self._started and self._script and not self._woken:
            step = self._script.popleft()
            if isinstance(step, Hints):
                return step
            step()
        if not self._woken:
            self._sleep(timeout)
        self._woken = False
        return Hints()

    def wake(self) -> None:
        """Let `wait` return."""
        self._woken = True

    def alive(self) -> bool:
        """Say whether it was started and did not die."""
        return self._started and not self._dead

    def degraded(self) -> str | None:
        """Return what `degrade` was told."""
        return self._degraded
