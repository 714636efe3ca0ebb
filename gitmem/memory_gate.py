"""What a call of the `memory` tool would change, entry by entry, and the answer where that has to wait."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.authoring import Provenance
from gitmem.entries import Entry
from gitmem.memory_call import Call, Operation, Refusal
from gitmem.memory_reply import MemoryReply, error_reply
from gitmem.memory_rules import apply_call
from gitmem.proposals import ProposedEdit
from gitmem.write_approval import Held, ProposedChange, WriteApproval


class MemoryGate:
    """Holds calls that an operator has to approve.

    Args:
        approval: decides, and keeps proposals.
    """

    def __init__(self, approval: WriteApproval) -> None:
        self._approval = approval

    def __call__(self, call: Call, entries: Sequence[Entry], by: Provenance) -> MemoryReply | None:
        """Return the answer to a call that is not carried out now, None for one that may go on.

        Args:
            call: checked, scanned, and such that it can be carried out.
            entries: what the store holds.
            by: who calls.
        """
        edits = edits_of(call, entries)
        held = self._approval.hold(ProposedChange(call.target, call.action, edits, _payload(call)), by)
        return None if held is None else _reply(held, call.target)


def edits_of(call: Call, before: Sequence[Entry]) -> tuple[ProposedEdit, ...]:
    """Return what a call changes on the whole, entry by entry; what came and went in a batch is left out.

    Args:
        call: what is asked for, which can be carried out.
        before: the entries that there are.
    """
    present = [_Traced(entry.text, entry) for entry in before]
    for one in call.operations:
        present = _carried_out(call, one, present)
    kept = {traced.origin for traced in present if traced.origin is not None}
    return (
        *(
            ProposedEdit("replace", traced.origin, traced.entry.text)
            for traced in present
            if traced.origin is not None and traced.origin != traced.entry.text
        ),
        *(ProposedEdit("remove", entry.text, None) for entry in before if entry.text not in kept),
        *(ProposedEdit("add", None, traced.entry.text) for traced in present if traced.origin is None),
    )


@dataclass(frozen=True, slots=True)
class _Traced:
    """An entry on its way through a batch, with the text that it had before; None for a new one."""

    origin: str | None
    entry: Entry


def _carried_out(call: Call, one: Operation, present: list[_Traced]) -> list[_Traced]:
    """Return the entries behind one operation; it finds its entry by the rules of every call."""
    done = apply_call(Call(call.target, (one,)), [traced.entry for traced in present], sys.maxsize)
    if isinstance(done, Refusal) or done.is_empty:
        return present
    if one.action == "add":
        return [*present, _Traced(None, done.entries[-1])]
    if one.action == "remove":
        return [traced for traced in present if traced.entry in done.entries]
    return [_Traced(traced.origin, entry) for traced, entry in zip(present, done.entries, strict=True)]


def _payload(call: Call) -> dict[str, object]:
    rows = [
        {
            name: value
            for name in ("action", "content", "old_text")
            if (value := getattr(one, name)) is not None
        }
        for one in call.operations
    ]
    return {"target": call.target, **({"operations": rows} if call.is_batch else rows[0])}


def _reply(held: Held, target: str) -> MemoryReply:
    if held.is_denied:
        return error_reply(held.message)
    return MemoryReply(
        success=True,
        staged=True,
        pending_id=held.pending_id,
        proposal_staged=True if held.always else None,
        target=target,
        message=held.message,
    )
