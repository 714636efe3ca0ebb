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
            from gitmem.verify_range import verify_range

            parts = self._parts
            lines = list(parts.ledger.tips().values())
            return verify_range(parts.repository, parts.config, parts.allowed, range, lines)
        if against is not None:
            return self._verify_against(against)
        return self._verifying().run(full=full)

    def _verify_against(self, name: str) -> Verification:
        from gitmem.git_transport.connect import RemoteConnector
        from gitmem.verify_witness import verify_against

        parts = self._parts
        connector = RemoteConnector(parts.layout)
        remote = connector.connect(parts.remotes.find(name).address, repository=parts.repository)
        writer = parts.line.writer()
        own = writer.ref if writer is not None else None
        return verify_against(parts.repository, remote, parts.ledger.tips(), own)

    def _verifying(self) -> Verify:
        from gitmem.verify import Verify, VerifyParts

        parts = self._parts
        branch = parts.repository.config("gitmem.branch")
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
                waiting=self._waiting_episodes,
                record=parts.ledger.find,
            )
        )

    def _waiting_episodes(self) -> list[str]:
        from gitmem.verify_episodes import episode_of_tag

        parts = self._parts
        tags = [write.tag.name for write in parts.branch.pending() if write.tag is not None]
        return [*parts.episodes.waiting(), *map(episode_of_tag, tags)]
