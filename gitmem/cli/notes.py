"""`gitmem notes`: the notes, as a list or as the catalog that the agent sees."""

from __future__ import annotations

from typing import Any

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current


@define(example="gitmem notes --catalog")
@click.option("--catalog", is_flag=True, help="Print the catalog as the agent sees it, cut to its size.")
def command(*, catalog: bool) -> None:
    """List the notes with their titles and summaries."""
    settings = current()
    home = settings.open_home()
    if catalog:
        text = home.catalog()
        settings.reply({"catalog": text}, text)
        return
    listing = home.notes()
    settings.reply(listing, lambda: describe(listing))
    for skipped in listing.skipped:
        settings.warn(f"{skipped.path}: {skipped.reason}")


def describe(listing: Any) -> str:
    """Return the list for people."""
    if not listing.notes:
        return "No notes yet. Add one: gitmem note add staging.md --title Staging"
    width = min(48, max(len(note.path) for note in listing.notes))
    return "\n".join(f"{note.path:<{width}}  {note.title}{_tail(note)}" for note in listing.notes)


def _tail(note: Any) -> str:
    tags = f"  [{', '.join(note.tags)}]" if note.tags else ""
    summary = f": {note.summary}" if note.summary else ""
    return summary + click.style(tags, dim=True)
