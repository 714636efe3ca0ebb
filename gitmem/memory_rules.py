"""What a call of the `memory` tool makes of a store: the new entries, or why not. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.counted import counted
from gitmem.entries import Entry, count_chars, make_entry
from gitmem.errors import RefusedError
from gitmem.memory_call import Call, Operation, Refusal, check_operation

#: Longer texts are not searched for threats to their end, so they are not stored.
MOST_SCANNED: Final = 65_536

_PREVIEW: Final = 80
#: What acts on a terminal, or makes Git take the store for a binary file; U+0085 is a line break.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f]")
_NO_MATCH: Final = "no entry holds old_text; it must be a part of one entry, letter by letter"
_MAKE_ROOM: Final = (
    "Consolidate in this turn: shorten, join or remove entries below, then retry, best in one batch."
)
_REF: Final = re.compile(r"(?:entry:)?(?P<id>[0-9a-f]{15})")


@dataclass(frozen=True, slots=True)
class Edit:
    """What one operation did to one entry.

    Attributes:
        number: the operation's position, from 1.
        before: the entry's whole text; None where it is new.
        after: likewise; None where it goes.
    """

    number: int
    action: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """What a call makes of a store.

    Attributes:
        entries: all entries behind it.
        message: what was done, in a sentence.
        edits: text by text, in the order of the operations; one that changes nothing has none.
        new: entries that were not there before it, or the one that was there already.
        added, changed, removed: how many entries; another order is one change.
    """

    entries: tuple[Entry, ...]
    message: str
    edits: tuple[Edit, ...] = ()
    new: tuple[Entry, ...] = ()
    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def is_empty(self) -> bool:
        """The store holds what it held."""
        return not (self.added or self.changed or self.removed)

    @property
    def replaced(self) -> Mapping[int, str]:
        """The whole text that was overwritten, by the operation's position."""
        return {one.number: one.before for one in self.edits if one.action == "replace" and one.before}


def apply_call(call: Call, entries: Sequence[Entry], limit: int) -> Change | Refusal:
    """Return what a call makes of a store.

    Args:
        call: what is asked for.
        entries: what the store holds, no two alike.
        limit: the most code points that it may hold.
    """
    if call.is_batch:
        return _apply_batch(call, entries, limit)
    done = _apply(call.operations[0], entries, limit)
    if isinstance(done, Refusal):
        return done
    total = count_chars(done.entries)
    if call.action != "remove" and not done.is_empty and total > limit:
        return _overflow(call.operations[0], entries, total, limit)
    return done


def usage_line(chars: int, limit: int) -> str:
    """Return `34% — 748/2,200 chars`, as a store's header and every success show it."""
    return f"{percent_of(chars, limit)}% — {usage_short(chars, limit)} chars"


def usage_short(chars: int, limit: int) -> str:
    """Return `748/2,200`, as refusals show it."""
    return f"{chars:,}/{limit:,}"


def percent_of(chars: int, limit: int) -> int:
    """Return how full a store is: whole percents, at most 100."""
    return min(100, int(chars / limit * 100)) if limit > 0 else 0


def preview(text: str) -> str:
    """Return the beginning of an entry, by which it can be told from others."""
    return text if len(text) <= _PREVIEW else text[:_PREVIEW] + "..."


def _apply(one: Operation, entries: Sequence[Entry], limit: int, number: int = 1) -> Change | Refusal:
    """Carry out one operation, whatever the size of the outcome."""
    if one.action == "add":
        return _add(one, entries, number)
    found = _find(one.old_text or "", entries, limit)
    if isinstance(found, Refusal):
        return found
    if one.action == "remove":
        rest = tuple(entry for entry in entries if entry != found)
        return Change(rest, "Entry removed.", (Edit(number, "remove", found.text, None),), removed=1)
    return _replace(one, found, entries, number)


def _add(one: Operation, entries: Sequence[Entry], number: int) -> Change | Refusal:
    present = next((entry for entry in entries if entry.text == one.content), None)
    if present is not None:
        return Change(tuple(entries), "Entry exists already, no duplicate added.", new=(present,))
    new = _entry_of(one)
    if isinstance(new, Refusal):
        return new
    edit = Edit(number, "add", None, new.text)
    return Change((*entries, new), "Entry added.", (edit,), (new,), added=1)


def _replace(one: Operation, found: Entry, entries: Sequence[Entry], number: int) -> Change | Refusal:
    new = _entry_of(one)
    if isinstance(new, Refusal):
        return new
    edits = (Edit(number, "replace", found.text, new.text),)
    if new.text == found.text:
        return Change(tuple(entries), "Entry replaced.", edits, (found,))
    if any(entry.text == new.text for entry in entries):
        return Refusal("another entry holds that text already: remove the one that is to go instead")
    replaced = tuple(new if entry == found else entry for entry in entries)
    return Change(replaced, "Entry replaced.", edits, (new,), changed=1)


def _entry_of(one: Operation) -> Entry | Refusal:
    if _CONTROL.search(one.content or ""):
        return Refusal("content holds a control character; only tabs and line breaks may stand in an entry")
    try:
        return make_entry(one.content or "")
    except RefusedError as error:
        return Refusal(f"{error.message}; {error.hint}")


def _find(old_text: str, entries: Sequence[Entry], limit: int) -> Entry | Refusal:
    """Return the one entry that is meant: the one that is this text, else the one that holds it."""
    named = _named(old_text, entries)
    if named is not None:
        return named
    hits = [entry for entry in entries if old_text in entry.text]
    if not hits:
        return Refusal(_NO_MATCH, "entries", counted=True)
    if len(hits) > 1:
        error = f"old_text fits {len(hits)} entries; give more of the one that is meant"
        return Refusal(error, matches=tuple(hits))
    return hits[0] if len(hits[0].text) <= limit else _too_long(hits[0], limit)


def _named(old_text: str, entries: Sequence[Entry]) -> Entry | None:
    """Return the entry that is named in full, by its text or by its id."""
    ref = _REF.fullmatch(old_text)
    exact = (entry for entry in entries if entry.text == old_text)
    by_id = (entry for entry in entries if ref is not None and entry.id == ref["id"])
    return next(exact, None) or next(by_id, None)


def _too_long(entry: Entry, limit: int) -> Refusal:
    return Refusal(
        f"that entry has {len(entry.text):,} characters, more than the whole store may hold ({limit:,}): a"
        " person wrote it by hand, and a part of it does not name all of it",
        remediation="A person can divide it by lines that hold only §: `gitmem edit memory`. To act on all of"
        f" it, give old_text entry:{entry.id}.",
    )


def _overflow(one: Operation, entries: Sequence[Entry], total: int, limit: int) -> Refusal:
    used = usage_short(count_chars(entries), limit)
    if one.action == "add":
        what = f"memory is at {used} characters; adding {len(one.content or ''):,} would exceed the limit"
    else:
        reached = usage_short(total, limit)
        what = f"the replacement would bring memory to {reached} characters and exceed the limit"
    return Refusal(f"{what}. {_MAKE_ROOM}", "usage", counted=True, too_full=True)


def _apply_batch(call: Call, entries: Sequence[Entry], limit: int) -> Change | Refusal:
    present: Sequence[Entry] = entries
    edits: list[Edit] = []
    for number, one in enumerate(call.operations, 1):
        missing = check_operation(one)
        done = Refusal(missing) if missing else _apply(one, present, limit, number)
        if isinstance(done, Refusal):
            return _broken_off(number, one, done)
        present = done.entries
        edits += done.edits
    total, count = count_chars(present), counted(len(call.operations), "operation")
    if total > limit:
        error = f"{count} would bring memory to {usage_short(total, limit)} characters and exceed the limit"
        return Refusal(f"{error}; nothing was applied. {_MAKE_ROOM}", "usage", counted=True, too_full=True)
    return _net_change(entries, present, edits, f"Applied {count}.")


def _broken_off(number: int, one: Operation, why: Refusal) -> Refusal:
    error = f"Operation {number} ({one.action}): {why.error}. Nothing was applied."
    return Refusal(error, "usage", counted=True, remediation=why.remediation)


def _net_change(
    before: Sequence[Entry], after: Sequence[Entry], edits: Sequence[Edit], message: str
) -> Change:
    old, new = ({entry.text for entry in side} for side in (before, after))
    fresh = tuple(entry for entry in after if entry.text not in old)
    gone = len(old - new)
    changed = min(sum(one.action == "replace" for one in edits), gone, len(fresh))
    # An entry that was taken out and put back stands elsewhere.
    is_reordered = old == new and [entry.text for entry in before] != [entry.text for entry in after]
    return Change(
        tuple(after),
        message,
        tuple(edits),
        fresh,
        added=len(fresh) - changed,
        changed=changed + is_reordered,
        removed=gone - changed,
    )
