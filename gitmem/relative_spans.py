"""Times told by their distance from today, whatever the language: three days ago, last week, this summer."""

from __future__ import annotations

from datetime import date, timedelta

from gitmem.date_spans import (
    Span,
    Unit,
    month_span,
    months_back,
    one_day,
    season_spans,
    week_span,
    weekend_span,
    year_span,
)


def ago(count: int, unit: str, today: date, *, vague: bool = False) -> Span | None:
    """Return the time so many units before today: as exact as the unit, `a few` with some room."""
    slack = 2 if vague else 0
    if unit in ("day", "minute", "hour"):
        middle = today - timedelta(days=count if unit == "day" else 0)
        room = timedelta(days=slack)
        return Span(middle - room, middle + room / 2, "range") if vague else one_day(middle)
    if unit == "week":
        middle = today - timedelta(days=7 * count)
        return Span(middle - timedelta(days=3 + 7 * slack), middle + timedelta(days=3), "week")
    if unit == "month":
        return _months(months_back(today, count + slack), months_back(today, count - slack // 2), "month")
    return _months(
        months_back(today, 12 * (count + slack)), months_back(today, 12 * (count - slack // 2)), "year"
    )


def _months(a: date | None, b: date | None, unit: Unit) -> Span | None:
    """Return the time from one month to another, or from one year to another."""
    if a is None or b is None:
        return None
    if unit == "year":
        return Span(year_span(a.year).first, year_span(b.year).last, unit if a == b else "range")
    return Span(a, month_span(b.year, b.month).last, unit if a == b else "range")


def rolling(count: int, unit: str, today: date) -> Span | None:
    """Return the last so many days, weeks, months or years, today included."""
    days = {"minute": 0, "hour": 1 / 24, "day": 1, "week": 7, "month": 30.5, "year": 365.25}[unit]
    return Span(today - timedelta(days=int(days * count)), today, "range")


def relative_unit(unit: str, back: int, today: date) -> Span | None:
    """Return this (0) or the last (1, 2, …) week, weekend, month or year."""
    if unit == "week":
        return week_span(today - timedelta(days=7 * back))
    if unit == "weekend":
        return weekend_span(today - timedelta(days=7 * back))
    if unit == "month":
        first = months_back(today, back)
        return None if first is None else month_span(first.year, first.month)
    return year_span(today.year - back) if today.year - back > 2 else None


def weekday_span(weekday: int, today: date, *, this_week: bool = False) -> Span:
    """Return the last such day before today, or the one of this week."""
    if this_week:
        return one_day(week_span(today).first + timedelta(days=weekday))
    return one_day(today - timedelta(days=(today.weekday() - weekday) % 7 or 7))


def relative_season(season: str, which: str, today: date) -> Span:
    """Return the season of this year, or the last one that is over."""
    span = next(season_spans(today.year, season))
    back = 0 if which == "this" or span.last < today else 1
    return next(season_spans(today.year - back, season))
