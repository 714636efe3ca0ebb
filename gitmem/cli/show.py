"""`gitmem show`: a turn, a note, a record or a commit, for people."""

from __future__ import annotations

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.control_signs import show_controls


@define(example="gitmem show turn:turn_0c1d2e3f4a5b6c7")
@click.argument("what", metavar="REF|COMMIT|PATH")
def command(what: str) -> None:
    """Show a turn as a conversation, a file of the home, a record, or what a commit changed."""
    settings = current()
    home = settings.open_home()
    shown = home.show(settings.path_in(home, what))
    settings.reply({"shown": shown}, lambda: show_controls(shown.text))
