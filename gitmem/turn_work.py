"""What one turn does to work items, tasks and waits: what an event becomes, what follows from it.

The events of a turn are taken one by one, as they are sealed; behind them come those that follow: the brief
of what was completed, waits that ended, blockers that went. All of it is decided from what the ledger holds
at that moment, so that a turn that waited in the spool does not act on what was true before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from gitmem.errors import BindingMismatch, ReportMissing, TaskFinished, UnknownWorkItem, WorkItemNotOpen
from gitmem.focus_rules import FocusMove, FocusState, classify_pick, move_focus, move_from, turn_item
from gitmem.lifecycle_rules import Snapshot, is_replay, reduce_heads
from gitmem.records import TERMINAL_STATUSES, Event, Json, derive_id
from gitmem.wait_rules import (
    Trigger,
    Wait,
    may_clear_blocker,
    replaced_waits,
    satisfied_waits,
    trigger_of_message,
    trigger_of_task,
    wait_from,
    wait_owner,
)
from gitmem.work_changes import (
    UNBLOCKED,
    clears_blocker,
    creation,
    is_so,
    of_same_owner,
    recheck_time,
    update,
    with_fields,
)
from gitmem.work_rules import Workload, schedule, text_of


class WorkSource(Protocol):
    """What a turn asks of the ledger as it stood before."""

    def heads(self, kind: str, object_id: str) -> Sequence[Snapshot]:
        """Return the heads of an object with their whole bodies."""

    def snapshot(self, kind: str, object_id: str, snapshot_id: str) -> Snapshot | None:
        """Return one snapshot of an object with its whole body."""

    def status(self, kind: str, object_id: str) -> str | None:
        """Return an object's status, None if it is not known."""

    def waits(self) -> Sequence[Wait]:
        """Return the waits that stand."""

    def focus(self) -> FocusState:
        """Return where every session's focus is."""


class TurnWork:
    """Follows one turn.

    Args:
        source: the ledger before it.
        turn: its id.
        links: what its events inherit: `session`, `work_item`; and `ts`, if it is told of the past. What an
            import brings may lack a report, and has no plan.
        events: all that it was told, in order.
        is_completed: it was neither aborted nor interrupted.
    """

    def __init__(
        self,
        source: WorkSource,
        turn: str,
        links: Mapping[str, Any],
        events: Sequence[Event],
        *,
        is_completed: bool,
    ) -> None:
        self._source = source
        self._turn = turn
        self._session: str | None = links.get("session")
        self._link: str | None = links.get("work_item")
        self._is_imported = links.get("ts") is not None
        self._events = events
        self._is_completed = is_completed
        self._start = source.focus()
        self._focus = self._start
        self._moves: list[FocusMove] = []
        self._own: dict[tuple[str, str], Snapshot] = {}
        self._standing: dict[str, Wait] = {wait.id: wait for wait in source.waits()}
        self._registered: list[str] = []
        self._taken: list[tuple[Event, Snapshot]] = []

    # One event

    def heads(self, kind: str, object_id: str) -> Sequence[Snapshot]:
        """Return the heads of an object as they are within the turn."""
        own = self._own.get((kind, object_id))
        return [own] if own is not None else self._source.heads(kind, object_id)

    def ready(self, event: Event) -> Event | None:
        """Return an event of an object with what has to be worked out; None if it changes nothing.

        Raises:
            GitmemError: the rules forbid it.
        """
        if event.object is None:
            return event
        if event.kind == "work_item":
            return self._ready_work_item(event, event.object)
        if event.kind == "wait":
            return self._ready_wait(event, event.object)
        return event

    def took(self, event: Event, snapshot: Snapshot) -> None:
        """Take note of an event that was sealed, with the snapshot that it made."""
        self._own[snapshot.kind, snapshot.object] = snapshot
        self._taken.append((event, snapshot))
        if snapshot.kind == "wait":
            wait = wait_from(snapshot.object, snapshot.status, snapshot.body, turn=self._turn)
            before = self._standing.get(wait.id)
            if wait.status == "active" and (before is None or before.status != "active"):
                self._registered.append(wait.id)
            self._standing[wait.id] = wait
        move = move_from(snapshot.body, snapshot.object, event.session)
        if snapshot.kind == "work_item" and move is not None:
            self._moves.append(move)
            self._focus = move_focus(self._focus, move)

    def item(self) -> str | None:
        """Return the work item that the turn belongs to: one that was open before it, or that it created."""
        found = turn_item(self._link, self._start.of(self._session).current, self._moves)
        if found is None:
            return None
        before = self._source.status("work_item", found)
        is_new = before is None and ("work_item", found) in self._own
        return found if is_new or before in {"open", "completing"} else None

    def _ready_work_item(self, event: Event, item: str) -> Event | None:
        heads, action = self.heads("work_item", item), event.body["action"]
        if self._is_replay(event, heads):
            return None
        if action == "create":
            return creation(event, item, has_plan=not self._is_imported)
        state = reduce_heads(heads) if heads else None
        if state is None or state.winner.redacted or state.winner.is_terminal:
            return None if state is not None and is_so(action, state) else event
        if event.body.get("expected_revision", state.revision) != state.revision:
            return event  # it came too late, which sealing refuses, whatever it would change
        if action == "update":
            return update(event, state.winner)
        return self._pick(event, item, state.winner) if action == "pick" else self._end(event, item)

    def _is_replay(self, event: Event, heads: Sequence[Snapshot]) -> bool:
        if len(heads) != 1 or len(heads[0].after) > 1 or event.object is None:
            return False
        names = heads[0].after
        before = self._source.snapshot(event.kind, event.object, names[0]) if names else None
        return (before is not None or not names) and is_replay(event, heads, before)

    def _pick(self, event: Event, item: str, last: Snapshot) -> Event | None:
        focus, clears = self._focus.of(event.session), clears_blocker(event)
        report = classify_pick(
            focus,
            item,
            current_is_runnable=focus.current is not None and self._is_runnable(focus.current),
            target_is_runnable=self._is_runnable(item, is_cleared=clears),
        )
        if report.kind == "same_work_item" and not clears:
            return None
        worked_out: dict[str, Any] = {"pick": report.kind, "focus_mode": report.mode}
        if report.yields is not None:
            worked_out["yields"] = report.yields
        if clears and text_of(last.body, "blocked_by"):
            worked_out |= UNBLOCKED
        return with_fields(event, worked_out, without=("yields",))

    def _is_runnable(self, item: str, *, is_cleared: bool = False) -> bool:
        """Say whether a work item could be worked on, did it not give way to another.

        Args:
            item: its id.
            is_cleared: what blocks it and what it waits for end with this event.
        """
        heads = self.heads("work_item", item)
        if not heads:
            return False
        state = reduce_heads(heads)
        if is_cleared:
            return schedule(Workload(item, state.status)).is_runnable
        waits = tuple(w.kind for w in self._standing.values() if w.work_item == item and w.status == "active")
        blocked_by = text_of(state.winner.body, "blocked_by")
        return schedule(Workload(item, state.status, waits=waits, blocked_by=blocked_by)).is_runnable

    def _end(self, event: Event, item: str) -> Event:
        if event.body["action"] == "drop":
            return with_fields(event, UNBLOCKED)
        if self._link is not None and self._link != item:
            raise BindingMismatch(
                f"the turn belongs to work item {self._link}, not to {item}",
                hint="Pick it first, in a turn of its own.",
                object=item,
                bound_to=self._link,
            )
        brief = self._brief_of(item)
        report = text_of(event.body, "report") or (text_of(brief.body, "text") if brief else None)
        if report is None and self._is_imported:
            return with_fields(event, UNBLOCKED)
        if report is None:
            raise ReportMissing(
                f"work item {item} stays open: a completion needs a report",
                hint="Say in `report` what came of it.",
                object=item,
            )
        name = brief.id if brief else _follower("brief", self._turn, event.id)
        return with_fields(event, {**UNBLOCKED, "report": report, "result_brief": f"brief:{name}"})

    def _brief_of(self, item: str) -> Event | None:
        """Return the turn's own result brief on a work item, if it was told one.

        One that names no work item is on that of the turn.
        """
        found = [e for e in self._events if e.kind == "brief" and e.body.get("brief_kind") == "result"]
        moves = [*self._moves, FocusMove("complete", item)]
        own = turn_item(self._link, self._start.of(self._session).current, moves)
        owners = (item, None) if own == item else (item,)
        return next((brief for owner in owners for brief in found if brief.work_item == owner), None)

    def _ready_wait(self, event: Event, name: str) -> Event:
        heads = self.heads("wait", name)
        before = reduce_heads(heads) if heads else None
        known = dict(before.winner.body) if before is not None else {}
        is_new = event.body["status"] == "active" and (before is None or before.status != "active")
        if not is_new:
            return event if before is None else of_same_owner(event, known)
        body = {**known, **event.body}
        task = text_of(body, "resource") if body.get("wait_kind") == "task" else None
        if task is not None and self._status("task", task) in TERMINAL_STATUSES:
            raise TaskFinished(
                f"task {task} has ended: {self._status('task', task)}",
                hint=f"Read it: `gitmem get task:{task}`.",
                object=name,
                task=task,
            )
        owner = self._owner_of(event, body)
        return event if owner is None else with_fields(event, {"work_item_id": owner})

    def _owner_of(self, event: Event, body: Json) -> str | None:
        explicit = text_of(body, "work_item_id")
        focus = self._focus.of(event.session).current
        owner = wait_owner(explicit, event.work_item, self._link, focus)
        status = self._status("work_item", owner) if owner is not None else None
        if explicit is not None and status is None:
            raise UnknownWorkItem(f"there is no work item {explicit}", object=explicit)
        if explicit is not None and status in TERMINAL_STATUSES:
            raise WorkItemNotOpen(f"work item {explicit} is {status}", object=explicit, status=status)
        return owner if status == "open" else None

    def _status(self, kind: str, name: str) -> str | None:
        heads = self.heads(kind, name)
        return reduce_heads(heads).status if heads else None

    # What follows

    def consequences(self) -> Iterator[Event]:
        """Yield what follows from the turn; each is to be sealed, and taken, before the next is asked for."""
        taken, self._taken = self._taken, []
        for event, snapshot in taken:
            if snapshot.kind == "work_item":
                yield from self._after_work_item(event, snapshot)
            elif snapshot.kind == "wait":
                yield from self._after_wait(event, snapshot)
        if self._standing:
            yield from self._after_triggers()

    def _after_work_item(self, event: Event, snapshot: Snapshot) -> Iterator[Event]:
        action = event.body["action"]
        report = text_of(snapshot.body, "report")
        if action == "complete" and report is not None and self._brief_of(snapshot.object) is None:
            body = {"brief_kind": "result", "text": report}
            yield self._follow(event, "brief", body, None, work_item=snapshot.object)
        if action in ("complete", "drop") or clears_blocker(event):
            reason = (
                f"the work item was {snapshot.status}" if snapshot.is_terminal else "the blocker was cleared"
            )
            for wait in list(self._standing.values()):
                is_meant = snapshot.is_terminal or wait.id not in self._registered
                if wait.work_item == snapshot.object and wait.is_unresolved and is_meant:
                    yield self._wait_event(event, wait, "cancelled", reason=reason)

    def _after_wait(self, event: Event, snapshot: Snapshot) -> Iterator[Event]:
        wait = self._standing[snapshot.object]
        if wait.id in self._registered and snapshot.status == "active":
            yield from self._block(event, wait, snapshot.body)
            later = self._registered[self._registered.index(wait.id) :]
            for name in replaced_waits(wait, [w for w in self._standing.values() if w.id not in later]):
                replaced = {"reason": f"replaced by {wait.id}", "replaced_by": wait.id}
                yield self._wait_event(event, self._standing[name], "cancelled", **replaced)
        elif snapshot.is_terminal:
            yield from self._unblock(event, wait)

    def _after_triggers(self) -> Iterator[Event]:
        triggers, causes = self._triggers()
        earlier = [w for w in self._standing.values() if w.is_unresolved and w.id not in self._registered]
        done = "resolved" if self._is_completed else "triggered"
        for wait, trigger in satisfied_waits(triggers, earlier):
            cause = causes[trigger.ref]
            yield self._wait_event(cause, wait, done, trigger=trigger.ref, triggered_at=cause.ts)
            if self._is_completed:
                yield from self._unblock(cause, wait)
        if not self._is_completed or not self._events:
            return
        item = self.item()
        for wait in [
            w for w in self._standing.values() if w.status == "triggered" and w.id not in self._registered
        ]:
            if wait.work_item == item:  # the turn that goes on with it has taken it in
                yield self._wait_event(self._events[-1], wait, "resolved")
                yield from self._unblock(self._events[-1], wait)

    def _triggers(self) -> tuple[list[Trigger], dict[str, Event]]:
        item = turn_item(self._link, self._start.of(self._session).current, self._moves)
        causes: dict[str, Event] = {}
        triggers = []
        for event in self._events:
            if event.kind == "message":
                found = trigger_of_message(f"message:{event.id}", event.body, item)
            elif event.kind == "task" and event.object is not None:
                found = trigger_of_task(f"task:{event.object}", event.object, str(event.body.get("status")))
            else:
                continue
            if found is not None:
                triggers.append(found)
                causes[found.ref] = event
        return triggers, causes

    def _block(self, event: Event, wait: Wait, body: Json) -> Iterator[Event]:
        if wait.work_item is None or self._status("work_item", wait.work_item) != "open":
            return
        fields = {
            "action": "update",
            "blocked_by": wait.waiting_for or None,
            "recheck_at": recheck_time(event.ts, body.get("recheck_after_ms")),
        }
        yield self._item_event(event, wait.work_item, fields)

    def _unblock(self, event: Event, wait: Wait) -> Iterator[Event]:
        if wait.work_item is None:
            return
        heads = self.heads("work_item", wait.work_item)
        state = reduce_heads(heads) if heads else None
        if state is None:
            return
        blocked_by = text_of(state.winner.body, "blocked_by")
        if may_clear_blocker(wait, is_open=state.status == "open", blocked_by=blocked_by):
            fields = {"action": "update", **UNBLOCKED, "reason": f"wait:{wait.id}"}
            yield self._item_event(event, wait.work_item, fields)

    def _wait_event(self, cause: Event, wait: Wait, status: str, **fields: Any) -> Event:
        body = {"wait_id": wait.id, "status": status, **fields}
        return self._follow(cause, "wait", body, wait.id, note=status)

    def _item_event(self, cause: Event, item: str, fields: Json) -> Event:
        note = "unblock" if fields["blocked_by"] is None else "block"
        return self._follow(cause, "work_item", {"work_item_id": item, **fields}, item, note=note)

    def _follow(
        self,
        cause: Event,
        kind: str,
        body: Json,
        name: str | None,
        *,
        note: str = "",
        work_item: str | None = None,
    ) -> Event:
        parts = [part for part in (name, note) if part]
        return Event(
            _follower(kind, self._turn, cause.id, *parts),
            kind,
            cause.ts,
            body,
            session=cause.session,
            work_item=work_item or cause.work_item,
            workspace=cause.workspace,
            object=name,
        )


def _follower(kind: str, turn: str, cause: str, *parts: str) -> str:
    """Return the id of an event that follows from another: the same, however often the turn is sealed."""
    return derive_id(kind, turn, cause, *parts)
