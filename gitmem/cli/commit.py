"""`gitmem commit`: the operator's commit, with checks."""

from __future__ import annotations

from typing import Any

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current


@define(example="gitmem commit notes/staging.md -m 'Staging moved to port 2222'")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--message", "-m", metavar="TEXT", help="The commit message.")
def command(paths: tuple[str, ...], message: str | None) -> None:
    """Commit your edits of the home's files, and writes of the agent that had to wait.

    Without PATH: every changed and new file of memory, notes, work and episodes, and the home's own files.
    What you staged elsewhere stays staged.
    """
    settings = current()
    report = settings.open_home().commit(paths, message=message)
    settings.reply(report, lambda: "" if settings.quiet else describe(report))


def describe(report: Any) -> str:
    """Return what was committed, for people."""
    if report.committed:
        return f"Committed as {report.committed[:10]}: {report.path}"
    return f"Nothing committed: {report.reason}"
