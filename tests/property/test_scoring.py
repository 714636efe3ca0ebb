"""The ranking over arrays against the same rules in plain Python, over random homes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.documents import Document, analyze
from gitmem.memory_part import MemoryPart
from gitmem.question import Question, parse_question
from gitmem.recipe import OWN_TEXT, RECIPE, Recipe
from gitmem.scoring import passages
from gitmem.scoring.corpus import Corpus
from gitmem.scoring.score import score
from gitmem.search_index import Indexed
from gitmem.testing import plain_ranking
from gitmem.testing.plain_ranking import score_plainly

NOW = 1_700_000_000.0
WORDS = ["port", "server", "backup", "yesterday", "June", "Ana", "Bo", "the", "搜索", "记忆", "what", "2023"]

documents = st.builds(
    lambda kind, words, session, author, clock, day, ends: Indexed(
        made := Document(
            source_ref="",
            kind=kind,
            title="",
            text=" ".join(words) + ends,
            ts=f"2023-06-{day:02d}T12:00:00.000Z",
            origin="ledger/a.jsonl",
            session=session,
            author=author if kind == "message" else None,
            clock=clock,
        ),
        analyze(made),
    ),
    st.sampled_from(["message", "message", "message", "note", "tool_execution"]),
    st.lists(st.sampled_from(WORDS), max_size=6),
    st.sampled_from([None, "s1", "s2", "s3"]),
    st.sampled_from([None, "Ana", "Bo", "Ana Maria"]),
    st.integers(0, 5),
    st.integers(1, 30),
    st.sampled_from([".", "?", " Ana? Yes."]),
)
asked = [*WORDS, "on 3 June 2023", "when", "in June 2023", "last week", "in June"]
questions = st.lists(st.sampled_from(asked), min_size=1, max_size=6)
recipes = st.sampled_from(
    [RECIPE, OWN_TEXT, replace(RECIPE, before=0.0, day=1.0), replace(RECIPE, session=0.0)]
)


def numbered(found: list[Indexed]) -> list[Indexed]:
    """Return documents each of which has its place in the ledger."""
    return [
        replace(one, document=replace(one.document, source_ref=f"message:{at}", seq=at))
        for at, one in enumerate(found)
    ]


def scores_in_parts(
    found: list[Indexed], cuts: list[int], removed: frozenset[int], question: Question, recipe: Recipe
) -> list[float]:
    """Return the scores of the documents that were not removed, held in several parts of an index."""
    bounds = [0, *sorted(cut % (len(found) + 1) for cut in cuts), len(found)]
    parts = [
        MemoryPart(found[start:end]).without({at - start for at in removed if start <= at < end})
        for start, end in pairwise(bounds)
    ]
    corpus = Corpus(parts, recipe)
    total = score(corpus, question, everywhere=True).total[corpus.order.number]
    return [float(total[at]) for at in range(len(found)) if at not in removed]


@settings(max_examples=examples(400), deadline=None)
@given(
    st.lists(documents, max_size=25).map(numbered),
    st.lists(st.integers(0, 30), max_size=3),
    st.sets(st.integers(0, 24), max_size=5).map(frozenset),
    questions,
    recipes,
)
def test_arrays_give_the_scores_of_the_plain_rules(
    found: list[Indexed], cuts: list[int], removed: frozenset[int], words: list[str], recipe: Recipe
) -> None:
    """However an index is cut into parts and whatever was removed, scores are those of the rules."""
    question = parse_question(" ".join(words), NOW)
    removed = frozenset(at for at in removed if at < len(found))
    live = [one for at, one in enumerate(found) if at not in removed]
    expected = score_plainly(live, question, recipe)
    assert scores_in_parts(found, cuts, removed, question, recipe) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(documents, min_size=5, max_size=30).map(numbered),
    st.lists(st.integers(0, 30), max_size=2),
    questions,
)
def test_a_long_conversation_is_seen_through_windows(
    found: list[Indexed], cuts: list[int], words: list[str]
) -> None:
    """What stands around a message takes the place of a conversation that is too long to say anything."""
    question = parse_question(" ".join(words), NOW)
    with pytest.MonkeyPatch.context() as patch:
        for module, names in (
            (passages, ("LONGEST", "WINDOW", "BLOCK")),
            (plain_ranking, ("LONGEST_SESSION", "WINDOW", "BLOCK")),
        ):
            for name, value in zip(names, (4, 1, 3), strict=True):
                patch.setattr(module, name, value)
        expected = score_plainly(found, question)
        assert scores_in_parts(found, cuts, frozenset(), question, RECIPE) == pytest.approx(
            expected, abs=1e-9
        )
