"""How texts in other scripts, and emoji, are found."""

from __future__ import annotations

import unicodedata

import pytest
from found_terms import found_among, unmatched_among
from hypothesis import given
from hypothesis import strategies as st

from gitmem.analysis import analyze_query, count_terms
from gitmem.term_folding import fold, fold_with_places

#: A flag that is spelled in tags.
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        # Chinese, Japanese, Korean (OPEN-SEARCH-01)
        ("我们决定使用向量索引来做记忆检索", ["记忆", "检索", "向量索引", "记"]),
        ("修改youer服务端", ["youer", "服务端", "修改 服务端", "修改youer服务端"]),
        ("葛\U000e0100城市の⽂書", ["葛城市", "文書"]),
        ("私は日本語を勉強します", ["日本語", "勉強", "日"]),
        ("ﾃﾞﾌﾟﾛｲ手順とサーバー", ["デプロイ", "サーバ", "手順"]),
        ("オンコール担当は佐々木さん", ["コール", "佐々木"]),
        ("오늘회의록정리", ["회의록", "회의록을", "회의"]),
        ("서버를 재시작했다", ["서버가", "서버", "재시작"]),
        ("책을 샀다", ["책은", "책"]),
        ("GitHub에서 배포", ["github", "배포하다"]),
        # South-east Asia
        ("สวัสดีชาวโลก กำลังดี", ["ชาวโลก", "สวัสดี", "กําลัง"]),
        ("ຂ້ອຍຮັກພາສາລາວ", ["ພາສາ", "ລາວ"]),
        ("សួស្តីពិភពលោក។", ["ពិភពលោក", "សួស្តី"]),
        ("မြန်မာစာ၊ စာအုပ်", ["မြန်မာ", "စာအုပ်"]),
        # Right to left
        ("قرأتُ الكِتابَ في المدرسةِ", ["كتاب", "الكتاب", "مدرسه", "قرأت"]),
        ("إسلام أحمد آمنة", ["اسلام", "احمد", "امنه"]),
        ("مـــحـــمـــد على", ["محمد", "علي"]),
        ("رقم المنفذ ٢٢٢٢", ["2222", "المنفذ", "منفذ"]),
        ("کتابی یکم", ["كتابي"]),
        ("תיקון שגיאה בשרת", ["שרת", "השרת", "תיקון"]),
        ("שרת", ["בשרת"]),
        ("اتصل بخادم", ["خادم", "الخادم", "وخادم"]),
        ("שָׁלוֹם עוֹלָם בית־ספר", ["שלום", "עולם", "ספר", "בית ספר"]),
        # Indic
        ("हिन्दी में २२२२", ["हिन्दी", "2222"]),
        ("क़लम", [unicodedata.normalize("NFD", "क़लम")]),
        ("தமிழ் மொழி", ["தமிழ்"]),
        ("བོད་ཡིག", ["བོད", "ཡིག"]),
        ("ދިވެހި ބަސް", ["ދިވެހި"]),
        # Accents, forms of letters, case
        ("ёлка й", ["елка", "Ёлка"]),
        ("Ошибка подключения к серверам", ["сервер", "сервера", "ошибки", "подключение"]),
        ("красная ёлка", ["красный", "ёлки", "красную ёлку"]),
        ("м’ята", ["мʼята", "м'ята"]),
        ("ΟΔΥΣΣΕΎΣ", ["οδυσσευς", "Οδυσσεύς"]),
        ("İstanbul'da ışık", ["istanbul", "ISIK", "ışık"]),
        ("Đà Nẵng có phở", ["da nang", "pho", "PHỞ"]),
        ("ＰｏｓｔｇｒｅＳＱＬ　１６", ["PostgreSQL 16", "postgresql"]),
        ("Ærøskøbing Straße ﬁle ½", ["aeroskobing", "strasse", "file"]),
        ("ADR\u2011016", ["ADR-016"]),
        ("co\u00adope\u200drate", ["cooperate"]),
        # Emoji
        ("shipped🎉 it", ["🎉", "🎉🎉"]),
        ("👍🏽 fine", ["👍", "👍🏿", "👍🏽"]),
        ("the 👩\u200d👩\u200d👧 came", ["👩\u200d👩\u200d👧", "👧"]),
        ("👩🏽\u200d🚀 in space", ["👩\u200d🚀", "🚀"]),
        ("❤\ufe0f\u200d🔥", ["❤\ufe0f\u200d🔥", "❤", "🔥"]),
        ("in 🇩🇪 and 🇫🇷", ["🇩🇪", "🇫🇷"]),
        (ENGLAND, [ENGLAND]),
        ("✅ done ⚠\ufe0f", ["✅", "⚠"]),
        ("1\ufe0f\u20e3 first", ["1"]),
    ],
)  # fmt: skip
def test_what_is_found(text: str, queries: list[str]) -> None:
    """A word is found however it is written: with or without points, marks and joints, and in any width."""
    for query in queries:
        assert found_among(["unrelated", text], query) == [text], query
        assert unmatched_among([text], query) == [], query


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("กาแฟ", "สวัสดีชาวโลก"),
        ("さようなら", "ありがとう"),
        ("が", "か"),
        ("は", "ば"),
        ("마을", "서울을"),
        ("🇩🇪", "🇩🇰 and 🇪🇪"),
        (ENGLAND, "🏴"),
        ("🙂", "🙁"),
        ("قلم", "كتاب"),
        ("мир", "мера"),
        ("дом", "дым"),
        ("數據", "记忆"),
    ],
)
def test_what_is_not_found(query: str, text: str) -> None:
    """A letter in common, or half of a flag, is no match."""
    assert found_among([text], query) == []
    assert unmatched_among([text], query) == [query]


def test_traditional_and_simplified_characters_are_others() -> None:
    """Characters are compared as they are written: a conversion is a choice of words, not of forms."""
    assert found_among(["數據庫", "数据库"], "数据库") == ["数据库"]
    assert found_among(["數據庫", "数据库"], "數據庫") == ["數據庫"]


def test_the_whole_of_a_joined_emoji_comes_before_its_parts() -> None:
    """A family is one picture; its members stand in for it only where nobody has it."""
    family = "👩\u200d👩\u200d👧"
    assert found_among(["👧", f"our {family}"], family) == [f"our {family}"]
    assert found_among(["👧"], family) == ["👧"]


def test_words_without_content_are_those_of_the_language() -> None:
    """Chinese words that carry no content mean something in Japanese."""
    assert [unit.surface for unit in analyze_query("我们的数据库在哪里")] == ["数据库"]
    assert [unit.surface for unit in analyze_query("和食のお店")] == ["和食のお店"]


def test_digits_and_letters_are_one_in_all_scripts() -> None:
    """Whoever types digits of another script means the same number."""
    for zero in "\u0660\u06f0\u0966\u0e50\u0ed0\u17e0\u1040\uff10":
        digits = "".join(chr(ord(zero) + digit) for digit in (2, 2, 0, 9))
        assert "2209" in count_terms(f"x {digits} y").counts, digits


@given(st.text(max_size=60))
def test_places_lead_back_to_the_text(text: str) -> None:
    """Each folded character has a place in the text, in order, from its beginning to its end."""
    folded, places = fold_with_places(text)
    assert folded == fold(text)
    assert len(places) == len(folded) + 1
    assert places[-1] == len(text)
    assert list(places) == sorted(places)


@pytest.mark.parametrize(
    ("text", "folded", "places"),
    [
        ("ab", "ab", [0, 1, 2]),
        ("混合", "混合", [0, 1, 2]),
        ("a\u0301ﬁe", "afie", [0, 2, 2, 3, 4]),
        ("ｶﾞ か", "ガ か", [0, 2, 3, 4]),
        ("\u1112\u1161글", "하글", [0, 2, 3]),
        ("👩🏽\u200d🚀x", "👩🏽\u200d🚀x", [0, 1, 2, 3, 4, 5]),
        ("שָׁל", "של", [0, 3, 4]),
    ],
)
def test_places_of_what_was_folded(text: str, folded: str, places: list[int]) -> None:
    """A letter's place is where its cluster begins, so that marks and halves go with it."""
    found = fold_with_places(text)
    assert (found[0], list(found[1])) == (folded, places)
