"""Finds text that must not reach a prompt: injected orders, carrying off of data, hidden characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitmem.disguises import disguised_readings
from gitmem.errors import UsageError
from gitmem.findings import Finding
from gitmem.invisible_characters import hidden_characters
from gitmem.mentions import is_mention, sentence_around
from gitmem.text_folding import INVISIBLE, FoldedText, fold
from gitmem.text_sight import Sight, known_stems, trials, words_of
from gitmem.threat_index import Trial
from gitmem.threat_rules import IN_SCOPE
from gitmem.threat_shapes import compiled, is_forbidden, patterns_of

__all__ = ["INVISIBLE_RULE", "Finding", "blocked_message", "find_threats"]

#: What the names of findings about invisible characters begin with; the code point follows.
INVISIBLE_RULE: Final = "invisible_unicode_"
#: What tears words apart without hiding any: the words are known, their order is not.
_TEARING: Final = ("-->", "&nbsp;", "&#")
#: A word that stands more often may be part of a text made to take time: it repeats itself.
_MANY: Final = 64
#: Words over which a shape of words may reach at most, and characters in which most texts have so many.
_REACH: Final = 72
_AHEAD: Final = 600
#: A text that speaks of the same attack more often is held for one.
_MOST_MENTIONS: Final = 16


def find_threats(text: str, scope: str = "strict") -> tuple[Finding, ...]:
    """Return what a text holds that must not reach a prompt: at most one finding of each rule.

    Args:
        text: of any length; all of it is read.
        scope: `all` for any text, `context` for files and tool results, `strict` for what is remembered.

    Raises:
        UsageError: there is no such scope.
    """
    rules = IN_SCOPE.get(scope)
    if rules is None:
        raise UsageError(f"no scanner scope {scope!r}", hint=f"Scopes: {', '.join(IN_SCOPE)}.")
    if not text:
        return ()
    findings = list(_hidden(text)) if not text.isascii() and INVISIBLE.search(text) else []
    folded = fold(text)
    sight = Sight(folded.text)
    found = _matches(folded, scope, sight)
    known = words_of(scope)
    for reading in disguised_readings(folded, lambda words: not known_stems(words) <= sight.stems):
        other = Sight(reading.text)
        news = (other.stems - sight.stems) | (other.pairs - sight.pairs)
        is_torn = any(sign in folded.text for sign in _TEARING)
        if is_torn or not known.isdisjoint(news):
            found = {**_matches(reading, scope, other), **found}
    findings += [found[rule.id] for rule in rules if rule.id in found]
    return tuple(findings)


def blocked_message(finding: Finding) -> str:
    """Return what a refused writer is told; it names the rule and repeats nothing of the text."""
    if finding.rule.startswith(INVISIBLE_RULE):
        what = f"invisible unicode character {finding.rule.removeprefix(INVISIBLE_RULE)}"
    else:
        what = f"threat pattern '{finding.rule}'"
    return f"Blocked: the content matches {what}. {finding.reason}"


def _hidden(text: str) -> Iterator[Finding]:
    for place in hidden_characters(text):
        rule = f"{INVISIBLE_RULE}U+{ord(text[place]):04X}"
        yield Finding(rule, "all", "It holds a character that nobody sees.", place, place + 1)


def _matches(folded: FoldedText, scope: str, sight: Sight) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    for trial in trials(sight, scope):
        rule = trial.rule
        if rule.id not in found and (match := _first(trial, sight)):
            start, end = folded.origin(*match.span())
            found[rule.id] = Finding(rule.id, rule.scope, rule.reason, start, end)
    return found


def _all(trial: Trial, sight: Sight) -> Iterator[re.Match[str]]:
    """Yield the matches of a shape, looked for where its first words stand, if that is known."""
    for pattern, heads in patterns_of(trial.shape):
        if not heads:
            yield from pattern.finditer(sight.text)
            continue
        places = sight.places(heads)
        if trial.bit is not None:
            places = sight.stretches.within(places, trial.bit)
        yield from _tried(pattern, sight.text, places, is_short=trial.bit is not None)


def _tried(
    pattern: re.Pattern[str], text: str, places: list[int], *, is_short: bool
) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern at places; what a text repeats is tried once where it cannot match.

    Args:
        pattern: begins at a place.
        text: folded.
        places: in order.
        is_short: the pattern reaches over fewer than `_REACH` words.
    """
    missed: set[str] | None = set() if is_short and len(places) > _MANY else None
    for place in places:
        ahead = "" if missed is None else text[place : place + _AHEAD]
        if missed and ahead in missed:
            continue
        match = pattern.match(text, place)
        if match:
            yield match
        elif missed is not None and ahead.count(" ") >= _REACH:
            missed.add(ahead)


def _first(trial: Trial, sight: Sight) -> re.Match[str] | None:
    """Return the first match that is not forbidden, not ordinary in its sentence and not only spoken of."""
    spoken_of = 0
    text = sight.text
    shape = trial.shape
    for match in _all(trial, sight):
        start, end = match.span()
        if shape.is_turned and is_forbidden(text, start):
            continue
        if shape.unless and compiled(shape.unless).search(sentence_around(text, start, end)):
            continue
        if spoken_of < _MOST_MENTIONS and is_mention(text, start, end):
            spoken_of += 1
            continue
        return match
    return None
