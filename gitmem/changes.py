"""The seam to the file system's notifications: sets of hints, never single events.

A hint says where to look, not what happened there: whoever gets one looks at the files again. A source that
cannot know says *doubt*, which means: look everywhere.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final, Protocol

#: Seconds without a further change after which a set of file changes is handed on, and the most it may wait.
QUIET: Final = 0.06
AT_MOST: Final = 0.3
#: The same for a turn: one turn makes several changes within a few milliseconds.
TURN_QUIET: Final = 0.01
TURN_AT_MOST: Final = 0.05
#: More paths than this in one set are not worth naming.
MOST_PATHS: Final = 4096


@dataclass(frozen=True, slots=True)
class Hints:
    """Where something may have changed since the set before; false when there is nothing to look at.

    Attributes:
        paths: in the home's tree, with slashes; a folder stands for everything below it.
        turns: a turn line moved or a turn was spooled.
        state: HEAD moved or an operation of Git began or ended.
        doubt: why anything may have changed; None if nothing but the above.
        again: names of what could not be indexed and is to be tried again.
    """

    paths: frozenset[str] = frozenset()
    turns: bool = False
    state: bool = False
    doubt: str | None = None
    again: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.paths or self.turns or self.state or self.doubt or self.again)

    def __or__(self, other: Hints) -> Hints:
        """Return both sets as one."""
        return Hints(
            self.paths | other.paths,
            self.turns or other.turns,
            self.state or other.state,
            self.doubt or other.doubt,
            self.again | other.again,
        )

    def without(self, done: Hints) -> Hints:
        """Return what is left of a set when what another one names is done; doubt and state stay."""
        return Hints(
            self.paths - done.paths,
            turns=self.turns and not done.turns,
            doubt=self.doubt,
            again=self.again - done.again,
        )


class Changes(Protocol):
    """A source of hints about one home."""

    def start(self) -> None:
        """Begin to watch. A limit of the system is no error: `degraded` names it from then on."""
        ...

    def stop(self) -> None:
        """End watching; may be called at any time, also twice."""
        ...

    def wait(self, timeout: float) -> Hints:
        """Return the next set of hints, an empty one after `timeout` seconds or after `wake`."""
        ...

    def wake(self) -> None:
        """Let `wait`, the one in progress or the next, return at once; a signal handler may call it."""
        ...

    def alive(self) -> bool:
        """Say whether hints can come: started, and no part of it died."""
        ...

    def degraded(self) -> str | None:
        """Return why hints do not come or not for all changes, so that polling must find them; else None."""
        ...


class HintBuffer:
    """Gathers hints from any thread and hands them on in sets, once it has been quiet for a moment.

    Args:
        clock: seconds that only go forward.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._files = _Pocket(QUIET, AT_MOST)
        self._turns = _Pocket(TURN_QUIET, TURN_AT_MOST)
        # A queue and no condition: it is the one thing that a signal handler may put into while the thread it
        # interrupted is waiting for it.
        self._tokens: SimpleQueue[bool] = SimpleQueue()

    def add(self, hints: Hints) -> None:
        """Take in hints; what is about turns does not wait for the rest."""
        with self._lock:
            now = self._clock()
            fresh = self._turns.add(Hints(turns=True), now) if hints.turns else False
            rest = Hints(hints.paths, state=hints.state, doubt=hints.doubt)
            fresh = (self._files.add(rest, now) if rest else False) or fresh
        if fresh:
            self._tokens.put(False)

    def wake(self) -> None:
        """Let `wait` return with what is ready."""
        self._tokens.put(True)

    def wait(self, timeout: float) -> Hints:
        """Return the hints that are ready, or nothing after `timeout` seconds."""
        end = self._clock() + timeout
        while True:
            now = self._clock()
            hints, ready_at = self._take(now)
            if hints or now >= end:
                return hints
            try:
                woken = self._tokens.get(timeout=max(min(ready_at, end) - now, 0.0))
            except Empty:
                continue
            if woken:
                return self._take(self._clock())[0]

    def clear(self) -> None:
        """Forget everything gathered."""
        with self._lock:
            self._files.take()
            self._turns.take()
            while not self._tokens.empty():
                self._tokens.get()

    def _take(self, now: float) -> tuple[Hints, float]:
        """Return what is ready, and when the rest will be."""
        with self._lock:
            pockets = (self._files, self._turns)
            ready = [pocket.take() for pocket in pockets if pocket.ready_at() <= now]
            return _union(ready), min(pocket.ready_at() for pocket in pockets)


class _Pocket:
    def __init__(self, quiet: float, at_most: float) -> None:
        self._quiet = quiet
        self._at_most = at_most
        self._paths: set[str] = set()
        self._rest = Hints()
        self._first = self._last = math.inf

    def add(self, hints: Hints, now: float) -> bool:
        """Take hints in; say whether they are the first."""
        fresh = self._first == math.inf
        self._first = min(self._first, now)
        self._last = now
        self._paths |= hints.paths
        self._rest |= Hints(turns=hints.turns, state=hints.state, doubt=hints.doubt)
        if len(self._paths) > MOST_PATHS:
            self._paths.clear()
            self._rest |= Hints(doubt=f"more than {MOST_PATHS} changes at once")
        return fresh

    def ready_at(self) -> float:
        return min(self._last + self._quiet, self._first + self._at_most)

    def take(self) -> Hints:
        taken = self._rest | Hints(frozenset(self._paths))
        self._paths.clear()
        self._rest = Hints()
        self._first = self._last = math.inf
        return taken


def _union(sets: list[Hints]) -> Hints:
    union = Hints()
    for hints in sets:
        union |= hints
    return union
