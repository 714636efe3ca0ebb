"""Questions taken apart, and who is the author of a message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.question import author_of, name_of, parse_question

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What did Caroline say about Mel's dog?", {"what", "caroline", "mel"}),
        ("Will Will come in May?", {"will", "may"}),
        ("what did caroline say", {"what", "did", "caroline", "say"}),
        ("Élodie's plan", {"elodie"}),
        ("42 staging_port", {"staging_port"}),
    ],
)
def test_names_are_words_with_a_capital(text: str, names: set[str]) -> None:
    """Will, May and Mark are words too; where nothing has a capital every word may be a name."""
    assert set(parse_question(text, NOW).names) == names


def test_a_name_in_a_script_without_spaces_is_found_inside_a_run() -> None:
    """Chinese names stand in the sentence with nothing around them."""
    assert {"张曼婷", "曼婷"} <= set(parse_question("你记得张曼婷喜欢什么吗", NOW).names)


@given(st.text(max_size=200), st.floats(0, 4e9))
def test_any_text_is_a_question(text: str, now: float) -> None:
    """Agents paste code and logs into a search."""
    parse_question(text, now)


@pytest.mark.parametrize(
    ("author", "text", "expected"),
    [
        ("Ana", "Bo: hello", "Ana"),
        (None, "Ana: hello", "Ana"),
        ("", "Ana Maria: hello", "Ana Maria"),
        (None, "张曼婷：你好 ", None),
        (None, "张曼婷： 你好", "张曼婷"),
        (None, "note: remember this", None),
        (None, "Things that I have to do: all", None),
        (None, "http://example.org", None),
        (None, "C:\\temp", None),
        (None, "12: 30", None),
        (None, "", None),
    ],
)
def test_who_said_a_text(author: str | None, text: str, expected: str | None) -> None:
    """A field says it, or else a name in front of a colon; a role or a phrase there is no name."""
    assert author_of(author, text) == expected


@pytest.mark.parametrize(
    ("author", "name"), [("Ana Maria", "ana"), ("ÉLODIE", "elodie"), ("张曼婷", "张曼婷"), ("42", "42")]
)
def test_an_author_is_known_by_the_first_name(author: str, name: str) -> None:
    """Questions say `Ana`, whatever stands in the sender's field."""
    assert name_of(author) == name
