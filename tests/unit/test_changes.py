"""How single hints become sets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from gitmem.changes import AT_MOST, MOST_PATHS, QUIET, TURN_AT_MOST, TURN_QUIET, HintBuffer, Hints


class Clock:
    """Time that only a test lets pass."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def saved(*paths: str) -> Hints:
    """Return hints at files."""
    return Hints(frozenset(paths))


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture
def buffer(clock: Clock) -> HintBuffer:
    """An empty buffer."""
    return HintBuffer(clock)


def test_hints_add_up() -> None:
    """Nothing is lost when sets are put together, and the first doubt is the one that is named."""
    one = Hints(frozenset({"a"}), turns=True, doubt="first")
    other = Hints(frozenset({"b"}), state=True, doubt="second")
    assert one | other == Hints(frozenset({"a", "b"}), turns=True, state=True, doubt="first")
    assert not Hints()
    assert all((saved("a"), Hints(turns=True), Hints(state=True), Hints(doubt="x")))


def test_files_are_handed_on_once_quiet(clock: Clock, buffer: HintBuffer) -> None:
    """An editor's save is several changes within a few milliseconds."""
    buffer.add(saved("a"))
    clock.now += QUIET / 2
    buffer.add(saved("b"))
    clock.now += QUIET / 2
    assert not buffer.wait(0)
    clock.now += QUIET / 2
    assert buffer.wait(0) == saved("a", "b")
    assert not buffer.wait(0)


def test_a_stream_of_changes_is_not_waited_for_for_ever(clock: Clock, buffer: HintBuffer) -> None:
    """A checkout of thousands of files is indexed while it goes on, not only after."""
    began = clock.now
    while clock.now < began + AT_MOST:
        buffer.add(saved(f"{clock.now}"))
        clock.now += QUIET / 3
    assert buffer.wait(0)


def test_a_turn_does_not_wait_for_files(clock: Clock, buffer: HintBuffer) -> None:
    """While a checkout runs, turns are searchable at once and no half of the checkout is taken with them."""
    buffer.add(saved("a"))
    buffer.add(Hints(turns=True))
    clock.now += TURN_QUIET
    assert buffer.wait(0) == Hints(turns=True)
    clock.now += QUIET
    assert buffer.wait(0) == saved("a")


def test_turns_without_a_pause_are_handed_on_too(clock: Clock, buffer: HintBuffer) -> None:
    """An agent that never pauses is indexed every few hundredths of a second."""
    began = clock.now
    while clock.now < began + TURN_AT_MOST:
        buffer.add(Hints(turns=True))
        clock.now += TURN_QUIET / 3
    assert buffer.wait(0) == Hints(turns=True)


def test_too_many_paths_are_a_doubt(clock: Clock, buffer: HintBuffer) -> None:
    """A watcher that is busy for long keeps no endless list."""
    for number in range(MOST_PATHS + 2):
        buffer.add(saved(f"notes/{number}.md"))
    clock.now += AT_MOST
    hints = buffer.wait(0)
    assert hints.doubt
    assert len(hints.paths) < 10


def test_clear_forgets(clock: Clock, buffer: HintBuffer) -> None:
    """What was gathered before a new start is covered by the reconcile after it."""
    buffer.add(Hints(frozenset({"a"}), turns=True, doubt="x"))
    buffer.clear()
    clock.now += AT_MOST
    assert not buffer.wait(0)


@pytest.mark.parametrize("act", [HintBuffer.wake, lambda buffer: buffer.add(Hints(turns=True))])
def test_a_wait_ends_by_a_wake_and_by_a_hint(act: Callable[[HintBuffer], None]) -> None:
    """The watcher sleeps until there is something to do, however long that takes."""
    buffer = HintBuffer()
    threading.Timer(0.02, act, [buffer]).start()
    began = time.monotonic()
    buffer.wait(10)
    assert time.monotonic() - began < 5
