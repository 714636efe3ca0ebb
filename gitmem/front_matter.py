"""Front matter of a note, read and never written here: every value as the text that stands in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from gitmem.authored_text import BOM, LINE_BREAK, Problem, line_at, one_line
from gitmem.front_matter_yaml import (
    MAX_BLOCK,
    Node,
    UnreadableBlock,
    has_foreign_tag,
    is_possible,
    read_block,
)
from gitmem.note_tags import normalise_tags

#: The fields that gitmem reads; all others are the operator's and are only searched.
READ_FIELDS: Final = ("id", "title", "summary", "tags")

_LINE_START: Final = r"(?:\A|(?<=[\r\n]))"
_KEY_END: Final = r"[ \t]{0,8}:(?=[ \t\r\n]|\Z)"
_OPENING: Final = re.compile(rf"{BOM}?---[ \t]*(?:\r\n?|\n)")
_CLOSING: Final = re.compile(r"(?<=[\r\n])---[ \t]*(?:\r\n?|\n|\Z)")
_KEY_LINE: Final = re.compile(rf"{_LINE_START}[ \t]*[\"']?\w[\w. -]{{0,80}}[\"']?{_KEY_END}")
_READ_KEY_LINE: Final = re.compile(rf"{_LINE_START}(?:{'|'.join(READ_FIELDS)}){_KEY_END}", re.IGNORECASE)
_OTHER_MAPPING: Final = re.compile(r"[ \t]*(?:\{|\?[ \t])")
_PLAIN_KEY: Final = re.compile(r"\w[\w.-]{0,63}(?: [\w.-]{1,63}){0,2}")
_ID: Final = re.compile(r"(?=.*[A-Za-z0-9_-])[A-Za-z0-9_.-]{1,80}")


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its name as written, its value, its line in the file."""

    name: str
    key: Node
    node: Node
    line: int


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands above a note's body.

    Attributes:
        title, summary, tags, id: cleaned; None or empty where missing or not usable.
        fields: by lower-case name, the last of equal names.
        problems: what could not be read, with lines.
        block: the text between the two `---` lines; None without front matter.
        block_start: offset of `block` in the text; places of nodes are counted from there.
        body_start: offset of the body in the text.
        is_malformed: there is a block, and it must not be edited.
        is_flow: the fields stand in one pair of braces.
        column: where field names begin in their lines.
    """

    title: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] = ()
    id: str | None = None
    fields: Mapping[str, Field] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    block: str | None = None
    block_start: int = 0
    body_start: int = 0
    is_malformed: bool = False
    is_flow: bool = False
    column: int = 0


def read_front_matter(text: str) -> FrontMatter:
    """Return the front matter of a note's text; any text has one, if an empty one.

    It begins on the first line with `---`, ends at the next such line, and is a mapping of plain keys;
    anything else is body. What is meant as front matter and cannot be read is `is_malformed`.
    """
    body = FrontMatter(body_start=len(BOM) if text.startswith(BOM) else 0)
    opening = _OPENING.match(text)
    if opening is None:
        return body
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        return _unclosed(text, opening.end(), body)
    block = text[opening.end() : closing.start()]
    frame = FrontMatter(block=block, block_start=opening.end(), body_start=closing.end())
    if not block:
        return frame
    return (_read_block(text, frame) if _is_meant(block) else None) or body


def is_usable_id(text: str) -> bool:
    """Say whether a text may be a note's id: 1 to 80 of A-Z a-z 0-9 _ . -, not dots alone."""
    return _ID.fullmatch(text) is not None


def _is_meant(block: str) -> bool:
    if LINE_BREAK.match(block.lstrip(" \t")):
        # A rule, a blank line, prose, a rule: Markdown's way to set text apart (Pandoc's rule too).
        return _READ_KEY_LINE.search(block) is not None
    return _KEY_LINE.search(block) is not None or _OTHER_MAPPING.match(block) is not None


def _unclosed(text: str, start: int, body: FrontMatter) -> FrontMatter:
    if not _READ_KEY_LINE.match(text, start):
        return body
    return replace(body, is_malformed=True, problems=(Problem(1, "front matter without a closing --- line"),))


def _read_block(text: str, frame: FrontMatter) -> FrontMatter | None:
    """Return what the block says; None where it turns out to be text between two rules."""
    try:
        root = read_block(frame.block or "")
    except UnreadableBlock as error:
        return _malformed(text, frame, error)
    if root is None or root.kind != "map":
        return None
    fields = list(_fields_of(text, frame, root))
    if fields and not any(_PLAIN_KEY.fullmatch(one.name) for one in fields):
        return None
    frame = replace(frame, is_flow=root.is_flow, column=root.column)
    return _with_values(replace(frame, fields={one.name.lower(): one for one in fields}))


def _fields_of(text: str, frame: FrontMatter, root: Node) -> Iterator[Field]:
    line, at = 1, 0
    for key, node in zip(root.children[::2], root.children[1::2], strict=True):
        start = frame.block_start + key.start
        line, at = line + len(LINE_BREAK.findall(text, at, start)), start
        yield Field(key.text or "", key, node, line)


def _with_values(frame: FrontMatter) -> FrontMatter:
    problems = [problem for one in frame.fields.values() for problem in _value_problems(one)]
    usable = {name: one for name, one in frame.fields.items() if not has_foreign_tag(one.node)}
    return replace(
        frame,
        title=_text_of(usable.get("title"), problems),
        summary=_text_of(usable.get("summary"), problems),
        tags=_tags_of(usable.get("tags"), problems),
        id=_id_of(usable.get("id"), problems),
        problems=tuple(sorted(problems, key=lambda problem: problem.line or 0)),
    )


def _text_of(one: Field | None, problems: list[Problem]) -> str | None:
    if one is None:
        return None
    if one.node.kind != "text":
        problems.append(Problem(one.line, f"{one.name} is a {one.node.kind}, not text"))
        return None
    return one_line(one.node.text or "") or None


def _id_of(one: Field | None, problems: list[Problem]) -> str | None:
    text = _text_of(one, problems)
    if one is None or text is None or is_usable_id(text):
        return text
    problems.append(Problem(one.line, "id is not 1 to 80 of A-Z a-z 0-9 _ . -"))
    return None


def _tags_of(one: Field | None, problems: list[Problem]) -> tuple[str, ...]:
    if one is None:
        return ()
    texts = list(_tag_texts(one.node))
    if None in texts:
        problems.append(Problem(one.line, "tags holds a map, which is no tag"))
    return normalise_tags(text for text in texts if text is not None)


def _tag_texts(node: Node) -> Iterator[str | None]:
    if node.kind == "map":
        yield None
    elif node.kind == "list":
        for child in node.children:
            yield from _tag_texts(child)
    elif node.text is not None:
        yield node.text


def _value_problems(one: Field) -> Iterator[Problem]:
    if has_foreign_tag(one.node):
        yield Problem(one.line, f"{one.name} has a YAML tag (a word with !), which is not read")
    node = one.node
    if node.kind == "text" and node.is_plain and node.text is not None and not is_possible(node.text):
        yield Problem(one.line, f"{one.name} looks like a date or number and is none; it is taken as text")


def _malformed(text: str, frame: FrontMatter, error: UnreadableBlock) -> FrontMatter:
    """Return what can be said of a block that is no YAML: an id and a title that stand on their own lines.

    The id, because a note must not change its address for an operator's slip in another field.
    """
    block = frame.block or ""
    line = line_at(text, frame.block_start + min(error.offset, len(block)))
    note_id = _last_line_value(block, "id")
    return replace(
        frame,
        title=one_line(_last_line_value(block, "title") or "") or None,
        id=note_id if note_id is not None and is_usable_id(note_id) else None,
        problems=(Problem(line, f"front matter is not readable: {error.reason}"),),
        is_malformed=True,
    )


def _last_line_value(block: str, name: str) -> str | None:
    values = re.findall(
        rf"{_LINE_START}{name}[ \t]{{0,8}}:[ \t]+([^\r\n]+)", block[:MAX_BLOCK], re.IGNORECASE
    )
    if not values or values[-1].startswith(("|", ">", "{")):
        return None
    value = str(values[-1]).strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
