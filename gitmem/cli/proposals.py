"""`gitmem proposals`: what agents want to change and may not, judged one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import group
from gitmem.cli.settings import current
from gitmem.counted import counted
from gitmem.errors import RefusedError
from gitmem.proposals import diff_of
from gitmem.times import format_time, short_time

if TYPE_CHECKING:
    from gitmem.proposal_judging import Judged, JudgedReply
    from gitmem.proposals import Proposal

_COLORS = {"+": "green", "-": "red"}


@group(example="gitmem proposals list\ngitmem proposals approve 1a2b3c4d")
def command() -> None:
    """Judge changes of memory that wait for your word.

    They come from agents that work with nobody there, and, with `gitmem config set gitmem.writeApproval on`,
    from all.
    """


@command.command("list", example="gitmem proposals list")
def list_() -> None:
    """Show each change that waits, as what would go and what would come."""
    settings = current()
    home = settings.open_home()
    waiting, damaged = home.proposals(), home.damaged_proposals()
    named = [str(path) for path in damaged]
    settings.reply({"proposals": waiting, "damaged": named}, lambda: describe(waiting, damaged))
    _warn(damaged)


@command.command("approve", example="gitmem proposals approve 1a2b3c4d")
@click.argument("which", metavar="ID|all")
@click.pass_context
def approve(ctx: click.Context, which: str) -> None:
    """Make a proposed change as the agent's, each with a commit of its own.

    One whose text changed since it was proposed is not made: it keeps waiting, and is listed as failed.
    """
    home = current().open_home()
    _answer(ctx, home.approve(which), home.damaged_proposals())


@command.command("reject", example="gitmem proposals reject 1a2b3c4d --reason 'that was last year'")
@click.argument("which", metavar="ID|all")
@click.option("--reason", metavar="TEXT", help="Why; the agent is told when it says the same again.")
@click.pass_context
def reject(ctx: click.Context, which: str, reason: str | None) -> None:
    """Drop a proposed change; what it would have added is remembered as rejected."""
    home = current().open_home()
    _answer(ctx, home.reject(which, reason=reason), home.damaged_proposals())


def _answer(ctx: click.Context, reply: JudgedReply, damaged: Sequence[Path]) -> None:
    settings = current()
    settings.reply(reply, lambda: "" if settings.quiet else describe_judged(reply, damaged))
    _warn(damaged)
    if reply.failed:
        ctx.exit(RefusedError.exit_code)


def _warn(damaged: Sequence[Path]) -> None:
    for path in damaged:
        current().warn(f"a proposal that cannot be read, left as it is: {path}")


def describe(waiting: Sequence[Proposal], damaged: Sequence[Path] = ()) -> str:
    """Return proposals for people, each as a diff."""
    if not waiting:
        return _nothing(damaged)
    return "\n\n".join("\n".join(_shown(proposal)) for proposal in waiting)


def describe_judged(reply: JudgedReply, damaged: Sequence[Path] = ()) -> str:
    """Return what became of proposals, failed ones last."""
    if not reply.proposals:
        return _nothing(damaged)
    lines = [
        f"{one.id} {one.verdict}: {one.summary}{_outcome(one)}"
        for one in reply.proposals
        if one.verdict != "failed"
    ]
    if reply.failed:
        lines += [
            "Failed, still waiting:",
            *(f"  {one.id} {one.summary}: {one.reason}" for one in reply.failed),
        ]
    return "\n".join(lines)


def _outcome(one: Judged) -> str:
    if one.committed:
        return f"  {one.committed[:10]}"
    return f", {one.reason}" if one.reason and one.verdict == "approved" else ""


def _nothing(damaged: Sequence[Path]) -> str:
    return "Nothing that can be read waits." if damaged else "Nothing waits."


def _shown(proposal: Proposal) -> Iterator[str]:
    when = short_time(format_time(proposal.created_at))
    who = "an unattended agent" if proposal.origin == "background_review" else "the agent"
    head = click.style(f"{proposal.id}  {proposal.action} {proposal.target}", bold=True)
    yield f"{head}  {when}, by {who}, {counted(len(proposal.edits), 'edit')}"
    if proposal.source or proposal.turn:
        yield f"  goes back to {proposal.source or f'turn:{proposal.turn}'}"
    if proposal.reason:
        yield f"  because {proposal.reason}"
    if proposal.action == "move":
        yield f"    {' -> '.join(proposal.paths)}"
        return
    for number, edit in enumerate(proposal.edits, start=1):
        if len(proposal.edits) > 1:
            yield f"  edit {number} of {len(proposal.edits)}: {edit.action}"
        for line in diff_of(edit):
            color = _COLORS.get(line[:1])
            yield f"    {click.style(line, fg=color) if color else line}".rstrip()
