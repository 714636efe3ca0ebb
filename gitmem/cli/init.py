"""`gitmem init`: make a folder an agent home."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitmem.cli.columns import fill, width_of
from gitmem.cli.commands import command as define
from gitmem.cli.settings import current

if TYPE_CHECKING:
    from gitmem.init import InitReport


@define(example="gitmem init aria-home --agent aria")
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--agent", metavar="NAME", help="The agent's name.")
def command(path: Path | None, agent: str | None) -> None:
    """Make a folder an agent home.

    A folder that is a Git repository already keeps its history and its uncommitted work: only what is missing
    is added. A second run changes nothing.
    """
    from gitmem.init import init_home

    settings = current()
    chosen = path or settings.home or Path()
    report = init_home(chosen, agent=agent, now=time.time())
    settings.reply(report, lambda: "" if settings.quiet else describe(report, chosen))


def describe(report: InitReport, path: Path) -> str:
    """Return what was done, for people, with the next three commands."""
    if not report.created and not report.settings:
        return f"Nothing to do: {_shown(path)} is the home of {report.agent} ({report.home_id})."
    lines = [f"{_shown(path)} is the home of {report.agent} ({report.home_id})."]
    if report.created:
        where = f"in {report.committed[:10]} on {report.branch}" if report.committed else "on disk"
        lines.append(f"  added {where}: {' '.join(report.created)}")
    if report.reason:
        lines.append(f"  not committed yet: {report.reason}")
    if report.settings:
        shown = " ".join(f"{key}={value}" for key, value in report.settings.items())
        lines.append(f"  set in its Git config: {shown}")
    lines += [f"  {note}" for note in report.notes]
    inside = "" if path == Path() else f"cd {path} && "
    steps = (
        (f"{inside}$EDITOR AGENTS.md", "say what the agent is for"),
        ("gitmem turn --input events.jsonl", "record what happened"),
        ("gitmem search WORDS", "find it again"),
    )
    width = max(width_of(step) for step, _ in steps)
    return "\n".join([*lines, "Next:", *(f"  {fill(step, width)}   {what}" for step, what in steps)])


def _shown(path: Path) -> str:
    return "This folder" if path == Path() else str(path)
