"""What episodes need to know of each turn, without its texts: one mark a turn, kept as a row of JSON data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from gitmem.records import TERMINAL_STATUSES, Record

#: Of the rows; another one makes those that are kept worthless.
MARKS_VERSION: Final = 2
#: Places in a row.
_ITEMS, _CLOSES = 7, 11
#: Kinds whose bodies are read for a mark.
READ_KINDS: Final = frozenset({"turn", "work_item", "task", "wait", "session", "episode"})
#: Kinds that are worth an account: something was said, done or reported.
_MATERIAL: Final = frozenset({"message", "tool_execution", "brief"})
#: Session events after which nothing more belongs to what went before.
_SESSION_ENDS: Final[Mapping[object, str]] = {"end": "end", "clear": "end", "compact": "compact"}


@dataclass(frozen=True, slots=True)
class ItemMark:
    """A work item as a turn left it.

    Attributes:
        status: of the last snapshot in the turn.
        objective: a digest of its objective.
        record: id of that snapshot, by which the texts are read.
        place: path of the segment that holds it; empty for a turn that is being sealed.
    """

    item: str
    status: str
    objective: str
    record: str
    place: str = ""

    @property
    def is_finished(self) -> bool:
        """Whether it was completed or dropped."""
        return self.status in TERMINAL_STATUSES


@dataclass(frozen=True, slots=True)
class Close:
    """An episode that a turn's record says is finished.

    Attributes:
        turns: ids of its turns; empty where the record was forgotten.
    """

    id: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnMark:
    """One turn as the boundaries of episodes see it.

    Attributes:
        began, ended: when the first and last of its records happened, RFC 3339.
        material: whether it holds a message, a tool or a brief.
        work_item: the item that its record names, None where it names none.
        picked: the item that was picked last in it.
        items: the work items that were changed in it.
        task_ended: whether a task came to its end that this turn did not begin.
        wait: a digest of what is newly waited for; None for nothing.
        session_event: `end` or `compact`.
        closes: the episodes whose records stand in it.
        place: path of the segment that holds it; empty for a turn that is being sealed.
    """

    turn: str
    session: str | None
    began: str
    ended: str
    material: bool
    work_item: str | None = None
    picked: str | None = None
    items: tuple[ItemMark, ...] = ()
    task_ended: bool = False
    wait: str | None = None
    session_event: str | None = None
    closes: tuple[Close, ...] = ()
    place: str = ""

    @property
    def finished(self) -> tuple[ItemMark, ...]:
        """The work items that were completed or dropped in it."""
        return tuple(item for item in self.items if item.is_finished)


def mark_turn(turn: Record, records: Iterable[Record]) -> TurnMark | None:
    """Return the mark of a turn; None for one that was imported and did not happen here.

    Args:
        turn: its own record.
        records: the others; only those of `READ_KINDS` need a body.
    """
    if turn.body.get("imported") is True:
        return None
    by_kind: dict[str, list[Record]] = {}
    times = []
    for record in records:
        by_kind.setdefault(record.kind, []).append(record)
        if record.kind != "episode":
            times.append(record.ts)
    items = by_kind.get("work_item", ())
    picks = [one.object for one in items if not one.redacted and one.body.get("action") == "pick"]
    named = turn.body.get("work_item")
    return TurnMark(
        turn=turn.turn,
        session=turn.session,
        began=min(times, default=turn.ts),
        ended=max(times, default=turn.ts),
        material=not _MATERIAL.isdisjoint(by_kind),
        work_item=named if isinstance(named, str) and named else turn.work_item,
        picked=picks[-1] if picks else None,
        items=tuple(_item_mark(snapshots[-1]) for snapshots in _by_object(items)),
        task_ended=any(_ends_earlier(snapshots) for snapshots in _by_object(by_kind.get("task", ()))),
        wait=_new_waits(by_kind.get("wait", ())),
        session_event=_session_end(by_kind.get("session", ())),
        closes=tuple(_close(record) for record in by_kind.get("episode", ())),
    )


def mark_to_row(mark: TurnMark) -> list[Any]:
    """Return a mark as JSON data; where it stands is left to who keeps it."""
    return [
        mark.turn, mark.session, mark.began, mark.ended, mark.material, mark.work_item, mark.picked,
        [[one.item, one.status, one.objective, one.record] for one in mark.items],
        mark.task_ended, mark.wait, mark.session_event,
        [[one.id, list(one.turns)] for one in mark.closes],
    ]  # fmt: skip


def mark_from_row(row: Sequence[Any]) -> TurnMark:
    """Return the mark that `mark_to_row` gave, or one with the path of its segment behind it."""
    items = tuple(ItemMark(*one) for one in row[_ITEMS])
    closes = tuple(Close(name, tuple(turns)) for name, turns in row[_CLOSES])
    place = str(row[_CLOSES + 1]) if len(row) > _CLOSES + 1 else ""
    turn, session, began, ended, material, work_item, picked, _, task_ended, wait, event, *_ = row
    return TurnMark(
        turn, session, began, ended, material, work_item, picked,
        items, task_ended, wait, event, closes, place,
    )  # fmt: skip


def _by_object(records: Sequence[Record]) -> list[list[Record]]:
    groups: dict[str | None, list[Record]] = {}
    for record in records:
        groups.setdefault(record.object, []).append(record)
    return list(groups.values())


def _item_mark(snapshot: Record) -> ItemMark:
    text = snapshot.body.get("objective")
    return ItemMark(
        snapshot.object or "",
        snapshot.status or "",
        _digest(" ".join(text.split())) if isinstance(text, str) else "",
        snapshot.id,
    )


def _ends_earlier(snapshots: Sequence[Record]) -> bool:
    """Say whether a task ended that was begun before; one whose beginning nobody told was, too."""
    was_begun = bool(snapshots[0].after) or snapshots[0].status in TERMINAL_STATUSES
    return was_begun and snapshots[-1].status in TERMINAL_STATUSES


def _new_waits(records: Sequence[Record]) -> str | None:
    """Return a digest of what is waited for that was not before; waking up to wait on is nothing new."""
    fresh = [
        snapshots[-1]
        for snapshots in _by_object(records)
        if not snapshots[0].after and snapshots[-1].status == "active"
    ]
    reasons = sorted(f"{one.body.get('waiting_for')}\0{one.body.get('resource')}" for one in fresh)
    return _digest("\n".join(reasons)) if fresh else None


def _session_end(records: Sequence[Record]) -> str | None:
    found = [_SESSION_ENDS.get(record.body.get("event")) for record in records]
    return "end" if "end" in found else "compact" if "compact" in found else None


def _close(record: Record) -> Close:
    turns = record.body.get("turns")
    known = turns if isinstance(turns, list) else ()
    return Close(record.id, tuple(turn for turn in known if isinstance(turn, str)))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
