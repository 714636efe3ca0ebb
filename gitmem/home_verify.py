"""Verification, as a method of a home."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.errors import UsageError
from gitmem.home_parts import HomeParts

if TYPE_CHECKING:
    from gitmem.verify import Verification, Verify


class HomeVerify:
    """The part of `AgentHome` that has to do with whether a home is what was written."""

    _parts: HomeParts

    def verify(
        self,
        *,
        full: bool = False,
        range: str | None = None,  # noqa: A002 - the command's word
        against: str | None = None,
    ) -> Verification:
        """Look whether turn lines, episodes, commits and copies are what was written.

        Args:
            full: look at everything; by default at what came since the last look that found nothing wrong.
            range: look at what `B` has beyond `A` instead, written `A..B`.
            against: hold the home against this remote instead.

        Raises:
            UsageError: more than one of them.
            NotFound: no such commit or remote.
            RemoteError: the remote cannot be asked.
        """
        if sum((full, range is not None, against is not None)) > 1:
            raise UsageError("one of full, range and against at a time", field="full")
        if range is not None:
            return self._verifying().run_range(range)
        if against is not None:
            from gitmem.git_transport.connect import RemoteConnector

            found = self._parts.remotes.find(against)
            connector = RemoteConnector(self._parts.layout)
            remote = connector.connect(found.address, repository=self._parts.repository)
            return self._verifying().run_against(remote)
        return self._verifying().run(full=full)

    def _verifying(self) -> Verify:
        from gitmem.verify import Verify, VerifyParts

        parts = self._parts
        branch = parts.repository.config("gitmem.branch")
        writer = parts.line.writer()
        return Verify(
            VerifyParts(
                layout=parts.layout,
                config=parts.config,
                repository=parts.repository,
                ledger=parts.ledger,
                copy=parts.ledger_copy,
                index=parts.index,
                agent=parts.agent,
                branch=f"refs/heads/{branch}" if branch else None,
                own_line=writer.ref if writer is not None else None,
                allowed=parts.allowed,
                waiting=self._waiting_episodes,
                record=parts.ledger.find,
            )
        )

    def _waiting_episodes(self) -> list[str]:
        from gitmem.verify_episodes import episode_of_tag

        parts = self._parts
        tags = [write.tag.name for write in parts.branch.pending() if write.tag is not None]
        return [*parts.episodes.waiting(), *map(episode_of_tag, tags)]
