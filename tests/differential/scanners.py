"""Compares the two scanners text by text: what Hermes finds, gitmem finds too, unless it says why not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from differential.scanner_texts import LET_PASS, NEGATIVES, POSITIVES
from gitmem.threats import find_threats

SCOPES: Final = ("all", "context", "strict")
#: What stands between words instead of a space, and has to make no difference.
GAPS: Final = (" ", "  ", "\t", "\n")

#: Recorded with hermes-agent 0.19.0 by `run.py --record`: a text, and by scope the ids that it finds.
CASES: Final = Path(__file__).parent.parent / "data" / "hermes_scanner_cases.jsonl"

#: A text and a scope in, ids of rules out.
Scan = Callable[[str, str], list[str]]


def record(path: Path, scan: Scan) -> None:
    """Write what a scanner finds in all texts."""
    rows = ({"text": text, "ids": {scope: scan(text, scope) for scope in SCOPES}} for text in all_texts())
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def recorded() -> dict[str, dict[str, Any]]:
    """Return by text what Hermes finds in it."""
    rows = map(json.loads, CASES.read_text("utf-8").split("\n")[:-1])
    return {row["text"]: row["ids"] for row in rows}


def all_texts() -> Iterator[str]:
    """Yield every text that is compared, also with other gaps between its words."""
    for text in (*(text for texts in POSITIVES.values() for text in texts), *NEGATIVES):
        yield from dict.fromkeys(text.replace(" ", gap) for gap in GAPS)


def missed_texts(scan: Scan) -> Iterator[tuple[str, str, list[str]]]:
    """Yield text and scope of what Hermes finds and gitmem does not, with the ids that Hermes names."""
    passing = {text.replace(" ", gap) for text in LET_PASS for gap in GAPS}
    for text in all_texts():
        for scope in SCOPES:
            theirs = scan(text, scope)
            if theirs and not find_threats(text, scope) and text not in passing:
                yield text, scope, theirs
