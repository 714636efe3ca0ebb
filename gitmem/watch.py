"""The watcher: keeps index and catalog right while files and turn lines change, whoever changes them."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType

from gitmem.changes import Changes
from gitmem.errors import GitmemError, NotAHome
from gitmem.home_place import mark_of
from gitmem.vigil import Outcome, Vigil
from gitmem.watch_parts import Clock, Pace, WatchParts
from gitmem.watch_state import WatchState, watch_lock


class Watcher:
    """Watches one home until it is told to stop; survives that the home is replaced by another copy of it.

    Args:
        open_parts: opens the home; called again when another repository stands in its place.
        pace: how often and how long.
        tell: is given a sentence whenever something begins to be wrong, or is right again.
        clock: for tests.
    """

    def __init__(
        self,
        open_parts: Callable[[], WatchParts],
        *,
        pace: Pace | None = None,
        tell: Callable[[str], object] = lambda _: None,
        clock: Clock | None = None,
    ) -> None:
        self._open_parts = open_parts
        self._pace = pace or Pace()
        self._clock = clock or Clock()
        self._tell = tell
        self._started = self._clock.wall()
        self._stopping = False
        self._give_up_at = -math.inf
        self._changes: Changes | None = None
        self._tokens: SimpleQueue[None] = SimpleQueue()

    def run(self) -> WatchState:
        """Watch until `stop`; return the last word.

        Raises:
            HomeLocked: another watcher watches this work tree.
            NotAHome: there is no home, or it was removed and did not come back.
        """
        parts = self._open_parts()
        while True:
            with self._serving(parts) as vigil:
                self._changes = parts.changes
                parts.changes.start()
                outcome = vigil.run(gives_up=self._clock.monotonic() >= self._give_up_at)
            if outcome == "failing":
                self._give_up_at = self._clock.monotonic() + self._pace.reopen
            again = None if outcome == "stopped" else self._reopen(parts.layout.root, outcome)
            if again is None:
                return vigil.state
            parts = again

    def once(self) -> WatchState:
        """Bring everything up to date and return.

        Raises:
            HomeLocked: a watcher watches this work tree, or what is needed stayed busy.
            Exception: whatever a part failed with; the other parts did their work all the same.
        """
        with self._serving(self._open_parts()) as vigil:
            return vigil.once(self._sleep)

    def stop(self) -> None:
        """Let the round in progress end, then return from `run`; threads and signal handlers may call it."""
        self._stopping = True
        self._tokens.put(None)
        if self._changes is not None:
            self._changes.wake()

    @contextmanager
    def _serving(self, parts: WatchParts) -> Iterator[Vigil]:
        with ExitStack() as stack:
            stack.callback(_quietly, parts.close)
            stack.enter_context(watch_lock(parts.layout))
            stack.callback(parts.changes.stop)
            yield Vigil(
                parts,
                self._pace,
                self._clock,
                started=self._started,
                stopping=lambda: self._stopping,
                tell=self._tell,
            )

    def _reopen(self, root: Path, outcome: Outcome) -> WatchParts | None:
        self._tell("the home was removed or replaced" if outcome == "replaced" else "opening the home anew")
        deadline = self._clock.monotonic() + self._pace.reopen
        before = None
        while not self._stopping:
            mark = mark_of(root, self._clock.wall())
            if mark is not None and mark == before:
                with suppress(GitmemError, OSError):
                    return self._open_parts()
            if self._clock.monotonic() > deadline:
                raise NotAHome("the home was removed and did not come back", path=str(root))
            before = mark
            self._sleep(self._pace.settled)
        return None

    def _sleep(self, seconds: float) -> None:
        with suppress(Empty):
            self._tokens.get(timeout=max(seconds, 0.0))


def watch_until_signal(watcher: Watcher, *, once: bool = False) -> WatchState:
    """Let a watcher run, or do one pass, as a program of its own.

    Raises:
        KeyboardInterrupt: it was stopped by Ctrl-C; it came to its end all the same.
    """
    with stop_on_signals(watcher.stop) as came:
        state = watcher.once() if once else watcher.run()
    if signal.SIGINT in came:
        raise KeyboardInterrupt
    return state


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[list[int]]:
    """Call `stop` on SIGTERM, SIGINT and SIGHUP; a second SIGINT interrupts as usual.

    Yields:
        The list of signals that came. Outside of the main thread, which alone hears signals, it stays empty.
    """
    came: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT and number in came:
            raise KeyboardInterrupt
        came.append(number)
        stop()

    with ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                    stack.callback(signal.signal, number, signal.signal(number, handle))
        yield came


def _quietly(close: Callable[[], object]) -> None:
    with suppress(Exception):  # the home may be gone, and with it whatever closing wants to write
        close()
