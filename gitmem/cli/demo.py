"""`gitmem demo`: gitmem at work on a copy of a small home."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current


@define(example="gitmem demo --keep /tmp/aria")
@click.option(
    "--keep", type=click.Path(path_type=Path), metavar="PATH", help="Make the copy there, and keep it."
)
def command(keep: Path | None) -> None:
    """See gitmem at work on a copy of a small home: turns, a note, search, the catalog, the log.

    Needs no server and no account; takes a few seconds. The copy stays in a temporary folder to look at.
    """
    from gitmem.demo import run_demo

    settings = current()
    report = run_demo(keep, say=settings.say, program=_program())
    if settings.json:
        settings.reply(report)


def _program() -> str:
    """Return what a person has to type to run gitmem again."""
    if shutil.which("gitmem"):
        return "gitmem"
    started = Path(sys.argv[0]).resolve()
    return f"{sys.executable} -m gitmem" if started.name == "__main__.py" else str(started)
