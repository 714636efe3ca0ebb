"""Whether a text tells a time, and whether a question asks for one."""

from __future__ import annotations

import re
from typing import Final

WEEKDAY_NAMES: Final = "monday tuesday wednesday thursday friday saturday sunday"
#: `may` is left out: a word and a name.
MONTH_NAMES: Final = "january february march april june july august september october november december"
#: Words that tell a time together with the next word only.
_OPENERS: Final = frozenset(("last", "next", "this", "other", "past"))
_PHRASE: Final = re.compile(
    r"\b(?:(?:last|next)\s(?:night|week|month|year|season)|this\s(?:week|month|year|morning|past)"
    r"|other\sday|(?:past|last)\s(?:few|couple))\b"
)
_SIGNS: Final = _OPENERS.union(
    f"yesterday today tonight tomorrow ago weekend {WEEKDAY_NAMES} {MONTH_NAMES}".split(),
    map(str, range(1900, 2100)),
)
#: Everything of ASCII that is no letter or digit becomes a space.
SPACED: Final = {code: " " for code in range(128) if not chr(code).isalnum()}
_ASCII_WORD: Final = re.compile("[a-z0-9]+")


def _week(word: str) -> str:
    """Return a pattern for a week or a day of it, by one of the words for `week`."""
    return (
        rf"{word}(?:(?<=[上下这這本先来今]{word})|(?<=[上下这這][个個]{word})"
        rf"|(?<![一两二三四五六七八九十]{word})[一二三四五六日天](?![次个個])|末|間?[以之]?前)"
    )


#: Each alternative begins with a character of its own, so that a text is searched at the speed of `str.find`;
#: what stands before it is looked back for.
_CHINESE: Final = re.compile(
    "天(?:(?<=[昨今明后後大]天)|(?<=[^目之以当當提从從]前天)|(?<=^前天)|[以之]?前)"
    "|日(?:(?<=[昨今明]日)|(?<=[0-9]日)|(?<=[一二三四五六七八九十]日)|前)"
    "|晚(?<=[昨今明]晚)"
    "|号(?<=[0-9]号)|號(?<=[0-9]號)"
    f"|{_week('周')}|{_week('週')}|{_week('星期')}|{_week('礼拜')}|{_week('禮拜')}"
    "|月(?:(?<=[0-9一二三四五六七八九十上下这這本先来今]月)|(?<=[上下这這][个個]月)|[以之]?前)"
    "|年(?:(?<=[去今明前昨]年)|(?<=19[0-9][0-9]年)|(?<=20[0-9][0-9]年)|[以之]?前)"
    "|曜(?<=[月火水木金土日]曜)"
)

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
    lower = text.lower()
    # Each is the faster one on such text.
    words = lower.translate(SPACED).split() if lower.isascii() else _ASCII_WORD.findall(lower)
    held = _SIGNS.intersection(words)
    if held and (not held <= _OPENERS or _PHRASE.search(" ".join(words))):
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
