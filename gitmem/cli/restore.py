"""`gitmem restore`: bring a file of memory back as it was."""

from __future__ import annotations

import click

from gitmem.cli.commands import command as define
from gitmem.cli.revert import describe
from gitmem.cli.settings import current


@define(
    example="gitmem restore memory/MEMORY.md --as-of yesterday\n"
    "gitmem restore notes/staging.md --as-of HEAD~3 --reason 'the old list was right'"
)
@click.argument("path", metavar="PATH|REF")
@click.option(
    "--as-of", "as_of", metavar="TIME", required=True, help="A commit, a branch, a tag, or a time in words."
)
@click.option("--reason", metavar="TEXT", help="Why, in a sentence that stays.")
def command(path: str, as_of: str, reason: str | None) -> None:
    """Bring a file back as it was at a moment: a new commit of yours on top, and history stays.

    What it became since then is not lost: gitmem log PATH tells it, and gitmem revert brings it back.
    """
    settings = current()
    reply = settings.open_home().restore(path, as_of, reason=reason)
    settings.reply(reply, lambda: "" if settings.quiet else describe(reply, "Brought back"))
