"""A note as text: title, summary, tags, and the sections by which it is searched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from gitmem.authored_text import LINE_BREAK, Problem, line_at, one_line, shorten
from gitmem.front_matter import READ_FIELDS, FrontMatter, read_front_matter

MAX_TITLE: Final = 120
MAX_SUMMARY: Final = 200
MAX_TAG: Final = 40
MAX_TAGS: Final = 8

#: What is read for a title and a summary; a longer preamble has none.
_HEAD: Final = 64 * 1024
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})([ \t]*)(.*)")
_CLOSING_MARKS: Final = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_HASH_WORDS: Final = re.compile(r"#\S+(?:\s+#\S+)+\s*")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)[ \t]*")

#: A line that begins so is code, unless it goes on with a paragraph.
_INDENTS: Final = ("    ", "\t")
#: A line that begins with one of these is a list, a quotation or a table, and no heading.
_BLOCK_MARKS: Final = "-*+>|"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a note that is searched by itself: from one heading of level 1 or 2 to the next.

    Attributes:
        heading: its text; None for what stands before the first one, and for the front matter.
        line: of its first line in the file, from 1.
        text: as it stands in the file, heading included, with LF as line ending.
    """

    heading: str | None
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """One note as it is shown and searched.

    Attributes:
        path: relative to the home, with slashes.
        id: opaque; `source_ref` is its address.
        title, summary: at most 120 and 200 characters.
        tags: all of them, lower-case.
        text: the whole text of the file.
        front: its front matter.
        problems: what could not be read, by line.
    """

    path: str
    id: str
    title: str
    summary: str | None
    tags: tuple[str, ...]
    text: str
    front: FrontMatter
    problems: tuple[Problem, ...] = ()

    @property
    def source_ref(self) -> str:
        """The address under which `get` finds this note."""
        return f"note:{self.id}"

    @property
    def body(self) -> str:
        """What stands below the front matter."""
        return self.text[self.front.body_start :]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line outside code: `kind` is `text`, `blank`, `heading` or `other` (rules, fences, comments)."""

    number: int
    kind: str
    text: str
    level: int = 0


def make_note(path: str, text: str, note_id: str, front: FrontMatter | None = None) -> Note:
    """Return the note of a file's text.

    Args:
        path: relative to the home, with slashes.
        text: the whole file.
        note_id: the id it is known by.
        front: its front matter, if the caller has read it already.
    """
    front = read_front_matter(text) if front is None else front
    head = list(_marked(text[front.body_start : front.body_start + _HEAD]))
    heading = next((line.text for line in head if line.kind == "heading"), None)
    # A malformed block's title is what stands on the line; the author's own heading is the better word.
    titles = (heading, front.title) if front.is_malformed else (front.title, heading)
    title = next((title for title in titles if title), None) or _title_of_path(path)
    return Note(
        path=path,
        id=note_id,
        title=shorten(title, MAX_TITLE),
        summary=shorten(front.summary or _first_paragraph(head), MAX_SUMMARY) or None,
        tags=front.tags,
        text=text,
        front=front,
        problems=front.problems,
    )


def split_sections(text: str, front: FrontMatter | None = None) -> list[Section]:
    """Return the parts of a note's text that are searched, in file order; together they hold all its words.

    Fields that gitmem does not read, and a block that it cannot read, are a section without heading.
    """
    front = read_front_matter(text) if front is None else front
    sections = [section for section in [_front_section(front)] if section]
    first = line_at(text, front.body_start)
    lines = LINE_BREAK.split(text[front.body_start :])
    starts = [line for line in _marked_lines(lines) if line.kind == "heading" and line.level <= 2]
    bounds = [(0, None), *((line.number, line.text) for line in starts), (len(lines), None)]
    for (start, heading), (end, _) in pairwise(bounds):
        begin = next((n for n in range(start, end) if lines[n].strip()), None)
        if begin is not None:
            sections.append(Section(heading, first + begin, "\n".join(lines[begin:end]).rstrip()))
    return sections


def _front_section(front: FrontMatter) -> Section | None:
    if front.block is None:
        return None
    if front.is_malformed:
        text = "\n".join(LINE_BREAK.split(front.block)).strip()
        return Section(None, 2, text) if text else None
    others = [one for name, one in front.fields.items() if name not in READ_FIELDS]
    parts = [f"{one.name}: {_source(front, one.node.start, one.node.end)}".strip() for one in others]
    return Section(None, others[0].line, "\n".join(parts)) if others else None


def _source(front: FrontMatter, start: int, end: int) -> str:
    return "\n".join(LINE_BREAK.split((front.block or "")[start:end]))


def _first_paragraph(lines: Sequence[_Line]) -> str:
    words: list[str] = []
    for line in lines:
        if line.kind == "text":
            words.append(line.text)
            if sum(map(len, words)) > MAX_SUMMARY:
                break
        elif words:
            break
    return one_line(" ".join(words))


def _title_of_path(path: str) -> str:
    return one_line(PurePosixPath(path).stem.replace("_", " ").replace("-", " ")) or "note"


def _marked(text: str) -> Iterator[_Line]:
    return _marked_lines(LINE_BREAK.split(text))


def _marked_lines(lines: Sequence[str]) -> Iterator[_Line]:
    """Yield each line outside code and comments with what it is; numbers count from 0."""
    fence: str | None = None
    in_comment = in_text = False
    for number, line in enumerate(lines):
        if fence is not None:
            fence = None if _closes(line, fence) else fence
            continue
        if in_comment or line.lstrip().startswith("<!--"):
            in_comment, in_text = "-->" not in line, False
            yield _Line(number, "other", "")
            continue
        opening = _FENCE.match(line)
        if opening and not (opening[1][0] == "`" and "`" in line[opening.end() :]):
            fence, in_text = opening[1], False
            yield _Line(number, "other", "")
            continue
        if not in_text and line.startswith(_INDENTS) and line.strip():
            yield _Line(number, "other", "")
            continue
        marked = _marked_line(number, line, lines)
        in_text = marked.kind == "text"
        yield marked


def _closes(line: str, fence: str) -> bool:
    mark = _FENCE.match(line)
    return bool(mark and mark[1].startswith(fence) and not line[mark.end() :].strip())


def _marked_line(number: int, line: str, lines: Sequence[str]) -> _Line:
    if not line.strip():
        return _Line(number, "blank", "")
    heading = _HEADING.fullmatch(line)
    if heading and not (len(heading[1]) == 1 and not heading[2] and _HASH_WORDS.fullmatch(line.lstrip())):
        text = one_line(_CLOSING_MARKS.sub("", heading[3]))
        return _Line(number, "heading" if text else "other", text, len(heading[1]))
    if _is_underline(number, lines) or _RULE.fullmatch(line):
        return _Line(number, "other", "")
    if number + 1 < len(lines) and _is_underline(number + 1, lines):
        return _Line(number, "heading", one_line(line), 1 if "=" in lines[number + 1] else 2)
    return _Line(number, "text", one_line(line))


def _is_underline(number: int, lines: Sequence[str]) -> bool:
    """Say whether a line underlines the one before it, which then is a heading of one line."""
    if number == 0 or not _UNDERLINE.fullmatch(lines[number]):
        return False
    above = lines[number - 1]
    if not above.strip() or above.startswith(_INDENTS) or _HEADING.fullmatch(above) or _FENCE.match(above):
        return False
    if _RULE.fullmatch(above) or _UNDERLINE.fullmatch(above) or above.lstrip()[0] in _BLOCK_MARKS:
        return False
    return number == 1 or not lines[number - 2].strip()
