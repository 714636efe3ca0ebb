"""`gitmem watch`: keep index and catalog up to date."""

from __future__ import annotations

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current


@define(example="gitmem watch --once")
@click.option("--once", is_flag=True, help="Catch up and leave (for cron).")
def command(*, once: bool) -> None:
    """Keep index and catalog up to date as files change, until it is stopped.

    Search works without it; with it, a save in your editor is found at once. SIGTERM and Ctrl-C stop it
    cleanly.
    """
    from gitmem.watch import watch_home

    settings = current()
    report = watch_home(settings.open_home(), once=once, say=settings.note)
    settings.reply(report, lambda: "" if settings.quiet else report.describe())
