"""`gitmem retract`: take a statement back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.cli.write_options import cause, write_options
from gitmem.errors import InvalidRef, UnknownSource

if TYPE_CHECKING:
    from gitmem.retraction import RetractReply


@define(example="gitmem retract message:msg_0c1d2e3f4a5b6c7 --with 'Staging listens on 2222' --reason moved")
@click.argument("ref", metavar="REF")
@click.option("--with", "replaced_by", metavar="TEXT", help="What is true instead.")
@write_options
def command(ref: str, replaced_by: str | None, **values: Any) -> None:
    """Take a statement back: it stays in the record, is shown as corrected, and ranks last.

    An entry of memory goes, or becomes TEXT. Its words are remembered: the agent cannot put them into memory
    again, you can. To take a retraction back, retract the record that it names.
    """
    settings = current()
    try:
        reply = settings.open_home().retract(ref, replaced_by=replaced_by, **cause(values))
    except (InvalidRef, UnknownSource) as error:
        error.hint = f"{error.hint or ''} What a commit did is taken back with `git revert`.".strip()
        raise
    settings.reply(reply, lambda: "" if settings.quiet else describe(reply))


def describe(reply: RetractReply) -> str:
    """Return what is true of a retraction, in one line."""
    if reply.unchanged:
        return f"{reply.source_ref}: {reply.reason}"
    if reply.staged:
        return f"{reply.source_ref}: not retracted: {reply.reason}"
    record = reply.retracted.get("source_ref")
    done = "lifted" if reply.lifted else "retracted"
    told = f"{reply.source_ref}: {done}{f' by {record}' if record else ''}"
    if reply.committed:
        return f"{told}, committed as {reply.committed[:10]}"
    return f"{told}, not committed yet: {reply.reason}"
