"""`gitmem watch`: keep index and catalog up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current

if TYPE_CHECKING:
    from gitmem.watch_state import WatchState


@define(example="gitmem watch --once")
@click.option("--once", is_flag=True, help="Catch up and leave (for cron).")
def command(*, once: bool) -> None:
    """Keep index and catalog up to date as files change, until it is stopped.

    Search works without it; with it, a save in your editor is found at once. SIGTERM and Ctrl-C stop it
    cleanly.
    """
    from gitmem.watch_home import watch_home
    from gitmem.watch_state import state_row

    settings = current()
    path = settings.home_path()
    if not once:
        settings.note(f"watching {path}; Ctrl-C stops it")
    state = watch_home(path, once=once, tell=settings.note)
    settings.reply({"watch": state_row(state)}, lambda: "" if settings.quiet else describe(state))


def describe(state: WatchState) -> str:
    """Return the watcher's last word, for people."""
    pending = f", {state.pending} still to index" if state.pending else ""
    left_out = f", {state.quarantined} cannot be indexed" if state.quarantined else ""
    return f"Up to date{pending}{left_out}."
