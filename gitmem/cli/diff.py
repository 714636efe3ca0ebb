"""`gitmem diff`: what changed in memory between two moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.errors import UsageError
from gitmem.times import short_time

if TYPE_CHECKING:
    from gitmem.diffing import AuthoredChange, DiffReply

#: What happened -> sign and colour.
_SIGNS: Final = {
    "added": ("+", "green"),
    "removed": ("-", "red"),
    "finished": ("✓", "green"),
    "moved": (">", "cyan"),
    "renamed": (">", "cyan"),
}


@define(
    example="gitmem diff\n"
    "gitmem diff HEAD~5 HEAD --author agent\n"
    "gitmem diff --since 'last monday' --stat\n"
    "gitmem diff episode/ep_0c1d2e3f4a5b6c7"
)
@click.argument("one", metavar="[FROM]", required=False)
@click.argument("other", metavar="[TO]", required=False)
@click.option("--since", metavar="TIME", help="Instead of FROM: what memory was at a time in words.")
@click.option("--author", metavar="NAME", help="Only changes by agent, by operator, or by a name.")
@click.option("--stat", is_flag=True, help="Only how much of what, in one paragraph.")
@click.option("--patch", is_flag=True, help="The files' texts, as Git shows them.")
def command(
    one: str | None,
    other: str | None,
    since: str | None,
    author: str | None,
    *,
    stat: bool,
    patch: bool,
) -> None:
    """Show what changed in memory, in the terms of memory: entries, sections, notes, work items, episodes.

    FROM and TO are commits by any name that Git has for them, tags of episodes, commits of turns, or times in
    words. FROM is HEAD by default, TO the files as they are on disk.
    """
    if since is not None and one is not None:
        raise UsageError("give FROM, or --since", field="since")
    settings = current()
    reply = settings.open_home().diff(one if since is None else since, other, author=author, patch=patch)
    settings.reply(
        reply,
        lambda: reply.summary if stat else (reply.patch or "").rstrip("\n") if patch else describe(reply),
    )


def describe(reply: DiffReply) -> str:
    """Return what changed for people, a block for each thing."""
    if not reply.changes:
        return "Nothing changed."
    lines = [line for one in reply.changes for line in _lines(one)]
    for target, one in reply.budgets.items():
        if one["before"] != one["after"]:
            lines.append(click.style(f"{target}: {one['before']} % full, now {one['after']} %", dim=True))
    return "\n".join(lines)


def _lines(one: AuthoredChange) -> list[str]:
    change = one.change
    sign, colour = _SIGNS.get(change.change, ("~", "yellow"))
    who = f"{one.name}, " if one.name else ""
    when = (
        f"{short_time(one.at)} {(one.commit or '')[:10]}" if one.at else "not committed" if one.author else ""
    )
    behind = click.style(f"  ({who}{when})", dim=True) if who or when else ""
    words = f", words +{change.words[0]} -{change.words[1]}" if any(change.words) else ""
    kind = change.kind.replace("_", " ")
    head = click.style(f"{sign} {kind} {change.change}: {change.name}{words}", fg=colour)
    return [f"{head}{behind}", *_texts(one)]


def _texts(one: AuthoredChange) -> list[str]:
    change = one.change
    if change.kind in ("entry", "section") or change.change in ("renamed", "retitled", "retagged", "moved"):
        told = (("-", "red", change.before), ("+", "green", change.after))
        return [
            click.style(f"    {sign} {line}", fg=colour)
            for sign, colour, text in told
            if text is not None
            for line in text.splitlines() or [""]
        ]
    return []
