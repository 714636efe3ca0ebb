"""`gitmem sync`: bring this home and a remote to the same state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.counted import counted

if TYPE_CHECKING:
    from gitmem.sync_reply import SyncReply

#: Refs and paths that are named one by one.
_LISTED = 10


@define(example="gitmem sync\ngitmem sync --remote backup --dry-run")
@click.option("--remote", metavar="NAME", help="The remote; by default `origin`, else the only one.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and move nothing.")
@click.option(
    "--timeout", metavar="SECONDS", type=click.FloatRange(min=0, min_open=True), help="For all of it."
)
@click.pass_context
def command(ctx: click.Context, *, remote: str | None, dry_run: bool, timeout: float | None) -> None:
    """Bring this home and a remote to the same state: turns, files, tags of episodes, both ways.

    Nothing is ever forced, and nothing of yours is overwritten: files with edits that are not committed stay,
    and what clashes leaves one text live and the other under conflicts/. Exit 12 says that something waits
    for you; the rest is done.
    """
    settings = current()
    reply = settings.open_home().sync(remote, dry_run=dry_run, timeout=timeout)
    is_silent = settings.quiet and not (
        reply.exit_code or dry_run
    )  # what waits for somebody is never kept quiet
    settings.reply(reply, lambda: "" if is_silent else describe(reply))
    for warning in reply.warnings:
        settings.warn(warning)
    if reply.exit_code:
        ctx.exit(reply.exit_code)


def describe(reply: SyncReply) -> str:
    """Return what a sync did, for people."""
    would = "Would do with" if reply.dry_run else "Synced with"
    lines = [f"{would} {reply.remote}: {_counts(reply)}."]
    if reply.lines.writer:
        lines.append(f"  another copy of this folder writes on; this one is {reply.lines.writer} now")
    if reply.branch.reason:
        lines.append(f"  {reply.branch.name or 'the branch'} stays where it is: {reply.branch.reason}")
    lines += [f"    {path}: {why}" for path, why in [*reply.branch.blocked.items()][:_LISTED]]
    lines += list(_odd(reply))
    if reply.quarantined:
        count = counted(len(reply.quarantined), "thing that came is", "things that came are")
        lines.append(f"  {count} in quarantine, kept from the agent: gitmem quarantine list")
        named = reply.quarantined[:_LISTED]
        lines += [f"    {one.path or one.source_ref}: {one.reason}" for one in named]
    if reply.conflicts:
        count = counted(len(reply.conflicts), "text that lost a merge waits", "texts that lost a merge wait")
        lines.append(f"  {count} for you: gitmem resolve")
    return "\n".join(lines)


def _counts(reply: SyncReply) -> str:
    known = (
        (reply.lines.fetched, "turn came", "turns came"),
        (reply.merged, "commit merged", "commits merged"),
        (reply.episodes.get("fetched", 0), "episode came", "episodes came"),
        (reply.lines.pushed, "turn sent", "turns sent"),
        (reply.branch.pushed, "commit sent", "commits sent"),
        (reply.episodes.get("pushed", 0), "episode sent", "episodes sent"),
    )
    told = ", ".join(counted(count, *words) for count, *words in known if count)
    return told or "nothing to do"


def _odd(reply: SyncReply) -> Iterator[str]:
    for tag in reply.moved_tags[:_LISTED]:
        yield f"  the tag {tag.id} was moved: {tag.here} here, which stays, {tag.there} there"
    for name, reason in [*reply.refused.items(), *reply.ignored.items()][:_LISTED]:
        yield f"  {name.removeprefix('refs/')}: {reason}"
    for receipt in reply.receipts[:_LISTED]:
        yield f"  forgotten elsewhere, and now here: {receipt}"
