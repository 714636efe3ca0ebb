"""`gitmem notes`: the notes, as a list or as the catalog that the agent sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.columns import fill, width_of
from gitmem.cli.commands import command as define
from gitmem.cli.settings import current

if TYPE_CHECKING:
    from gitmem.curated import NoteList
    from gitmem.note_text import Note


@define(example="gitmem notes --catalog")
@click.option("--catalog", is_flag=True, help="Print the catalog as the agent sees it, cut to its size.")
def command(*, catalog: bool) -> None:
    """List the notes with their titles and summaries."""
    settings = current()
    home = settings.open_home()
    if catalog:
        text = home.catalog()
        settings.reply({"catalog": text}, text, exact=True)
        return
    listing = home.notes()
    withheld = home.withheld_notes(listing)
    problems = [{"path": one.path, "reason": one.reason, "line": one.line} for one in listing.problems]
    settings.reply(
        {
            "notes": [
                {**note_view(note), "blocked": list(withheld.get(note.path, ()))} for note in listing.notes
            ],
            "problems": problems,
        },
        lambda: describe(listing, withheld),
    )
    for problem in listing.problems:
        settings.warn(f"{problem.path}: {problem.reason}")


def note_view(note: Note) -> dict[str, Any]:
    """Return what a list says of a note, as JSON data."""
    return {
        "source_ref": note.source_ref,
        "id": note.id,
        "path": note.path,
        "title": note.title,
        "summary": note.summary,
        "tags": list(note.tags),
    }


def describe(listing: NoteList, withheld: Mapping[str, Sequence[str]]) -> str:
    """Return the list for people; what the agent's catalog withholds is marked."""
    if not listing.notes:
        return "No notes yet. Add one: gitmem note add staging.md --title Staging"
    width = min(48, max(width_of(note.path) for note in listing.notes))
    return "\n".join(
        f"{fill(note.path, width)}  {note.title}{_tail(note, withheld.get(note.path, ()))}"
        for note in listing.notes
    )


def _tail(note: Note, rules: Sequence[str]) -> str:
    mark = click.style(f"  withheld from the agent: {', '.join(rules)}", fg="yellow") if rules else ""
    tags = click.style(f"  [{', '.join(note.tags)}]", dim=True) if note.tags else ""
    return (f": {note.summary}" if note.summary else "") + tags + mark
