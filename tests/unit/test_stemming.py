"""The English stemmer against its published definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whoosh.lang.snowball.english import EnglishStemmer

from gitmem.stemming import stem

WORDS = """
    caresses flies dies mules denied died agreed owned humbled sized meeting stating siezing itemization
    sensational traditional reference colonizer plotted generously generate communication arsenal
    consistency consigned consolation knackeries knavish knots relational conditional rational valenci
    hesitanci digitizer conformabli radicalli differentli vileli analogousli vietnamization predication
    operator feudalism decisiveness hopefulness callousness formaliti sensitiviti sensibiliti triplicate
    formative formalize electriciti electrical hopeful goodness revival allowance inference airliner
    gyroscopic adjustable defensible irritant replacement adjustment dependent adoption homologou
    communism activate angulariti homologous effective bowdlerize probate rate cease controll roll
    hopping hoping hopped hop hopes tanned falling hissing fizzed failing filing happy sky say toy
    skis skies dying lying tying idly gently ugly early only singly news howe atlas cosmos bias andes
    inning outing canning herring earring proceed exceed succeed proceeding exceeded
    luxuriated uxorious yellow yes boy youth enjoyed employer beyond gas this kiwis gaps cries ties
    feed bleed agreedly interestedly seemingly fluently classically geology theology ogi
    deployments indexing indexed staging servers memories configuration databases running quickly
""".split()


@pytest.mark.parametrize("word", WORDS)
def test_agrees_with_another_implementation(word: str) -> None:
    """A stem is that of the published algorithm, so that figures measured with it hold here."""
    assert stem(word) == EnglishStemmer().stem(word)


def test_regions_stay_where_they_began() -> None:
    """R2 is a place in the word, not a piece of text that shrinks with it: the definition says so."""
    assert stem("communization") == "communiz"


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=30))
def test_never_fails_and_never_grows(word: str) -> None:
    """Any run of letters has a stem no longer than itself by more than one letter."""
    assert len(stem(word)) <= len(word) + 1
