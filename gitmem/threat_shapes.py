"""How a threat rule says what it looks for: key words in order with bounded room between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

Scope = Literal["all", "context", "strict"]

#: Between two words: anything but the end of a sentence; a dot inside a name or an ellipsis does not end one.
_BETWEEN: Final = r"(?:[^\w.!?;。]++|_|\.(?=[\w.])|(?<=\.\.)\.)++"
_WORD: Final = r"[^\W_]++"
_BEGIN: Final = r"(?<![a-z0-9])"
_END: Final = r"(?![a-z0-9])"
_LITERAL: Final = re.compile(r"[a-z0-9'\u4e00-\u9fff<$/~.: -]+")
#: Words that turn an instruction round: to say "never do it" is not to say "do it".
_FORBIDDEN: Final = "".join(
    f"(?<!{words} )" for words in ("do not", "don't", "never", "must not", "should not", "cannot", "not to")
)
#: A text longer than this is searched only where a rule's signs stand.
_SHORTEST_SIGN: Final = 2


@dataclass(frozen=True, slots=True)
class Shape:
    """One wording of a rule.

    Attributes:
        pattern: matches folded text.
        signs: of each group at least one must stand in the text, else the pattern cannot match.
        unless: a sentence that matches this too is ordinary.
    """

    pattern: str
    signs: tuple[tuple[str, ...], ...]
    unless: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One intent that must not reach a prompt.

    Attributes:
        id: shown in replies and receipts, and written in the allow list.
        scope: `all` any text, `context` files and tool results too, `strict` what is remembered.
        reason: one sentence for people.
        trips: a text that is found.
        passes: a text like it that is not.
    """

    id: str
    scope: Scope
    reason: str
    trips: str
    passes: str
    shapes: tuple[Shape, ...]


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern compiled, when it is first needed: a search pays for none of them."""
    return re.compile(pattern)


def words(*parts: str, room: int = 10, unless: str | None = None, forbidden_too: bool = False) -> Shape:
    """Return the shape of English key words in order.

    Args:
        parts: each a list of alternatives with ` | ` between them.
        room: words allowed between two parts; the first part does not stand among them, so that every
            place of a text is looked at once.
        unless: a sentence that matches this too is ordinary.
        forbidden_too: whether "never …" before it makes no difference.
    """
    head = _choice(parts[0])
    step = rf"(?:{_BETWEEN}(?!{head}{_END}){_WORD}){{0,{room}}}?{_BETWEEN}"
    begin = _BEGIN if forbidden_too else _BEGIN + _FORBIDDEN
    pattern = begin + head + _END + "".join(f"{step}{_choice(part)}{_END}" for part in parts[1:])
    return Shape(pattern, _signs(parts), unless)


def characters(*parts: str, room: int = 10, unless: str | None = None) -> Shape:
    """Return the shape of Chinese key words in order; `room` counts characters."""
    head = _choice(parts[0])
    step = rf"(?:(?!{head})[^。!?]){{0,{room}}}?"
    pattern = (
        "(?<!不要)(?<!不能)(?<!不得)(?<!不会)(?<!别)"
        + head
        + "".join(step + _choice(part) for part in parts[1:])
    )
    return Shape(pattern, _signs(parts), unless)


def raw(pattern: str, *signs: str, unless: str | None = None) -> Shape:
    """Return a shape of a pattern as it stands; each of `signs` is a group with ` | ` between its members."""
    return Shape(pattern, tuple(tuple(sign.split(" | ")) for sign in signs), unless)


def _choice(part: str) -> str:
    return "(?:" + "|".join(part.split(" | ")).replace(" ", r"\s++") + ")"


def _signs(parts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    groups = []
    for part in parts:
        group = [_sign(choice) for choice in part.split(" | ")]
        if all(len(sign) >= _SHORTEST_SIGN for sign in group):
            groups.append(tuple(sorted(set(group))))
    return tuple(sorted(groups, key=len))


def _sign(choice: str) -> str:
    """Return the longest word that every text must hold which one alternative matches."""
    match = _LITERAL.match(choice)
    if match is None:
        return ""
    literal = match[0][:-1] if choice[match.end() : match.end() + 1] in ("?", "*", "{") else match[0]
    return max(literal.split(), key=len, default="")


#: How far a sentence is looked at, either side of a match.
_SENTENCE_REACH: Final = 240
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|[。!?]|\n\s*\n")


def sentence_around(text: str, start: int, end: int) -> str:
    """Return the sentence, or the line of a list, that a match stands in."""
    left = max(0, start - _SENTENCE_REACH)
    for stop in _SENTENCE_END.finditer(text, left, start):
        left = stop.end()
    stop_right = _SENTENCE_END.search(text, end, end + _SENTENCE_REACH)
    right = stop_right.start() if stop_right else end + _SENTENCE_REACH
    return text[left:right]
