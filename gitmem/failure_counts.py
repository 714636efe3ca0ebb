"""How often the `memory` tool failed in a turn, so that a model that cannot make room is told to stop.

Counts of turns that this process has open live in this process. Those of turns that several processes feed,
and of sessions without a turn, whose every call may be another process, are in one small file in the git dir;
losing it costs a few more tries.
"""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.durable_file import write_file
from gitmem.layout import Layout
from gitmem.records import is_name

#: Failures of one turn that are answered in full; from the next on the answer is to stop.
MOST_FAILURES: Final = 3

_MOST_TURNS: Final = 64
#: Seconds without another failure after which those that were are no row any more: sessions end unheard of.
_FORGOTTEN_AFTER: Final = 600.0
_LARGEST_FILE: Final = 64 * 1024


def session_name(session: str) -> str:
    """Return what a session without a turn is counted under."""
    name = session.encode("utf-8", "surrogatepass")  # any text: the name is checked elsewhere
    return f"session_{hashlib.sha256(name).hexdigest()[:15]}"


class FailureCounts:
    """Counts in a row, by turn.

    Args:
        layout: where the file is.
    """

    def __init__(self, layout: Layout) -> None:
        self._path: Path = layout.private / "memory-failures.json"
        self._own: dict[str, int] = {}

    def add(self, name: str, *, shared: bool) -> int:
        """Count one more failure; return how many there are now.

        Args:
            name: of the turn, or of what stands for one.
            shared: whether other processes work in this turn.
        """
        counts = self._read() if shared else self._own
        count = counts.pop(name, 0) + 1
        counts[name] = count  # behind the others: the first ones go first
        for oldest in list(counts)[:-_MOST_TURNS]:
            del counts[oldest]
        if shared:
            self._write(counts)
        return count

    def reset(self, name: str, *, shared: bool) -> None:
        """Begin again: a call succeeded, or a turn began."""
        if not shared:
            self._own.pop(name, None)
        elif self._path.exists():
            counts = self._read()
            if counts.pop(name, None) is not None:
                self._write(counts)

    def _read(self) -> dict[str, int]:
        with suppress(OSError, ValueError, RecursionError):
            if time.time() - self._path.stat().st_mtime > _FORGOTTEN_AFTER:
                return {}
            with self._path.open("rb") as file:
                found = json.loads(file.read(_LARGEST_FILE))
            if isinstance(found, dict):
                return {name: n for name, n in found.items() if is_name(name) and type(n) is int and n > 0}
        return {}

    def _write(self, counts: dict[str, int]) -> None:
        with suppress(OSError):  # a count that cannot be kept is no reason to fail
            write_file(self._path, json.dumps(counts).encode(), durable=False)
