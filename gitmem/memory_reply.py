"""What the `memory` tool answers: the shapes that Hermes' models know, and where the change went."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from gitmem.entries import Entry, count_chars, entry_id
from gitmem.json_view import JsonView, to_json
from gitmem.memory_call import Refusal
from gitmem.memory_rules import Change, preview, usage_line, usage_short

#: How an entry may be shown: its text, or a notice in its place.
Show = Callable[[Entry], str]

_NOTE: Final = "The change is complete; do not repeat it."
#: Refusals show this many characters of entries in full, or twice the limit where that is more.
_SHOWN_CHARS: Final = 4_000
#: The most entries that are shown by their beginning.
_MOST_SHOWN: Final = 500
#: Keys that a written change always has, null where there is nothing to say.
_OF_WRITES: Final = frozenset({"committed", "reason", "source_ref"})


@dataclass(frozen=True, slots=True)
class MemoryReply(JsonView):
    """The answer to one call; what does not apply is None, and absent from its JSON.

    Attributes:
        done: nothing is left to do, so the call must not be repeated.
        usage: how full the store is; with a percentage where something was written.
        note: what the model is to do now.
        current_entries: the store's entries, poisoned ones as a notice.
        matches: beginnings of the entries that an ambiguous `old_text` fits.
        replaced_entry: the whole text that was overwritten.
        replaced_entries: the same of a batch, by the operation's position from 1.
        staged, pending_id: the change waits for approval.
        proposal_staged: it would wait with approval off, too, because nobody attends the agent.
        remediation: what a person can do.
        pointer: source ref of what is known about a text that was judged before.
        committed: the commit that holds the change; None while it waits, with `reason`.
        source_ref: the address of the entry that is new or changed, else of the store.
        unchanged: it was so already.
        for_people: what only a person may do about it; the model must not read it, so it is in no JSON.
    """

    success: bool
    done: bool | None = None
    staged: bool | None = None
    pending_id: str | None = None
    proposal_staged: bool | None = None
    target: str | None = None
    usage: str | None = None
    entry_count: int | None = None
    message: str | None = None
    note: str | None = None
    error: str | None = None
    current_entries: Sequence[str] | None = None
    matches: Sequence[str] | None = None
    replaced_entry: str | None = None
    replaced_entries: Mapping[int, str] | None = None
    remediation: str | None = None
    pointer: str | None = None
    committed: str | None = None
    reason: str | None = None
    source_ref: str | None = None
    unchanged: bool | None = None
    conflicts: Sequence[str] | None = None
    for_people: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the keys that apply."""
        data = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "for_people"}
        always = _OF_WRITES if self.success and not self.staged else frozenset()
        return {name: to_json(value) for name, value in data.items() if value is not None or name in always}


def success_reply(target: str, change: Change, limit: int, show: Show, **written: Any) -> MemoryReply:
    """Return the reply to a call that holds.

    Args:
        target: the store.
        change: what it became.
        limit: of the store.
        show: how a replaced text may be shown.
        written: `committed`, `reason`, and where they apply `unchanged` and `conflicts`.
    """
    texts = {number: show(_entry(text)) for number, text in change.replaced.items()}
    is_batch = change.message.startswith("Applied")
    return MemoryReply(
        success=True,
        done=True,
        target=target,
        usage=usage_line(count_chars(change.entries), limit),
        entry_count=len(change.entries),
        message=change.message,
        note=_NOTE,
        replaced_entry=None if is_batch else texts.get(1),
        replaced_entries=texts if is_batch and texts else None,
        source_ref=f"entry:{change.new[0].id}" if len(change.new) == 1 else f"agent_memory:{target}",
        **written,
    )


def refusal_reply(refusal: Refusal, entries: Sequence[Entry], limit: int, show: Show) -> MemoryReply:
    """Return the reply to a call that does not hold.

    Args:
        refusal: why.
        entries: what the store holds.
        limit: of the store.
        show: how an entry may be shown.
    """
    listed = refusal.shows in ("entries", "usage")
    return MemoryReply(
        success=False,
        error=refusal.error,
        current_entries=_shown(entries, limit, show) if listed else None,
        usage=usage_short(count_chars(entries), limit) if refusal.shows == "usage" else None,
        matches=_matches(refusal, show) if refusal.matches else None,
        remediation=refusal.remediation,
        pointer=refusal.pointer,
        for_people=refusal.for_people,
    )


def error_reply(error: str, *, remediation: str | None = None) -> MemoryReply:
    """Return the reply to a call that reached no store."""
    return MemoryReply(success=False, error=error, remediation=remediation)


def final_reply(failures: int) -> MemoryReply:
    """Return the reply that ends a row of failures in one turn."""
    error = (
        f"{failures} memory calls failed in this turn. Stop trying to change memory now and answer the user;"
        " what could not be kept can be kept in a later turn."
    )
    return MemoryReply(success=False, done=True, error=error)


def blocked_text(file: str, rules: Sequence[str], entry_id: str) -> str:
    """Return what stands in the place of an entry that must not be shown to a model.

    Args:
        file: name of its file.
        rules: what was found in it.
        entry_id: by which it can be removed without being read.
    """
    found = ", ".join(dict.fromkeys(rules))
    return (
        f"[BLOCKED: {file} entry contained threat pattern(s): {found}. Its text is in the file."
        f" Remove it with old_text entry:{entry_id}, or edit the file.]"
    )


def _shown(entries: Sequence[Entry], limit: int, show: Show) -> list[str]:
    """Return entries in full as far as there is room, then beginnings, then how many more there are."""
    room = max(2 * limit, _SHOWN_CHARS)
    shown: list[str] = []
    for number, entry in enumerate(entries):
        if number >= _MOST_SHOWN and len(entry.text) > room:
            return [*shown, f"(and {len(entries) - number:,} more)"]
        text = show(entry)
        if len(entry.text) > room:
            text = f"{preview(text)} (entry:{entry.id}, {len(entry.text):,} characters)"
        room -= len(entry.text)
        shown.append(text)
    return shown


def _matches(refusal: Refusal, show: Show) -> list[str]:
    return [preview(show(entry)) for entry in refusal.matches[:_MOST_SHOWN]]


def _entry(text: str) -> Entry:
    return Entry(text, entry_id(text))
