"""A turn as it is told: each event is checked and goes to the spool at once; leaving the turn ends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Protocol, Self

from gitmem.errors import InvalidRecord, UsageError
from gitmem.records import LINKS, Event, Receipt, json_type, parse_event, record_ref
from gitmem.redaction import redact_values, refuse_secret
from gitmem.spool import End, SpoolFile
from gitmem.work_changes import check_work_event


class Recorder(Protocol):
    """What a turn asks of whoever opened it.

    Attributes:
        now: the wall clock, seconds since 1970.
        on_session: called with each `session` event before it is told; returns what is told instead.
    """

    now: Callable[[], float]
    on_session: Callable[[Event], Event]

    def branch(self) -> str:
        """Return the short name of the turn line; empty before its first turn."""
        ...

    def finish(self, turn: Turn, end: End) -> Receipt:
        """Acknowledge a turn and bring it to the line as far as that can be done now."""
        ...


@dataclass(slots=True)
class _Findings:
    records: list[dict[str, str]] = field(default_factory=list)
    redactions: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    bodies: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)


class Turn:
    """One turn, open. Use it in a `with`; leaving it acknowledges and commits.

    Attributes:
        id: the turn's id.
        receipt: what is true of it; set when it ends.
    """

    receipt: Receipt

    def __init__(self, recorder: Recorder, file: SpoolFile, header: Mapping[str, Any]) -> None:
        self.id = file.turn
        self.file = file
        self.findings = _Findings()
        self._recorder = recorder
        self._header = header
        self._ended = False

    def __enter__(self) -> Self:
        """Return the turn."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the turn: completed, or aborted if an exception passes through (which goes on)."""
        self.finish("aborted" if kind else "completed")

    def message(self, role: str, text: str, **fields: Any) -> str:
        """Tell of a message; return its source ref."""
        return self.event("message", role=role, text=text, **fields)

    def tool(
        self,
        tool: str,
        input: Any = None,  # noqa: A002 - the event's own word
        output: Any = None,
        *,
        status: str = "success",
        **fields: Any,
    ) -> str:
        """Tell of a tool execution; return its source ref."""
        return self.event("tool_execution", tool=tool, input=input, output=output, status=status, **fields)

    def brief(self, kind: str, text: str, **fields: Any) -> str:
        """Tell of an outcome (`ack result failure`); return its source ref."""
        return self.event("brief", brief_kind=kind, text=text, **fields)

    def decision(self, text: str, *, because: str | None = None, **fields: Any) -> str:
        """Tell of a decision; return its source ref."""
        return self.event("decision", text=text, because=because, **fields)

    def event(self, kind: str, /, **fields: Any) -> str:
        """Tell of any event; fields that are None are left out; return its source ref."""
        given = {name: value for name, value in fields.items() if value is not None}
        return self.add({"kind": kind, **given})["source_ref"]

    def add(self, raw: Mapping[str, Any], *, record_id: str | None = None) -> dict[str, str]:
        """Tell of an event as a JSON object; return its id, kind and source ref.

        Raises:
            InvalidRecord: the event is malformed; nothing of it was written.
        """
        return self.tell(take_event(raw, self.links, now=self._recorder.now(), record_id=record_id))

    def check_open(self) -> None:
        """Raise a `UsageError` if the turn has ended."""
        if self._ended:
            raise UsageError(f"turn {self.id} has ended", hint="Open a new turn.")

    def tell(self, event: Event) -> dict[str, str]:
        """Tell of an event that was parsed before."""
        self.check_open()
        if event.kind == "session" and "ts" not in self._header:  # an imported session is none of today's
            event = self._recorder.on_session(event)
        body, rules = redact_values(event.body)
        if rules:
            event = replace(event, body=body)
        self.file.add(event, rules=rules)
        self.findings.redactions += [{"rule": rule, "record": event.id} for rule in rules]
        return self.note(event)

    def note(self, event: Event) -> dict[str, str]:
        """Take an event that is in the spool already into the receipt."""
        record = {
            "id": event.id,
            "kind": event.kind,
            "source_ref": record_ref(event.kind, event.id, event.object),
        }
        self.findings.records.append(record)
        self.findings.bodies.append((event.id, event.body))
        if event.kind == "file":
            self.findings.paths.append(str(event.body.get("path")))
        return record

    def flush(self) -> None:
        """Make what was told so far durable."""
        self.file.flush()

    def finish(self, end: End) -> None:
        """End the turn; a turn in which nothing was told leaves nothing."""
        if self._ended:
            return
        if not self.findings.records:
            self._ended = True
            self.file.discard()
            self.receipt = Receipt(
                self.id, None, False, None, self._recorder.branch(), "nothing was told", False, False, []
            )
            return
        self.receipt = self._recorder.finish(self, end)

    def acknowledge(self, end: End, now: float, *, durable: bool = True) -> None:
        """Make the turn durable in the spool; nothing more can be told."""
        self._ended = True
        self.file.finish(end, now, durable=durable)

    def spool_only(self, *, durable: bool = True) -> None:
        """End the turn and leave it to a later `commit_spooled`, which takes many at once.

        Args:
            durable: without it a power cut before that commit may lose the turn.
        """
        self.acknowledge("completed", self._recorder.now(), durable=durable)

    def let_go(self) -> None:
        """Stop feeding the turn without ending it."""
        self._ended = True
        self.file.close()

    @property
    def session(self) -> str | None:
        """The session that its events belong to, unless they name another."""
        session: str | None = self._header.get("session")
        return session

    @property
    def links(self) -> dict[str, Any]:
        """The links that its events inherit."""
        return {name: self._header[name] for name in LINKS if name in self._header}


def take_event(raw: object, links: Mapping[str, Any], *, now: float, record_id: str | None = None) -> Event:
    """Check an event given as a JSON object; what it does not say of its links, it takes from `links`.

    Raises:
        InvalidRecord: it is malformed.
        ThreatFound: a secret stands where it cannot be replaced.
    """
    if not isinstance(raw, Mapping):
        raise InvalidRecord(f"an event is a JSON object, not {json_type(raw)}")
    event = parse_event({**links, **raw}, now=now, record_id=record_id)
    # What is imported was said elsewhere and stays as it is.
    return refuse_secret_names(check_work_event(event) if record_id is None else event)


def refuse_secret_names(event: Event) -> Event:
    """Refuse secrets where they cannot be replaced: ids become refs and stand where no redaction reaches."""
    for name in (*LINKS, "object"):
        refuse_secret(getattr(event, name) or "", name)
    return event
