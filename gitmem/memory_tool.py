"""The `memory` tool: a call is checked, scanned, tried on what the file holds now, committed and answered.

The order: arguments; threats and secrets in what is new; texts that were judged; approval; under the home's
lock the file is read anew and the call applied to it; the write. Nothing is written on the way to a refusal,
and every refusal is a reply: what is raised has to do with the home, not with the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from gitmem.authoring import Authoring, Provenance, WriteReply, check_cause
from gitmem.branch_changes import PathChange
from gitmem.curated import STORES, Store
from gitmem.entries import Entry, count_chars, format_store, parse_store
from gitmem.errors import HeadMoved, RefusedError
from gitmem.failure_counts import MOST_FAILURES, FailureCounts, session_name
from gitmem.file_lock import file_lock
from gitmem.git_objects import hash_object
from gitmem.layout import Layout
from gitmem.memory_call import Call, Refusal, parse_call, parse_target
from gitmem.memory_reply import (
    MemoryReply,
    error_reply,
    final_reply,
    refusal_reply,
    success_reply,
)
from gitmem.memory_rules import MOST_SCANNED, Change, Edit, apply_call, percent_of
from gitmem.memory_stores import MemoryStores
from gitmem.operator_branch import OperatorBranch
from gitmem.spool import Spool
from gitmem.store_tidying import tidy_store
from gitmem.subjects import memory_subject

#: Seconds to wait for the home's lock, as for every write to the branch.
_LOCK_WAIT: Final = 10.0
#: How often a call is tried anew on a file that an editor changes at the same time.
_TRIES: Final = 20
_NOTHING: Final = Store("", (), 0, "\n", b"")


#: Takes a call that is not to be carried out now on a store's entries, and answers it; None lets it go on.
Gate = Callable[[Call, Sequence[Entry], Provenance], MemoryReply | None]
#: Says that a text was retracted or rejected: the sentence, and the source ref that tells of it.
Judged = Callable[[str], tuple[str, str] | None]


@dataclass(frozen=True, slots=True)
class ToolParts:
    """What the tool works with.

    Attributes:
        stores: reads the stores, knows their limits and shows them.
        gate: holds what needs an operator's word.
        judged: remembers what was retracted or rejected.
        no_room: keeps what is new in a call for which the store had no room.
        took: hears of a store that took a change.
    """

    layout: Layout
    authoring: Authoring
    branch: OperatorBranch
    spool: Spool
    stores: MemoryStores
    gate: Gate = lambda call, entries, by: None  # noqa: ARG005
    judged: Judged = lambda text: None  # noqa: ARG005
    no_room: Callable[[Call, Provenance], None] = lambda call, by: None  # noqa: ARG005
    took: Callable[[str], None] = lambda target: None  # noqa: ARG005


class MemoryTool:
    """Answers calls on the two stores of one home.

    Args:
        parts: what it works with.
    """

    def __init__(self, parts: ToolParts) -> None:
        self._parts = parts
        self._stores = parts.stores
        self.failures = FailureCounts(parts.layout)

    def call(
        self,
        by: Provenance,
        *,
        target: object = None,
        action: object = None,
        content: object = None,
        old_text: object = None,
        operations: object = None,
    ) -> MemoryReply:
        """Answer one call, whatever its arguments are.

        Args:
            by: who calls, and what led to it.
            target: `memory` or `user`.
            action: `add`, `replace` or `remove`.
            content: the new text.
            old_text: a part of the entry that is replaced or removed.
            operations: a batch instead, which holds as a whole or not at all.

        Raises:
            UsageError: `by` names no author, session, turn or source; that is no part of the call.
            HomeLocked: another process keeps the home's lock.
            HeadMoved: the file kept changing while it was read.
        """
        check_cause(by)
        store = parse_target(target)
        if isinstance(store, Refusal):
            return error_reply(store.error)
        if by.author == "agent" and not self._stores.file(store).enabled:
            return error_reply(
                f"the {store} store is switched off in this home",
                remediation="A person can switch it on in gitmem.toml, table memory.",
            )
        call = parse_call(store, action=action, content=content, old_text=old_text, operations=operations)
        if isinstance(call, Refusal):
            return self._refuse(store, call, by)
        blocked, allowed = self._scan(call, by)
        if blocked is not None:
            return self._refuse(store, blocked, by)
        return self._try(call, by, allowed)

    def begin_turn(self, session: str | None) -> None:
        """Count failures anew: a turn of this session begins."""
        name, shared = _counted_as(session)
        self.failures.reset(name, shared=shared)

    def _scan(self, call: Call, by: Provenance) -> tuple[Refusal | None, tuple[str, ...]]:
        """Judge everything that would be stored, before the disk is touched."""
        allowed: list[str] = []
        limit = self._stores.file(call.target).char_limit
        for number, text in call.new_texts:
            verdict = self._stores.scan(text[:MOST_SCANNED])
            fault = self._unfit(text, limit, by)
            if verdict.blocked:
                fault = Refusal(verdict.blocked, for_people=verdict.allow)
            if fault is not None:
                where = f"Operation {number}: " if call.is_batch else ""
                return replace(fault, error=where + fault.error), ()
            allowed += verdict.allowed
        return None, tuple(allowed)

    def _unfit(self, text: str, limit: int, by: Provenance) -> Refusal | None:
        if MOST_SCANNED < len(text) <= limit:
            return Refusal(f"Blocked: a text of more than {MOST_SCANNED:,} characters is too long to scan")
        # An operator may say again what was taken back; that lifts it.
        judged = self._parts.judged(text) if by.author == "agent" else None
        return None if judged is None else Refusal(judged[0], pointer=judged[1])

    def _try(self, call: Call, by: Provenance, allowed: Sequence[str]) -> MemoryReply:
        """Ask whether the change may be made, then make just that one under the lock.

        Whoever is asked may be a person, who must not hold up everybody's writes meanwhile. Where an editor
        or another process made another change of it, it begins again.
        """
        approved: tuple[Edit, ...] = ()
        for _ in range(_TRIES):
            held, edits = self._ask(call, by, approved)
            if held is not None:
                return held
            approved = edits
            with file_lock(self._parts.layout.home_lock, wait=_LOCK_WAIT), suppress(HeadMoved):
                reply = self._apply(call, by, allowed, approved)
                if reply is not None:
                    return reply
        raise HeadMoved(f"{STORES[call.target]} keeps changing", hint="Try again.", path=STORES[call.target])

    def _ask(
        self, call: Call, by: Provenance, approved: tuple[Edit, ...]
    ) -> tuple[MemoryReply | None, tuple[Edit, ...]]:
        """Return the answer to a change that is not to be made now, and the edits that may be made."""
        store = self._stores.read(call.target)
        if isinstance(store, Refusal):
            return None, ()
        change = apply_call(call, store.entries, self._stores.file(call.target).char_limit)
        if isinstance(change, Refusal) or change.is_empty or change.edits == approved:
            return None, () if isinstance(change, Refusal) else change.edits
        fault = self._stores.read_only_fault(call.target)
        if fault is not None:
            return error_reply(
                fault, remediation=f"A person can give it back: chmod u+w {STORES[call.target]}"
            ), ()
        return self._parts.gate(call, store.entries, by), change.edits

    def _apply(
        self, call: Call, by: Provenance, allowed: Sequence[str], approved: tuple[Edit, ...]
    ) -> MemoryReply | None:
        """Answer a call under the lock; None where it would make other edits than those approved."""
        store = self._stores.read(call.target)
        if isinstance(store, Refusal):
            return self._refused(call.target, store, by, _NOTHING.entries)
        limit = self._stores.file(call.target).char_limit
        change = apply_call(call, store.entries, limit)
        if isinstance(change, Refusal):
            if change.too_full:
                self._parts.no_room(call, by)
            return self._refused(call.target, change, by, store.entries)
        if change.is_empty:
            return self._unchanged(call, change, by)
        if change.edits != approved:
            return None
        try:
            written = self._write(call, store, change, by, allowed)
        except RefusedError as error:
            return error_reply(error.message, remediation=error.hint)
        self._succeeded(by)
        self._parts.took(call.target)
        return success_reply(
            call.target,
            change,
            limit,
            self._stores.shown(call.target),
            committed=written.committed,
            reason=written.reason,
            conflicts=written.conflicts or None,
        )

    def _write(
        self, call: Call, store: Store, change: Change, by: Provenance, allowed: Sequence[str]
    ) -> WriteReply:
        limit = self._stores.file(call.target).char_limit
        path = STORES[call.target]
        store = tidy_store(self._parts.branch, store)
        base = hash_object("blob", store.content) if store.path else None
        content = format_store(change.entries, mark=store.mark).encode()
        return self._parts.authoring.write(
            [PathChange(path, base, content)],
            kind="memory",
            action=call.action,
            subject=memory_subject(
                call.target,
                percent_of(count_chars(change.entries), limit),
                added=change.added,
                changed=change.changed,
                removed=change.removed,
            ),
            source_ref=None,
            by=by,
            allowed=allowed,
            scanned=True,
            locked=True,
        )

    def _unchanged(self, call: Call, change: Change, by: Provenance) -> MemoryReply:
        """Answer a call that finds all as it is to be; say whether the branch holds it."""
        self._succeeded(by)
        snapshot = self._parts.branch.look(staged=False)
        head = snapshot.sight(STORES[call.target]).head
        on_branch = {entry.text for entry in parse_store((head or b"").decode("utf-8", "replace"))}
        is_there = all(entry.text in on_branch for entry in change.entries)
        return success_reply(
            call.target,
            change,
            self._stores.file(call.target).char_limit,
            self._stores.shown(call.target),
            committed=snapshot.state.head.commit if is_there else None,
            reason=None if is_there else snapshot.state.obstacle or "an edit by hand is not committed yet",
            unchanged=True,
        )

    def _refuse(self, target: str, refusal: Refusal, by: Provenance) -> MemoryReply:
        """Answer a call that was not tried; what it shows of the store is read for that."""
        if refusal.shows == "nothing":
            return self._refused(target, refusal, by, ())
        store = self._stores.read(target)
        if isinstance(store, Refusal):
            return self._refused(target, store, by, ())
        return self._refused(target, refusal, by, store.entries)

    def _refused(
        self, target: str, refusal: Refusal, by: Provenance, entries: Sequence[Entry]
    ) -> MemoryReply:
        if refusal.counted:
            name, shared = self._turn_of(by)
            count = self.failures.add(name, shared=shared)
            if count > MOST_FAILURES:
                return final_reply(count)
        return refusal_reply(
            refusal, entries, self._stores.file(target).char_limit, self._stores.shown(target)
        )

    def _succeeded(self, by: Provenance) -> None:
        name, shared = self._turn_of(by)
        self.failures.reset(name, shared=shared)

    def _turn_of(self, by: Provenance) -> tuple[str, bool]:
        """Return what counts as the turn of a call, and whether other processes work in it."""
        if by.open_turn is not None:
            return by.open_turn.id, False
        if isinstance(by.turn, str):
            return by.turn, True
        held = self._parts.spool.held_by(by.session) if by.session else None
        return (held, True) if held else _counted_as(by.session)


def _counted_as(session: str | None) -> tuple[str, bool]:
    return ("session ", False) if session is None else (session_name(session), True)
