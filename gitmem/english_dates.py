"""How dates are written in English and in digits, and what each form means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

from gitmem.date_spans import (
    Form,
    Span,
    day_span,
    given,
    half_of,
    month_span,
    months_back,
    months_span,
    season_spans,
    third_of,
    weakened,
    week_in,
    words_before,
    year_span,
)
from gitmem.relative_spans import relative_season

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ORDINALS: Final = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3}
#: Months that are also names of people or verbs: alone they need a word before them that goes with a time.
_NAMES: Final = frozenset({"april", "may", "june", "march", "august"})

MONTH: Final = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\b\.?)"
)
YEAR: Final = r"(?:19|20)[0-9]{2}(?![\w%]|[.:/-][0-9])"
#: After the rest of a date a year may be told from this one.
_ANY_YEAR: Final = rf"(?:{YEAR}|(?:last|this)\s{{1,3}}year\b)"
#: After a day and a month four digits are a year, even in `30/Nov/2026:10:15`.
_DATE_YEAR: Final = r"(?:(?:19|20)[0-9]{2}(?![\w%])|(?:last|this)\s{1,3}year\b)"
_DAY: Final = r"(?:0?[1-9]|[12][0-9]|3[01])"
_SEASON: Final = r"(?:spring|summer|autumn|fall|winter)\b"
_PART: Final = (
    r"(?:(?:the\s{1,3})?(?P<part>early|mid|late|(?:beginning|start|middle|end"
    r"|(?:first|1st|second|2nd|third|3rd|fourth|4th|last)\s{1,3}(?:half|week|weekend))\s{1,3}(?:of|in))(?:\s{1,3}(?:the\s{1,3}month\s{1,3}of\s{1,3})?|-))"
)
_SEP: Final = r"(?:\s{0,2},\s{0,2}|\s{1,3}(?:of\s{1,3}|in\s{1,3})?)"
_TO: Final = r"(?:\s?[-–—~]\s?|\s{1,3}(?:to|through|thru|until|till)\s{1,3})"

#: Words before a month without a year that make a time of it, whatever else the word may be.
_TIME_LEAD: Final = re.compile(
    r"\b(?:in|during|since|throughout|until|till|month of|back in|around|the whole of|all of)\s+$",
    re.IGNORECASE,
)
#: The same before a month that ends the sentence.
_LIMIT_LEAD: Final = re.compile(r"\b(?:before|after|of)\s+$", re.IGNORECASE)
_DAY_LEAD: Final = re.compile(
    r"\b(?:on|since|before|after|until|till|by|from|between|and|to|through|of|the|around|dated|for)\s+$",
    re.IGNORECASE,
)
_YEAR_LEAD: Final = re.compile(
    r"\b(?:in|during|since|of|from|before|after|until|till|by|throughout|year|between)\s+$", re.IGNORECASE
)
_RELEASE: Final = re.compile(r"(?:\bv|\bver|version|release|tag|[=<>~^])\W*$", re.IGNORECASE)
#: After `3 May` and the like in small letters: nothing follows that makes a verb of `may` or a count of 3.
_DONE: Final = re.compile(r"\s*(?:$|[?.,;:!)\"'’”]|(?:and|or|in|at|with|to|of|from|by)\b)")
_LOOSE: Final = re.compile(r"\s+[a-z]")
_COUNTED: Final = re.compile(
    r"\s+(?!(?:was|is|has|does|this|as|its|us|across|news)\b)(?:[a-z]+s|people|of|or|more)\b"
)
_EDGE: Final = r"(?<![\w.:/$€£#@+-])"
_END: Final = r"(?![\w%]|[.:/][0-9])"


def _year_number(text: str | None, today: date) -> int | None:
    """Return the year that a date ends with: in digits, `last year` or `this year`."""
    if not text or text.isdigit():
        return int(text) if text else None
    return today.year - (text[0] in "lL")


def _month_number(text: str) -> int:
    return _MONTHS.index(text[:3].lower()) + 1


def _iso(found: re.Match[str], _: date) -> Iterator[Span]:
    if found["s"] == "." and _RELEASE.search(words_before(found)):
        return
    yield from given(day_span(int(found["y"]), int(found["m"]), int(found["d"])))


def _numeric(found: re.Match[str], _: date) -> Iterator[Span]:
    """Yield a date in digits with the year last: with dots day first, else both readings that exist."""
    a, b, year = int(found["a"]), int(found["b"]), int(found["y"])
    yield from given(day_span(year, b, a))
    if found["s2"] != "." and a != b:
        yield from given(day_span(year, a, b))


def _year_month(found: re.Match[str], _: date) -> Iterator[Span]:
    yield month_span(int(found["y"]), int(found["m"]))


def _year_quarter(found: re.Match[str], _: date) -> Iterator[Span]:
    yield months_span(int(found["y"]), 3 * int(found["n"]) - 2, 3)


def _day_month(found: re.Match[str], today: date) -> Iterator[Span]:
    if not _is_day(found):
        return
    yield from _days(found, found["d0"] or found["d"], found["d"], today)


def _month_day(found: re.Match[str], today: date) -> Iterator[Span]:
    if not _is_day(found):
        return
    yield from _days(found, found["d"], found["d2"] or found["d"], today)


def _days(found: re.Match[str], first: str, last: str, today: date) -> Iterator[Span]:
    """Yield the days at both ends as one span; with `and` they are one only after `between`."""
    year, month = _year_number(found["y"], today), _month_number(found["m"])
    a, b = day_span(year, month, int(first)), day_span(year, month, int(last))
    if a is None or b is None or a == b:
        yield from given(b or a)
        return
    if "and" in found["to"] and not re.search(
        r"\bbetween\s+(?:the\s+)?$", words_before(found), re.IGNORECASE
    ):
        yield from (a, b)
    elif a.first <= b.first:
        yield Span(a.first, b.last, "range", open_year=a.open_year)


def _is_day(found: re.Match[str]) -> bool:
    """Say whether a month with a number is a date: `may 3 people come` is none."""
    month = found["m"].lower().rstrip(".")
    if month not in ("may", "march", "mar") or found["y"] or found["th"]:
        return True
    after = found.string[found.end() : found.end() + 12]
    if _DAY_LEAD.search(words_before(found)):
        return not (found["m"].islower() and re.match(r"\s+(?:miles|km|steps|minutes|people)\b", after))
    if found["m"].islower():
        return bool(_DONE.match(after)) and found.start() > 0
    return not (found.start() == 0 and found.string.rstrip().endswith("?") and _LOOSE.match(after))


def _month(found: re.Match[str], today: date) -> Iterator[Span]:
    month, year = _month_number(found["m"]), _year_number(found["y"], today)
    if found["which"] and year is None:
        yield _relative_month(month, found["which"].lower(), today)
        return
    span = month_span(year, month)
    if found["part"]:
        yield _part_of(span, found["part"])
    else:
        yield span if year or _names_time(found) else weakened(span)


def _names_time(found: re.Match[str]) -> bool:
    """Say whether a month alone means a time, not a person, a verb or the beginning of another word."""
    word, before = found["m"].lower(), words_before(found)
    if _TIME_LEAD.search(before):
        return True
    if _LIMIT_LEAD.search(before) and _DONE.match(found.string, found.end()):
        return True
    return word not in _NAMES and word.rstrip(".") not in _MONTHS and word != "sept"


def _relative_month(month: int, which: str, today: date) -> Span:
    year = today.year if which == "this" or month < today.month else today.year - 1
    return month_span(year, month)


def _part_of(span: Span, part: str) -> Span:
    words = part.lower().split()
    if len(words) > 2:
        number = -1 if words[0] == "last" else _ORDINALS[words[0]]
        if words[1] == "half":
            return half_of(span, 0 if number == 0 else 1)
        return week_in(span, number) if span.unit == "month" else span
    return third_of(span, {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1}.get(words[0], 2))


def _quarter(found: re.Match[str], today: date) -> Iterator[Span]:
    year, nth = _year_number(found["y"], today), (found["nth"] or "").lower()
    if nth in ("last", "this", "past"):
        first = months_back(today, (today.month - 1) % 3 + (0 if nth == "this" else 3))
        if first is not None and year is None:
            yield months_span(first.year, first.month, 3)
        elif year is not None:
            yield months_span(year, 10, 3)
        return
    number = int(found["n"]) if found["n"] else _ORDINALS[nth] + 1
    span = months_span(year, 3 * number - 2, 3)
    # `q3` in small letters may be the third question.
    sure = year or found[0][0] == "Q" or (found["n"] and _TIME_LEAD.search(words_before(found)))
    yield span if sure else weakened(span)


def _season(found: re.Match[str], today: date) -> Iterator[Span]:
    year, season, which = (
        _year_number(found["y"], today),
        found["season"].lower(),
        (found["which"] or "").lower(),
    )
    if year is None and which:
        yield relative_season(season, which, today)
    elif year is not None or (found["lead"] and season not in ("spring", "fall")):
        yield from season_spans(year, season)


def _year(found: re.Match[str], _: date) -> Iterator[Span]:
    span = year_span(int(found["y"]))
    if found["part"]:
        yield _part_of(span, found["part"])
    elif _COUNTED.match(found.string[found.end() : found.end() + 24]):
        return
    else:
        yield span if _YEAR_LEAD.search(words_before(found)) else weakened(span)


_FOUR_DIGITS: Final = r"(?P<y>(?:19|20)[0-9]{2})"
_NO_MORE: Final = r"(?![\w]|[-/.:][0-9])"

#: At one place the first form that fits is taken.
FORMS: Final[Mapping[str, Form]] = {
    "iso": Form(
        rf"{_EDGE}{_FOUR_DIGITS}(?P<s>[-/.])(?P<m>[01]?[0-9])(?P=s)(?P<d>[0-3]?[0-9])(?![0-9]|[-/.:][0-9])",
        _iso,
    ),
    "numeric": Form(
        rf"{_EDGE}(?P<a>[0-3]?[0-9])(?P<s2>[-/.])(?P<b>[0-3]?[0-9])(?P=s2){_FOUR_DIGITS}{_NO_MORE}", _numeric
    ),
    "year_month": Form(rf"{_EDGE}{_FOUR_DIGITS}-(?P<m>0[1-9]|1[0-2]){_NO_MORE}", _year_month),
    "month_year": Form(rf"{_EDGE}(?P<m>0?[1-9]|1[0-2])/{_FOUR_DIGITS}{_NO_MORE}", _year_month),
    "year_quarter": Form(rf"{_EDGE}{_FOUR_DIGITS}\s?-?q(?P<n>[1-4])\b", _year_quarter),
    "day_month": Form(
        rf"{_EDGE}(?:(?P<d0>{_DAY})(?:st|nd|rd|th)?(?P<to>{_TO}|\s{{1,3}}and\s{{1,3}}))?"
        rf"(?P<d>{_DAY})(?P<th>st|nd|rd|th)?(?:\s{{1,3}}of)?[\s/-]{{1,2}}(?P<m>{MONTH})(?![a-z]|\.[a-z])"
        rf"(?:(?:{_SEP}|[/-])(?P<y>{_DATE_YEAR}))?",
        _day_month,
    ),
    "month_day": Form(
        rf"\b(?P<m>{MONTH})\s{{0,2}}(?:the\s)?(?P<d>{_DAY})(?P<th>st|nd|rd|th)?{_END}"
        rf"(?:(?P<to>{_TO}|\s{{1,3}}and\s{{1,3}})(?P<d2>{_DAY})(?:st|nd|rd|th)?{_END}(?!\s{{1,3}}{MONTH}))?"
        rf"(?:(?:{_SEP}|[/-])(?P<y>{_DATE_YEAR}))?",
        _month_day,
    ),
    "month": Form(
        rf"\b(?:{_PART}|(?P<which>last|this|past)\s{{1,3}})?(?P<m>{MONTH})(?![\w'’]|\.[a-z])(?:{_SEP}(?P<y>{_ANY_YEAR}))?",
        _month,
    ),
    "quarter": Form(
        r"\b(?:q(?P<n>[1-4])|(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th|last|this|past)\s{1,3}quarter)\b"
        rf"(?:{_SEP}(?P<y>{_ANY_YEAR}))?",
        _quarter,
    ),
    "season": Form(
        r"\b(?:(?P<which>last|this|past)\s{1,3}|(?P<lead>(?:in|during|over)\s{1,3}(?:the\s{1,3})?))?"
        rf"(?P<season>{_SEASON})(?:{_SEP}(?P<y>{_ANY_YEAR}))?",
        _season,
    ),
    "year": Form(rf"{_EDGE}{_PART}?(?P<y>{YEAR})", _year),
}
