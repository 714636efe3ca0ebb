"""`gitmem memory write`, `append`, `block` and `guide`: prose memory, and what a prompt gets of memory."""

from __future__ import annotations

from typing import Any

import click

from gitmem.cli.commands import Group, command
from gitmem.cli.events import read_text
from gitmem.cli.note import describe
from gitmem.cli.settings import current
from gitmem.cli.write_options import cause, write_options
from gitmem.errors import UsageError

_target = click.option(
    "--target",
    type=click.Choice(["self", "operator"]),
    required=True,
    help="memory/self.md or memory/operator.md.",
)
_content = click.option(
    "--content", metavar="TEXT", help="The text; without it, or with -, standard input is read."
)


def add_to(group: Group) -> None:
    """Put the commands into their family."""
    for one in (write, append, block, guide):
        group.add_command(one)


@command(name="write", example="gitmem memory write --target self --content - < self.md")
@_target
@_content
@write_options
def write(target: str, content: str | None, **values: Any) -> None:
    """Give operator.md or self.md another text; its history keeps the old one."""
    text = read_text(content, what="content")
    if not text and content != "":  # a closed standard input, as of cron, is no wish
        raise UsageError("standard input was empty", hint="To empty the file: --content ''", field="content")
    _reply(current().open_home().memory_write(target, text, **cause(values)))


@command(name="append", example="gitmem memory append --target self --content 'Reviews wait until Friday.'")
@_target
@_content
@write_options
def append(target: str, content: str | None, **values: Any) -> None:
    """Add text at the end of operator.md or self.md."""
    text = read_text(content, what="content")
    _reply(current().open_home().memory_append(target, text, **cause(values)))


@command(name="block", example="gitmem memory block --session s1")
@click.option("--session", metavar="ID", help="As this conversation sees it; without it as one would now.")
def block(session: str | None) -> None:
    """Print what a prompt gets of the memory stores.

    What a session sees is frozen when it starts, and stays the same until it ends; what is remembered
    meanwhile is in the files, and in the next session.
    """
    settings = current()
    home = settings.open_home()
    if session is None:
        reply = {"session": None, "block": home.memory_block(), "frozen_at": None, "commit": None}
        settings.reply({**reply, "changed": {}}, reply["block"], exact=True)
        return
    asked = home.session(session)
    frozen = asked.frozen()
    changed = asked.changed()
    if changed and not settings.json:
        settings.note(f"frozen at {frozen.frozen_at}; changed since: {', '.join(changed)}")
    settings.reply(
        {
            "session": session,
            "block": frozen.text,
            "frozen_at": frozen.frozen_at,
            "commit": frozen.commit,
            "changed": changed,
        },
        frozen.text,
        exact=True,
    )


@command(name="guide", example="gitmem memory guide >> AGENTS.md")
def guide() -> None:
    """Print what to tell an agent about remembering: what to keep, what to skip, and what when it is full."""
    settings = current()
    text = settings.open_home().memory_guide()
    settings.reply({"guide": text}, text)


def _reply(reply: Any) -> None:
    settings = current()
    for warning in reply.warnings:
        settings.warn(warning)
    for copy in reply.conflicts:
        settings.warn(f"a text that lost the merge is kept in {copy}")
    settings.reply(reply, lambda: "" if settings.quiet else describe(reply))
