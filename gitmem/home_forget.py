"""Forgetting, as methods of a home."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.authoring import Author
from gitmem.home_parts import HomeParts

if TYPE_CHECKING:
    from gitmem.forgetting import ForgetReply, Forgetter


class HomeForget:
    """The part of `AgentHome` that has to do with what is not to be remembered."""

    _parts: HomeParts

    def forget(
        self, ref: str, *, reason: str | None = None, by: Author = "agent", dry_run: bool = False
    ) -> ForgetReply:
        """Forget what a ref names: nothing that reads this home has its words any more, on any machine.

        A record becomes a stub in whoever's segment it stands; a turn and a session, all their records; a
        work item and a task, all snapshots, with plan and report. An entry leaves its store, a note or a file
        goes with all its versions, of an episode its stub stays. Episodes that quote what is forgotten go
        with it. Git's history has the words until they are purged.

        Args:
            ref: of it.
            reason: why, in words that stay.
            by: `agent` or `operator`.
            dry_run: only say what would be forgotten.

        Raises:
            UnknownSource: it names nothing here, and never did.
            UsageError: what it names cannot be forgotten.
        """
        from gitmem.forgetting import ForgetOptions

        self._parts.check_owner()
        return self._forgetter().forget(ref, ForgetOptions(by, reason, dry_run))

    def forget_matching(
        self, text: str, *, reason: str | None = None, by: Author = "agent", dry_run: bool = False
    ) -> ForgetReply:
        """Forget every record, entry and version of a file that holds a text, in any case of letters.

        Args:
            text: to look for; at least three characters.
            reason: why, in words that stay: without the text.
            by: `agent` or `operator`.
            dry_run: only say what would be forgotten.

        Raises:
            UsageError: the text is too short.
        """
        from gitmem.forgetting import ForgetOptions

        self._parts.check_owner()
        return self._forgetter().forget_matching(text, ForgetOptions(by, reason, dry_run))

    def _forgetter(self) -> Forgetter:
        from gitmem.forget_targets import ForgetTargets, TargetParts
        from gitmem.forgetting import Forgetter
        from gitmem.memory_get import MOST_CHARS

        parts = self._parts
        where = TargetParts(
            parts.layout,
            parts.repository,
            parts.ledger,
            parts.spool,
            lambda ref: parts.search.get(ref, max_chars=MOST_CHARS),
        )
        return Forgetter(lambda: ForgetTargets(where), parts.ledger, parts.recorder, lambda: parts.swept)
