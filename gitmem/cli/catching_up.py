"""What a search leaves behind for the next one: the index catches up after the answer, never before it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from gitmem.errors import GitmemError

if TYPE_CHECKING:
    from gitmem.home import AgentHome

#: Up to so many items are indexed by the search command itself; more is left to a process of its own.
FEW: Final = 500
#: Seconds that the search command may take for it, after its answer is out.
SHARE: Final = 0.3
#: A second at a time, so that whoever wants to index something new need not wait for the end.
_CATCH_UP: Final = """
import sys
from gitmem import AgentHome
home = AgentHome.open(sys.argv[1])
while True:
    done = home.catch_up(seconds=1.0)
    if not done.pending or done.reasons:
        break
"""


def catch_up(home: AgentHome, pending: int) -> None:
    """Bring the index up to date where no watcher does; a long backlog goes to a process in the background.

    Args:
        home: the home that was searched.
        pending: how many items its index lacks.
    """
    sys.stdout.flush()
    if pending <= FEW:
        with suppress(GitmemError, OSError):  # the answer was given; the next search tries again
            home.catch_up(seconds=SHARE)
        return
    # The index's lock sees to it that there is one at most. The watcher's is left to watchers: one that is
    # started meanwhile must not find it taken.
    with suppress(OSError):
        subprocess.Popen(  # noqa: S603
            [
                sys.executable,
                "-P",  # the current folder may be anybody's: nothing is imported from it
                "-c",
                _CATCH_UP,
                str(home.layout.root.resolve()),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
