"""Control characters as signs, so that a text that others wrote does not act on a terminal."""

from __future__ import annotations

import re
from typing import Final

#: All control characters but tabs and line feeds.
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_DELETE: Final = 0x7F


def show_controls(text: str) -> str:
    """Return a text with a visible sign for each control character but tab and line feed."""
    return _CONTROLS.sub(lambda found: control_sign(found[0]), text.replace("\r\n", "\n"))


def control_sign(control: str) -> str:
    """Return the sign that stands for a control character."""
    code = ord(control)
    if code > _DELETE:
        return "\N{REPLACEMENT CHARACTER}"
    return "\N{SYMBOL FOR DELETE}" if code == _DELETE else chr(0x2400 + code)
