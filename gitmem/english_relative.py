"""How English tells a time by its distance from today, and what each form means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Final

from gitmem.date_spans import (
    Form,
    Span,
    day_span,
    given,
    months_back,
    one_day,
    weakened,
    week_span,
    words_before,
)
from gitmem.relative_spans import ago, relative_unit, rolling, weekday_span

WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SHORT_DAY: Final = r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b"
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_COUNT: Final = (
    r"(?:[0-9]{1,3}|a\s{1,3}few|a\s{1,3}couple(?:\s{1,3}of)?|few|couple(?:\s{1,3}of)?|several"
    rf"|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
)
_UNIT: Final = r"(?:minute|min|hour|day|weekend|week|fortnight|month|year)s?\b"

#: Words before a bare weekday that make one certain day of it, and such that make another thing of it.
_WEEKDAY_LEAD: Final = re.compile(
    r"\b(?:on|since|before|after|until|till|by|from|of|late)\s+$", re.IGNORECASE
)
_AT_LEAD: Final = re.compile(r"\b(?:in|at|from|during|on|since|before|after)\s+$", re.IGNORECASE)
_NO_DAY: Final = re.compile(r"\b(?:black|good|every|each|ruby|next|casual|cyber)\s+$", re.IGNORECASE)


def number_of(word: str) -> int | None:
    """Return what a number word or digits mean; None for another word."""
    return int(word) if word.isdigit() else _NUMBERS.get(word)


def _ago(found: re.Match[str], today: date) -> Iterator[Span]:
    text, unit = found["n"].lower(), _unit(found["u"])
    if text.startswith("half"):
        unit, text = {"year": ("month", "6"), "month": ("week", "2")}.get(unit, ("day", "0"))
    yield from given(ago(_count(text), unit, today, vague="few" in text or "several" in text))


def _rolling(found: re.Match[str], today: date) -> Iterator[Span]:
    text, unit = found["n"].lower(), _unit(found["u"])
    count = {"few": 4, "several": 6}.get(text.removeprefix("a ").strip(), _count(text))
    yield from given(rolling(count, unit, today))


def _relative(found: re.Match[str], today: date) -> Iterator[Span]:
    which, unit = found["which"].lower(), found["u"].lower()
    this = which == "this"
    if unit == "night" or unit in ("morning", "afternoon", "evening"):
        yield one_day(today if this else today - timedelta(days=1))
    elif unit == "hour":
        yield one_day(today)
    elif unit != "month" and unit[:3] in WEEKDAYS:
        # `this sun` and `last sat` are words; a short form counts with its capital.
        if len(unit) < 6 and found["u"].islower():
            return
        yield weekday_span(WEEKDAYS.index(unit[:3]), today, this_week=this)
    elif ("past" in which and unit != "weekend") or (
        found["the"] and which == "last" and unit in ("month", "year")
    ):
        yield from given(rolling(1, unit, today))
    else:
        yield from given(relative_unit(unit, 0 if this else 1, today))


def _named(found: re.Match[str], today: date) -> Iterator[Span]:
    words = found[0].lower()
    if words == "now":
        yield weakened(one_day(today))
    elif "other" in words:
        yield Span(today - timedelta(days=7), today - timedelta(days=1), "range")
    else:
        back = 2 if "before" in words else 1 if "yesterday" in words else 0
        yield one_day(today - timedelta(days=back))


def _weekday(found: re.Match[str], today: date) -> Iterator[Span]:
    before = words_before(found)
    if _NO_DAY.search(before):
        return
    span = weekday_span(WEEKDAYS.index(found["day"][:3].lower()), today)
    ends = not found.string[found.end() : found.end() + 3].strip(" ?.!,\"'")
    if found["own"]:
        yield span if _AT_LEAD.search(before) else weakened(span)
        return
    sure = found["part"] or _WEEKDAY_LEAD.search(before) or ends
    yield span if sure else weakened(span)


def _weekday_of(found: re.Match[str], today: date) -> Iterator[Span]:
    week = week_span(today - timedelta(days=7 * (found["which"].lower() == "last")))
    yield one_day(week.first + timedelta(days=WEEKDAYS.index(found["day"][:3].lower())))


def _before_last(found: re.Match[str], today: date) -> Iterator[Span]:
    yield from given(relative_unit(found["u"].lower(), 2, today))


def _short_weekday(found: re.Match[str], today: date) -> Iterator[Span]:
    if found["day"][0].isupper():
        yield weekday_span(WEEKDAYS.index(found["day"][:3].lower()), today)


def _nth(found: re.Match[str], today: date) -> Iterator[Span]:
    """Yield the latest such day of a month that is not after today."""
    for back in range(3):
        first = months_back(today, back)
        span = first and day_span(first.year, first.month, int(found["d"]))
        if span and span.first <= today:
            yield span
            return


def _count(text: str) -> int:
    if text.isdigit():
        return int(text)
    words = text.split()
    if "few" in words:
        return 4
    return 2 if "couple" in words else 5 if "several" in words else _NUMBERS[words[-1]]


def _unit(text: str) -> str:
    unit = text.lower().rstrip("s")
    return {"min": "minute", "weekend": "week", "fortnight": "week"}.get(unit, unit)


FORMS: Final[Mapping[str, Form]] = {
    "ago": Form(rf"\b(?P<n>half\s{{1,3}}an?|{_COUNT})\s{{1,3}}(?P<u>{_UNIT})\s{{1,3}}(?:ago|back)\b", _ago),
    "rolling": Form(rf"\b(?:last|past|previous)\s{{1,3}}(?P<n>{_COUNT})\s{{1,3}}(?P<u>{_UNIT})", _rolling),
    "relative": Form(
        r"\b(?P<the>the\s{1,3})?(?P<which>last|past|previous|this(?:\s{1,3}past)?)\s{1,3}"
        rf"(?P<u>night|morning|afternoon|evening|hour|weekend|week|month|year|{WEEKDAY}|{_SHORT_DAY})(?!\w)",
        _relative,
    ),
    "named": Form(
        r"\b(?:(?:the\s{1,3})?day\s{1,3}before\s{1,3}yesterday|yesterday|today|tonight"
        r"|(?:the\s{1,3})?other\s{1,3}day|(?:(?<=\bto\s)|(?<=\btill\s)|(?<=\buntil\s))now)\b",
        _named,
    ),
    "before_last": Form(
        r"\b(?P<u>week|weekend|month|year)\s{1,3}before\s{1,3}last\b(?!\s{1,3}(?:week|month|year))",
        _before_last,
    ),
    "weekday_of": Form(
        rf"\b(?P<day>{WEEKDAY})\s{{1,3}}(?:of\s{{1,3}})?(?P<which>last|this)\s{{1,3}}week\b", _weekday_of
    ),
    "weekday": Form(
        rf"\b(?P<day>{WEEKDAY})(?!\w)(?P<own>['’]s\b)?(?P<part>\s{{1,3}}(?:morning|afternoon|evening|night|noon))?",
        _weekday,
    ),
    "short_weekday": Form(r"(?<=\bon\s)(?P<day>(?:mon|tues?|wed|thu(?:rs?)?|fri)\b)", _short_weekday),
    "nth": Form(r"(?<=\bon\sthe\s)(?P<d>[0-9]{1,2})(?:st|nd|rd|th)(?=\s?(?:$|[?.,;!]))", _nth),
}
