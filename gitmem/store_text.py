"""A memory store as paragraphs, for people who look at it with Git: one entry, one paragraph."""

from __future__ import annotations

from typing import Final

from gitmem.authored_text import BOM, LINE_BREAK
from gitmem.control_signs import show_controls

_MARK: Final = "§"


def render_store(content: bytes) -> str:
    """Return a store's text with a blank line for each delimiter; nothing else of it is left out.

    Line by line, as `git blame` and `git diff` tell of lines.
    """
    text = content.decode("utf-8", "replace").removeprefix(BOM)
    lines = ["" if line.strip() == _MARK else line for line in LINE_BREAK.split(text)]
    return show_controls("\n".join(lines))
