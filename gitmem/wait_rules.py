"""Waits: whose they are, which of them end one another, and what satisfies them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.errors import InvalidRecord
from gitmem.message_authority import origin_name, voice_of
from gitmem.records import Json
from gitmem.work_rules import text_of

#: What wakes the agent -> the kind of the wait; a kind stands for itself.
WAKES: Final[Mapping[str, str]] = {
    "operator_input": "operator",
    "task_result": "task",
    "external": "external",
    "timer": "timer",
    "system": "system",
    "operator": "operator",
    "task": "task",
}
#: Statuses in which a wait still stands.
UNRESOLVED: Final = frozenset({"active", "triggered"})
#: Kinds that wait for one thing, which has to be named.
_NEED_RESOURCE: Final = frozenset({"task", "timer"})
#: Statuses after which a task has a result.
TASK_ENDS: Final = frozenset({"completed", "failed", "cancelled", "interrupted"})
#: Origins of what did not come from an operator, and the kind of wait that they may satisfy.
_ORIGINS: Final[Mapping[str, str]] = {
    "timer": "timer",
    "system": "system",
    "channel": "external",
    "webhook": "external",
    "callback": "external",
    "external": "external",
}


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait as its record tells it.

    Attributes:
        kind: `task operator timer external system`.
        work_item: its owner; None for a wait of the agent as a whole.
        resource: id of the task, timer or trigger that is waited for.
        turn: id of the turn that wrote its last snapshot.
        trigger: ref of what triggered it.
    """

    id: str
    status: str
    kind: str
    work_item: str | None = None
    waiting_for: str = ""
    resource: str | None = None
    turn: str = ""
    trigger: str | None = None
    triggered_at: str = ""
    updated_at: str = ""

    @property
    def is_unresolved(self) -> bool:
        """Whether it still stands."""
        return self.status in UNRESOLVED


@dataclass(frozen=True, slots=True)
class Trigger:
    """Something that may satisfy a wait.

    Attributes:
        kind: of the waits that it may satisfy.
        ref: of the message or task.
        subject: id of the task, timer or external trigger that it comes from.
        wait: id of the wait that it answers, where it names one.
        work_item: what an operator's message belongs to.
    """

    kind: str
    ref: str
    subject: str | None = None
    wait: str | None = None
    work_item: str | None = None


def wait_kind(wake: str) -> str:
    """Return the kind of a wait by what wakes the agent.

    Raises:
        InvalidRecord: there is no such wake.
    """
    kind = WAKES.get(wake)
    if kind is None:
        raise InvalidRecord(f"wake is one of {', '.join(WAKES)}, not {wake!r}", field="wake")
    return kind


def check_wait(kind: str, waiting_for: object, resource: object) -> str | None:
    """Return the resource of a new wait, None for a blank one.

    Raises:
        InvalidRecord: nobody says what is waited for, or which task or timer.
    """
    if not isinstance(waiting_for, str) or not waiting_for.strip():
        raise InvalidRecord("a wait says what it waits for", field="waiting_for")
    named = resource.strip() if isinstance(resource, str) else ""
    if not named and kind in _NEED_RESOURCE:
        raise InvalidRecord(f"a wait for a {kind} names it: resource is missing", field="resource")
    return named or None


def wait_from(wait_id: str, status: str, body: Json, *, turn: str = "", at: str = "") -> Wait:
    """Return a wait from the body of its snapshot."""
    return Wait(
        id=wait_id,
        status=status,
        kind=str(body.get("wait_kind") or "system"),
        work_item=text_of(body, "work_item_id"),
        waiting_for=text_of(body, "waiting_for") or "",
        resource=text_of(body, "resource"),
        turn=turn,
        trigger=text_of(body, "trigger"),
        triggered_at=text_of(body, "triggered_at") or "",
        updated_at=at,
    )


def wait_owner(
    explicit: str | None, event_link: str | None, turn_link: str | None, focus: str | None
) -> str | None:
    """Return the work item that a new wait belongs to: the first that is named, else the focus, else none."""
    return explicit or event_link or turn_link or focus


def replaced_waits(new: Wait, standing: Iterable[Wait]) -> tuple[str, ...]:
    """Return the ids of the waits that a new one takes the place of: all others of its owner."""
    return tuple(
        one.id
        for one in standing
        if one.id != new.id and one.is_unresolved and one.work_item == new.work_item
    )


def trigger_of_message(ref: str, body: Json, work_item: str | None) -> Trigger | None:
    """Return what a message may satisfy; nothing, if it comes from the agent itself.

    Args:
        ref: of the message.
        body: as it was told.
        work_item: what the message belongs to by its turn. What the message itself says of that counts for
            nothing: anybody may have written it.
    """
    voice, sources = voice_of(body), _sources(body)
    if voice == "operator":
        return Trigger("operator", ref, work_item=work_item)
    kind = _ORIGINS.get(origin_name(body.get("origin"))) if voice in ("runtime", "external") else None
    if kind is None:
        return None
    subject = sources.get("external_trigger_id")
    if kind == "timer":
        subject = sources.get("timer_id") or _own_id(body.get("origin"), "timer_id")
    return Trigger(kind, ref, subject, sources.get("wait_id"), work_item)


def trigger_of_task(ref: str, task_id: str, status: str) -> Trigger | None:
    """Return what a task satisfies; nothing while it goes on."""
    return Trigger("task", ref, task_id) if status in TASK_ENDS else None


def satisfies(trigger: Trigger, wait: Wait) -> bool:
    """Say whether something satisfies a wait. Waits of the trigger's own turn are none to ask about."""
    if not wait.is_unresolved or trigger.kind != wait.kind:
        return False
    if wait.kind == "task":
        return wait.resource is not None and trigger.subject == wait.resource
    if wait.kind == "external":
        names_trigger = trigger.subject is not None and wait.resource in (None, trigger.subject)
        return names_trigger and trigger.wait == wait.id
    if wait.kind == "timer":
        return wait.resource is None or trigger.subject == wait.resource
    if wait.kind == "operator":
        return trigger.work_item == wait.work_item
    return True


def satisfied_waits(
    triggers: Sequence[Trigger], standing: Iterable[Wait]
) -> tuple[tuple[Wait, Trigger], ...]:
    """Return the waits that something satisfies, each with the first thing that does."""
    found = []
    for wait in standing:
        trigger = next((one for one in triggers if satisfies(one, wait)), None)
        if trigger is not None:
            found.append((wait, trigger))
    return tuple(found)


def may_clear_blocker(wait: Wait, *, is_open: bool, blocked_by: str | None) -> bool:
    """Say whether the end of a wait frees its owner: only of the words that the wait itself put there."""
    return is_open and bool(wait.waiting_for) and blocked_by == wait.waiting_for


def is_due(recheck_at: str | None, last_turn_at: str, now: str) -> bool:
    """Say whether a work item is to be looked at again: its time has come, and no turn was its own since.

    Args:
        recheck_at: RFC 3339, as all three; None for never.
        last_turn_at: end of the last turn that belonged to it.
        now: this moment.
    """
    return recheck_at is not None and recheck_at <= now and last_turn_at < recheck_at


def _own_id(origin: object, name: str) -> str | None:
    """Return the id that an origin has of its own: `{"kind": "timer", "timer_id": "…"}`."""
    value = origin.get(name) if isinstance(origin, Mapping) else None
    return value if isinstance(value, str) and value.strip() else None


def _sources(body: Json) -> Mapping[str, str]:
    sources = body.get("source_refs")
    if not isinstance(sources, Mapping):
        return {}
    return {str(name): value for name, value in sources.items() if isinstance(value, str)}
