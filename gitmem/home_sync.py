"""One memory on many machines, as methods of a home: its remotes, and syncing with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitmem.home_parts import HomeParts

if TYPE_CHECKING:
    from gitmem.remotes import Remote
    from gitmem.resolving import OpenConflict, Resolved
    from gitmem.sync import SyncOptions
    from gitmem.sync_reply import SyncReply


class HomeSync:
    """The part of `AgentHome` that has to do with other machines."""

    _parts: HomeParts

    def remotes(self) -> Sequence[Remote]:
        """Return the home's remotes, ordinary ones of Git's."""
        return self._parts.remotes.list()

    def remote_add(self, name: str, url: str) -> Remote:
        """Add a remote; one that is there under this URL is left as it is."""
        self._parts.check_owner()
        return self._parts.remotes.add(name, url)

    def remote_remove(self, name: str) -> Sequence[str]:
        """Remove a remote; return the turn lines that only it had and that are kept here."""
        self._parts.check_owner()
        kept = self._parts.remotes.remove(name)
        self._parts.syncing.notes.forget(name)
        return kept

    def sync(
        self, remote: str | None = None, *, dry_run: bool = False, timeout: float | None = None
    ) -> SyncReply:
        """Sync with a remote: turn lines, the operator's branch, and tags of episodes, both ways.

        Conflicts do not stop it: a text that lost is a copy under `conflicts/`, and `resolve` ends it.

        Args:
            remote: its name; without one `origin`, else the only one.
            dry_run: say what would be done, and move nothing.
            timeout: seconds for all of it.

        Raises:
            UsageError: no such time limit.
            NotFound: there is no such remote.
            HomeError: the remote is another home, or none; nothing was moved.
            RefusedError: the remote does not take the branch; turns and tags have travelled.
            RemoteError: it failed or took too long; what was done by then stays, and another sync goes on.
            ConflictError: another process syncs with it, or it keeps moving.
        """
        from gitmem.remote_repository import checked_seconds
        from gitmem.sync import TIMEOUT, SyncOptions

        self._parts.check_owner()
        seconds = TIMEOUT if timeout is None else checked_seconds(timeout)
        options = SyncOptions(dry_run=dry_run, timeout=seconds)
        return self._parts.syncing.sync(remote, options)

    def sync_quietly(self, remote: str | None, options: SyncOptions) -> SyncReply | None:
        """Sync in the background, unless the last try failed just now; the longer it fails, the rarer.

        Args:
            remote: its name; without one `origin`, else the only one.
            options: how.

        Returns:
            What was done; None where it was left for later.
        """
        if self._parts.syncing.is_too_soon(remote):
            return None
        return self._parts.syncing.sync(remote, options)

    def conflicts(self, path: str | None = None) -> Sequence[OpenConflict]:
        """Return the texts that lost a merge, each beside the one that lives, with who wrote them.

        Args:
            path: only those of one file.
        """
        return self._parts.resolving.list(path)

    def resolve(self, path: str, keep: str) -> Resolved:
        """End a conflict, in the operator's name: one commit in which all copies of the path go.

        Args:
            path: of the file, or of one of its copies.
            keep: `live`, `edited` (the file as it is on disk now), `both` (each copy becomes a note of its
                own), or a copy: its path, or the beginning of its name.

        Raises:
            NotFound: there is no such conflict or copy.
            RefusedError: that cannot be kept.
        """
        self._parts.check_owner()
        return self._parts.resolving.resolve(path, keep)
