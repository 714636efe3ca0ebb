"""The operators of `--advanced`: AND, OR, NOT, parentheses, "phrases" and prefix*; read without recursion.

Words side by side are joined by AND, which binds tighter than OR. What cannot be an operator where it stands
is passed over, so that any text is a query: a parenthesis that nothing closes, an OR without a right side, a
lone quote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from gitmem.analysis import MAX_QUERY_CHARS, MAX_QUERY_UNITS, QueryUnit, analyze_query, fold
from gitmem.word_terms import prefix_term

_TOKEN: Final = re.compile(r'"([^"]*)"?|([()])|([^\s()"]+)')

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Operand:
    """One word, phrase or prefix.

    Attributes:
        units: analysed; a text has all of them.
        phrase: the text that has to stand there as it is, None for words.
        prefix: what words begin with, None without `*`.
    """

    units: tuple[QueryUnit, ...]
    phrase: str | None = None
    prefix: str | None = None


@dataclass(slots=True)
class _Group(Generic[Found]):
    """What stands between two parentheses, as far as it was read.

    Attributes:
        before: what matches the alternatives before the last OR.
        now: what matches the one that is being read.
        negates: whether a NOT waits for its operand.
    """

    before: list[Found] = field(default_factory=list)
    now: list[Found] = field(default_factory=list)
    negates: bool = False


@dataclass(frozen=True, slots=True)
class Logic(Generic[Found]):
    """How results are combined.

    Attributes:
        find: returns what matches an operand.
        both: returns what two results have in common.
        either: returns what one of two results has.
        negate: returns everything else.
    """

    find: Callable[[Operand], Found]
    both: Callable[[Found, Found], Found]
    either: Callable[[Found, Found], Found]
    negate: Callable[[Found], Found]


def find_operands(text: str) -> list[Operand]:
    """Return the operands of a query, in order."""
    return [step for step in _tokens(text) if isinstance(step, Operand)]


def evaluate(text: str, logic: Logic[Found]) -> Found | None:
    """Return what matches a query; None for one without operands. Never fails, whatever the text."""
    groups: list[_Group[Found]] = [_Group()]
    for step in _tokens(text):
        if step == "(":
            groups.append(_Group())
        elif step == ")":
            if len(groups) > 1:
                _take(groups[-2], _close(groups.pop(), logic), logic)
        elif step == "OR":
            _alternate(groups[-1], logic)
        elif step == "NOT":
            groups[-1].negates = not groups[-1].negates
        elif isinstance(step, Operand):
            _take(groups[-1], [logic.find(step)], logic)
    while len(groups) > 1:
        _take(groups[-2], _close(groups.pop(), logic), logic)
    return next(iter(_close(groups[0], logic)), None)


def _take(group: _Group[Found], found: list[Found], logic: Logic[Found]) -> None:
    for one in found:
        taken = logic.negate(one) if group.negates else one
        group.now = [logic.both(group.now[0], taken)] if group.now else [taken]
    group.negates = False


def _alternate(group: _Group[Found], logic: Logic[Found]) -> None:
    group.before = _close(group, logic)
    group.now, group.negates = [], False


def _close(group: _Group[Found], logic: Logic[Found]) -> list[Found]:
    if group.before and group.now:
        return [logic.either(group.before[0], group.now[0])]
    return group.before or group.now


def _tokens(text: str) -> Iterator[Operand | str]:
    count = 0
    for match in _TOKEN.finditer(text[:MAX_QUERY_CHARS]):
        phrase, parenthesis, word = match.groups()
        if parenthesis or word in ("OR", "NOT"):
            yield parenthesis or word
        elif word != "AND":
            operand = _operand(phrase, word)
            if operand is not None and count < MAX_QUERY_UNITS:
                count += 1
                yield operand


def _operand(phrase: str | None, word: str | None) -> Operand | None:
    if word is not None and len(word) > 1 and word.endswith("*"):
        prefix = prefix_term(fold(word.rstrip("*")))
        return Operand((), prefix=prefix) if prefix else None
    text = word if phrase is None else phrase
    units = tuple(analyze_query(text or "", keep_all=True))
    return Operand(units, phrase=phrase) if units else None
