"""Cleaning up behind receipts of forgetting: everything that this work tree keeps of what they name goes.

Readers are closed under the receipts from the moment they are in force; what is done here is that the words
are gone from the disk, too. Each step can be done again, and a notice stays until all of them are done.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from gitmem.durable_file import write_file
from gitmem.errors import GitmemError
from gitmem.forget_notices import ForgetNotices
from gitmem.forgotten import Receipts
from gitmem.forgotten_branch import ForgottenBranch, Taken
from gitmem.forgotten_leftovers import (
    clean_copies,
    clean_long_texts,
    clean_proposals,
    clean_set_aside,
)
from gitmem.indexer import Indexer
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.ledger_copy import LedgerCopy
from gitmem.operator_branch import OperatorBranch
from gitmem.proposals import ProposalFolder
from gitmem.session_snapshot import SessionSnapshots
from gitmem.spool import Spool

#: Seconds to wait for whoever writes a turn.
_WAIT: Final = 5.0


@dataclass(frozen=True, slots=True)
class SweepParts:
    """What is cleaned.

    Attributes:
        branch: whose pending writes are cleaned.
        files: takes what was forgotten off the branch.
        step: called with a name between any two steps; tests let it raise.
    """

    layout: Layout
    ledger: Ledger
    spool: Spool
    copy: LedgerCopy
    branch: OperatorBranch
    files: ForgottenBranch
    proposals: ProposalFolder
    snapshots: SessionSnapshots
    indexer: Indexer
    step: Callable[[str], None] = lambda name: None  # noqa: ARG005


@dataclass(slots=True)
class Swept:
    """What was done.

    Attributes:
        taken: what became of the operator's branch.
        warnings: what could not be done, and will be tried again.
    """

    taken: Taken = field(default_factory=Taken)
    warnings: list[str] = field(default_factory=list)


class ForgottenSweep:
    """Cleans one work tree.

    Args:
        parts: of its home.
    """

    def __init__(self, parts: SweepParts) -> None:
        self._parts = parts
        self._notices = ForgetNotices(parts.layout)
        self._mark = parts.layout.private / "cleaned"

    def is_done(self) -> bool:
        """Say whether all was cleaned under the receipts that are in force now."""
        receipts = self._parts.ledger.receipts()
        try:
            return not receipts.lines or self._mark.read_text("ascii") == _digest(receipts)
        except (OSError, UnicodeDecodeError):
            return False

    def sweep(self) -> Swept:
        """Do everything that is to be done."""
        notices = self._notices.read()
        receipts = self._parts.ledger.receipts()
        done = Swept()
        for name, work in self._steps(done, receipts):
            try:
                work()
            except (GitmemError, OSError) as error:
                done.warnings.append(f"{name}: {getattr(error, 'message', None) or error}")
            self._parts.step(f"{name} cleaned")
        # What waits for the operator's branch waits without its words: only this brings them off the branch.
        if not done.warnings and done.taken.reason is None:
            write_file(self._mark, _digest(receipts).encode(), durable=False)
            self._notices.drop(notices)
            self._parts.step("notices dropped")
        return done

    def _steps(self, done: Swept, receipts: Receipts) -> Sequence[tuple[str, Callable[[], object]]]:
        parts = self._parts

        def take() -> None:
            done.taken = parts.files.close(receipts)

        return (
            ("spool", lambda: parts.spool.erase(receipts.records)),
            ("pending writes", parts.branch.clean),
            ("files", take),
            ("proposals", lambda: clean_proposals(parts.proposals, receipts)),
            ("sessions", self._refreeze),
            ("copies", lambda: clean_copies(parts.layout.private / "edit", receipts)),
            ("ledger", self._restore_copy),
            ("set aside", lambda: clean_set_aside(parts.layout, parts.ledger)),
            ("caches", self._drop_caches),
            ("index", self._index),
        )

    def _refreeze(self) -> None:
        """Let sessions that go on see their block without what was forgotten."""
        for block in self._parts.snapshots.live():
            self._parts.snapshots.read(block.session)

    def _restore_copy(self) -> None:
        self._parts.copy.reconcile(wait=_WAIT)
        if not self._parts.copy.is_left_alone():
            clean_long_texts(self._parts.layout, self._parts.ledger.receipts())

    def _drop_caches(self) -> None:
        with suppress(FileNotFoundError):
            self._parts.layout.catalog.unlink()
        shutil.rmtree(self._parts.layout.derived / "facts", ignore_errors=True)

    def _index(self) -> None:
        if any(folder.exists() for folder in self._parts.layout.indexes.values()):
            reasons = self._parts.indexer.catch_up().reasons
            if reasons:
                raise OSError("; ".join(reasons))


def _digest(receipts: Receipts) -> str:
    names = sorted(f"{kind}/{name}" for kind, name in receipts.lines)
    return sha256("\n".join(names).encode()).hexdigest()
