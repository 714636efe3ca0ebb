"""Whole days, and spans of them, as people name them: a day, a week, a month, a season, a year."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final, Literal

Unit = Literal["day", "week", "month", "year", "range"]

#: Stands in for a year that is not named; it has a 29th of February.
OPEN_YEAR: Final = 2000
#: Years that a four-digit number may mean.
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2099
#: No today is earlier or later, whatever a clock says; `999 years ago` is then still in the calendar.
EARLIEST: Final = date(1200, 1, 1)
LATEST: Final = date(9000, 12, 31)

_SEASON_MONTHS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


@dataclass(frozen=True, slots=True)
class Span:
    """Days one after the other.

    Attributes:
        first, last: the days at both ends, both inside.
        open_year: no year was named; `first` then stands in `OPEN_YEAR`.
        weak: too little to be sure of alone (a bare `May`); it counts as one end of a range only.
    """

    first: date
    last: date
    unit: Unit
    open_year: bool = False
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a time.

    Attributes:
        pattern: a regular expression, of linear time on any text.
        read: returns what a match of it means, given today's day; nothing where it is no time after all.
    """

    pattern: str
    read: Callable[[re.Match[str], date], Iterator[Span]]


def words_before(found: re.Match[str]) -> str:
    """Return the few words of the text that stand right before a match."""
    return found.string[max(0, found.start() - 16) : found.start()]


def given(span: Span | None) -> Iterator[Span]:
    """Yield a span if there is one."""
    if span is not None:
        yield span


def weakened(span: Span) -> Span:
    """Return a span that is not sure to be meant."""
    return replace(span, weak=True)


def day_span(year: int | None, month: int, day: int) -> Span | None:
    """Return one day, or None where the calendar has no such day."""
    try:
        found = date(OPEN_YEAR if year is None else year, month, day)
    except ValueError:
        return None
    return Span(found, found, "day", open_year=year is None)


def one_day(day: date) -> Span:
    """Return a day as a span."""
    return Span(day, day, "day")


def month_span(year: int | None, month: int) -> Span:
    """Return a month."""
    first = date(OPEN_YEAR if year is None else year, month, 1)
    return Span(first, next_month(first) - timedelta(days=1), "month", open_year=year is None)


def months_span(year: int | None, month: int, count: int) -> Span:
    """Return several months, the first of them in `year`."""
    first = date(OPEN_YEAR if year is None else year, month, 1)
    after = first
    for _ in range(count):
        after = next_month(after)
    return Span(first, after - timedelta(days=1), "range", open_year=year is None)


def year_span(year: int) -> Span:
    """Return a year."""
    return Span(date(year, 1, 1), date(year, 12, 31), "year")


def week_span(day: date) -> Span:
    """Return the week of a day, Monday to Sunday."""
    monday = day - timedelta(days=day.weekday())
    return Span(monday, monday + timedelta(days=6), "week")


def weekend_span(day: date) -> Span:
    """Return Saturday and Sunday of a day's week."""
    week = week_span(day)
    return Span(week.last - timedelta(days=1), week.last, "range")


def season_spans(year: int | None, season: str) -> Iterator[Span]:
    """Yield a season of the northern half of the world, in whole months.

    The winter of a year is the one that begins in it and the one that ends in it: people mean either.
    """
    month = _SEASON_MONTHS[season]
    yield months_span(year, month, 3)
    if month == 12 and year is not None:
        yield months_span(year - 1, month, 3)


def months_back(day: date, count: int) -> date | None:
    """Return the first day of the month `count` months before that of `day`."""
    year, month = divmod(day.year * 12 + day.month - 1 - count, 12)
    return date(year, month + 1, 1) if EARLIEST.year <= year <= LATEST.year else None


def next_month(first: date) -> date:
    """Return the first day of the month after that of `first`."""
    return date(first.year + first.month // 12, first.month % 12 + 1, 1)


def third_of(span: Span, third: int) -> Span:
    """Return the beginning (0), middle (1) or end (2) of a month or year; the last third takes the rest."""
    if span.unit == "year":
        year = span.first.year
        return months_span(year, 1 + 4 * third, 4)
    first = span.first + timedelta(days=10 * third)
    last = span.last if third == 2 else first + timedelta(days=9)
    return replace(span, first=first, last=last, unit="range")


def half_of(span: Span, half: int) -> Span:
    """Return the first (0) or second (1) half of a month or year."""
    if span.unit == "year":
        return months_span(span.first.year, 1 + 6 * half, 6)
    cut = span.first + timedelta(days=15)
    days = (cut, span.last) if half else (span.first, cut - timedelta(days=1))
    return replace(span, first=days[0], last=days[1], unit="range")


def week_in(span: Span, number: int) -> Span:
    """Return the n-th week of a month, counted from its first day; -1 is its last seven days."""
    if number < 0:
        return replace(span, first=span.last - timedelta(days=6), unit="range")
    first = span.first + timedelta(days=7 * number)
    return replace(span, first=first, last=min(first + timedelta(days=6), span.last), unit="range")


def joined(a: Span, b: Span) -> Span | None:
    """Return the span from the beginning of `a` to the end of `b`; one year named counts for both."""
    first, last = a.first, b.last
    if a.open_year and not b.open_year:
        first = in_year(first, last.year)
        if first > last:
            first = in_year(first, last.year - 1)
    elif b.open_year and not a.open_year:
        last = in_year(last, first.year)
    if last < first and b.open_year:
        last = in_year(last, last.year + 1)
    if last < first:
        return None
    return Span(first, last, "range", open_year=a.open_year and b.open_year)


def latest(span: Span, today: date) -> Span:
    """Return a span without a year in the latest year in which it begins no later than today."""
    for year in range(today.year, today.year - 9, -1):
        moved = moved_to(span, year)
        if moved is not None and moved.first <= today:
            return moved
    return span


def moved_to(span: Span, year: int) -> Span | None:
    """Return a span without a year as it is in `year`; None for a 29th of February where there is none."""
    try:
        first = span.first.replace(year=year)
    except ValueError:
        return None
    last = in_year(span.last, year + span.last.year - span.first.year)
    if span.unit == "month":
        last = next_month(first) - timedelta(days=1)
    return replace(span, first=first, last=last)


def in_year(day: date, year: int) -> date:
    """Return the same day of another year; the 29th of February becomes the 28th where there is none."""
    try:
        return day.replace(year=year)
    except ValueError:
        return day.replace(year=year, day=28)
