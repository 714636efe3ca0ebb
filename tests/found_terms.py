"""Which of some texts a question finds by its terms alone, as an index over these texts would."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.analysis import CHARACTER_WEIGHT, analyze_query, count_terms


def found_among(texts: Sequence[str], query: str) -> list[str]:
    """Return the texts that hold a term of a question, those first whose terms weigh most."""
    wanted = _wanted(texts, query)
    held = [set(count_terms(text).counts) for text in texts]
    weights = [sum(weight for term, weight in wanted.items() if term in own) for own in held]
    order = sorted(range(len(texts)), key=lambda at: (-weights[at], at))
    return [texts[at] for at in order if weights[at] > 0]


def unmatched_among(texts: Sequence[str], query: str) -> list[str]:
    """Return the words of a question that no text holds."""
    known = _known(texts)
    return [
        unit.surface
        for unit in analyze_query(query)
        if not any(
            term in known or any(other in known for other in unit.otherwise.get(term, ()))
            for term in unit.terms
        )
    ]


def _known(texts: Sequence[str]) -> set[str]:
    return {term for text in texts for term in count_terms(text).counts}


def _wanted(texts: Sequence[str], query: str) -> dict[str, float]:
    known = _known(texts)
    wanted: dict[str, float] = {}
    for unit in analyze_query(query):
        for term, weight in unit.terms.items():
            if term in known:
                wanted[term] = max(weight, wanted.get(term, 0.0))
            else:
                others = [other for other in unit.otherwise.get(term, ()) if other in known]
                wanted.update({other: wanted.get(other, weight * CHARACTER_WEIGHT) for other in others})
    return wanted
