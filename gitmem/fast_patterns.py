"""Rewrites patterns so that a search for them is fast, and tells with which words they begin.

A search is fast for a pattern that begins with letters; where words begin is looked at behind them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitmem.word_places import STEM, key_of

#: What a pattern is made of, as far as spaces in it matter.
_PIECES: Final = re.compile(r"\\.|\(\?<[=!]|[\s\S]")
#: What must not stand before a pattern: `\b` or a lookbehind without alternatives.
_DENIED: Final = re.compile(r"\\b(?=\(\?:|[a-z])|\(\?<!((?:[^()|\\]|\\.)+)\)")
_REPEATED: Final = ("?", "*", "+", "{")
#: A letter that `quick` has put first, and what must not stand before it.
_SINGLE: Final = re.compile(r"([a-z])((?:\(\?<!(?:[^()|\\]|\\.)+\))+)")


def split(pattern: str) -> list[str]:
    """Return the alternatives of a pattern, as far as they stand outside its groups and sets."""
    parts = [""]
    for piece, depth, in_set in _nested(pattern):
        if piece == "|" and depth == 0 and not in_set:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _nested(pattern: str) -> Iterator[tuple[str, int, bool]]:
    """Yield the pieces of a pattern, each with how deep in groups the next one stands, and if in a set."""
    depth = 0
    in_set = False
    for piece in _PIECES.findall(pattern):
        was_set = in_set
        if in_set:
            in_set = piece != "]"
        elif piece == "[":
            in_set = True
        else:
            depth += piece.startswith("(") - (piece == ")")
        yield piece, depth, was_set or in_set


def closing(pattern: str) -> int:
    """Return where the group ends that a pattern begins with."""
    place = 0
    for piece, depth, in_set in _nested(pattern):
        if piece == ")" and depth == 0 and not in_set:
            return place
        place += len(piece)
    raise AssertionError(f"a group without an end: {pattern}")


def loose(pattern: str) -> str:
    """Let any white space stand where a pattern has a space, also inside its sets and lookbehinds."""
    parts = []
    closing = ""
    for piece in _PIECES.findall(pattern):
        if not closing and (piece == "[" or piece.startswith("(?<")):
            closing = "]" if piece == "[" else ")"
        elif piece == closing:
            closing = ""
        parts.append(piece if piece != " " else (r"\s" if closing else r"\s+"))
    return "".join(parts)


def quick(pattern: str) -> str:
    """Return a pattern with its first letters in front of what must not stand before them."""
    before, rest = _denied(pattern)
    choices = first_choices(rest)
    if not before or not choices:
        return pattern
    if not rest.startswith("(?:"):
        return _letter_first(rest[0], before) + rest[1:]
    endings: dict[str, list[str]] = {}
    for choice in choices:
        endings.setdefault(choice[0], []).append(choice[1:])
    letters = (f"{_letter_first(one, before)}(?:{'|'.join(tails)})" for one, tails in endings.items())
    return "(?:" + "|".join(letters) + ")" + rest[closing(rest) + 1 :]


def first_choices(pattern: str) -> list[str]:
    """Return the words of which a pattern begins with one, if it begins so: then a search is fast."""
    end = closing(pattern) if pattern.startswith("(?:") else 0
    choices = split(pattern[3:end]) if end else [pattern]
    if end and pattern[end + 1 : end + 2] in _REPEATED:
        return []
    is_fast = all(choice[:1].isalpha() and choice[1:2] not in _REPEATED for choice in choices)
    return choices if is_fast else []


def _denied(pattern: str) -> tuple[list[str], str]:
    """Return what must not stand before a pattern, and what the pattern is otherwise."""
    before = []
    rest = pattern
    while found := _DENIED.match(rest):
        before.append(found[1] or r"\w")
        rest = rest[found.end() :]
    return before, rest


def _letter_first(letter: str, before: list[str]) -> str:
    return letter + "".join(f"(?<!{denied}{letter})" for denied in before)


def heads(part: str) -> frozenset[str]:
    """Return how the first words of a part begin, or nothing if that cannot be told of all."""
    begins = [_begins(choice) for choice in re.split(r" +\| +", part)]
    return frozenset().union(*begins) if all(begins) else frozenset()


def _begins(choice: str) -> set[str]:
    """Return how the first word of an alternative may begin: of a short one all of it, and a space."""
    match = re.match("[a-z0-9]+", choice)
    if match is None:
        return set()
    word, rest = match[0], choice[match.end() :]
    if rest.startswith("-?"):
        joined = _begins(word + rest[2:])
        return {key_of(word)} | joined if joined else set()
    if rest.startswith("?") and _ends_word(rest[1:]):
        return {key_of(word[:-1]), key_of(word)}
    if rest.startswith(_REPEATED):
        word, rest = word[:-1], "?"
    return {key_of(word)} if len(word) >= STEM or _ends_word(rest) else set()


def _ends_word(rest: str) -> bool:
    """Say whether a word ends where the rest of a pattern begins."""
    return rest[:1] in ("", " ", "'", "-") and rest[1:2] not in _REPEATED


def heads_of(pattern: str) -> frozenset[str]:
    """Return with which words a pattern begins that `quick` has made, if that can be told."""
    single = _SINGLE.match(pattern)
    if single is not None:
        words = [single[1] + pattern[single.end() :]]
        return heads(_spaced(words)) if _is_word_begin(single[2]) else frozenset()
    if re.match(r"\(\?:[a-z]\(\?<!", pattern) is None:
        return frozenset()
    end = closing(pattern)
    # What follows the words tells whether they are whole.
    ending = " " if pattern[end + 1 :].startswith((r"\s", r"\b", r"(?:\s", r"[,\s]")) else "$"
    choices = []
    for one in split(pattern[3:end]):
        made = _SINGLE.match(one)
        if made is None or not _is_word_begin(made[2]) or not one.startswith("(?:", made.end()):
            return frozenset()
        choices += [made[1] + rest + ending for rest in split(one[made.end() + 3 : -1])]
    return heads(_spaced(choices))


def _is_word_begin(lookbehinds: str) -> bool:
    """Say whether what must not stand before a letter includes every other letter and digit."""
    return re.search(r"\(\?<!(?:\\w|\[(?:\\w|a-z0-9)[^\]^]*\])[a-z]\)", lookbehinds) is not None


def _spaced(words: list[str]) -> str:
    return " | ".join(word.replace(r"\s++", " ").replace(r"\s+", " ") for word in words)
