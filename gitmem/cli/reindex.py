"""`gitmem reindex`: build the search index anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.counted import counted
from gitmem.errors import HomeError

if TYPE_CHECKING:
    from gitmem.indexer import CatchUp


@define(example="gitmem reindex")
def command() -> None:
    """Build the search index anew from the files and the ledger.

    Nothing is lost by it: the index is derived. Searches go on with the old one meanwhile.
    """
    settings = current()
    report = settings.open_home().reindex()
    if report.reasons and not report.busy:
        raise HomeError(
            f"the index was not built anew: {report.reasons[0]}", hint="Searches work without it."
        )
    settings.reply(report, lambda: describe(report))


def describe(report: CatchUp) -> str:
    """Return what was indexed, for people."""
    if report.busy:
        return "Somebody else is indexing; the index will be new when they are done."
    pending = f" {report.pending:,} are left for the next search or watcher." if report.pending else ""
    return f"Indexed {counted(report.indexed, 'document')}.{pending}"
