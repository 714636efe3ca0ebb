"""What a work item's event becomes before it is sealed: what gitmem works out stands beside its words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final, TypeGuard

from gitmem.errors import InvalidRecord
from gitmem.lifecycle_rules import EVENT_FIELDS, Snapshot, State
from gitmem.records import Event, Json
from gitmem.times import format_time, parse_timestamp
from gitmem.work_paths import plan_path
from gitmem.work_rules import MANUAL_RECHECK_MS, PLAN_STATUSES, parse_todo, text_of

#: What a work item that is blocked no more has of a blocker.
UNBLOCKED: Final[Json] = {"blocked_by": None, "recheck_at": None}
#: Action and status of what need not be done again.
_ENDS: Final = frozenset({("complete", "completed"), ("drop", "cancelled")})
_RECHECK: Final = "recheck_after_ms"
_TEXTS: Final = ("plan", "delivery_target", "blocked_by", "report")
#: A year; nobody means a longer one.
_LONGEST_RECHECK_MS: Final = 366 * 24 * 3_600_000


def check_work_event(event: Event) -> Event:
    """Check what a caller says of a work item or a wait, before anything is written.

    Raises:
        InvalidRecord: a field could never mean anything, or contradicts another one.
    """
    if event.kind == "work_item":
        _check_item(event.body)
    elif event.kind == "wait":
        # One without a resource stands until it is told to end: the caller knows its own waits.
        check_recheck(event.body.get(_RECHECK))
    return event


def check_recheck(after: object) -> None:
    """Check in how many milliseconds something is to be looked at again; None is not said.

    Raises:
        InvalidRecord: it is no number above nothing, or longer than a year.
    """
    if after is not None and not _is_wanted(after):
        most = f"milliseconds above 0, at most {_LONGEST_RECHECK_MS} (a year)"
        raise InvalidRecord(f"{_RECHECK} is {most}", field=_RECHECK)


def _is_wanted(after: object) -> TypeGuard[float]:
    if not isinstance(after, int | float) or isinstance(after, bool):
        return False
    return 0 < after <= _LONGEST_RECHECK_MS


def _check_item(body: Json) -> None:
    for name in (*_TEXTS, "objective", "reason"):
        if not isinstance(body.get(name), str | None):
            raise InvalidRecord(f"{name} is text", field=name)
    if "objective" in body and text_of(body, "objective") is None:
        raise InvalidRecord("a work item has an objective", field="objective")
    if body.get("plan_status") not in (None, *PLAN_STATUSES):
        raise InvalidRecord(f"plan_status is one of {', '.join(PLAN_STATUSES)}", field="plan_status")
    if body.get("todo") is not None:
        parse_todo(body["todo"])
    for name in ("expected_revision", "revision"):
        if not isinstance(body.get(name), int | None) or isinstance(body.get(name), bool):
            raise InvalidRecord(f"{name} is a number", field=name)
    check_recheck(body.get(_RECHECK))
    if not isinstance(body.get("clear_blocker"), bool | None):
        raise InvalidRecord("clear_blocker is true or false", field="clear_blocker")
    if body.get("clear_blocker") and text_of(body, "blocked_by") is not None:
        raise InvalidRecord("a blocker is either named or cleared", field="clear_blocker")
    if text_of(body, "report") is not None and body["action"] in ("create", "update", "pick"):
        hint = "Only `complete` takes one."
        raise InvalidRecord("a work item that goes on has no report", hint=hint, field="report")


def with_fields(event: Event, fields: Json, *, without: Collection[str] = ()) -> Event:
    """Return an event with fields put beside its own, and without some of those."""
    kept = {name: value for name, value in event.body.items() if name not in without}
    return replace(event, body={**kept, **fields})


def creation(event: Event, item: str, *, has_plan: bool) -> Event:
    """Return the event of a new work item, with what stays true of it: when, where, and its plan's path."""
    objective = text_of(event.body, "objective") or ""
    fields = {"created_at": event.ts}
    if has_plan:
        fields["plan_path"] = plan_path(event.ts, objective, item)
    if event.workspace is not None:
        fields["workspace_id"] = event.workspace
    return with_fields(event, {**fields, **_blocker(event, None)}, without=(_RECHECK,))


def update(event: Event, last: Snapshot) -> Event | None:
    """Return the event of an update; None if the work item is so already."""
    other = {*EVENT_FIELDS, "work_item_id", _RECHECK}
    fields = {name: value for name, value in event.body.items() if name not in other}
    before = text_of(last.body, "blocked_by")
    blocker = _blocker(event, before)
    is_so = all((last.body.get(name) or None) == (value or None) for name, value in fields.items())
    if is_so and (before is None or not blocker):
        return None
    return with_fields(event, blocker, without=(_RECHECK,))


def of_same_owner(event: Event, known: Json) -> Event:
    """Return an event of a wait without another owner: whose it is was settled when it began."""
    own = text_of(known, "work_item_id")
    return with_fields(event, {} if own is None else {"work_item_id": own}, without=("work_item_id",))


def is_so(action: str, state: State) -> bool:
    """Say whether a work item ended in that way already."""
    return not state.diverged and (action, state.status) in _ENDS


def clears_blocker(event: Event) -> bool:
    """Say whether an event clears a blocker; whoever does says why.

    Raises:
        InvalidRecord: there is no reason.
    """
    if event.kind != "work_item" or event.body.get("clear_blocker") is not True:
        return False
    if text_of(event.body, "reason") is None:
        raise InvalidRecord("clear_blocker needs a reason", field="reason")
    return True


def _blocker(event: Event, before: str | None) -> Json:
    """Return what an event makes of the blocker: another one is looked at again, after an hour or as told."""
    if clears_blocker(event):
        return UNBLOCKED
    if "recheck_at" in event.body:  # of a wait, which has its own time
        return {}
    words = text_of(event.body, "blocked_by") if "blocked_by" in event.body else before
    if words is None:
        return UNBLOCKED if "blocked_by" in event.body else {}
    after = event.body.get(_RECHECK)
    if words == before and after is None:
        return {}
    return {"recheck_at": recheck_time(event.ts, MANUAL_RECHECK_MS if after is None else after)}


def recheck_time(ts: str, after: object) -> str | None:
    """Return when something is looked at again, `after` milliseconds behind `ts`; None for no such number."""
    return format_time(parse_timestamp(ts) + after / 1000) if _is_wanted(after) else None
