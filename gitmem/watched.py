"""What of a home is watched, and what a change there is about: a pure rule over paths."""

from __future__ import annotations

import re
from enum import Enum, auto
from pathlib import Path
from typing import Final

from gitmem.layout import MANAGED_FILES, MANAGED_FOLDERS, Layout

#: Names in the git dir that come or go with HEAD or with an operation of Git that is in progress.
GIT_STATES: Final = frozenset(
    (
        *("HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"),
        *("rebase-merge", "rebase-apply", "sequencer"),
    )
)
#: vim's probe for a writable folder (4913), and the halves of JetBrains' safe write.
_LITTER: Final = re.compile(r"4913|#.*#|.*(?:~|\.sw[opx]|\.tmp|\.part|\.lock|___jb_tmp___|___jb_old___)")
#: Below `refs`: the folders on the way to the turn lines (packing refs removes them), and the lines.
_WAY: Final = re.compile(r"heads(?:/gitmem)?|remotes(?:/[^/]+(?:/gitmem)?)?")
_LINE: Final = re.compile(r"(?:heads|remotes/[^/]+)/gitmem/turns(?:/.+)?")


class Area(Enum):
    """What a change is about.

    Attributes:
        TREE: authored files, as they are on disk.
        TURNS: a turn line moved, here or by a fetch, or a turn was acknowledged in the spool.
        STATE: HEAD, or an operation of Git that began or ended.
        INDEX: somebody asks for a look at the index.
    """

    TREE = auto()
    TURNS = auto()
    STATE = auto()
    INDEX = auto()


class Scope:
    """Tells the paths that matter from the noise; absolute paths as text, as file systems report them.

    Args:
        layout: the folders of the home.
    """

    def __init__(self, layout: Layout) -> None:
        self._root = f"{layout.root}/"
        self._git = f"{layout.git_dir}/"
        self._common = f"{layout.common_dir}/"
        self._refs = f"{layout.common_dir}/refs/"
        self._spool = f"{layout.spool}/"
        # The spool comes with the first turn; made by the watcher it could bring back a removed home.
        above = (layout.spool, *layout.spool.parents)
        self._spool_way = frozenset(str(path) for path in above if layout.common_dir in path.parents)
        self._areas = {
            **dict.fromkeys(self._spool_way, Area.TURNS),
            f"{layout.common_dir}/packed-refs": Area.TURNS,
            str(layout.index_request): Area.INDEX,
        }
        folders = (layout.root, layout.git_dir, layout.common_dir, layout.common_dir / "refs")
        #: Folders that must be there; without one of them watching starts over.
        self.anchors: Final[tuple[Path, ...]] = tuple(dict.fromkeys(folders))

    def area_of(self, path: str) -> Area | None:
        """Return what a change of `path` is about; None for noise and for what is not the home's."""
        folder, _, name = path.rpartition("/")
        folder += "/"
        if folder == self._git and name in GIT_STATES:
            return Area.STATE
        if path in self._areas:
            return self._areas[path]
        if folder == self._spool:
            return Area.TURNS if name.endswith(".turn") else None
        if path.startswith(self._refs):
            return Area.TURNS if self._is_ref(path) else None
        return Area.TREE if self.tree_path(path) else None

    def enters(self, folder: str) -> bool:
        """Say whether the content of `folder`, which is no anchor, is watched too."""
        if folder.startswith(self._refs):
            return self._is_ref(folder)
        if folder in self._spool_way:
            return True
        path = self.tree_path(folder)
        return path is not None and path not in MANAGED_FILES

    def tree_path(self, path: str) -> str | None:
        """Return the path in the home's tree (slashes) of a watched file or folder, else None."""
        if not path.startswith(self._root):
            return None
        below = path[len(self._root) :]
        first, _, rest = below.partition("/")
        if first in MANAGED_FOLDERS:
            return None if rest and any(map(is_litter, rest.split("/"))) else below
        return below if below in MANAGED_FILES else None

    def _is_ref(self, path: str) -> bool:
        below = path[len(self._refs) :]
        return not below.endswith(".lock") and bool(_LINE.fullmatch(below) or _WAY.fullmatch(below))


def is_litter(name: str) -> bool:
    """Say whether a file's or folder's name marks it as hidden, temporary, or left by an editor."""
    return name.startswith(".") or _LITTER.fullmatch(name) is not None
