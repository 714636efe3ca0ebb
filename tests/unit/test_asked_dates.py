"""The times that a question names: every usual form is found, and nothing that only looks like one."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.asked_dates import AskedDate, AskedDates, closeness, find_dates

#: A Wednesday.
NOW = datetime(2026, 11, 18, 10, 30, tzinfo=UTC).timestamp()
DAY = 86400


def stamp(text: str) -> int:
    """Return the first second of a day."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def shown(question: str, now: float = NOW) -> list[str]:
    """Return the times found as `first`, or `first..last`, with `?` before one whose year is open."""
    dates = find_dates(question, now)
    return [] if dates is None else [one_shown(one) for one in dates.dates]


def one_shown(asked: AskedDate) -> str:
    """Return one time found, as `shown` does."""
    first, last = (datetime.fromtimestamp(ts, UTC).date() for ts in (asked.start, asked.end - 1))
    text = f"{first}" if first == last else f"{'' if first.year < 1900 else first}..{last}"
    return text if asked.year_known else f"?{text}"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # full dates
        ("What did we do on 3 June 2023?", "2023-06-03"),
        ("What did we do on 3 June, 2023?", "2023-06-03"),
        ("what did we do on June 3rd, 2023", "2023-06-03"),
        ("What did we do on the 3rd of June 2023?", "2023-06-03"),
        ("Notes of Jun 3 2023", "2023-06-03"),
        ("Notes of Jun. 3, 2023", "2023-06-03"),
        ("notes of 03-Jun-2023", "2023-06-03"),
        ("What happened on 2023-06-03?", "2023-06-03"),
        ("What happened on 2023-06-03T10:00:00Z?", "2023-06-03"),
        ("What happened on 2023/6/3?", "2023-06-03"),
        ("What happened on 2023.6.3?", "2023-06-03"),
        ("What happened on 3.6.2023?", "2023-06-03"),
        ("What happened on 25/06/2023?", "2023-06-25"),
        ("What happened on 06/25/2023?", "2023-06-25"),
        ("What happened on 06/06/2023?", "2023-06-06"),
        ("May 5, 2023: what was said", "2023-05-05"),
        # without a year
        ("What did we do on Jun 3?", "?2026-06-03"),
        ("What did we do on December 24?", "?2025-12-24"),
        ("What did I say on May 3rd?", "?2026-05-03"),
        ("what did i say on may 3?", "?2026-05-03"),
        ("On April 27th, how long did I run?", "?2026-04-27"),
        ("What did I plan for the 5th of November", "?2026-11-05"),
        ("Which day had we on February 29?", "?2024-02-29"),
        # months, quarters, years
        ("What did Nate win in May 2022?", "2022-05-01..2022-05-31"),
        ("What did Nate win in May, 2022?", "2022-05-01..2022-05-31"),
        ("the release of February 2024", "2024-02-01..2024-02-29"),
        ("What did Nate win in 2023-05?", "2023-05-01..2023-05-31"),
        ("Which spot did Joanna visit in May?", "?2026-05-01..2026-05-31"),
        ("what did we ship in december", "?2025-12-01..2025-12-31"),
        ("the December release", "?2025-12-01..2025-12-31"),
        ("What did I do in Sept.?", "?2026-09-01..2026-09-30"),
        ("Which one did I buy last May?", "2026-05-01..2026-05-31"),
        ("Which one did I buy last December?", "2025-12-01..2025-12-31"),
        ("Which one did I buy this March?", "2026-03-01..2026-03-31"),
        ("How often did she go to the beach in 2023?", "2023-01-01..2023-12-31"),
        ("the plans of 2023", "2023-01-01..2023-12-31"),
        ("What was decided in Q3 2023?", "2023-07-01..2023-09-30"),
        ("What was decided in Q3 of 2023?", "2023-07-01..2023-09-30"),
        ("What was decided in 2023 Q3?", "2023-07-01..2023-09-30"),
        ("What was decided in the third quarter of 2023?", "2023-07-01..2023-09-30"),
        ("What was decided in Q3?", "?2026-07-01..2026-09-30"),
        ("What was decided last quarter?", "2026-07-01..2026-09-30"),
        ("What was decided this quarter?", "2026-10-01..2026-12-31"),
        ("Which tournament did Nate win in the beginning of November 2022?", "2022-11-01..2022-11-10"),
        ("What did he do in early June 2023?", "2023-06-01..2023-06-10"),
        ("What did he do in mid-June 2023?", "2023-06-11..2023-06-20"),
        ("What did he do in mid June?", "?2026-06-11..2026-06-20"),
        ("What did he do at the end of June 2023?", "2023-06-21..2023-06-30"),
        ("What did he do in late 2022?", "2022-09-01..2022-12-31"),
        ("Was the first half of September 2022 good?", "2022-09-01..2022-09-15"),
        ("Was the second half of September good?", "?2026-09-16..2026-09-30"),
        ("What was in the second week of May 2023?", "2023-05-08..2023-05-14"),
        ("What was in the last week of May 2023?", "2023-05-25..2023-05-31"),
        ("What state did Joanna visit in summer 2021?", "2021-06-01..2021-08-31"),
        ("What state did Joanna visit in the fall of 2021?", "2021-09-01..2021-11-30"),
        ("What did they enjoy last summer?", "2026-06-01..2026-08-31"),
        ("What did they enjoy last autumn?", "2025-09-01..2025-11-30"),
        ("a pride parade during the summer", "?2026-06-01..2026-08-31"),
        # from today
        ("What did I say today?", "2026-11-18"),
        ("What did I eat yesterday?", "2026-11-17"),
        ("What did I eat the day before yesterday?", "2026-11-16"),
        ("What did we discuss last night?", "2026-11-17"),
        ("What did we discuss this morning?", "2026-11-18"),
        ("What did I do last Friday?", "2026-11-13"),
        ("What did I do last Wednesday?", "2026-11-11"),
        ("What did I do on Monday?", "2026-11-16"),
        ("What did I do on Wednesday?", "2026-11-11"),
        ("What did I do this Monday?", "2026-11-16"),
        ("what happened monday morning", "2026-11-16"),
        ("Who came Saturday?", "2026-11-14"),
        ("What did I do on Mon?", "2026-11-16"),
        ("What did I do last week?", "2026-11-09..2026-11-15"),
        ("What did I do this week?", "2026-11-16..2026-11-22"),
        ("What did I do last weekend?", "2026-11-14..2026-11-15"),
        ("What did I do last month?", "2026-10-01..2026-10-31"),
        ("What did I do this year?", "2026-01-01..2026-12-31"),
        ("What did I do last year?", "2025-01-01..2025-12-31"),
        ("What did I do three days ago?", "2026-11-15"),
        ("What did I do 3 hours ago?", "2026-11-18"),
        ("What did I do two weeks ago?", "2026-11-01..2026-11-07"),
        ("What did I do a month ago?", "2026-10-01..2026-10-31"),
        ("What did I do half a year ago?", "2026-05-01..2026-05-31"),
        ("Where did Caroline move from 4 years ago?", "2022-01-01..2022-12-31"),
        ("A few days ago, I mentioned a park.", "2026-11-12..2026-11-15"),
        ("What did I do in the last 10 days?", "2026-11-08..2026-11-18"),
        ("what did we decide over the past two weeks", "2026-11-04..2026-11-18"),
        ("What did I read the other day?", "2026-11-11..2026-11-17"),
        ("What did I do on the 15th?", "2026-11-15"),
        ("What did I do on the 20th?", "2026-10-20"),
        ("What did I do in the last month?", "2026-10-19..2026-11-18"),
        ("What did I do in the past year?", "2025-11-18..2026-11-18"),
        ("What did I do this past weekend?", "2026-11-14..2026-11-15"),
        ("What did I do in the last 24 hours?", "2026-11-17..2026-11-18"),
        ("What did I do the week before last?", "2026-11-02..2026-11-08"),
        ("What did I do on Tuesday last week?", "2026-11-10"),
        ("What did I do on Tuesday of this week?", "2026-11-17"),
        ("What did I say in Tuesday's meeting?", "2026-11-17"),
        ("What did I say in last Tuesday's meeting?", "2026-11-17"),
        ("What did I do in May last year?", "2025-05-01..2025-05-31"),
        ("What did I do on the 3rd of May this year?", "2026-05-03"),
        ("What did I do in the summer of last year?", "2025-06-01..2025-08-31"),
        ("What did I pay in 05/2023?", "2023-05-01..2023-05-31"),
        # ranges
        ("What did I do between 3 and 5 May 2023?", "2023-05-03..2023-05-05"),
        ("What did I do between May 3 and May 5?", "?2026-05-03..2026-05-05"),
        ("What did I do between May 3 and 5, 2023?", "2023-05-03..2023-05-05"),
        ("What did I do on May 3-5, 2023?", "2023-05-03..2023-05-05"),
        ("What did I do from 3 to 5 May?", "?2026-05-03..2026-05-05"),
        ("What did I do from May to July 2023?", "2023-05-01..2023-07-31"),
        ("What did I do from November to February 2023?", "2022-11-01..2023-02-28"),
        ("What did I do from Dec 20, 2022 to Jan 5, 2023?", "2022-12-20..2023-01-05"),
        ("What did I do between 2020 and 2022?", "2020-01-01..2022-12-31"),
        ("What did I do from 2023-05-03 to 2023-05-09?", "2023-05-03..2023-05-09"),
        ("What changed since May 2026?", "2026-05-01..2026-11-18"),
        ("What changed since Monday?", "2026-11-16..2026-11-18"),
        ("What changed since yesterday?", "2026-11-17..2026-11-18"),
        ("What changed since June?", "2026-06-01..2026-11-18"),
        ("What changed after 3 June 2026?", "2026-06-04..2026-11-18"),
        ("What was decided before May 2023?", "..2023-04-30"),
        ("What was decided before 2020?", "..2019-12-31"),
        ("How many tournaments has Nate won by July 10, 2022?", "..2022-07-10"),
        # what is counted from a date is told on that date as well
        (
            "What did John do the week before August 3, 2023 with his kids?",
            "2023-07-27..2023-08-02 2023-08-03",
        ),
        ("What puppy did she get two weeks before August 11, 2023?", "2023-07-25..2023-07-31 2023-08-11"),
        ("What was shown on the Sunday before October 25, 2022?", "2022-10-23 2022-10-25"),
        ("What did Joanna finish last Friday on 23 January, 2022?", "2022-01-21 2022-01-23"),
        ("What happened in the week of 3 May 2023?", "2023-05-01..2023-05-07"),
        ("What changed from May 2026 until now?", "2026-05-01..2026-11-18"),
        ("What did I do from Thursday to Monday?", "2026-11-12..2026-11-16"),
        ("What did I do from Monday to Wednesday?", "2026-11-09..2026-11-11"),
        # a weekday beside its date, a year beside its day
        ("What did we do on Wednesday, 3 May 2023?", "2023-05-03"),
        ("What did we do on Wednesday, May 3?", "?2026-05-03"),
        ("What did we do on 2023-05-03 (Wednesday)?", "2023-05-03"),
        ("What did we do last year on May 3?", "2025-05-03"),
        ("What did we do last year in May?", "2025-05-01..2025-05-31"),
        ("notes of 2023 May 3", "2023-05-03"),
        # as logs write them
        ("2026-11-13T09:15:00.250Z ERROR lost", "2026-11-13"),
        ("GET [13/Nov/2026:10:15:01 +0000]", "2026-11-13"),
        ("Nov 13 09:15:00 host sshd[2023]: closed", "?2026-11-13"),
        # several; and what may be read in two ways
        ("Compare 3 June 2023 with 5 June 2023", "2023-06-03 2023-06-05"),
        ("Notes of May 3 and 5", "?2026-05-03 ?2026-05-05"),
        ("What happened on 03/06/2023?", "2023-06-03 2023-03-06"),
        ("What did I do in winter 2022?", "2022-12-01..2023-02-28 2021-12-01..2022-02-28"),
    ],
)
def test_finds_what_english_names(question: str, expected: str) -> None:
    """Every usual English form of a date is found, with the days that it means."""
    assert " ".join(shown(question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("我在2023年5月3日做了什么？", "2023-05-03"),
        ("我在２０２３年５月３日做了什么？", "2023-05-03"),
        ("我在2023年5月3号做了什么？", "2023-05-03"),
        ("我在2023-05-03去了哪里？", "2023-05-03"),
        ("我在May 3去了哪里？", "?2026-05-03"),
        ("二〇二三年五月三日我做了什么", "2023-05-03"),
        ("2024年5月3日に何をした？", "2024-05-03"),
        ("在5月3号，你给我推荐了哪两部电影？", "?2026-05-03"),
        ("我4月30号为什么要问你", "?2026-04-30"),
        ("五月三日我做了什么", "?2026-05-03"),
        ("十二月二十五号", "?2025-12-25"),
        ("5月3我说了什么", "?2026-05-03"),
        ("去年5月3日我说了什么", "2025-05-03"),
        ("今年五月三号我说了什么", "2026-05-03"),
        ("2023年5月我做了什么", "2023-05-01..2023-05-31"),
        ("五月份我去了哪里", "?2026-05-01..2026-05-31"),
        ("去年十二月我去了哪里", "2025-12-01..2025-12-31"),
        ("5月初我去了哪里", "?2026-05-01..2026-05-10"),
        ("2023年6月下旬", "2023-06-21..2023-06-30"),
        ("2023年我去了哪里", "2023-01-01..2023-12-31"),
        ("2023年第三季度的目标", "2023-07-01..2023-09-30"),
        ("上个季度的目标", "2026-07-01..2026-09-30"),
        ("去年夏天我们去了哪里", "2025-06-01..2025-08-31"),
        ("去年年底我们去了哪里", "2025-09-01..2025-12-31"),
        ("昨天我说了什么", "2026-11-17"),
        ("昨晚我说了什么", "2026-11-17"),
        ("前天我说了什么", "2026-11-16"),
        ("大前天我说了什么", "2026-11-15"),
        ("今天我说了什么", "2026-11-18"),
        ("上周我说了什么", "2026-11-09..2026-11-15"),
        ("上个星期我说了什么", "2026-11-09..2026-11-15"),
        ("上上周我说了什么", "2026-11-02..2026-11-08"),
        ("这周我说了什么", "2026-11-16..2026-11-22"),
        ("上周五我说了什么", "2026-11-13"),
        ("上个星期五我说了什么", "2026-11-13"),
        ("这周一我说了什么", "2026-11-16"),
        ("星期三我说了什么", "2026-11-11"),
        ("礼拜天我说了什么", "2026-11-15"),
        ("周五我说了什么", "2026-11-13"),
        ("上周末我说了什么", "2026-11-14..2026-11-15"),
        ("周末我说了什么", "2026-11-14..2026-11-15"),
        ("上个月我说了什么", "2026-10-01..2026-10-31"),
        ("上个月3号我说了什么", "2026-10-03"),
        ("本月5日我说了什么", "2026-11-05"),
        ("去年我说了什么", "2025-01-01..2025-12-31"),
        ("前年我说了什么", "2024-01-01..2024-12-31"),
        ("今年我说了什么", "2026-01-01..2026-12-31"),
        ("三天前我说了什么", "2026-11-15"),
        ("两周前我说了什么", "2026-11-01..2026-11-07"),
        ("三个月前我说了什么", "2026-08-01..2026-08-31"),
        ("三个小时前我说了什么", "2026-11-18"),
        ("去年の夏", "2025-06-01..2025-08-31"),
        ("半年前我说了什么", "2026-05-01..2026-05-31"),
        ("几天前我说了什么", "2026-11-12..2026-11-15"),
        ("最近一周我说了什么", "2026-11-11..2026-11-18"),
        ("过去三天我说了什么", "2026-11-15..2026-11-18"),
        ("前几天我说了什么", "2026-11-11..2026-11-18"),
        ("这几天我说了什么", "2026-11-11..2026-11-18"),
        ("5月3日到5日我做了什么", "?2026-05-03..2026-05-05"),
        ("从2023年5月3日到2023年6月2日", "2023-05-03..2023-06-02"),
        ("从5月到7月我做了什么", "?2026-05-01..2026-07-31"),
        ("去年5月至7月", "2025-05-01..2025-07-31"),
        ("5月3日星期三我做了什么", "?2026-05-03"),
        ("2023年5月3日（周三）我做了什么", "2023-05-03"),
        ("2026年5月至今我做了什么", "2026-05-01..2026-11-18"),
        ("5月天气怎么样", "?2026-05-01..2026-05-31"),
        ("5月3日以来我做了什么", "2026-05-03..2026-11-18"),
        ("2023年5月之前我做了什么", "..2023-04-30"),
        ("3日前に何を話した？", "2026-11-15"),
        ("先週の月曜日に何を話した？", "2026-11-09"),
        ("昨日何を話した？", "2026-11-17"),
        ("先月何を話した？", "2026-10-01..2026-10-31"),
        ("上週五我說了什麼", "2026-11-13"),
        ("三個月前我說了什麼", "2026-08-01..2026-08-31"),
    ],
)
def test_finds_what_chinese_names(question: str, expected: str) -> None:
    """Every usual Chinese form of a date is found, in digits and numerals, and Japanese where it is alike."""
    assert " ".join(shown(question)) == expected


@pytest.mark.parametrize(
    "question",
    [
        # words and names that look like months and days
        "May I change the port?",
        "may I ask what you think",
        "What may 3 people do here?",
        "of those 3 may be wrong",
        "May 3 people join?",
        "When does the army march on?",
        "march 15 miles a day",
        "Will Mark come with April?",
        "What did April say about June?",
        "What did May tell June about August?",
        "What is May's favourite colour?",
        "What does Sunday mean to Jon?",
        "the Sunday Times",
        "What is Wednesday's surname?",
        "Which Black Friday deals are there?",
        "the sun and the sat image, wed to it",
        "Why did Jan and Dec argue?",
        "the spring of the clock, a fall",
        "second thoughts about this",
        "this is the last one of the past",
        "the day before the wedding",
        "three days of rain",
        "how many days in a week",
        "What do we do next week or tomorrow?",
        # numbers
        "upgrade to version 2.3.1",
        "release 2023.6.3 of the tool",
        "v2024.5.1",
        "ping 10.12.20.23",
        "the port 2023 is taken",
        "listen on 2024",
        "a limit of 2000 tokens",
        "in 2048 bytes",
        "pay $2023 for it",
        "id 20230603",
        "issue #2023",
        "call 555-06-2023",
        "call +1 202 555 0123",
        "at 10:30 on 12:45",
        "3/4 of it, 1/2, 24/7",
        "what is 3-4",
        "answer q3 please",
        "line 3 of march.py",
        "see may.md and june_plan",
        "error 404 at line 2021:15",
        "the path /2023/06/03.md",
        "the file a-2023-06-03",
        "2023-13-45",
        "31/02/2023",
        "30 February 2023",
        "0/0/2023",
        # Chinese
        "五月天的演唱会",
        "以前年轻的时候",
        "过去年轻人",
        "如今年轻人，如今天气",
        "我周末喜欢做什么",
        "我一周三次跑步",
        "每周三我去哪里",
        "用了5个月",
        "3号楼在哪里",
        "昨晚上月亮".removeprefix("昨"),
        "网上周边商品",
        "晚上周杰伦",
        "目前天气",
        "本周天气".removeprefix("本"),
        "以前天天跑步",
        "第三天前面",
        "几月几号",
        "下周我要做什么",
        "20年的经验",
        "我最近去了哪里",
        "有三年了",
        "",
        " ",
    ],
)
def test_finds_no_date_where_none_is_meant(question: str) -> None:
    """A word, a name, a version, a port, an amount or a fraction is no date."""
    assert shown(question) == []


def day(asked: str, question: str = "on") -> AskedDates:
    """Return the times of a question about one day."""
    found = find_dates(f"What did we do {question} {asked}?", NOW)
    assert found is not None
    return found


def test_an_open_year_is_met_in_every_year() -> None:
    """`On 3 May` may mean the May of any year that a home has records of."""
    dates = day("3 May")
    assert all(closeness(dates, stamp(f"{year}-05-03") + 3600) == 1.0 for year in (1999, 2023, 2026, 2027))
    assert closeness(dates, stamp("2023-05-02")) == 0.0
    years = dates.intervals(stamp("2022-01-01"), stamp("2024-03-01"))
    assert [one_shown(one) for one in years] == [f"{year}-05-03" for year in (2024, 2023, 2022, 2021)]


def test_a_winter_reaches_over_the_year() -> None:
    """A time without a year that begins in one year is met in the January of the next."""
    dates = find_dates("What did I do in the winter?", NOW)
    assert closeness(dates, stamp("2023-01-15")) == closeness(dates, stamp("2022-12-15")) == 1.0
    assert closeness(dates, stamp("2023-06-15")) == 0.0


def test_a_named_year_is_the_only_one() -> None:
    """With a year in the question, the same day of another year does not fit."""
    assert closeness(day("3 May 2023"), stamp("2024-05-03")) == 0.0
    assert day("3 May 2023").intervals(0, NOW) == day("3 May 2023").dates


def test_absurd_times_of_records_do_not_make_endless_years() -> None:
    """A record of the year 9999, or of none, costs no more than the years of a life."""
    assert 0 < len(day("3 May").intervals(-1e18, 1e18)) < 100
    assert closeness(day("3 May"), float("nan")) == 0.0


def test_how_well_a_time_fits_falls_in_the_days_after() -> None:
    """What happened on a day is often told some days later: 0.6 less an eighth for each day, for a week."""
    dates = day("3 May 2023")
    after = [closeness(dates, stamp("2023-05-04") + number * DAY) for number in range(-2, 9)]
    assert after == pytest.approx([0, 1, 0.525, 0.45, 0.375, 0.3, 0.225, 0.15, 0.075, 0, 0])


def test_the_week_after_a_month_fits_a_little() -> None:
    """What happened in a month is still told in the week after it: 0.3, and nothing later or earlier."""
    dates = day("May 2023", "in")
    times = ("2023-04-30", "2023-05-01", "2023-05-31", "2023-06-01", "2023-06-07", "2023-06-08")
    assert [closeness(dates, stamp(time)) for time in times] == [0, 1, 1, 0.3, 0.3, 0]


def test_a_year_ends_sharply() -> None:
    """A year is long enough: what is told after it is as likely of another."""
    assert closeness(day("2023", "in"), stamp("2024-01-01")) == 0.0


def test_of_several_times_the_best_counts() -> None:
    """A question that names two days is met on either."""
    dates = find_dates("Compare 3 June 2023 with 9 June 2023", NOW)
    assert [closeness(dates, stamp(f"2023-06-0{number}")) for number in (3, 4, 9)] == [1.0, 0.525, 1.0]


def test_no_date_fits_nothing() -> None:
    """A question without a date gives no record anything."""
    assert closeness(None, NOW) == 0.0


def test_days_begin_where_the_asker_lives() -> None:
    """Near midnight, `today` of somebody in Shanghai is not the UTC day; a change of clocks moves nothing."""
    late = datetime(2026, 11, 18, 17, 0, tzinfo=UTC).timestamp()
    found = find_dates("What did I say today?", late, timezone(timedelta(hours=8)))
    assert found is not None
    assert found.dates == (
        AskedDate(stamp("2026-11-18") + 16 * 3600, stamp("2026-11-19") + 16 * 3600, "day"),
    )
    summer = find_dates("What did I say on 29 March?", NOW, ZoneInfo("Europe/Berlin"))
    assert summer is not None
    years = summer.intervals(stamp("2026-02-01"), stamp("2026-11-01"))
    assert [(one.end - one.start) // 3600 for one in years] == [23, 24]


def test_units_are_named() -> None:
    """Who ranks can tell a day from a month without measuring it."""
    found = find_dates("3 May 2023, last week, June 2023, 2021年 or from 3 to 9 July 2020", NOW)
    assert found is not None
    assert [one.unit for one in found.dates] == ["day", "week", "month", "year", "range"]


@pytest.mark.parametrize("now", [float("nan"), float("inf"), float("-inf"), 1e300, -1e300, 0.0, -6e10])
def test_an_impossible_clock_breaks_nothing(now: float) -> None:
    """Dates in full stand, whatever the time is; the words that count from today mean what they can."""
    assert shown("What happened on 3 June 2023?", now) == ["2023-06-03"]
    for text in (
        "999 years ago",
        "last year",
        "on 3 May",
        "on February 29",
        "999个月前",
        "last December",
        "in Q3",
    ):
        find_dates(text, now)


days = st.dates(date(1900, 1, 1), date(2099, 12, 31))
MONTHS = "January February March April May June July August September October November December".split()
NUMERALS = "〇一二三四五六七八九"


def numeral(number: int) -> str:
    """Return a number up to 31 as Chinese writes it."""
    tens, ones = divmod(number, 10)
    return ("" if tens < 2 else NUMERALS[tens]) + ("十" if tens else "") + (NUMERALS[ones] if ones else "")


def ordinal(number: int) -> str:
    """Return a number with its English ending."""
    ending = "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


@given(days)
def test_a_day_is_found_in_every_form(when: date) -> None:
    """However a day is written with its year, exactly that day is found."""
    month, year = MONTHS[when.month - 1], when.year
    chinese_year = "".join(NUMERALS[int(digit)] for digit in str(year))
    forms = [
        f"{when.day} {month} {year}",
        f"{when.day} {month}, {year}",
        f"{month} {when.day}, {year}",
        f"{month[:3]} {when.day} {year}",
        f"the {ordinal(when.day)} of {month} {year}",
        f"{month} {ordinal(when.day)}, {year}".upper(),
        f"{when.day:02}-{month[:3]}-{year}",
        f"{when}",
        f"{year}/{when.month}/{when.day}",
        f"{when.day}.{when.month}.{year}",
        f"{year}年{when.month}月{when.day}日",
        f"{year}年{numeral(when.month)}月{numeral(when.day)}号",
        f"{chinese_year}年{numeral(when.month)}月{numeral(when.day)}日",
    ]
    for form in forms:
        assert shown(f"What did we do on {form}?") == [f"{when}"], form


@given(days)
def test_a_day_without_its_year_is_found_in_it(when: date) -> None:
    """However a day is written without its year, it is met on that day of any year."""
    month = MONTHS[when.month - 1]
    ts = datetime(when.year, when.month, when.day, 12, tzinfo=UTC).timestamp()
    for form in (
        f"{when.day} {month}",
        f"{month} {when.day}",
        f"{month} {ordinal(when.day)}",
        f"{when.month}月{when.day}号",
        f"{numeral(when.month)}月{numeral(when.day)}日",
    ):
        dates = find_dates(f"What did we do on {form}?", NOW)
        assert closeness(dates, ts) == 1.0, form
        assert closeness(dates, ts - DAY) == 0.0, form


@given(days, st.integers(0, 400))
def test_distance_from_today_is_exact(when: date, count: int) -> None:
    """`n days ago` is that day, from any today."""
    now = datetime(when.year, when.month, when.day, 23, 59, tzinfo=UTC).timestamp()
    assert shown(f"What did I say {count} days ago?", now) == [f"{when - timedelta(days=count)}"]
    assert shown(f"{count}天前我说了什么", now) == [f"{when - timedelta(days=count)}"]


PIECES = (
    "May may march June February 3 29 31 2023 - / . , to and between last this week weekend month year of "
    "the before after since ago two few days Monday q3 summer winter early half first yesterday 's ? "
    "年 月 日 号 上 上周 个 五 十 前 到 半 几 去年 季度 夏 底 先週の 曜日"
).split()


@settings(max_examples=examples(400))
@given(
    st.one_of(
        st.text(),
        st.lists(st.sampled_from(PIECES)).map(" ".join),
        st.lists(st.sampled_from(PIECES)).map("".join),
    ),
    st.floats(),
)
def test_any_text_is_answered(text: str, now: float) -> None:
    """No text and no clock makes it fail, and what is found is a time that begins before it ends."""
    found = find_dates(text, now)
    for one in found.intervals(0, 4e9) if found else ():
        assert one.start < one.end
        assert one.year_known


HOSTILE = (
    "1234567890", "1/1/", "1-", "last ", "early" + " " * 200, "May 3 to ", "week before 3 ",
    "5月3", "三十", "前",
)  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_is_searched_up_to_a_bound(piece: str) -> None:
    """64 KiB of what looks like dates give few of them, and a search of quadratic time would hang here."""
    found = find_dates(piece * (65536 // len(piece)), NOW)
    assert found is None or len(found.dates) <= 16
