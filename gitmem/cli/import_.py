"""`gitmem import`: bring conversations of other programs in as turns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.counted import counted
from gitmem.errors import UsageError

if TYPE_CHECKING:
    from gitmem.importers.jsonl import ImportReport

KINDS = ("jsonl",)


@define(example="gitmem import jsonl conversations.jsonl --dry-run")
@click.argument("words", nargs=-1, required=True, metavar="[KIND] PATH")
@click.option("--dry-run", is_flag=True, help="Say what would be imported; write nothing.")
def command(words: tuple[str, ...], *, dry_run: bool) -> None:
    """Import conversations as turns, with the times at which they happened.

    KIND is jsonl: events as for `gitmem turn`, with session, turn, ts, source and source_id. Consecutive
    lines of one turn are one turn; without turn, a user message begins one. What was imported before is left
    alone. PATH may be - for standard input.
    """
    path = _path_of(words)
    settings = current()
    report = settings.open_home().import_jsonl(path, dry_run=dry_run)
    settings.reply(report, lambda: describe(report))
    for skipped in report.skipped:
        settings.warn(f"line {skipped.line}: {skipped.reason}")


def _path_of(words: tuple[str, ...]) -> Path:
    if len(words) > 2:
        raise UsageError("give one path", hint="gitmem import [KIND] PATH")
    if len(words) == 2 and words[0] not in KINDS:
        raise UsageError(f"cannot import {words[0]!r}", hint=f"Kinds: {', '.join(KINDS)}.")
    path = Path("/dev/stdin" if words[-1] == "-" else words[-1])
    if path.is_dir():
        raise UsageError(f"a folder, not a file: {path}")
    if not path.exists():
        raise UsageError(f"no such file: {path}")
    return path


def describe(report: ImportReport) -> str:
    """Return what was imported, for people."""
    verb = "Would import" if report.dry_run else "Imported"
    turns, records = counted(report.turns, "turn"), counted(report.records, "record")
    lines = [f"{verb} {turns} of {counted(report.sessions, 'session')}, {records} in all."]
    if report.known:
        lines.append(f"Here already: {counted(report.known, 'record')}.")
    if report.forgotten:
        lines.append(f"Forgotten here, and not brought back: {counted(report.forgotten, 'record')}.")
    if report.redactions:
        lines.append(f"Redacted: {counted(report.redactions, 'secret')}.")
    return "\n".join(lines)
