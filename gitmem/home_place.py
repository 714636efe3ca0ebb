"""Whether the home that was opened still stands where it was: there, half gone, or another in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from gitmem.errors import NotAHome
from gitmem.layout import CONFIG_FILE, MANAGED_FOLDERS, Layout, find_layout
from gitmem.watch_state import watch_lock_file

#: `away`: the folders are there, the home's own file is not, as in the middle of a removal or a checkout.
Place = Literal["here", "away", "replaced"]


class HomePlace:
    """Remembers the folders that were opened, while the watcher's lock is held.

    Args:
        layout: their names.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._known = self._identities()

    def look(self) -> Place:
        """Say what stands there now."""
        if self._known is None or self._identities() != self._known:
            return "replaced"
        return "here" if (self._layout.root / CONFIG_FILE).exists() else "away"

    def _identities(self) -> tuple[tuple[int, int], ...] | None:
        # The lock file too: a file system gives the number of a removed folder to the next one that is made.
        paths = (self._layout.root, self._layout.git_dir, watch_lock_file(self._layout))
        try:
            found = [path.stat() for path in paths]
        except OSError:
            return None
        return tuple((one.st_dev, one.st_ino) for one in found)


def mark_of(root: Path, now: float) -> object | None:
    """Return a mark of what stands at `root`; None while that is no whole home.

    Two equal marks, taken some time apart, mean that nobody is putting it there or taking it away.
    """
    try:
        layout = find_layout(root)
        if not (root / CONFIG_FILE).exists() or fresh_index_lock(layout, now):
            return None
        folders = [
            layout.root,
            layout.git_dir,
            layout.common_dir,
            *(layout.root / name for name in MANAGED_FOLDERS),
        ]
        folders += [layout.common_dir / name for name in ("objects", "refs", "refs/heads", "gitmem")]
        found = [(path, path.stat()) for path in folders if path.exists()]
    except (NotAHome, OSError):
        return None
    return tuple((path, one.st_ino, one.st_mtime_ns) for path, one in found)


def fresh_index_lock(layout: Layout, now: float, limit: float = 10.0) -> str | None:
    """Name a `git` command that writes the index just now; a lock file older than `limit` is a leftover."""
    try:
        age = now - (layout.git_dir / "index.lock").stat().st_mtime
    except OSError:
        return None
    return "index.lock" if age < limit else None
