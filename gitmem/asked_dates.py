"""The times that a question names, as intervals in which a record's own time may lie.

English and Chinese, and Japanese where it writes the same. Words such as `yesterday` count from the moment of
the question. What lies ahead (`tomorrow`, `next week`) is left out: no record has such a time yet.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from math import isnan
from typing import Final

from gitmem.date_pieces import Piece, find_pieces, may_hold_dates
from gitmem.date_spans import (
    EARLIEST,
    LATEST,
    Span,
    Unit,
    joined,
    latest,
    moved_to,
    week_span,
    weekend_span,
)
from gitmem.english_relative import WEEKDAYS, number_of
from gitmem.relative_spans import ago, weekday_span
from gitmem.time_words import asks_when, holds_time_expression

__all__ = [
    "DAYS_AFTER", "AskedDate", "AskedDates", "asks_when", "closeness", "find_dates", "holds_time_expression",
]  # fmt: skip

#: What was asked for by its day is often told some days later; a week's or month's in the week after it.
DAYS_AFTER: Final = 7
FIRST_AFTER: Final = 0.6
WEEK_AFTER: Final = 0.3
#: A span up to so many days counts as a day, up to so many as a month; longer ones end sharply.
_SHORT_DAYS: Final = 4
_MONTH_DAYS: Final = 31
_DAY: Final = 86400

#: A question is searched for dates up to here, and for so many.
_SEARCHED_CHARS: Final = 10_000
_MOST_DATES: Final = 16
#: A home's records may bear absurd times; so many years back from the latest are looked at.
_MOST_YEARS: Final = 60


@dataclass(frozen=True, slots=True)
class AskedDate:
    """One time asked for.

    Attributes:
        start: seconds since 1970 of its first second.
        end: seconds since 1970 of the first second after it.
        unit: how it was named; `range` is everything that is no single day, week, month or year.
        year_known: whether the year is part of the question; if not, `start` and `end` are the latest such
            time that began before the question, and any year will do.
    """

    start: int
    end: int
    unit: Unit
    year_known: bool = True

    def closeness(self, ts: float) -> float:
        """Return how well a time fits, 0 to 1; the year counts."""
        if not ts >= self.start:  # not a number either
            return 0.0
        if ts < self.end:
            return 1.0
        days, length = int((ts - self.end) // _DAY) + 1, self.end - self.start
        if days > DAYS_AFTER or length > (_MONTH_DAYS + 0.5) * _DAY:
            return 0.0
        return FIRST_AFTER * (1 - days / 8) if length <= (_SHORT_DAYS + 0.5) * _DAY else WEEK_AFTER


@dataclass(frozen=True, slots=True)
class AskedDates:
    """All times that a question names.

    Attributes:
        dates: in the order of the text, at least one.
        zone: whose days they are.
    """

    dates: tuple[AskedDate, ...]
    zone: tzinfo = UTC

    def intervals(self, first: float, last: float) -> tuple[AskedDate, ...]:
        """Return all times with their years: one that was named without a year once for each year.

        Args:
            first: time of the oldest record, seconds since 1970.
            last: time of the newest.
        """
        return tuple(dict.fromkeys(one for asked in self.dates for one in self._in_years(asked, first, last)))

    def _in_years(self, asked: AskedDate, first: float, last: float) -> Iterator[AskedDate]:
        if asked.year_known:
            yield asked
            return
        span = Span(_day_of(asked.start, self.zone), _day_of(asked.end - 1, self.zone), asked.unit)
        newest = _day_of(last, self.zone).year
        # What began in the year before may reach into the first year.
        oldest = max(_day_of(first, self.zone).year - 1, newest - _MOST_YEARS)
        for year in range(newest, oldest - 1, -1):
            moved = moved_to(span, year)
            if moved is not None:
                yield _asked(replace(moved, open_year=False), self.zone)


def find_dates(text: str, now: float, zone: tzinfo = UTC) -> AskedDates | None:
    """Return the times that a question names, or None where it names none; never fails.

    Args:
        text: of the question.
        now: when it is asked, seconds since 1970.
        zone: of who asks; days begin and end there.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = text[:_SEARCHED_CHARS]
    if not may_hold_dates(text):
        return None
    today = _day_of(now, zone)
    pieces = list(_fitted(text, list(find_pieces(text, today, 2 * _MOST_DATES))))
    spans = _resolved(text, pieces, today)
    # A year left open is filled in with the latest that has begun.
    dated = (replace(latest(span, today), open_year=True) if span.open_year else span for span in spans)
    dates = tuple(dict.fromkeys(_asked(span, zone) for span in dated))[:_MOST_DATES]
    return AskedDates(dates, zone) if dates else None


def closeness(dates: AskedDates | None, ts: float) -> float:
    """Return how well a record's time fits the times asked for: 1 inside one of them, 0 for none.

    Args:
        dates: of the question.
        ts: of the record, seconds since 1970.
    """
    if dates is None:
        return 0.0
    return max((one.closeness(ts) for one in dates.intervals(ts, ts)), default=0.0)


_TO: Final = re.compile(
    r"\s?(?:-|–|—|~|到|至|から)\s?从?|\s{1,3}(?:to|through|thru|until|till)\s{1,3}(?:the\s{1,3})?",
    re.IGNORECASE,
)
_AND: Final = re.compile(r"\s{1,3}and\s{1,3}(?:the\s{1,3})?|\s?[和与與]\s?", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"(?:\bbetween\s+(?:the\s+)?|在)$", re.IGNORECASE)
_AFTER_BETWEEN: Final = re.compile(r"\s?(?:之间|之間|期间)")
_LEAD: Final = re.compile(
    r"\b(since|after|before|prior to|until|till|up to|by)\s+(?:the\s+)?$", re.IGNORECASE
)
_TAIL: Final = re.compile(
    r"\s?(以来|以來|至今|之前|以前|之后|以后|之後|以後|后|後|前|起|为止|為止)(?!天|面|者)"
)


_BESIDE: Final = re.compile(r"[\s,(（的]{0,2}(?:(?:on|in)\s)?(?:the\s)?", re.IGNORECASE)


def _fitted(text: str, pieces: list[Piece]) -> Iterator[Piece]:
    """Yield the pieces without weekdays that stand beside their date, and with the years beside them."""
    for at, piece in enumerate(pieces):
        before = pieces[at - 1] if at and _is_beside(text, pieces[at - 1], piece) else None
        after = pieces[at + 1] if at + 1 < len(pieces) and _is_beside(text, piece, pieces[at + 1]) else None
        if piece.anchor or not piece.is_weekday or not any(one and one.is_date for one in (before, after)):
            if piece.spans and piece.spans[0].unit == "year" and after and after.spans[0].open_year:
                continue
            year = before.spans[0] if before and before.spans[0].unit == "year" else None
            yield _with_year(piece, year.first.year) if year else piece


def _is_beside(text: str, a: Piece, b: Piece) -> bool:
    between = text[a.end : b.start]
    return bool(a.spans and b.spans) and len(between) <= 8 and _BESIDE.fullmatch(between) is not None


def _with_year(piece: Piece, year: int) -> Piece:
    moved = (moved_to(span, year) if span.open_year else span for span in piece.spans)
    spans = tuple(replace(span, open_year=False, weak=False) for span in moved if span is not None)
    return replace(piece, spans=spans)


def _resolved(text: str, pieces: list[Piece], today: date) -> Iterator[Span]:
    """Yield the spans meant by all pieces: ranges joined, relations applied, years filled in."""
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        following = pieces[at + 1] if at + 1 < len(pieces) else None
        at += 1
        if piece.anchor:
            if following and following.spans and following.start - piece.end <= 3:
                yield from _anchored(piece.anchor, following, today)
                at += 1
            continue
        span = _range(text, piece, following) if following else None
        if span is not None:
            yield span
            at += 1
        else:
            yield from _limited(text, piece, today)


def _range(text: str, a: Piece, b: Piece) -> Span | None:
    """Return the span from one piece to the next, if the text joins them."""
    if not (a.spans and b.spans and _is_range(text, a, b)):
        return None
    first, last = a.spans[0], b.spans[0]
    if a.is_weekday and b.is_weekday and last.first < first.first:
        # From Thursday to Tuesday: the Thursday before that Tuesday.
        first = replace(first, first=first.first - timedelta(days=7))
    return joined(first, last)


def _is_range(text: str, a: Piece, b: Piece) -> bool:
    between = text[a.end : b.start]
    if len(between) > 16:
        return False
    if _TO.fullmatch(between):
        return True
    if not _AND.fullmatch(between):
        return False
    before = text[max(0, a.start - 16) : a.start]
    return bool(_BETWEEN.search(before)) and (
        "and" in between.lower() or bool(_AFTER_BETWEEN.match(text, b.end))
    )


def _limited(text: str, piece: Piece, today: date) -> Iterator[Span]:
    """Yield a piece's spans, or what `since`, `before` and the like make of them."""
    lead = _LEAD.search(text[max(0, piece.start - 16) : piece.start])
    tail = _TAIL.match(text, piece.end)
    word = lead[1].lower() if lead else tail[1] if tail else ""
    for span in piece.spans:
        if not span.weak:
            known = latest(span, today) if span.open_year else span
            yield _limit(word, known, today) if word else span


def _limit(word: str, span: Span, today: date) -> Span:
    day = timedelta(days=1)
    if word in ("since", "以来", "以來", "至今", "起"):
        return Span(span.first, max(span.last, today), "range")
    if word in ("after", "之后", "以后", "之後", "以後", "后", "後"):
        return Span(span.last + day, max(span.last + day, today), "range")
    if word in ("before", "prior to", "之前", "以前", "前"):
        return Span(min(EARLIEST, span.first - day), span.first - day, "range")
    return Span(min(EARLIEST, span.first), span.last, "range")


def _anchored(words: str, piece: Piece, today: date) -> Iterator[Span]:
    """Yield what lies so far before the date that follows (`the week before 3 May`), and that date.

    What happened in that week is told on the date named as often as in the week itself.
    """
    for span in piece.spans:
        if not span.weak:
            known = latest(span, today) if span.open_year else span
            shifted = _shifted(words.split(), known.first)
            if shifted is not None:
                yield replace(shifted, open_year=span.open_year)
            if not words.endswith(("of", "of the")):
                yield span


def _shifted(words: list[str], day: date) -> Span | None:
    """Return the time that words such as `two weeks before` put before a day."""
    if words[-1] == "the":
        words = words[:-1]
    unit = words[-2] if words[-1] != "to" else words[-3]
    unit, count = unit.removesuffix("s"), number_of(words[0])
    if words[-1] == "of":
        return weekend_span(day) if unit == "weekend" else week_span(day)
    if unit[:3] in WEEKDAYS and unit.endswith("day"):
        return weekday_span(WEEKDAYS.index(unit[:3]), day)
    if unit == "weekend":
        return weekend_span(day - timedelta(days=7 * (count or 1)))
    if unit == "week" and count is None:
        return Span(day - timedelta(days=7), day - timedelta(days=1), "week")
    return ago(count or 1, "day" if unit == "night" else unit, day)


def _day_of(ts: float, zone: tzinfo) -> date:
    """Return the day of a time; the nearest one that the calendar has."""
    bounded = min(max(ts, _stamp(EARLIEST, zone)), _stamp(LATEST, zone)) if not isnan(ts) else 0.0
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=bounded)).astimezone(zone).date()


def _stamp(day: date, zone: tzinfo) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp())


def _asked(span: Span, zone: tzinfo) -> AskedDate:
    after = span.last + timedelta(days=1)
    return AskedDate(_stamp(span.first, zone), _stamp(after, zone), span.unit, not span.open_year)
