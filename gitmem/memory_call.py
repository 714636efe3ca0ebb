"""A call of the `memory` tool as it came: which arguments it needs, in the order in which they are missed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeGuard

from gitmem.authored_text import LINE_BREAK
from gitmem.entries import Entry

Action = Literal["add", "replace", "remove"]
#: What a refusal shows of the store: nothing, the entries, or the entries and how full it is.
Showing = Literal["nothing", "entries", "usage"]

ACTIONS: Final[tuple[Action, ...]] = ("add", "replace", "remove")
TARGETS: Final = ("memory", "user")

#: Operations in one batch at most; more can be no work on a store of a few thousand characters.
MOST_OPERATIONS: Final = 1_000
_ACTION_HINT: Final = "use add, replace or remove"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing was written.

    Attributes:
        error: the sentence that the caller reads; it repeats no text of the call or the store.
        shows: what else of the store is shown.
        matches: the entries that an ambiguous call fits.
        counted: whether it counts towards the failures of a turn (too full, no match, a batch broken off).
        too_full: whether the store had no room for what is new.
        remediation: what a person can do about it.
        pointer: source ref of what is known about the text.
        for_people: what only a person may do about it.
    """

    error: str
    shows: Showing = "nothing"
    matches: tuple[Entry, ...] = ()
    counted: bool = False
    too_full: bool = False
    remediation: str | None = None
    pointer: str | None = None
    for_people: str | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One change that is asked for; texts are stripped and their lines end in LF.

    Attributes:
        content: the new text; None where the action takes none, or where a batch misses it.
        old_text: what finds the entry; None likewise.
    """

    action: str
    content: str | None = None
    old_text: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether the action is one of the three."""
        return self.action in ACTIONS


@dataclass(frozen=True, slots=True)
class Call:
    """A call that can be tried on a store.

    Attributes:
        operations: one, or those of a batch.
        is_batch: whether all of them hold or none.
    """

    target: str
    operations: tuple[Operation, ...]
    is_batch: bool = False

    @property
    def action(self) -> str:
        """`add`, `replace`, `remove` or `batch`."""
        return "batch" if self.is_batch else self.operations[0].action

    @property
    def new_texts(self) -> tuple[tuple[int, str], ...]:
        """The texts that would be stored, each with the position, from 1, of its operation."""
        return tuple(
            (number, one.content)
            for number, one in enumerate(self.operations, 1)
            if one.action in ("add", "replace") and one.content
        )


def parse_target(target: object) -> str | Refusal:
    """Return the store that is meant; none given is `memory`."""
    if target is None:
        return "memory"
    if isinstance(target, str) and target in TARGETS:
        return target
    return Refusal("unknown target: use memory or user")


def parse_call(
    target: str, *, action: object = None, content: object = None, old_text: object = None, operations: object
) -> Call | Refusal:
    """Check the arguments of a call, whatever they are.

    Args:
        target: as `parse_target` gave it.
        action: of a single operation.
        content: its new text.
        old_text: a part of the entry that it is about.
        operations: of a batch; an empty list is as none.
    """
    if operations:
        return _parse_batch(target, operations)
    if action is None:
        return Refusal("unknown action: none was given; use add, replace or remove, or give operations")
    if not isinstance(action, str) or action not in ACTIONS:
        return Refusal(f"unknown action: {_ACTION_HINT}")
    fault = _fault_of(action, content, old_text)
    if fault is not None:
        return fault
    return Call(target, (Operation(action, _clean(content), _clean(old_text)),))


def _parse_batch(target: str, operations: object) -> Call | Refusal:
    if not isinstance(operations, list | tuple):
        return Refusal("operations must be a list of objects with action, content and old_text")
    if len(operations) > MOST_OPERATIONS:
        most = f"a batch holds at most {MOST_OPERATIONS:,} operations"
        return Refusal(f"{most}, not {len(operations):,}; nothing was applied")
    return Call(target, tuple(_item(one) for one in operations), is_batch=True)


def check_operation(one: Operation) -> str | None:
    """Say what an operation of a batch lacks, if it lacks something."""
    if not one.is_known:
        return f"unknown action: {_ACTION_HINT}"
    if one.action != "add" and not one.old_text:
        return f"{one.action} needs old_text"
    if one.action != "remove" and not one.content:
        return f"{one.action} needs content"
    return None


def _fault_of(action: str, content: object, old_text: object) -> Refusal | None:
    """Return what is wrong with a single operation; `old_text` is asked for before `content`."""
    if action != "add":
        fault = _old_text_fault(action, old_text)
        if fault is not None:
            return fault
    return None if action == "remove" else _content_fault(action, content)


def _old_text_fault(action: str, old_text: object) -> Refusal | None:
    if old_text is None or old_text == "":
        return Refusal(f"{action} needs old_text: reissue it with a part of one entry below", "usage")
    if not isinstance(old_text, str):
        return Refusal("old_text must be text")
    if not old_text.strip():
        return Refusal("old_text is empty: reissue it with a part of one entry below", "usage")
    return None


def _content_fault(action: str, content: object) -> Refusal | None:
    if content is None or content == "":
        return Refusal(f"{action} needs content")
    if not isinstance(content, str):
        return Refusal("content must be text")
    if not content.strip():
        more = "" if action == "add" else "; to take the entry away use remove"
        return Refusal(f"content is empty{more}")
    return None if _is_unicode(content) else Refusal("content is no valid Unicode: it holds half a character")


def _item(raw: object) -> Operation:
    """Return an operation of a batch; what is wrong with it shows when its turn comes."""
    if not isinstance(raw, Mapping):
        return Operation("unknown")
    action = raw.get("action")
    content = raw.get("content")
    if content is None:
        content = raw.get("new_text")
    return Operation(
        action if isinstance(action, str) and action in ACTIONS else "unknown",
        _clean(content) if _is_unicode(content) else None,
        _clean(raw.get("old_text")),
    )


def _clean(value: Any) -> str | None:
    return LINE_BREAK.sub("\n", value).strip() if isinstance(value, str) else None


def _is_unicode(value: object) -> TypeGuard[str]:
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
