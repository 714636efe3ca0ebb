"""`gitmem commit`: the operator's commit, with checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current

if TYPE_CHECKING:
    from gitmem.commit_found import CommitReply


@define(example="gitmem commit notes/staging.md -m 'Staging moved to port 2222'")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--message", "-m", metavar="TEXT", help="The commit message.")
def command(paths: tuple[str, ...], message: str | None) -> None:
    """Commit your edits of the home's files, and writes of the agent that had to wait.

    Without PATH: every changed and new file of memory, notes, work and episodes, and the home's own files.
    What you staged elsewhere stays staged.
    """
    settings = current()
    home = settings.open_home()
    named = [settings.path_in(home, path) for path in paths]
    report = home.commit(() if "." in named else named, message=message)
    settings.reply(report, lambda: "" if settings.quiet else describe(report))
    for skipped in report.skipped:
        settings.warn(f"{skipped['path']} was left out: {skipped['reason']}")


def describe(report: CommitReply) -> str:
    """Return what was committed, for people."""
    if report.committed:
        return f"Committed as {report.committed[:10]}: {report.path}"
    if report.reason == "nothing to commit":
        return "Nothing to commit."
    return f"Nothing committed: {report.reason}"
