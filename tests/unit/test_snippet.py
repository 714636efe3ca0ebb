"""The piece of text that shows why something was found."""

from __future__ import annotations

import re

import pytest
import regex
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
        ("C++ and C#", "c#", ["C#"]),
        ("把GitHub索引迁移到新机器", "索引迁移", ["索引迁移"]),
        ("把GitHub索引迁移到新机器", "github", ["GitHub"]),
        ("私は日本語を勉強します", "日本語", ["日本語"]),
        ("the café, the Café", "cafe", ["café", "Café"]),
        ("nothing here", "port", []),
        ("see ADR 016 (and 016)", "adr016", ["ADR 016"]),
        ("a 10 GB disk", "10GB", ["10 GB"]),
        ("at v2.3.1-rc1, 2.3", "2.3.1", ["v2.3.1-rc1"]),
        (
            "commit a38443b75c1de02f1c1f9a9c7f4e4e6d0a1b2c3d.",
            "a38443b",
            ["a38443b75c1de02f1c1f9a9c7f4e4e6d0a1b2c3d"],
        ),
        ("修改youer服务端，重启", "youer 服务端", ["youer服务端"]),
        ("ﾃﾞﾌﾟﾛｲ手順", "デプロイ", ["ﾃﾞﾌﾟﾛｲ"]),
        ("the café, CAFE\u0301s", "cafe", ["café", "CAFE\u0301s"]),
        ("오늘회의록정리", "회의록", ["회의록"]),
        ("\u1112\u116c\u110b\u1174록", "회의", ["\u1112\u116c\u110b\u1174"]),
        ("ที่นี่ดี", "นี่", ["นี่"]),
        ("قرأتُ الكِتابَ هنا", "كتاب", ["الكِتابَ"]),
        ("אמר שָׁלוֹם.", "שלום", ["שָׁלוֹם"]),
        ("यह हिन्दी है", "हिन्दी", ["हिन्दी"]),
        ("ёлка и ель", "елка", ["ёлка"]),
        ("shipped🎉 👍🏽", "🎉 👍", ["🎉", "👍🏽"]),
        ("our 👩\u200d👩\u200d👧!", "👧", ["👩\u200d👩\u200d👧"]),
        ("in 🇩🇪🇫🇷", "🇫🇷", ["🇫🇷"]),
        ("ＡＢＣ　ｐｏｒｔ", "port", ["ｐｏｒｔ"]),
    ],
)
def test_marks(text: str, query: str, wanted: list[str]) -> None:
    """The words are marked as they stand in the text, without punctuation around them."""
    assert marked(text, query) == wanted


@pytest.mark.parametrize(
    ("text", "query", "wanted"),
    [
        ("https://example.com/" + "a/" * 300 + "endpointzz?x=1&y=2#frag", "endpointzz", ["endpointzz"]),
        ("/usr/local/" + "dir/" * 150 + "targetfile.py:42", "targetfile.py", ["targetfile.py"]),
        ("a_" * 400 + "needle" + "_b" * 400, "needle", ["needle"]),
        ("a-" * 400 + "needle" + "-b" * 400, "needles", ["needle"]),
        ("a." * 400 + "char_limit" + ".b" * 400, "char_limit", ["char_limit"]),
        ("x/" * 200 + "getUserName/" + "y/" * 200, "getUserName", ["getUserName"]),
        ("x/" * 200 + "getUserName/" + "y/" * 200, "user", ["User"]),
        ("x/" * 200 + "transport/port/" + "y/" * 200, "port", ["port"]),
        ("x/" * 200 + "bought/" + "y/" * 200, "buying", ["bought"]),
        ("x/" * 200 + "a38443b75c1de02f5566/" + "y/" * 200, "a38443b", ["a38443b"]),
        ("x/" * 200 + "2.3.1/" + "y/" * 200, "2.3", ["2.3"]),
        ("x/" * 200 + "ab" * 500 + "/ab/" + "y/" * 200, "ab", ["ab"]),
        ("x/" * 200 + "Straße/" + "ﬁle/" * 200, "strasse", ["Straße"]),
        ("port/" * 300 + "staging/" + "y/" * 300, "port staging", None),
    ],
)
def test_the_part_of_something_long_that_matched(text: str, query: str, wanted: list[str] | None) -> None:
    """240 characters of an address without the word that was asked for, all of them marked, show nothing."""
    snippet = make_snippet(f"see {text} there", terms(query))
    assert len(snippet.text) <= SNIPPET_CHARS
    found = [snippet.text[a:b] for a, b in snippet.highlights]
    if wanted is not None:
        assert found == wanted
    else:  # where both are
        assert {"port", "staging"} == set(found)
    if wanted:
        assert 40 <= snippet.highlights[0][0] <= 80 or not snippet.text.endswith("…")


def test_characters_are_not_split() -> None:
    """A cut falls between characters as people see them: marks and emoji sequences stay together."""
    text = "e\u0301" * 400 + "記憶" + "👩\u200d🚀" * 200
    snippet = make_snippet(text, terms("記憶"))
    inner = snippet.text.strip("…")
    assert "記憶" in inner
    assert not inner.startswith("\u0301")
    assert not inner.endswith("\u200d")


@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301\u0323", "👩\u200d👩\u200d👧\u200d👦", "🇩🇪", "👍🏽", "❤\ufe0f", "1\ufe0f\u20e3",
        "ที่", "नि", "क्ष", "각",
        "\u1112\u1161\u11ab", "か\u3099", "ﾃﾞ", "שָׁ", "بِ", "𠮷", "葛\U000e0100", "한", "混",
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", range(4))
def test_windows_never_split_what_a_reader_sees_as_one(cluster: str, before: int) -> None:
    """In a text without spaces every place is as good as another, but for half a character."""
    text = "x" * before + cluster * 200 + "記憶" + cluster * 200
    snippet = make_snippet(text, terms("記憶"))
    assert "記憶" in snippet.text
    assert len(snippet.text) <= SNIPPET_CHARS
    first, last = snippet.text[1:-1].split("記憶")
    assert first.removeprefix(cluster * first.count(cluster)) == ""
    assert last == cluster * last.count(cluster)


def test_a_match_longer_than_the_window_is_marked_as_far_as_it_shows() -> None:
    """A pasted blob that matches is still marked."""
    snippet = make_snippet("see " + "a1b2" * 200, terms("a1b2" * 200))
    assert snippet.highlights
    assert len(snippet.text) <= SNIPPET_CHARS


@given(
    st.text(st.sampled_from("ab 。混\r\n\u0301\u200d👩🇩क\u094dष\u1112\u1161か\u3099ﾞทีـ"), max_size=700),
    st.sampled_from(["a", "混", "か", "👩", "b"]),
)
def test_bounds_lie_between_characters(text: str, query: str) -> None:
    """Neither a snippet nor a mark in it ends inside of what a reader sees as one character."""
    line = re.sub(r"\s+", " ", text).strip()
    snippet = make_snippet(text, terms(query))
    inner = snippet.text.removeprefix("…").removesuffix("…")
    bounds = {match.start() for match in regex.finditer(r"\X", line)} | {len(line)}
    places = [at for at in range(len(line) + 1) if line.startswith(inner, at)]
    assert any(at in bounds and at + len(inner) in bounds for at in places)


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
