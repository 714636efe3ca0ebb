"""The places of a text where a time stands, each with what it means when taken alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final

from gitmem.chinese_dates import FORMS as CHINESE_FORMS
from gitmem.date_spans import Form, Span
from gitmem.english_dates import FORMS as ENGLISH_DATES
from gitmem.english_dates import MONTH
from gitmem.english_relative import FORMS as ENGLISH_RELATIVE
from gitmem.english_relative import WEEKDAY
from gitmem.time_words import MONTH_NAMES, SPACED, WEEKDAY_NAMES

_WEEKDAY_FORMS: Final = frozenset(("relative", "weekday", "short_weekday", "zh_weekday", "ja_weekday"))
_DATE_FORMS: Final = frozenset(("iso", "numeric", "day_month", "month_day", "zh_date"))


@dataclass(frozen=True, slots=True)
class Piece:
    """What one form in the text means; most mean one span.

    Attributes:
        name: of the form.
        anchor: the form says how far before the date that follows; the date is then no part of it.
    """

    name: str
    start: int
    end: int
    spans: tuple[Span, ...] = ()
    anchor: str = ""

    @property
    def is_weekday(self) -> bool:
        """Whether it is a day of the week, which may stand beside its date."""
        return self.name in _WEEKDAY_FORMS and self.spans[0].unit == "day"

    @property
    def is_date(self) -> bool:
        """Whether it is a day with its month."""
        return self.name in _DATE_FORMS and self.spans[0].unit == "day"


_ANCHOR: Final = (
    r"\b(?:(?:the\s{1,3})?week(?:end)?\s{1,3}of"
    r"|(?:(?:the|last|an?|one|two|three|four|five|six|seven|[0-9]{1,2})\s{1,3})?"
    rf"(?:{WEEKDAY}|(?:day|night|week|weekend|month|year)s?)\s{{1,3}}(?:before|prior\s{{1,3}}to)"
    rf"|last\s{{1,3}}(?:{WEEKDAY}|night|week|weekend|month)\s{{1,3}}on)"
    rf"(?:\s{{1,3}}the)?(?=\s{{1,3}}(?:[0-9]|{MONTH}))"
)


_ENGLISH: Final = {"anchor": Form(_ANCHOR, lambda _, __: iter(())), **ENGLISH_DATES, **ENGLISH_RELATIVE}
_FORMS: Final = {**CHINESE_FORMS, **_ENGLISH}


@cache
def _any_form(*, ascii_only: bool) -> re.Pattern[str]:
    """Return one pattern that finds any form; its groups are named as the forms are."""
    # Between 在 and `May` there is no end of a word but to ASCII; every English form begins with a word.
    english = f"(?a:(?<![a-z0-9_])(?=[a-z0-9])(?:{_alternatives(_ENGLISH)}))"
    pattern = english if ascii_only else f"{_alternatives(CHINESE_FORMS)}|{english}"
    return re.compile(pattern, re.IGNORECASE)


def _alternatives(forms: Mapping[str, Form]) -> str:
    # A form's inner names would clash; only what its own pattern refers back to keeps one.
    bare = {name: re.sub(r"\(\?P<(?!s2?>)\w+>", "(?:", form.pattern) for name, form in forms.items()}
    return "|".join(f"(?P<{name}>{pattern})" for name, pattern in bare.items())


@cache
def _own_form(name: str) -> re.Pattern[str]:
    pattern = _FORMS[name].pattern
    return re.compile(f"(?a:{pattern})" if name in _ENGLISH else pattern, re.IGNORECASE)


#: One of these words, a digit or one of these characters is in every text with a date.
_HINTS: Final = frozenset(
    f"{MONTH_NAMES} may jan feb mar apr jun jul aug sept sep oct nov dec {WEEKDAY_NAMES} mon tue tues wed "
    "thu thur thurs fri sat sun yesterday today tonight other ago back last past previous this quarter "
    "spring summer autumn fall winter".split()
)
_DIGIT: Final = re.compile("[0-9]")
_CHINESE_HINT: Final = re.compile("[天日周週年月期拜晚早夜曜季前]")


def may_hold_dates(text: str) -> bool:
    """Say, fast, whether any form may be in a text."""
    words = text.lower().translate(SPACED).split()
    if not _HINTS.isdisjoint(words) or _DIGIT.search(text):
        return True
    return not text.isascii() and _CHINESE_HINT.search(text) is not None


def find_pieces(text: str, today: date, most: int) -> Iterator[Piece]:
    """Yield what stands in a text, from left to right.

    Args:
        text: any.
        today: from where `yesterday` counts.
        most: how many to find.
    """
    count = 0
    for found in _any_form(ascii_only=text.isascii()).finditer(text):
        name = found.lastgroup
        assert name is not None
        if name == "anchor":
            yield Piece(name, found.start(), found.end(), anchor=found[0].lower())
            continue
        own = _own_form(name).match(text, found.start())
        assert own is not None
        spans = tuple(_FORMS[name].read(own, today))
        if spans:
            yield Piece(name, found.start(), found.end(), spans)
            count += 1
        if count >= most:
            return
