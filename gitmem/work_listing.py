"""Work items and tasks as lists and in full: what a person or a model is shown of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from gitmem.errors import UsageError
from gitmem.json_view import JsonView
from gitmem.past_plans import PastPlans
from gitmem.plan_files import PREVIEW_CHARS, PlanFile, PlanFiles
from gitmem.records import check_name
from gitmem.tree_files import Skipped
from gitmem.wait_rules import Wait
from gitmem.work_item import TaskState, WorkItem
from gitmem.work_ref import WorkRef, refs_to_json
from gitmem.work_ref_merge import WorkRefs
from gitmem.work_rules import FILTERS
from gitmem.work_state import WorkState, is_in_scope

TASK_STATUSES: Final = ("queued", "running", "cancelling", "completed", "failed", "cancelled", "interrupted")
DEFAULT_LIMIT: Final = 20
MOST: Final = 100
#: Turns that are named in full view; the ledger knows all of them.
_TURNS: Final = 50


@dataclass(frozen=True, slots=True)
class WorkPage(JsonView):
    """A part of a list of work items, those that changed last first.

    Attributes:
        total_matching: how many there are.
        returned: how many of them are here.
        focus: id of the one that the session works on.
        cursor: of the next part; None where nothing is left.
    """

    work_items: Sequence[WorkItem]
    total_matching: int
    returned: int
    focus: str | None
    cursor: str | None


@dataclass(frozen=True, slots=True)
class TaskPage(JsonView):
    """A part of a list of tasks, those that changed last first."""

    tasks: Sequence[TaskState]
    total_matching: int
    returned: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class PlanView(JsonView):
    """A plan without its body.

    Attributes:
        path: of its file.
        exists: whether there is one that can be read.
        hash: `sha256:` and the hex of its bytes.
        preview: the first characters of the body.
        problems: what is wrong with it.
    """

    path: str
    exists: bool
    hash: str | None = None
    bytes: int = 0
    preview: str = ""
    preview_complete: bool = True
    problems: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class WorkDetail(JsonView):
    """A work item with all that belongs to it.

    Attributes:
        plan: None for a work item that has none, or at an earlier moment had none.
        waits: those that stand.
        turns: ids of the last turns that belong to it.
        total_turns: how many there are.
    """

    work_item: WorkItem
    plan: PlanView | None
    waits: Sequence[Wait]
    work_refs: WorkRefs
    turns: Sequence[str]
    total_turns: int

    @property
    def archived_refs(self) -> tuple[WorkRef, ...]:
        """The work refs that are no longer active."""
        return self.work_refs.archived

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data; its work refs as two lists."""
        return {
            "work_item": self.work_item,
            "plan": self.plan,
            "waits": self.waits,
            "work_refs": refs_to_json(self.work_refs.active),
            "archived_refs": refs_to_json(self.archived_refs),
            "turns": [f"turn:{turn}" for turn in self.turns],
            "total_turns": self.total_turns,
        }


def list_work(
    state: WorkState,
    *,
    only: str = "all",
    session: str | None = None,
    workspace: str | None = None,
    limit: int = DEFAULT_LIMIT,
    cursor: str | None = None,
) -> WorkPage:
    """Return a part of the list of work items.

    Args:
        state: of work.
        only: a filter, or `all`.
        session: whose focus is the current one.
        workspace: only what belongs to it, or to none; None is everything.
        limit: at most so many, up to 100.
        cursor: of an earlier part.
    """
    if only != "all" and only not in FILTERS:
        raise UsageError(f"the filter is one of all, {', '.join(FILTERS)}, not {only!r}", field="filter")
    for name, value in (("session", session), ("workspace", workspace)):
        if value is not None:
            check_name(value, name)
    names = state.open_items() if only in _OPEN_ONLY else list(state.items)
    chosen = [state.items[name] for name in names if only == "all" or only in state.filters(name, session)]
    found = [item for item in chosen if is_in_scope(item.workspace, workspace)]
    found.sort(key=lambda item: item.id)
    found.sort(key=lambda item: item.updated_at, reverse=True)
    part, after = _page(found, limit, cursor)
    return WorkPage(part, len(found), len(part), state.focus(session), after)


def list_tasks(
    state: WorkState, *, status: str | None = None, limit: int = DEFAULT_LIMIT, cursor: str | None = None
) -> TaskPage:
    """Return a part of the list of tasks.

    Args:
        state: of work.
        status: only those in it.
        limit: at most so many, up to 100.
        cursor: of an earlier part.
    """
    if status not in (None, *TASK_STATUSES):
        raise UsageError(f"status is one of {', '.join(TASK_STATUSES)}, not {status!r}", field="status")
    found = [task for task in state.tasks.values() if status in (None, task.status)]
    found.sort(key=lambda task: task.id)
    found.sort(key=lambda task: task.updated_at, reverse=True)
    part, after = _page(found, limit, cursor)
    return TaskPage(part, len(found), len(part), after)


def work_detail(state: WorkState, item: str, plans: PlanFiles | PastPlans) -> WorkDetail:
    """Return a work item with all that belongs to it.

    Args:
        state: of work.
        item: its id, which is known.
        plans: the files of the same moment.
    """
    found, turns = state.items[item], state.turns(item)
    return WorkDetail(
        work_item=found,
        plan=past_plan_view(plans, found) if isinstance(plans, PastPlans) else plan_view(plans, found),
        waits=state.waits_of(item),
        work_refs=state.refs(item),
        turns=turns[-_TURNS:],
        total_turns=len(turns),
    )


def past_plan_view(plans: PastPlans, item: WorkItem) -> PlanView | None:
    """Return what is shown of a plan as it was; None where there was none yet."""
    found = plans.find(item)
    if isinstance(found, PlanFile):
        return _shown(found, [])
    return None if found is None else PlanView(path=found.path, exists=False, problems=[found.reason])


def plan_view(plans: PlanFiles, item: WorkItem) -> PlanView | None:
    """Return what is shown of a plan, None for a work item without; one that is gone is no error."""
    if item.plan_path is None:
        return None
    found = plans.find(item)
    if isinstance(found, PlanFile):
        return _shown(found, list(_problems(plans, item)))
    path = found.path if isinstance(found, Skipped) else item.plan_path
    reason = found.reason if isinstance(found, Skipped) else "the file is gone"
    return PlanView(path=path, exists=False, problems=[reason])


def _shown(found: PlanFile, problems: Sequence[str]) -> PlanView:
    return PlanView(
        path=found.path,
        exists=True,
        hash=f"sha256:{sha256(found.content).hexdigest()}",
        bytes=len(found.content),
        preview=found.preview,
        preview_complete=len(found.body.strip()) <= PREVIEW_CHARS,
        problems=problems,
    )


def _problems(plans: PlanFiles, item: WorkItem) -> Iterator[str]:
    move = plans.settle(item)
    yield from (warning.replace(" was put back", " was edited by hand") for warning in move.warnings)
    if move.action in ("finish", "reopen"):
        yield f"it belongs at {move.path}"


_OPEN_ONLY: Final = frozenset(
    {"open", "queued", "yielded", "blocked", "waiting_for_operator", "runnable", "current"}
)


def _page(found: Sequence[Any], limit: int, cursor: str | None) -> tuple[Sequence[Any], str | None]:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST:
        raise UsageError(f"limit is 1 to {MOST}, not {limit!r}", field="limit")
    start = 0
    if cursor is not None:
        if not cursor.isdecimal() or len(cursor) > 9:
            raise UsageError(f"not a cursor: {cursor[:40]!r}", field="cursor")
        start = int(cursor)
    end = start + limit
    return found[start:end], str(end) if end < len(found) else None
