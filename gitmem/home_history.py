"""Memory across time, as methods of a home."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.authoring import Provenance
from gitmem.home_parts import HomeParts
from gitmem.layout import NOTES
from gitmem.memory_get import MOST_CHARS

if TYPE_CHECKING:
    from gitmem.diffing import DiffReply
    from gitmem.reverting import RevertReply, Reverts


class HomeHistory:
    """The part of `AgentHome` that has to do with what memory was."""

    _parts: HomeParts

    def diff(
        self,
        one: str | None = None,
        other: str | None = None,
        *,
        author: str | None = None,
        patch: bool = False,
    ) -> DiffReply:
        """Return what changed in memory from one moment to another, in the terms of memory.

        Args:
            one: a commit by any name that Git has for it, `episode/<id>`, the commit of a turn, or a time in
                words; HEAD by default.
            other: the same; the files on disk by default.
            author: only changes by `agent`, by `operator`, or by whoever has this name.
            patch: return the files' texts as Git shows them, too.

        Raises:
            NotFound: there is no such commit here.
            UsageError: a moment is neither a commit nor a time.
        """
        from gitmem.authored_files import find_authored
        from gitmem.diffing import Differ
        from gitmem.moment_files import MomentFiles

        parts = self._parts
        files = MomentFiles(
            parts.layout,
            parts.repository,
            parts.branch,
            receipts=parts.ledger.receipts,
            lines=self._lines,
            now=parts.now,
        )

        def on_disk() -> list[str]:
            return [path for path in find_authored(parts.layout.root).files if path.startswith(f"{NOTES}/")]

        differ = Differ(
            parts.repository,
            files,
            parts.config,
            note_ids=parts.note_ids,
            on_disk=on_disk,
            operator=parts.operator,
        )
        with parts.ledger.still():
            return differ.diff(one, other, author=author, patch=patch)

    def revert(self, what: str, *, reason: str | None = None) -> RevertReply:
        """Take a change back, as the operator: a new commit, and history stays.

        Args:
            what: a commit of the operator's branch, by any name that Git has for it; the ref of an entry, of
                a note or of another file; or the path of a file. Of these the last change is taken back.
            reason: why, in words that stay.

        Raises:
            NotFound: it names nothing.
            UsageError: it is a turn, a merge, or a file that is not changed by hand.
            RefusedError: later edits stand on it (`details["overlaps"]`), or the scanner found something;
                nothing was done.
        """
        self._parts.check_owner()
        return self._lifted(self._reverts().revert(what, reason))

    def restore(self, path: str, as_of: str, *, reason: str | None = None) -> RevertReply:
        """Bring a file back as it was, as the operator: a new commit, and history stays.

        Args:
            path: of the file, in the home; or a ref that leads to one.
            as_of: a commit, a turn's commit, or a time in words.
            reason: why, in words that stay.

        Raises:
            NotFound: there was no such file then.
            UsageError: the file is not changed by hand.
            RefusedError: the scanner found something, or a part of it was forgotten; nothing was done.
        """
        self._parts.check_owner()
        return self._lifted(self._reverts().restore(path, as_of, reason))

    def _lifted(self, reply: RevertReply) -> RevertReply:
        """Let the agent say again what an operator has brought back."""
        from gitmem.retraction import lift

        for text in reply.texts:
            lift(self._parts.judgements, self._parts.recorder, text, by=Provenance("operator"))
        return reply

    def _reverts(self) -> Reverts:
        from gitmem.reverting import Reverts

        parts = self._parts
        return Reverts(
            parts.repository,
            parts.branch,
            parts.config,
            get=lambda ref: parts.search.get(ref, max_chars=MOST_CHARS),
            lines=self._lines,
            now=parts.now,
            allowed=lambda: parts.allowed,
        )

    def _lines(self) -> list[str]:
        return [*self._parts.ledger.tips().values()]
