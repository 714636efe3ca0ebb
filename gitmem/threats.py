"""Finds text that must not reach a prompt: injected orders, carrying off of data, hidden characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from gitmem.disguises import disguised_readings
from gitmem.errors import UsageError
from gitmem.findings import Finding
from gitmem.invisible_characters import hidden_characters
from gitmem.mentions import is_mention, sentence_around
from gitmem.text_folding import INVISIBLE, FoldedText, fold
from gitmem.threat_rules import IN_SCOPE
from gitmem.threat_shapes import (
    Rule,
    Shape,
    compiled,
    is_forbidden,
    patterns_of,
)
from gitmem.word_places import (
    has_chinese,
    key_of,
    keys_of,
    pairs_of,
    places_of,
    sentences_of,
    stems_of,
    words_of,
)

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
#: So many sentences of a text are told apart.
_SENTENCES: Final = 512
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
    sight = _see(folded.text)
    found = _matches(folded, scope, sight)
    known = _words_of(scope)
    for reading in disguised_readings(folded, lambda word: _is_news(word, sight)):
        other = _see(reading.text)
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


def _see(text: str) -> _Sight:
    pairs: frozenset[str] = pairs_of(text) if has_chinese(text) else frozenset()
    known = _KNOWN
    keys: set[str] = set()
    sentences: dict[str, int] = {}
    places: dict[str, list[int]] = {}
    for number, (start, end) in enumerate(sentences_of(text)):
        bit = 1 << number % _SENTENCES
        for match in words_of(text, start, end):
            key, stems = known.get(word := match[0]) or _known_word(word)
            keys.add(key)
            if stems:
                places.setdefault(key, []).append(match.start())
                for stem in stems:
                    sentences[stem] = sentences.get(stem, 0) | bit
    return _Sight(text, frozenset(sentences), pairs, keys, sentences, places, {})


#: What words that were met ask for: how each begins, and which of that some shape asks for.
_KNOWN: Final[dict[str, tuple[str, tuple[str, ...]]]] = {}
_MOST_KNOWN: Final = 1 << 15
_LONGEST_KNOWN: Final = 64


def _known_word(word: str) -> tuple[str, tuple[str, ...]]:
    if len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.clear()
    key = key_of(word)
    found = _KNOWN[word[:_LONGEST_KNOWN]] = key, _known_stems(key)
    return found


def _is_news(word: str, sight: _Sight) -> bool:
    """Say whether a word brings one that some shape asks for and the text does not have."""
    return any(not sight.stems.issuperset(_known_stems(key)) for key in keys_of(word))


@lru_cache(maxsize=1 << 14)
def _known_stems(key: str) -> tuple[str, ...]:
    """Return how a word begins, as far as some shape asks for it."""
    return tuple(stems_of(key) & _words_of("strict"))


def _matches(folded: FoldedText, scope: str, sight: _Sight) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    for rule, shape in _candidates(scope, sight):
        if rule.id not in found and _may_match(shape, sight) and (match := _first(shape, sight)):
            start, end = folded.origin(*match.span())
            found[rule.id] = Finding(rule.id, rule.scope, rule.reason, start, end)
    return found


@cache
def _by_stem(scope: str) -> tuple[tuple[tuple[Rule, Shape], ...], dict[str, list[int]], frozenset[str]]:
    """Return the shapes of a scope and, by a stem or pair that a text must hold, which of them to try."""
    shapes = tuple((rule, shape) for rule in IN_SCOPE[scope] for shape in rule.shapes)
    index: dict[str, list[int]] = {}
    for number, (_, shape) in enumerate(shapes):
        for stem in shape.stems[0] if shape.stems else ("",):
            index.setdefault(stem, []).append(number)
    return shapes, index, frozenset(index)


@cache
def _words_of(scope: str) -> frozenset[str]:
    """Return every stem and pair that some shape of a scope asks for."""
    return frozenset().union(*(stems for _, shape in _by_stem(scope)[0] for stems in shape.stems))


def _candidates(scope: str, sight: _Sight) -> list[tuple[Rule, Shape]]:
    """Return in the order of the rules what may match, as far as its rarest words tell."""
    shapes, index, keys = _by_stem(scope)
    numbers = set(index.get("", ()))
    for stem in (sight.stems | sight.pairs if sight.pairs else sight.stems) & keys:
        numbers.update(index[stem])
    return [shapes[number] for number in sorted(numbers)]


@dataclass(frozen=True, slots=True)
class _Sight:
    """What is known of a text before a pattern is tried.

    Attributes:
        stems: how its words begin, as far as some shape asks for it.
        pairs: its pairs of characters, if some are Chinese.
        keys: how its words begin, all of them.
        sentences: in which of its sentences the words stand, a bit for each; one bit stands for several
            where there are many.
        places: where the words stand that some shape asks for, and others that were asked for.
        signs: whether each one that was asked for stands in it.
    """

    text: str
    stems: frozenset[str]
    pairs: frozenset[str]
    keys: set[str]
    sentences: dict[str, int]
    places: dict[str, list[int]]
    signs: dict[str, bool]

    def places_of(self, key: str) -> list[int]:
        """Return where the words stand that begin so."""
        found = self.places.get(key)
        if found is None:
            found = self.places[key] = places_of(self.text, key)
        return found


def _may_match(shape: Shape, sight: _Sight) -> bool:
    known = sight.pairs if shape.is_chinese else sight.stems
    if not known and (shape.is_chinese or (shape.stems and not sight.keys)):
        return False
    for stems in shape.stems[1:]:  # the first is how the shape was found
        if known.isdisjoint(stems):
            return False
    if shape.is_in_sentence and not _in_one_sentence(shape, sight):
        return False
    return all(_holds_any(group, sight) for group in shape.signs)


def _in_one_sentence(shape: Shape, sight: _Sight) -> bool:
    """Say whether some sentence holds a word of each group."""
    sentences = sight.sentences
    common = -1
    for stems in shape.stems:
        held = 0
        for stem in stems & sight.stems:
            held |= sentences[stem]
        common &= held
        if not common:
            return False
    return True


def _holds_any(group: tuple[str, ...], sight: _Sight) -> bool:
    signs = sight.signs
    for sign in group:
        known = signs.get(sign)
        if known is None:
            known = signs[sign] = sign in sight.text
        if known:
            return True
    return False


def _all(shape: Shape, sight: _Sight) -> Iterator[re.Match[str]]:
    """Yield the matches of a shape, looked for where its first words stand, if that is known."""
    for pattern, heads in patterns_of(shape):
        if heads:
            found = chain.from_iterable(map(sight.places_of, heads & sight.keys))
            yield from _tried(pattern, sight.text, sorted(found), is_short=shape.is_in_sentence)
        else:
            yield from pattern.finditer(sight.text)


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


def _first(shape: Shape, sight: _Sight) -> re.Match[str] | None:
    """Return the first match that is not forbidden, not ordinary in its sentence and not only spoken of."""
    spoken_of = 0
    text = sight.text
    for match in _all(shape, sight):
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
