"""`gitmem episode`: the accounts of finished work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.commands import group
from gitmem.cli.none_found import none_found
from gitmem.cli.settings import current

if TYPE_CHECKING:
    from gitmem.episode_reading import EpisodePage

as_of_option = click.option(
    "--as-of",
    metavar="COMMIT|DATE",
    help="As the files were at a commit or a time, such as HEAD~2 or '2 days ago'.",
)


@group(example="gitmem episode list")
def command() -> None:
    """List and show the accounts of finished work, and finish what is open.

    gitmem writes them by itself when work ends; see docs/episodes.md.
    """


@command.command("list", example="gitmem episode list --limit 5")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="How many at most.")
@click.option("--cursor", metavar="TEXT", help="Go on behind an earlier answer.")
@as_of_option
def list_(limit: int, cursor: str | None, as_of: str | None) -> None:
    """List the finished episodes, the newest first, and what is open."""
    settings = current()
    page = settings.open_home().episodes(limit=limit, cursor=cursor, as_of=as_of)
    settings.reply(page, lambda: describe(page, {"cursor": cursor, "as_of": as_of}))


@command.command("show", example="gitmem episode show ep_f6a09b3624b5b31")
@click.argument("episode", metavar="ID|REF")
@as_of_option
def show(episode: str, as_of: str | None) -> None:
    """Print one episode."""
    settings = current()
    found = settings.open_home().episode(episode, as_of=as_of)
    settings.reply({"episode": {**found.to_json(), "content": found.content}}, lambda: found.content)
    if found.state == "changed":
        settings.warn(f"{found.path} is not the file that was finished: git show {found.tag}")


@command.command("close", example="gitmem episode close --session s1")
@click.option("--session", metavar="ID", help="Whose turns; by default those outside of any session.")
def close(session: str | None) -> None:
    """Finish what is open of a session now, in a turn of its own."""
    settings = current()
    receipt = settings.open_home().episode_close(session)
    ref = receipt.records[0]["source_ref"]
    settings.reply(receipt, lambda: "" if settings.quiet else f"finished {ref}")


def describe(page: EpisodePage, asked: Mapping[str, Any]) -> str:
    """Return the list for people.

    Args:
        page: of it.
        asked: the options that it was asked for with.
    """
    rows = [_row(view) for view in page.episodes]
    for one in page.open:
        where = f"session {one['session']}" if one["session"] else "outside of any session"
        turns = len(one["turns"])
        rows.append(click.style(f"open: {turns} turn{'s' * (turns != 1)}, {where}", dim=True))
    if page.cursor is not None:
        rows.append(click.style(f"more: --cursor {page.cursor}", dim=True))
    empty = none_found("episodes", asked, otherwise="They are written when work ends.")
    return "\n".join(rows) or empty


def _row(view: Any) -> str:
    one = view.episode
    mark = "" if view.state == "final" else click.style(f"  {view.state}", fg="yellow")
    turns = len(one.turns)
    return f"{one.finalized_at[:10]}  {one.id}  {one.title}  ({turns} turn{'s' * (turns != 1)}){mark}"
