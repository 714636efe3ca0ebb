"""An operator's word on proposals: approved ones are made as the agent's change, rejected ones remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from gitmem.authoring import Authoring, Provenance, WriteReply
from gitmem.branch_changes import PathChange
from gitmem.branch_merge import merge_path
from gitmem.curated import STORES
from gitmem.entry_edits import EntryEdits
from gitmem.errors import GitmemError, HeadMoved
from gitmem.git_objects import hash_object
from gitmem.json_view import JsonView
from gitmem.judgement_rules import REJECT, RETRACT, judgement_body, text_digests
from gitmem.judgements import Judgements, judgement_event
from gitmem.note_text import Note
from gitmem.proposals import Proposal, ProposalFolder, ProposedEdit
from gitmem.retraction import RetractReply
from gitmem.turn_recorder import TurnRecorder

#: Stands for all proposals, each of which is judged alone.
ALL: Final = "all"
#: What is said of an approved change that had nothing left to do.
THERE: Final = "it is there already"


class Retract(Protocol):
    """Retracts; `Retractions.retract` does."""

    def __call__(self, ref: str, *, replaced_by: str | None, by: Provenance) -> RetractReply:
        """Retract what a ref names."""
        ...


@dataclass(frozen=True, slots=True)
class Judged(JsonView):
    """What became of one proposal.

    Attributes:
        verdict: `approved`, `rejected` or `failed`; a failed one still waits.
        edits: how many texts it changes.
        committed: the commit that an approval made; None with `reason`.
        reason: why it failed, or why there is no commit yet.
        source_ref: what was changed; of a rejection the record that remembers it.
    """

    id: str
    verdict: str
    summary: str
    edits: int
    committed: str | None = None
    reason: str | None = None
    source_ref: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedReply(JsonView):
    """What became of the proposals that were judged, each by itself."""

    proposals: Sequence[Judged]

    @property
    def failed(self) -> list[Judged]:
        """Those that could not be approved and still wait."""
        return [one for one in self.proposals if one.verdict == "failed"]


class ProposalJudge:
    """Approves and rejects.

    Args:
        folder: what waits.
        authoring: commits changes of whole files.
        edits: commits changes of entries.
        judgements: remembers what was rejected.
        recorder: opens the turn that records it.
        read: returns a file's bytes, None where there is none.
        retract: retracts what a ref names.
        find_note: finds a note by its ref.
    """

    def __init__(
        self,
        folder: ProposalFolder,
        authoring: Authoring,
        edits: EntryEdits,
        judgements: Judgements,
        recorder: TurnRecorder,
        *,
        read: Callable[[str], bytes | None],
        retract: Retract,
        find_note: Callable[[str], Note],
    ) -> None:
        self._folder = folder
        self._authoring = authoring
        self._edits = edits
        self._judgements = judgements
        self._recorder = recorder
        self._read = read
        self._retract = retract
        self._find_note = find_note

    def approve(self, which: str) -> JudgedReply:
        """Make what was proposed, each proposal with a commit of its own; what no longer fits keeps waiting.

        Args:
            which: an id, or `all`.

        Raises:
            NotFound: no such proposal waits.
        """
        with self._folder.judging():
            return JudgedReply([self._approve(one) for one in self._named(which)])

    def reject(self, which: str, *, reason: str | None = None) -> JudgedReply:
        """Drop proposals and remember their texts, so that they are not proposed again unseen.

        Args:
            which: an id, or `all`.
            reason: why, in words; the agent is told when it tries again.

        Raises:
            NotFound: no such proposal waits.
        """
        with self._folder.judging():
            return JudgedReply([self._reject(one, reason) for one in self._named(which)])

    def _named(self, which: str) -> list[Proposal]:
        return self._folder.waiting() if which == ALL else [self._folder.read(which)]

    def _approve(self, proposal: Proposal) -> Judged:
        try:
            written = self._make(proposal)
        except (GitmemError, OSError) as error:
            hint = getattr(error, "hint", None)
            why = f"{error}. {hint}" if hint else str(error)
            self._folder.put(replace(proposal, begun=False))
            return _told(proposal, "failed", reason=why)
        self._folder.drop(proposal)
        # The commit in which it was found may be anybody's.
        committed = None if written.unchanged else written.committed
        reason = written.reason or (THERE if written.unchanged else None)
        return _told(proposal, "approved", committed=committed, reason=reason, source_ref=written.source_ref)

    def _make(self, proposal: Proposal) -> WriteReply:
        by = Provenance(
            "agent",
            session=proposal.session,
            turn=proposal.turn,
            source=proposal.source,
            reason=proposal.reason,
            origin=proposal.origin,
            approved=proposal.id,
        )
        if proposal.action == RETRACT:
            return self._make_retraction(proposal, by)
        if proposal.target not in STORES:
            return self._make_files(proposal, by)
        if proposal.begun and self._edits.holds(proposal.target, proposal.edits):
            # Whoever approved it was killed behind the commit.
            ref = f"agent_memory:{proposal.target}"
            return WriteReply(None, THERE, ref, STORES[proposal.target], unchanged=True)
        self._folder.put(replace(proposal, begun=True))
        return self._edits.make(proposal.target, proposal.edits, action=proposal.action, by=by)

    def _make_retraction(self, proposal: Proposal, by: Provenance) -> WriteReply:
        ref, instead = str(proposal.payload["ref"]), proposal.payload["replaced_by"]
        made = self._retract(ref, replaced_by=instead, by=by)
        return WriteReply(
            made.committed, made.reason, made.source_ref, made.path or "", unchanged=made.unchanged
        )

    def _refuse_moved(self, proposal: Proposal) -> None:
        """Refuse a change of a note that has another path now: a free path is not what was meant."""
        gone = [one for one in proposal.changes if one.base is not None and self._read(one.path) is None]
        if not gone or proposal.kind != "note" or proposal.source_ref is None:
            return
        try:
            where = self._find_note(proposal.source_ref).path
        except GitmemError:  # it was removed: that is for what follows to judge
            return
        if where not in proposal.paths:
            raise HeadMoved(
                f"{gone[0].path} was moved to {where} since it was proposed",
                hint=f"Reject it, so that it can be proposed anew, or {proposal.action} {where} yourself.",
                path=where,
            )

    def _make_files(self, proposal: Proposal, by: Provenance) -> WriteReply:
        self._refuse_moved(proposal)
        try:
            changes = [
                carried_over(change, edit, self._read(change.path), begun=proposal.begun)
                for change, edit in zip(proposal.changes, proposal.edits, strict=True)
            ]
            self._folder.put(replace(proposal, begun=True))
            return self._authoring.write(
                changes,
                kind=proposal.kind,
                action=proposal.action,
                subject=proposal.subject,
                source_ref=proposal.source_ref,
                by=by,
            )
        except HeadMoved:
            path = proposal.paths[0]
            raise HeadMoved(
                f"what this would change in {path} was changed since it was proposed",
                hint=f"Reject it, so that it can be proposed anew, or make it yourself: gitmem edit {path}",
                path=path,
            ) from None

    def _reject(self, proposal: Proposal, reason: str | None) -> Judged:
        known = {edit.before for edit in proposal.edits}  # a move brings no new text
        texts = [edit.after for edit in proposal.edits if edit.after and edit.after not in known]
        body = judgement_body(
            REJECT,
            by="operator",
            reason=reason,
            source=proposal.source,
            digests=[digest for text in texts for digest in text_digests(text)],
        )
        body |= {"proposal": proposal.id, "proposed": f"{proposal.action} {proposal.target}"}
        event = judgement_event(body, now=self._recorder.now(), session=proposal.session)
        with self._recorder.open(session=proposal.session) as turn:
            turn.tell(event)
            self._judgements.remember(event, turn.id)
        self._folder.drop(proposal)
        return _told(proposal, "rejected", reason=reason, source_ref=f"memory:{event.id}")


def carried_over(
    change: PathChange, edit: ProposedEdit, now: bytes | None, *, begun: bool = False
) -> PathChange:
    """Return a proposed change as it is made in a file that may have been changed since.

    Args:
        change: as it was proposed.
        edit: the same, with the text before and behind it.
        now: the file's bytes.
        begun: it may have been made already.

    Raises:
        HeadMoved: what it would change is no longer there.
    """
    present = None if now is None else hash_object("blob", now)
    if present == change.base or now == change.result:
        return change
    base = None if edit.before is None else edit.before.encode()
    known = change.base == (None if base is None else hash_object("blob", base))
    if now is None or change.result is None or not known:
        raise HeadMoved(f"{change.path} was changed", path=change.path)
    if edit.action == "append" and change.result.startswith(base or b""):
        added = change.result.removeprefix(_ended(base or b""))
        made = now if begun and added in now else _ended(now) + added
    else:
        merge = merge_path(change.path, base, now, change.result)
        if merge.copies or merge.live is None:
            raise HeadMoved(f"{change.path} was changed in the same lines", path=change.path)
        made = merge.live
    return PathChange(change.path, present, made)


def _ended(text: bytes) -> bytes:
    """Return a text with its last line ended, as its other lines are."""
    newline = b"\r\n" if b"\r\n" in text else b"\n"
    return text if not text or text.endswith(b"\n") else text + newline


def _told(proposal: Proposal, verdict: str, **facts: Any) -> Judged:
    return Judged(proposal.id, verdict, proposal.summary, len(proposal.edits), **facts)
