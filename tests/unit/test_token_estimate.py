"""Tests of `gitmem.token_estimate`."""

from __future__ import annotations

import json
import math
import string
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitmem.token_estimate import estimate_tokens

#: Texts, and the most tokens that cl100k, o200k or Claude's published vocabulary make of each.
COUNTED = json.loads((Path(__file__).parent.parent / "data" / "token_counts.json").read_text("utf-8"))

texts = st.text(
    st.sampled_from("aAzZ09 .,-_/\n\t=<|员ひカ가é🎉ж\u200d") | st.characters(exclude_categories=["Cs"])
)


@pytest.mark.parametrize("name", COUNTED)
def test_no_fewer_than_a_vocabulary_counts(name: str) -> None:
    """A context that was estimated too small is refused by the model, or loses its end."""
    text, counted = COUNTED[name]["text"], COUNTED[name]["tokens"]
    assert counted <= estimate_tokens(text) <= 1.7 * counted


@pytest.mark.parametrize(
    ("characters", "name"),
    [
        ("员工端口", "Han"),
        ("ひらがな", "hiragana"),
        ("カタカナ", "katakana"),
        ("한글은", "Hangul"),
        ("🎉🚀🫠", "emoji"),
    ],
)
def test_a_character_of_these_is_a_token_at_least(characters: str, name: str) -> None:
    """Four characters a token holds of English only."""
    for length in (1, 10, 1000):
        text = (characters * length)[:length]
        assert estimate_tokens(text) >= length, name


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("魑魅魍魉饕餮貔貅鼹鼠蜥蜴踟蹰徜徉氤氲", 48),
        ("ﾃｽﾄﾃﾞｽ", 12),
        ("Խնդրում ենք փոխել պորտը", 43),
        ("ǆ ǉ ǌ ɐ ɑ ɒ ʃ ʒ ʔ ŋ ðə ˈstɛɪdʒɪŋ", 46),
        ("Ѳѳ ѵ ҂ Ҷҷ қазақ тілі өзгерту ғылым", 39),
        ("∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, ∑∫√∞≠≤≥⊂⊆ 𝔸𝔹ℂ 𝒳", 57),
        ("\x1b[31mred\x1b[0m \x1b[1;32mok\x1b[0m" * 4, 80),
        ("ทดสอบ บันทึกผลลงในบันทึก", 24),
        ("بِسْمِ اللَّهِ الرَّحْمَٰنِ الرَّحِيمِ", 33),
    ],
)
def test_rarer_signs_are_not_under_counted(text: str, tokens: int) -> None:
    """What cl100k or o200k counts, where vocabularies have few of the letters."""
    assert estimate_tokens(text) >= tokens


def test_a_digit_is_a_token() -> None:
    """Some vocabularies have single digits only."""
    assert estimate_tokens("7" * 500) >= 500


def test_a_word_is_a_token() -> None:
    """Short words are no part of one, however short they are."""
    assert estimate_tokens("a b c d e f") >= 6


def test_rare_characters_weigh_their_bytes() -> None:
    """Vocabularies have no token for them."""
    assert estimate_tokens("\u3400" * 10) == 30
    assert estimate_tokens("\U00020000" * 10) == 40
    assert estimate_tokens("\u9f98" * 10) > estimate_tokens("\u4eba" * 10)


@given(texts, texts)
@example("ABCDEFGHIJKLMNOP", "q")
@example("JBSWYD2", "PEHPK3PXP")
@example("-", "--")
def test_more_text_is_never_fewer_tokens(left: str, right: str) -> None:
    """The search for the longest beginning that fits stands on this."""
    both = estimate_tokens(left + right)
    assert both >= max(estimate_tokens(left), estimate_tokens(right))


@given(texts, texts)
def test_lines_weigh_what_they_weigh_alone(left: str, right: str) -> None:
    """So the parts of a context, each within its share, are within the budget together."""
    both = estimate_tokens(f"{left}\n{right}")
    assert both <= estimate_tokens(f"{left}\n") + estimate_tokens(right)


@given(texts)
def test_never_below_a_quarter_of_the_characters(text: str) -> None:
    """The usual estimate is the least, letter runs that no vocabulary knows weigh more."""
    assert estimate_tokens(text) >= math.ceil(len(text) / 4)


def test_nothing_is_no_token() -> None:
    """An empty text costs nothing, a space does."""
    assert (estimate_tokens(""), estimate_tokens(" ")) == (0, 1)


def test_a_run_of_one_letter_is_looked_at_once() -> None:
    """Looking for a key at each of its letters took minutes; a word is no key, however long it is."""
    assert estimate_tokens("x" * 300_000) == estimate_tokens("y" * 300_000)
    assert estimate_tokens("x" * 40 + "1") < estimate_tokens("x1" * 20 + "x")


def test_a_long_text_is_counted_like_a_short_one() -> None:
    """Long texts are not kept in memory, and have the same number."""
    line = f"{string.ascii_letters} 0123 员工\n"
    assert estimate_tokens(line * 4000) == estimate_tokens(line * 400) * 10
