"""Catching up slice by slice until nothing is left: in a process of its own, or beside an open home."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from weakref import WeakSet

from gitmem.index_trouble import IndexTrouble
from gitmem.indexer import Budget, CatchUp

#: What is done at a time beside an open home's own work; closing the home waits for so much at most.
SMALL_SLICE: Final = Budget(seconds=0.2, merged=2048)
#: After a slice, pause for so many times as long as it took: the other half of the time is the program's own.
_PAUSE: Final = 1.0
#: Seconds until the next try while somebody else indexes, and how often.
_BUSY: Final = 0.25
_TRIES: Final = 240
#: After a run that could do nothing, seconds until another may begin; doubled each time up to the other.
_REST: Final = 2.0
_LONGEST_REST: Final = 300.0
#: Seconds to wait for a slice whose disk hangs.
_LONGEST_SLICE: Final = 10.0


def run_to_end(
    step: Callable[[], CatchUp],
    *,
    goes_on: Callable[[], bool],
    wait: Callable[[float], object],
    pause: float = 0.0,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Catch up slice by slice until nothing is left, and return how many documents that were.

    Args:
        step: does one slice.
        goes_on: says before each slice whether it is still wanted.
        wait: lets seconds pass.
        pause: after a slice, as a multiple of the time that it took.
        clock: monotonic seconds.
    """
    indexed = idle = 0
    while idle < _TRIES and goes_on():
        began = clock()
        done = step()
        indexed += done.indexed
        if not done.pending or (done.reasons and not done.busy):
            break
        idle = 0 if done.indexed else idle + 1
        wait(_BUSY if idle else pause * (clock() - began))
    return indexed


class BackgroundIndexing:
    """Catches up in a thread beside the work of an open home, when it is asked to and nobody else does.

    Searches never wait for it. The thread ends when nothing is left. The process neither forks nor ends
    in the middle of a slice.

    Args:
        step: does one slice.
        is_wanted: says whether it is this home's business: asked before each slice.
        trouble: is told what went wrong.
        clock: monotonic seconds.

    Attributes:
        slice: is held while one is done; who holds it is the only one in this process to index.
    """

    def __init__(
        self,
        step: Callable[[], CatchUp],
        *,
        is_wanted: Callable[[], bool],
        trouble: IndexTrouble,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._step = step
        self._is_wanted = is_wanted
        self._trouble = trouble
        self._clock = clock
        self._stopping = threading.Event()
        self._rest = _REST
        self._not_before = clock()
        self.renew_locks()
        with _GUARD:
            _RUNNING.add(self)

    def renew_locks(self) -> None:
        """Begin with no thread, as in a forked process, where there is none whatever was there before."""
        self._guard = threading.Lock()
        self.slice = threading.RLock()
        self._thread: threading.Thread | None = None

    def ask(self) -> None:
        """Begin, unless it is at work, was of no use just now, or is not wanted; return at once."""
        if self._stopping.is_set() or not self._guard.acquire(blocking=False):
            return
        try:
            if not self.is_at_work and self._clock() >= self._not_before and self._is_wanted():
                thread = threading.Thread(target=self._run, name="gitmem-index", daemon=True)
                with suppress(RuntimeError):  # no more threads, or the interpreter ends: the next one asks
                    thread.start()
                    self._thread = thread
        finally:
            self._guard.release()

    @property
    def is_at_work(self) -> bool:
        """Whether there is a thread."""
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        """End for good; return when the slice at work, if any, is done."""
        self._stopping.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_LONGEST_SLICE)

    def wait(self, seconds: float) -> bool:
        """Wait until it is not at work; say whether that is so."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return not self.is_at_work

    def _run(self) -> None:
        indexed = 0
        try:
            indexed = run_to_end(
                self._one_slice, goes_on=self._goes_on, wait=self._stopping.wait, pause=_PAUSE
            )
        except Exception as error:  # noqa: BLE001 - it must not end the program that searches
            what = f"{type(error).__name__}: {error}"
            self._trouble.reason = f"the index cannot be brought up to date: {what}"
        if indexed:
            self._rest = _REST
            return
        self._not_before = self._clock() + self._rest
        self._rest = min(self._rest * 2, _LONGEST_REST)

    def _goes_on(self) -> bool:
        return not self._stopping.is_set() and self._is_wanted()

    def _one_slice(self) -> CatchUp:
        with self.slice:
            return CatchUp() if self._stopping.is_set() else self._step()


_GUARD: Final = threading.Lock()
_RUNNING: Final[WeakSet[BackgroundIndexing]] = WeakSet()
#: Those whose slice the fork that is just under way holds up.
_held: list[BackgroundIndexing] = []


def _before_fork() -> None:
    """Let slices end: what a thread holds while a process forks, nobody in the new process lets go."""
    _GUARD.acquire()
    _held.extend(one for one in _RUNNING if one.is_at_work and one.slice.acquire(timeout=_LONGEST_SLICE))


def _after_fork() -> None:
    while _held:
        _held.pop().slice.release()
    _GUARD.release()


def _after_fork_in_child() -> None:
    _held.clear()
    for one in _RUNNING:
        one.renew_locks()
    _GUARD.release()


def _stop_all() -> None:
    with _GUARD:
        running = list(_RUNNING)
    for one in running:
        one.stop()


atexit.register(_stop_all)
os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
