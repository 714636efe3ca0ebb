"""The English stemmer of the Snowball project ("Porter2"), written from its published definition."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

_VOWELS: Final = frozenset("aeiouy")
_DOUBLES: Final = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_BEFORE_LI: Final = frozenset("cdeghkmnrt")
#: Words that the rules would spoil.
_WHOLE: Final[Mapping[str, str]] = {
    "skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "idly": "idl",
    "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
    "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias",
    "andes": "andes",
}  # fmt: skip
#: Words that are done once their plural ending is gone.
_AFTER_PLURAL: Final = frozenset(
    {"inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"}
)
_LONG_STARTS: Final = ("gener", "commun", "arsen")
#: Endings of step 2 and what takes their place; `li` and `ogi` have conditions of their own.
_STEP_2: Final[Mapping[str, str]] = {
    "ational": "ate", "fulness": "ful", "iveness": "ive", "ization": "ize", "ousness": "ous",
    "biliti": "ble", "lessli": "less", "tional": "tion", "alism": "al", "aliti": "al", "ation": "ate",
    "entli": "ent", "fulli": "ful", "iviti": "ive", "ousli": "ous", "abli": "able", "alli": "al",
    "anci": "ance", "ator": "ate", "enci": "ence", "izer": "ize", "bli": "ble", "ogi": "og", "li": "",
}  # fmt: skip
_STEP_3: Final[Mapping[str, str]] = {
    "ational": "ate", "tional": "tion", "alize": "al", "ative": "", "icate": "ic", "iciti": "ic",
    "ical": "ic", "ness": "", "ful": "",
}  # fmt: skip
_STEP_4: Final = (
    "ement", "able", "ance", "ence", "ible", "ment", "ant", "ate", "ent", "ion", "ism", "iti", "ive",
    "ize", "ous", "al", "er", "ic",
)  # fmt: skip
_PLURAL: Final = ("sses", "ied", "ies", "us", "ss", "s")
_PAST: Final = ("eedly", "ingly", "edly", "eed", "ing", "ed")
_REGION: Final = re.compile(r"[^aeiouy]*[aeiouy]+[^aeiouy]")


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word of the letters a to z.

    >>> stem("generously"), stem("running"), stem("flies")
    ('generous', 'run', 'fli')
    """
    if len(word) <= 2:
        return word
    if word in _WHOLE:
        return _WHOLE[word]
    word = _mark_consonant_y(word)
    r1, r2 = _regions(word)
    word = _step_1a(word)
    if word in _AFTER_PLURAL:
        return word
    word = _step_1b(word, r1)
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    word = _step_2(word, r1)
    word = _step_3(word, r1, r2)
    word = _step_4(word, r2)
    return _step_5(word, r1, r2).replace("Y", "y")


def _mark_consonant_y(word: str) -> str:
    """Write each `y` that is a consonant, at the start or after a vowel, as `Y`."""
    if "y" not in word:
        return word
    letters = list(word)
    for at, letter in enumerate(letters):
        if letter == "y" and (at == 0 or letters[at - 1] in _VOWELS):
            letters[at] = "Y"
    return "".join(letters)


def _regions(word: str) -> tuple[int, int]:
    """Return where R1 and R2 begin: behind the first consonant that follows a vowel, and that once more."""
    start = next((len(s) for s in _LONG_STARTS if word.startswith(s)), None)
    r1 = _region(word, 0) if start is None else start
    return r1, _region(word, r1)


def _region(word: str, start: int) -> int:
    match = _REGION.match(word, start)
    return match.end() if match else len(word)


def _ending(word: str, endings: Mapping[str, str] | tuple[str, ...]) -> str:
    """Return the first of `endings` (longest first) that the word has, or nothing."""
    return next((e for e in endings if word.endswith(e)), "")


def _has_vowel(part: str) -> bool:
    return not _VOWELS.isdisjoint(part)


def _ends_short(word: str) -> bool:
    """Say whether the word ends in a short syllable."""
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    return (
        len(word) > 2
        and word[-2] in _VOWELS
        and word[-1] not in _VOWELS
        and word[-1] not in "wxY"
        and word[-3] not in _VOWELS
    )


def _step_1a(word: str) -> str:
    ending = _ending(word, _PLURAL)
    if ending == "sses":
        return word[:-2]
    if ending in ("ied", "ies"):
        return word[:-2] if len(word) > 4 else word[:-1]
    if ending == "s" and _has_vowel(word[:-2]):
        return word[:-1]
    return word


def _step_1b(word: str, r1: int) -> str:
    ending = _ending(word, _PAST)
    if not ending:
        return word
    rest = word[: -len(ending)]
    if ending in ("eed", "eedly"):
        return rest + "ee" if len(rest) >= r1 else word
    if not _has_vowel(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest.endswith(_DOUBLES):
        return rest[:-1]
    return rest + "e" if r1 >= len(rest) and _ends_short(rest) else rest


def _step_2(word: str, r1: int) -> str:
    ending = _ending(word, _STEP_2)
    rest = word[: len(word) - len(ending)]
    if not ending or len(rest) < r1:
        return word
    if (ending == "li" and rest[-1:] not in _BEFORE_LI) or (ending == "ogi" and rest[-1:] != "l"):
        return word
    return rest + _STEP_2[ending]


def _step_3(word: str, r1: int, r2: int) -> str:
    ending = _ending(word, _STEP_3)
    rest = word[: len(word) - len(ending)]
    if not ending or len(rest) < (r2 if ending == "ative" else r1):
        return word
    return rest + _STEP_3[ending]


def _step_4(word: str, r2: int) -> str:
    ending = _ending(word, _STEP_4)
    rest = word[: len(word) - len(ending)]
    if not ending or len(rest) < r2 or (ending == "ion" and rest[-1:] not in ("s", "t")):
        return word
    return rest


def _step_5(word: str, r1: int, r2: int) -> str:
    rest = word[:-1]
    if word.endswith("e"):
        drop = len(rest) >= r2 or (len(rest) >= r1 and not _ends_short(rest))
    else:
        drop = word.endswith("ll") and len(rest) >= r2
    return rest if drop else word
