"""Changes of notes and memory: one commit on the operator's branch, one record in the ledger, one reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gitmem.branch_changes import PathChange, WriteOutcome
from gitmem.git_objects import hash_object
from gitmem.json_view import JsonView
from gitmem.operator_branch import OperatorBranch
from gitmem.records import Event, mint_id
from gitmem.scanner import redact_secrets
from gitmem.subjects import KIND, REASON, SESSION, SOURCE, TURN, format_message
from gitmem.times import format_time
from gitmem.turn import Turn, TurnRecorder

Author = Literal["agent", "operator"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who changes something, and what led to it.

    Attributes:
        author: an operator's change is their commit; an agent's leaves a record in the ledger too.
        session: id of the conversation.
        turn: the open turn that the change belongs to, or the id of the turn that caused it.
        source: ref of the message that led to it.
        reason: in words.
    """

    author: Author = "agent"
    session: str | None = None
    turn: Turn | str | None = None
    source: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class WriteReply(JsonView):
    """What is true of a change when it is reported.

    Attributes:
        committed: the commit on the operator's branch; None while it waits, with `reason`.
        source_ref: the address of what was changed.
        unchanged: it was so already, and nothing was committed.
        conflicts: copies of texts that lost a merge on the way.
        record: the address of the ledger's record of the change.
    """

    committed: str | None
    reason: str | None
    source_ref: str
    path: str
    on_disk: bool = True
    unchanged: bool = False
    conflicts: Sequence[str] = ()
    record: str | None = None
    redactions: Sequence[str] = ()


class Authoring:
    """Writes what people and agents edit together.

    Args:
        branch: takes the commits.
        recorder: takes the records.
        agent: the agent's `Name <mail>`.
        operator: returns the operator's.
        now: the wall clock, seconds since 1970.
    """

    def __init__(
        self,
        branch: OperatorBranch,
        recorder: TurnRecorder,
        *,
        agent: str,
        operator: Callable[[], str],
        now: Callable[[], float],
    ) -> None:
        self._branch = branch
        self._recorder = recorder
        self._agent = agent
        self._operator = operator
        self._now = now

    def write(
        self,
        changes: Sequence[PathChange],
        *,
        kind: str,
        action: str,
        subject: str,
        source_ref: str,
        by: Provenance,
    ) -> WriteReply:
        """Change files of the operator's branch.

        Args:
            changes: what to change; their secrets are replaced before anything is written.
            kind: `note`, `memory`, …: the trailer `Gitmem-Kind`, and the record's target.
            action: `add edit append move remove`.
            subject: the commit's first line.
            source_ref: the address of what is changed, for the reply.
            by: who, and why.
        """
        clean, rules = _without_secrets(changes)
        event = self._event(clean, kind, action, by) if by.author == "agent" else None
        turn_id = self._turn_id(by, event)
        message = format_message(subject, self._trailers(kind, turn_id, by))
        author = self._agent if by.author == "agent" else self._operator()
        record = None if event is None else lambda: self._tell(event, turn_id, by)
        outcome = self._branch.write(
            clean, message=message, author=author, operation=f"{kind} {action}", turn=turn_id, record=record
        )
        return self._reply(outcome, clean, source_ref, event, rules)

    def _event(self, changes: Sequence[PathChange], kind: str, action: str, by: Provenance) -> Event:
        files = [
            {
                "path": c.path,
                "before": c.base,
                "after": None if c.result is None else hash_object("blob", c.result),
            }
            for c in changes
        ]
        body: dict[str, Any] = {"target": kind, "action": action, "files": files}
        body |= {name: text for name, text in (("reason", by.reason), ("source", by.source)) if text}
        if isinstance(by.turn, str):
            body["cause"] = by.turn
        return Event(mint_id("memory"), "memory", format_time(self._now()), body, session=self._session(by))

    def _turn_id(self, by: Provenance, event: Event | None) -> str | None:
        if isinstance(by.turn, Turn):
            return by.turn.id
        return by.turn if event is None or by.turn is not None else mint_id("turn")

    def _trailers(self, kind: str, turn_id: str | None, by: Provenance) -> list[tuple[str, str | None]]:
        session = self._session(by)
        return [(KIND, kind), (TURN, turn_id), (SESSION, session), (SOURCE, by.source), (REASON, by.reason)]

    def _session(self, by: Provenance) -> str | None:
        if by.session is None and isinstance(by.turn, Turn):
            return by.turn.session
        return by.session

    def _tell(self, event: Event, turn_id: str | None, by: Provenance) -> None:
        """Put the record of the change into the spool, from where nothing loses it."""
        if isinstance(by.turn, Turn):
            by.turn.tell(event)
            return
        own = turn_id if by.turn is None else None
        turn = self._recorder.open(session=by.session, turn_id=own)
        turn.tell(event)
        turn.spool_only()

    def _reply(
        self,
        outcome: WriteOutcome,
        changes: Sequence[PathChange],
        source_ref: str,
        event: Event | None,
        rules: Sequence[str],
    ) -> WriteReply:
        if event is not None:
            self._recorder.commit_waiting()
        kept = [change.path for change in changes if change.result is not None]
        return WriteReply(
            committed=outcome.committed,
            reason=outcome.reason,
            source_ref=source_ref,
            path=(kept or [changes[0].path])[0],
            on_disk=outcome.on_disk,
            unchanged=outcome.unchanged,
            conflicts=outcome.conflicts,
            record=None if event is None or outcome.unchanged else f"memory:{event.id}",
            redactions=rules,
        )


def _without_secrets(changes: Sequence[PathChange]) -> tuple[list[PathChange], list[str]]:
    clean, rules = [], []
    for change in changes:
        result = change.result
        if result is not None:
            text, hits = redact_secrets(result.decode("utf-8", "surrogateescape"))
            if hits:
                result = text.encode("utf-8", "surrogateescape")
                rules += hits
        clean.append(PathChange(change.path, change.base, result))
    return clean, rules
