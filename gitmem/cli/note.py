"""`gitmem note`: write and show one note."""

from __future__ import annotations

from typing import Any

import click

from gitmem.cli.commands import group
from gitmem.cli.events import read_text
from gitmem.cli.notes import note_view
from gitmem.cli.settings import current
from gitmem.cli.write_options import cause, write_options

content_option = click.option("--content", metavar="TEXT", help="The text; - reads standard input.")


@group(example="echo 'Staging listens on port 2222.' | gitmem note add staging.md --title Staging --tag ssh")
def command() -> None:
    """Add, edit, append to, move, remove or show a note.

    A note is named by its path below notes/, or by its source ref.
    """


@command.command("add", example="gitmem note add ops/staging.md --title Staging --content 'Port 2222.'")
@click.argument("path", required=False)
@click.option("--title", metavar="TEXT", help="Its title; by default the first heading.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; may be repeated.")
@content_option
@write_options
def add(
    path: str | None, title: str | None, tags: tuple[str, ...], content: str | None, **values: Any
) -> None:
    """Add a note. Without PATH its file is called after the title."""
    text = read_text(content, what="content")
    _write(lambda home: home.note_add(path, content=text, title=title, tags=tags, **cause(values)))


@command.command("edit", example="gitmem note edit staging.md --content - < staging.md")
@click.argument("note", metavar="PATH|REF")
@click.option("--title", metavar="TEXT", help="A new title.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="New tags, instead of those it has.")
@content_option
@write_options
def edit(note: str, title: str | None, tags: tuple[str, ...], content: str | None, **values: Any) -> None:
    """Change a note's text, title or tags; what is not named stays."""
    given = None if content is None and (title or tags) else read_text(content, what="content")
    _write(lambda home: home.note_edit(note, content=given, title=title, tags=tags or None, **cause(values)))


@command.command("append", example="gitmem note append staging.md --content 'Reset takes 12 minutes.'")
@click.argument("note", metavar="PATH|REF")
@content_option
@write_options
def append(note: str, content: str | None, **values: Any) -> None:
    """Add text at a note's end."""
    text = read_text(content, what="content")
    _write(lambda home: home.note_append(note, text, **cause(values)))


@command.command("move", example="gitmem note move staging.md ops/staging.md")
@click.argument("note", metavar="PATH|REF")
@click.argument("target", metavar="PATH")
@write_options
def move(note: str, target: str, **values: Any) -> None:
    """Give a note another path; it stays the same note."""
    _write(lambda home: home.note_move(note, target, **cause(values)))


@command.command("remove", example="gitmem note remove old.md --reason 'replaced by staging.md'")
@click.argument("note", metavar="PATH|REF")
@write_options
def remove(note: str, **values: Any) -> None:
    """Remove a note; its history keeps it."""
    _write(lambda home: home.note_remove(note, **cause(values)))


@command.command("show", example="gitmem note show staging.md")
@click.argument("note", metavar="PATH|REF")
def show(note: str) -> None:
    """Print a note."""
    settings = current()
    found = settings.open_home().note_show(note)
    settings.reply({"note": {**note_view(found), "content": found.text}}, lambda: found.text)


def _write(change: Any) -> None:
    settings = current()
    receipt = change(settings.open_home())
    for rule in receipt.redactions:
        settings.warn(f"a secret ({rule}) was redacted")
    for copy in receipt.conflicts:
        settings.warn(f"a text that lost the merge is kept in {copy}")
    settings.reply(receipt, lambda: "" if settings.quiet else describe(receipt))


def describe(receipt: Any) -> str:
    """Return what is true of a write, in one line."""
    if receipt.staged:
        return f"{receipt.path}: {receipt.reason}"
    if receipt.unchanged:
        return f"{receipt.path}: it is so already"
    if receipt.committed:
        return f"{receipt.path}: committed as {receipt.committed[:10]}  {receipt.source_ref or ''}".rstrip()
    return f"{receipt.path}: written, not committed: {receipt.reason}"
