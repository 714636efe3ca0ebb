"""Text as a reader takes it: look-alikes, invisible characters and variants folded to plain letters.

Rules match the folded text; every place in it leads back to the place in the original.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate
from typing import Final

#: Nothing but a fold of other letters can make these words of a rule; all are replaced one for one.
_TRADITIONAL: Final = (
    "無視規則統詞對話戶訴說發傳輸顯現個這們義應須遺執碼鑰憑證檔內資訊設變註冊節點務連網絡隱瞞讓別會寫過濾當從後來聽關閉權擬裝問題將給與為"
    "讀取語錄歷記憶環狀態儲實擊錯誤見開啟啓處導據庫審殺號帳遠動準範縛護欄脫獄"
)
_SIMPLIFIED: Final = (
    "无视规则统词对话户诉说发传输显现个这们义应须遗执码钥凭证档内资讯设变注册节点务连网络隐瞒让别会写过滤当从后来听关闭权拟装问题将给与为"
    "读取语录历记忆环状态储实击错误见开启启处导据库审杀号帐远动准范缚护栏脱狱"
)
_SMALL_CAPITALS: Final = ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɡɑıɩȷøłđħ", "abcdefghijklmnoprstuvwyzgaiijoldh")


def _letters(first: int) -> dict[str, str]:
    return {chr(first + number): chr(ord("a") + number) for number in range(26)}


_PLAIN: Final = {
    **dict.fromkeys("\u2018\u2019\u201b\u02bc\u2032\u00b4", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f\u300a\u300b", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    **dict.fromkeys("\u2028\u2029\u0085", "\n"),
    **dict(zip(*_SMALL_CAPITALS, strict=True)),
    # Letters in white squares and circles, and those that flags are made of.
    **_letters(0x1F150),
    **_letters(0x1F170),
    **_letters(0x1F1E6),
    **dict(zip(_TRADITIONAL, _SIMPLIFIED, strict=True)),
}

#: Letters of Cyrillic, Greek and Armenian that look like Latin ones.
_LOOKALIKES: Final = str.maketrans(
    "асԁеһіјӏорԛгѕтуυνԝхьвнкмґєїё" + "αβεγικορτχωηϲϳѵ" + "օոսհցզյ",
    "acdehijlopqrstyuvwxbbhkmreie" + "abeyikoptxwncjv" + "onuhgqj",
)
_FOREIGN: Final = re.compile("[\u0370-\u058f]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_LATIN: Final = re.compile("[a-z]")

_INVISIBLE_CLASS: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f\U000e0100-\U000e01ef"
)
#: Characters that show nothing: zero width, bidi controls, fillers, variation selectors and tag characters.
INVISIBLE: Final = re.compile(f"[{_INVISIBLE_CLASS}]")
#: They and the marks above, below and around a letter do not change which letter it is.
_DROPPED: Final = re.compile(f"[{_INVISIBLE_CLASS}\u0300-\u036f\u20d0-\u20ff]")


class _Folds(dict[int, str]):
    """What each code point folds to, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold_letter(chr(code))
        return folded


def _fold_letter(letter: str) -> str:
    if letter in _PLAIN:
        return _PLAIN[letter]
    if _DROPPED.match(letter):
        return ""
    plain = unicodedata.normalize("NFKC", letter).lower()
    bare = unicodedata.normalize("NFKD", plain)
    if bare[:1].isascii():
        plain = bare
    return _DROPPED.sub("", "".join(_PLAIN.get(part, part) for part in plain))


_FOLDS: Final = _Folds()


class FoldedText:
    """A text and its fold.

    Attributes:
        original: the text as it was given.
        text: folded, in lower case.
    """

    __slots__ = ("_starts", "original", "text")

    def __init__(self, original: str, text: str) -> None:
        self.original = original
        self.text = text
        self._starts: list[int] | None = None

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original that a span of the fold came from."""
        if self.original.isascii():
            return start, end
        if self._starts is None:
            self._starts = [0, *accumulate(map(len, map(_FOLDS.__getitem__, map(ord, self.original))))]
        first = bisect_right(self._starts, start) - 1
        return first, bisect_right(self._starts, max(end - 1, start))


def fold(text: str) -> FoldedText:
    """Fold a text."""
    if text.isascii():
        return FoldedText(text, text.lower())
    folded = text.translate(_FOLDS)
    return FoldedText(text, _fold_lookalikes(folded) if _FOREIGN.search(folded) else folded)


def without_invisible(text: str) -> tuple[str, list[int]]:
    """Return a text without its invisible characters, and where each of the others stood."""
    places = [place for place, letter in enumerate(text) if not INVISIBLE.match(letter)]
    return "".join(text[place] for place in places), places


def _fold_lookalikes(text: str) -> str:
    """Fold look-alikes in words that mix scripts; in others too, unless the text is in their script."""
    others = {word[0] for word in _WORD.finditer(text) if not _LATIN.search(word[0])}
    is_foreign = _LATIN.search(text) is None or any(
        _FOREIGN.search(word.translate(_LOOKALIKES)) for word in others
    )

    def folded(word: re.Match[str]) -> str:
        letters = word[0]
        if letters.isascii() or (is_foreign and not _LATIN.search(letters)):
            return letters
        return letters.translate(_LOOKALIKES)

    return _WORD.sub(folded, text)
