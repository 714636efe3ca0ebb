"""Precision and recall of the scanner on the texts of `tests/data/scanner_set.jsonl`.

Run as a program it prints both, and every text that the scanner gets wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gitmem.scanner import scan

TEXTS = Path(__file__).parent / "data" / "scanner_set.jsonl"


@dataclass(frozen=True, slots=True)
class Sample:
    """A text and what a person says of it."""

    id: str
    lang: str
    is_harmful: bool
    text: str


@dataclass(frozen=True, slots=True)
class Score:
    """How often the scanner is right."""

    precision: float
    recall: float
    wrong: tuple[Sample, ...]


def samples() -> Iterator[Sample]:
    """Yield the texts; those with secrets stand in two parts, so that other scanners pass them by."""
    for line in TEXTS.read_text("utf-8").splitlines():
        row = json.loads(line)
        text = row["text"] if isinstance(row["text"], str) else "".join(row["text"])
        yield Sample(row["id"], row["lang"], row["label"] == "harmful", text)


def score(texts: list[Sample]) -> Score:
    """Compare the scanner's verdicts with what people say."""
    flagged = [sample for sample in texts if scan(sample.text).findings]
    right = sum(sample.is_harmful for sample in flagged)
    harmful = sum(sample.is_harmful for sample in texts)
    wrong = tuple(sample for sample in texts if sample.is_harmful != (sample in flagged))
    return Score(right / len(flagged), right / harmful, wrong)


def main() -> None:
    """Print the figures."""
    texts = list(samples())
    for lang in ("en", "zh"):
        part = score([sample for sample in texts if sample.lang == lang])
        print(f"{lang}: precision {part.precision:.4f}, recall {part.recall:.4f}")
    result = score(texts)
    print(f"all {len(texts)}: precision {result.precision:.4f}, recall {result.recall:.4f}")
    for sample in result.wrong:
        print("missed" if sample.is_harmful else "found", sample.id, repr(sample.text))


if __name__ == "__main__":
    main()
