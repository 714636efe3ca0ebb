"""`gitmem reindex`: build the search index anew."""

from __future__ import annotations

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current


@define(example="gitmem reindex")
def command() -> None:
    """Build the search index anew from the files and the ledger.

    Nothing is lost by it: the index is derived. Searches go on with the old one meanwhile.
    """
    settings = current()
    report = settings.open_home().reindex()
    settings.reply(report, lambda: f"Indexed {click.style(str(report.indexed), bold=True)} documents.")
