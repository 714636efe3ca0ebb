"""BM25 over several parts as over one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.search_index_contract import document
from gitmem.analysis import analyze_query
from gitmem.memory_part import MemoryPart
from gitmem.ranking import K1, B, rank

TEXTS = [
    "staging port",
    "the staging server",
    "port port port",
    "something else",
    "a port of staging in the north",
]


def part(texts: list[str]) -> MemoryPart:
    """Return a part of an index."""
    return MemoryPart([document(f"m{number}", text) for number, text in enumerate(texts)])


def test_the_formula() -> None:
    """A score is the sum over the terms of idf times saturated frequency, as published."""
    (scores,) = rank([part(TEXTS)], analyze_query("staging port")).scores
    lengths = [2, 3, 3, 2, 7]
    average = sum(lengths) / 5
    idf = math.log(1 + (5 - 3 + 0.5) / (3 + 0.5))

    def term(count: int, length: int) -> float:
        return idf * count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))

    assert scores == pytest.approx(
        {0: 2 * term(1, 2), 1: term(1, 3), 2: term(3, 3), 4: 2 * term(1, 7)}, abs=1e-9
    )


@given(
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=12), st.integers(0, 12), st.sets(st.integers(0, 11))
)
def test_parts_do_not_matter(texts: list[str], cut: int, removed: set[int]) -> None:
    """However documents are spread over parts, and whatever was removed, each has the same score."""
    units = analyze_query("staging port 2222")
    gone = {number for number in removed if number < len(texts)}
    kept = [text for number, text in enumerate(texts) if number not in gone]
    whole = rank([part(kept)], units)
    left = part(texts[:cut]).without({n for n in gone if n < cut})
    right = part(texts[cut:]).without({n - cut for n in gone if n >= cut})
    split = rank([left, right], units)
    assert split.unmatched == whole.unmatched
    found = sorted([*split.scores[0].values(), *split.scores[1].values()])
    assert found == pytest.approx(sorted(whole.scores[0].values()))


def test_unknown_pairs_fall_back_to_characters() -> None:
    """A pair that the index does not hold is looked for as its two characters, at half weight."""
    ranking = rank([part(["记住忆起", "别的"])], analyze_query("记忆"))
    assert set(ranking.weights) == {"记", "忆"}
    assert ranking.unmatched == []
    ranking = rank([part(["记忆", "记住"])], analyze_query("记忆"))
    assert set(ranking.weights) == {"记忆"}


def test_nothing_to_search() -> None:
    """An empty home has no scores and no error."""
    ranking = rank([part([])], analyze_query("staging"))
    assert (ranking.scores, ranking.unmatched) == ([{}], ["staging"])
