"""From text to search terms: one analyzer for what is indexed and for what is asked.

Text is folded (NFKC, accents, case), cut where scripts change, and identifiers are kept whole and in parts.
English words are stemmed. Scripts without spaces become characters and pairs of neighbouring characters.
Every term of a text is indexed; only questions leave out words that carry no content.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from gitmem.stemming import stem

#: Raise this when the terms of any text change: documents are then analysed again.
ANALYSIS_VERSION: Final = 1
#: A question is cut to this many characters, and to this many words or runs.
MAX_QUERY_CHARS: Final = 10_000
MAX_QUERY_UNITS: Final = 100
#: Weight of a single character of a script without spaces, against 1 for a pair or a word.
CHARACTER_WEIGHT: Final = 0.5

_LONGEST_TERM: Final = 64
_LONGEST_WHOLE: Final = 100

# Han, kana, bopomofo, Hangul, and the scripts of south-east Asia that are written without spaces.
_RUN_CLASS: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u309f"
    "\u30a1-\u30fa\u30fc-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Letters and digits; the blocks of Indic scripts whole, because their vowel signs are no letters to `\w`.
_WORD: Final = f"(?:[^\\W_{_RUN_CLASS}]|[\u0900-\u0963\u0966-\u0dff])+"
_JOINT: Final = r"(?:_+|::|:/{2,3}|[-./:@\\&+#='’])"
_CHUNK: Final = rf"[{_RUN_CLASS}]+|{_WORD}(?:{_JOINT}{_WORD})*(?:\+\+|\#)?"
_ASCII_CHUNK: Final = re.compile(rf"[A-Za-z0-9]+(?:{_JOINT}[A-Za-z0-9]+)*(?:\+\+|\#)?")
#: No character of `_RUN_CLASS` comes before this one.
_FIRST_RUN_CHAR: Final = "\u0e00"

_OUTER: Final = re.compile(r"[:/@\\&+#=]+")
_INNER: Final = re.compile(r"[-_'’]+")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
_CONTRACTION: Final = re.compile(r"(?:['’](?:s|re|ve|ll|d|m|t))$", re.IGNORECASE)
_NEGATION: Final = re.compile(r"(\w+)n['’]t$", re.IGNORECASE)
_NEGATED: Final = {"ca": "can", "wo": "will", "sha": "shall"}
_WORD_OF_LETTERS: Final = re.compile(r"[a-z]+")

# Accents of Latin, Greek and Cyrillic, vowel points of Hebrew and Arabic, and marks that only shape text.
_MARKS: Final = (
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\ufe20-\ufe2f\u00ad\u034f\u0640\u200c-\u200f\u2060\ufe00-\ufe0f\ufeff]+"
)
_LETTERS: Final[Mapping[str, str]] = {
    "ı": "i", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ł": "l", "Ł": "L", "ħ": "h",
    "Ħ": "H", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ŋ": "n", "Ŋ": "N",
    "ŧ": "t", "Ŧ": "T", "\u200b": " ",
}  # fmt: skip
_LETTER: Final = f"[{''.join(_LETTERS)}]"


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


@dataclass(frozen=True, slots=True)
class _WordLists:
    irregular: Mapping[str, str]
    stop: frozenset[str]
    stop_characters: frozenset[str]
    run_breaks: re.Pattern[str]


def count_terms(text: str) -> Analysis:
    """Return the terms of a text that is indexed."""
    counts: dict[str, int] = {}
    length = 0
    for chunk in _chunks(fold(text)):
        if is_spaceless(chunk):
            terms: Any = _run_terms(chunk)
            length += len(chunk)
        else:
            terms, simple = _chunk_terms(chunk)
            length += len(simple)
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
    return Analysis(counts, length)


def analyze_query(text: str, *, keep_all: bool = False) -> list[QueryUnit]:
    """Return the units of a question; words without content are left out unless nothing else is left.

    Never fails, whatever the text; it is cut to `MAX_QUERY_CHARS` characters and `MAX_QUERY_UNITS` units.

    Args:
        text: as it was asked.
        keep_all: keep words without content too.
    """
    chunks = list(dict.fromkeys(_chunks(fold(text[:MAX_QUERY_CHARS]))))
    units = [] if keep_all else [unit for chunk in chunks for unit in _content_units(chunk)]
    if not units:
        units = [_run_unit(c) if is_spaceless(c) else _chunk_unit(c) for c in chunks]
    return units[:MAX_QUERY_UNITS]


def fold(text: str) -> str:
    """Return `text` with compatibility forms and accents folded; case is kept."""
    if text.isascii():
        return text
    text = _compiled(_MARKS).sub("", unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text)))
    return unicodedata.normalize("NFC", _compiled(_LETTER).sub(lambda found: _LETTERS[found[0]], text))


def is_spaceless(text: str) -> bool:
    """Say whether `text` begins with a character of a script that is written without spaces."""
    return text[:1] >= _FIRST_RUN_CHAR and bool(_compiled(f"[{_RUN_CLASS}]").match(text))


def _chunks(text: str) -> list[str]:
    return (_ASCII_CHUNK if text.isascii() else _compiled(_CHUNK)).findall(text)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern that takes milliseconds to compile, for texts that need it."""
    return re.compile(pattern)


def _run_terms(run: str) -> Iterator[str]:
    yield from run
    for at in range(len(run) - 1):
        yield run[at : at + 2]


@lru_cache(maxsize=200_000)
def _chunk_terms(chunk: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return all terms of a word or identifier, and those of its simple words, one for each."""
    chunk = _shorten(chunk)
    simple: list[str] = []
    joined: list[str] = []
    outer = [piece for piece in _OUTER.split(chunk) if piece]
    for piece in outer:
        _split_piece(piece, simple, joined)
    if len(outer) > 1 and len(chunk) <= _LONGEST_WHOLE:
        joined.append(chunk.casefold())
    if chunk.endswith(("++", "#")):
        joined.append(outer[-1].casefold() + chunk[-1:] * (2 if chunk[-1] == "+" else 1))
    return tuple(dict.fromkeys(simple + joined)), tuple(simple)


def _split_piece(piece: str, simple: list[str], joined: list[str]) -> None:
    """Add the terms of a piece such as `memory.char_limit`: of its words, and of what they are together."""
    dotted = [part for part in piece.split(".") if part]
    for part in dotted:
        words = [sub for word in _INNER.split(part) if word for sub in _split_word(word)]
        simple += map(_term, words)
        if len(words) > 1:
            joined.append(_term("".join(words)))
    if len(dotted) > 1 and len(piece) <= _LONGEST_WHOLE:
        letters = all(len(part) == 1 for part in dotted)
        joined.append(("".join(dotted) if letters else ".".join(dotted)).casefold())


def _shorten(chunk: str) -> str:
    """Return a chunk without what an apostrophe cuts off: `it's` is `it`, `don't` is `do`."""
    if "'" not in chunk and "’" not in chunk:
        return chunk
    negation = _NEGATION.fullmatch(chunk)
    if negation:
        return _NEGATED.get(negation[1].lower(), negation[1])
    return _CONTRACTION.sub("", chunk)


def _split_word(word: str) -> list[str]:
    """Return the parts of `camelCase`, `HTTPServer` and `ADR016`; hashes and the like stay whole."""
    parts = _PARTS.findall(word)
    digits = sum(part.isdigit() for part in parts)
    return [word] if digits > 1 or len(parts) > 6 else parts


def _term(word: str) -> str:
    """Return the term of one word without joints."""
    word = word.casefold()
    if _WORD_OF_LETTERS.fullmatch(word):
        return stem(_word_lists().irregular.get(word, word))[:_LONGEST_TERM]
    return word[:_LONGEST_TERM]


def _content_units(chunk: str) -> Iterator[QueryUnit]:
    if is_spaceless(chunk):
        for part in _word_lists().run_breaks.split(chunk):
            if part:
                yield _run_unit(part)
    elif _shorten(chunk).casefold() not in _word_lists().stop:
        yield _chunk_unit(chunk)


def _chunk_unit(chunk: str) -> QueryUnit:
    terms, simple = _chunk_terms(chunk)
    return QueryUnit(chunk, dict.fromkeys(terms, 1.0), simple)


def _run_unit(run: str) -> QueryUnit:
    if len(run) == 1:
        return QueryUnit(run, {run: CHARACTER_WEIGHT}, (run,))
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    return QueryUnit(run, dict.fromkeys(pairs, 1.0), tuple(pairs), {pair: tuple(pair) for pair in pairs})


@lru_cache(maxsize=1)
def _word_lists() -> _WordLists:
    """Return the word lists that are shipped beside this file."""
    data = json.loads(Path(__file__).with_name("words.json").read_bytes())
    stop_characters = frozenset(data["chinese_stop_characters"])
    breaks = sorted(data["chinese_question_words"], key=len, reverse=True)
    return _WordLists(
        irregular=data["irregular_forms"],
        stop=frozenset(data["question_words"]) | frozenset(data["function_words"]),
        stop_characters=stop_characters,
        run_breaks=re.compile(f"{'|'.join(breaks)}|[{''.join(stop_characters)}]"),
    )
