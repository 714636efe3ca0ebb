"""`gitmem memory`: short facts that are always in the prompt, in two bounded stores."""

from __future__ import annotations

import json
from typing import Any

import click

from gitmem.authoring import Author
from gitmem.cli import standard_input
from gitmem.cli.commands import group, options
from gitmem.cli.events import read_text
from gitmem.cli.memory_write import add_to
from gitmem.cli.settings import current
from gitmem.cli.write_options import cause, write_options
from gitmem.errors import RefusedError, ThreatFound

target_option = click.option(
    "--target",
    type=click.Choice(["memory", "user"]),
    default="memory",
    show_default=True,
    help="The agent's notes, or what it knows of the user.",
)
content_option = click.option("--content", metavar="TEXT", help="The text; - reads standard input.")
old_text_option = click.option(
    "--old-text", metavar="TEXT", help="A part of the entry that is meant, or entry: and its id."
)
call_options = options(target_option, write_options)


@group(example="gitmem memory add --content 'Staging listens on port 2222.' --reason 'the user said so'")
def command() -> None:
    """Add, replace, remove and show entries of the agent's memory.

    An entry is a short fact. The stores are small on purpose, because every prompt holds them whole.
    """


@command.command("add", example="gitmem memory add --target user --content 'Prefers short answers.'")
@content_option
@call_options
def add(target: str, content: str | None, **values: Any) -> None:
    """Add an entry; one that is there already is not added again."""
    _call({"action": "add", "target": target, "content": read_text(content, what="content")}, values)


@command.command("replace", example="gitmem memory replace --old-text 'port 2222' --content 'Port 2223.'")
@old_text_option
@content_option
@call_options
def replace(target: str, old_text: str | None, content: str | None, **values: Any) -> None:
    """Replace the whole entry that holds --old-text."""
    text = read_text(content, what="content")
    _call({"action": "replace", "target": target, "old_text": old_text, "content": text}, values)


@command.command("remove", example="gitmem memory remove --old-text 'port 2222'")
@old_text_option
@call_options
def remove(target: str, old_text: str | None, **values: Any) -> None:
    """Remove the entry that holds --old-text; its history keeps it."""
    _call({"action": "remove", "target": target, "old_text": old_text}, values)


@command.command(
    "batch",
    example="""gitmem memory batch --operations '[{"action": "remove", "old_text": "port 2222"},"""
    """ {"action": "add", "content": "Staging moved to port 2223."}]'""",
)
@click.option("--operations", metavar="JSON", help="A list of operations; - reads standard input.")
@call_options
def batch(target: str, operations: str | None, **values: Any) -> None:
    """Carry out several operations, all of them or none.

    Only the size behind the last one counts against the limit.
    """
    text = read_text(operations, what="operations")
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = text or None  # answered as any other value that is no list
    _call({"target": target, "operations": parsed}, values)


@command.command("show", example="gitmem memory show --target user")
@target_option
@click.option(
    "--as",
    "by",
    type=click.Choice(["agent", "operator"]),
    help="For whom: poisoned entries are shown to an operator only.",
)
def show(target: str, by: Author | None) -> None:
    """Print the entries of a store and how full it is."""
    settings = current()
    reader: Author = by or ("operator" if standard_input.is_terminal() else "agent")
    view = settings.open_home().memory_show(target, by=reader)
    off = "" if view.enabled else "  (switched off: in no prompt, and not written by the agent)"
    lines = [
        f"{view.usage}{off}",
        *(f"{entry.source_ref}  {_indented(entry.text)}" for entry in view.entries),
    ]
    settings.reply(view, "\n".join(lines))


def _call(arguments: dict[str, Any], values: dict[str, Any]) -> None:
    settings = current()
    reply = settings.open_home().memory(**arguments, **cause(values))
    settings.reply(reply, lambda: "" if settings.quiet else _told(reply))
    if not reply.success:
        if not settings.json:
            if reply.for_people:
                raise ThreatFound(str(reply.error), hint=reply.remediation, for_people=reply.for_people)
            raise RefusedError(str(reply.error), hint=reply.remediation)
        click.get_current_context().exit(RefusedError.exit_code)


def _told(reply: Any) -> str:
    if not reply.success:
        return "\n".join(_listed(reply))
    if reply.staged:
        return str(reply.message)
    where = f"committed as {reply.committed[:10]}" if reply.committed else f"not committed: {reply.reason}"
    if reply.unchanged and reply.committed:  # of a change that there was not
        where = "unchanged"
    before = [f"before: {_indented(text)}" for text in _replaced(reply)]
    return "\n".join([f"{reply.message} {reply.usage}", *before, f"{where}  {reply.source_ref}"])


def _replaced(reply: Any) -> list[str]:
    many = list((reply.replaced_entries or {}).values())
    return [reply.replaced_entry] if reply.replaced_entry is not None else many


def _listed(reply: Any) -> list[str]:
    return [f"- {_indented(text)}" for text in reply.current_entries or reply.matches or ()]


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


add_to(command)
