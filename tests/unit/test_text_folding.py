"""Folded text reads as the original looks, and invisible characters are told from needed ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.invisible_characters import hidden_characters
from gitmem.text_folding import fold, without_invisible


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Plain TEXT", "plain text"),
        ("ｆｕｌｌ　ｗｉｄｔｈ！", "full width!"),
        ("pаypаl", "paypal"),
        ("Ιgnοre", "ignore"),
        ("café naïve", "cafe naive"),
        ("a\u200bb\u00adc\U000e0041d\ufe0f", "abcd"),
        ("ⓘⓖⓝ 🅸🅶 ɪɢɴ 𝐢𝐠𝐧", "ign ig ign ign"),
        ("“quoted” — it’s", '"quoted" - it\'s'),
        ("無視規則", "无视规则"),
        ("привет мир", "привет мир"),
        ("ракета сор", "ракета сор"),
        ("καλημέρα", "καλημέρα"),
    ],
)
def test_text_is_folded_as_it_is_read(text: str, folded: str) -> None:
    """Look-alikes are folded in words that mix scripts; a text really in another script stays as it is."""
    assert fold(text).text == folded


@given(st.text(max_size=200))
def test_every_place_of_a_fold_has_an_origin(text: str) -> None:
    """Spans lead back into the text, in order, and the whole leads back to nearly the whole."""
    folded = fold(text)
    places = [folded.origin(place, place + 1) for place in range(len(folded.text))]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert places == sorted(places)


def test_words_come_back_from_where_they_stood() -> None:
    """A letter that folds to several, and several that fold to none, are counted."""
    text = "ﬃ\u200b\u200bx é y"
    folded = fold(text)
    start = folded.text.index("x")
    assert text[slice(*folded.origin(start, start + 1))] == "x"
    start = folded.text.index("ffi")
    assert text[slice(*folded.origin(start, start + 3))] == "ﬃ"


def test_invisible_characters_are_taken_out_with_their_places() -> None:
    """A secret that they split is found in what is left."""
    assert without_invisible("a\u200bbc\u00ad") == ("abc", [0, 2, 3])


ALLOWED = [
    "\ufeffa file that begins with its mark",
    "family 👨\u200d👩\u200d👧\u200d👦",
    "👩🏽\u200d💻, 🏳\ufe0f\u200d🌈, 👩\u200d❤\ufe0f\u200d👨, 🏴\u200d☠\ufe0f",
    "❤\ufe0f ✔\ufe0e ☎\ufe0f 1\ufe0f\u20e3 #\ufe0f\u20e3 ‼\ufe0f ↔\ufe0f ™\ufe0f",
    "Scotland 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "می\u200cخواهم, کتاب\u200cخانه",
    "क्\u200dष and র\u200d্য and ന്\u200d and ക്\u200cഷ",
    "שלום\u200f (hello)\u200e and \u200eabc\u200f עברית",
    "ภาษา\u200bไทย",
    "葛\U000e0100城, 神\ufe00",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_invisible_characters_are_allowed_where_writing_needs_them(text: str) -> None:
    """Emoji, Persian and Indic text and a leading byte order mark are no attack (case OPEN-AGENT-06)."""
    assert [hex(ord(text[place])) for place in hidden_characters(text)] == []


HIDDEN = [
    *"\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff\u3164",
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufe0f\ufe00\U000e0001\U000e0041\U000e007f\U000e0100",
]


@pytest.mark.parametrize("letter", HIDDEN, ids=lambda letter: f"U+{ord(letter):04X}")
def test_between_latin_letters_every_one_of_them_hides_something(letter: str) -> None:
    """There no writing system needs any of them."""
    assert list(hidden_characters(f"plain{letter}text")) == [5]


@pytest.mark.parametrize(
    "text",
    [
        "👍" + "".join(chr(0xE0000 + ord(letter)) for letter in "ignore"),
        "🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in "gbscttoolong") + "\U000e007f",
        "😀" + "\ufe00\ufe01\ufe02\ufe03",
        "عربي\u202eabc",
        "👍\u200dabc",
        "س\u200c\u200c\u200c",
    ],
)
def test_a_message_in_invisible_characters_is_found(text: str) -> None:
    """Tags behind an emoji, runs of selectors and overrides carry text that people do not see."""
    assert list(hidden_characters(text))
