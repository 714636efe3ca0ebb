"""Whether a text holds a question's words just as they were typed, accents and joints included."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from gitmem.term_folding import is_spaceless
from gitmem.word_terms import is_emoji

#: Words that are looked for; a longer question is no name that one looks up.
MOST_WORDS: Final = 8
_SEVERAL: Final = 2
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_EDGES: Final = "\"'“”‘’«»()[]{}<>,;!?。、，！？：；…"


def exact_words(query: str) -> tuple[str, ...]:
    """Return the words of a question as they were typed, but for case; none if they are too many."""
    words = tuple(
        filter(None, (_stripped(word) for word in unicodedata.normalize("NFC", query[:1000]).split()))
    )
    return tuple(word.lower() for word in words) if len(words) <= MOST_WORDS else ()


def holds_all(text: str, words: tuple[str, ...]) -> bool:
    """Say whether a text holds each word exactly, as a word of its own; case does not count."""
    folded = unicodedata.normalize("NFC", text).lower()
    return all(_pattern(word).search(folded) for word in words)


def holds_as_part(text: str, word: str) -> bool:
    """Say whether a text holds a name of several parts as a part of another: `UserName` in `getUserName`."""
    parts = _PARTS.findall(word)
    if len(parts) < _SEVERAL:
        return False
    joined = re.compile("[-_.]?".join(map(re.escape, parts)), re.IGNORECASE)
    return any(
        _is_between(text, found.start()) and _is_between(text, found.end()) for found in joined.finditer(text)
    )


def _is_between(text: str, at: int) -> bool:
    """Say whether a part of a name ends and another begins at a place."""
    before, after = text[at - 1 : at], text[at : at + 1]
    if not (before.isalnum() and after.isalnum()):
        return True
    return before.isdigit() is not after.isdigit() or (before.islower() and after.isupper())


def _stripped(word: str) -> str:
    return word.strip(_EDGES).rstrip(".:")


@lru_cache(maxsize=256)
def _pattern(word: str) -> re.Pattern[str]:
    # A joint followed by a letter goes on with the name: `ADR-016` does not stand in `ADR-016-b`.
    before = r"(?<!\w)(?<!\w[-./:@])" if _needs_edge(word[0]) else ""
    after = r"(?!\w|[-./:@+#]\w|[+#])" if _needs_edge(word[-1]) else ""
    if is_emoji(word):  # one with another skin, or a member of a family, is another picture
        before, after = "(?<!\u200d)", "(?![\u200d\U0001f3fb-\U0001f3ff])"
    return re.compile(before + re.escape(word) + after)


def _needs_edge(char: str) -> bool:
    """Say whether a word that begins or ends with a character has to stand apart from its neighbours."""
    return char.isalnum() and not is_spaceless(char)
