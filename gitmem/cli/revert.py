"""`gitmem revert`: take a change of memory back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import Settings, current
from gitmem.errors import RefusedError

if TYPE_CHECKING:
    from gitmem.reverting import RevertReply


@define(
    example="gitmem revert HEAD --reason 'the port did not change after all'\n"
    "gitmem revert entry:0c1d2e3f4a5b6c7\n"
    "gitmem revert notes/staging.md"
)
@click.argument("what", metavar="COMMIT|REF|PATH")
@click.option("--reason", metavar="TEXT", help="Why, in a sentence that stays.")
def command(what: str, reason: str | None) -> None:
    """Take a change back: a new commit of yours on top, and history stays.

    Of an entry, a note or another file it is the last change. What came later stays; where it stands on the
    change itself, nothing is done, and what overlaps is shown. What was said is taken back by gitmem retract.
    """
    settings = current()
    try:
        reply = settings.open_home().revert(what, reason=reason)
    except RefusedError as error:
        show_overlaps(settings, error)
        raise
    settings.reply(reply, lambda: "" if settings.quiet else describe(reply, "Taken back"))


def show_overlaps(settings: Settings, error: RefusedError) -> None:
    """Show what stands on a change now, and what would come back."""
    for one in error.details.get("overlaps", ()):
        for sign, text in (("now", one["now"]), ("would be", one["before"])):
            told = "nothing" if text is None else text.rstrip("\n")
            settings.warn(f"{one['path']}, {sign}: {told}")
    for one in error.details.get("since", ()):
        settings.warn(f"changed by {one['commit'][:10]} {one['at'][:10]} {one['name']}: {one['subject']}")


def describe(reply: RevertReply, done: str) -> str:
    """Return what is true of it, in a line for each file."""
    if reply.unchanged:
        return "It is so already; nothing was done."
    whose = f" {reply.reverted[:10]}" if reply.reverted else ""
    how = f"committed as {reply.committed[:10]}" if reply.committed else f"not committed yet: {reply.reason}"
    return "\n".join([f"{done}{whose}, {how}.", *(f"  {path}" for path in reply.paths)])
