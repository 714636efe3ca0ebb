"""Points in time: one way to write them, one way to read what people write."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from gitmem.errors import InvalidRecord, UsageError

#: How times are written by people, for hints.
TIMES: Final = "2026-11-30, 2026-11-30T09:15Z, '2 days ago', yesterday, 'last monday'"

_UNITS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_AGO: Final = re.compile(r"(\d{1,6}|an?)\s+(second|minute|hour|day|week|month|year)s?\s+ago")
_DAY: Final = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d{4}-?w\d{2}-?\d")
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def format_time(seconds: float) -> str:
    """Return seconds since 1970 as RFC 3339 in UTC with milliseconds, for example `2026-11-30T09:15:00.250Z`.

    Raises:
        InvalidRecord: outside the years 1 to 9999.
    """
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise InvalidRecord(f"not a time between the years 1 and 9999: {seconds!r}") from error
    # `isoformat` is four times as fast as `strftime`, and a turn has many times.
    return moment.isoformat("T", "milliseconds")[:23] + "Z"


def short_time(at: str) -> str:
    """Return an RFC 3339 time as people are shown it: day and minute, in UTC."""
    return at[:16].replace("T", " ")


def parse_timestamp(value: object) -> float:
    """Return a caller's time as seconds since 1970.

    Args:
        value: ISO 8601 text (without an offset it is UTC) or a number of seconds.

    Raises:
        InvalidRecord: it is neither.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            return _utc(datetime.fromisoformat(value.strip())).timestamp()
        except (ValueError, OverflowError):
            pass
    raise InvalidRecord(f"not a time: {value!r}", hint="Use ISO 8601, for example 2026-11-30T09:15:00Z.")


def parse_when(text: str, now: float) -> float:
    """Return the point in time that a person names, as seconds since 1970.

    Args:
        text: ISO 8601 date or time, `now`, `today`, `yesterday`, `2 days ago`, `last monday`.
        now: seconds since 1970; days are UTC days.

    Raises:
        UsageError: the words are not understood.
    """
    words = " ".join(text.lower().split())
    moment = datetime.fromtimestamp(now, UTC)
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    named = {"now": moment, "today": midnight, "yesterday": midnight - timedelta(days=1)}
    if words in named:
        return named[words].timestamp()
    ago = _AGO.fullmatch(words)
    if ago:
        return _before(moment, ago).timestamp()
    day = words.removeprefix("last ")
    if day in _WEEKDAYS:
        back = (moment.weekday() - _WEEKDAYS.index(day)) % 7 or 7
        return (midnight - timedelta(days=back)).timestamp()
    try:
        return parse_timestamp(text)
    except InvalidRecord as error:
        raise UsageError(
            f"not a time: {text!r}",
            hint=f"Use {TIMES}.",
        ) from error


def parse_until(text: str, now: float) -> float:
    """Return the last point in time of what a person names: of a day its end, else as `parse_when`."""
    words = " ".join(text.lower().split()).removeprefix("last ")
    is_day = words in ("today", "yesterday", *_WEEKDAYS) or _DAY.fullmatch(words)
    return parse_when(text, now) + (86_400 - 0.001 if is_day else 0.0)


def _before(moment: datetime, ago: re.Match[str]) -> datetime:
    count = int(ago[1]) if ago[1].isdigit() else 1
    try:
        if ago[2] in _UNITS:
            return moment - timedelta(seconds=count * _UNITS[ago[2]])
        months = count * (12 if ago[2] == "year" else 1)
        year, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
        return _clamped(moment, year, month + 1)
    except (OverflowError, ValueError) as error:
        raise UsageError(f"before the year 1: {ago[0]!r}") from error


def _clamped(moment: datetime, year: int, month: int) -> datetime:
    for day in (moment.day, 30, 29, 28):
        try:
            return moment.replace(year=year, month=month, day=day)
        except ValueError:
            continue
    raise ValueError(f"year {year}")


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
