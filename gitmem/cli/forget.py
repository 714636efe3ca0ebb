"""`gitmem forget`: have nothing that reads this home say a thing again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitmem.cli import standard_input
from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.counted import counted
from gitmem.errors import UsageError

if TYPE_CHECKING:
    from gitmem.forgetting import ForgetReply


@define(
    example="gitmem forget message:msg_0c1d2e3f4a5b6c7 --reason 'a private matter'\n"
    "gitmem forget --match - --dry-run < name.txt"
)
@click.argument("ref", metavar="[REF]", required=False)
@click.option(
    "--match", metavar="-", help="Instead of a REF: all that holds the text that comes on standard input."
)
@click.option("--reason", metavar="TEXT", help="Why, in a sentence that stays: without what is forgotten.")
@click.option("--dry-run", is_flag=True, help="Only list what would be forgotten.")
@click.option(
    "--as",
    "by",
    type=click.Choice(["agent", "operator"]),
    help="Whose wish it is; by default yours at a terminal, else the agent's.",
)
def command(ref: str | None, match: str | None, reason: str | None, *, dry_run: bool, by: str | None) -> None:
    """Forget what REF names: nothing that reads the home has its words any more, on any machine that syncs.

    A record becomes a stub, and the ledger's chain stays whole. A turn or a session goes with all its
    records, a work item with its plan and its episode. An entry leaves its store; a note or a file goes, with
    every version it ever had. Git's history still has the words.

    The text for --match never stands on a command line, which others can see and a shell writes down.
    """
    settings = current()
    text = _text(ref, match)
    author = by or ("operator" if standard_input.is_terminal() else "agent")
    home = settings.open_home()
    options: dict[str, Any] = {"reason": reason, "by": author, "dry_run": dry_run}
    reply = home.forget(ref or "", **options) if text is None else home.forget_matching(text, **options)
    settings.reply(reply, lambda: "" if settings.quiet else describe(reply))
    for warning in reply.warnings:
        settings.warn(warning)


def _text(ref: str | None, match: str | None) -> str | None:
    if (ref is None) == (match is None):
        raise UsageError("give a REF, or --match - with a text on standard input", field="ref")
    if match is None:
        return None
    if match != "-":
        hint = "Others can see a command line: gitmem forget --match - < FILE"
        raise UsageError("--match takes -, and the text comes on standard input", hint=hint, field="match")
    return standard_input.read_all().decode("utf-8", "replace").strip("\r\n")


def describe(reply: ForgetReply) -> str:
    """Return what is true of an act of forgetting; never what is forgotten."""
    lines = [
        f"  {row['source_ref']}{f'  {path}' if (path := row['path']) else ''}" for row in reply.forgotten
    ]
    if not lines:
        return "Nothing holds it."
    things = counted(len(lines), "thing")
    if reply.dry_run:
        return "\n".join([f"Would be forgotten: {things}.", *lines])
    if reply.unchanged:
        return "\n".join([f"Forgotten before: {things}.", *lines])
    told = [f"Forgotten: {things}.", *lines]
    if reply.committed is None:
        told.append(f"Not in force yet: {reply.reason}")
    if reply.branch_committed is not None:
        told.append(f"Taken off the branch by {reply.branch_committed[:10]}.")
    elif reply.branch_reason is not None:
        told.append(f"Off the disk; the commit waits: {reply.branch_reason}")
    told.append("Git's history still has the words, here and on every remote.")
    return "\n".join(told)
