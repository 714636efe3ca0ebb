"""What the scanner found in a text, and the allow list by which a machine lets single texts pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final

from gitmem.authored_text import LINE_BREAK

#: In Git's configuration, on this machine only: what is allowed travels with no clone.
ALLOW_SETTING: Final = "gitmem.scannerAllow"

#: Hex digits of the mark by which an allow list names one text.
MARK_LENGTH: Final = 12


def text_mark(text: str) -> str:
    """Return the part of an allow list's entry that names one text, whatever its line endings are."""
    plain = LINE_BREAK.sub("\n", text.strip())
    return sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:MARK_LENGTH]


@lru_cache(maxsize=8)  # it is the same one for every text that is judged
def split_allowed(setting: str | None) -> frozenset[str]:
    """Return the entries of an allow list, which commas or white space separate, as they stand."""
    return frozenset((setting or "").replace(",", " ").split())


def allow_command(rules: Iterable[str], mark: str) -> str:
    """Return the command by which a person lets one text pass on this machine.

    Args:
        rules: all that the text breaks.
        mark: of the text.
    """
    entries = ",".join(f"+{rule}:{mark}" for rule in dict.fromkeys(rules))
    return f"gitmem config set {ALLOW_SETTING.removeprefix('gitmem.')} {entries}"


def allow_sentence(rules: Iterable[str], mark: str) -> str:
    """Return what a person is told whose text, or whose agent's text, was refused."""
    return f"If a person finds it harmless: {allow_command(rules, mark)} (see docs/security.md)"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that stands against storing a text or showing it to a model.

    Attributes:
        rule: its id.
        scope: the narrowest scope that holds the rule.
        reason: one sentence for people; it repeats nothing of the text.
        start: offset in the text, as it was given, where the match begins.
        end: offset behind it.
    """

    rule: str
    scope: str
    reason: str
    start: int
    end: int


def without_allowed(
    found: Sequence[Finding], text: str, allowed: AbstractSet[str]
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Return the findings that a machine does not allow, and the entries of its list that others took.

    Args:
        found: all that was found.
        text: in which it was found.
        allowed: `RULE`, or `RULE:<12 hex of the text's SHA-256>`.
    """
    if not found or not allowed:
        return tuple(found), ()
    mark = text_mark(text)
    uses = {
        one.rule: next((e for e in (one.rule, f"{one.rule}:{mark}") if e in allowed), None) for one in found
    }
    left = tuple(one for one in found if uses[one.rule] is None)
    return left, tuple(use for use in uses.values() if use is not None)
