"""Conversations as people read them in a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from gitmem.control_signs import show_controls
from gitmem.counted import counted

_Json = Mapping[str, Any]


def describe(reply: _Json) -> str:
    """Return a reply of a session search for people; their own clock tells the times."""
    told = {"browse": _browse, "discover": _discover, "scroll": _scroll, "read": _read}[reply["mode"]]
    return "\n".join(told(_harmless(reply)))


def _harmless(value: Any) -> Any:
    """Return a reply with signs for control characters: colors of the texts' own could hide parts of them."""
    if isinstance(value, str):
        return show_controls(value)
    if isinstance(value, Mapping):
        return {name: _harmless(part) for name, part in value.items()}
    return [_harmless(part) for part in value] if isinstance(value, list | tuple) else value


def _browse(reply: _Json) -> Iterator[str]:
    if not reply["results"]:
        yield "No conversations yet."
    for one in reply["results"]:
        name = one["title"] or one["preview"] or one["session_id"]
        yield f"{_bold(name)}  {_dim(_time(one['last_active']))}"
        source = "" if one["source"] == "unknown" else f"{one['source']}, "
        if one["title"] and one["preview"]:
            yield f"    {one['preview']}"
        yield _dim(f"    {one['session_id']}  {source}{counted(one['message_count'], 'message')}")


def _discover(reply: _Json) -> Iterator[str]:
    if not reply["results"]:
        yield reply["message"]
    for number, one in enumerate(reply["results"], start=1):
        yield f"{number:>2}. {_bold(one['title'] or one['session_id'])}  {_dim(one['when'])}"
        yield f"    {_marked(one['snippet'])}"
        yield _dim(f"    gitmem sessions scroll {one['session_id']} {one['match_message_id']}")


def _scroll(reply: _Json) -> Iterator[str]:
    yield _head(reply)
    if "warning" in reply:
        yield click.style(reply["warning"], fg="yellow")
    yield from _conversation(reply["messages"])
    for name, word in (("previous", "before"), ("next", "on")):
        if name in reply:
            step = reply[name]
            line = f"gitmem sessions scroll {step['session_id']} {step['around_message_id']}"
            yield _dim(f"… {word}: {line} --window {reply['window']}")


def _read(reply: _Json) -> Iterator[str]:
    yield _head(reply)
    messages = reply["messages"]
    if not reply["truncated"]:
        yield from _conversation(messages)
        return
    left_out = reply["message_count"] - len(messages)
    gap = next((at for at, one in enumerate(messages) if one["id"] in reply["message"]), len(messages) - 1)
    yield from _conversation(messages[: gap + 1])
    line = f"gitmem sessions scroll {reply['session_id']} {messages[gap]['id']} --window 20"
    yield _dim(f"… {left_out} more: {line}")
    yield from _conversation(messages[gap + 1 :])


def _head(reply: _Json) -> str:
    meta = reply["session_meta"]
    known = [meta[name] for name in ("source", "model") if meta[name] != "unknown"]
    return f"{_bold(meta['title'] or reply['session_id'])}  {_dim(', '.join([meta['when'], *known]))}"


def _conversation(messages: Sequence[_Json]) -> Iterator[str]:
    for one in messages:
        who = one["role"] + (f" {one['tool_name']}" if "tool_name" in one else "")
        mark = click.style(" <", fg="green") if one.get("anchor") else ""
        yield ""
        yield f"{click.style(who, fg='cyan')}{mark}  {_dim(one['id'])}"
        yield one["content"] + ("" if not one.get("content_truncated") else " …")
        if "next_offset" in one:
            yield _dim(f"… gitmem get {one['source_ref']} --offset {one['next_offset']}")
        if "retracted" in one:
            instead = one["retracted"].get("with")
            yield click.style(f"retracted{f'; instead: {instead}' if instead else ''}", fg="yellow")


def _marked(snippet: str) -> str:
    """Return a snippet on one line, its marks as color."""
    parts = " ".join(snippet.split()).split(">>>")
    shown = [parts[0]]
    for part in parts[1:]:
        found, _, rest = part.partition("<<<")
        shown += [click.style(found, bold=True), rest]
    return "".join(shown)


def _time(seconds: float | None) -> str:
    return "" if seconds is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _bold(text: str) -> str:
    return click.style(text, bold=True)


def _dim(text: str) -> str:
    return click.style(text, dim=True)
