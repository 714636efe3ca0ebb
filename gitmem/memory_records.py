"""The ledger's record of each change that the agent made to the operator's branch, written exactly once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from gitmem.branch_changes import PendingChange, PendingWrite
from gitmem.curated import STORES
from gitmem.entries import parse_store
from gitmem.git_objects import hash_object
from gitmem.identity import is_agent
from gitmem.ledger import Ledger
from gitmem.records import Event, derive_id, is_name
from gitmem.redaction import redact_secrets
from gitmem.subjects import ALLOWED, APPROVED_BY, KIND, REASON, SESSION, SOURCE, TURN, parse_trailers
from gitmem.times import format_time
from gitmem.turn import Turn
from gitmem.turn_recorder import TurnRecorder

#: The operation that takes off the branch what was forgotten.
FORGET_WRITE: Final = "memory forget"
#: What has no record of its own: a home's first commit, and what another record tells of already.
_TOLD_ELSEWHERE: Final = ("init", "episode finalise", FORGET_WRITE)
#: Fields of a record that are taken from its commit's trailers.
_TRAILERS: Final = (("reason", REASON), ("source", SOURCE), ("approved_by", APPROVED_BY))


class MemoryRecords:
    """Puts `memory` records into the spool.

    Args:
        recorder: opens turns.
        ledger: knows what is recorded already.
        home_id: only the agent's changes are recorded; an operator's commit speaks for itself.
    """

    def __init__(self, recorder: TurnRecorder, ledger: Ledger, home_id: str) -> None:
        self._recorder = recorder
        self._ledger = ledger
        self._home_id = home_id
        self._open: dict[str, Turn] = {}
        self._minted: set[str] = set()
        self._told: set[str] = set()

    @contextmanager
    def within(self, turn: Turn | None, minted: str | None = None) -> Iterator[None]:
        """Record what is written meanwhile in `turn`, if one is given.

        Args:
            turn: an open turn.
            minted: the id of a turn for this write alone that nobody can know yet, so nobody looks for it.
        """
        if turn is not None:
            self._open[turn.id] = turn
        elif minted is not None:
            self._minted.add(minted)
        try:
            yield
        finally:
            if turn is not None:
                del self._open[turn.id]
            elif minted is not None:
                self._minted.discard(minted)

    def record(self, write: PendingWrite) -> None:
        """Make the record of a write durable in the spool, unless it is there or in the ledger already.

        Called before a pending write is dropped, after a kill once more.
        """
        if not is_agent(write.author, self._home_id) or write.operation in _TOLD_ELSEWHERE:
            return
        event = memory_event(write)
        if event.id in self._told:
            return
        turn = self._open.get(write.turn or "")
        if turn is not None:
            turn.tell(event)
            turn.flush()
        elif write.turn in self._minted:
            self._minted.remove(write.turn)  # should it fail half way, the next try has to look
            self._record_alone(event, write.turn)
        else:
            # A killed process may have told it already, in a turn that nobody ended.
            self._recorder.spool.close_dead(self._recorder.now())
            if not self._is_known(event.id):
                # Where the turn it belonged to is gone or held, under another id.
                taken = self._is_taken(write.turn)
                self._record_alone(event, derive_id("turn", event.id) if taken else write.turn)
        self._told.add(event.id)

    def _record_alone(self, event: Event, turn_id: str | None) -> None:
        """Record in a turn of its own."""
        turn = self._recorder.open(session=event.session, turn_id=turn_id)
        turn.tell(event)
        turn.spool_only()

    def _is_taken(self, turn_id: str | None) -> bool:
        if turn_id is None or self._recorder.spool.is_open(turn_id):
            return True
        return bool(self._ledger.find_turn(turn_id))

    def _is_known(self, record_id: str) -> bool:
        return self._ledger.find(record_id) is not None


def memory_event(write: PendingWrite) -> Event:
    """Return the record of a write; the same write always has the same record."""
    trailers = parse_trailers(write.message)
    files = [
        {"path": change.path, "before": _blob(change.base), "after": _blob(change.result)}
        for change in write.changes
    ]
    action = write.operation.rpartition(" ")[2]
    body: dict[str, Any] = {"target": trailers.get(KIND, "file"), "action": action, "files": files}
    body |= _entries(write.changes)
    body |= {name: trailers[key] for name, key in _TRAILERS if key in trailers}
    if ALLOWED in trailers:
        body["allowed"] = trailers[ALLOWED].split(", ")
    if trailers.get(TURN, write.turn) != write.turn:
        body["cause"] = trailers[TURN]
    name = derive_id("memory", str(write.turn), *(f"{f['path']} {f['before']} {f['after']}" for f in files))
    return Event(name, "memory", format_time(write.since), body, session=_session(trailers.get(SESSION)))


def _entries(changes: Sequence[PendingChange]) -> dict[str, Any]:
    """Return the store that a write changed, with the ids of the entries that went and came."""
    targets = {path: target for target, path in STORES.items()}
    change = changes[0]
    if len(changes) != 1 or change.path not in targets:
        return {}
    before, after = (_ids(content) for content in (change.base, change.result))
    return {
        "target": targets[change.path],
        "entries": {
            "before": [one for one in before if one not in after],
            "after": [one for one in after if one not in before],
        },
    }


def _ids(content: bytes | None) -> list[str]:
    return [entry.id for entry in parse_store((content or b"").decode("utf-8", "replace"))]


def _session(name: str | None) -> str | None:
    # A message is what anybody may have written: one that names no session, or one that no record may have,
    # must not hold up the queue.
    return name if name is not None and is_name(name) and not redact_secrets(name)[1] else None


def _blob(content: bytes | None) -> str | None:
    return None if content is None else hash_object("blob", content)
