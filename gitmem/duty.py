"""One thing that has to be done again and again: when it is due, and how long to leave it after it failed."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gitmem.errors import ConflictError

#: Failures in a row after which it is named; before, it is an ordinary overlap.
NAMED_AFTER: Final = 3


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait after a failure.

    Attributes:
        first: seconds after the first; doubled with each further one.
        longest: seconds at most.
        jitter: a number from 0 to 1 for each wait, so that two processes do not meet again and again.
    """

    first: float = 0.5
    longest: float = 30.0
    jitter: Callable[[], float] = random.random

    def after(self, failures: int) -> float:
        """Return the seconds to wait after a number of failures in a row."""
        whole = min(self.first * 2.0 ** min(failures - 1, 30), self.longest)
        return whole * (0.75 + self.jitter() / 4)


class Duty:
    """Runs an action when it is due and takes its failures.

    Args:
        name: for people.
        action: what is done.
        patience: how long it is left alone after it failed.
        clock: seconds that only go forward.
    """

    def __init__(
        self,
        name: str,
        action: Callable[[], object],
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.due_at = math.inf
        self.failures = 0
        self.error: Exception | None = None
        self._action = action
        self._patience = patience or Patience()
        self._clock = clock
        self._not_before = -math.inf

    @property
    def busy(self) -> bool:
        """Whether it last failed because something else held what it needs."""
        return isinstance(self.error, ConflictError)

    def ask(self, at: float) -> None:
        """Let it be due at a time, or earlier if it is already; after a failure not before its time."""
        self.due_at = min(self.due_at, max(at, self._not_before))

    def put_off(self, at: float) -> None:
        """Let it be due at a time, though it was due earlier; after a failure not before its time."""
        self.due_at = max(at, self._not_before)

    def run(self) -> None:
        """Do it, if it is due; a failure makes it due again later."""
        if self._clock() < self.due_at:
            return
        self.due_at = math.inf
        try:
            self._action()
        except Exception as error:  # noqa: BLE001 - whatever fails costs only itself
            self.failures += 1
            self.error = error
            self._not_before = self._clock() + self._patience.after(self.failures)
            self.ask(self._not_before)
        else:
            self.failures = 0
            self.error = None
            self._not_before = -math.inf
