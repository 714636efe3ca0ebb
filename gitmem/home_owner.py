"""Whose home it is: another user's is not written to, unless that was allowed and can be done right."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import ProtectedPath
from gitmem.layout import LEDGER, Layout
from gitmem.shared_files import grant

ALLOW: Final = "gitmem.allowOtherOwner"
_TRUE: Final = ("true", "yes", "on", "1")


class HomeOwner:
    """The user to whom a home belongs.

    Args:
        layout: where the home lies.
        setting: returns a Git configuration value.
    """

    def __init__(self, layout: Layout, setting: Callable[[str], str | None]) -> None:
        self._layout = layout
        self._setting = setting
        self._owner: os.stat_result | None = None

    @property
    def is_other(self) -> bool:
        """Say whether the home belongs to another user than the one who runs gitmem."""
        return self._stat().st_uid != os.geteuid()

    def check(self) -> None:
        """Refuse to write into another user's home.

        Raises:
            ProtectedPath: it is not allowed, or the owner could not write what this user makes.
        """
        if not self.is_other:
            return
        if (self._setting(ALLOW) or "").lower() not in _TRUE:
            raise ProtectedPath(
                "this home belongs to another user",
                hint=f"Run gitmem as its owner, or allow it: git config {ALLOW} true",
                owner=self._stat().st_uid,
                user=os.geteuid(),
            )
        if os.geteuid() != 0 and not self._setting("core.sharedRepository"):
            raise ProtectedPath(
                "this home belongs to another user, who could not write what this one makes",
                hint="Share it: git config core.sharedRepository group",
                owner=self._stat().st_uid,
                user=os.geteuid(),
            )

    def give(self, target: int | Path) -> None:
        """Give a new file or folder of the work tree to the home's owner."""
        if self.is_other and os.geteuid() == 0:
            os.chown(target, self._stat().st_uid, self._stat().st_gid)

    def grant(self, target: int | Path) -> None:
        """Give a new file or folder of the git dir to the owner, with a shared repository's permissions."""
        grant(target, self._setting("core.sharedRepository"))
        self.give(target)

    def hand_over(self) -> None:
        """Give everything that this user made in the git dir and in the ledger's copy to the home's owner."""
        if not self.is_other:
            return
        common, own, me = self._layout.common_dir, self._layout.git_dir, os.geteuid()
        folders = [common / name for name in ("gitmem", "logs", "refs", "objects/pack", "packed-refs")]
        folders += [own / "gitmem", own / "logs", own / "index", self._layout.root / LEDGER]
        for folder in folders:
            for path in (folder, *folder.rglob("*")):
                with suppress(FileNotFoundError):
                    if path.lstat().st_uid == me and not path.is_symlink():
                        self.grant(path)

    def _stat(self) -> os.stat_result:
        if self._owner is None:
            self._owner = self._layout.root.stat()
        return self._owner
