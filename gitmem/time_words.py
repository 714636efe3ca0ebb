"""Whether a text tells a time, and whether a question asks for one."""

from __future__ import annotations

import re
from typing import Final

WEEKDAY_NAMES: Final = "monday tuesday wednesday thursday friday saturday sunday"
#: `may` is left out: a word and a name.
MONTH_NAMES: Final = "january february march april june july august september october november december"
_TIME_WORDS: Final = frozenset(
    f"yesterday today tonight tomorrow ago weekend {WEEKDAY_NAMES} {MONTH_NAMES}".split()
)
#: Words that tell a time together with the next word only.
_OPENERS: Final = frozenset(("last", "next", "this", "other", "past"))
_PHRASE: Final = re.compile(
    r"\b(?:(?:last|next)\s(?:night|week|month|year|season)|this\s(?:week|month|year|morning|past)"
    r"|other\sday|(?:past|last)\s(?:few|couple))\b"
)
_YEARS: Final = frozenset(map(str, range(1900, 2100)))
#: Everything of ASCII that is no letter or digit becomes a space.
SPACED: Final = {code: " " for code in range(128) if not chr(code).isalnum()} | {0x2019: " ", 0x2026: " "}

_CHINESE: Final = re.compile(
    r"[昨今明]天|[昨今明]日|[昨今明]晚|(?<![目之以当])前天|后天|後天|(?:[上下这這本]|上个|下个|这个|上個|下個|這個)(?:周|週|星期|礼拜|禮拜)"
    r"|周末|週末|(?:星期|礼拜|禮拜)[一二三四五六日天]|(?<![一两二三四五六七八九十])[周週][一二三四五六日](?![次个個])"
    r"|[上下这這本](?:个|個)?月|[去今明前昨]年|[0-9一二三四五六七八九十]月|[0-9]{1,2}(?:日|号|號)|(?:19|20)[0-9]{2}年"
    r"|(?:天|日|周|週|星期|月|年|週間)(?:以|之)?前|先週|来週|先月|来月|[月火水木金土日]曜"
)
#: No Chinese or Japanese character comes before this one.
_FIRST_CHINESE: Final = "\u3041"

_ASKS: Final = re.compile(
    r"^\W*when\b(?!ever)|[.!?;:,]\W*(?:so\s|and\s|but\s)?when\s+(?:did|do|does|is|was|were|will|has|have|had|are)\b"
    r"|\b(?:what|which)\s(?:exact\s|the\s)?(?:date|day|month|year|week|weekend|weekday|season)s?\b(?!\sjob)"
    r"|\b(?:since|until|by)\swhen\b|\bhow\s(?:long|many\s(?:days|weeks|months|years))\sago\b",
    re.IGNORECASE,
)
_ASKS_CHINESE: Final = re.compile(
    r"什么时候|什麼時候|什么时间|什么日期|啥时候|何时|何時|几时|哪一?[天年日]|哪一?(?:个|個)?(?:月|星期|礼拜|季节)|哪一?周|几月"
    r"|几号(?![楼线房门店])|幾月|幾號|周几|星期几|礼拜几|多久(?:以|之)?前|[几多]少?天(?:以|之)?前|いつ|何[月日年]|何曜"
)


def holds_time_expression(text: str) -> bool:
    """Say whether a text tells a time: yesterday, last week, a weekday, a month, a year."""
    words = text.lower().translate(SPACED).split()
    held = set(words)
    if not _TIME_WORDS.isdisjoint(held) or not _YEARS.isdisjoint(held):
        return True
    if not _OPENERS.isdisjoint(held) and _PHRASE.search(" ".join(words)):
        return True
    return not text.isascii() and _CHINESE.search(text) is not None


def asks_when(question: str) -> bool:
    """Say whether a question asks for a time.

    >>> asks_when("When did Jon start?"), asks_when("What did Jon start?"), asks_when("我什么时候开始的？")
    (True, False, True)
    """
    if _ASKS.search(question):
        return True
    return not question.isascii() and _ASKS_CHINESE.search(question) is not None
