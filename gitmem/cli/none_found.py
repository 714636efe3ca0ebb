"""What an empty list says: that there is nothing, or nothing of what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any

#: Options that say where a list begins and ends, not what is on it; and whose focus is marked.
_NOT_NARROWING = frozenset({"limit", "session"})


def none_found(what: str, asked: Mapping[str, Any], *, otherwise: str = "") -> str:
    """Return the line that stands for an empty list.

    Args:
        what: is listed, in the plural.
        asked: the options that it was asked for with, by their names with underscores; None and `all` ask for
            everything.
        otherwise: what to say where everything was asked for, and there is nothing.
    """
    narrowing = [
        f"--{name.replace('_', '-')} {quote(str(value))}"
        for name, value in asked.items()
        if name not in _NOT_NARROWING and value not in (None, "all")
    ]
    if narrowing:
        return f"No {what} with {' '.join(narrowing)}."
    return f"No {what}. {otherwise}".rstrip()
