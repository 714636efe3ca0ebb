"""The cleaning parts of an open home: what follows when receipts of forgetting come into force."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final

from gitmem.commit_signing import is_signing
from gitmem.errors import GitmemError
from gitmem.forget_notices import ForgetNotices
from gitmem.home_writing_parts import WritingParts

if TYPE_CHECKING:
    from gitmem.forgotten_sweep import ForgottenSweep, Swept

#: Seconds to wait for whoever writes a turn.
_WAIT: Final = 5.0


class CleaningParts(WritingParts):
    """Wires what cleans one home."""

    _is_sweeping = False
    #: What the last cleaning of this process did.
    swept: Swept | None = None

    @cached_property
    def forgotten(self) -> ForgottenSweep:
        """What cleans up behind receipts of forgetting."""
        from gitmem.forgotten_branch import ForgottenBranch
        from gitmem.forgotten_sweep import ForgottenSweep, SweepParts

        return ForgottenSweep(
            SweepParts(
                layout=self.layout,
                ledger=self.ledger,
                spool=self.spool,
                copy=self.ledger_copy,
                branch=self.branch,
                files=ForgottenBranch(self.layout, self.repository, self.branch, self.agent),
                proposals=self.proposals,
                snapshots=self.snapshots,
                indexer=self.indexer,
            )
        )

    def settle_forgotten(self) -> Sequence[str]:
        """Clean up behind receipts that came into force; return what could not be done yet."""
        if self._is_sweeping or not ForgetNotices(self.layout).read():
            return ()
        self._is_sweeping = True  # an operator's edit that is committed first may be recorded in a turn
        try:
            self.swept = self.forgotten.sweep()
        finally:
            self._is_sweeping = False
        return self.swept.warnings

    def restore_copy(self) -> None:
        """Let the ledger's copy on disk hold what a remote brought, and nothing that it says is forgotten."""
        self.ledger_copy.reconcile(wait=_WAIT)
        if not self.forgotten.is_done():
            ForgetNotices(self.layout).put()
            self.settle_forgotten()

    def recover(self) -> None:
        """Do what the last process left undone; a home that cannot be written is still read."""
        super().recover()
        with suppress(GitmemError, OSError):
            # A signature may need a person at the keyboard, who only wanted to read.
            if not is_signing(self.repository.config):
                self.settle_forgotten()

    def _follow_turns(self) -> Sequence[str]:
        """Clean up first: what is written after that is written under all receipts."""
        return [*self.settle_forgotten(), *super()._follow_turns()]
