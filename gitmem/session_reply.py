"""Replies of a session search: bounded to the character, with what was cut marked and the way to the rest."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gitmem.search_reply import Hit

#: Characters of a reply at most, as JSON text in which only what must be is escaped.
REPLY_CHARS: Final = 40_000
#: Characters of a message at most, and of one that only shows how a conversation began or ended.
MESSAGE_CHARS: Final = 4_000
BOOKEND_CHARS: Final = 1_200
#: A character that has to be escaped takes so many.
_MOST_ESCAPED: Final = 6
#: No message takes more of a reply.
_UNCUT: Final = _MOST_ESCAPED * MESSAGE_CHARS
#: Characters before the place in a long message that the question found.
_BEFORE: Final = 200
#: What can be left out of a message that `get` tells of it too.
_SIDE_FIELDS: Final = frozenset({"tool_calls", "tool_calls_truncated", "retracted"})
#: Below this, fewer messages are shown instead of shorter ones.
_LEAST: Final = 100
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_DAY: Final = 86_400
_FURTHEST: Final = 253_402_214_400.0


@dataclass(frozen=True, slots=True)
class ToldMessage:
    """A message on its way into a reply.

    Attributes:
        fields: what is told of it besides its text, and what is told of it after its text.
        text: all of it.
        ref: under which `get` reads all of it.
        most: characters at most.
        focus: the place in the text that has to be seen.
    """

    fields: Mapping[str, Any]
    text: str
    ref: str
    most: int = MESSAGE_CHARS
    focus: int = 0


#: A reply in which messages stand where they belong, before their texts are cut.
Draft = dict[str, Any]


def fit(draft: Draft, shrink: Callable[[Draft], bool] = lambda _: False) -> dict[str, Any]:
    """Return a reply that is no longer than `REPLY_CHARS`, its `ToldMessage`s made into objects.

    All messages get the same room; what a short one leaves, the long ones get.

    Args:
        draft: the reply.
        shrink: takes something out of the draft where there is too much for the room; says whether it did.
    """
    while True:
        reply: dict[str, Any] = _made(draft, _UNCUT)
        if _size(reply) <= REPLY_CHARS:
            return reply
        told = _messages_in(draft)
        room = REPLY_CHARS - _size(_made(draft, 0))  # with the marks of all that can be cut
        if room < _LEAST * len(told) and shrink(draft):
            continue
        return _bounded(draft, _level([_length(one.text[: one.most]) for one in told], room))


def _bounded(draft: Draft, level: int) -> dict[str, Any]:
    while True:
        reply: dict[str, Any] = _made(draft, level)
        if level <= 0 or _size(reply) <= REPLY_CHARS:
            return reply
        level = level * 3 // 4


def _level(lengths: Sequence[int], room: int) -> int:
    """Return the most that each may take so that all together stay within the room."""
    left = max(room, 0)
    waiting = sorted(lengths)
    while waiting:
        share = left // len(waiting)
        if waiting[0] > share:
            return share
        left -= waiting.pop(0)
    return _UNCUT


def leave_out_calls(draft: Draft) -> bool:
    """Leave out of all messages what is told besides their texts; say whether that left out anything."""
    told: list[ToldMessage] = draft["messages"]
    shorter = [
        replace(one, fields={**_without(one.fields, _SIDE_FIELDS), "details_left_out": True})
        if _SIDE_FIELDS & one.fields.keys()
        else one
        for one in told
    ]
    draft["messages"] = shorter
    return shorter != told


def _without(fields: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def _messages_in(value: Any) -> Sequence[ToldMessage]:
    if isinstance(value, ToldMessage):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for part in parts for found in _messages_in(part)]


def _made(value: Any, level: int) -> Any:
    if isinstance(value, ToldMessage):
        return cut_message(value, level)
    if isinstance(value, dict):
        return {name: _made(part, level) for name, part in value.items()}
    return [_made(part, level) for part in value] if isinstance(value, list) else value


def cut_message(told: ToldMessage, level: int) -> dict[str, Any]:
    """Return a message whose text takes at most `level` characters of the reply, and no more than it may."""
    most = min(told.most, level)
    text = told.text
    start = 0
    if len(text) > most:
        start = min(max(0, told.focus - min(_BEFORE, most // 4)), max(0, len(text) - most))
        text = text[start : start + most]
    text = clip_to(text, level)
    message = {**told.fields, "content": text}
    if len(text) < len(told.text):
        end = start + len(text)
        message["content_truncated"] = True
        message["original_content_chars"] = len(told.text)
        if start:
            message["content_offset"] = start
        if end < len(told.text):
            message["next_offset"] = end
        message["source_ref"] = told.ref
    return {name: message[name] for name in _ordered(message)}


def _ordered(message: Mapping[str, Any]) -> Sequence[str]:
    first = [name for name in ("id", "role", "content", "timestamp") if name in message]
    return [*first, *(name for name in message if name not in first)]


def clip_to(text: str, most: int) -> str:
    """Return the beginning of a text that takes at most `most` characters in JSON."""
    if _MOST_ESCAPED * len(text) <= most:
        return text
    text = text[: max(most, 0)]
    if _length(text) <= most:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _length(text[:middle]) <= most else (low, middle - 1)
    return text[:low]


def short(text: str, most: int) -> str:
    """Return a text on one line, cut with an ellipsis where it takes more than `most` characters in JSON."""
    line = " ".join(text[: 4 * most].split())
    clipped = clip_to(line, most)
    return clipped if clipped == line else clip_to(line, most - 3) + "..."


def _length(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False)) - 2


def _size(reply: Any) -> int:
    return len(json.dumps(reply, ensure_ascii=False))


def marked_snippet(hit: Hit) -> str:
    """Return a hit's snippet with the words that were found between `>>>` and `<<<`, and `...` for cuts."""
    parts, at = [], 0
    for start, end in hit.highlights:
        parts += [hit.snippet[at:start], ">>>", hit.snippet[start:end], "<<<"]
        at = end
    marked = "".join([*parts, hit.snippet[at:]])
    if hit.snippet.startswith("…"):
        marked = "..." + marked.removeprefix("…")
    return marked.removesuffix("…") + "..." if hit.snippet.endswith("…") else marked


def format_when(seconds: float | None) -> str:
    """Return a time as people say it, where this machine is: `November 30, 2026 at 09:59 AM`."""
    if seconds is None or not -_DAY <= seconds < _FURTHEST:
        return "unknown"
    at = time.localtime(seconds)
    half, hour = "AM" if at.tm_hour < 12 else "PM", at.tm_hour % 12 or 12
    month = _MONTHS[at.tm_mon - 1]
    return f"{month} {at.tm_mday:02d}, {at.tm_year:04d} at {hour:02d}:{at.tm_min:02d} {half}"
