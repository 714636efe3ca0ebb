"""Forgets: a record becomes a stub, an entry and a file go, and nothing that is read has their words.

The receipts are a turn of their own on the turn line: they are in force from its commit on, whatever state
the operator's branch is in, and whoever is killed behind it, the next process goes on with cleaning up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gitmem.authoring import Author
from gitmem.forget_matches import add_matches
from gitmem.forget_targets import ForgetTargets
from gitmem.forgetting_record import Forgetting, forgetting_event
from gitmem.forgotten_branch import Taken
from gitmem.forgotten_sweep import Swept
from gitmem.json_view import JsonView
from gitmem.ledger import Ledger
from gitmem.redaction import refuse_secret
from gitmem.times import format_time
from gitmem.turn_recorder import TurnRecorder


@dataclass(frozen=True, slots=True)
class ForgetReply(JsonView):
    """What is true of an act of forgetting when it is reported; none of the words is in it.

    Attributes:
        committed: the turn's commit, from which on the receipts are in force; None with `reason`.
        branch_committed: the commit that took it off the operator's branch; None where there was nothing, or
            where it waits, which `branch_reason` says.
        turn_id: the turn that holds the receipts; None where there was nothing new.
        forgotten: `source_ref`, `kind` and `path` of each thing.
        receipts: as `kind/id`, those of before included.
        paths: the files that went or hold less now.
        unchanged: all of it was forgotten before.
        dry_run: nothing was done.
        warnings: what could not be cleaned yet, and what gitmem leaves to people.
    """

    committed: str | None
    reason: str | None
    turn_id: str | None
    forgotten: Sequence[Mapping[str, str | None]]
    receipts: Sequence[str]
    branch_committed: str | None = None
    branch_reason: str | None = None
    paths: Sequence[str] = ()
    unchanged: bool = False
    dry_run: bool = False
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ForgetOptions:
    """How to forget.

    Attributes:
        by: who wants it.
        reason: why, in words that stay: the receipts have it.
        dry_run: only say what would be forgotten.
    """

    by: Author = "agent"
    reason: str | None = None
    dry_run: bool = False


class Forgetter:
    """Forgets in one home.

    Args:
        targets: returns an empty list of what is to be forgotten.
        ledger: knows what was forgotten before.
        recorder: opens the turn.
        swept: returns what the last cleaning of this process did.
    """

    def __init__(
        self,
        targets: Callable[[], ForgetTargets],
        ledger: Ledger,
        recorder: TurnRecorder,
        swept: Callable[[], Swept | None],
    ) -> None:
        self._targets = targets
        self._ledger = ledger
        self._recorder = recorder
        self._swept = swept

    def forget(self, ref: str, options: ForgetOptions) -> ForgetReply:
        """Forget what a ref names.

        Raises:
            UnknownSource: it names nothing.
            UsageError: what it names cannot be forgotten.
        """
        targets = self._targets()
        named = targets.name(ref)
        targets.add_cited()
        known = targets.is_known_forgotten(named)
        return self._do(targets, options, is_known=known)

    def forget_matching(self, text: str, options: ForgetOptions) -> ForgetReply:
        """Forget everything that holds a text; where nothing does, nothing is done.

        Raises:
            UsageError: the text is too short.
        """
        targets = self._targets()
        add_matches(targets, text)
        targets.add_cited()
        return self._do(targets, options, is_known=True)

    def _do(self, targets: ForgetTargets, options: ForgetOptions, *, is_known: bool) -> ForgetReply:
        what, rows = targets.found.what, list(targets.found.rows.values())
        fresh = what.without(self._ledger.receipts())
        is_new = bool(fresh.names) or not is_known
        if options.dry_run or not is_new:
            why = None if is_new else "nothing that is not forgotten already" if rows else "nothing holds it"
            return ForgetReply(
                None, why, None, rows, what.names, unchanged=not is_new, dry_run=options.dry_run
            )
        return self._record(what, fresh, rows, options)

    def _record(
        self,
        what: Forgetting,
        fresh: Forgetting,
        rows: Sequence[Mapping[str, str | None]],
        options: ForgetOptions,
    ) -> ForgetReply:
        reason = refuse_secret(options.reason, "reason") if options.reason else None
        at = format_time(self._recorder.now())
        turn = self._recorder.open()
        try:
            turn.tell(forgetting_event(fresh, at=at, by=options.by, reason=reason))
        finally:
            turn.finish("completed")
        receipt = turn.receipt
        swept = self._swept() or Swept()
        taken: Taken = swept.taken
        return ForgetReply(
            committed=receipt.committed,
            reason=receipt.reason,
            turn_id=turn.id,
            forgotten=rows,
            receipts=what.names,
            branch_committed=taken.commit,
            branch_reason=taken.reason,
            paths=taken.paths,
            warnings=[*swept.warnings, *taken.left],
        )
