"""A change of a note as data: which bytes it writes, and the text of a note that is new or changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.authored_text import BOM, LINE_BREAK, newline_of, one_line
from gitmem.branch_changes import PathChange
from gitmem.errors import RefusedError, UsageError
from gitmem.front_matter import read_front_matter
from gitmem.front_matter_edit import format_block, quote_secrets, refuse_malformed, set_field, set_tags
from gitmem.git_objects import hash_object
from gitmem.layout import NOTES
from gitmem.note_paths import note_path
from gitmem.note_text import Note, make_note
from gitmem.records import clean_text
from gitmem.redaction import redact_secrets, refuse_secret
from gitmem.slugs import make_slug
from gitmem.tree_files import MAX_FILE

_LEADING_BREAKS: Final = re.compile(r"[\r\n]+")


@dataclass(frozen=True, slots=True)
class NotePlan:
    """A change of one note, ready to be committed.

    Attributes:
        action: `add edit append move remove`.
        path: where the note is behind the change (before it, when it is removed).
        id: the note's id, which no change alters.
        changes: what to write; empty where the note is as it shall be.
        moved_from: the path that a move leaves.
    """

    action: str
    path: str
    id: str
    changes: tuple[PathChange, ...]
    moved_from: str | None = None

    @property
    def source_ref(self) -> str:
        """The address under which `get` finds the note."""
        return f"note:{self.id}"


def new_text(content: str, note_id: str, title: str | None, tags: Sequence[str]) -> str:
    """Return the text of a new note; a front matter block of its own is kept, with the id put in."""
    front = read_front_matter(content)
    refuse_malformed(front)
    content = quote_secrets(content)
    if front.block is None:
        fields: dict[str, str | tuple[str, ...]] = {"id": note_id}
        if title:
            fields["title"] = title
        if tags:
            fields["tags"] = tuple(tags)
        gap = "\n" if content and not content.startswith("\n") else ""
        return f"{format_block(fields)}{gap}{ended(content)}"
    text = set_field(content, "id", note_id)
    if title:
        text = set_field(text, "title", title)
    if tags:
        text = set_tags(text, tuple(dict.fromkeys((*front.tags, *tags))))
    return ended(text)


def new_path(given: str) -> str:
    """Return the path that a caller means, which holds no secret."""
    return note_path(refuse_secret(given, "path"))


def path_of_title(text: str, title: str | None, note_id: str) -> str:
    """Return the path of a note that was given none: from its title, else its first heading."""
    named = one_title(title) or make_note("", text, note_id).title
    if not named or named == "note":
        raise UsageError(
            "a new note needs a path, a title or a heading",
            hint="Give a title, or begin the text with # Title.",
        )
    named = redact_secrets(named)[0]  # before a slug makes it unlike one
    return note_path(f"{NOTES}/{make_slug(named) or f'note-{note_id[:4]}'}.md")


def with_body(note: Note, content: str) -> str:
    """Return a note's text with another body, or with all of it replaced by a text that has its own block."""
    newline = newline_of(note.text) if note.text else "\n"
    content = quote_secrets(ended(content))
    front = read_front_matter(content)
    if front.block is not None or front.is_malformed:
        refuse_malformed(front)
        own = note.front.id or (note.id if front.id else None)
        mark = note.text[: len(BOM)] if note.text.startswith(BOM) else ""
        return mark + (set_field(content, "id", own) if own else content).replace("\n", newline)
    if note.front.block is None:
        refuse_malformed(note.front)
    gap = ""
    if not content.startswith("\n"):
        blank = _LEADING_BREAKS.match(note.body)
        gap = blank[0] if blank else ""
    return note.text[: note.front.body_start] + gap + content.replace("\n", newline)


def plan_text(action: str, note: Note, text: str) -> NotePlan:
    """Plan another text for a note; no change where it is the same."""
    content = note_bytes(text)
    before = note.text.encode()
    changes = () if content == before else (PathChange(note.path, blob_id(before), content),)
    return NotePlan(action, note.path, note.id, changes)


def clean_content(content: str) -> str:
    """Return a caller's text with LF line endings and no lone surrogates."""
    if "\0" in content:
        raise UsageError("a note is text and holds no NUL")
    return LINE_BREAK.sub("\n", clean_text(content)).removeprefix(BOM)


def ended(text: str) -> str:
    """Return a text with a line feed at its end; an empty one stays empty."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def one_title(title: str | None) -> str | None:
    """Return a title as one line; None where there is none."""
    if title is None:
        return None
    return one_line(clean_text(title)) or None


def note_bytes(text: str) -> bytes:
    """Return a note's bytes, which are no more than are read."""
    content = text.encode()
    if len(content) > MAX_FILE:
        raise RefusedError(
            f"a note of {len(content)} bytes; at most {MAX_FILE} are read", hint="Split it.", limit=MAX_FILE
        )
    return content


def blob_id(content: bytes) -> str:
    """Return the id that Git gives a file's content."""
    return hash_object("blob", content)
