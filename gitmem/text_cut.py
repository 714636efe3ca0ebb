"""Cuts a text to so many tokens, between characters as readers see them, and says that it was cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gitmem.graphemes import cut_at
from gitmem.token_estimate import Tokenizer

#: Characters that are tried first; then twice as many, and so on.
_FIRST: Final = 64


def cut_to_tokens(text: str, tokens: int, count: Tokenizer, *, source_ref: str | None = None) -> str:
    """Return the longest beginning of a text that has at most `tokens` tokens with a notice behind it.

    Args:
        text: what does not fit, as the caller knows.
        tokens: the notice counts too.
        count: counts tokens.
        source_ref: under which all of it can be read.

    Returns:
        Empty where not one character fits. What a smaller number shows of the text, a larger one does too.
    """
    # Measured with the longest notice, so that one place more cannot make the whole shorter.
    longest = cut_notice(len(text), len(text), source_ref)
    length = longest_fitting(text, lambda end: count(text[:end] + longest) <= tokens)
    return text[:length] + cut_notice(length, len(text), source_ref) if length else ""


def cut_notice(shown: int, total: int, source_ref: str | None) -> str:
    """Return what stands behind a text that was cut."""
    rest = f"; all of it: memory_get {source_ref}" if source_ref else ""
    return f"...\n[cut: {shown} of {total} characters are shown{rest}]"


def without_notice(text: str) -> str:
    """Return what of a text stands before the notice that it was cut, if there is one."""
    shown, notice, _ = text.rpartition("...\n[cut: ")
    return shown if notice else text


def longest_fitting(text: str, fits: Callable[[int], bool]) -> int:
    """Return the longest length, at a boundary of characters, of a beginning that fits; 0 where none does.

    Args:
        text: any.
        fits: says whether the beginning of that length fits; a longer one does not where a shorter does not.
    """
    best, high = 0, _FIRST
    while high < len(text) and fits(cut_at(text, high)):
        best, high = cut_at(text, high), 2 * high
    low, high = best, min(high, len(text) - 1)
    while low < high:
        middle = (low + high + 1) // 2
        at = cut_at(text, middle)
        if at <= best:  # one character, as readers see it, reaches over all of these places
            low = middle
        elif fits(at):
            best, low = at, middle
        else:
            high = at - 1
    return best


def fit_lines(lines: Sequence[str], tokens: int, count: Tokenizer, *, intro: str = "") -> str:
    """Return as many whole lines, from the first, as fit, and say how many do not; empty where none fits.

    Args:
        lines: each may have more than one line of text; without line feeds at their ends.
        tokens: of all that is returned.
        count: counts tokens.
        intro: stands before them.
    """
    whole = "\n".join([*([intro] if intro else []), *lines])
    if count(whole) <= tokens:
        return whole if lines else ""
    kept: list[str] = []
    room = tokens - count(f"{intro}\n{_more(len(lines))}")
    for line in lines:
        room -= count(f"{line}\n")
        if room < 0:
            break
        kept.append(line)
    missing = len(lines) - len(kept)
    parts = [intro, *kept, _more(missing) if missing else ""]
    return "\n".join(part for part in parts if part) if kept else ""


def _more(missing: int) -> str:
    return f"(+{missing} more)"
