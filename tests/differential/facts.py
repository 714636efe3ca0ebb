"""What two memory tools are compared by: an answer reduced to facts, no sentence of either kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

#: An answer as JSON: `keys`, `success`, `category` and whatever of `KEPT` the reply has; or `raised`.
Facts = dict[str, Any]

KEPT: Final = ("success", "done", "target", "usage", "entry_count", "current_entries", "matches")

_POSITION: Final = re.compile(r"Operation (\d+)(?: \(([^)]*)\))?: ")
_BLOCKED: Final = re.compile(
    r"Blocked:.*?(?:invisible unicode character (U\+[0-9A-F]+)|threat pattern '([\w:-]+)')"
)
_NUMBER: Final = re.compile(r"\d[\d,]*")


def facts_of(reply: Mapping[str, Any]) -> Facts:
    """Return the facts of a reply: its keys, its figures and lists, and what kind of answer it is."""
    facts: Facts = {"keys": sorted(reply)}
    facts |= {name: reply[name] for name in KEPT if name in reply}
    facts["category"] = _category(reply)
    if facts["category"] == "overflow":
        facts["numbers"] = sorted({int(found.replace(",", "")) for found in _NUMBER.findall(reply["error"])})
    return facts


def _category(reply: Mapping[str, Any]) -> str:
    """Return the kind of answer, by the words that specification and models rely on."""
    if reply.get("success") is True:
        return "staged" if reply.get("staged") else _kind_of_success(reply["message"])
    if reply.get("done") is True:
        return "capped"
    if "drift_backup" in reply:
        return "drift"
    if "matches" in reply:
        return "several"
    return _kind_of_error(reply)


def _kind_of_success(message: str) -> str:
    lowered = message.lower()
    applied = re.match(r"applied (\d+) operation", lowered)
    if applied:
        return f"applied {applied[1]}"
    kinds = ("duplicate", "added", "replaced", "removed")
    return next((kind for kind in kinds if kind in lowered), f"unknown message {message!r}")


def _kind_of_error(reply: Mapping[str, Any]) -> str:
    error = str(reply["error"])
    position = _POSITION.match(error)
    rest = error[position.end() :] if position else error
    blocked = _BLOCKED.match(rest)
    if blocked:
        where = f" in {position[1]}" if position else ""
        return f"blocked{where} by {blocked[1] or blocked[2]}"
    if position:
        return f"aborted at {position[1]} ({position[2]})"
    if "current_entries" in reply:
        return _kind_of_listing(reply, error)
    if "unknown action" in error.lower():
        return "refused: action"
    named = ("operations", "target", "old_text", "content")
    return "refused: " + next((name for name in named if name in error.lower()), "?")


def _kind_of_listing(reply: Mapping[str, Any], error: str) -> str:
    if "usage" not in reply:
        return "no match"
    return "missing old_text" if "old_text" in error else "overflow"
