"""Work items as they are created, changed, picked, held up, ended: each change one turn, or part of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitmem.authoring import Provenance, check_cause
from gitmem.errors import AmbiguousMatch, GitmemError, TaskFinished, UnknownWorkItem, UsageError
from gitmem.lifecycle_rules import next_snapshot
from gitmem.records import Event, Receipt, check_name, mint_id, parse_event, record_ref
from gitmem.refs import parse_ref
from gitmem.turn import Turn, refuse_secret_names
from gitmem.turn_recorder import TurnRecorder
from gitmem.turn_work import TurnWork
from gitmem.wait_rules import Wait, check_wait, wait_kind
from gitmem.work_changes import check_work_event
from gitmem.work_item import WorkItem
from gitmem.work_reply import WorkReply, refusal_of, unchanged_reply
from gitmem.work_rules import PLAN_STATUSES, parse_todo, todo_rows, unfinished_todos
from gitmem.work_state import WorkReader, WorkState

#: Why a change is not yet known to hold that was told to a turn of the caller's.
OPEN_TURN: Final = "the turn is still open"
_SHORTEST: Final = 4
_TEXTS: Final = frozenset({"objective", "plan", "delivery_target", "blocked_by", "report"})
_FIELDS: Final = _TEXTS | {"plan_status", "todo", "recheck_after_ms", "clear_blocker"}


@dataclass(frozen=True, slots=True)
class _Before:
    """What was true before a change: the state itself goes on with the ledger."""

    item: WorkItem | None
    waits: tuple[Wait, ...]
    focus: str | None


class Work:
    """Changes work items.

    Args:
        recorder: opens turns.
        reader: knows what there is.
        now: the wall clock, seconds since 1970.
    """

    def __init__(self, recorder: TurnRecorder, reader: WorkReader, now: Callable[[], float]) -> None:
        self._recorder = recorder
        self._reader = reader
        self._now = now

    def create(
        self,
        objective: str,
        *,
        work_item_id: str | None = None,
        by: Provenance,
        workspace: str | None = None,
        **fields: Any,
    ) -> WorkReply:
        """Create a work item; it waits to be picked.

        Args:
            objective: what is to be done.
            work_item_id: an id of the caller's own.
            by: who, and why.
            workspace: id of where the work happens.
            fields: `plan plan_status todo delivery_target blocked_by recheck_after_ms`.
        """
        if not isinstance(objective, str) or not objective.strip():
            raise UsageError("a work item has an objective", field="objective")
        if "plan" in fields and fields["plan"] is not None and not str(fields["plan"]).strip():
            raise UsageError("the plan is blank", hint="Leave it out.", field="plan")
        name = check_name(work_item_id, "work_item_id") if work_item_id else mint_id("work_item")
        given = {"objective": objective.strip(), **_checked(fields)}
        return self._change("create", name, given, by, workspace)

    def update(
        self, work_item: str, *, by: Provenance, expected_revision: int | None = None, **fields: Any
    ) -> WorkReply:
        """Change what is named of an open work item; the rest stays.

        Args:
            work_item: id, ref, or the beginning of an id.
            by: who, and why.
            expected_revision: the one that the caller has read; refused if there is another by now.
            fields: as of `create`, `objective` and `clear_blocker` (with a reason); a todo list is replaced
                as a whole.
        """
        given = _checked(fields)
        if "objective" in given and not str(given["objective"]).strip():
            raise UsageError("a work item has an objective", field="objective")
        name = self.resolve(work_item, by.open_turn)
        return self._change("update", name, {**given, "expected_revision": expected_revision}, by)

    def pick(self, work_item: str, *, by: Provenance, clear_blocker: bool = False) -> WorkReply:
        """Make a work item the focus of its session, or of the home.

        Args:
            work_item: id, ref, or the beginning of an id.
            by: who, and why; the session is whose focus it becomes.
            clear_blocker: nothing holds it up any more; needs a reason.
        """
        return self._change(
            "pick", self.resolve(work_item, by.open_turn), {"clear_blocker": clear_blocker or None}, by
        )

    def complete(self, work_item: str, report: str | None = None, *, by: Provenance) -> WorkReply:
        """Complete a work item; the report becomes its result brief.

        Raises:
            ReportMissing: there is no report; the work item stays open.
        """
        return self._change(
            "complete", self.resolve(work_item, by.open_turn), _checked({"report": report}), by
        )

    def drop(self, work_item: str, *, by: Provenance) -> WorkReply:
        """End a work item without a result."""
        return self._change("drop", self.resolve(work_item, by.open_turn), {}, by)

    def wait(
        self,
        waiting_for: str,
        *,
        wake: str,
        by: Provenance,
        work_item: str | None = None,
        resource: str | None = None,
        recheck_after_ms: int | None = None,
    ) -> WorkReply:
        """Register a wait; it takes the place of the others of its owner.

        Args:
            waiting_for: in words; they become the blocker of the work item.
            wake: `operator_input task_result external timer system`.
            by: who, and why.
            work_item: whose wait it is; None is the focus of the session, else the agent itself.
            resource: id of the task, timer or external trigger; needed for the first two.
            recheck_after_ms: when somebody is to look at it in any case.
        """
        kind = wait_kind(wake)
        named = check_wait(kind, waiting_for, resource)
        owner = (
            self.resolve(work_item, by.open_turn)
            if work_item is not None
            else self._reader.state().focus(by.session_id)
        )
        body = {
            "kind": "wait",
            "wait_id": mint_id("wait"),
            "status": "active",
            "wait_kind": kind,
            "waiting_for": waiting_for.strip(),
            "resource": named,
            "work_item_id": owner,
            "recheck_after_ms": recheck_after_ms,
        }
        event = self._event(body, by)
        try:
            return self._tell(event, owner, by)
        except TaskFinished as error:
            return WorkReply(None, owner, None, None, f"nothing to wait for: {error.message}")

    def resolve(self, name: str, turn: Turn | None = None, *, state: WorkState | None = None) -> str:
        """Return the id of the work item that an id, a ref or the beginning of an id names.

        Args:
            name: of it.
            turn: an open turn that may have created it.
            state: where it is looked for; None is what there is now.

        Raises:
            UnknownWorkItem: there is none in this home.
            AmbiguousMatch: several ids begin so.
        """
        ids = (state or self._reader.state()).items
        wanted = name
        if name.startswith("work_item:"):
            ref = parse_ref(name)
            if ref.home is not None:
                raise _unknown(name)
            wanted = ref.id
        if wanted in ids or _is_touched(turn, f"work_item:{wanted}"):
            return wanted
        near = [one for one in ids if len(wanted) >= _SHORTEST and one.startswith(wanted)]
        if len(near) > 1:
            raise AmbiguousMatch(
                f"{name} fits {len(near)} work items: {', '.join(near[:10])}", matches=near[:10]
            )
        if not near:
            raise _unknown(name)
        return near[0]

    def _change(
        self, action: str, name: str, fields: Mapping[str, Any], by: Provenance, workspace: str | None = None
    ) -> WorkReply:
        body = {"kind": "work_item", "action": action, "work_item_id": name, **fields, "reason": by.reason}
        return self._tell(self._event(body, by, workspace), name, by)

    def _event(self, body: Mapping[str, Any], by: Provenance, workspace: str | None = None) -> Event:
        check_cause(by)
        known = {"source": by.source, "by": by.author if by.author == "operator" else None}
        known["cause"] = by.turn if isinstance(by.turn, str) else None
        links = by.open_turn.links if by.open_turn is not None else {}
        links = {
            **links,
            "session": by.session_id or links.get("session"),
            "workspace": workspace or links.get("workspace"),
        }
        given = {name: value for name, value in {**links, **body, **known}.items() if value is not None}
        return refuse_secret_names(check_work_event(parse_event(given, now=self._now())))

    def _tell(self, event: Event, item: str | None, by: Provenance) -> WorkReply:
        state = self._reader.state()
        before = _Before(state.items.get(item or ""), state.waits_of(item), state.focus(event.session))
        ready = self._foresee(event, by)
        if ready is None:
            return unchanged_reply(event, before.item, item)
        if by.open_turn is not None:
            by.open_turn.tell(event)
            return WorkReply(None, item, by.open_turn.id, None, OPEN_TURN)
        turn = self._recorder.open(session=event.session, workspace=event.workspace)
        with turn:
            turn.tell(event)
        return self._reply(event, ready, item, turn, before)

    def _foresee(self, event: Event, by: Provenance) -> Event | None:
        """Return an event as it would be sealed now, None if it would change nothing.

        What an open turn has done to the same object before is not known until it is sealed.

        Raises:
            GitmemError: it would be refused.
        """
        if event.object is None or _is_touched(by.open_turn, record_ref(event.kind, event.id, event.object)):
            return event
        links = by.open_turn.links if by.open_turn is not None else {"session": event.session}
        work = TurnWork(self._reader.source(), event.id, links, [event], is_completed=True)
        ready = work.ready(event)
        if ready is None:
            return None
        try:
            next_snapshot(ready, work.heads(event.kind, event.object))
        except GitmemError:
            # Somebody may have made the same change since: then it is none any more.
            if work.ready(event) is not None:
                raise
            return None
        return ready

    def _is_recorded(self, event: Event) -> bool:
        """Say whether a change is in the ledger: one that somebody else made before was none."""
        name = event.object or ""
        return self._reader.source().snapshot(event.kind, name, event.id) is not None

    def _reply(self, event: Event, ready: Event, item: str | None, turn: Turn, before: _Before) -> WorkReply:
        receipt = turn.receipt
        if receipt.refused:
            raise refusal_of(receipt.refused[0])
        after = self._reader.state()
        owner = item if event.kind == "work_item" else _owner(after, event.object) or item
        shown = after.items.get(owner) if owner is not None and receipt.committed else None
        body = ready.body
        return WorkReply(
            work_item=shown,
            work_item_id=owner,
            turn_id=receipt.turn_id,
            committed=receipt.committed,
            reason=receipt.reason,
            unchanged=receipt.committed is not None and not self._is_recorded(event),
            wait=after.waits.get(event.object or "") if event.kind == "wait" else None,
            cancelled_waits=_ended_waits(before, after),
            pick=body.get("pick"),
            focus_mode=body.get("focus_mode"),
            yielded=body.get("yields"),
            resumed=_resumed(before, after, event),
            warnings=[*receipt.warnings, *_redacted(receipt), *_left(event, before.item)],
        )


def _is_touched(turn: Turn | None, ref: str) -> bool:
    return turn is not None and any(record["source_ref"] == ref for record in turn.findings.records)


def _owner(state: WorkState, wait: str | None) -> str | None:
    found = state.waits.get(wait or "")
    return found.work_item if found is not None else None


def _ended_waits(before: _Before, after: WorkState) -> tuple[str, ...]:
    return tuple(wait.id for wait in before.waits if not after.waits[wait.id].is_unresolved)


def _resumed(before: _Before, after: WorkState, event: Event) -> str | None:
    if event.body.get("action") not in ("complete", "drop") or before.focus != event.object:
        return None
    return after.focus(event.session)


def _left(event: Event, item: WorkItem | None) -> list[str]:
    """Warn of steps that were not done when a work item was completed."""
    left = (
        unfinished_todos(item.todo) if item is not None and event.body.get("action") == "complete" else None
    )
    return [str(left)] if left is not None else []


def _redacted(receipt: Receipt) -> list[str]:
    return [f"a secret ({found['rule']}) was redacted" for found in receipt.redactions]


def _checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in fields.items() if value is not None}
    for name in _TEXTS & known.keys():
        if not isinstance(known[name], str):
            raise UsageError(f"{name} is text", field=name)
    unknown = known.keys() - _FIELDS
    if unknown:
        raise UsageError(f"a work item has no {min(unknown)!r}", field=min(unknown))
    if "todo" in known:
        known["todo"] = todo_rows(parse_todo(known["todo"]))
    status = known.get("plan_status")
    if status is not None and status not in PLAN_STATUSES:
        raise UsageError(
            f"plan_status is one of {', '.join(PLAN_STATUSES)}, not {status!r}", field="plan_status"
        )
    return known


def _unknown(name: str) -> UnknownWorkItem:
    return UnknownWorkItem(
        f"there is no work item {name[:200]!r}", hint="`gitmem work list` lists them.", work_item=name[:200]
    )
