"""Opens turns and brings what was told in them to the turn line."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from gitmem.errors import GitmemError, HomeLocked, ThreatFound, UsageError
from gitmem.late_list import LateList
from gitmem.line_draft import CommittedTurn
from gitmem.records import Event, Receipt, check_name, mint_id
from gitmem.redaction import refuse_secret
from gitmem.spool import End, Spool, SpooledTurn, SpoolFile, read_turn
from gitmem.times import format_time
from gitmem.turn import Turn, take_event
from gitmem.turn_line import TurnLine

#: Seconds a turn waits for the home's lock before it reports that it is only in the spool.
LOCK_WAIT: Final = 2.0
_TURN_ID: Final = re.compile(r"turn_[0-9a-f]{15}")


class TurnRecorder:
    """Opens turns and brings them to the turn line.

    Args:
        spool: where events go first.
        line: where turns end.
        now: the wall clock, seconds since 1970.
        on_files: called with the paths that a turn's `file` events name, before the turn ends.
        on_session: called with each `session` event before it is told; returns what is told instead.
        judge: returns the receipt's warnings of events, by their ids and bodies; called if they are read.
        on_committed: called when turns came to the line; returns warnings for the receipt.
    """

    def __init__(
        self,
        spool: Spool,
        line: TurnLine,
        *,
        now: Callable[[], float] = time.time,
        on_files: Callable[[Sequence[str], Turn], Sequence[str]] = lambda paths, turn: (),  # noqa: ARG005
        on_session: Callable[[Event], Event] = lambda event: event,
        judge: Callable[[Sequence[tuple[str, Mapping[str, Any]]]], Iterable[str]] = lambda told: (),  # noqa: ARG005
        on_committed: Callable[[], Sequence[str]] = lambda: (),
    ) -> None:
        self.spool = spool
        self.line = line
        self.now = now
        self.on_session = on_session
        self._on_files = on_files
        self._judge = judge
        self._on_committed = on_committed

    def open(
        self,
        *,
        session: str | None = None,
        workspace: str | None = None,
        work_item: str | None = None,
        turn_id: str | None = None,
        ts: str | None = None,
    ) -> Turn:
        """Begin a turn; the arguments are links that its events inherit."""
        return Turn(self, *self._begin(session, workspace, work_item, turn_id, ts))

    def record(
        self,
        events: Sequence[Mapping[str, Any]],
        *,
        session: str | None = None,
        workspace: str | None = None,
        work_item: str | None = None,
    ) -> Receipt:
        """Record one whole turn from JSON events; if one of them is invalid, nothing of it is written."""
        if not events:
            hint = 'For example: {"kind": "message", "role": "user", "text": "…"}'
            raise UsageError("a turn needs at least one event", hint=hint)
        links = {"session": session, "workspace": workspace, "work_item": work_item}
        parsed = self._parse(events, links)
        with self.open(session=session, workspace=workspace, work_item=work_item) as turn:
            for event in parsed:
                turn.tell(event)
        return turn.receipt

    def open_held(
        self, *, session: str | None = None, workspace: str | None = None, work_item: str | None = None
    ) -> str:
        """Begin a turn that several processes feed; return its id."""
        links = {"session": session, "workspace": workspace, "work_item": work_item}
        turn_id, header = self._header(None, links)
        self.spool.open_turn(turn_id, header, held=True).close()
        return turn_id

    def add_held(self, turn_id: str | None, events: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
        """Add events to a turn that several processes feed; return their ids and refs."""
        turn = self._held(turn_id)
        try:
            return [turn.tell(event) for event in self._parse(events, turn.links)]
        finally:
            turn.let_go()

    def close_held(self, turn_id: str | None, events: Sequence[Mapping[str, Any]] = ()) -> Receipt:
        """Finish a turn that several processes fed, with last events."""
        turn = self._held(turn_id)
        try:
            for event in self._parse(events, turn.links):
                turn.tell(event)
            turn.finish("completed")
        finally:
            turn.let_go()
        return turn.receipt

    def finish(self, turn: Turn, end: End) -> Receipt:
        """Acknowledge a turn and bring it to the line as far as that can be done now."""
        # While the turn is open, so that the record of each commit belongs to it.
        warnings = self._claim_files(turn)
        turn.acknowledge(end, self.now())
        committed, reason, notes = self._commit(turn.id, turn.file.take_finished())
        index = committed.turn_index if committed else None
        return Receipt(
            turn_id=turn.id,
            turn_index=index,
            on_disk=True,
            committed=committed.commit if committed else None,
            branch=self.branch(),
            reason=reason,
            indexed=False,
            pushed=False,
            records=[
                *turn.findings.records,
                *(one for one in (committed.added if committed else ()) if one not in turn.findings.records),
                {"id": turn.id, "kind": "turn", "source_ref": f"turn:{turn.id}"},
            ],
            redactions=turn.findings.redactions,
            warnings=LateList(lambda: [*warnings, *notes, *self._judge(turn.findings.bodies)]),
            refused=committed.refused if committed else (),
        )

    def branch(self) -> str:
        """Return the short name of the turn line; empty before its first turn."""
        writer = self.line.writer()
        return writer.branch if writer else ""

    def commit_waiting(self) -> None:
        """Bring what waits in the spool to the line, if that can be done now."""
        with suppress(GitmemError, OSError):
            self.line.commit_spooled(wait=LOCK_WAIT)
            self._on_committed()

    def _claim_files(self, turn: Turn) -> Sequence[str]:
        if not turn.findings.paths:
            return ()
        try:
            return list(self._on_files(turn.findings.paths, turn))
        except (GitmemError, OSError) as error:
            return [f"the turn's files were not committed: {error}"]

    def _commit(
        self, turn_id: str, told: SpooledTurn | None
    ) -> tuple[CommittedTurn | None, str | None, Sequence[str]]:
        # The turn is acknowledged: whatever fails here, the next command, turn or watcher tries again.
        try:
            run = self.line.commit_spooled(wait=LOCK_WAIT, told=told)
            committed = run.committed.get(turn_id) or (
                self.line.find(turn_id) if run.reason is None else None
            )
        except HomeLocked as error:
            return None, error.message, ()
        except (GitmemError, OSError) as error:
            return None, f"kept in the spool: {error}", ()
        reason = run.reason if committed or run.reason else "another process took it from the spool"
        return committed, reason, [*run.warnings, *self._committed()]

    def _committed(self) -> Sequence[str]:
        try:
            return self._on_committed()
        except (GitmemError, OSError):  # it is done again at the next turn or open
            return ()

    def _parse(self, events: Sequence[Mapping[str, Any]], links: Mapping[str, Any]) -> list[Event]:
        """Check all events before any of them is told; each names the first that is wrong."""
        now = self.now()
        given = {name: value for name, value in links.items() if value is not None}
        parsed = []
        for number, raw in enumerate(events):
            try:
                parsed.append(take_event(raw, given, now=now))
            except (UsageError, ThreatFound) as error:
                error.details["event"] = number
                raise
        return parsed

    def _begin(
        self,
        session: str | None,
        workspace: str | None,
        work_item: str | None,
        turn_id: str | None,
        ts: str | None,
    ) -> tuple[SpoolFile, Mapping[str, Any]]:
        links = {"session": session, "workspace": workspace, "work_item": work_item, "ts": ts}
        name, header = self._header(turn_id, links)
        return self.spool.open_turn(name, header), header

    def _header(self, turn_id: str | None, links: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        header: dict[str, Any] = {"opened": format_time(self.now())}
        for name, value in links.items():
            if value is not None:
                header[name] = value if name == "ts" else refuse_secret(check_name(value, name), name)
        return _turn_id(turn_id), header

    def _held(self, turn_id: str | None) -> Turn:
        file = self.spool.reopen_held(turn_id or self.spool.only_held())
        known = read_turn(file.path)
        turn = Turn(self, file, known.header)
        for event in known.events:
            turn.note(event)
        turn.findings.redactions += [{"rule": rule, "record": record} for rule, record in known.redactions]
        return turn


def _turn_id(given: str | None) -> str:
    if given is None:
        return mint_id("turn")
    if not _TURN_ID.fullmatch(given):
        raise UsageError(f"not a turn id: {given[:80]!r}", hint="It is turn_ and 15 hex digits.")
    return given
