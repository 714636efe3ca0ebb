"""The messages of a session as replies tell them: read from the ledger when they are shown, never kept."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.agent_sight import AgentSight, Reader
from gitmem.errors import GitmemError, InvalidRecord
from gitmem.judgement_rules import subject_of
from gitmem.judgements import Judgements
from gitmem.ledger import Ledger
from gitmem.long_text import needs_blob
from gitmem.memory_text import output_text
from gitmem.quarantine import Quarantine
from gitmem.records import Record
from gitmem.session_map import SessionMap
from gitmem.session_reply import MESSAGE_CHARS, ToldMessage, clip_to, format_when, short
from gitmem.session_view import SessionView
from gitmem.times import parse_timestamp

#: What is told of a message besides its text takes at most so much of a reply.
_NAME_CHARS: Final = 80
_CALLS_CHARS: Final = 300
_REASON_CHARS: Final = 120
_TITLE_CHARS: Final = 120
_PREVIEW_CHARS: Final = 60
#: So many words of a snippet find its place in the message.
_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class Audience:
    """For whom messages are told.

    Attributes:
        by: who reads.
        retracted: refs that were retracted.
    """

    by: Reader
    retracted: Container[str]


class SessionMessages:
    """Tells of messages and sessions.

    Args:
        ledger: has the long texts.
        sessions: where everything stands.
        judgements: knows what was retracted.
        sight: what an agent may see of a retraction.
        quarantine: what an agent may not see at all.
    """

    def __init__(
        self,
        ledger: Ledger,
        sessions: SessionMap,
        judgements: Judgements,
        sight: AgentSight,
        quarantine: Quarantine,
    ) -> None:
        self._ledger = ledger
        self._sessions = sessions
        self._judgements = judgements
        self._sight = sight
        self._quarantine = quarantine

    def audience(self, by: Reader) -> Audience:
        """Return what has to be known of a reader for one reply."""
        return Audience(by, self._judgements.retracted())

    def told(
        self,
        view: SessionView,
        places: Sequence[int],
        audience: Audience,
        *,
        anchor: int | None = None,
        snippet: str = "",
        most: int = MESSAGE_CHARS,
    ) -> list[ToldMessage]:
        """Return the messages at some places of a session; one that was forgotten meanwhile is left out.

        Args:
            view: the session.
            places: of the messages.
            audience: for whom.
            anchor: the place that is marked.
            snippet: a piece of the anchor that has to be seen.
            most: characters of each at most.
        """
        found = []
        for at, record in zip(places, self._sessions.read(view, places), strict=True):
            if record is None:
                continue
            fields, text, ref = self._facts(record, audience.by)
            if at == anchor:
                fields["anchor"] = True
            if subject_of(record.source_ref) in audience.retracted:
                fields |= self._retraction(record, audience.by)
            focus = _place_of(snippet, text) if at == anchor and snippet else 0
            found.append(ToldMessage(fields, text, ref, most, focus))
        return found

    def meta(self, session: str, by: Reader) -> dict[str, Any]:
        """Return what every reply says of a session: when it began, its source, model and title."""
        facts = self._sessions.facts(session)
        return {
            "when": format_when(seconds_of(facts.first)),
            "source": short(facts.source, _NAME_CHARS) or "unknown",
            "model": short(facts.model, _NAME_CHARS) or "unknown",
            "title": self.title(session, by),
        }

    def title(self, session: str, by: Reader) -> str | None:
        """Return a session's title; None where it has none, or one that its reader may not see."""
        titled = self._sessions.facts(session).titled
        record = None if titled is None else self._sessions.read_row(*titled)
        title = None if record is None or self._held(record, by) else self._body(record).get("title")
        return short(title, _TITLE_CHARS) if isinstance(title, str) else None

    def preview(self, view: SessionView, by: Reader) -> str:
        """Return how a session begins: its first message of a user, on one line."""
        first = view.first_spoken()
        for record in [] if first is None else self._sessions.read(view, [first]):
            text = "" if record is None or self._held(record, by) else str(record.body.get("text"))
            # Of so long a text the record itself has the head.
            line = re.sub(r"\s*[\r\n]+\s*", " ", text[: 8 * _PREVIEW_CHARS]).strip()
            return line if len(line) <= _PREVIEW_CHARS else line[:_PREVIEW_CHARS] + "..."
        return ""

    def _held(self, record: Record, by: Reader) -> tuple[str, ...]:
        """Return the rules for which a record is kept from its reader."""
        return self._quarantine.record(record) if by == "agent" else ()

    def _facts(self, record: Record, by: Reader) -> tuple[dict[str, Any], str, str]:
        """Return what is told of a record besides its text, its text, and under which ref that is read."""
        rules = self._quarantine.record(record)
        fields, text, ref = self._all_facts(record)
        if not rules:
            return fields, text, ref
        marked = {**fields, "quarantined": list(rules)}
        if by == "operator":
            return marked, text, ref
        told = ("id", "role", "timestamp", "quarantined")
        return {name: marked[name] for name in told}, "", ref

    def _all_facts(self, record: Record) -> tuple[dict[str, Any], str, str]:
        body = self._body(record)
        is_run = record.kind == "tool_execution"
        text = output_text(body.get("output"), "output") if is_run else body.get("text")
        fields: dict[str, Any] = {
            "id": record.id,
            "role": "tool" if is_run else clip_to(str(body.get("role")), _NAME_CHARS),
            "timestamp": seconds_of(record.ts),
            **(_run_fields(body) if is_run else _call_fields(body)),
        }
        ref = f"tool_execution:{record.id}:output" if is_run else record.source_ref
        return fields, text if isinstance(text, str) else "", ref

    def _retraction(self, record: Record, by: Reader) -> dict[str, Any]:
        judgement = self._judgements.of(record.source_ref)
        if judgement is None:
            return {}
        facts: Mapping[str, Any] = judgement.as_metadata()
        if by == "agent":
            facts = self._sight.retracted(facts)
        known = ((name, facts.get(name)) for name in ("at", "by", "reason", "with"))
        said = {name: short(text, _REASON_CHARS) for name, text in known if isinstance(text, str)}
        return {"retracted": said}

    def _body(self, record: Record) -> Mapping[str, Any]:
        """Return a record's body, with what the line has of long texts where they are gone."""
        if not needs_blob(record.body):
            return record.body
        try:
            return self._ledger.full_body(record)
        except GitmemError:
            return record.body


def seconds_of(ts: str) -> float | None:
    """Return a record's time as seconds since 1970; None without one."""
    try:
        return parse_timestamp(ts) if ts else None
    except InvalidRecord:
        return None


def _run_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told of a tool run: which tool, and with what."""
    tool = clip_to(str(body.get("tool")), _NAME_CHARS)
    call = {"name": tool, "arguments": body.get("input")}
    return {"tool_name": tool, **(_bounded_calls([call]) if body.get("input") is not None else {})}


def _call_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: body.get(name) for name in ("tool_name", "tool_call_id")}
    fields = {name: clip_to(str(value), _NAME_CHARS) for name, value in named.items() if value}
    calls = body.get("tool_calls")
    return {**fields, **(_bounded_calls(calls) if calls else {})}


def _bounded_calls(calls: Any) -> dict[str, Any]:
    """Return calls of tools as they are, or the beginning of their JSON where that is long."""
    text = json.dumps(calls, ensure_ascii=False)
    if len(text) <= _CALLS_CHARS:
        return {"tool_calls": calls}
    return {"tool_calls": clip_to(text, _CALLS_CHARS), "tool_calls_truncated": True}


def _place_of(snippet: str, text: str) -> int:
    """Return where a text has what a snippet shows, 0 if that cannot be told."""
    marked = snippet.find(">>>")
    words = snippet[max(marked, 0) :].replace(">>>", "").replace("<<<", "").removesuffix("...").split()
    if not words:
        return 0
    wanted = r"\s+".join(map(re.escape, words[:_WORDS]))
    found = re.search(wanted, text)
    return found.start() if found else 0
