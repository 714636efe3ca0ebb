"""`gitmem init`: make a folder an agent home."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from gitmem.cli.columns import fill, width_of
from gitmem.cli.commands import command as define
from gitmem.cli.settings import current

if TYPE_CHECKING:
    from gitmem.init import InitReport

_DRIVERS: Final = ("diff.gitmem-", "merge.gitmem-")


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
    report = init_home(chosen, agent=agent, now=time.time(), hooks=True)
    settings.reply(report, lambda: "" if settings.quiet else describe(report, chosen))


def describe(report: InitReport, path: Path) -> str:
    """Return what was done, for people, with the next three commands."""
    if not report.created and not report.settings and not report.hooks:
        return f"Nothing to do: {_shown(path)} is the home of {report.agent} ({report.home_id})."
    lines = [f"{_shown(path)} is the home of {report.agent} ({report.home_id})."]
    if report.created:
        where = f"in {report.committed[:10]} on {report.branch}" if report.committed else "on disk"
        lines.append(f"  added {where}: {' '.join(report.created)}")
    if report.reason:
        lines.append(f"  not committed yet: {report.reason}")
    if report.settings:
        lines += _shown_settings(report.settings)
    if report.hooks:
        lines.append(f"  installed Git hooks: {' '.join(report.hooks)}")
    lines += [f"  {note}" for note in report.notes]
    inside = "" if path == Path() else f"cd {path} && "
    steps = (
        (f"{inside}$EDITOR AGENTS.md", "say what the agent is for"),
        ("gitmem turn --input events.jsonl", "record what happened"),
        ("gitmem search WORDS", "find it again"),
    )
    width = max(width_of(step) for step, _ in steps)
    return "\n".join([*lines, "Next:", *(f"  {fill(step, width)}   {what}" for step, what in steps)])


def _shown_settings(settings: Mapping[str, str]) -> Iterator[str]:
    """Yield what was set; of the drivers the names, as what they run is long."""
    plain = {key: value for key, value in settings.items() if not key.startswith(_DRIVERS)}
    names = dict.fromkeys(key.rpartition(".")[0] for key in settings if key.startswith(_DRIVERS))
    if plain:
        yield f"  set in its Git config: {' '.join(f'{key}={value}' for key, value in plain.items())}"
    if names:
        yield f"  drivers for git diff and git merge: {' '.join(names)}"


def _shown(path: Path) -> str:
    return "This folder" if path == Path() else str(path)
