"""`gitmem clone`: bring a home to this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.counted import counted

if TYPE_CHECKING:
    from gitmem.clone import CloneReport


@define(example="gitmem clone ssh://git@example.com/aria.git aria-home")
@click.argument("url")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--timeout", metavar="SECONDS", type=click.FloatRange(min=0, min_open=True), help="For all of it."
)
def command(url: str, path: Path, timeout: float | None) -> None:
    """Bring a home from a repository to a new folder, ready to work in.

    A plain `git clone` does as well: the first command that opens it makes it a whole home.
    """
    from gitmem.clone import clone_home
    from gitmem.home import AgentHome

    settings = current()
    report = clone_home(url, path, timeout=timeout)
    AgentHome.open(path, catches_up=False).close()  # settings, hooks and the ledger's copy, as any first open
    settings.reply(report, lambda: "" if settings.quiet else describe(report, path))


def describe(report: CloneReport, path: Path) -> str:
    """Return what was cloned, for people."""
    came = [counted(report.turns, "turn"), counted(report.episodes, "episode")]
    return "\n".join(
        [
            f"{path} is the home of {report.agent} ({report.home_id}).",
            f"  {report.branch} at {report.commit[:10]}, {' and '.join(came)}",
            f"Next: cd {path} && gitmem status",
        ]
    )
