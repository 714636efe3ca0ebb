"""Turns as evidence, put together without a home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.records import ID_PREFIXES, LIFECYCLE_KINDS, LINKS, Record
from gitmem.times import format_time
from gitmem.turn_evidence import TurnEvidence

WRITER = "w0123abcd"
START = 1_796_029_200.0  # 2026-11-30 09:00 UTC


class Past:
    """Turns of one writer, a minute apart; ids count."""

    def __init__(self) -> None:
        self.turns: list[TurnEvidence] = []
        self._seq = 0

    def turn(self, *events: Mapping[str, Any], end: str = "completed", **body: Any) -> TurnEvidence:
        """Add a turn that holds `events`, as callers give them, and return it."""
        number = len(self.turns) + 1
        turn_id = f"turn_{number:015x}"
        links: dict[str, Any] = {name: body.pop(name) for name in LINKS if name in body}
        records = tuple(self._record(turn_id, number, event, links) for event in events)
        own = {"kind": "turn", "turn_index": number, "end": end, **body}
        found = TurnEvidence(self._record(turn_id, number, own, links, turn_id), records)
        self.turns.append(found)
        return found

    def _record(
        self,
        turn_id: str,
        minute: int,
        event: Mapping[str, Any],
        links: Mapping[str, Any],
        record_id: str | None = None,
    ) -> Record:
        self._seq += 1
        kind = event["kind"]
        return Record(
            id=record_id or f"{ID_PREFIXES[kind]}_{self._seq:015x}",
            kind=kind,
            ts=format_time(START + 60 * minute),
            turn=turn_id,
            body={name: value for name, value in event.items() if name != "kind"},
            writer=WRITER,
            seq=self._seq,
            clock=f"{self._seq:016x}",
            object=event.get(f"{kind}_id") if kind in LIFECYCLE_KINDS else None,
            status=event.get("status") if kind in LIFECYCLE_KINDS else None,
            **links,
        )


def said(role: str, text: str, **fields: Any) -> dict[str, Any]:
    """Return a message."""
    return {"kind": "message", "role": role, "text": text, **fields}


def user(text: str, **fields: Any) -> dict[str, Any]:
    """Return a message of the operator, or of whom the fields say."""
    return said("user", text, **fields)


def agent(text: str) -> dict[str, Any]:
    """Return a message of the agent."""
    return said("assistant", text)


def tool(name: str, **fields: Any) -> dict[str, Any]:
    """Return a tool execution."""
    return {"kind": "tool_execution", "tool": name, "status": "success", **fields}


def brief(kind: str, text: str) -> dict[str, Any]:
    """Return a brief."""
    return {"kind": "brief", "brief_kind": kind, "text": text}


def texts_of(turns: Sequence[TurnEvidence], role: str = "user") -> list[str]:
    """Return the texts of all messages of a role."""
    return [r.body["text"] for t in turns for r in t.of_kind("message") if r.body["role"] == role]
