"""What of a text that came by sync keeps it from the agent: pure rules, without any I/O."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from gitmem.authored_text import LINE_BREAK
from gitmem.blocked_parts import BlockedPart, find_blocked
from gitmem.entries import parse_store
from gitmem.findings import Finding
from gitmem.json_view import JsonView
from gitmem.note_text import split_sections

#: Characters of a record, and of a file's text, that are judged; the scanner takes a second for so many.
MOST_JUDGED: Final = 1_048_576
#: Characters of an entry that are judged, here as everywhere.
_MOST_OF_ENTRY: Final = 65_536
#: Characters at each end of a text that are judged together with those of its neighbours.
_END: Final = 240
#: A longer text is not taken apart, which costs its square.
_MOST_DIVIDED: Final = 262_144

#: Why something is kept that the scanner has not refused.
TOO_LONG: Final = "too_long_to_scan"
TOO_LARGE: Final = "too_large_to_read"
OVER_LIMIT: Final = "longer_than_its_store"
LOST: Final = "long_text_missing"

#: Returns what is wrong with a text in a scope, without what this machine allows.
JudgeIn = Callable[[str, str], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Held(JsonView):
    """Something that came by sync and is kept from the agent here.

    Attributes:
        id: `record:<id>`, `entry:<SHA-256>`, `blob:<Git blob id>`.
        source_ref: what an operator reads it by.
        kind: of the record, else `entry`, `note`, `episode`, `section`, `plan`.
        rules: that it breaks.
        path, line: where it stands, in a file.
        writer: of a record: whose line it is on.
        mark: stands for its content; of other content a release says nothing.
        parts: marks of the texts that are let through with it.
        aliases: other refs by which people and agents find it.
    """

    id: str
    source_ref: str
    kind: str
    rules: tuple[str, ...]
    path: str | None = None
    line: int | None = None
    writer: str | None = None
    at: str | None = None
    mark: str = ""
    parts: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return what people and programs are told of it; never its content."""
        told = ("id", "source_ref", "kind", "rules", "path", "line", "writer", "at")
        return {name: getattr(self, name) for name in told}

    @property
    def reason(self) -> str:
        """The rules in words."""
        return ", ".join(self.rules)


def plain(text: str) -> str:
    """Return a text without white space at its ends, with LF as line ending."""
    return LINE_BREAK.sub("\n", text.strip())


def mark_of(text: str) -> str:
    """Return what stands for a text, whatever its line endings are."""
    return sha256(plain(text).encode("utf-8", "surrogatepass")).hexdigest()


def body_mark(body: Mapping[str, Any]) -> str:
    """Return what stands for the content of a record."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def record_rules(body: Mapping[str, Any], judge: JudgeIn) -> tuple[str, ...]:
    """Return the rules that a record's words break, one by one and read together."""
    texts = [text for text in _texts(body) if text.strip()]
    if sum(map(len, texts)) > MOST_JUDGED:
        return (TOO_LONG,)
    joined = ["\n".join(map(_ends_of, texts))] if len(texts) > 1 else []
    return _rules_of(hit for text in [*texts, *joined] for hit in judge(text, "context"))


def entry_rules(text: str, limit: int, judge: JudgeIn) -> tuple[str, ...]:
    """Return why an entry is kept: the rules that it breaks, or that it is longer than may be.

    Args:
        text: of the entry.
        limit: of its store, in characters.
        judge: the scanner.
    """
    if len(text) > _MOST_OF_ENTRY:
        return (TOO_LONG,)
    over = (OVER_LIMIT,) if len(text) > limit else ()
    return (*_rules_of(judge(text, "strict")), *over)


def text_parts(text: str, scope: str, judge: JudgeIn) -> tuple[BlockedPart, ...]:
    """Return the parts of a file's text that are refused; one part for all of a text too long to divide."""

    def judged(part: str) -> Sequence[Finding]:
        return judge(part, scope)

    if len(text) <= _MOST_DIVIDED:
        return find_blocked(text, judged)
    hit = Finding(TOO_LONG, scope, "It is too long to be judged.", 0, 0)
    hits = tuple(judged(text)) if len(text) <= MOST_JUDGED else (hit,)
    return (BlockedPart(0, len(text), 1, text, hits),) if hits else ()


@dataclass(frozen=True, slots=True)
class Stretch:
    """A section of a text, by where it stands.

    Attributes:
        start, end: offsets.
        line: of its first line, from 1.
        heading: the line that begins it; empty for what stands before the first heading.
    """

    start: int
    end: int
    line: int
    heading: str


def stretches_of(text: str) -> list[Stretch]:
    """Return the sections of a text in order, headings of level 1 and 2 begin them."""
    starts = [0, *(found.end() for found in LINE_BREAK.finditer(text))]
    sections = split_sections(text)
    found = []
    for number, one in enumerate(sections):
        start = starts[one.line - 1] if one.line <= len(starts) else len(text)
        after = sections[number + 1].line if number + 1 < len(sections) else len(starts) + 1
        end = starts[after - 1] if after <= len(starts) else len(text)
        heading = LINE_BREAK.split(text[start:end], maxsplit=1)[0] if one.heading is not None else ""
        found.append(Stretch(start, end, one.line, heading))
    return found


def widen(part: BlockedPart, text: str, stretch: Stretch) -> BlockedPart:
    """Return a part that stands for all of its section."""
    start, end = min(part.start, stretch.start), max(part.end, stretch.end)
    first = stretch.line if stretch.start <= part.start else part.first
    moved = tuple(
        replace(hit, start=hit.start + part.start - start, end=hit.end + part.start - start)
        for hit in part.hits
    )
    return BlockedPart(start, end, first, text[start:end].rstrip(), moved)


def merge_parts(parts: Sequence[BlockedPart], held: Sequence[BlockedPart]) -> tuple[BlockedPart, ...]:
    """Return parts with those that are held in place of what they cover."""
    kept = [
        part for part in parts if not any(one.start <= part.start and part.end <= one.end for one in held)
    ]
    return tuple(sorted([*kept, *held], key=lambda one: one.start))


def without_parts(path: str, text: str, held: Sequence[BlockedPart]) -> str:
    """Return a text with a note in place of each part that is held."""
    shown, at = [], 0
    for part in held:
        shown += [text[at : part.start], f"[QUARANTINED: {path}: {', '.join(part.rules)}]\n"]
        at = part.end
    return "".join([*shown, text[at:]])


def holds_part(content: bytes | None, part: str) -> bool:
    """Say whether a version of a file has a text."""
    if content is None:
        return False
    whole = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return plain(part).encode("utf-8", "surrogatepass") in whole


def holds_entry(content: bytes | None, text: str) -> bool:
    """Say whether a version of a store has an entry."""
    if content is None:
        return False
    return any(
        one.text == text for one in parse_store(content.decode("utf-8", "replace").removeprefix("\ufeff"))
    )


def _rules_of(hits: Iterator[Finding] | Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hit.rule for hit in hits))


def _ends_of(text: str) -> str:
    """Return what of a text can be one sentence with the text before or behind it."""
    return text if len(text) <= 2 * _END else f"{text[:_END]}\n\n{text[-_END:]}"


def _texts(value: Any) -> Iterator[str]:
    """Yield every text of a value, names of fields that a caller chose too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield str(name)
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
