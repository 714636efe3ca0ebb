"""`gitmem log`: what happened, in one list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.cli.time_option import short_time, time_option

if TYPE_CHECKING:
    from gitmem.history import Entry, LogPage


@define(example="gitmem log --since yesterday --by turn")
@click.argument("path", metavar="[PATH|REF]", required=False)
@click.option("--by", type=click.Choice(["turn", "day", "session"]), help="Turn by turn, or summed up.")
@time_option("--since", "Not before: 2026-11-30, '2 days ago', yesterday.")
@time_option("--until", "Not after.")
@click.option("--author", metavar="NAME", help="agent, operator, or a name.")
@click.option("--kind", metavar="KIND", help="turn, note, memory, edit, found, …")
@click.option("--session", metavar="ID", help="Only turns of this conversation.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Entries at most.")
@click.option("--cursor", metavar="CURSOR", help="Where the last page ended.")
def command(**query: Any) -> None:
    """Show what happened: commits, changes of memory and notes, turns; newest first.

    Turns are summed up by day. PATH shows the commits that changed a file or folder.
    """
    settings = current()
    page = settings.open_home().log(**query)
    settings.reply(page, lambda: describe(page))


def describe(page: LogPage) -> str:
    """Return a page of the log for people."""
    lines = [_line(entry) for entry in page.commits] or ["Nothing happened yet, as far as this asks."]
    if page.cursor:
        lines.append(f"… more with --cursor {page.cursor}")
    return "\n".join(lines)


def _line(entry: Entry) -> str:
    when = click.style(short_time(entry.at), dim=True)
    who = click.style(f"{entry.name[:14]:<14}", fg="green" if entry.author == "agent" else "yellow")
    return f"{when}  {who}  {_what(entry)}  {click.style(_address(entry), dim=True)}"


def _what(entry: Entry) -> str:
    if entry.kind != "turn":
        return entry.title
    counts = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in entry.counts.items())
    return f"{entry.title or 'turn'} [{counts}]" if counts else entry.title


def _address(entry: Entry) -> str:
    if entry.source_ref:
        return entry.source_ref
    return "" if entry.kind in {"day", "session"} else entry.id[:10]
