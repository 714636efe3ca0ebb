"""Titles as file names: letters and digits of any script, lower case, hyphens between."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MAX_SLUG: Final = 40

_HYPHENS: Final = re.compile("-+")


def make_slug(text: str) -> str:
    """Return at most 40 characters of a text, safe as a name everywhere; empty without words."""
    lowered = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
    kept = "".join(char if unicodedata.category(char)[0] in "LNM" else "-" for char in lowered)
    slug = _HYPHENS.sub("-", kept).lstrip("-")
    # A mark (an accent, a vowel sign) belongs to the letter before it and begins no name.
    while slug and unicodedata.category(slug[0])[0] == "M":
        slug = slug[1:].lstrip("-")
    return slug[:MAX_SLUG].rstrip("-")
