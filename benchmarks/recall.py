"""How much of the evidence stands among the first hits: recall at five and ten, and the first one's place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over questions.

    Attributes:
        at_5, at_10: the share of the evidence among the first five and ten hits.
        mrr: one divided by the place of the first evidence among the first ten hits, 0 without any.
        questions: how many there were.
    """

    at_5: float
    at_10: float
    mrr: float
    questions: int

    def __str__(self) -> str:
        return f"{_short(self.at_5)} | {_short(self.at_10)} | {_short(self.mrr)}"

    def __sub__(self, other: Figures) -> Figures:
        return Figures(self.at_5 - other.at_5, self.at_10 - other.at_10, self.mrr - other.mrr, self.questions)


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1) if value < 1 else f"{value:.2f}"


def figures_of(answers: Iterable[tuple[Sequence[str], AbstractSet[str]]]) -> Figures:
    """Return the figures of questions.

    Args:
        answers: of each question the keys of the hits, best first, and those of its evidence.
    """
    rows = [
        (
            len(evidence & set(hits[:5])) / len(evidence),
            len(evidence & set(hits[:10])) / len(evidence),
            next((1 / place for place, key in enumerate(hits[:10], 1) if key in evidence), 0.0),
        )
        for hits, evidence in answers
    ]
    if not rows:
        return Figures(0.0, 0.0, 0.0, 0)
    at_5, at_10, mrr = (sum(values) / len(rows) for values in zip(*rows, strict=True))
    return Figures(at_5, at_10, mrr, len(rows))
