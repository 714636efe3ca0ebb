"""What a pattern tells of the texts that it matches holds for each of them."""

from __future__ import annotations

import re

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.fast_patterns import loose, quick, split
from gitmem.pattern_words import first_letters, words_needed
from gitmem.word_places import PLAIN_WORD, STEM


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [
        ("an?", [{"a ", "an "}]),
        ("instructions?", [{"instru"}]),
        ("(?:the )?(?:full|entire) (?:system prompt|log)", [{"full ", "entire"}, {"system", "log "}]),
        (r"(?:\w+ )?(?:node|bot)(?! js)", [{"node", "bot"}]),
        (r"\.env(?![\w.])", [{"env "}]),
        (r"un\w+ done", [{"un"}, {"done "}]),
        (r"\w+word", []),
        ("(?:one|[0-9]) two", [{"two "}]),
        (r"\d{1,3}", []),
    ],
)
def test_words_that_a_pattern_needs(pattern: str, groups: list[set[str]]) -> None:
    """One of each group stands in whatever it matches; a short word is whole, a long one is its begin."""
    assert words_needed(pattern, is_whole=True) == groups


def test_inside_a_text_a_first_word_may_be_the_end_of_another() -> None:
    """Only a mark in the pattern says where a word begins."""
    assert words_needed("ward off", is_whole=False) == [{"off"}]
    assert words_needed(r"\bward off\b", is_whole=False) == [{"ward "}, {"off "}]
    assert words_needed("(?<![a-z0-9])ward off(?![a-z0-9])", is_whole=False) == [{"ward "}, {"off "}]


_WORDS = st.sampled_from(["a", "an", "you", "ignore", "previous", "instructions", "key", "if", "x1"])
_GAPS = st.sampled_from(
    [" ", r"\s?", r"\s{1,2}", "-", "_", r"\b \b", "[^.]{0,3}", r"\W{1,2}", "'", r"\w?", ""]
)


def _joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quantifiers = st.sampled_from(["", "", "?", "{0,2}", "{1,2}", "{2}", "??"])
    group = st.builds("(?:{}){}".format, st.lists(parts, min_size=1, max_size=3).map("|".join), quantifiers)
    suffixed = st.builds(
        "{}{}".format, _WORDS, st.sampled_from(["", "s?", "(?:es|ed)?", r"\w{1,2}", "[sd]", "+"])
    )
    piece = st.one_of(suffixed, group)
    return st.lists(st.builds("{}{}".format, piece, _GAPS), min_size=1, max_size=3).map("".join)


_PATTERNS = st.recursive(_WORDS, _joined, max_leaves=8)
_SURROUNDINGS = st.sampled_from(["", " ", "a", ".", "_", "9", "-x "])


@settings(max_examples=examples(120), deadline=None)
@given(_PATTERNS, _SURROUNDINGS, _SURROUNDINGS, st.data())
def test_every_match_holds_the_words(pattern: str, before: str, after: str, data: st.DataObject) -> None:
    """Whatever a pattern matches, wherever it stands, has a word of each group, and begins as it says."""
    matched = data.draw(st.from_regex(pattern, fullmatch=True, alphabet=st.characters(codec="ascii")))
    text = before + matched + after
    words = PLAIN_WORD.findall(text)
    begun = {word[:size] for word in words for size in range(1, STEM + 1)} | {word + " " for word in words}
    assert all(begun & group for group in words_needed(pattern, is_whole=False))
    letters = first_letters(pattern)
    assert not letters or matched[0] in letters


@settings(max_examples=examples(120), deadline=None)
@given(_PATTERNS, st.sampled_from([r"\b", "(?<![a-z0-9])", r"(?<!not )(?<!\w)", "(?<!you )"]), st.data())
def test_a_pattern_made_fast_matches_the_same(pattern: str, denied: str, data: st.DataObject) -> None:
    """Letters are put in front of what must not stand before them; what is found stays the same."""
    plain = loose(f"{denied}(?:{pattern})")
    matched = data.draw(st.from_regex(pattern, fullmatch=True, alphabet=st.characters(codec="ascii")))
    text = "".join(f"{before}{matched}" for before in ("", " ", "not ", "you ", "x", "_"))
    fast = [re.compile(quick(one)) for one in split(plain)]
    assert [one.span() for one in re.finditer(plain, text)] == [
        one.span() for choice in fast for one in choice.finditer(text)
    ]
