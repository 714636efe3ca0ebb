"""How many examples a Hypothesis test gets: fewer in the fast default run than where all tests run."""

from __future__ import annotations

from hypothesis import settings

#: Examples in a run of all tests, of a test that asks for no number of its own.
DEV = 50
#: The same in the fast default run.
FAST = 20


def examples(most: int) -> int:
    """Return a test's share of the examples that it gets where all tests run."""
    return max(5, min(most, most * settings().max_examples // DEV))
