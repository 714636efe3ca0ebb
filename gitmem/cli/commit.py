"""`gitmem commit`: the operator's commit, with checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import command as define
from gitmem.cli.findings import tell_findings
from gitmem.cli.settings import current
from gitmem.counted import counted
from gitmem.errors import RefusedError

if TYPE_CHECKING:
    from gitmem.commit_found import CommitReply


@define(example="gitmem commit notes/staging.md -m 'Staging moved to port 2222'")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--message", "-m", metavar="TEXT", help="The commit message.")
@click.option(
    "--no-verify", is_flag=True, help="Commit what the checks refuse; the commit names their rules."
)
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], message: str | None, *, no_verify: bool) -> None:
    """Commit your edits of the home's files, and writes of the agent that had to wait.

    Without PATH: every changed and new file of memory, notes, work and episodes, and the home's own files.
    What you staged elsewhere stays staged. Conflict marks, secrets, text that would command the agent, broken
    front matter and stores beyond their limit are named with the fix, and nothing is committed.
    """
    settings = current()
    home = settings.open_home()
    named = [settings.path_in(home, path) for path in paths]
    report = home.commit(() if "." in named else named, message=message, verify=not no_verify)
    settings.reply(report, lambda: "" if settings.quiet else describe(report))
    found = {finding["path"] for finding in report.findings}
    for skipped in report.skipped:
        if skipped["path"] not in found:
            settings.warn(f"{skipped['path']} was left out: {skipped['reason']}")
    for warning in report.warnings:
        settings.warn(warning)
    tell_findings(report.findings)
    if report.is_refused:
        ctx.exit(RefusedError.exit_code)


def describe(report: CommitReply) -> str:
    """Return what was committed, for people."""
    if report.is_refused:
        settled = f"Committed what had waited: {report.path}. " if report.committed else ""
        what = counted(len(report.findings), "finding")
        return f"{settled}Nothing of your edits was committed: {what}. To commit all the same: --no-verify"
    if report.committed:
        return f"Committed as {report.committed[:10]}: {report.path}"
    if report.reason == "nothing to commit":
        return "Nothing to commit."
    return f"Nothing committed: {report.reason}"
