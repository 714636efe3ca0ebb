"""`gitmem maintain`: keep the repository small and quick."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import Settings, current
from gitmem.counted import counted

if TYPE_CHECKING:
    from gitmem.maintenance import MaintainReport

#: Exit code of corruption.
CORRUPT: Final = 20
_MIB: Final = 1 << 20


@define(example="gitmem maintain --dry-run\ngitmem maintain --seconds 30")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="Begin no further step after that time; another run goes on.",
)
@click.option("--if-due", is_flag=True, help="Do nothing unless there is enough to be worth the time.")
@click.pass_context
def command(ctx: click.Context, *, dry_run: bool, seconds: float | None, if_due: bool) -> None:
    """Merge the packs of turns, pack loose objects and loose tags.

    `gitmem watch` does this by itself. It is safe beside turns, beside git gc and beside everything else that
    Git does, and may be killed at any moment. Nothing is ever pruned: what no ref reaches stays as it is.
    """
    settings = current()
    home = settings.open_home()
    if if_due and not home.maintenance_need().reasons:
        settings.reply({"due": []}, "Nothing is due.")
        return
    report = home.maintain(dry_run=dry_run, seconds=seconds, progress=_teller(settings))
    settings.reply(report, lambda: describe(report))
    for warning in report.warnings:
        settings.warn(warning)
    for name in report.damaged:
        settings.warn(f"{name} is damaged and was left as it is: git fsck")
    if report.damaged:
        ctx.exit(CORRUPT)


def describe(report: MaintainReport) -> str:
    """Return what was done, for people."""
    known = (
        (report.loose["packed"], "loose object packed", "loose objects packed"),
        (report.packs["merged"], "pack merged", "packs merged"),
        (report.tags["packed"], "tag packed", "tags packed"),
    )
    done = ", ".join(counted(count, *words) for count, *words in known if count) or "nothing to do"
    if report.dry_run:
        return f"Would do: {done}."
    before, after = (report.bytes[name] / _MIB for name in ("before", "after"))
    lines = [f"Done: {done}; {before:,.1f} MiB of objects became {after:,.1f}."]
    if report.commit_graph == "removed":
        lines.append("Git's commit-graph was broken and is removed; Git works without it.")
    if report.loose["left"]:
        count = counted(report.loose["left"], "loose object", "loose objects")
        lines.append(f"{count} that no branch, tag or reflog reaches, or that are large: left to git gc.")
    if not report.finished:
        lines.append("Not all of it yet: call it again to go on.")
    return "\n".join(lines)


def _teller(settings: Settings) -> Callable[[str], None]:
    def tell(what: str) -> None:
        if settings.json:
            settings.note(json.dumps({"doing": what}))
        elif settings.verbose:
            settings.note(what)

    return tell
