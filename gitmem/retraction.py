"""Takes a statement back: it stays in the record, is shown as corrected, and ranks last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitmem.authoring import Provenance, WriteReply, check_cause
from gitmem.entries import Entry, entry_id
from gitmem.entry_edits import EntryEdits
from gitmem.errors import RefusedError, Unavailable, UnknownSource, UsageError
from gitmem.json_view import JsonView
from gitmem.judgement_rules import RETRACT, Judgement, judgement_body, subject_of, text_digests
from gitmem.judgements import Judgements, judgement_event
from gitmem.memory_get import MOST_CHARS, Memory
from gitmem.proposals import ProposedEdit
from gitmem.records import Event
from gitmem.refs import parse_ref
from gitmem.turn import Turn
from gitmem.turn_recorder import TurnRecorder
from gitmem.write_approval import Held, ProposedChange, WriteApproval

#: Kinds of which the whole text is remembered: short statements that may be made again word by word.
_SAYING: Final = frozenset({"message", "brief", "decision", "entry"})
#: Kinds that hold many statements: the one that is wrong has an address of its own.
_WHOLES: Final[Mapping[str, str]] = {
    "turn": "Retract its messages: `gitmem show` lists them.",
    "session": "Retract its messages: `gitmem show` lists them.",
    "agent_memory": "Retract an entry of it, or change it: `gitmem edit`.",
    "file": "Change it: `gitmem edit`.",
    "assembly": "It is an account of what a context held.",
}


@dataclass(frozen=True, slots=True)
class RetractReply(JsonView):
    """What is true of a retraction when it is reported.

    Attributes:
        committed: the commit that holds it: of the store for an entry, else of the turn; None with `reason`.
        source_ref: what was retracted.
        path: the file that was changed for it, if one was.
        retracted: when, by whom, why, what is true instead, and `source_ref` of the record that says so.
        unchanged: it was retracted before.
        lifted: what was retracted is a judgement, which no longer counts.
        staged: nothing is retracted yet: the whole of it waits as the proposal `pending_id`.
    """

    committed: str | None
    reason: str | None
    source_ref: str
    path: str | None
    retracted: Mapping[str, Any]
    unchanged: bool = False
    staged: bool = False
    pending_id: str | None = None
    lifted: bool = False


class Retractions:
    """Retracts what refs name.

    Args:
        judgements: what was retracted before.
        recorder: opens the turn that records it.
        get: resolves a ref, at most `MOST_CHARS` of its text.
        edits: changes the stores.
        approval: holds what an agent may not retract unasked.
    """

    def __init__(
        self,
        judgements: Judgements,
        recorder: TurnRecorder,
        get: Callable[[str], Memory],
        edits: EntryEdits,
        approval: WriteApproval,
    ) -> None:
        self._judgements = judgements
        self._recorder = recorder
        self._get = get
        self._edits = edits
        self._approval = approval

    def retract(self, ref: str, *, replaced_by: str | None = None, by: Provenance) -> RetractReply:
        """Retract what a ref names; an entry of a store goes, or becomes `replaced_by`.

        The record is durable before the store changes: broken off in between, the same call goes on.

        Args:
            ref: of a message, brief, decision, tool execution, entry, note or the like; or of the record of a
                judgement, which is then lifted.
            replaced_by: what is true instead.
            by: who, and why.

        Raises:
            UnknownSource: it names nothing.
            Unavailable: what it names was forgotten.
            UsageError: it names no statement, or what is true instead says the same.
            RefusedError: the new text does not fit into the store, the scanner found something, or the
                operator was asked and denied it.
        """
        check_cause(by)
        known = self._judgements.of(ref) if ":" in ref else None
        try:
            memory = self._get(ref)
        except (UnknownSource, Unavailable):
            if known is None:
                raise
            return _as_before(ref, known)
        subject = self._check(memory)
        _refuse_same(memory, replaced_by)
        known = self._judgements.of(subject)
        if memory.kind == "memory" and not self._judgements.stands(memory.source_ref.partition(":")[2]):
            return RetractReply(None, "it was lifted before", subject, None, {}, unchanged=True)
        is_news = known is None or replaced_by not in (None, known.replaced_by)
        stands = memory.kind == "entry" and self._stands(subject)
        if known is not None and not is_news and not stands:
            return _as_before(subject, known)
        if memory.kind == "entry":
            if known is not None and not stands:
                self._refuse_chain(known)
            self._edits.check(parse_ref(subject).id, replaced_by)
        held = self._approval.hold(self._proposed(subject, memory, replaced_by), by)
        if held is not None:
            return _held(held, subject)
        return self._record(subject, memory, replaced_by, by, None if is_news else known)

    def _stands(self, subject: str) -> bool:
        return bool(self._edits.find(parse_ref(subject).id))

    def _refuse_chain(self, known: Judgement) -> None:
        """Refuse to correct again what is gone while its first correction is in a store and would stay."""
        correction = entry_id((known.replaced_by or "").strip())
        if self._edits.find(correction):
            raise UsageError(
                f"it was corrected before; what is in memory instead is entry:{correction}",
                hint=f"Retract that: gitmem retract entry:{correction} --with TEXT",
                field="ref",
            )

    def _check(self, memory: Memory) -> str:
        if memory.kind in _WHOLES:
            raise UsageError(
                f"{memory.source_ref} is not one statement", hint=_WHOLES[memory.kind], field="ref"
            )
        if memory.kind == "memory" and not self._judgements.is_judgement(memory.source_ref):
            hint = "Retract the note or the entry itself."
            raise UsageError(f"{memory.source_ref} records a change of files", hint=hint, field="ref")
        return subject_of(memory.source_ref)

    def _record(
        self, subject: str, memory: Memory, replaced_by: str | None, by: Provenance, known: Judgement | None
    ) -> RetractReply:
        turn = by.open_turn or self._recorder.open(session=by.session_id)
        try:
            if known is None:
                event = self._event(subject, memory, replaced_by, by)
                self._tell(event, turn)
                turn.flush()
            written = self._change_store(subject, replaced_by, replace(by, turn=turn))
        finally:
            if by.open_turn is None:
                turn.finish("completed")
        judgement = self._judgements.of(subject)
        facts = judgement.as_metadata() if judgement is not None else {}
        if written is None:
            return self._reply_of_turn(subject, turn, facts, is_open=by.open_turn is not None)
        return RetractReply(written.committed, written.reason, subject, written.path, facts)

    def _reply_of_turn(
        self, subject: str, turn: Turn, facts: Mapping[str, Any], *, is_open: bool
    ) -> RetractReply:
        lifted = subject.startswith("memory:")
        if is_open:
            return RetractReply(None, "the turn is open", subject, None, facts, lifted=lifted)
        committed, reason = turn.receipt.committed, turn.receipt.reason
        return RetractReply(committed, reason, subject, None, facts, lifted=lifted)

    def _event(self, subject: str, memory: Memory, replaced_by: str | None, by: Provenance) -> Event:
        is_whole = memory.kind in _SAYING and memory.total_chars <= MOST_CHARS
        body = judgement_body(
            RETRACT,
            by=by.author,
            ref=subject,
            text=memory.content if is_whole else None,
            replaced_by=replaced_by,
            reason=by.reason,
            source=by.source,
            statement=memory.content if is_whole and memory.kind == "entry" else None,
        )
        return judgement_event(body, now=self._recorder.now(), session=by.session_id)

    def _tell(self, event: Event, turn: Turn) -> None:
        turn.tell(event)
        self._judgements.remember(event, turn.id)

    def _change_store(self, subject: str, replaced_by: str | None, by: Provenance) -> WriteReply | None:
        ref = parse_ref(subject)
        found = self._edits.find(ref.id) if ref.kind == "entry" else []
        replies = [self._change_one(target, entry, replaced_by, by) for target, entry in found]
        return replies[-1] if replies else None

    def _change_one(self, target: str, entry: Entry, replaced_by: str | None, by: Provenance) -> WriteReply:
        edit = _edit(entry.text, replaced_by)
        return self._edits.make(target, [edit], action=edit.action, by=by)

    def _proposed(self, subject: str, memory: Memory, replaced_by: str | None) -> ProposedChange:
        """Return a retraction as it is proposed: record and store are one change, made or left as a whole."""
        ref = parse_ref(subject)
        found = self._edits.find(ref.id) if ref.kind == "entry" else []
        return ProposedChange(
            target=found[0][0] if found else "record",
            action=RETRACT,
            edits=(_edit(memory.content, replaced_by),),
            payload={"ref": subject, "replaced_by": replaced_by},
            source_ref=subject,
        )


def lift(judgements: Judgements, recorder: TurnRecorder, text: str, *, by: Provenance) -> bool:
    """Take the judgement of a text back, because an operator says it again; say whether there was one."""
    event = judgements.lifting(text, by=by.author, now=recorder.now())
    if event is None:
        return False
    with recorder.open(session=by.session_id) as turn:
        turn.tell(event)
        judgements.remember(event, turn.id)
    return True


def _edit(text: str, replaced_by: str | None) -> ProposedEdit:
    return ProposedEdit("remove" if replaced_by is None else "replace", text, replaced_by)


def _held(held: Held, subject: str) -> RetractReply:
    if held.is_denied:
        raise RefusedError(held.message, hint="Ask the operator what they want instead.")
    return RetractReply(None, held.message, subject, None, {}, staged=True, pending_id=held.pending_id)


def _refuse_same(memory: Memory, replaced_by: str | None) -> None:
    """Refuse a correction whose words would be remembered as retracted at once."""
    if memory.kind not in _SAYING or not (replaced_by or "").strip():
        return
    if set(text_digests(replaced_by or "")) & set(text_digests(memory.content)):
        raise UsageError(
            "what is true instead has the same words; nothing was retracted",
            hint="To change the spelling of an entry: gitmem memory replace, or gitmem edit.",
            field="replaced_by",
        )


def _as_before(subject: str, known: Judgement) -> RetractReply:
    reason = "it was retracted before"
    return RetractReply(None, reason, subject, None, known.as_metadata(), unchanged=True)
