"""The terms of one word or identifier: of its words, of what they are together, and of its beginnings.

A text is indexed under all of them. A question looks for the whole of an identifier; its number alone, or
the parts of a name, are looked for only where nothing holds the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from gitmem.stemming import stem
from gitmem.term_folding import EMOJI, FIRST_EMOJI, compiled, plain_emoji
from gitmem.word_lists import word_lists

#: Weight of a term that says less than a word does: a single character, the beginning of a hash.
HALF: Final = 0.5

_LONGEST_TERM: Final = 64
_LONGEST_WHOLE: Final = 100
#: Shorter parts of a name, and shorter numbers, are never looked for without what they are part of.
_SHORTEST_PART: Final = 3
#: Of so short a hexadecimal number, `0x` included, the digits alone say nothing.
_SHORTEST_HEX: Final = 5
#: So many digits of a commit id are shown by default.
_SHORT_HASH: Final = 7
#: How many digits a commit id has, short or whole; other ids may share their first digits, a time.
_COMMIT_LENGTHS: Final = frozenset({*range(_SHORT_HASH + 1, 13), 40, 64})
#: A local telephone number, whatever stands before it.
_LOCAL_NUMBER: Final = 7
#: Numbers with fewer digits, with a hyphen between them, are not one number: 3-5 is not 35.
_ONE_NUMBER: Final = 6

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/{2,3}")
_OUTER: Final = re.compile(r"[:/@\\&+#=]+")
_INNER: Final = re.compile(r"[-_'’]+")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
_LETTERS: Final = re.compile(r"[a-z]+")
_CONTRACTION: Final = re.compile(r"(?:['’](?:s|re|ve|ll|d|m|t))$", re.IGNORECASE)
_NEGATION: Final = re.compile(r"(\w+)n['’]t$", re.IGNORECASE)
#: As people type it who leave the apostrophe out; `well` and `shell` are words of their own.
_BARE_NEGATION: Final = re.compile(
    r"(?:do|does|did|is|are|was|were|wo|ca|could|would|should|has|have|had|must|need)nt", re.IGNORECASE
)
_NEGATED: Final = {"ca": "can", "wo": "will", "sha": "shall"}
_HASH: Final = re.compile(r"[0-9a-f]{7,64}|[0-9A-F]{7,64}")
_HEX_NUMBER: Final = re.compile(r"0[xX][0-9A-Fa-f]+")
_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TIMESTAMP: Final = re.compile(r"([0-9]{4}-?[0-9]{2}-?[0-9]{2})[Tt]([0-9]{2}.*?)[Zz]?", re.DOTALL)
_VERSION: Final = re.compile(r"[vV](?=([0-9]+)\.[0-9])")
_EDITION: Final = re.compile(r"([A-Za-z]{1,2}#)[0-9]")
_NUMBERS: Final = re.compile(r"(?<![0-9])(?:[0-9]+(?:([.:])[0-9]+)(?:\1[0-9]+)*|[0-9]{4}-[0-9]{2}-[0-9]{2})")
_NUMBER: Final = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_ARABIC_ARTICLE: Final = re.compile("(?:[وبكف]?ال|لل)(?=...)")
# Words of one letter that are written together with the next one: and, in, to, like; in Hebrew the article.
_PROCLITIC: Final = re.compile("[והבלכמש](?=[א-ת]{3})|[وفبكل](?=[ء-ي]{3})")
# Endings of Russian nouns, adjectives and verbs, where a word is still one without; `fold` made й an и.
_RUSSIAN_ENDING: Final = re.compile(
    "(?<=[а-я]{3})(?:иями|ями|ами|ыми|ими|ого|его|ому|ему|иях|иям|ях|ах|ям|ам|ов|ев|еи|ои|ии|ыи|ых|их|ым|им|ом|ем"
    "|ая|яя|ое|ее|ые|ие|ую|юю|ия|ию|[аеиоуыьэюя])$"
)
#: Parts of addresses that say nothing of where they lead.
_ADDRESS_WORDS: Final = frozenset({"http", "https", "www", "com", "org", "net"})


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question looks for because of one word or identifier; see `QueryUnit`."""

    terms: dict[str, float]
    simple: tuple[str, ...]
    otherwise: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Word:
    """What stands between two joints.

    Attributes:
        parts: of `camelCase`, `ADR016` and the like; one for other words.
        terms: of the parts.
        whole: the term of the word.
    """

    text: str
    parts: Sequence[str]
    terms: Sequence[str]
    whole: str


@dataclass(slots=True)
class _Chunk:
    """A word or identifier taken apart.

    Attributes:
        joined: terms of several words together, the longest last.
        hints: terms under which it is found as well: beginnings of versions and dates.
        half: terms that say less: the beginning of a hash, the end of a telephone number.
    """

    words: list[_Word] = field(default_factory=list)
    joined: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    half: list[str] = field(default_factory=list)


@lru_cache(maxsize=200_000)
def index_terms(chunk: str) -> tuple[tuple[str, ...], int]:
    """Return all terms of a word or identifier, and of how many words it is."""
    if chunk.isalpha() and chunk.isascii() and (chunk[1:].islower() or chunk.isupper() or len(chunk) == 1):
        return (_term(chunk),), 1
    if is_emoji(chunk):
        return _emoji_terms(chunk), 0
    taken = _take_apart(chunk)
    simple = [term for word in taken.words for term in word.terms]
    wholes = [word.whole for word in taken.words]
    found = dict.fromkeys([*simple, *wholes, *taken.joined, *taken.hints, *taken.half])
    return tuple(found), len(simple)


def ask_terms(chunk: str) -> Asked:
    """Return what a question looks for because of a word or identifier."""
    if is_emoji(chunk):
        whole, *pieces = _emoji_terms(chunk)
        return Asked({whole: 1.0}, (whole,), {whole: tuple(pieces)} if pieces else {})
    taken = _take_apart(chunk)
    simple = tuple(term for word in taken.words for term in word.terms)
    words = [] if _is_named_by_sign(chunk) else _strong_words(taken)
    strong = list(dict.fromkeys([*words, *taken.joined]))
    otherwise = {word.whole: _stand_ins(word) for word in taken.words if word.whole in words}
    if taken.joined:
        main = taken.joined[-1]
        spare = [term for term in _spare_terms(taken, simple, words) if term not in strong]
        otherwise[main] = (*otherwise.get(main, ()), *spare)
        if _is_numeric(taken) or _is_named_by_sign(chunk):
            simple = (main,)
    terms = dict.fromkeys(taken.half, HALF) | dict.fromkeys(strong or simple, 1.0)
    return Asked(terms, simple, {term: others for term, others in otherwise.items() if others})


@lru_cache(maxsize=50_000)
def pair_terms(left: str, right: str) -> tuple[str, ...]:
    """Return the terms under which a word and a number beside it are found as one: `ADR 016`, `10 GB`.

    Args:
        left: a word or a number.
        right: what follows it; exactly one of the two begins with a digit.
    """
    word, number = (right, left) if left < ":" else (left, right)
    few = 3 if word is right else 20
    if not (word.isalpha() and len(word) <= few and len(number) <= 12 and _NUMBER.fullmatch(number)):
        return ()
    word = word.casefold()
    if word in word_lists().stop:
        return ()
    if word is right or left < ":":
        return (number + word,)
    first = number.partition(".")[0]
    return (word + number,) if first == number else (word + number, word + first)


def prefix_term(text: str) -> str:
    """Return what the terms of what begins with a text begin with; nothing where none can."""
    whole = _SCHEME.sub("", text.casefold()).replace("\\", "/").lstrip("-_./:@&+#='’")
    if not any(char.isalnum() for char in whole):
        return ""
    if not re.search(r"[.:/@&+#=]", whole):
        return _INNER.sub("", whole)
    return whole[1:] if _VERSION.match(whole) else whole


def is_emoji(chunk: str) -> bool:
    """Say whether a chunk is an emoji."""
    return chunk >= FIRST_EMOJI and bool(compiled(EMOJI).match(chunk))


def is_stop_word(chunk: str) -> bool:
    """Say whether a word carries no content in a question."""
    return _shorten(chunk).casefold() in word_lists().stop or bool(_BARE_NEGATION.fullmatch(chunk))


def _emoji_terms(chunk: str) -> tuple[str, ...]:
    """Return the term of an emoji, and those of the ones that are joined in it."""
    whole = plain_emoji(chunk)
    pieces = [piece for piece in whole.split("\u200d") if piece]
    return tuple(dict.fromkeys([whole, *pieces]))


# A chunk taken apart


def _take_apart(chunk: str) -> _Chunk:
    negation = _NEGATION.fullmatch(chunk)
    chunk, taken = _shorten(chunk), _Chunk()
    if negation:
        taken.hints.append(_term(f"{negation[1]}nt"))
    scheme = _SCHEME.match(chunk)
    if scheme and scheme.end() < len(chunk):
        taken.hints.append(_term(scheme[1]))
        chunk = chunk[scheme.end() :]
    time = _TIMESTAMP.fullmatch(chunk)
    for piece in time.groups() if time else (chunk,):
        _take_chunk(piece, taken)
    return taken


def _take_chunk(chunk: str, taken: _Chunk) -> None:
    if "," in chunk:
        taken.hints += [part for part in re.split(r"[,.]", chunk) if len(part) >= _SHORTEST_PART]
        chunk = chunk.replace(",", "")
    version = _VERSION.match(chunk)
    if version:
        taken.hints.append(f"v{version[1]}")
        chunk = chunk[1:]
    first = len(taken.words)
    outer = [piece for piece in _OUTER.split(chunk) if piece]
    for piece in outer:
        _take_piece(piece, taken)
    if len(outer) > 1 and len(chunk) <= _LONGEST_WHOLE:
        taken.joined.append(chunk.casefold().replace("\\", "/"))
    if _is_named_by_sign(chunk) and outer:
        taken.joined.append(outer[-1].casefold() + chunk[-1:] * (2 if chunk[-1] == "+" else 1))
    edition = _EDITION.match(chunk)
    if edition:
        taken.hints.append(edition[1].casefold())
    if chunk >= "\u0590":
        taken.half += (word.whole[1:] for word in taken.words[first:] if _PROCLITIC.match(word.whole))
    if any(char.isdigit() for char in chunk):
        taken.hints += _number_hints(chunk, taken, first)


def _take_piece(piece: str, taken: _Chunk) -> None:
    """Take a piece such as `memory.char_limit`: its words, and what they are together."""
    if _UUID.fullmatch(piece):
        whole = piece.replace("-", "").casefold()
        taken.words.append(_Word(piece, [piece], [whole], whole))
        # For those who quote a block; siblings often share one. A short one of digits is some other number.
        first, *middle, last = piece.split("-")
        quoted = (first, *(block for block in middle if not block.isdigit()), last)
        taken.hints += map(_term, quoted)
        return
    dotted = [part for part in piece.split(".") if part]
    for part in dotted:
        words = [_word(word) for word in _INNER.split(part) if word]
        taken.words += words
        if len(words) > 1:
            taken.joined.append(_join([word.text for word in words]))
    if len(dotted) > 1 and len(piece) <= _LONGEST_WHOLE:
        initials = all(len(part) <= 2 and part.isalpha() for part in dotted)  # U.S.A., Ph.D.
        taken.joined.append(("".join(dotted) if initials else ".".join(dotted)).casefold())
        if len(dotted) == 2 and dotted[1].casefold() == "js":
            taken.half.append(_term("".join(dotted)))


def _word(text: str) -> _Word:
    parts = _split_word(text)
    return _Word(text, parts, [_term(part) for part in parts], _term(text))


def _join(words: Sequence[str]) -> str:
    text = "".join(words)
    if len(text) < _ONE_NUMBER and all(word.isdigit() for word in words):
        return "-".join(words)
    return _term(text)


def _number_hints(chunk: str, taken: _Chunk, first: int) -> Iterator[str]:
    """Yield under which other numbers an identifier is found; 2.3.1 is a 2.3 too."""
    for found in _NUMBERS.finditer(chunk):
        joint = found[1] or "-"
        numbers = found[0].split(joint)[:8]
        for count in range(2, len(numbers) + 1):
            yield ("" if joint == "-" else joint).join(numbers[:count])
    for word in taken.words[first:]:
        if (
            _HEX_NUMBER.fullmatch(word.text)
            and len(word.text) > _SHORTEST_HEX
            and not word.text[2:].isdigit()
        ):
            yield _term(word.text[2:])
        if _is_hash(word.text) and len(word.text) > _SHORT_HASH:
            is_commit = len(word.text) in _COMMIT_LENGTHS
            (taken.half if is_commit else taken.hints).append(word.whole[:_SHORT_HASH])
    for number in [word.text for word in taken.words[first:]] + taken.joined:
        if number.isdigit() and 9 <= len(number) <= 15:
            taken.half.append(number[-_LOCAL_NUMBER:])


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
    if digits > 1 or len(parts) > 6 or _HEX_NUMBER.fullmatch(word) or (len(parts) > 2 and _is_hash(word)):
        return [word]
    return parts


def _is_hash(word: str) -> bool:
    return bool(_HASH.fullmatch(word)) and not word.isdigit() and not word.isalpha()


def _term(word: str) -> str:
    """Return the term of one word without joints."""
    word = word.casefold()
    if _LETTERS.fullmatch(word):
        return stem(word_lists().irregular.get(word, word))[:_LONGEST_TERM]
    if "\u0400" <= word[:1] <= "\u04ff":
        word = _RUSSIAN_ENDING.sub("", word, count=1)
    elif "\u0600" <= word[:1] <= "\u06ff":
        word = _ARABIC_ARTICLE.sub("", word, count=1) if _ARABIC_ARTICLE.match(word) else word
    return word[:_LONGEST_TERM]


# What a question makes of it


def _strong_words(taken: _Chunk) -> list[str]:
    """Return the terms of the words that are looked for alone too."""
    if len(taken.words) == 1:
        return [taken.words[0].whole]
    if _is_numeric(taken):
        return []
    return list(dict.fromkeys(word.whole for word in taken.words if not _is_weak(word.text)))


def _is_numeric(taken: _Chunk) -> bool:
    """Say whether a chunk is one number of several: a version, a date, an address."""
    return len(taken.words) > 1 and all(word.text.isdigit() for word in taken.words)


def _is_named_by_sign(chunk: str) -> bool:
    return chunk.endswith(("++", "#"))


def _is_weak(word: str) -> bool:
    """Say whether a word of an identifier says too little to be looked for alone."""
    if word.isdigit():  # another identifier has the same number
        return True
    folded = word.casefold()
    return len(word) == 1 or folded in _ADDRESS_WORDS or folded in word_lists().stop


def _spare_terms(taken: _Chunk, simple: Sequence[str], words: Sequence[str]) -> Iterator[str]:
    """Yield what is looked for where nothing has the whole of several words."""
    if _is_numeric(taken):
        return
    for term in simple:
        if not words or (term.isdigit() and len(taken.words) > 1 and len(term) >= _SHORTEST_PART):
            yield term


def _stand_ins(word: _Word) -> tuple[str, ...]:
    """Return the parts of a name that are looked for where nothing has it: of one with a number, that."""
    if len(word.parts) < 2:
        return ()
    numbers = [part for part in word.parts if part.isdigit()]
    return tuple(
        term
        for part, term in zip(word.parts, word.terms, strict=True)
        if len(term) >= _SHORTEST_PART and (not numbers or part.isdigit())
    )
