"""Whether a text tells a time, and whether a question asks for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.time_words import asks_when, holds_time_expression


@pytest.mark.parametrize(
    "text",
    [
        "I lost my job yesterday.",
        "TODAY, finally!",
        "See you tonight",
        "That was two years ago",
        "We met last week.",
        "the trip next month…",
        "I saw it this morning",
        "I've been hiking this past month",
        "the other day I ran",
        "the past few days",
        "on Friday's call",
        "We opened in March",
        "back in 2019",
        "on 2023-05-03 we met",
        "what a weekend!",
        "我昨天去了公园",
        "前天我去了公园",
        "上周我去了公园",
        "上个月我去了公园",
        "我周五去公园",
        "星期三见",
        "三天前我去了公园",
        "两年前我去了公园",
        "5月3号我去了公园",
        "五月我去了公园",
        "2019年我去了公园",
        "去年我去了公园",
        "先週の月曜日",
    ],
)
def test_a_time_expression_is_recognised(text: str) -> None:
    """Answers to `when` tell a time: a word, a weekday, a month, a year, or its distance from today."""
    assert holds_time_expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "May I have this dance?",
        "the last one",
        "this is the next step",
        "on the other hand",
        "port 8080, id 20230603",
        "every day and night",
        "我每天跑步",
        "目前天气很好",
        "一周三次",
        "用了五个月",
        "三个星期",
        "晚上好",
        "他年纪大",
    ],
)
def test_a_text_without_a_time_is_not_taken_for_one(text: str) -> None:
    """`May`, `last` and `next` alone tell no time, nor does a duration."""
    assert not holds_time_expression(text)


@pytest.mark.parametrize(
    "question",
    [
        "When did Jon start?",
        "when Jon has lost his job as a banker?",
        '"When is the party?"',
        "I forgot: when did we meet?",
        "What date was the release?",
        "On which day did we meet?",
        "In which month did we ship?",
        "Since when do we use Git?",
        "How long ago was Caroline's 18th birthday?",
        "我什么时候开始的？",
        "我们何时见面",
        "哪天去的公园",
        "我的生日是几月几号？",
        "哪一年搬的家",
        "いつ会いましたか",
    ],
)
def test_a_question_for_a_time_is_recognised(question: str) -> None:
    """`when` in front, the date or day asked for, and their Chinese forms."""
    assert asks_when(question)


@pytest.mark.parametrize(
    "question",
    [
        "What did Jon start?",
        "How does Jon feel when he dances?",
        "Whenever it rains, what do I do?",
        "What makes a good day?",
        "我喜欢听什么类型的音乐？",
        "你住几号楼",
        "",
    ],
)
def test_other_questions_do_not_ask_for_a_time(question: str) -> None:
    """A clause with `when` inside a question asks for something else."""
    assert not asks_when(question)


@given(st.text())
def test_any_text_can_be_asked_about(text: str) -> None:
    """Both rules answer for every text, and a time at its end is always seen."""
    assert asks_when("When did we meet? " + text)
    assert holds_time_expression(text + " yesterday")
