"""`gitmem log`: what happened, in one list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.columns import cut, fill
from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.cli.time_option import time_option
from gitmem.subjects import list_counts
from gitmem.times import short_time

if TYPE_CHECKING:
    from gitmem.history import Entry, LogPage

#: Cells of a name in a line.
_NAME = 14


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
def command(path: str | None, **query: Any) -> None:
    """Show what happened: commits, changes of memory and notes, turns; newest first.

    Turns are summed up by day; days and times are UTC. PATH shows the commits that changed a file or folder.
    """
    settings = current()
    home = settings.open_home()
    inside = None if path is None else settings.path_in(home, path)
    page = home.log(None if inside == "." else inside, **query)
    settings.reply(page, lambda: describe(page))


def describe(page: LogPage) -> str:
    """Return a page of the log for people."""
    lines = [_line(entry) for entry in page.commits] or ["Nothing found."]
    if page.cursor:
        lines.append(f"… more with --cursor {page.cursor}")
    return "\n".join(lines)


def _line(entry: Entry) -> str:
    when = click.style(short_time(entry.at), dim=True)
    name = fill(cut(entry.name, _NAME), _NAME)
    who = click.style(name, fg="green" if entry.author == "agent" else "yellow")
    address = _address(entry)
    behind = f"  {click.style(address, dim=True)}" if address else ""
    return f"{when}  {who}  {_what(entry)}{behind}"


def _what(entry: Entry) -> str:
    counts = list_counts(entry.counts) if entry.kind == "turn" else ""
    return " ".join(filter(None, [entry.title, counts and f"[{counts}]"]))


def _address(entry: Entry) -> str:
    if entry.source_ref:
        return entry.source_ref
    return "" if entry.kind in {"day", "session"} else entry.id[:10]
