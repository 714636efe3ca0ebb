"""How dates are written in Chinese, and where Japanese writes the same; what each form means."""

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
    half_of,
    month_span,
    months_back,
    months_span,
    one_day,
    season_spans,
    third_of,
    week_span,
    weekend_span,
    year_span,
)
from gitmem.relative_spans import ago, relative_unit, rolling, weekday_span

_DIGITS: Final = {char: number for number, char in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
    "兩": 2,
}
_WEEKDAYS: Final = {char: number for number, char in enumerate("一二三四五六日")} | {"天": 6}
_JAPANESE_WEEKDAYS: Final = "月火水木金土日"
_SEASONS: Final = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_DAYS_BACK: Final = {"今": 0, "昨": 1, "前": 2, "一昨": 2, "大前": 3}

_HAN: Final = "〇零一二三四五六七八九十"
_YEAR: Final = r"(?:(?<![0-9])(?:(?:19|20)?[0-9]{2})|[〇零一二三四五六七八九]{4})\s?年"
_MONTH: Final = (
    rf"(?:(?<![0-9])(?:0?[1-9]|1[0-2])|(?<![{_HAN}几])(?:十[一二]?|[一二三四五六七八九]))\s?月(?:份|分)?"
    "(?!天(?!气|氣))"  # 五月天 is a band
)
_DAY: Final = (
    r"(?:(?:0?[1-9]|[12][0-9]|3[01])(?![0-9])|三十一?|二?十[一二三四五六七八九]?|二十|[一二三四五六七八九])"
)
_COUNT: Final = rf"(?:[0-9]{{1,3}}|[{_HAN}两兩]{{1,3}}|半|几|幾|数|數|多)"
_WEEK: Final = r"(?:周|週|星期|礼拜|禮拜)"


def chinese_number(text: str) -> int:
    """Return what digits or Chinese numerals up to 99 mean; a row of single numerals is read as digits.

    >>> chinese_number("二十三"), chinese_number("十"), chinese_number("二〇二三")
    (23, 10, 2023)
    """
    if text.isdecimal() and text.isascii():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return 10 * _DIGITS.get(tens[-1:], 1) + _DIGITS.get(ones[:1], 0)
    number = 0
    for char in text:
        number = 10 * number + _DIGITS.get(char, 0)
    return number


def _year_of(found: re.Match[str], today: date) -> int | None:
    """Return the year that a form names, in digits or in relation to this one."""
    named = found["y"]
    if named:
        number = chinese_number(named.rstrip("年 "))
        return number if number > 99 else 2000 + number
    which = found["which"]
    return today.year - _years_back(which) if which else None


def _years_back(which: str) -> int:
    return {"去年": 1, "昨年": 1, "前年": 2, "大前年": 3}.get(which, 0)


def _date(found: re.Match[str], today: date) -> Iterator[Span]:
    year, month = _year_of(found, today), chinese_number(found["m"].rstrip("份分").rstrip("月 "))
    if found["d"] is None:
        yield _part_of(month_span(year, month), found["part"])
        return
    first = day_span(year, month, chinese_number(found["d"]))
    last = day_span(year, month, chinese_number(found["d2"])) if found["d2"] else first
    if first and last and first.first < last.first:
        yield Span(first.first, last.last, "range", open_year=year is None)
    elif first:
        yield first


def _part_of(span: Span, part: str | None) -> Span:
    if not part:
        return span
    if "半" in part:
        return half_of(span, int(part.startswith("下")))
    return third_of(span, 0 if part[-1] == "初" or part[0] == "上" else 1 if part[0] == "中" else 2)


def _month_day(found: re.Match[str], today: date) -> Iterator[Span]:
    first = months_back(today, len(found["which"]) - len(found["which"].lstrip("上")))
    if first is not None:
        yield from given(day_span(first.year, first.month, chinese_number(found["d"])))


def _quarter(found: re.Match[str], today: date) -> Iterator[Span]:
    if found["n"]:
        yield months_span(_year_of(found, today), 3 * chinese_number(found["n"]) - 2, 3)
        return
    first = months_back(today, (today.month - 1) % 3 + (3 if found["back"] == "上" else 0))
    if first:
        yield months_span(first.year, first.month, 3)


def _season(found: re.Match[str], today: date) -> Iterator[Span]:
    yield from season_spans(_year_of(found, today), _SEASONS[found["season"]])


def _year(found: re.Match[str], today: date) -> Iterator[Span]:
    year = _year_of(found, today)
    if year is not None and year > 2:
        yield _part_of(year_span(year), (found["part"] or "").lstrip("年"))


def _unit(text: str) -> str:
    for mark, unit in (("月", "month"), ("年", "year"), ("小", "hour"), ("時", "hour"), ("分", "minute")):
        if mark in text:
            return unit
    return "day" if text in ("天", "日") else "week"


def _ago(found: re.Match[str], today: date) -> Iterator[Span]:
    text, unit = found["n"], _unit(found["u"])
    if text == "半":
        unit, count = {"year": ("month", 6), "month": ("day", 15)}.get(unit, ("day", 0))
    else:
        count = 4 if text in "几幾数數多" else chinese_number(text)
    span = ago(count, unit, today, vague=text in "几幾数數多")
    yield from given(span)


def _rolling(found: re.Match[str], today: date) -> Iterator[Span]:
    text, unit = found["n"], _unit(found["u"])
    if text == "半":
        unit, count = {"year": ("month", 6), "month": ("day", 15)}.get(unit, ("day", 0))
    else:
        few = text in "几幾数數多" or (found[0].startswith("前") and text in "两兩")
        count = 7 if few and unit == "day" else 4 if few else chinese_number(text)
    span = rolling(count, unit, today)
    yield from given(span)


def _weekday(found: re.Match[str], today: date) -> Iterator[Span]:
    which, day = found["which"] or "", _WEEKDAYS[found["day"]]
    if which in ("每", "下", "下下"):
        return
    if not which:
        if not re.search(r"[一两兩二三四五六七八九十几幾每半0-9个個]$", found.string[: found.start()][-1:]):
            yield weekday_span(day, today)
        return
    week = week_span(today - timedelta(days=7 * which.count("上")))
    yield one_day(week.first + timedelta(days=day))


def _week(found: re.Match[str], today: date) -> Iterator[Span]:
    back = _back(found["which"])
    unit = "weekend" if found["end"] or found["end2"] else "week"
    span = relative_unit(unit, back, today)
    yield from given(span)


def _month(found: re.Match[str], today: date) -> Iterator[Span]:
    span = relative_unit("month", _back(found["which"]), today)
    if span:
        yield _part_of(span, found["part"])


def _back(which: str) -> int:
    return 1 if which == "先" else which.count("上")


def _day(found: re.Match[str], today: date) -> Iterator[Span]:
    yield one_day(today - timedelta(days=_DAYS_BACK[found["which"] or found["which2"]]))


def _weekend(_: re.Match[str], today: date) -> Iterator[Span]:
    """Yield the last weekend that has begun."""
    span = weekend_span(today)
    yield span if span.first <= today else weekend_span(today - timedelta(days=7))


def _japanese_weekday(found: re.Match[str], today: date) -> Iterator[Span]:
    day = _JAPANESE_WEEKDAYS.index(found["day"])
    if found["which"] == "先週":
        yield one_day(week_span(today - timedelta(days=7)).first + timedelta(days=day))
    else:
        yield weekday_span(day, today, this_week=found["which"] is not None)


#: Not across words: 以前年轻, 过去年轻, 如今年轻, 日本年轻.
_RELATIVE_YEAR: Final = "大前年|(?<![以之目当當天年月周])前年|(?<![过過])去年|昨年|(?<!如)今年|(?<!日)本年"
_NAMED_YEAR: Final = rf"(?P<y>{_YEAR})|(?P<which>{_RELATIVE_YEAR})"
_FULL_YEAR: Final = rf"(?:(?<![0-9])(?:19|20)[0-9]{{2}}|[一二][{_HAN[:-1]}]{{3}})\s?年"
#: Not the end of another word: 晚上, 马上, 网上.
_LAST: Final = "(?<![晚早马馬网網路身以])上"
_THIS: Final = "这|這|(?<!日)本"
_GE: Final = "(?:一?[个個])?"
_DISTANCE: Final = "天|日|周|週間?|星期|礼拜|禮拜|年|(?:个|個|か|ヶ|カ)(?:星期|礼拜|禮拜|月|年|小时|小時)"

#: At one place the first form that fits is taken.
FORMS: Final[Mapping[str, Form]] = {
    "zh_date": Form(
        rf"(?:{_NAMED_YEAR})?的?\s?(?P<m>{_MONTH})的?\s?"
        r"(?:(?P<part>初|上旬|中旬|下旬|中|底|末|上半月|下半月)"
        rf"|(?P<d>{_DAY})\s?(?:日|号|號|(?=$|\W|[我你他她那这這的早晚上下]))"
        rf"(?:\s?(?:到|至|-|–|—|~|から)\s?(?P<d2>{_DAY})\s?(?:日|号|號))?)?",
        _date,
    ),
    "zh_month_day": Form(
        rf"(?P<which>上上[个個]?月|{_LAST}[个個]?月|[这這][个個]?月|本月)(?P<d>{_DAY})\s?(?:日|号|號)",
        _month_day,
    ),
    "zh_quarter": Form(
        rf"(?:{_NAMED_YEAR})?的?(?:第?(?P<n>[一二三四1-4])|(?P<back>上|{_THIS}){_GE})季度", _quarter
    ),
    "zh_season": Form(rf"(?:{_NAMED_YEAR})[的の]?(?P<season>[春夏秋冬])", _season),
    "zh_year": Form(
        rf"(?:(?P<y>{_FULL_YEAR})|(?P<which>{_RELATIVE_YEAR}))"
        r"(?P<part>年?初|年?底|年?末|上半年|下半年)?",
        _year,
    ),
    "zh_ago": Form(
        rf"(?<![0-9.第{_HAN}])(?P<n>{_COUNT})\s?(?P<u>{_DISTANCE}|小时|小時|分钟|分鐘|時間)(?:之|以)?前", _ago
    ),
    "zh_rolling": Form(
        rf"(?:最近|(?<!附)近|过去|過去|这|這|前)的?(?P<n>{_COUNT})\s?(?P<u>{_DISTANCE})(?!前)", _rolling
    ),
    "ja_weekday": Form(r"(?P<which>先週|今週)?の?(?P<day>[月火水木金土日])曜日?", _japanese_weekday),
    "zh_weekday": Form(
        rf"(?P<which>上上|{_LAST}|{_THIS}|每|下下|下)?{_GE}{_WEEK}(?P<day>[一二三四五六日天])"
        "(?![次个個遍天年月气氣程期常記记])",
        _weekday,
    ),
    "zh_week": Form(
        rf"(?P<which>上上|{_LAST}|{_THIS}|先|今){_GE}(?:(?P<end>[周週]末)|{_WEEK}(?P<end2>末)?)", _week
    ),
    "zh_month": Form(
        rf"(?P<which>上上|{_LAST}|{_THIS}|先|今){_GE}月(?![亮光球色饼])(?P<part>初|上旬|中旬|下旬|底|末)?",
        _month,
    ),
    "zh_day": Form(
        "(?P<which>大前|一昨|昨|(?<![如当當])今)(?:天|日|晚|早|夜)|(?P<which2>(?<![目之以午当當提从從])前)(?:天|日|晚)",
        _day,
    ),
    "zh_weekend": Form("(?<!每)[周週]末(?!一般|通常|经常|喜欢|都|常|想|要|会)", _weekend),
}
