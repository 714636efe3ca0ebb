"""What a search leaves behind for the next one: the index catches up after the answer, never before it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.errors import GitmemError, HomeLocked

if TYPE_CHECKING:
    from gitmem.home import AgentHome

#: Up to so many items the search command tries to index itself; what is left goes to a process of its own.
FEW: Final = 500
#: Seconds that the search command may take for it, after its answer is out.
SHARE: Final = 0.3
#: A second at a time, so that whoever wants to index something new need not wait for the end.
_SLICE: Final = 1.0
#: Everybody else's work comes before this.
_NICE: Final = 19
_CATCH_UP: Final = (
    "import sys; from gitmem.cli.catching_up import catch_up_alone; catch_up_alone(sys.argv[1])"
)


def catch_up(home: AgentHome, pending: int) -> None:
    """Bring the index up to date where no watcher does; what takes longer goes to another process.

    Args:
        home: the home that was searched.
        pending: how many items its index lacks. An item may be a whole segment, so that a few may take long.
    """
    from gitmem.watch_state import is_watched

    sys.stdout.flush()
    if is_watched(home.layout):
        return
    if pending <= FEW:
        try:
            done = home.catch_up(seconds=SHARE)
        except (GitmemError, OSError):  # the answer was given; the next search tries again
            return
        if not done.pending or (done.reasons and not done.busy):
            return
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


def catch_up_alone(path: str) -> None:
    """Index until nothing is left, as the one process that does so, unless a watcher takes over.

    Args:
        path: of the home.
    """
    from gitmem.file_lock import file_lock
    from gitmem.home import AgentHome
    from gitmem.index_runs import run_to_end
    from gitmem.watch_state import is_watched

    os.nice(_NICE)
    # The watcher's lock is left to watchers: one that is started meanwhile must not find it taken.
    with AgentHome.open(path, catches_up=False) as home, suppress(HomeLocked):
        layout = home.layout
        with file_lock(layout.derived / "catching-up.lock", wait=0):
            run_to_end(
                lambda: home.catch_up(seconds=_SLICE),
                goes_on=lambda: Path(path).is_dir() and not is_watched(layout),
                wait=time.sleep,
            )
