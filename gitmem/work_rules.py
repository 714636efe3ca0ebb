"""What a work item may hold and whether it can be worked on: todos, plan status, scheduling, candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.errors import InvalidRecord

PLAN_STATUSES: Final = ("draft", "ready", "needs_input")
TODO_STATES: Final = ("pending", "in_progress", "completed")
#: Kinds of waits, the one that counts first.
WAIT_ORDER: Final = ("task", "operator", "timer", "external", "system")
#: How many texts of unfinished todos a warning shows.
SAMPLES: Final = 5
#: Milliseconds after which a blocker that somebody only wrote down is looked at again.
MANUAL_RECHECK_MS: Final = 3_600_000

#: Readiness of a work item, by what was made of it.
_ENDED: Final[Mapping[str, str]] = {
    "completed": "completed",
    "cancelled": "dropped",
    "completing": "completing",
    "redacted": "redacted",
}


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One step of a work item; `state` is `pending`, `in_progress` or `completed`."""

    text: str
    state: str = "pending"


@dataclass(frozen=True, slots=True)
class UnfinishedTodos:
    """What was left when a work item was completed.

    Attributes:
        samples: texts of the first of them.
    """

    pending: int
    in_progress: int
    samples: tuple[str, ...]

    def __str__(self) -> str:
        """Return it as a warning for people."""
        count = self.pending + self.in_progress
        return f"unfinished_todos: {count} ({self.in_progress} in progress): {'; '.join(self.samples)}"


@dataclass(frozen=True, slots=True)
class Workload:
    """What scheduling knows of a work item.

    Attributes:
        status: of its record: `open`, `completed`, `cancelled`.
        waits: kinds of its active waits.
        triggered_at: when the last of its waits was triggered that is not resolved, else empty.
        is_yielded: it gave its place to another one, whose end brings it back.
        is_current: a session, or the home, has it as its focus.
        has_report: its end was reported.
    """

    id: str
    status: str = "open"
    plan_status: str = "draft"
    blocked_by: str | None = None
    waits: tuple[str, ...] = ()
    triggered_at: str = ""
    is_yielded: bool = False
    is_current: bool = False
    has_report: bool = False
    created_at: str = ""
    updated_at: str = ""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Whether a work item can be worked on.

    Attributes:
        readiness: `runnable yielded waiting_for_operator blocked completing completed dropped redacted`.
        reason: what decided it: a status, `yielded`, a kind of wait, `blocked_by`, or `runnable`.
        diagnostics: what is odd about it; never a failure.
    """

    readiness: str
    reason: str
    diagnostics: tuple[str, ...] = ()

    @property
    def is_runnable(self) -> bool:
        """Whether it can be worked on now."""
        return self.readiness == "runnable"


def parse_todo(value: object) -> tuple[TodoItem, ...]:
    """Return a todo list as a caller gives it: objects with `text` and `state`, or texts, which are pending.

    Several steps in progress are unusual, not wrong.

    Raises:
        InvalidRecord: it is no list, a text is blank, or there is no such state.
    """
    if not isinstance(value, list | tuple):
        raise InvalidRecord(
            "todo is a list", hint='For example [{"text": "…", "state": "pending"}].', field="todo"
        )
    return tuple(_parse_step(one, number) for number, one in enumerate(value, start=1))


def _parse_step(value: object, number: int) -> TodoItem:
    fields = {"text": value} if isinstance(value, str) else value
    if not isinstance(fields, Mapping) or set(fields) - {"text", "state"}:
        raise InvalidRecord(f"todo {number} is a text, or an object of text and state", field="todo")
    text, state = fields.get("text"), fields.get("state", "pending")
    if not isinstance(text, str) or not text.strip():
        raise InvalidRecord(f"todo {number} has no text", field="todo")
    if state not in TODO_STATES:
        raise InvalidRecord(
            f"todo {number}: the state is one of {', '.join(TODO_STATES)}, not {state!r}", field="todo"
        )
    return TodoItem(text.strip(), state)


def read_todo(value: object) -> tuple[TodoItem, ...]:
    """Return the steps that a record holds; what is none is left out, because anybody may have written it."""
    found = []
    for one in value if isinstance(value, list | tuple) else ():
        try:
            found.append(_parse_step(one, 0))
        except InvalidRecord:
            continue
    return tuple(found)


def todo_rows(todo: Iterable[TodoItem]) -> list[dict[str, str]]:
    """Return a todo list as it stands in a record."""
    return [{"text": one.text, "state": one.state} for one in todo]


def current_todo(todo: Sequence[TodoItem]) -> TodoItem | None:
    """Return the step that comes next: the first in progress, else the first that is pending."""
    for state in ("in_progress", "pending"):
        for one in todo:
            if one.state == state:
                return one
    return None


def unfinished_todos(todo: Iterable[TodoItem]) -> UnfinishedTodos | None:
    """Return what is not completed of a todo list, None if nothing is left."""
    left = [one for one in todo if one.state != "completed"]
    if not left:
        return None
    in_progress = sum(one.state == "in_progress" for one in left)
    return UnfinishedTodos(len(left) - in_progress, in_progress, tuple(one.text for one in left[:SAMPLES]))


def schedule(work: Workload) -> Schedule:
    """Return whether a work item can be worked on, and why: the one place where that is decided.

    An end comes before all, then having yielded, then an active wait, then a blocker in words. What the plan
    still needs holds up nothing.
    """
    ended = _ENDED.get(work.status)
    kinds = sorted(set(work.waits), key=_wait_rank)
    if ended is not None:
        decided = ended, work.status
    elif work.is_yielded:
        decided = "yielded", "yielded"
    elif kinds:
        decided = ("waiting_for_operator" if kinds[0] == "operator" else "blocked"), kinds[0]
    elif work.blocked_by:
        decided = "blocked", "blocked_by"
    else:
        decided = "runnable", "runnable"
    return Schedule(*decided, tuple(_diagnose(work, kinds, is_open=ended is None)))


def _diagnose(work: Workload, kinds: Sequence[str], *, is_open: bool) -> Iterable[str]:
    if work.is_current and not is_open:
        yield "current_is_not_open"
    if work.is_current and work.is_yielded:
        yield "current_is_yielded"
    if kinds and not is_open:
        yield "ended_with_active_wait"
    if len(kinds) > 1:
        yield f"several_wait_kinds: {', '.join(kinds)}"


def _wait_rank(kind: str) -> tuple[int, str]:
    return (WAIT_ORDER.index(kind) if kind in WAIT_ORDER else len(WAIT_ORDER), kind)


@dataclass(frozen=True, slots=True)
class CandidateClass:
    """Work items of one kind that a prompt lists.

    Attributes:
        limit: how many at most.
        rank: the time that orders them; ties go by id.
        is_newest_first: which end comes first.
    """

    name: str
    limit: int
    rank: Callable[[Workload], str]
    is_newest_first: bool = True


def _updated(work: Workload) -> str:
    return work.updated_at


#: In the order in which they are listed.
CANDIDATES: Final = (
    CandidateClass("current_runnable", 1, _updated),
    CandidateClass("triggered_blocked", 3, lambda work: work.triggered_at),
    CandidateClass("queued_runnable", 5, lambda work: work.created_at, is_newest_first=False),
    CandidateClass("yielded", 5, _updated),
    CandidateClass("waiting_for_operator", 3, _updated),
    CandidateClass("blocked", 3, _updated),
    CandidateClass("completing", 3, _updated),
    CandidateClass("completed_recent", 3, _updated),
)


def candidates(work: Iterable[Workload]) -> dict[str, tuple[str, ...]]:
    """Return the ids of the work items that a prompt lists, by class; every class is there."""
    groups: dict[str, list[Workload]] = {one.name: [] for one in CANDIDATES}
    for item in work:
        name = _class_of(item, schedule(item))
        if name is not None:
            groups[name].append(item)
    return {one.name: _first(groups[one.name], one) for one in CANDIDATES}


def _class_of(work: Workload, found: Schedule) -> str | None:
    ready = found.readiness
    if ready == "runnable":
        return "current_runnable" if work.is_current else "queued_runnable"
    if ready == "completed":
        return "completed_recent" if work.has_report else None
    if ready in {"blocked", "waiting_for_operator"} and work.triggered_at:
        return "triggered_blocked"
    # A wait for a task ends by itself, so nobody needs to look at it.
    is_listed = ready in {"yielded", "completing", "waiting_for_operator", "blocked"}
    return ready if is_listed and found.reason != "task" else None


def _first(items: list[Workload], of: CandidateClass) -> tuple[str, ...]:
    items.sort(key=lambda item: item.id)
    items.sort(key=of.rank, reverse=of.is_newest_first)
    return tuple(item.id for item in items[: of.limit])


#: What a list of work items can be narrowed to, beside `all`.
FILTERS: Final = (
    "open", "completing", "completed", "dropped", "current", "queued", "yielded", "blocked",
    "waiting_for_operator", "runnable",
)  # fmt: skip


def filters_of(work: Workload) -> frozenset[str]:
    """Return the filters under which a work item is listed."""
    found = schedule(work)
    words = {found.readiness}
    if work.status == "open":
        words.add("open")
    if work.is_current:
        words.add("current")
    elif found.is_runnable:
        words.add("queued")
    return frozenset(words)


def text_of(body: Mapping[str, Any], name: str) -> str | None:
    """Return a field of a record that is a text and not blank, else None."""
    value = body.get(name)
    return value if isinstance(value, str) and value.strip() else None
