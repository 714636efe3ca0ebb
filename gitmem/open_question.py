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
_MARK: Final = re.compile(r"[？؟⁇]|\?(?=[\s\"'”’)\]*_`]|$)")
_NUMBER: Final = r"(?:\d{1,2}|[A-Za-z]|[一二三四五六七八九十甲乙丙丁])"
_OPTION: Final = re.compile(
    rf"\s*(?:(?:[-*•+]|\(?(?:\d{{1,2}}|[A-Za-z])[.):]|\*\*(?:\d{{1,2}}|[A-Za-z])[.)]?\*\*[.):]?)\s+\S"
    r"|(?:\d{1,2}|[一二三四五六七八九十])[、．.）)]\s*\S|[①-⑳⑴-⒇㈠-㈩]\s*\S|[・‣▪–—]\s*\S"
    rf"|[（(]{_NUMBER}[）)]\s*\S|\d\ufe0f?\u20e3\s*\S|\[[ xX]?\]\s+\S"
    rf"|(?:[-*]\s+)?[*_]{{0,2}}(?:(?:options?|choice|plan|variant)\s+|(?:方案|选项|選項|選択肢|案|옵션|选择)\s*){_NUMBER}"
    r"[*_]{0,2}\s*[.):：、—–-])",
    re.IGNORECASE,
)
#: A row of a table is an option too, its ruling is not.
_ROW: Final = re.compile(r"\s*\|(?!\s*:?-{2,}).*\|\s*$")
_RULING: Final = re.compile(r"\s*\|?\s*:?-{2,}[-:|\s]*$")
_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})")
_ASKING: Final = re.compile(
    r"\b(?:choose|pick|select|prefer|which|options?|decide|let me know|tell me|reply|answer)\b"
    r"|[选選]|哪|[請请]|どれ|どちら|どの|選んで|教えて|어느|어떤|골라|선택",
    re.IGNORECASE,
)
#: What asks for a choice behind a list of options; a report of a choice does not.
_REQUEST: Final = re.compile(
    r"(?<!\bI )(?<!\bI'll )(?<!\bI’ll )(?<!\bwill )\b(?:choose|pick|select|decide)\b"
    r"|\b(?:let me know|tell me|(?:reply|answer) with|which (?:one|of|do|would|should))\b"
    r"|[请請].{0,16}(?:[选選]|哪|告[诉訴])|[选選]哪|哪[个個一种種]|どれ|どちら|どの|選んで|教えて"
    r"|어느|어떤|골라|선택해",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(r"[:：]\s*[*_]{0,2}\s*$")
#: Questions that have no mark: what ends them says that they ask.
_UNMARKED: Final = re.compile(
    r"(?:[吗嗎呢么麼]|哪[个個一种種些里裡]?|什么|什麼|怎么样|怎麼樣|多少|如何|好不好|行不行|可以不|要不要\S{0,12}"
    r"|(?:です|ます|でしょう|ません)か|(?:까요|나요|가요|을까|할까))\s*[。.!！~]?\s*$"
)
_ENDING: Final = 200


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
    has_options = bool(after) or len(before) > 1
    options = _named(lines[first:last]) if has_options else []
    start = max(0, len(message) - _LOOKED_AT) + sum(map(len, lines[:first]))
    text = "".join(lines[first:last]).strip()
    return OpenQuestion(text, tuple(line.strip() for line in options if line is not lines[at]), start)


def _asking_line(lines: Sequence[str]) -> int | None:
    """Return the line that asks: the last with a question mark, else one that a list of options ends."""
    behind = 0
    for at in range(len(lines) - 1, -1, -1):
        if _MARK.search(lines[at]):
            return _owner_of(lines, at)
        if lines[at].strip() and not _is_item(lines[at]):
            if _is_lead(lines, at) or (behind == 0 and _is_unmarked(lines, at)):
                return at
            behind += 1
        if behind > _LINES_BEHIND:
            return None
    return None


def _is_unmarked(lines: Sequence[str], at: int) -> bool:
    """Say whether the last line of a message that is no item asks without a mark."""
    line = lines[at].strip()
    if len(line) > _ENDING:
        return False
    has_list = len(_options_before(lines, at)) > 1 or len(_options_after(lines, at + 1)) > 1
    return bool(_UNMARKED.search(line)) or (has_list and bool(_REQUEST.search(line)))


def _is_item(line: str) -> bool:
    """Say whether a line names an option, or rules a table or a fence around options."""
    return any(shape.match(line) for shape in (_OPTION, _ROW, _RULING, _FENCE))


def _named(lines: Sequence[str]) -> list[str]:
    """Return the lines that name an option; the first row of a table, above its ruling, is its head."""
    heads = {number - 1 for number, line in enumerate(lines) if _RULING.match(line) and "|" in line}
    return [
        line
        for number, line in enumerate(lines)
        if number not in heads and (_OPTION.match(line) or _ROW.match(line))
    ]


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
        if _is_item(line) or (found and line.startswith((" ", "\t")) and line.strip()):
            found.append(number)
        elif line.strip():
            break
    return found


def _options_before(lines: Sequence[str], at: int) -> list[int]:
    """Return the lines of the list that stands right above, from its first item."""
    found: list[int] = []
    for number in range(at - 1, -1, -1):
        line = lines[number]
        if line.strip() and not _is_item(line) and not line.startswith((" ", "\t")):
            break
        if line.strip():
            found.append(number)
    found.reverse()
    first = next((place for place, number in enumerate(found) if _is_item(lines[number])), len(found))
    return found[first:]
