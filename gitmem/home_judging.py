"""What people say of what is remembered, as methods of a home: retractions and proposals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.authoring import Author, Provenance
from gitmem.home_parts import HomeParts
from gitmem.turn import Turn

if TYPE_CHECKING:
    from gitmem.entry_edits import EntryEdits
    from gitmem.proposal_judging import JudgedReply, ProposalJudge
    from gitmem.proposals import Proposal
    from gitmem.retraction import Retractions, RetractReply
    from gitmem.write_approval import Approve


class HomeJudging:
    """The part of `AgentHome` that has to do with what is no longer said, or not yet."""

    _parts: HomeParts

    def retract(
        self,
        ref: str,
        *,
        replaced_by: str | None = None,
        by: Author = "agent",
        session: str | None = None,
        turn: Turn | str | None = None,
        source: str | None = None,
        reason: str | None = None,
        origin: str = "foreground",
    ) -> RetractReply:
        """Take a statement back: it stays in the record, is shown as corrected, and ranks last.

        An entry of a memory store goes, or becomes `replaced_by`. A note stays as it is and ranks last. The
        words of a retracted message, brief, decision or entry are remembered: the agent cannot put them into
        memory again; an operator can, which lifts the retraction. To lift it otherwise, retract its record.

        Args:
            ref: of the statement.
            replaced_by: what is true instead.
            by: `agent` or `operator`.
            session: id of the conversation.
            turn: the open turn that it belongs to, or the id of the one that caused it.
            source: ref of the message that led to it.
            reason: why, in words.
            origin: `foreground`, or `background_review` for an agent that nobody attends.
        """
        self._parts.check_owner()
        cause = Provenance(by, session, turn, source, reason, origin)
        return self._retractions().retract(ref, replaced_by=replaced_by, by=cause)

    def proposals(self) -> list[Proposal]:
        """Return the changes that wait for an operator's word, the oldest first."""
        return self._parts.proposals.waiting()

    def damaged_proposals(self) -> list[Path]:
        """Return the files of proposals that cannot be read any more; they are left as they are."""
        folder = self._parts.proposals
        return [folder.folder / name for name in folder.damaged()]

    def approve(self, which: str) -> JudgedReply:
        """Make a proposed change, or with `all` each of them; one that no longer fits keeps waiting."""
        self._parts.check_owner()
        reply = self._judge().approve(which)
        self._parts.recorder.commit_waiting()
        return reply

    def reject(self, which: str, *, reason: str | None = None) -> JudgedReply:
        """Drop a proposed change, or with `all` each of them; their texts are remembered as rejected."""
        self._parts.check_owner()
        return self._judge().reject(which, reason=reason)

    def ask_before_writes(self, approve: Approve | None) -> None:
        """Have a person asked at once about each change of memory that `gitmem.writeApproval` would hold.

        Args:
            approve: gets the change and returns `once`, `session` or `deny`; if it raises or returns anything
                else, the change is proposed. None asks nobody.
        """
        self._parts.approval.approve = approve

    def _retractions(self) -> Retractions:
        from gitmem.memory_get import MOST_CHARS
        from gitmem.retraction import Retractions

        parts = self._parts
        return Retractions(
            parts.judgements,
            parts.recorder,
            lambda ref: parts.search.get(ref, max_chars=MOST_CHARS),
            self._entry_edits(),
            parts.approval,
        )

    def _judge(self) -> ProposalJudge:
        from gitmem.proposal_judging import ProposalJudge

        parts = self._parts
        return ProposalJudge(
            parts.proposals,
            parts.authoring,
            self._entry_edits(),
            parts.judgements,
            parts.recorder,
            read=parts.read_file,
            retract=self._retractions().retract,
            find_note=parts.notes.find,
        )

    def _entry_edits(self) -> EntryEdits:
        from gitmem.entry_edits import EntryEdits

        parts = self._parts
        return EntryEdits(parts.authoring, parts.layout, parts.config, lambda: parts.allowed)
