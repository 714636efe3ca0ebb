"""Text that people and editors wrote: how its bytes are read, its lines, and how it is shown on one line."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

BOM: Final = "\ufeff"

#: The line breaks of authored files; U+0085, U+2028 and the like are ordinary characters in them.
LINE_BREAK: Final = re.compile(r"\r\n?|\n")

#: Longer marks first: UTF-32 LE begins as UTF-16 LE does.
_FOREIGN_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "UTF-32 LE"),
    (codecs.BOM_UTF32_BE, "UTF-32 BE"),
    (codecs.BOM_UTF16_LE, "UTF-16 LE"),
    (codecs.BOM_UTF16_BE, "UTF-16 BE"),
)
#: Controls, and the marks that make a terminal or an editor show text in another order than it has.
_UNSHOWN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one authored file; it costs only what it names.

    Attributes:
        line: from 1; None where the whole file is meant.
    """

    line: int | None
    reason: str

    def __str__(self) -> str:
        """Return `line 3: reason`."""
        return self.reason if self.line is None else f"line {self.line}: {self.reason}"


def decode_text(content: bytes) -> str | Problem:
    """Return the text of an authored file, its byte order mark and line endings kept.

    Encoding the text again gives the same bytes. Anything but UTF-8 is a problem that names the encoding.
    """
    foreign = _foreign_encoding(content)
    if foreign:
        return Problem(None, f"{foreign} text; save it as UTF-8")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(LINE_BREAK.findall(content[: error.start].decode("utf-8", "replace"))) + 1
        return Problem(line, f"not UTF-8 (byte 0x{content[error.start]:02X})")


def newline_of(text: str) -> str:
    """Return the line ending that most lines of a text have; LF where it has none."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf > text.count("\n") - crlf else "\n"


def line_at(text: str, offset: int) -> int:
    """Return the number, from 1, of the line on which the character at `offset` stands."""
    return len(LINE_BREAK.findall(text, 0, offset)) + 1


def one_line(text: str) -> str:
    """Return `text` on one line: white space runs become a space, controls go."""
    return _UNSHOWN.sub("", " ".join(text.split())).strip()


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` code points of `text`; what is cut ends in an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _foreign_encoding(content: bytes) -> str | None:
    for mark, name in _FOREIGN_MARKS:
        if content.startswith(mark):
            return name
    head = content[:4096]
    # Latin text in UTF-16 has a NUL in every second byte; without its mark it would pass for UTF-8.
    if head.count(0) * 3 > len(head):
        return "UTF-16 LE" if head[1::2].count(0) > head[0::2].count(0) else "UTF-16 BE"
    return None
