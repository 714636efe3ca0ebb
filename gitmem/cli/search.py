"""`gitmem search`: find what was said, run and noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from gitmem.authored_text import shorten
from gitmem.cli.catching_up import catch_up
from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.cli.time_option import time_option
from gitmem.cli.write_options import reader_option
from gitmem.control_signs import show_controls
from gitmem.times import short_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gitmem.search import IndexStatus, SearchReply

#: Words that were found nowhere: so many are named, and so many characters of each.
_TERMS: Final = 10
_TERM: Final = 40


@define(example="gitmem search staging port --kind note --since '30 days ago'")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=int, default=10, show_default=True, help="Hits at most, 1 to 50.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="Only message, brief, note, entry, …; may be repeated.",
)
@click.option("--session", metavar="ID", help="Only this conversation.")
@click.option("--work-item", metavar="ID", help="Only this work item.")
@click.option("--workspace", metavar="ID", help="Only this workspace, and what belongs to none.")
@click.option("--all-workspaces", is_flag=True, help="Every workspace.")
@time_option("--since", "Happened not before.")
@time_option("--until", "Happened not after.")
@click.option(
    "--sort",
    type=click.Choice(["relevance", "newest", "oldest"]),
    default="relevance",
    help="Order of the hits.",
)
@click.option("--advanced", is_flag=True, help="Read AND, OR, NOT, quotes and * in the query.")
@click.option("--explain", is_flag=True, help="Say why each hit has its place.")
@click.option("--cursor", metavar="CURSOR", help="Where the last page ended.")
@reader_option
def command(query: tuple[str, ...], **options: Any) -> None:
    """Search everything that was said, run and noted.

    The words need no quotes; any of them may match, the best hits come first. Times are UTC.
    """
    settings = current()
    home = settings.open_home()
    reply = home.search(" ".join(query), **options)
    settings.reply(reply, lambda: describe(reply))
    _tell_doubts(reply)
    if reply.index_status.pending:
        catch_up(home, reply.index_status.pending)


def describe(reply: SearchReply) -> str:
    """Return the hits for people."""
    if not reply.results:
        return "No hits."
    return "\n".join(_hit(number, hit) for number, hit in enumerate(reply.results, start=1))


def _hit(number: int, hit: Any) -> str:
    # A color of the text's own could hide a part of it.
    title, text = show_controls(hit.title or hit.kind), show_controls(" ".join(hit.snippet.split()))
    place = f"{hit.path}:{hit.line}" if hit.line else hit.path or ""
    where = f"{click.style(place, fg='cyan')}  " if place else ""
    when = short_time(hit.updated_at) if hit.updated_at else ""
    head = f"{number:>2}. {click.style(title, bold=True)}  {click.style(when, dim=True)}"
    found = "" if text == title else f"    {text}\n"  # a session is its title
    blocked, held = hit.metadata.get("blocked"), hit.metadata.get("quarantined")
    why = f"    {click.style(_why(hit.explanation), dim=True)}\n" if hit.explanation else ""
    mark = click.style(f"  withheld from the agent: {', '.join(blocked)}", fg="yellow") if blocked else ""
    if held:
        mark = click.style(f"  in quarantine: {', '.join(held)}", fg="yellow")
    return f"{head}\n{found}{why}    {where}{click.style(hit.source_ref, dim=True)}{mark}"


def _why(told: Mapping[str, Any]) -> str:
    """Return on one line what the score of a hit is made of."""
    terms = []
    for term, facts in told["terms"].items():
        near = "".join(f" {count:g} at {distance}" for distance, count in facts["near"].items())
        terms.append(f"{show_controls(term)} {facts['count']}{near} × {facts['weight']:.2f}")
    parts = [f"{told[name]:.2f} {name}" for name in ("text", "conversation", "time") if told.get(name)]
    typed = f" + {told['as_typed']:.2f} as typed" if told.get("as_typed") else ""
    return f"({' + '.join(parts) or '0'}) × {told.get('factor', 1.0):.2f}{typed}: {', '.join(terms)}"


def _within(status: IndexStatus) -> str:
    """Return what keeps a word from being called absent where not everything was searched."""
    return " in what was searched" if status.reasons else ""


def _listed(terms: Sequence[str]) -> str:
    """Return words that were searched, as many and as much of each as a line takes."""
    more = f" and {len(terms) - _TERMS:,} more" if len(terms) > _TERMS else ""
    return " ".join(shorten(term, _TERM) for term in terms[:_TERMS]) + more


def _tell_doubts(reply: SearchReply) -> None:
    settings = current()
    if settings.json:
        return
    status = reply.index_status
    if reply.unmatched_terms:
        settings.note(f"found nowhere{_within(status)}: {_listed(reply.unmatched_terms)}")
    for reason in status.reasons:
        settings.note(reason)
    for name in status.quarantined:
        settings.warn(f"left out of the search: {name}")
