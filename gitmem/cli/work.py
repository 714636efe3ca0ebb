"""`gitmem work`: what is to be done, what is being done, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.columns import cut
from gitmem.cli.commands import group, options
from gitmem.cli.events import read_text
from gitmem.cli.none_found import none_found
from gitmem.cli.settings import current
from gitmem.cli.write_options import cause, write_options
from gitmem.errors import UsageError

if TYPE_CHECKING:
    from gitmem.home import AgentHome
    from gitmem.work_item import WorkItem
    from gitmem.work_listing import WorkDetail, WorkPage
    from gitmem.work_reply import WorkReply

as_of_option = click.option(
    "--as-of", metavar="COMMIT|DATE", help="As it was at a commit or a time, such as HEAD~2 or '2 days ago'."
)
_WAKES = ("operator_input", "task_result", "external", "timer", "system")
_WIDE = 72
#: Turns that people are shown of a work item; JSON has more of them.
_TURNS = 5

fields = options(
    click.option("--plan", metavar="TEXT", help="The plan, as text of its file; - reads standard input."),
    click.option(
        "--plan-status",
        type=click.Choice(["draft", "ready", "needs_input"]),
        help="How far the plan is; it holds up nothing.",
    ),
    click.option(
        "--todo",
        multiple=True,
        metavar="TEXT|JSON",
        help="A step; may be repeated. Or as JSON, with its state: "
        """'[{"text": "dump", "state": "completed"}]'. The list is replaced as a whole.""",
    ),
    click.option("--delivery-target", metavar="TEXT", help="Where the result is to go."),
    click.option("--blocked-by", metavar="TEXT", help="What holds it up; looked at again in an hour."),
    click.option("--recheck-after-ms", type=click.IntRange(min=1), metavar="MS", help="When to look again."),
)
clear_option = click.option(
    "--clear-blocker", is_flag=True, help="Nothing holds it up any more; needs --reason, and ends its waits."
)
expected_option = click.option(
    "--expected-revision",
    type=int,
    metavar="N",
    help="The revision that you have read; refused (exit 11) if there is another by now.",
)


@group(example="gitmem work create 'Move the staging database' --todo dump --todo load\ngitmem work list")
def command() -> None:
    """Create, change, pick, hold up, complete, drop, list and show work items.

    A work item is named by its id, its source ref, or the beginning of its id. Its plan is a file below work/
    that you may edit; `gitmem commit` takes your edit.
    """


@command.command("create", example="gitmem work create 'Move the staging database' --plan '1. dump'")
@click.argument("objective", required=False)
@click.option("--objective", "named", metavar="TEXT", help="The same as an option.")
@click.option("--work-item-id", metavar="ID", help="An id of your own.")
@click.option("--workspace", metavar="ID", help="Where the work happens.")
@fields
@write_options
def create(objective: str | None, named: str | None, **values: Any) -> None:
    """Create a work item. It waits to be picked."""
    if objective and named and objective != named:
        raise UsageError("the objective is given twice, and not the same", field="objective")
    wanted = objective or named
    if not wanted:
        raise UsageError("no objective", hint="For example: gitmem work create 'Move the staging database'")
    by, given = cause(values), _given(values)
    _change(lambda home: home.work_create(wanted, **given, **by))


@command.command("update", example="gitmem work update work_5d08 --todo load --blocked-by 'the vendor'")
@click.argument("work_item", metavar="ID|REF")
@click.option("--objective", metavar="TEXT", help="Another objective; the plan's front matter follows.")
@fields
@clear_option
@expected_option
@write_options
def update(work_item: str, **values: Any) -> None:
    """Change what is named of a work item; the rest stays."""
    by, given = cause(values), _given(values)
    _change(lambda home: home.work_update(work_item, **given, **by))


@command.command("pick", example="gitmem work pick work_5d08 --session s1")
@click.argument("work_item", metavar="ID|REF")
@clear_option
@write_options
def pick(work_item: str, *, clear_blocker: bool, **values: Any) -> None:
    """Make a work item the focus of its session or the home.

    Without --session it is the home's. What was in focus and could go on gives way, and comes back when this
    one ends.
    """
    _change(lambda home: home.work_pick(work_item, clear_blocker=clear_blocker, **cause(values)))


@command.command("wait", example="gitmem work wait work_5d08 --for 'the port' --wake operator_input")
@click.argument("work_item", metavar="[ID|REF]", required=False)
@click.option("--for", "--waiting-for", "waiting_for", metavar="TEXT", help="What for; default the reason.")
@click.option(
    "--wake",
    "--wait-kind",
    "wake",
    type=click.Choice([*_WAKES, "operator", "task"]),
    default="operator_input",
    show_default=True,
    help="What ends it.",
)
@click.option("--resource", metavar="ID", help="The task, timer or external trigger that is waited for.")
@click.option(
    "--recheck-after-ms", type=click.IntRange(min=1), metavar="MS", help="When to look in any case."
)
@write_options
def wait(work_item: str | None, waiting_for: str | None, wake: str, **values: Any) -> None:
    """Register a wait; it takes the place of the others of its owner.

    Without ID it belongs to the focus of the session, else to the agent itself.
    """
    by, given = cause(values), _given(values)
    wanted = waiting_for or by["reason"]
    if not wanted:
        raise UsageError("nothing to wait for", hint="Say what for: --for 'the port'")
    _change(lambda home: home.work_wait(wanted, wake=wake, work_item=work_item, **given, **by))


@command.command("complete", example="gitmem work complete work_5d08 --report 'It is on db-staging-2.'")
@click.argument("work_item", metavar="ID|REF")
@click.option("--report", metavar="TEXT", help="What came of it; - reads standard input. It is needed.")
@write_options
def complete(work_item: str, report: str | None, **values: Any) -> None:
    """Complete a work item. The report becomes its result brief, and its plan moves to work/done/."""
    text = read_text("-", what="report") if report == "-" else report
    _change(lambda home: home.work_complete(work_item, text, **cause(values)))


@command.command("drop", example="gitmem work drop work_5d08 --reason 'the vendor did it'")
@click.argument("work_item", metavar="ID|REF")
@write_options
def drop(work_item: str, **values: Any) -> None:
    """End a work item without a result."""
    _change(lambda home: home.work_drop(work_item, **cause(values)))


@command.command("list", example="gitmem work list --filter runnable --limit 5")
@click.option(
    "--filter", "only",
    type=click.Choice(["all", "open", "runnable", "current", "queued", "yielded", "blocked",
                       "waiting_for_operator", "completing", "completed", "dropped"]),
    default="all", show_default=True, help="Which ones.",
)  # fmt: skip
@click.option("--session", metavar="ID", help="Whose focus is the current one.")
@click.option("--workspace", metavar="ID", help="Only what belongs to it, or to none.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="How many at most.")
@click.option("--cursor", metavar="TEXT", help="Go on behind an earlier answer.")
@as_of_option
def list_(only: str, **values: Any) -> None:
    """List work items, those that changed last first."""
    settings = current()
    page = settings.open_home().work_list(only, **values)
    settings.reply(page, lambda: describe_page(page, {"filter": only, **values}))


@command.command("show", example="gitmem work show work_5d08")
@click.argument("work_item", metavar="ID|REF")
@as_of_option
def show(work_item: str, as_of: str | None) -> None:
    """Show a work item with its plan, waits, evidence and turns."""
    settings = current()
    found = settings.open_home().work_show(work_item, as_of=as_of)
    settings.reply(found, lambda: describe_detail(found))
    for problem in found.plan.problems if found.plan is not None else ():
        settings.warn(f"{found.plan.path}: {problem}" if found.plan is not None else problem)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Return what was given of a command's values, steps and plan read."""
    given = {name: value for name, value in values.items() if _is_given(value)}
    if "todo" in given:
        given["todo"] = _todo(given["todo"])
    if given.get("plan") == "-":
        given["plan"] = read_text("-", what="plan")
    return given


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value != ()  # 0 is a value


def _todo(steps: Sequence[str]) -> list[Any]:
    if len(steps) == 1 and steps[0].lstrip().startswith("["):
        found: list[Any] = _from_json(steps[0])
        return found
    return [_from_json(step) if step.lstrip().startswith("{") else step for step in steps]


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        step = json.dumps([{"text": cut(text, 40)}], ensure_ascii=False)
        hint = f"A step that begins like JSON is given as JSON: --todo '{step}'"
        raise UsageError(f"--todo is not JSON: {error}", hint=hint, field="todo") from error


def _change(change: Callable[[AgentHome], WorkReply]) -> None:
    settings = current()
    reply = change(settings.open_home())
    for warning in reply.warnings:
        settings.warn(warning)
    settings.reply(reply, lambda: "" if settings.quiet else describe(reply))


def describe(reply: WorkReply) -> str:
    """Return what became of a change, for people."""
    if reply.unchanged:
        return f"{reply.work_item_id}: it is so already"
    if reply.turn_id is None:
        return f"Nothing was done: {reply.reason}"
    lines = [_headline(reply.work_item) if reply.work_item else str(reply.source_ref)]
    if reply.wait is not None:
        lines.append(f"  waits for {reply.wait.waiting_for} ({reply.wait.id})")
    if reply.yielded:
        lines.append(f"  {reply.yielded} gave way and comes back when it ends")
    if reply.resumed:
        lines.append(f"  {reply.resumed} is in focus again")
    if reply.cancelled_waits:
        lines.append(f"  no longer waits: {', '.join(reply.cancelled_waits)}")
    if reply.reason:
        lines.append(f"  safe on disk, not committed yet: {reply.reason}")
    return "\n".join(lines)


def describe_page(page: WorkPage, asked: Mapping[str, Any]) -> str:
    """Return a list for people.

    Args:
        page: of it.
        asked: the options that it was asked for with.
    """
    if not page.work_items:
        return none_found(
            "work items", asked, otherwise="Create one: gitmem work create 'Move the staging database'"
        )
    lines = [_headline(item, is_focus=item.id == page.focus) for item in page.work_items]
    if page.cursor is not None:
        lines.append(click.style(f"more: --cursor {page.cursor}", dim=True))
    return "\n".join(lines)


def describe_detail(detail: WorkDetail) -> str:
    """Return a work item in full, for people."""
    item = detail.work_item
    lines = [_headline(item), f"  revision {item.revision}, {item.created_at[:10]} to {item.updated_at[:10]}"]
    ended = () if item.is_open else ("report", "reason")
    for name in ("delivery_target", "blocked_by", "workspace", *ended):
        value = getattr(item, name)
        if value:
            lines.append(f"  {name.replace('_', ' ')}: {value}")
    lines += [f"  [{_MARKS[step.state]}] {step.text}" for step in item.todo]
    lines += [
        f"  waits for {wait.waiting_for}: {wait.kind}, {wait.status}, {wait.id}" for wait in detail.waits
    ]
    if detail.plan is not None and detail.plan.exists:
        lines += ["", click.style(detail.plan.path, bold=True), *filter(None, [detail.plan.preview])]
    if detail.work_refs.active:
        lines += ["", click.style("evidence", bold=True)]
        lines += [f"  {ref.kind}  {ref.ref}  {ref.title or ''}".rstrip() for ref in detail.work_refs.active]
    if detail.total_turns:
        last = detail.turns[-_TURNS:]
        more = f", the last {len(last)}" if len(last) < detail.total_turns else ""
        lines += ["", click.style(f"turns: {detail.total_turns}{more}", bold=True)]
        lines += [f"  turn:{turn}" for turn in last]
    return "\n".join(lines)


_MARKS = {"pending": " ", "in_progress": ">", "completed": "x"}


def _headline(item: WorkItem, *, is_focus: bool = False) -> str:
    ready = click.style(item.schedule.readiness.replace("_", " "), fg=_COLORS.get(item.schedule.readiness))
    mark = click.style("* ", bold=True) if is_focus else "  "
    odd = (
        click.style(f"  ({'; '.join(item.schedule.diagnostics)})", fg="yellow")
        if item.schedule.diagnostics
        else ""
    )
    return f"{mark}{item.id}  {ready}  {cut(' '.join(item.objective.split()), _WIDE)}{odd}"


_COLORS = {"runnable": "green", "blocked": "yellow", "waiting_for_operator": "yellow"}
