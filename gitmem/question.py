"""A question taken apart: its words, the people it names, the time it names, and whether it asks for one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.analysis import QueryUnit, analyze_query, count_terms, fold, is_spaceless
from gitmem.asked_dates import AskedDates, asks_when, find_dates

_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
_NAME_MARK: Final = re.compile(r"\s*([^\W\d_][^\n:：]{0,39}?)\s*[:：]\s")
#: A name in a script without spaces is looked for among all runs of so many characters.
_RUN_LENGTHS: Final = (2, 3, 4)
#: A question is looked through for names up to here.
_NAMED_CHARS: Final = 2000


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        units: its words, those without content left out.
        names: what may be the name of an author, folded, with the terms of the name.
        asks_when: whether it asks for a time.
        dates: the time that it names.
    """

    units: Sequence[QueryUnit]
    names: Mapping[str, frozenset[str]]
    asks_when: bool = False
    dates: AskedDates | None = None


def parse_question(text: str, now: float) -> Question:
    """Take a question apart.

    Args:
        text: as it was asked.
        now: when it is asked, seconds since 1970; `yesterday` counts from there.
    """
    names = {name: frozenset(count_terms(word).counts) for word, name in _named(text[:_NAMED_CHARS])}
    return Question(analyze_query(text), names, asks_when(text), find_dates(text, now))


def name_of(author: str) -> str:
    """Return by what an author is known in questions: the folded first word of the name, or all of it."""
    first = next(iter(_WORD.findall(author)), author)
    return fold(first).casefold()


def author_of(author: str | None, text: str) -> str | None:
    """Return who said a text: who is given, else whoever a leading `Name:` names.

    A note of a role such as `user` is no name; nor are more than three words before a colon.
    """
    if author:
        return author
    mark = _NAME_MARK.match(text[:60])
    if mark is None or len(mark[1].split()) > 3 or not all(map(_is_name, mark[1].split())):
        return None
    return mark[1]


def _is_name(word: str) -> bool:
    return word[0].isupper() or is_spaceless(word)


def _named(text: str) -> list[tuple[str, str]]:
    """Return the words that may be names, as they stand and folded.

    Will, May and Mark are words too, so a name is written with a capital; where nothing is, all words may be.
    """
    words = _WORD.findall(text)
    if any(word[0].isupper() for word in words):
        found = [word for word in words if word[0].isupper()]
    else:
        found = [word for word in words if not is_spaceless(word)]
    plain = [(re.sub(r"['’]s?$", "", word), name_of(re.sub(r"['’]s?$", "", word))) for word in found]
    runs = [word for word in words if is_spaceless(word)]
    pieces = {
        run[at : at + size] for run in runs for size in _RUN_LENGTHS for at in range(len(run) - size + 1)
    }
    return [*plain, *((piece, fold(piece).casefold()) for piece in sorted(pieces))]
