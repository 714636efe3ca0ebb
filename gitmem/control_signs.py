"""Control characters as signs, so that a text that others wrote does not act on a terminal."""

from __future__ import annotations

import re
from typing import Final

#: All control characters but tabs and line feeds, and what turns the direction of the text around it: by that
#: a file's name reads as another one.
CONTROLS: Final = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
_CONTROLS: Final = re.compile(CONTROLS)
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
