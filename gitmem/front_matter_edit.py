"""Changes to a note's front matter on its text: what need not change stays byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from gitmem.authored_text import BOM, LINE_BREAK, newline_of
from gitmem.errors import RefusedError
from gitmem.front_matter import Field, FrontMatter, read_front_matter
from gitmem.front_matter_yaml import Node, Value, reads_as_text
from gitmem.note_tags import normalise_tags
from gitmem.redaction import find_secrets

#: Nothing in it is YAML's, in a list neither; beyond ASCII only controls and odd spaces are left out.
_PLAIN: Final = re.compile(
    r"(?![\d.eE+-]+\Z)\w(?:[\w ./()+'\u00a1-\u1fff\u2010-\u2027\u2030-\ud7ff"
    r"\uf900-\ufefe\uff00-\ufffd\U00010000-\U0010ffff-]*(?<! ))?"
)
#: JSON leaves these as they are; inside a YAML text they would break the line or are forbidden.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def set_field(text: str, name: str, value: str) -> str:
    """Return a note's text with one field set, the text itself where it has that value.

    A note without front matter gets a block, a block without the field a line at its end.

    Raises:
        RefusedError: the front matter is malformed, or written so that only a person should change it.
    """
    front = _editable(text)
    field = front.fields.get(name.lower())
    if field is not None and field.node.kind == "text" and field.node.text == value:
        return text
    scalar = format_scalar(value)
    changed = (
        _with_line(text, front, name, scalar) if field is None else _with_value(text, front, field, scalar)
    )
    return _checked(front, changed, name, value)


def add_tag(text: str, tag: str) -> str:
    """Return a note's text with one more tag, the text itself where it has it.

    Raises:
        RefusedError: as for `set_field`; or `tags` is a map.
    """
    front = _editable(text)
    new = [word for word in normalise_tags([tag]) if word not in front.tags]
    for word in new:
        text = _with_tag(text, _editable(text), word)
    return text


def set_tags(text: str, tags: Sequence[str]) -> str:
    """Return a note's text with these tags and no others, the text itself where it has them.

    Raises:
        RefusedError: as for `set_field`.
    """
    front = _editable(text)
    words = normalise_tags(tags)
    if front.tags and words[: len(front.tags)] == front.tags:
        for word in words[len(front.tags) :]:
            text = _with_tag(text, _editable(text), word)
        return text
    if words == front.tags:
        return text
    field = front.fields.get("tags")
    listed = f"[{', '.join(map(format_scalar, words))}]"
    if field is None:
        changed = _with_line(text, front, "tags", listed)
    else:
        changed = _with_value(text, front, field, listed)
    return _checked(front, changed, "tags", words)


def ensure_id(text: str, note_id: str) -> str:
    """Return a note's text with the id in its front matter; an id that is there already stays.

    Raises:
        RefusedError: as for `set_field`.
    """
    return text if _editable(text).id else set_field(text, "id", note_id)


def quote_secrets(text: str) -> str:
    """Return a note's text with the secrets in its front matter in quotes.

    What will be written in their place has brackets and a colon, which a bare value must not have.
    """
    front = read_front_matter(text)
    if front.is_malformed or not front.block or not find_secrets(front.block):
        return text
    values = [value for field in front.fields.values() for value in _plain_texts(field.node)]
    for value in sorted(values, key=lambda one: one.start, reverse=True):
        if find_secrets(value.text or ""):
            start, end = front.block_start + value.start, front.block_start + value.end
            text = text[:start] + format_scalar(value.text or "") + text[end:]
    return text


def _plain_texts(node: Node) -> Iterator[Node]:
    """Yield the bare values of a field, also inside of lists and maps."""
    if node.kind == "text" and node.is_plain:
        yield node
    for child in node.children:
        yield from _plain_texts(child)


def format_block(fields: dict[str, str | tuple[str, ...]]) -> str:
    """Return a new front matter block of these fields, with its `---` lines, LF as line ending."""
    lines = [f"{name}: {_format_value(value)}\n" for name, value in fields.items()]
    return f"---\n{''.join(lines)}---\n"


def format_scalar(value: str) -> str:
    """Return a text as YAML of one line: bare where every reader takes it for this text, else quoted.

    A secret is quoted too: what will be written in its place has brackets and a colon.
    """
    if _PLAIN.fullmatch(value) and reads_as_text(value) and not find_secrets(value):
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _format_value(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return format_scalar(value)
    return f"[{', '.join(format_scalar(item) for item in value)}]"


def refuse_malformed(front: FrontMatter) -> None:
    """Make sure that a block may be changed.

    Raises:
        RefusedError: it could not be read; names line and reason.
    """
    if not front.is_malformed:
        return
    problem = front.problems[0]
    raise RefusedError(
        f"the note's front matter cannot be changed: {problem}",
        hint="Correct it in an editor first; the file was left as it is.",
        line=problem.line,
        reason=problem.reason,
    )


def _editable(text: str) -> FrontMatter:
    front = read_front_matter(text)
    refuse_malformed(front)
    return front


def _with_line(text: str, front: FrontMatter, name: str, scalar: str) -> str:
    """Return the text with a new line at the end of the block, or with a new block."""
    newline = newline_of(text)
    if front.block is None:
        start = len(BOM) if text.startswith(BOM) else 0
        rest = text[start:]
        gap = "" if not rest or LINE_BREAK.match(rest) else newline
        return f"{text[:start]}---{newline}{name}: {scalar}{newline}---{newline}{gap}{rest}"
    if front.is_flow:
        raise _not_here(name)
    end = front.block_start + len(front.block)
    return f"{text[:end]}{' ' * front.column}{name}: {scalar}{newline}{text[end:]}"


def _with_value(text: str, front: FrontMatter, field: Field, scalar: str) -> str:
    key_end, start, end = (front.block_start + at for at in (field.key.end, field.node.start, field.node.end))
    if field.node.text is not None and not LINE_BREAK.search(text, key_end, start):
        return text[:start] + scalar + text[end:]
    # Null, or a value that begins on a later line: the new one goes behind the colon, a comment there stays.
    colon = text.index(":", key_end) + 1
    line_end = LINE_BREAK.search(text, colon, max(start, colon))
    kept = text[colon : line_end.start()].rstrip() if line_end else ""
    return f"{text[:colon]} {scalar}{kept}{text[max(end, colon) :]}"


def _with_tag(text: str, front: FrontMatter, word: str) -> str:
    field = front.fields.get("tags")
    if field is None:
        changed = _with_line(text, front, "tags", f"[{format_scalar(word)}]")
    elif field.node.kind == "map":
        raise _not_here("tags")
    elif field.node.kind == "list" and not field.node.is_flow:
        changed = _with_item_line(text, front, field.node, word)
    elif field.node.kind == "list":
        changed = _with_item(text, front, field.node, word)
    else:
        changed = _with_value(text, front, field, f"[{', '.join(map(format_scalar, (*front.tags, word)))}]")
    return _checked(front, changed, "tags", (*front.tags, word))


def _with_item_line(text: str, front: FrontMatter, node: Node, word: str) -> str:
    last = front.block_start + node.end
    line_end = LINE_BREAK.search(text, last)
    at = line_end.end() if line_end else len(text)
    return f"{text[:at]}{' ' * node.column}- {format_scalar(word)}{newline_of(text)}{text[at:]}"


def _with_item(text: str, front: FrontMatter, node: Node, word: str) -> str:
    if not node.children:
        at = front.block_start + node.start + 1
        return f"{text[:at]}{format_scalar(word)}{text[at:]}"
    at = front.block_start + node.children[-1].end
    return f"{text[:at]}, {format_scalar(word)}{text[at:]}"


def _checked(before: FrontMatter, changed: str, name: str, value: Value | tuple[str, ...]) -> str:
    """Return the changed text if it says what was asked for and all else as before."""
    after = read_front_matter(changed)
    key = name.lower()
    found = (
        after.tags
        if isinstance(value, tuple)
        else after.fields[key].node.value
        if key in after.fields
        else None
    )
    others = {k: f.node.value for k, f in before.fields.items() if k != key}
    kept = {k: f.node.value for k, f in after.fields.items() if k != key}
    if after.is_malformed or found != value or others != kept:
        raise _not_here(name)
    return changed


def _not_here(name: str) -> RefusedError:
    return RefusedError(
        f"the note's front matter is written in a way in which {name} cannot be changed safely",
        hint="Change it in an editor; the file was left as it is.",
        field=name,
    )
