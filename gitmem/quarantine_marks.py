"""What is in quarantine as an operator sees it in a context: all of it, each with a mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gitmem.blocked_parts import BlockedPart
from gitmem.held_files import AGENTS
from gitmem.note_text import Note
from gitmem.quarantine import Quarantine
from gitmem.records import Record

#: Fields of a record's body that a context shows first.
_WORDS = ("text", "output", "summary", "objective", "title")


class MarkedQuarantine(Quarantine):
    """Lets everything through, and marks what an agent would not get."""

    def told(self, record: Record) -> Record | None:
        """Return a record with a mark before its words, if it is held."""
        rules = super().record(record)
        name = next((one for one in _WORDS if isinstance(record.body.get(one), str)), None)
        if not rules or name is None:
            return record
        return replace(record, body={**record.body, name: f"{_mark(rules)} {record.body[name]}"})

    def agents_md(self, text: str) -> str:
        """Return the role contract with a mark before what is held of it."""
        text = text.removeprefix("\ufeff")
        for part in reversed(super().parts(AGENTS, text)):
            text = f"{text[: part.start]}{_mark(part.rules)}\n{text[part.start :]}"
        return text

    def marked_note(self, note: Note) -> Note:
        """Return a note with a mark before its title, if it is held."""
        rules = super().note(note)
        return replace(note, title=f"{_mark(rules)} {note.title}") if rules else note

    def record(self, record: Record) -> tuple[str, ...]:  # noqa: ARG002
        """Hold nothing."""
        return ()

    def parts(self, path: str, text: str) -> list[BlockedPart]:  # noqa: ARG002
        """Hold nothing."""
        return []

    def note(self, note: Note) -> tuple[str, ...]:  # noqa: ARG002
        """Hold nothing."""
        return ()

    def file(self, path: str) -> tuple[str, ...]:  # noqa: ARG002
        """Hold nothing."""
        return ()

    def version(self, path: str, content: bytes) -> tuple[str, ...]:  # noqa: ARG002
        """Hold nothing."""
        return ()


def _mark(rules: Sequence[str]) -> str:
    return f"[in quarantine: {', '.join(rules)}]"
