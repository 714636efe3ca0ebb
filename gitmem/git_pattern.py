"""Git's patterns for paths (`*`, `?`, `[…]`, `**`) as regular expressions over bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_CLASSES: Final = {
    b"alnum": rb"0-9A-Za-z", b"alpha": rb"A-Za-z", b"blank": rb" \t", b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9", b"graph": rb"!-~", b"lower": rb"a-z", b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~", b"space": rb" \t\n\r\f\v", b"upper": rb"A-Z", b"xdigit": rb"0-9A-Fa-f",
}  # fmt: skip


@lru_cache(maxsize=256)
def compile_pattern(pattern: bytes) -> re.Pattern[bytes] | None:
    """Return the regular expression of one of Git's patterns; None if it can match nothing."""
    try:
        return re.compile(b"".join(_translate(pattern)), re.DOTALL)
    except (re.error, ValueError):
        return None


def _translate(pattern: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(pattern):
        char = pattern[at : at + 1]
        if char == b"*":
            stars = len(pattern[at:]) - len(pattern[at:].lstrip(b"*"))
            piece, at = _stars(pattern, at, stars)
            yield piece
            continue
        if char == b"[":
            piece, at = _bracket(pattern, at)
            yield piece
            continue
        if char == b"\\":
            at += 1
            char = pattern[at : at + 1]
            if not char:
                raise ValueError("a backslash at the end")
            yield re.escape(char)
        else:
            yield b"[^/]" if char == b"?" else re.escape(char)
        at += 1


def _stars(pattern: bytes, at: int, stars: int) -> tuple[bytes, int]:
    before, after = pattern[at - 1 : at] if at else b"/", pattern[at + stars : at + stars + 1]
    if stars > 1 and before == b"/" and after == b"/":
        return b"(?:.*/)?", at + stars + 1
    if stars > 1 and before == b"/" and not after:
        return b".*", at + stars
    return b"[^/]*", at + stars


def _bracket(pattern: bytes, at: int) -> tuple[bytes, int]:
    at += 1
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    pieces: list[bytes] = []
    first = True
    while first or pattern[at : at + 1] != b"]":
        if at >= len(pattern):
            raise ValueError("a bracket that is never closed")
        named = re.compile(rb"\[:([a-z]*):\]").match(pattern, at)
        if named:
            pieces.append(_CLASSES.get(named[1], b""))
            at = named.end()
        else:
            piece, at = _range(pattern, at)
            pieces.append(piece)
        first = False
    inside = b"".join(pieces)
    if not inside:
        return (b"[^/]" if negated else b"(?!)"), at + 1
    return b"(?!/)[" + (b"^" if negated else b"") + inside + b"]", at + 1


def _range(pattern: bytes, at: int) -> tuple[bytes, int]:
    low, at = _member(pattern, at)
    if pattern[at : at + 1] != b"-" or pattern[at + 1 : at + 2] in (b"]", b""):
        return re.escape(low), at
    high, at = _member(pattern, at + 1)
    return (re.escape(low) + b"-" + re.escape(high), at) if low <= high else (b"", at)


def _member(pattern: bytes, at: int) -> tuple[bytes, int]:
    at += pattern[at : at + 1] == b"\\"
    return pattern[at : at + 1], at + 1
