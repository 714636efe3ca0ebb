"""A work item and a task as their records tell them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gitmem.json_view import JsonView
from gitmem.lifecycle_rules import State
from gitmem.work_rules import Schedule, TodoItem, Workload, current_todo, read_todo, schedule, text_of


@dataclass(frozen=True, slots=True)
class WorkItem(JsonView):
    """What is to be done, and how far it is.

    Attributes:
        status: `open`, `completed`, `cancelled`, or `redacted` where it was forgotten.
        revision: the highest known; the one to expect when it is changed.
        blocked_by: what holds it up, in words.
        recheck_at: when somebody is to look at it again, RFC 3339.
        is_due: that time has come, and no turn was its own since.
        workspace: id of the one that it was created in; None for none.
        session: the conversation in which it was changed last.
        result_brief: ref of the brief that reports its end.
        plan_path: where its plan lies while it is open; None for a work item older than plans.
        diverged: ids of snapshots that were written elsewhere without knowing the one that counts.
        reason: why it was changed last, so also why it was dropped; None where nobody said.
    """

    id: str
    objective: str
    status: str
    plan_status: str
    todo: tuple[TodoItem, ...]
    revision: int
    blocked_by: str | None
    recheck_at: str | None
    is_due: bool
    delivery_target: str | None
    workspace: str | None
    created_at: str
    updated_at: str
    session: str | None
    report: str | None
    result_brief: str | None
    plan_path: str | None
    diverged: tuple[str, ...]
    schedule: Schedule
    reason: str | None = None

    @property
    def current_todo(self) -> TodoItem | None:
        """The step that comes next."""
        return current_todo(self.todo)

    @property
    def is_open(self) -> bool:
        """Whether it has not ended and was not forgotten."""
        return self.status == "open"

    @property
    def readiness(self) -> str:
        """Whether it can be worked on."""
        return self.schedule.readiness

    @property
    def because(self) -> str:
        """What decided that."""
        return self.schedule.reason

    @property
    def diagnostics(self) -> tuple[str, ...]:
        """What is odd about it."""
        return self.schedule.diagnostics

    @property
    def source_ref(self) -> str:
        """The address under which `get` finds it."""
        return f"work_item:{self.id}"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data, its schedule in three fields of its own."""
        data = {name: getattr(self, name) for name in WorkItem.__slots__ if name != "schedule"}
        facts = {name: getattr(self, name) for name in ("readiness", "because", "diagnostics")}
        return {"source_ref": self.source_ref, **data, "current_todo": self.current_todo, **facts}


@dataclass(frozen=True, slots=True)
class TaskState(JsonView):
    """A task as its last snapshot tells it."""

    id: str
    status: str
    summary: str | None
    detail: str | None
    work_item: str | None
    revision: int
    updated_at: str

    @property
    def source_ref(self) -> str:
        """The address under which `get` finds it."""
        return f"task:{self.id}"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {"source_ref": self.source_ref, **{name: getattr(self, name) for name in TaskState.__slots__}}


def item_from(state: State, load: Workload, *, is_due: bool) -> WorkItem:
    """Return the work item that a state tells of.

    Args:
        state: with the winner's whole body.
        load: what scheduling knows of it.
        is_due: somebody is to look at it.
    """
    last = state.winner
    body = last.body
    return WorkItem(
        id=last.object,
        objective=text_of(body, "objective") or "",
        status=state.status,
        plan_status=load.plan_status,
        todo=read_todo(body.get("todo")),
        revision=state.revision,
        blocked_by=load.blocked_by,
        recheck_at=text_of(body, "recheck_at"),
        is_due=is_due,
        delivery_target=text_of(body, "delivery_target"),
        workspace=text_of(body, "workspace_id") or last.workspace,
        created_at=load.created_at,
        updated_at=load.updated_at,
        session=last.session,
        report=text_of(body, "report"),
        result_brief=text_of(body, "result_brief"),
        plan_path=text_of(body, "plan_path"),
        diverged=tuple(head.id for head in state.diverged),
        schedule=schedule(load),
        reason=text_of(body, "reason"),
    )


def task_from(state: State) -> TaskState:
    """Return the task that a state tells of; its winner has its whole body."""
    last = state.winner
    return TaskState(
        id=last.object,
        status=state.status,
        summary=text_of(last.body, "summary"),
        detail=text_of(last.body, "detail"),
        work_item=text_of(last.body, "work_item_id"),
        revision=state.revision,
        updated_at=last.ts,
    )
