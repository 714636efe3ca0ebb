"""The watcher on a home: which of the home's parts it drives."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gitmem.backends.watchdog_changes import WatchdogChanges
from gitmem.background_command import BackgroundCommand
from gitmem.git_state import operation_in_progress
from gitmem.home import AgentHome
from gitmem.maintenance_need import is_due
from gitmem.sync_pace import EVERY_SETTING, parse_every
from gitmem.watch import Watcher, watch_until_signal
from gitmem.watch_parts import WatchParts
from gitmem.watch_state import WatchState

#: Seconds after which a long backlog is left for the next round; between two the watcher hears signals,
#: gives a sign of life and sees to everything else.
ROUND: Final = 1.0
#: Documents that a round may merge, in about a tenth of a second; more is merged when it is quiet.
MERGED: Final = 256


def watch_home(
    path: Path, *, once: bool = False, tell: Callable[[str], object] = lambda _: None
) -> WatchState:
    """Watch the home at `path` until a signal comes, or bring it up to date once.

    Args:
        path: the folder that holds `gitmem.toml`.
        once: one pass, then return.
        tell: is given a sentence whenever something begins to be wrong, or is right again.

    Raises:
        HomeLocked: another watcher is at work here.
        NotAHome: there is no home, or it was removed and did not come back.
    """
    return watch_until_signal(Watcher(lambda: open_parts(path, tell), tell=tell), once=once)


def open_parts(path: Path, tell: Callable[[str], object] = lambda _: None) -> WatchParts:
    """Open the home at `path` for a watcher.

    Args:
        path: the folder that holds `gitmem.toml`.
        tell: is given a sentence for what was put right on the turn line.
    """
    home = AgentHome.open(path, catches_up=False)

    def put_line_back() -> None:
        for warning in home.put_line_back():
            tell(warning)

    def settle_pending() -> None:
        home.branch.settle()
        for warning in home.settle_plans():
            tell(warning)

    syncing = BackgroundCommand(home.layout.root, ["hook", "sync"])
    maintaining = BackgroundCommand(home.layout.root, ["maintain", "--if-due", "--quiet"])
    return WatchParts(
        layout=home.layout,
        changes=WatchdogChanges(home.layout),
        catch_up=lambda hints: home.catch_up(hints, seconds=ROUND, merged=MERGED),
        is_index_behind=home.is_index_behind,
        merge=home.merge_index,
        render_catalog=home.catalog,
        settle_pending=settle_pending,
        apply_spool=home.apply_spool,
        operation=lambda: operation_in_progress(home.layout),
        close=home.close,
        restore_ledger_copy=home.restore_ledger_copy,
        put_line_back=put_line_back,
        sync_every=lambda: parse_every(home.config_get(EVERY_SETTING)) or 0.0,
        begin_sync=syncing.begin,
        end_sync=syncing.end,
        begin_maintenance=lambda: is_due(home.layout, time.time()) and maintaining.begin(),
        end_maintenance=maintaining.end,
        judge_arrivals=_Arrivals(lambda: home.quarantine(seconds=ROUND).unread).judge,
    )


class _Arrivals:
    """What came by sync and is not judged yet, a part at a time.

    Args:
        judge: judges for a while; returns how much is left.
    """

    def __init__(self, judge: Callable[[], int]) -> None:
        self._judge = judge
        self._left = math.inf

    def judge(self) -> bool:
        """Judge a part; say whether there is more, unless all of that cannot be read now."""
        left = self._judge()
        goes_on = 0 < left < self._left
        self._left = left or math.inf
        return goes_on
