"""What a call of the `memory` tool would change, entry by entry, and the answer where that has to wait."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.authoring import Provenance
from gitmem.entries import Entry
from gitmem.memory_call import Call, Operation
from gitmem.memory_reply import MemoryReply, error_reply
from gitmem.proposals import ProposedEdit
from gitmem.write_approval import Held, ProposedChange, WriteApproval


class MemoryGate:
    """Holds calls that an operator has to approve.

    Args:
        approval: decides, and keeps proposals.
    """

    def __init__(self, approval: WriteApproval) -> None:
        self._approval = approval

    def __call__(
        self, call: Call, before: Sequence[Entry], after: Sequence[Entry], by: Provenance
    ) -> MemoryReply | None:
        """Return the answer to a call that is not carried out now, None for one that may go on.

        Args:
            call: checked and scanned.
            before: what the store holds.
            after: what it would hold.
            by: who calls.
        """
        edits = edits_of(call, before, after)
        held = self._approval.hold(ProposedChange(call.target, call.action, edits, _payload(call)), by)
        return None if held is None else _reply(held, call.target)


def edits_of(call: Call, before: Sequence[Entry], after: Sequence[Entry]) -> tuple[ProposedEdit, ...]:
    """Return what a call changes on the whole, entry by entry: replaced ones, removed ones, new ones.

    Args:
        call: what is asked for.
        before: the entries that there are.
        after: the entries that there would be.
    """
    old, new = [entry.text for entry in before], [entry.text for entry in after]
    gone = [text for text in old if text not in new]
    come = [text for text in new if text not in old]
    pairs = _pairs(call.operations, old, gone, come)
    replaced = {text for pair in pairs for text in pair}
    return (
        *(ProposedEdit("replace", *pair) for pair in pairs),
        *(ProposedEdit("remove", text, None) for text in gone if text not in replaced),
        *(ProposedEdit("add", None, text) for text in come if text not in replaced),
    )


def _pairs(
    operations: Sequence[Operation], old: Sequence[str], gone: Sequence[str], come: Sequence[str]
) -> list[tuple[str, str]]:
    """Return what was overwritten, and by what; in a batch the chain of each entry is followed."""
    pairs: dict[str, str] = {}
    for one in operations:
        if one.action != "replace" or not one.content or not one.old_text:
            continue
        origin = next((start for start, text in pairs.items() if one.old_text in text), None)
        origin = origin or _matched(one.old_text, old)
        if origin is not None:
            pairs[origin] = one.content
    return [(start, text) for start, text in pairs.items() if start in gone and text in come]


def _matched(old_text: str, texts: Sequence[str]) -> str | None:
    return next((t for t in texts if t == old_text), next((t for t in texts if old_text in t), None))


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
