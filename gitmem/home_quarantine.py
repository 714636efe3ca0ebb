"""What came by sync and is kept from the agent, as methods of a home."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.home_parts import HomeParts

if TYPE_CHECKING:
    from gitmem.quarantine import QuarantineChange, QuarantineList


class HomeQuarantine:
    """The part of `AgentHome` that has to do with quarantine."""

    _parts: HomeParts

    def quarantine(self, *, seconds: float | None = None) -> QuarantineList:
        """Return what came by sync and is kept from the agent here, and what was let through.

        Args:
            seconds: what is new is looked at for so long, and the rest counted; None looks at all of it.
        """
        return self._parts.quarantine.list(seconds)

    def release(self, ref: str) -> QuarantineChange:
        """Let something through to the agent, on this machine only; once it changes it is judged anew.

        Args:
            ref: source ref, id, the beginning of one, or the path of a file.

        Raises:
            NotFound: nothing of that name is in quarantine.
            RefusedError: it is too large or too long to be shown at all.
        """
        self._parts.check_owner()
        return self._parts.quarantine.release(ref)

    def hold(self, ref: str) -> QuarantineChange:
        """Take a release back.

        Args:
            ref: as for `release`.

        Raises:
            NotFound: nothing of that name was let through.
        """
        self._parts.check_owner()
        return self._parts.quarantine.hold(ref)
