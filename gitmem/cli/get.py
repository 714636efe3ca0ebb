"""`gitmem get`: print what a source ref names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.cli.write_options import reader_option
from gitmem.control_signs import show_controls

if TYPE_CHECKING:
    from gitmem.agent_sight import Reader


@define(example="gitmem get message:msg_0c1d2e3f4a5b6c7")
@click.argument("ref")
@click.option("--offset", type=click.IntRange(min=0), default=0, show_default=True, help="First character.")
@click.option(
    "--max-chars", type=click.IntRange(min=1), default=12000, show_default=True, help="How many characters."
)
@reader_option
def command(ref: str, offset: int, max_chars: int, by: Reader) -> None:
    """Print what a source ref names: a message, a note, an entry, a tool's output."""
    settings = current()
    memory = settings.open_home().get(ref, offset=offset, max_chars=max_chars, by=by)
    # A color of the text's own could hide a part of it.
    settings.reply({"memory": memory}, lambda: show_controls(memory.content))
    blocked = memory.metadata.get("blocked")
    if blocked:
        settings.warn(f"withheld from the agent, in part or whole: {', '.join(blocked)}")
    held = memory.metadata.get("quarantined")
    if held:
        settings.warn(f"in quarantine, kept from the agent: {', '.join(held)}")
    retracted = memory.metadata.get("retracted")
    if retracted is not None:
        instead = f"; instead: {retracted['with']}" if retracted["with"] else ""
        why = f" ({retracted['reason']})" if retracted["reason"] else ""
        settings.warn(f"retracted by the {retracted['by']} on {retracted['at'][:10]}{why}{instead}")
    if memory.next_offset is not None:
        settings.note(
            f"… {memory.total_chars - memory.next_offset} more; go on with --offset {memory.next_offset}"
        )
