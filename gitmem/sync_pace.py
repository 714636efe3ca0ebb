"""How often a watcher syncs by itself: the setting, and when the next sync is due."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Final

#: Seconds, minutes, hours or days between two syncs, or `off`.
EVERY_SETTING: Final = "gitmem.sync.every"
#: Whether turns and tags follow an operator's own push.
AFTER_PUSH: Final = "gitmem.sync.afterPush"
#: Nobody is served by a remote that is asked all the time.
EVERY_LEAST: Final = 60
_OFF: Final = ("off", "false", "no", "never", "0")
_TIME: Final = re.compile(r"(\d{1,7})(s|m|min|h|d)")
_UNITS: Final = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
#: Part of the time by which a sync comes earlier or later, so that many machines do not come all at once.
_SPREAD: Final = 0.1


def parse_every(value: str) -> float | None:
    """Return seconds between two syncs, 0 for never; None where that is no time."""
    word = value.strip().lower()
    if word in _OFF:
        return 0.0
    found = _TIME.fullmatch(word)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    return float(seconds) if seconds >= EVERY_LEAST else None


def next_after(every: float, jitter: Callable[[], float] = random.random) -> float:
    """Return the seconds until the next sync.

    Args:
        every: seconds between two.
        jitter: a number from 0 to 1.
    """
    return every * (1 + _SPREAD * (2 * jitter() - 1))
