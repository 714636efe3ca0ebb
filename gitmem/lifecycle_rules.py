"""How the snapshots of one object become its state, and what its next snapshot is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.errors import (
    InvalidRecord,
    InvalidRevisionTransition,
    LedgerCorrupt,
    PayloadConflict,
    RevisionConflict,
    Unavailable,
    UnknownWorkItem,
    WorkItemExists,
    WorkItemNotOpen,
)
from gitmem.ledger_format import Line, decode
from gitmem.records import TERMINAL_STATUSES, Event, Json, Record

#: Fields of the event that gives them, not of the object: the next snapshot does not inherit them.
EVENT_FIELDS: Final = frozenset(
    {"action", "reason", "source", "by", "cause", "clear_blocker", "expected_revision", "revision"}
    | {"pick", "focus_mode", "yields"}
)

#: Fields that sealing adds or works out, and those that only say which revision is meant.
_WORKED_OUT: Final = frozenset(
    {"expected_revision", "revision", "created_at", "workspace_id", "plan_path", "recheck_at", "result_brief"}
    | {"pick", "focus_mode", "yields"}
)

#: What an action makes of a work item; the others leave its status as it is.
_STATUS_AFTER: Final[Mapping[str, str]] = {"create": "open", "complete": "completed", "drop": "cancelled"}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One lifecycle record: the whole object as it then was, and the records it follows.

    Attributes:
        object: id of the object, unique within its kind.
        after: ids of all heads that were known when it was sealed.
        body: the object's fields; empty when redacted or unreadable.
        turn, ts, session, workspace: of its record, where they are known.
    """

    id: str
    kind: str
    object: str
    revision: int
    status: str
    after: tuple[str, ...]
    clock: str
    writer: str
    seq: int
    body: Json
    redacted: bool = False
    turn: str = ""
    ts: str = ""
    session: str | None = None
    workspace: str | None = None

    @property
    def is_terminal(self) -> bool:
        """Whether the object is finished."""
        return self.status in TERMINAL_STATUSES

    @classmethod
    def of(cls, source: Line | Record, body: Json | None = None) -> Snapshot:
        """Return the snapshot that a lifecycle line or record holds.

        Args:
            source: of a lifecycle kind.
            body: its whole body where long texts were moved out; default what the line itself holds. A body
                that cannot be read counts as empty, because the envelope alone says what is superseded.
        """
        assert source.object is not None
        assert source.revision is not None
        assert source.status is not None
        record = _record_of(source)
        return cls(
            id=source.id,
            kind=source.kind,
            object=source.object,
            revision=source.revision,
            status=source.status,
            after=source.after,
            clock=source.clock,
            writer=source.writer,
            seq=source.seq,
            body=(record.body if record else {}) if body is None else body,
            redacted=source.redacted,
            turn=source.turn,
            ts=source.ts,
            session=record.session if record else None,
            workspace=record.workspace if record else None,
        )


@dataclass(frozen=True, slots=True)
class State:
    """What an object is now.

    Attributes:
        winner: the head that counts.
        diverged: the other heads, best first: written elsewhere without knowing the winner.
        revision: the highest revision known.
    """

    winner: Snapshot
    diverged: tuple[Snapshot, ...]
    revision: int

    @property
    def status(self) -> str:
        """The winner's status; `redacted` where its text was forgotten."""
        return "redacted" if self.winner.redacted else self.winner.status


@dataclass(frozen=True, slots=True)
class NextSnapshot:
    """What an event makes of an object: the fields of a lifecycle record that are computed at sealing."""

    body: dict[str, Any]
    revision: int
    status: str
    after: tuple[str, ...]


def find_heads(snapshots: Iterable[Snapshot]) -> list[Snapshot]:
    """Return the snapshots of one object that no other one names, in reading order.

    A record that is known twice (a fork) is one head. Where hostile snapshots name one another in a circle
    and none is left, all of them are heads, so that no object can be made to vanish.
    """
    known = {snapshot.id: snapshot for snapshot in sorted(snapshots, key=_order)}
    named = {name for snapshot in known.values() for name in snapshot.after if name != snapshot.id}
    heads = [snapshot for name, snapshot in known.items() if name not in named]
    return heads or list(known.values())


def heads_by_object(snapshots: Iterable[Snapshot]) -> dict[tuple[str, str], list[Snapshot]]:
    """Return the heads of every object, by kind and object id."""
    groups: dict[tuple[str, str], list[Snapshot]] = {}
    for snapshot in snapshots:
        groups.setdefault((snapshot.kind, snapshot.object), []).append(snapshot)
    return {key: find_heads(group) for key, group in groups.items()}


def reduce_heads(heads: Sequence[Snapshot]) -> State:
    """Return the state that one or several heads amount to.

    A finished head beats the others, so that nothing finished is reopened unseen; then the higher clock, then
    the higher writer.
    """
    best = sorted(heads, key=lambda head: (head.is_terminal, *_order(head)), reverse=True)
    return State(best[0], tuple(best[1:]), max(head.revision for head in heads))


def next_snapshot(event: Event, heads: Sequence[Snapshot]) -> NextSnapshot:
    """Return the object's last state with the fields of the event replaced.

    Args:
        event: as the caller gave it.
        heads: of the event's object, with whole bodies; none for a new object.

    Raises:
        RevisionConflict: the event expects another revision.
        PayloadConflict: the revision that it names is there, and is another's.
        UnknownWorkItem: there is no such work item.
        WorkItemExists: it is to be created again.
        WorkItemNotOpen: it is completed or dropped.
        Unavailable: it was forgotten.
    """
    state = reduce_heads(heads) if heads else None
    _check_expected(event, state)
    status = _work_item_status(event, state) if event.kind == "work_item" else str(event.body["status"])
    last = {} if state is None else state.winner.body
    return NextSnapshot(
        body={**_inherited(last), **event.body},
        revision=1 if state is None else state.revision + 1,
        status=status,
        after=tuple(dict.fromkeys(head.id for head in sorted(heads, key=_order))),
    )


def expected_revision(event: Event) -> int | None:
    """Return the revision that the writer of an event has read, None if it does not say.

    Raises:
        InvalidRecord: it is no number.
        InvalidRevisionTransition: the revision that it means to write does not follow.
    """
    expected, written = (_number(event, name) for name in ("expected_revision", "revision"))
    if written is None or (event.kind != "work_item"):
        return expected
    if expected is None:
        expected = written - 1
    if written != expected + 1 or (written == 1) != (event.body.get("action") == "create"):
        raise InvalidRevisionTransition(
            f"revision {written} does not follow {expected}",
            object=event.object,
            expected=expected,
            revision=written,
        )
    return expected


def _number(event: Event, name: str) -> int | None:
    value = event.body.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise InvalidRecord(f"{name} is a number, not {value!r}", field=name)
    return value


def is_replay(event: Event, heads: Sequence[Snapshot], before: Snapshot | None) -> bool:
    """Say whether an event that names its revision was sealed already, word for word.

    Args:
        event: whose writer did not hear that it was taken, perhaps.
        heads: of its object, with whole bodies.
        before: the snapshot that the only head follows.
    """
    expected = expected_revision(event)
    if expected is None or len(heads) != 1 or heads[0].revision != expected + 1 or heads[0].redacted:
        return False
    kept = _inherited({} if before is None else before.body)
    return _words({**kept, **event.body}) == _words(heads[0].body)


def _inherited(body: Json) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in EVENT_FIELDS}


def _words(body: Json) -> dict[str, Any]:
    """Return what the caller worded of a body: not what gitmem works out, nor what names no content."""
    return {name: value for name, value in body.items() if name not in _WORKED_OUT and value is not None}


def _check_expected(event: Event, state: State | None) -> None:
    expected = expected_revision(event)
    actual = 0 if state is None else state.revision
    if expected is None or expected == actual:
        return
    facts: dict[str, Any] = {
        "domain": event.kind,
        "object": event.object,
        "expected": expected,
        "actual": actual,
    }
    if actual == expected + 1 and event.kind == "work_item" and event.body.get("revision") is not None:
        raise PayloadConflict(
            f"{event.kind} {event.object} has revision {actual} already, which says something else",
            hint="Read it, and write a revision of its own.",
            **facts,
            retryable=False,
        )
    raise RevisionConflict(
        f"{event.kind} {event.object} has revision {actual}, not {expected}",
        hint="Read it again and repeat the change.",
        **facts,
        retryable=True,
    )


def _work_item_status(event: Event, state: State | None) -> str:
    action = str(event.body["action"])
    if action == "create":
        if state is not None:
            raise WorkItemExists(f"work item {event.object} exists already", object=event.object)
        return _STATUS_AFTER[action]
    if state is None:
        raise UnknownWorkItem(f"there is no work item {event.object}", object=event.object)
    if state.winner.redacted:
        raise Unavailable(f"work item {event.object} was forgotten", object=event.object, reason="redacted")
    if state.winner.is_terminal:
        raise WorkItemNotOpen(
            f"work item {event.object} is {state.winner.status}",
            hint="Create a new work item for what is left to do.",
            object=event.object,
            status=state.winner.status,
        )
    return _STATUS_AFTER.get(action, state.winner.status)


def _record_of(source: Line | Record) -> Record | None:
    if isinstance(source, Record):
        return source
    try:
        return decode(source)
    except LedgerCorrupt:
        return None


def _order(snapshot: Snapshot) -> tuple[str, str, int, str]:
    return (snapshot.clock, snapshot.writer, snapshot.seq, snapshot.id)
