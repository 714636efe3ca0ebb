"""The question that an agent's message ends in, with the options that it names.

"The second one" means nothing without it, and the message that asked may be too long to be shown whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

#: Characters at the end of a message that are looked at, and lines behind the question that it may have.
_LOOKED_AT: Final = 8000
_LINES_BEHIND: Final = 12
_MARK: Final = re.compile(r"[？؟]|\?(?=[\s\"'”’)\]*_]|$)")
_OPTION: Final = re.compile(
    r"\s*(?:(?:[-*•+]|\(?(?:\d{1,2}|[A-Za-z])[.):]|\*\*(?:\d{1,2}|[A-Za-z])[.)]?\*\*[.):]?)\s+\S"
    r"|(?:\d{1,2}|[一二三四五六七八九十])[、．.]\s*\S|[①-⑳]\s*\S)"
)
_ASKING: Final = re.compile(
    r"\b(?:choose|pick|select|prefer|which|options?|decide|let me know)\b|选|哪|[請请]", re.IGNORECASE
)
_LEAD: Final = re.compile(r"[:：]\s*[*_]{0,2}\s*$")


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What a message asks.

    Attributes:
        text: question and options, as they stand in the message.
        options: a line each, in order; none where the question names none.
        start: where it begins in the message.
    """

    text: str
    options: tuple[str, ...]
    start: int


def find_question(message: str) -> OpenQuestion | None:
    """Return the last question of a message, if the message ends in one."""
    lines = message[-_LOOKED_AT:].splitlines(keepends=True)
    at = _asking_line(lines)
    if at is None:
        return None
    first, last = at, at + 1
    after = _options_after(lines, at + 1)
    before = _options_before(lines, at) if not after else []
    if after:
        last = after[-1] + 1
    elif len(before) > 1:
        first = before[0]
    options = [line for line in lines[first:last] if _OPTION.match(line)] if after or len(before) > 1 else []
    start = max(0, len(message) - _LOOKED_AT) + sum(map(len, lines[:first]))
    text = "".join(lines[first:last]).strip()
    return OpenQuestion(text, tuple(line.strip() for line in options if line is not lines[at]), start)


def _asking_line(lines: Sequence[str]) -> int | None:
    """Return the line that asks: the last with a question mark, else one that a list of options ends."""
    behind = 0
    for at in range(len(lines) - 1, -1, -1):
        if _MARK.search(lines[at]):
            return _owner_of(lines, at)
        if lines[at].strip() and not _OPTION.match(lines[at]):
            if _is_lead(lines, at):
                return at
            behind += 1
        if behind > _LINES_BEHIND:
            return None
    return None


def _owner_of(lines: Sequence[str], at: int) -> int:
    """Return the line above a list whose items ask, if the line itself is such an item; else the line."""
    above = at
    while above > 0 and (_OPTION.match(lines[above]) or not lines[above].strip()):
        above -= 1
    if _OPTION.match(lines[at]) and (_is_lead(lines, above) or _MARK.search(lines[above])):
        return above
    return at


def _is_lead(lines: Sequence[str], at: int) -> bool:
    is_asking = _LEAD.search(lines[at]) and _ASKING.search(lines[at])
    return bool(is_asking) and len(_options_after(lines, at + 1)) > 1


def _options_after(lines: Sequence[str], at: int) -> list[int]:
    """Return the lines of the list that follows, those that go on an item too."""
    found: list[int] = []
    for number in range(at, len(lines)):
        line = lines[number]
        if _OPTION.match(line) or (found and line.startswith((" ", "\t")) and line.strip()):
            found.append(number)
        elif line.strip():
            break
    return found


def _options_before(lines: Sequence[str], at: int) -> list[int]:
    """Return the lines of the list that stands right above, from its first item."""
    found: list[int] = []
    for number in range(at - 1, -1, -1):
        line = lines[number]
        if line.strip() and not _OPTION.match(line) and not line.startswith((" ", "\t")):
            break
        if line.strip():
            found.append(number)
    found.reverse()
    first = next((place for place, number in enumerate(found) if _OPTION.match(lines[number])), len(found))
    return found[first:]
