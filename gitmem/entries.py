"""A memory store: short facts in one file, separated by lines that hold only `§`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.authored_text import BOM, LINE_BREAK
from gitmem.errors import RefusedError, UsageError

#: What stands between two entries; counted as three characters of the store's size.
DELIMITER: Final = "\n§\n"

_MARK: Final = "§"


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact of a store.

    Attributes:
        text: without surrounding white space; its lines end in LF whatever the file has.
        id: from the text, so the same text again is the same fact.
        line: number of its first line in the file, from 1; 0 where it was not read from a file.
    """

    text: str
    id: str
    line: int = 0


def parse_store(text: str) -> list[Entry]:
    """Return the entries of a store's text; tolerant, so any text has some.

    Line endings may be LF, CRLF or CR, white space around entries and delimiters does not count, empty
    entries are dropped and of equal ones the first is kept.
    """
    entries: dict[str, Entry] = {}
    block: list[str] = []
    start = 1
    for number, line in enumerate([*LINE_BREAK.split(text.removeprefix(BOM)), _MARK], 1):
        if line.strip() == _MARK:
            entry = _entry_at(block, start)
            if entry is not None:
                entries.setdefault(entry.text, entry)
            block, start = [], number + 1
        else:
            block.append(line)
    return list(entries.values())


def format_store(entries: Iterable[Entry], newline: str = "\n", mark: str = "") -> str:
    """Return the text of a store as it stands on disk: with a newline at its end, empty without entries.

    Args:
        entries: in file order.
        newline: the one line ending of the file; `authored_text.newline_of` tells what a text has.
        mark: the byte order mark that the file begins with, if it does.
    """
    text = DELIMITER.join(entry.text for entry in entries)
    return f"{mark}{text}\n".replace("\n", newline) if text else ""


def make_entry(text: str) -> Entry:
    """Return the entry of a caller's text, stripped.

    Raises:
        UsageError: there is nothing in it.
        RefusedError: a line of it would be read back as a delimiter.
    """
    text = LINE_BREAK.sub("\n", text).strip()
    if not text:
        raise UsageError("an entry needs text")
    if any(line.strip() == _MARK for line in text.split("\n")):
        raise RefusedError(
            "a line holding only § would split the entry in two",
            hint="Write § inside a line, or use another mark.",
        )
    return Entry(text, entry_id(text))


def entry_digest(text: str) -> str:
    """Return the SHA-256 of an entry's text, by which a forgotten entry is known."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def entry_id(text: str) -> str:
    """Return the id of an entry with this text."""
    return entry_digest(text)[:15]


def count_chars(entries: Sequence[Entry]) -> int:
    """Return the size that is held against a store's limit: code points, delimiters included."""
    return sum(len(entry.text) for entry in entries) + len(DELIMITER) * max(len(entries) - 1, 0)


def _entry_at(block: Sequence[str], start: int) -> Entry | None:
    text = "\n".join(block)
    stripped = text.strip()
    if not stripped:
        return None
    blank = text[: len(text) - len(text.lstrip())].count("\n")
    return Entry(stripped, entry_id(stripped), start + blank)
