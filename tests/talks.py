"""Conversations to search: told to a home in few words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fixtures import set_identity
from gitmem import AgentHome
from turns import put_on_line

Event = dict[str, Any]


def said(*texts: str, role: str = "user") -> list[Event]:
    """Return messages of alternating speakers, the first by `role`."""
    other = {"user": "assistant", "assistant": "user"}
    events = []
    for text in texts:
        events.append({"kind": "message", "role": role, "text": text})
        role = other.get(role, role)
    return events


def numbered(count: int, special: int | None = None, word: str = "zebra") -> list[Event]:
    """Return messages, one of which holds a word."""
    texts = (f"{word} crossing" if number == special else f"talk {number}" for number in range(1, count + 1))
    return said(*texts)


def happened(event: str, **fields: Any) -> Event:
    """Return a session event."""
    return {"kind": "session", "event": event, **fields}


def talk(home: AgentHome, session: str | None, *events: Event | Sequence[Event], **start: Any) -> list[str]:
    """Record a conversation, with a `start` if something is said of it; return the ids of its messages.

    Args:
        home: where.
        session: its id.
        events: messages and other events, or lists of them.
        start: fields of the session event that begins it.
    """
    told: list[Event] = [happened("start", **start)] if start else []
    for one in events:
        told += [one] if isinstance(one, Mapping) else one
    receipt = home.record(told, session=session)
    return [one["id"] for one in receipt.records if one["kind"] in ("message", "tool_execution")]


def forget(home: AgentHome, record_id: str) -> None:
    """Forget a record, as another machine's receipt does that comes in with its line."""
    path = f"ledger/forgotten/record/{record_id.partition('_')[2][:2]}/{record_id}.jsonl"
    ref = "refs/heads/gitmem/turns/w0000000f"
    set_identity(home.layout.root)
    put_on_line(home.layout.root, ref, {path: b"{}\n"}, home_id=home.config.home_id)


def ids(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the ids of a reply's messages."""
    return [one["id"] for one in messages]


def contents(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the texts of a reply's messages."""
    return [one["content"] for one in messages]


def found(reply: Mapping[str, Any]) -> list[str]:
    """Return the sessions of a reply's results."""
    assert reply["success"], reply
    return [one["session_id"] for one in reply["results"]]


def size(reply: dict[str, Any]) -> int:
    """Return how many characters a reply takes."""
    return len(json.dumps(reply, ensure_ascii=False))
