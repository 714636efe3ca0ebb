"""`gitmem tasks`: what runs beside the conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.commands import command as define
from gitmem.cli.none_found import none_found
from gitmem.cli.settings import current
from gitmem.cli.work import as_of_option

if TYPE_CHECKING:
    from gitmem.work_listing import TaskPage

_STATUSES = ("queued", "running", "cancelling", "completed", "failed", "cancelled", "interrupted")


@define(example="gitmem tasks --status running")
@click.option("--status", type=click.Choice(_STATUSES), help="Only those in it.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="How many at most.")
@click.option("--cursor", metavar="TEXT", help="Go on behind an earlier answer.")
@as_of_option
def command(**values: Any) -> None:
    """List tasks as their last snapshots tell them, those that changed last first."""
    settings = current()
    page = settings.open_home().tasks(**values)
    settings.reply(page, lambda: describe(page, values))


def describe(page: TaskPage, asked: Mapping[str, Any]) -> str:
    """Return the list for people.

    Args:
        page: of it.
        asked: the options that it was asked for with.
    """
    if not page.tasks:
        return none_found("tasks", asked)
    rows = [f"{task.updated_at[:16]}  {task.status:<11}  {task.id}  {task.summary or ''}".rstrip()
            for task in page.tasks]  # fmt: skip
    if page.cursor is not None:
        rows.append(click.style(f"more: --cursor {page.cursor}", dim=True))
    return "\n".join(rows)
