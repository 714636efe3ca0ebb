"""What ranking knows of a document besides its words, as one number made when it is indexed."""

from __future__ import annotations

import re
from typing import Final

from gitmem.asked_dates import holds_time_expression

#: Bits of the number; the share of words in question sentences, in thousandths, stands above them.
MESSAGE: Final = 1
ASKS: Final = 2
TELLS_TIME: Final = 4
KEPT: Final = 8
SHARE_SHIFT: Final = 8
SHARE_UNIT: Final = 1000

#: What was written down on purpose, not only said or done.
KEPT_KINDS: Final = frozenset({"entry", "note", "agent_memory", "episode", "brief", "decision", "work_item"})

#: Heading of the part of an episode that only previews what was said; the messages themselves come first.
PREVIEWS: Final = "## What was done"

_ASKS: Final = re.compile(r"[?？؟]")
_SENTENCE: Final = re.compile(r"[^.!?？؟。！\n]+[.!?？؟。！]*")
_SPACELESS: Final = "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7ff"
#: A word, or a character of a script without spaces.
_WORD: Final = re.compile(rf"[{_SPACELESS}]|[^\W{_SPACELESS}]+")


def traits_of(kind: str, text: str) -> int:
    """Return the number of a document.

    Args:
        kind: of the document; only messages have neighbours, and some kinds are kept on purpose.
        text: without its keywords.
    """
    is_kept = kind in KEPT_KINDS and not (kind == "episode" and text.startswith(PREVIEWS))
    found = MESSAGE if kind == "message" else KEPT if is_kept else 0
    if holds_time_expression(text):
        found |= TELLS_TIME
    if _ASKS.search(text):
        found |= ASKS | round(question_share(text) * SHARE_UNIT) << SHARE_SHIFT
    return found


def question_share(text: str) -> float:
    """Return which share of a text's words stands in sentences that end in a question mark.

    >>> question_share("That is late. Do you come?")
    0.5
    """
    asked = total = 0
    for sentence in _SENTENCE.findall(text):
        words = len(_WORD.findall(sentence))
        total += words
        asked += words if _ASKS.search(sentence) else 0
    return asked / total if total else 0.0
