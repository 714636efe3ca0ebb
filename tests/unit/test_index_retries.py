"""What fails is tried again, soon at first, each by itself."""

from __future__ import annotations

import math

from gitmem.duty import Patience
from gitmem.index_retries import QUICK, IndexRetries


def retries() -> IndexRetries:
    """Return retries whose pauses are not varied."""
    return IndexRetries(Patience(jitter=lambda: 1.0), 60.0)


def test_the_pauses_grow_from_half_a_second_and_never_end() -> None:
    """A fault of a moment is over in a moment; one that lasts costs less and less (holon 5.6, #2901)."""
    faults = retries()
    now, pauses = 100.0, []
    for _ in range(14):
        faults.see({"a"}, {"a"}, now)
        pauses.append(faults.due_at - now)
        now = faults.due_at
        assert faults.take_due(now) == {"a"}
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 60, 120, 240, 480, 960, 960]
    assert QUICK == 8


def test_each_name_has_its_own_time() -> None:
    """A new fault does not wait for an old one, nor is the old one tried with it."""
    faults = retries()
    for now in (0.0, 0.5, 1.5, 3.5):
        faults.see({"old"}, {"old"}, now)
    faults.see({"old", "new"}, frozenset(), 3.6)
    assert faults.take_due(4.1) == {"new"}
    assert faults.take_due(7.5) == {"old"}


def test_what_works_is_forgotten() -> None:
    """When it fails again it is a new fault."""
    faults = retries()
    faults.see({"a"}, None, 0.0)
    faults.see({"a"}, None, 1.0)
    faults.see(frozenset(), None, 2.0)
    assert faults.due_at == math.inf
    faults.see({"a"}, None, 3.0)
    assert faults.due_at == 3.5


def test_what_is_being_tried_is_not_due_twice() -> None:
    """A round that did not come to it leaves it for the one that will."""
    faults = retries()
    faults.see({"a"}, None, 0.0)
    assert faults.take_due(1.0) == {"a"}
    assert faults.take_due(100.0) == frozenset()
    faults.see({"a"}, frozenset(), 100.0)
    assert faults.due_at == math.inf
    faults.see({"a"}, {"a"}, 101.0)
    assert faults.due_at == 102.0
