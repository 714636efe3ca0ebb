"""Keeps count of what a sync does, round by round, for its reply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from gitmem.branch_sync import BranchStep
from gitmem.git_state import short_name
from gitmem.head_advance import Advance
from gitmem.layout import TURN_LINES
from gitmem.quarantine_rules import Held
from gitmem.remote_repository import RefUpdate
from gitmem.repository import Repository
from gitmem.sync_delivery import Delivery
from gitmem.sync_intake import Intake
from gitmem.sync_reply import BranchReport, SyncReply
from gitmem.transfer_walk import new_history


class SyncTally:
    """The reply of one sync as it grows.

    Args:
        repository: counts commits.
        remote: name of the remote.
        dry_run: whether nothing is moved.

    Attributes:
        reply: what is known by now.
    """

    def __init__(self, repository: Repository, remote: str, *, dry_run: bool) -> None:
        self._repository = repository
        self._remote = remote
        self.reply = SyncReply(remote, episodes={"fetched": 0, "pushed": 0}, dry_run=dry_run)

    def took(self, intake: Intake) -> None:
        """Count what came."""
        reply = self.reply
        self._set(
            fetched=reply.fetched + intake.turns + intake.commits,
            lines=replace(reply.lines, fetched=reply.lines.fetched + intake.turns),
            episodes={**reply.episodes, "fetched": reply.episodes["fetched"] + len(intake.tags.come)},
            moved_tags=intake.tags.moved,
            refused={**reply.refused, **intake.incoming.refused, **intake.tags.refused},
            ignored=intake.incoming.ignored,
        )
        self.warn(intake.warnings)

    def writes_as(self, writer: str | None) -> None:
        """Note a new writer, if there is one."""
        if writer is not None:
            self._set(lines=replace(self.reply.lines, writer=writer))

    def decided(self, step: BranchStep | None) -> None:
        """Note what is to become of the branch."""
        if step is None:
            return
        known = self.reply.branch
        report = BranchReport(
            short_name(step.branch) or None,
            before=known.before or step.here,
            after=step.here,
            there=step.there,
            merged=known.merged,
            pushed=known.pushed,
            moved=step.equal or (not step.comes and step.target is not None),
            reason=step.reason,
        )
        self._set(branch=report, conflicts=step.conflicts)
        self.warn(step.warnings)

    def would(self, intake: Intake, step: BranchStep | None, updates: Sequence[RefUpdate]) -> None:
        """Count what would be done."""
        tips = [one.new for one in updates if one.name.startswith(TURN_LINES) and one.new is not None]
        turns = self._count(tips, intake.known)
        pushed = merged = 0
        if step is not None and step.goes:
            pushed = self._count([step.here], intake.known) + bool(step.objects)
        if step is not None and step.comes:
            merged = self._count([step.there], [step.here])
        self._set(
            merged=merged,
            pushed=turns + pushed,
            lines=replace(self.reply.lines, pushed=turns),
            branch=replace(self.reply.branch, merged=merged, pushed=pushed),
            episodes={**self.reply.episodes, "pushed": len(intake.tags.go)},
        )

    def rescued(self, ref: str) -> None:
        """Note what keeps where the branch was."""
        self._set(rescue_ref=ref)

    def sent(self, done: Delivery, intake: Intake, step: BranchStep | None) -> None:
        """Count what the remote took."""
        reply = self.reply
        lines = replace(
            reply.lines,
            pushed=reply.lines.pushed + done.turns,
            pruned=[*reply.lines.pruned, *done.pruned],
        )
        self._set(
            pushed=reply.pushed + done.turns + done.commits,
            lines=lines,
            branch=replace(reply.branch, pushed=reply.branch.pushed + done.commits),
            episodes={**reply.episodes, "pushed": reply.episodes["pushed"] + len(done.tags)},
            refused={**reply.refused, **done.refused},
        )
        head = intake.refs.head
        is_first = step is not None and step.goes and step.there is None
        if step is not None and is_first and head not in (None, step.branch, *intake.refs.refs):
            # A plain clone of it would check out nothing.
            words = f"git symbolic-ref HEAD {step.branch}"
            self.warn([f"HEAD of {self._remote} names {head}, which is not there; on the server: {words}"])

    def agreed(self, step: BranchStep) -> None:
        """Note that the remote's branch is where it is to be."""
        if step.target is not None:
            self._set(branch=replace(self.reply.branch, there=step.target))

    def advanced(self, step: BranchStep, outcome: Advance) -> None:
        """Note what became of HEAD's branch."""
        known = self.reply.branch
        came = self._count([step.there], [step.here]) if outcome.moved or step.merges else 0
        report = replace(
            known,
            after=step.target if outcome.moved else step.here,
            merged=known.merged + came,
            moved=outcome.moved,
            reason=outcome.reason,
            blocked=outcome.blocked,
        )
        self._set(branch=report, merged=report.merged)
        self.warn(f"{path}: saved meanwhile, and left as it is" for path in outcome.left)

    def forgot(self, receipts: Sequence[str]) -> None:
        """Note the receipts of forgetting that came."""
        self._set(receipts=receipts)

    def held(self, items: Sequence[Held]) -> None:
        """Note what came and is kept from the agent."""
        self._set(quarantined=items)

    def warn(self, warnings: Iterable[str]) -> None:
        """Add warnings, each once."""
        fresh = [warning for warning in warnings if warning not in self.reply.warnings]
        self._set(warnings=[*self.reply.warnings, *fresh])

    def _set(self, **changes: Any) -> None:
        self.reply = replace(self.reply, **changes)

    def _count(self, tips: Sequence[str | None], known: Sequence[str | None]) -> int:
        """Return how many commits tips have beyond what is known."""
        found = new_history(
            self._repository,
            [tip for tip in tips if tip is not None],
            [one for one in known if one is not None],
        )
        return len(found.commits)
