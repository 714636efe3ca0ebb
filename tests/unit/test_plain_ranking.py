"""The plain ranking gives what its definition gives by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Any

import pytest

from gitmem.documents import Document, analyze
from gitmem.question import parse_question
from gitmem.recipe import OWN_TEXT, RECIPE, Recipe
from gitmem.search_index import Indexed
from gitmem.testing.plain_ranking import BLOCK, LONGEST_SESSION, WINDOW, score_plainly

#: Neighbours and nothing else beside own words.
NEIGHBOURS = replace(OWN_TEXT, before=0.4, before_asking=0.75, after=0.25, before_2=0.2, after_2=0.1)
#: Of two documents one has the term.
ONE_OF_TWO = log(1 + 1.5 / 1.5)
ONE_OF_FOUR = log(1 + 3.5 / 1.5)


def said(text: str, **fields: Any) -> Indexed:
    """Return a message of the session `s`."""
    given = {"kind": "message", "title": "user", "ts": "2024-05-01T10:00:00Z", "session": "s", **fields}
    document = Document(source_ref="message:m", text=text, origin="o", **given)
    return Indexed(document, analyze(document))


def apart(text: str, **fields: Any) -> Indexed:
    """Return a message of no session."""
    return said(text, session=None, **fields)


def scores_of(documents: Sequence[Indexed], question: str, recipe: Recipe) -> list[float]:
    """Return the scores of a question that is asked in June 2024."""
    return score_plainly(documents, parse_question(question, 1_718_000_000.0), recipe)


def test_own_words_are_scored_by_bm25() -> None:
    """With nothing but own words a score is BM25 with k1 .9 and b .4; who lacks the word has none."""
    found = scores_of([apart("cedar maple"), apart("birch birch birch birch")], "cedar", OWN_TEXT)
    assert found == pytest.approx([ONE_OF_TWO * 1.9 / (1 + 0.9 * (0.6 + 0.4 * 2 / 3)), 0.0])
    assert found[0] == pytest.approx(0.739877, abs=1e-6)


def test_repeated_words_saturate() -> None:
    """A word that stands twice counts less than twice."""
    found = scores_of([apart("cedar cedar"), apart("birch maple")], "cedar", OWN_TEXT)
    assert found[0] == pytest.approx(ONE_OF_TWO * 1.9 * 2 / (2 + 0.9))


def test_neighbours_share_their_words_and_their_lengths() -> None:
    """Answers share words with what they answer: a question before counts .75, other neighbours less."""
    documents = [said("cedar?", seq=1), said("birch", seq=2), said("maple", seq=3), said("acorn", seq=4)]
    found = scores_of(documents, "cedar", NEIGHBOURS)
    average = (1.35 + 2.1 + 1.85 + 1.6) / 4
    expected = [
        ONE_OF_FOUR * 1.9 * count / (count + 0.9 * (0.6 + 0.4 * length / average))
        for count, length in ((1, 1.35), (0.75, 2.1), (0.2, 1.85))
    ]
    assert found == pytest.approx([*expected, 0.0])


def test_later_neighbours_count_too() -> None:
    """The two messages after one share their words as well, for .25 and .1."""
    documents = [said("birch", seq=1), said("maple", seq=2), said("cedar", seq=3), said("acorn", seq=4)]
    found = scores_of(documents, "cedar", NEIGHBOURS)
    lengths = (1.35, 1.75, 1.85, 1.6)
    expected = [
        ONE_OF_FOUR * 1.9 * count / (count + 0.9 * (0.6 + 0.4 * length / (sum(lengths) / 4)))
        for count, length in zip((0.1, 0.25, 1, 0.4), lengths, strict=True)
    ]
    assert found == pytest.approx(expected)


def test_order_is_clock_then_sequence_then_place() -> None:
    """Neighbours are those of the conversation, wherever documents stand in the index."""
    inside = [said("cedar", clock=1, seq=9), said("birch", clock=2, seq=1), said("maple", clock=2, seq=2)]
    turned = [inside[2], inside[0], inside[1]]
    straight = scores_of(inside, "cedar", NEIGHBOURS)
    assert straight[1] > straight[2] > 0
    assert scores_of(turned, "cedar", NEIGHBOURS) == pytest.approx([straight[2], straight[0], straight[1]])


@pytest.mark.parametrize("other", [said("birch", kind="brief"), said("birch", session="t"), apart("birch")])
def test_only_messages_of_one_session_are_neighbours(other: Indexed) -> None:
    """A brief, a message of another session and one without a session share nothing."""
    assert scores_of([said("cedar"), other], "cedar", RECIPE)[1] == 0.0


def test_a_conversation_counts_as_a_whole() -> None:
    """The conversation's own BM25, k1 1.2 and b .75 over conversations, is added for each of its messages."""
    documents = [said("cedar", session="s"), said("birch", session="s"), said("maple", session="t")]
    found = scores_of(documents, "cedar", replace(OWN_TEXT, session=0.3))
    whole = ONE_OF_TWO * 2.2 * 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / 1.5))
    own = log(1 + 2.5 / 1.5) * 1.9 / (1 + 0.9)
    assert found == pytest.approx([own + 0.3 * whole, 0.3 * whole, 0.0])


def test_a_long_conversation_counts_in_windows() -> None:
    """Beyond 200 messages only what is said within eight messages counts for a message."""
    documents = [said("cedar" if number == 100 else "birch", seq=number) for number in range(210)]
    found = scores_of(documents, "cedar", replace(OWN_TEXT, session=1.0, k1=0.0))
    assert LONGEST_SESSION < 210
    touched = [number for number, score in enumerate(found) if score > 0]
    assert touched == list(range(100 - WINDOW, 100 + WINDOW + 1))
    blocks = -(-210 // BLOCK)
    idf = log(1 + (blocks - 0.5) / 1.5)
    expected = idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 17 / (210 / blocks)))
    assert found[95] == pytest.approx(expected)


def test_a_named_author_is_preferred() -> None:
    """Whoever is not the one author named keeps .6; the name as a word counts .4, for its author once."""
    recipe = replace(OWN_TEXT, other_author=0.6, name=0.4, before=0.4, before_asking=0.4)
    documents = [
        said("cedar", author="Ann Lee", keywords="Ann Lee", seq=1),
        said("cedar", author="Bob", keywords="Bob", seq=2),
    ]
    found = scores_of(documents, "What did Ann say of cedar?", recipe)
    average = (3 + 3.2) / 2
    idf = log(1 + 0.5 / 2.5)
    first = idf * 1.9 / (1 + 0.9 * (0.6 + 0.4 * 3 / average))
    first += 0.4 * ONE_OF_TWO * 1.9 / (1 + 0.9 * (0.6 + 0.4 * 3 / average))
    second = idf * 1.9 * 1.4 / (1.4 + 0.9 * (0.6 + 0.4 * 3.2 / average))
    assert found == pytest.approx([first, 0.6 * second])


def test_a_name_that_was_said_counts_for_neighbours() -> None:
    """Whom a message speaks of matters to the next one; only the mark of its own author does not."""
    documents = [
        said("Ann: Ann cedar", author="Ann", seq=1),
        said("Bob: birch", author="Bob", seq=2),
        said("Bob: Ann maple", author="Bob", seq=3),
    ]
    found = scores_of(documents, "Ann", replace(OWN_TEXT, before=0.5, before_asking=0.5))
    idf, average = log(1 + 1.5 / 2.5), (3 + 3.5 + 4) / 3
    expected = [
        idf * 1.9 * count / (count + 0.9 * (0.6 + 0.4 * length / average))
        for count, length in ((2, 3), (0.5, 3.5), (1, 4))
    ]
    assert found == pytest.approx(expected)


def test_two_named_authors_are_no_preference() -> None:
    """Who asks for two people wants either."""
    documents = [apart("cedar", author="Ann"), apart("cedar", author="Bob"), apart("cedar", author="Cid")]
    found = scores_of(documents, "Do Ann and Bob like cedar?", RECIPE)
    assert found[0] == pytest.approx(found[2])


def test_a_document_without_author_keeps_its_score() -> None:
    """A note is by nobody else than the author who is named."""
    documents = [apart("cedar", author="Ann"), apart("cedar", author="Bob"), said("cedar", kind="note")]
    found = scores_of(documents, "Does Ann like cedar?", replace(RECIPE, kept=0.0))
    assert found[0] == pytest.approx(found[2])
    assert found[1] == pytest.approx(0.6 * found[0])


def test_what_was_kept_on_purpose_gains_in_what_it_holds_of_the_question() -> None:
    """A note has no neighbours that speak for it, and a question that fits it is meant for it."""
    documents = [apart("cedar birch"), said("cedar birch", kind="note"), said("oak", kind="note")]
    message, fitting, half = scores_of(documents, "cedar birch", replace(OWN_TEXT, kept=2.0))
    assert (fitting, half) == (pytest.approx(3 * message), 0.0)
    message, _, part = scores_of(documents, "cedar oak", replace(OWN_TEXT, kept=2.0))
    cedar, oak = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)
    alone = scores_of(documents, "cedar oak", OWN_TEXT)[2]
    assert part == pytest.approx(alone * (1 + 2 * oak / (cedar + oak)))


def test_names_do_not_count_for_conversations() -> None:
    """Everybody's name stands all over his conversations."""
    recipe = replace(OWN_TEXT, session=0.3, name=0.0)
    documents = [said("birch", author="Ann", keywords="Ann"), said("cedar", author="Bob", session="t")]
    assert scores_of(documents, "Ann", recipe) == [0.0, 0.0]


def test_a_day_asked_for_counts_by_closeness() -> None:
    """What happened on the day gets all, some days later less, before it nothing; rarer days count more."""
    documents = [
        apart("birch", ts="2023-06-03T08:00:00Z"),
        apart("birch", ts="2023-06-05T08:00:00Z"),
        apart("birch", ts="2023-06-02T08:00:00Z"),
        apart("birch", ts="2023-09-02T08:00:00Z"),
    ]
    found = scores_of(documents, "What happened on 3 June 2023?", RECIPE)
    assert found == pytest.approx([3 * ONE_OF_FOUR, 3 * ONE_OF_FOUR * 0.6 * (1 - 2 / 8), 0.0, 0.0])


def test_what_only_asks_loses() -> None:
    """A message loses three tenths of the share of its words that stand in questions."""
    recipe = replace(OWN_TEXT, asking=0.3)
    found = scores_of([apart("Cedar. Birch?"), apart("maple acorn")], "cedar", recipe)
    assert found[0] == pytest.approx(ONE_OF_TWO * 1.9 / 1.9 * (1 - 0.3 * 0.5))


def test_a_time_expression_answers_when() -> None:
    """Whoever asks when gets messages that tell a time first."""
    recipe = replace(OWN_TEXT, when=1.3)
    documents = [apart("cedar yesterday"), apart("cedar birch")]
    asked = scores_of(documents, "When did the cedar fall?", recipe)
    assert asked[0] == pytest.approx(1.3 * asked[1])
    assert len(set(scores_of(documents, "Where did the cedar fall?", recipe))) == 1


def test_characters_stand_in_for_a_pair_that_is_nowhere() -> None:
    """Of two characters that never stand together each is looked for, at half weight."""
    documents = [apart("港口"), apart("地图")]
    found = scores_of(documents, "港湾", OWN_TEXT)
    assert found == pytest.approx([0.5 * ONE_OF_TWO, 0.0])


def test_nothing_to_search_and_nothing_found() -> None:
    """Without documents there are no scores; a word that no document has scores nothing."""
    assert scores_of([], "cedar", RECIPE) == []
    assert scores_of([apart("birch"), said("maple")], "cedar", RECIPE) == [0.0, 0.0]
