"""What is a term: the same for a text and for a question, in any script."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.analysis import MAX_QUERY_UNITS, analyze_query, count_terms, fold


def terms(text: str) -> set[str]:
    """Return the terms under which the index holds a text."""
    return set(count_terms(text).counts)


def found(text: str, query: str) -> bool:
    """Say whether some unit of the query is in the text, as the index would."""
    held = terms(text)
    for unit in analyze_query(query):
        for term in unit.terms:
            if term in held or any(other in held for other in unit.otherwise.get(term, ())):
                return True
    return False


IDENTIFIERS = "see ADR-016 and task_tools in crew:run; config memory.char_limit; src/api/main.py, C++ and C#"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我们决定使用向量索引来做记忆检索", "记忆"),
        ("我们决定使用向量索引来做记忆检索", "检索"),
        ("我们决定使用向量索引来做记忆检索", "向量索引"),
        ("我们决定使用向量索引来做记忆检索", "记"),
        ("我们决定使用向量索引来做记忆检索", "怎么做记忆检索?"),
        ("私は日本語を勉強します", "日本語"),
        ("私は日本語を勉強します", "します"),
        ("ﾃﾞﾌﾟﾛｲ手順", "デプロイ"),
        ("オンコール担当", "コール"),
        ("오늘회의록정리", "회의록"),
        ("混合 搜索", "混合搜索"),
        ("混合搜索诊断", "搜索"),
        ("GitHub索引迁移", "github"),
        ("GitHub索引迁移", "索引"),
        ("GitHub索引迁移", "GitHub索引"),
        ("สวัสดีชาวโลก", "ชาวโลก"),
        ("यह हिन्दी भाषा है", "हिन्दी"),
        ("עִבְרִית", "עברית"),
        ("مُحَمَّد", "محمد"),
        (IDENTIFIERS, "ADR-016"),
        (IDENTIFIERS, "ADR 016"),
        (IDENTIFIERS, "adr016"),
        (IDENTIFIERS, "016"),
        (IDENTIFIERS, "task_tools"),
        (IDENTIFIERS, "tools"),
        (IDENTIFIERS, "tool"),
        (IDENTIFIERS, "crew:run"),
        (IDENTIFIERS, "run"),
        (IDENTIFIERS, "char_limit"),
        (IDENTIFIERS, "charLimit"),
        (IDENTIFIERS, "limit"),
        (IDENTIFIERS, "memory.char_limit"),
        (IDENTIFIERS, "main.py"),
        (IDENTIFIERS, "api/main.py"),
        (IDENTIFIERS, "main"),
        (IDENTIFIERS, "C++"),
        (IDENTIFIERS, "c#"),
        ("call getUserName on HTTPServer", "user name"),
        ("call getUserName on HTTPServer", "get_user_name"),
        ("call getUserName on HTTPServer", "server"),
        ("work_item_id", "item"),
        ("send an e-mail over wi-fi", "email wifi"),
        ("sent emails", "e-mail"),
        ("std::vector", "vector"),
        ("C:\\Users\\aria\\notes", "notes"),
        ("see https://example.com/a/b?c=d", "example.com"),
        ("__init__", "init"),
        ("the O'Brien account", "obrien"),
        ("café", "cafe"),
        ("Käse", "kase"),
        ("Straße", "strasse"),
        ("STRASSE", "straße"),
        ("İstanbul", "istanbul"),
        ("istanbul", "ISTANBUL"),
        ("the ligature ﬁle", "file"),
        ("café", unicodedata.normalize("NFD", "CAFÉ")),
        ("ＦＵＬＬ　ｗｉｄｔｈ", "full width"),
        ("Ærøskøbing", "aeroskobing"),
        ("ёлка", "елка"),
        ("ΣΊΣΥΦΟΣ", "σισυφος"),
        ("naïve co\u00adoperation", "naive cooperation"),
        ("she went home", "go"),
        ("the children ran", "child running"),
        ("Do not run find from the root directory.", "DO NOT RUN FIND /"),
        ("the staging server uses port 2222", "server OR"),
        ("the staging server uses port 2222", "port AND"),
        ("the staging server uses port 2222", "why is the staging server not answering"),
        ("1246", "1246"),
        ("true", "true"),
        ("[1]", "[1]"),
    ],
)
def test_query_finds_text(text: str, query: str) -> None:
    """People and agents ask with a part, another case, another form or without accents (OPEN-SEARCH)."""
    assert found(text, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("the car is here", "care"),
        ("ADR-017", "016"),
        ("混合搜索", "数据库"),
        ("か", "が"),
        ("the C language", "++"),
    ],
)
def test_query_does_not_find_another_text(text: str, query: str) -> None:
    """Folding stops where words differ: a voiced kana is another letter, a number another number."""
    assert not found(text, query)


def test_words_without_content_are_left_out_unless_nothing_else_is_there() -> None:
    """A question's function words must not outweigh what it asks about; alone they are all there is."""
    assert [u.surface for u in analyze_query("What is the port of THE server?")] == ["port", "server"]
    assert [u.surface for u in analyze_query("who is it")] == ["who", "is", "it"]
    assert [u.surface for u in analyze_query("我们的数据库在哪里")] == ["数据库"]
    assert [u.surface for u in analyze_query("我们")] == ["我们"]


def test_single_characters_stand_in_for_pairs_only() -> None:
    """A pair says more than its characters: they count half, and only where the pair is unknown."""
    (unit,) = analyze_query("记忆")
    assert unit.terms == {"记忆": 1.0}
    assert unit.otherwise == {"记忆": ("记", "忆")}
    (single,) = analyze_query("记")
    assert single.terms == {"记": 0.5}


@pytest.mark.parametrize("query", ["", "   ", "*", "()", "\x00", "@@@ ---", "؟ — …"])
def test_query_without_words_has_no_units(query: str) -> None:
    """Punctuation finds nothing and breaks nothing."""
    assert analyze_query(query) == []


@pytest.mark.parametrize(
    "query",
    [
        "(" * 3000 + "x" + ")" * 3000,
        "NOT " * 2000 + "x",
        "x OR " * 2000,
        '"' * 5001,
        "a\x00b",
        "z9 y8 " * 400_000,
    ],
)
def test_hostile_queries_are_quick(query: str) -> None:
    """Agents paste code and logs into a search; it is cut, not parsed (OPEN-SEARCH-10)."""
    began = time.process_time()
    assert len(analyze_query(query)) <= MAX_QUERY_UNITS
    assert time.process_time() - began < 0.2


@pytest.mark.parametrize(
    "unit", ["1", "a1", "a.", "1:", "1,111,", "a/", "aB", "\u0301", "ส", "👩\u200d", "\x1b[1;", "v1."]
)
def test_hostile_texts_are_quick(unit: str) -> None:
    """A blob in a text costs time in proportion to its length: everything that is said is indexed."""
    text = unit * (100_000 // len(unit))
    began = time.process_time()
    assert count_terms(text).length >= 0
    assert time.process_time() - began < 2


def test_length_counts_words_and_characters() -> None:
    """Length feeds the ranking, so the extra terms of an identifier do not make its text longer."""
    assert count_terms("see memory.char_limit now").length == 5
    assert count_terms("向量索引 now").length == 5


def test_long_words_are_cut_alike_on_both_sides() -> None:
    """A pasted blob is one bounded term, and still finds itself."""
    blob = "x" * 5000
    assert max(map(len, terms(blob))) == 64
    assert found(f"key {blob}", blob)


#: Pieces of identifiers, numbers, scripts and emoji, which are told apart by what stands beside them.
PIECES = st.lists(
    st.sampled_from(
        [
            *"abzAZ09_-./:@\\&+#='’,$ \n\x1b", "++", "::", "://", "v2.3", "2026-11-30T18:44", "deadbeef12",
            "0x1F", "don't", "1,234", "https://", "C#1", "word",
            "é", "e\u0301", "ß", "İ", "ﬁ", "½", "記", "忆", "の",
            "ｶ", "ﾞ", "한", "\u1112", "\u1161", "ส", "ี", "ម", "ب", "\u064e", "ال", "ة", "ש", "\u05c1", "क",
            "\u094d", "ष", "й", "ами", "השרת",
            "👩", "\u200d", "🏽", "❤", "\ufe0f", "🇩", "🇪", "𠮷", "\u200b", "\u2011", "٣",
            "\ud800",
        ]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(st.text(max_size=200) | PIECES)
def test_any_text_finds_itself(text: str) -> None:
    """One analyzer for both sides: whatever is asked in the words of a text is found in it, whole."""
    counted = count_terms(text)
    assert counted.length >= 0
    assert all(term and count > 0 for term, count in counted.counts.items())
    for unit in analyze_query(text):
        assert unit.surface.strip()
        assert all(term in counted.counts for term, weight in unit.terms.items() if weight == 1.0)
        assert any(term in counted.counts for term in unit.terms)
        assert all(term in counted.counts for term in unit.simple)


@given(st.text(max_size=100))
def test_folding_settles(text: str) -> None:
    """Folding twice changes nothing more, so a term never depends on how often it was folded."""
    assert fold(fold(text)) == fold(text)


@given(st.text(max_size=60))
def test_unicode_form_does_not_matter(text: str) -> None:
    """A file's text may be composed or decomposed; its terms are the same."""
    assert terms(unicodedata.normalize("NFD", text)) == terms(unicodedata.normalize("NFC", text))
