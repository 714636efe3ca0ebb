"""When to try again what could not be indexed: soon at first, then less and less often."""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from gitmem.duty import Patience

#: Tries by patience alone, over about a minute and a half; what fails as often will not mend by itself soon.
QUICK: Final = 8
#: The pause between two later tries doubles up to this many times.
_DOUBLED: Final = 4


@dataclass(slots=True)
class _Fault:
    failures: int
    due_at: float


class IndexRetries:
    """Remembers what fails, one name at a time; forgets it when it works, changes for the better, or goes.

    Args:
        patience: how long to wait after each of the first failures.
        later: seconds between later tries, doubled each time up to 16-fold.
    """

    def __init__(self, patience: Patience, later: float) -> None:
        self._patience = patience
        self._later = later
        self._faults: dict[str, _Fault] = {}

    @property
    def due_at(self) -> float:
        """When the next one is due; infinity if none is."""
        return min((fault.due_at for fault in self._faults.values()), default=math.inf)

    def see(self, names: AbstractSet[str], tried: AbstractSet[str] | None, now: float) -> None:
        """Take in what fails now.

        Args:
            names: all of it.
            tried: what of it was tried just now; None stands for everything.
            now: monotonic seconds.
        """
        self._faults = {name: fault for name, fault in self._faults.items() if name in names}
        for name in names:
            fault = self._faults.get(name)
            if fault is None:
                self._faults[name] = _Fault(1, now + self._pause(1))
            elif tried is None or name in tried:
                fault.failures += 1
                fault.due_at = now + self._pause(fault.failures)

    def take_due(self, now: float) -> frozenset[str]:
        """Return what is due, which is then not due again until it was seen to fail."""
        due = [name for name, fault in self._faults.items() if fault.due_at <= now]
        for name in due:
            self._faults[name].due_at = math.inf
        return frozenset(due)

    def _pause(self, failures: int) -> float:
        if failures <= QUICK:
            return self._patience.after(failures)
        return self._later * 2.0 ** min(failures - QUICK - 1, _DOUBLED)
