"""Which invisible characters stand where writing needs them, and which hide something."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from gitmem.text_folding import INVISIBLE

_BOM: Final = "\ufeff"
_ZERO_WIDTH_SPACE: Final = "\u200b"
_NON_JOINER: Final = "\u200c"
_JOINER: Final = "\u200d"
_DIRECTION_MARKS: Final = frozenset("\u200e\u200f\u061c")
#: Scripts whose spelling needs joiners: Arabic, Syriac, Indic ones, Tibetan, Myanmar, Khmer, Mongolian.
_JOINED_SCRIPT: Final = re.compile(
    "[\u0600-\u061b\u061d-\u06ff\u0700-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u180a\u1810-\u18af\u1b00-\u1b7f"
    "\ua840-\ua87f\ua8e0-\ua8ff\ua980-\ua9df\uaa60-\uaa7f\ufb50-\ufdff\ufe70-\ufefc\U00011000-\U00011fff]"
)
#: Scripts without spaces between words, where a zero-width space says where a line may break.
_UNSPACED_SCRIPT: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]"
)
_MONGOLIAN: Final = re.compile("[\u1800-\u180a\u1810-\u18af]")
_HAN: Final = re.compile("[\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
#: The flags of regions: a black flag, the letters of the region, the end.
_REGION_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,7}\U000e007f")
_LONGEST_FLAG: Final = 9
_SKIN_TONES: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
#: Letters or digits that have an emoji form too.
_EMOJI_TEXT: Final = frozenset("#*0123456789\u203c\u2049\u3030\u303d\u2122\u2139")
#: How far from right-to-left letters a direction mark may stand: brackets, digits and spaces lie between.
_MARK_REACH: Final = 16


def hidden_characters(text: str) -> Iterator[int]:
    """Yield where an invisible character first stands that no writing system and no emoji needs there."""
    seen = set()
    for match in INVISIBLE.finditer(text):
        if match[0] not in seen and not _belongs(text, match.start()):
            seen.add(match[0])
            yield match.start()


def _belongs(text: str, place: int) -> bool:
    letter = text[place]
    before = text[place - 1] if place else ""
    after = text[place + 1 : place + 2]
    if letter == _BOM:
        return place == 0
    if letter in (_JOINER, _NON_JOINER):
        return _joins(text, place, before, after)
    if letter == _ZERO_WIDTH_SPACE:
        return bool(_UNSPACED_SCRIPT.match(before) and _UNSPACED_SCRIPT.match(after))
    if letter in _DIRECTION_MARKS:
        return _marks_direction(text, place)
    return _selects(text, place, before)


def _joins(text: str, place: int, before: str, after: str) -> bool:
    if _JOINED_SCRIPT.match(before):
        return not INVISIBLE.match(after)
    if text[place] != _JOINER or not _is_pictograph(after):
        return False
    return _is_pictograph(before) or before in _SKIN_TONES or before == "\ufe0f" or _ends_flag(text, place)


def _marks_direction(text: str, place: int) -> bool:
    around = text[max(0, place - _MARK_REACH) : place + _MARK_REACH]
    return text[place - 1 : place] not in _DIRECTION_MARKS and bool(_RIGHT_TO_LEFT.search(around))


def _selects(text: str, place: int, before: str) -> bool:
    """Say whether a variation selector or a tag character has something before it that it selects."""
    code = ord(text[place])
    if 0xFE00 <= code <= 0xFE0F:
        return _is_pictograph(before) or before in _EMOJI_TEXT or bool(_HAN.match(before))
    if 0xE0100 <= code <= 0xE01EF:
        return bool(_HAN.match(before))
    if 0x180B <= code <= 0x180F:
        return bool(_MONGOLIAN.match(before))
    if 0xE0020 <= code <= 0xE007F:
        return _in_flag(text, place)
    return False


def _is_pictograph(letter: str) -> bool:
    return bool(letter) and (
        unicodedata.category(letter) in ("So", "Sm", "Sk", "Po", "Cn") and ord(letter) > 0x7F
    )


def _in_flag(text: str, place: int) -> bool:
    start = text.rfind("\U0001f3f4", max(0, place - _LONGEST_FLAG), place)
    flag = _REGION_FLAG.match(text, start) if start >= 0 else None
    return flag is not None and place < flag.end()


def _ends_flag(text: str, place: int) -> bool:
    return text[place - 1] == "\U000e007f" and _in_flag(text, place - 1)
