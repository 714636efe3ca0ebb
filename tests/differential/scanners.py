"""Compares the two scanners text by text: what Hermes finds, gitmem finds too, unless it says why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from differential.scanner_texts import NEGATIVES, POSITIVES
from gitmem.threats import find_threats

SCOPES: Final = ("all", "context", "strict")

#: Ordinary texts that Hermes refuses and gitmem lets pass; see docs/decisions/0009.
LET_PASS: Final[frozenset[str]] = frozenset()

#: A text and a scope in, ids of rules out.
Scan = Callable[[str, str], list[str]]


def all_texts() -> tuple[str, ...]:
    """Return every text that is compared."""
    return (*(text for texts in POSITIVES.values() for text in texts), *NEGATIVES)


def missed_texts(scan: Scan) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each text that Hermes finds something in and gitmem nothing, with what both found."""
    for text in all_texts():
        for scope in SCOPES:
            theirs = scan(text, scope)
            ours = [finding.rule for finding in find_threats(text, scope)]
            if theirs and not ours and text not in LET_PASS:
                yield text, theirs, ours
