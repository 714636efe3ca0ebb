"""Catching up slice by slice: when it goes on, when it ends, and what it never does to a program."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from gitmem.index_runs import BackgroundIndexing, run_to_end
from gitmem.index_trouble import IndexTrouble
from gitmem.indexer import CatchUp

LEFT = CatchUp(indexed=1, pending=1)
BUSY = CatchUp(pending=1, busy=True, reasons=("another process is indexing",))
REFUSED = CatchUp(pending=1, reasons=("the index cannot be written",))
DONE = CatchUp(indexed=1)
NOTHING = CatchUp()
#: Seconds after which a thread that should have ended counts as stuck.
LONG = 30.0


@dataclass
class Work:
    """Gives one report after another, the last for ever; a gate holds it in the middle of a slice."""

    reports: list[CatchUp]
    slices: int = 0
    begun: threading.Event = field(default_factory=threading.Event)
    gate: threading.Event = field(default_factory=threading.Event)
    now: float = 0.0
    is_wanted: bool = True
    trouble: IndexTrouble = field(default_factory=IndexTrouble)

    def step(self) -> CatchUp:
        """Do one slice."""
        self.slices += 1
        self.begun.set()
        assert self.gate.wait(LONG)
        return self.reports.pop(0) if len(self.reports) > 1 else self.reports[0]

    def background(self, step: Callable[[], CatchUp] | None = None) -> BackgroundIndexing:
        """Return what does it in a thread."""
        return BackgroundIndexing(
            step or self.step,
            is_wanted=lambda: self.is_wanted,
            trouble=self.trouble,
            clock=lambda: self.now,
        )


@pytest.fixture
def open_gate() -> Iterator[Callable[[Work], Work]]:
    """Let slices pass, at the end of the test in any case."""
    works: list[Work] = []

    def opened(work: Work) -> Work:
        works.append(work)
        work.gate.set()
        return work

    yield opened
    for work in works:
        work.gate.set()


@pytest.mark.parametrize(
    ("reports", "slices"),
    [
        ([NOTHING], 1),
        ([LEFT, LEFT, DONE], 3),
        ([BUSY, LEFT, BUSY, DONE], 4),
        ([REFUSED], 1),
        ([BUSY], 240),
    ],
)
def test_a_run_ends_when_nothing_is_left_or_nothing_can_be_done(reports: list[CatchUp], slices: int) -> None:
    """It goes on behind whoever else indexes for a while, and never where the index cannot be written."""
    work = Work(list(reports))
    work.gate.set()
    waited: list[float] = []
    run_to_end(work.step, goes_on=lambda: True, wait=waited.append, clock=lambda: 0.0)
    assert work.slices == slices
    assert len(waited) == (slices if reports == [BUSY] else slices - 1)


def test_a_run_ends_when_it_is_overtaken() -> None:
    """A watcher that begins meanwhile does the rest."""
    work = Work([LEFT])
    work.gate.set()
    assert run_to_end(work.step, goes_on=lambda: work.slices < 3, wait=lambda _: None) == 3


def test_one_thread_at_a_time_and_none_afterwards(open_gate: Callable[[Work], Work]) -> None:
    """Many searches at once start one thread; it ends with the last slice."""
    work = Work([LEFT, DONE])
    background = work.background()
    background.ask()
    assert work.begun.wait(LONG)
    for _ in range(20):
        background.ask()
    open_gate(work)
    assert background.wait(LONG)
    assert work.slices == 2


def test_no_thread_where_it_is_not_wanted() -> None:
    """A watcher, another owner, a home that cannot be written: nothing is tried."""
    work = Work([DONE], is_wanted=False)
    background = work.background()
    background.ask()
    assert not background.is_at_work
    assert work.slices == 0


def test_stopping_waits_for_the_slice_at_work_only(open_gate: Callable[[Work], Work]) -> None:
    """Closing a home returns with the slice, however much is left, and nothing begins afterwards."""
    work = Work([LEFT])
    background = work.background()
    background.ask()
    assert work.begun.wait(LONG)
    threading.Timer(0.05, work.gate.set).start()
    background.stop()
    assert not background.is_at_work
    assert work.slices == 1
    background.ask()
    assert not background.is_at_work
    open_gate(work)


def test_an_error_is_told_and_the_next_try_comes_later(open_gate: Callable[[Work], Work]) -> None:
    """What nobody foresaw ends neither the program nor the trying, and does not come with every search."""
    work = open_gate(Work([DONE]))
    failing = [True, True, False]

    def step() -> CatchUp:
        if failing.pop(0):
            raise ZeroDivisionError("odd")
        return work.step()

    background = work.background(step)
    for moment, left in ((0.0, 2), (1.0, 2), (2.5, 1), (4.0, 1), (7.0, 0)):
        work.now = moment
        background.ask()
        assert background.wait(LONG)
        assert len(failing) == left
    assert work.trouble.reason == "the index cannot be brought up to date: ZeroDivisionError: odd"
    assert work.slices == 1


def test_a_fork_waits_for_the_slice_and_the_child_begins_anew(open_gate: Callable[[Work], Work]) -> None:
    """A lock that a thread holds while its process forks is never let go in the new process."""
    work = Work([LEFT])
    background = work.background()
    background.ask()
    assert work.begun.wait(LONG)
    threading.Timer(0.05, work.gate.set).start()
    child = os.fork()
    if child == 0:
        is_free = background.slice.acquire(blocking=False) and not background.is_at_work
        os._exit(0 if is_free else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert background.is_at_work
    background.stop()
    open_gate(work)


def test_the_program_ends_behind_a_slice() -> None:
    """A thread that is at work does not keep a program that ends, and its slice comes to its end."""
    code = """
import sys, threading, time
from gitmem.index_runs import BackgroundIndexing
from gitmem.index_trouble import IndexTrouble
from gitmem.indexer import CatchUp
begun = threading.Event()
def step():
    begun.set()
    time.sleep(0.1)
    print("whole", flush=True)
    return CatchUp(indexed=1, pending=1)
background = BackgroundIndexing(step, is_wanted=lambda: True, trouble=IndexTrouble())
background.ask()
begun.wait()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LONG, check=True
    )
    assert (done.stdout, done.stderr) == ("whole\n", "")
