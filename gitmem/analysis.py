"""From text to search terms: one analyzer for what is indexed and for what is asked.

Text is folded (NFKC, accents, case), cut where scripts change, and identifiers are kept whole and in parts.
English words are stemmed. Scripts without spaces become characters and pairs of neighbouring characters.
Every term of a text is indexed; only questions leave out words that carry no content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from operator import add
from typing import Final

from gitmem.term_folding import (
    EMOJI,
    FIRST_RUN_CHAR,
    RUN_CLASS,
    compiled,
    fold,
    fold_with_places,
    is_spaceless,
    is_syllable,
)
from gitmem.word_lists import word_lists
from gitmem.word_terms import HALF, ask_terms, index_terms, is_emoji, is_stop_word, pair_terms

__all__ = [
    "ANALYSIS_VERSION", "CHARACTER_WEIGHT", "MAX_QUERY_CHARS", "MAX_QUERY_UNITS", "Analysis", "QueryUnit",
    "analyze_query", "chunk_pattern", "count_terms", "fold", "is_spaceless",
]  # fmt: skip

#: Raise this when the terms of any text change: documents are then analysed again.
ANALYSIS_VERSION: Final = 3
#: A question is cut to this many characters, and to this many words or runs.
MAX_QUERY_CHARS: Final = 10_000
MAX_QUERY_UNITS: Final = 100
#: Weight of a single character of a script without spaces, against 1 for a pair or a word.
CHARACTER_WEIGHT: Final = HALF
#: Weight of a pair of characters of which one mostly says nothing: it tells apart words that share the rest;
#: more of it costs recall on the development questions.
EDGE_WEIGHT: Final = 0.1

# Letters and digits; also the vowel signs of Indic and other scripts, which are no letters to `\w`.
_WORD: Final = (
    f"(?:[^\\W_{RUN_CLASS}]|[\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff\u0f18\u0f19\u0f35\u0f37\u0f39\u0f71-\u0f84\u0f86-\u0fbc"
    "\u135d-\u135f\u1920-\u193b\u1b00-\u1b44\ua806\ua80b\ua823-\ua827\ua880-\ua8c5\ua926-\ua92d\ua980-\ua9c0\uaa29-\uaa36"
    "\uabe3-\uabea])+"
)
_JOINT: Final = r"(?:_+|::|:/{2,3}|[-./:@\\&+#='’])"
_MONEY: Final = r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?(?![0-9])"
_CHUNK: Final = rf"[{RUN_CLASS}]+|{_MONEY}|{_WORD}(?:{_JOINT}{_WORD})*(?:\+\+|\#)?|{EMOJI}"
_ASCII_CHUNK: Final = re.compile(rf"{_MONEY}|[A-Za-z0-9]+(?:{_JOINT}[A-Za-z0-9]+)*(?:\+\+|\#)?")
# Vowel signs and tone marks of Thai and Lao: two of them stand in every other word.
_MARKS_ONLY: Final = "[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd]+"
_LONGEST_CACHED: Final = 100
_KANA: Final = "[\u3041-\u309f\u30a1-\u30ff]"
#: Endings of Korean words: alone they say nothing.
_PARTICLES: Final = frozenset("은는이가을를에의도로와과만서들요다")


@dataclass(frozen=True, slots=True)
class Analysis:
    """The terms of one text.

    Attributes:
        counts: how often each term occurs.
        length: the text's length in words; in scripts without spaces, in characters.
    """

    counts: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class QueryUnit:
    """One word, identifier or run of characters of a question.

    Attributes:
        surface: as it was asked, for naming it.
        terms: what to look for, with the weight of each.
        simple: the terms that any text has which holds all of it, whole or in parts.
        otherwise: for a term that the index does not hold, what to look for in its place.
    """

    surface: str
    terms: Mapping[str, float]
    simple: tuple[str, ...]
    otherwise: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def count_terms(text: str) -> Analysis:
    """Return the terms of a text that is indexed."""
    found: list[str] = []
    length = 0
    before, was_number = "", False
    for chunk in chunk_pattern(folded := fold(text)).findall(folded):
        is_number = chunk < ":"
        if chunk >= FIRST_RUN_CHAR and is_spaceless(chunk):
            found += chunk
            found += map(add, chunk, chunk[1:])
            length += len(chunk)
            before = ""
        else:
            # What is long is hardly met again: it must not stay in the cache.
            is_short = len(chunk) <= _LONGEST_CACHED
            terms, words = index_terms(chunk) if is_short else index_terms.__wrapped__(chunk)
            found += terms
            length += words
            if is_number is not was_number and before and is_short:
                found += pair_terms(before, chunk)
            before = chunk if is_short else ""
        was_number = is_number
    return Analysis(Counter(found), length)


def analyze_query(text: str, *, keep_all: bool = False) -> list[QueryUnit]:
    """Return the units of a question; words without content are left out unless nothing else is left.

    Never fails, whatever the text; it is cut to `MAX_QUERY_CHARS` characters and `MAX_QUERY_UNITS` units.

    Args:
        text: as it was asked.
        keep_all: keep words without content too.
    """
    chunks = _asked_chunks(text[:MAX_QUERY_CHARS])
    units = [] if keep_all else _first_units(unit for chunk in chunks for unit in _content_units(chunk))
    return units or _first_units(_run_unit(c) if is_spaceless(c.text) else _chunk_unit(c) for c in chunks)


def chunk_pattern(text: str) -> re.Pattern[str]:
    """Return what finds the words, identifiers, runs and emoji of a folded text."""
    return _ASCII_CHUNK if text.isascii() else compiled(_CHUNK)


# A question


@dataclass(frozen=True, slots=True)
class _Asked:
    """A chunk of a question.

    Attributes:
        text: folded.
        surfaces: of its characters and of what follows, as they were typed.
        before: the chunk before it, if that is a word.
    """

    text: str
    surfaces: Sequence[str]
    before: str


def _asked_chunks(text: str) -> list[_Asked]:
    """Return each chunk of a question once."""
    folded, places = fold_with_places(text)
    found: dict[str, _Asked] = {}
    before = ""
    for match in chunk_pattern(folded).finditer(folded):
        at = [places[place] for place in range(match.start(), match.end() + 1)]
        if match[0] not in found:
            surfaces = [text[start:end] for start, end in pairwise(at)]
            found[match[0]] = _Asked(match[0], surfaces, before)
        before = "" if is_spaceless(match[0]) else match[0]
    return list(found.values())


def _first_units(units: Iterable[QueryUnit]) -> list[QueryUnit]:
    return list(islice(units, MAX_QUERY_UNITS))


def _content_units(chunk: _Asked) -> Iterator[QueryUnit]:
    if not is_spaceless(chunk.text):
        if not is_stop_word(chunk.text):
            yield _chunk_unit(chunk)
    elif compiled(_KANA).search(chunk.text):  # the Chinese words without content mean others in Japanese
        yield _run_unit(chunk)
    else:
        breaks = [(0, 0), *(found.span() for found in word_lists().run_breaks.finditer(chunk.text))]
        for (before, start), (end, after) in pairwise([*breaks, (len(chunk.text), len(chunk.text))]):
            if end > start:
                # A single character that mostly says nothing may belong to the word beside it.
                edges = [chunk.text[start - 1 : start + 1]] if start - before == 1 else []
                edges += [chunk.text[end - 1 : end + 1]] if after - end == 1 else []
                yield _run_unit(chunk, start, end, edges)


def _chunk_unit(chunk: _Asked) -> QueryUnit:
    asked = ask_terms(chunk.text)
    surface = "".join(chunk.surfaces).strip() or chunk.text
    if chunk.before and not is_emoji(chunk.text) and (chunk.text < ":") is not (chunk.before < ":"):
        asked.terms.update(dict.fromkeys(pair_terms(chunk.before, chunk.text)[:1], HALF))
    return QueryUnit(surface, asked.terms, asked.simple, asked.otherwise)


def _run_unit(chunk: _Asked, start: int = 0, end: int | None = None, edges: Sequence[str] = ()) -> QueryUnit:
    weak = dict.fromkeys(edges, EDGE_WEIGHT)
    run = chunk.text[start:end]
    surface = "".join(chunk.surfaces[start:end]).strip() or run
    if len(run) == 1:
        return QueryUnit(surface, {**weak, run: CHARACTER_WEIGHT}, (run,))
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    pairs = [pair for pair in pairs if not compiled(_MARKS_ONLY).fullmatch(pair)] or pairs
    otherwise = {pair: singles for pair in pairs if (singles := _singles(pair))}
    return QueryUnit(surface, {**weak, **dict.fromkeys(pairs, 1.0)}, tuple(pairs), otherwise)


def _singles(pair: str) -> tuple[str, ...]:
    """Return the characters of a pair that say something alone: a letter of an alphabet does not."""
    return tuple(char for char in pair if is_syllable(char) and char not in _PARTICLES)
