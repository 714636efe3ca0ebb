"""When something that failed is tried again."""

from __future__ import annotations

import math

import pytest

from gitmem.duty import Duty, Patience
from gitmem.errors import HomeLocked

PATIENCE = Patience(jitter=lambda: 1.0)


class Work:
    """Does nothing, or fails, and counts."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls = 0
        self.fault: Exception | None = None
        self.duty = Duty("work", self.do, PATIENCE, lambda: self.now)

    def do(self) -> None:
        """Fail if told to."""
        self.calls += 1
        if self.fault:
            raise self.fault


@pytest.fixture
def work() -> Work:
    """Something to do."""
    return Work()


def test_waits_double_up_to_a_limit() -> None:
    """What is busy is left alone, and what is broken does not cost a core."""
    assert [PATIENCE.after(number) for number in (1, 2, 3, 6, 7, 99)] == [0.5, 1, 2, 16, 30, 30]
    assert Patience(jitter=lambda: 0.0).after(1) == pytest.approx(0.375)


def test_a_duty_runs_when_it_is_due(work: Work) -> None:
    """Asked for later it waits, asked for earlier it comes earlier, and once is once."""
    work.duty.run()
    work.duty.ask(10)
    work.duty.ask(5)
    work.duty.ask(7)
    work.duty.run()
    assert work.calls == 0
    work.now = 5
    work.duty.run()
    work.duty.run()
    assert (work.calls, work.duty.due_at) == (1, math.inf)


def test_a_failure_is_kept_and_tried_again_later(work: Work) -> None:
    """A failing duty does not end the watcher, and asking does not make it run before its time."""
    work.fault = RuntimeError("broken")
    work.duty.ask(0)
    work.duty.run()
    assert (work.duty.failures, work.duty.error, work.duty.busy) == (1, work.fault, False)
    work.duty.ask(0)
    work.duty.run()
    assert work.calls == 1
    work.now = 0.5
    work.duty.run()
    assert (work.calls, work.duty.due_at) == (2, 1.5)


def test_a_duty_can_be_put_off(work: Work) -> None:
    """What waits for a quiet moment waits anew when it is not quiet."""
    work.duty.ask(5)
    work.duty.put_off(8)
    work.now = 7
    work.duty.run()
    assert (work.calls, work.duty.due_at) == (0, 8)


def test_success_forgets_the_failures(work: Work) -> None:
    """The next overlap starts with a short wait again."""
    work.fault = HomeLocked("held")
    work.duty.ask(0)
    work.duty.run()
    assert work.duty.busy
    work.fault, work.now = None, 1
    work.duty.run()
    assert (work.duty.failures, work.duty.error, work.duty.due_at) == (0, None, math.inf)
