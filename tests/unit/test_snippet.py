"""The piece of text that shows why something was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.analysis import analyze_query
from gitmem.snippet import SNIPPET_CHARS, make_snippet


def terms(query: str) -> set[str]:
    """Return the terms of a question."""
    return {term for unit in analyze_query(query) for term in unit.terms}


def marked(text: str, query: str) -> list[str]:
    """Return what is marked in a snippet."""
    snippet = make_snippet(text, terms(query))
    return [snippet.text[a:b] for a, b in snippet.highlights]


def test_a_short_text_is_whole_and_on_one_line() -> None:
    """Line breaks and runs of spaces are one space."""
    assert make_snippet(" the\n\n staging \t port ", terms("port")).text == "the staging port"


def test_it_is_around_the_match() -> None:
    """Where most of the question's words are, with what stands before them."""
    filler = "lorem ipsum " * 100
    text = f"{filler}a port. {filler}the staging server listens on port 2222. {filler}"
    snippet = make_snippet(text, terms("staging port"))
    assert "the staging server listens on port 2222" in snippet.text
    assert snippet.text.startswith("…")
    assert snippet.text.endswith("…")
    assert len(snippet.text) <= SNIPPET_CHARS
    assert [snippet.text[a:b] for a, b in snippet.highlights] == ["staging", "port"]


@pytest.mark.parametrize(
    ("text", "query", "wanted"),
    [
        ("We listened on (ports) 2222.", "listening port", ["listened", "ports"]),
        ("see `memory.char_limit`, set", "char_limit", ["memory.char_limit"]),
        ("C++ and C#", "c#", ["C++", "C#"]),
        ("把GitHub索引迁移到新机器", "索引迁移", ["索引迁移"]),
        ("把GitHub索引迁移到新机器", "github", ["GitHub"]),
        ("私は日本語を勉強します", "日本語", ["日本語"]),
        ("the café, the Café", "cafe", ["café", "Café"]),
        ("nothing here", "port", []),
    ],
)
def test_marks(text: str, query: str, wanted: list[str]) -> None:
    """The words are marked as they stand in the text, without punctuation around them."""
    assert marked(text, query) == wanted


def test_characters_are_not_split() -> None:
    """A cut falls between characters as people see them: marks and emoji sequences stay together."""
    text = "e\u0301" * 400 + "記憶" + "👩\u200d🚀" * 200
    snippet = make_snippet(text, terms("記憶"))
    inner = snippet.text.strip("…")
    assert "記憶" in inner
    assert not inner.startswith("\u0301")
    assert not inner.endswith("\u200d")


@given(st.text(max_size=900), st.sampled_from(["staging port", "记忆", "a", "é", "x.y"]))
def test_any_text(text: str, query: str) -> None:
    """Never too long, never several lines, and marks lie inside, in order."""
    snippet = make_snippet(text, terms(query))
    assert len(snippet.text) <= SNIPPET_CHARS
    assert "\n" not in snippet.text
    last = 0
    for start, end in snippet.highlights:
        assert last <= start < end <= len(snippet.text)
        last = end
