"""`gitmem turn`: record a turn from events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import group, options
from gitmem.cli.events import read_events
from gitmem.cli.settings import current
from gitmem.counted import counted
from gitmem.errors import RevisionConflict, exit_code_of

if TYPE_CHECKING:
    from gitmem.records import Receipt

_MOVED = RevisionConflict.exit_code

links = options(
    click.option("--session", metavar="ID", help="The conversation; events may name another."),
    click.option("--workspace", metavar="ID", help="Where the work happens."),
    click.option("--work-item", metavar="ID", help="What it is for."),
)
source = click.option(
    "--input", "source", metavar="FILE", default="-", help="JSON lines; - is standard input."
)
which = click.option(
    "--turn", "turn_id", metavar="ID", help="The open turn; not needed while only one is open."
)


@group(
    example="""echo '{"kind": "message", "role": "user", "text": "Staging is on port 2222"}' |
        gitmem turn --session s1""",
    invoke_without_command=True,
    subcommand_metavar="[open|add|close]",
)
@links
@source
@click.pass_context
def command(
    ctx: click.Context, session: str | None, workspace: str | None, work_item: str | None, source: str
) -> None:
    """Record a turn from events, one JSON object a line.

    The whole input is one turn. To feed one turn from several programs, use open, add and close. Kinds of
    events: message, tool_execution, brief, decision, session, file, task, wait, work_item.
    """
    if ctx.invoked_subcommand is not None:
        return
    settings = current()
    home = settings.open_home()
    with read_events(source) as events:
        receipt = home.record(events, session=session, workspace=workspace, work_item=work_item)
    _reply(ctx, receipt)


@command.command("open", example="turn=$(gitmem turn open --session s1)")
@links
def open_(session: str | None, workspace: str | None, work_item: str | None) -> None:
    """Begin a turn that several programs feed, and print its id."""
    settings = current()
    turn_id = settings.open_home().turn_open(session=session, workspace=workspace, work_item=work_item)
    settings.reply({"turn_id": turn_id}, turn_id)


@command.command("add", example='gitmem turn add --turn "$turn" --input events.jsonl')
@which
@source
def add(turn_id: str | None, source: str) -> None:
    """Add events to an open turn, and print their source refs."""
    settings = current()
    home = settings.open_home()
    with read_events(source) as events:
        records = home.turn_add(events, turn_id)
    settings.reply(
        {"turn_id": turn_id, "records": records}, "\n".join(str(record["source_ref"]) for record in records)
    )


@command.command("close", example='gitmem turn close --turn "$turn"')
@which
@click.option("--input", "source", metavar="FILE", help="Last events as JSON lines; - is standard input.")
@click.pass_context
def close(ctx: click.Context, turn_id: str | None, source: str | None) -> None:
    """End an open turn and commit it; last events may come with it."""
    home = current().open_home()
    with read_events(source) as events:
        receipt = home.turn_close(events, turn_id)
    _reply(ctx, receipt)


def _reply(ctx: click.Context, receipt: Receipt) -> None:
    settings = current()
    for warning in receipt.warnings:
        settings.warn(warning)
    for redaction in receipt.redactions:
        settings.warn(f"a secret ({redaction['rule']}) was redacted in {redaction['record']}")
    for refusal in receipt.refused:
        why = refusal.get("message") or refusal["code"]
        settings.warn(f"event {refusal['event'] + 1} was refused: {why}")
    settings.reply(receipt, lambda: "" if settings.quiet else describe(receipt))
    if receipt.refused:
        codes = [exit_code_of(refusal["code"]) for refusal in receipt.refused]
        ctx.exit(next((code for code in codes if code != _MOVED), _MOVED))  # else repeating it may help


def describe(receipt: Receipt) -> str:
    """Return what is true of a turn, in one line."""
    number = receipt.turn_id if receipt.turn_index is None else f"Turn {receipt.turn_index}"
    count = len(receipt.records) - 1
    told = counted(count, "record")
    if receipt.committed:
        return f"{number}: {told}, committed as {receipt.committed[:10]} on {receipt.branch}"
    return f"{number}: {told}, safe on disk, not committed yet: {receipt.reason}"
