"""Tags in every shape that people and agents write them, as lower-case words once each."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from gitmem.authored_text import one_line

_COMMA: Final = re.compile("[,，、]")
_HASH_WORDS: Final = re.compile(r"#\S+(?:\s+#\S+)+")
_QUOTES: Final = "\"'"


def normalise_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the tags that the texts name, in order.

    A text may be one tag, a list with commas, a JSON list, or words that each begin with `#`.
    """
    tags = (_clean(piece) for text in texts for piece in _pieces(text.strip()))
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _pieces(text: str) -> Iterator[str]:
    if text.startswith("[") and text.endswith("]"):
        listed = _json_list(text)
        if listed is not None:
            yield from listed
            return
        text = text[1:-1]
    yield from text.split() if _HASH_WORDS.fullmatch(text) else _COMMA.split(text)


def _json_list(text: str) -> list[str] | None:
    try:
        items = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return [item for item in items if isinstance(item, str)]


def _clean(piece: str) -> str:
    word = piece.strip()
    if len(word) > 1 and word[0] == word[-1] and word[0] in _QUOTES:
        word = word[1:-1]
    return unicodedata.normalize("NFC", one_line(word).lstrip("#").strip()).lower()
