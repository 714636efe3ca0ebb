"""What a context says of work: the current item, its refs, what came of it, what else waits, what runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.context_section import Section, make_section
from gitmem.context_sections import compact_text
from gitmem.graphemes import cut_at
from gitmem.quoting import quote, quote_line
from gitmem.text_cut import fit_lines
from gitmem.token_estimate import Tokenizer, estimate_tokens
from gitmem.turn_evidence import TurnEvidence
from gitmem.turn_lines import TurnLine, correction_of, lines_of
from gitmem.work_ref import WorkRef
from gitmem.work_ref_text import render_ref
from gitmem.work_rules import TodoItem

#: Characters of an objective in a compact form, of a plan's preview, of a line elsewhere.
_COMPACT_OBJECTIVE: Final = 96
_PLAN_PREVIEW: Final = 1600
_LINE: Final = 240
_TRACE_LINE: Final = 180
MOST_TASKS: Final = 5
#: Kind of line -> how many of it the trace of a work item has.
_TRACE: Final[Mapping[str, int]] = {"result": 3, "alert": 4, "tools": 4, "answer": 2, "decision": 3}
_TRACE_GROUPS: Final[Mapping[str, str]] = {"alert": "tools"}
_MARKS: Final[Mapping[str, str]] = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}
_CLASSES: Final[Mapping[str, str]] = {
    "current_runnable": "current",
    "triggered_blocked": "what they waited for has happened",
    "queued_runnable": "queued",
    "yielded": "gave way to another one",
    "waiting_for_operator": "wait for the operator",
    "blocked": "blocked",
    "completing": "being completed",
    "completed_recent": "completed lately",
}


@dataclass(frozen=True, slots=True)
class WorkItemView:
    """A work item as a context shows it.

    Attributes:
        readiness: whether it can be worked on, and `reason`, what decided it.
        plan_path: of its plan, relative to the home.
        plan: the plan's text; None where there is no file.
        report: what came of it, of a completed one.
        diagnostics: what is odd about it.
    """

    id: str
    objective: str
    readiness: str = "runnable"
    reason: str = ""
    plan_status: str = "draft"
    todo: tuple[TodoItem, ...] = ()
    revision: int = 1
    blocked_by: str | None = None
    delivery_target: str | None = None
    workspace: str | None = None
    plan_path: str | None = None
    plan: str | None = None
    report: str | None = None
    diagnostics: tuple[str, ...] = ()

    @property
    def source_ref(self) -> str:
        """The address under which `get` finds it."""
        return f"work_item:{self.id}"


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task that has not ended."""

    id: str
    status: str
    summary: str = ""


def current_work_item(item: WorkItemView | None, count: Tokenizer = estimate_tokens) -> Section:
    """Return what is being done; that there is no work item is said too, and is not pinned."""
    if item is None:
        return make_section("current_work_item", "No work item is current.", pinned=False)
    return make_section(
        "current_work_item",
        "\n".join(_item_lines(item)),
        compact=_item_compact(item, count),
        source_ref=item.source_ref,
    )


def current_work_refs(refs: Sequence[WorkRef], count: Tokenizer = estimate_tokens) -> Section | None:
    """Return what the current work item is about, as evidence gave it."""
    lines = [quote_line(render_ref(ref)) for ref in refs if ref.status == "active"]
    intro = "Active refs of the current work item, from evidence of its turns:"
    return _list_section("current_work_refs", lines, intro, count)


def process_trace(
    turns: Sequence[TurnEvidence],
    count: Tokenizer = estimate_tokens,
    corrections: Mapping[str, str] | None = None,
) -> Section | None:
    """Return what came of the current work item before the recent turns, the newest first.

    Args:
        turns: of the work item, oldest first, without those that stand among the recent ones.
        count: counts tokens.
        corrections: ref of what was retracted -> what is true instead, empty if nobody said.
    """
    left = dict(_TRACE)
    lines = []
    for turn in reversed(turns):
        for line in reversed(lines_of(turn)):
            group = _TRACE_GROUPS.get(line.kind, line.kind)
            if left.get(group, 0) > 0:
                left[group] -= 1
                lines.append(_trace_line(line, corrections or {}))
    intro = "Earlier, in turns of the current work item, newest first:"
    return _list_section("current_work_item_process_trace", lines, intro, count)


def other_work_items(
    groups: Mapping[str, Sequence[WorkItemView]], count: Tokenizer = estimate_tokens
) -> Section | None:
    """Return the other work items, by class, in the order of the mapping."""
    lines = [
        f"- {_CLASSES.get(name, name)}: {item.source_ref} {_short(item.objective, 120)}{_why(item)}"
        for name, items in groups.items()
        for item in items
    ]
    intro = "Other work items; none of them becomes current by itself:"
    return _list_section("queued_blocked_work_items", lines, intro, count)


def active_tasks(tasks: Sequence[TaskView], count: Tokenizer = estimate_tokens) -> Section | None:
    """Return the tasks that run."""
    lines = [f"- task:{task.id} {task.status}: {_short(task.summary, _LINE)}" for task in tasks[:MOST_TASKS]]
    if len(tasks) > MOST_TASKS:
        lines.append(f"- {len(tasks) - MOST_TASKS} more")
    return _list_section("active_tasks", lines, "Tasks that have not ended:", count)


def _item_lines(item: WorkItemView) -> Iterator[str]:
    yield f"{item.source_ref}: {quote(item.objective)}"
    state = [item.readiness, f"plan {item.plan_status}", f"revision {item.revision}"]
    if item.reason and item.reason != item.readiness:
        state[0] += f" ({item.reason})"
    if item.workspace:
        state.append(f"workspace {item.workspace}")
    yield f"state: {', '.join(state)}"
    for name, told in (
        ("delivers to", item.delivery_target),
        ("blocked by", item.blocked_by),
        ("report", item.report),
    ):
        if told:
            yield f"{name}: {quote(told)}"
    yield from (f"! {quote_line(one)}" for one in item.diagnostics)
    if item.todo:
        yield "todo:"
        yield from (f"    {_MARKS.get(one.state, '[ ]')} {quote_line(one.text)}" for one in item.todo)
    if item.plan_path and item.plan and item.plan.strip():
        length = cut_at(item.plan, _PLAN_PREVIEW)
        rest = f"; {length} of {len(item.plan)} characters" if length < len(item.plan) else ""
        yield f"plan ({quote_line(item.plan_path)}{rest}):"
        yield f"    {quote(item.plan[:length])}"


def _item_compact(item: WorkItemView, count: Tokenizer) -> str:
    head = f"{item.source_ref}: {_short(item.objective, _COMPACT_OBJECTIVE)}"
    return compact_text(head, 2 * _COMPACT_OBJECTIVE, count)


def _trace_line(line: TurnLine, corrections: Mapping[str, str]) -> str:
    ref = f" ({line.ref})" if line.ref else ""
    label = f"{quote_line(line.label)}{ref}{correction_of(line, corrections)}"
    return f"- {label}: {_short(line.text, _TRACE_LINE)}"


def _why(item: WorkItemView) -> str:
    if item.blocked_by:
        return f" (blocked by {_short(item.blocked_by, 120)})"
    return f" ({item.reason})" if item.reason and item.reason not in (item.readiness, "runnable") else ""


def _list_section(name: str, lines: Sequence[str], intro: str, count: Tokenizer) -> Section | None:
    if not lines:
        return None
    text = "\n".join([intro, *lines])
    return make_section(name, text, fit=lambda tokens: fit_lines(lines, tokens, count, intro=intro))


def _short(text: str, limit: int) -> str:
    line = quote_line(text)
    return line if len(line) <= limit else line[: cut_at(line, limit - 1)] + "…"
