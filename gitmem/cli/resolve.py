"""`gitmem resolve`: end conflicts that a sync left, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.errors import UsageError
from gitmem.times import short_time

if TYPE_CHECKING:
    from gitmem.resolving import OpenConflict, Resolved
    from gitmem.text_origin import TextOrigin

#: Lines of a text that are shown.
_LINES = 40


@define(example="gitmem resolve\ngitmem resolve notes/staging.md --keep live")
@click.argument("path", required=False)
@click.option(
    "--keep",
    metavar="live|COPY|both|edited",
    help="The text that lives on: the one that does, a copy by its name, both (the copy becomes a note of its"
    " own), or the file as you have edited it.",
)
def command(path: str | None, keep: str | None) -> None:
    """Show the texts that lost a merge, with who wrote them, and choose between them.

    With --keep one commit ends the conflict of PATH: what was chosen lives, the copies under conflicts/ go.
    Deleting the copies by hand and committing that is the same.
    """
    settings = current()
    home = settings.open_home()
    named = None if path is None else settings.path_in(home, path)
    if keep is None:
        found = home.conflicts(named)
        settings.reply({"conflicts": found}, lambda: describe(found))
        return
    if named is None:
        raise UsageError("--keep needs the path whose conflict is to end", hint="See them: gitmem resolve")
    done = home.resolve(named, keep)
    settings.reply(done, lambda: describe_end(done))


def describe(found: Sequence[OpenConflict]) -> str:
    """Return what is open, for people."""
    if not found:
        return "No conflicts."
    return "\n".join(
        line for path, rows in groupby(found, lambda one: one.path) for line in _rows(path, [*rows])
    )


def _rows(path: str, conflicts: Sequence[OpenConflict]) -> Iterator[str]:
    yield click.style(path, bold=True)
    live = conflicts[0]
    yield f"  live now, {_told(live.live_by)}:" if live.live is not None else "  nothing lives there now"
    yield from _quoted(live.live)
    for one in conflicts:
        yield f"  {one.copy}, {_told(one.by)}:"
        yield from _quoted(one.text)
    name = conflicts[0].copy.rpartition("/")[2].partition(".")[0]
    yield f"  To end it: gitmem resolve {path} --keep live | {name} | both | edited"


def _told(origin: TextOrigin | None) -> str:
    if origin is None:
        return "by somebody"
    where = f" on {origin.writer}" if origin.writer else ""
    who = "the agent" if origin.author == "agent" else origin.name
    return f"by {who}{where}, {short_time(origin.at)}, in {origin.commit[:10]}"


def _quoted(text: str | None) -> Iterator[str]:
    lines = [] if text is None else text.splitlines()
    yield from (f"    {line}" for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"    … {len(lines) - _LINES} more lines"


def describe_end(done: Resolved) -> str:
    """Return what was done, for people."""
    where = f"Committed as {done.committed[:10]}" if done.committed else f"Not committed yet: {done.reason}"
    notes = f"; now notes of their own: {' '.join(done.notes)}" if done.notes else ""
    return f"{where}: {done.path} keeps {done.kept}, {len(done.removed)} gone{notes}."
