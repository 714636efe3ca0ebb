"""`gitmem reindex`: build the search index anew."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import Settings, current
from gitmem.counted import counted
from gitmem.errors import HomeError
from gitmem.json_view import to_json

if TYPE_CHECKING:
    from gitmem.reindexing import Reindexed

#: Seconds between two words on how far it is; what is done sooner is not worth one.
_PACE: Final = 2.0


@define(example="gitmem reindex --wait")
@click.option("--wait", is_flag=True, help="Return when it is done, also where a watcher does it.")
def command(*, wait: bool) -> None:
    """Build the search index anew from the files and the ledger.

    Nothing is lost by it: the index is derived, and what is in it is found until it is replaced. The newest
    comes first. Where `gitmem watch` runs, it does the work and this command returns at once; else it does
    the work itself. Broken off, it goes on when it is called again, or by itself with the next search.
    """
    settings = current()
    report = settings.open_home().reindex(wait=True if wait else None, progress=_teller(settings))
    if report.reasons and not report.busy:
        raise HomeError(
            f"the index was not built anew: {report.reasons[0]}", hint="Searches work without it."
        )
    settings.reply(report, lambda: describe(report))


def describe(report: Reindexed) -> str:
    """Return what was indexed, for people."""
    if report.busy:
        return "Somebody else is indexing; the index will be new when they are done."
    if report.watcher and report.pending:
        what = counted(report.pending, "segment or file", "segments and files")
        return f"The watcher builds the index anew: {what} to go. How far it is: gitmem status"
    if report.watcher:
        return "The watcher has built the index anew."
    return f"Indexed {counted(report.indexed, 'record or file', 'records and files')}."


def _teller(settings: Settings) -> Callable[[Reindexed], None]:
    """Return what says on standard error, now and then, how far it is; with `--json` as JSON lines."""
    said_at = time.monotonic()

    def tell(report: Reindexed) -> None:
        nonlocal said_at
        if time.monotonic() - said_at < _PACE:
            return
        said_at = time.monotonic()
        if settings.json:
            settings.note(json.dumps(to_json({"done": report.done, "total": report.total})))
        else:
            total = counted(report.total, "segment or file", "segments and files")
            settings.note(f"{report.done:,} of {total}")

    return tell
