"""What a home's files looked like by stat when last seen: makes real differences of hints, and of polling."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.changes import Hints
from gitmem.layout import MANAGED_FILES, MANAGED_FOLDERS, TURN_LINES, Layout
from gitmem.watched import is_litter

#: Inode, size, mtime, ctime (nanoseconds); of a folder inode and mode.
FileStat = tuple[int, ...]

#: A file that changed less than this before it was seen may change again without a difference in its stat,
#: for file systems date by a clock that ticks every few milliseconds.
_YOUNG: Final = 50_000_000
#: The same where they date by whole seconds, or two.
_YOUNG_IN_SECONDS: Final = 2_000_000_000
#: Looking at more paths one by one costs more than looking at all.
_MANY: Final = 200


class TreeSight:
    """Remembers what was seen, and tells what is different now.

    Args:
        layout: the folders of the home.
        clock: wall clock in nanoseconds, the one by which files are dated.
    """

    def __init__(self, layout: Layout, clock: Callable[[], int] = time.time_ns) -> None:
        self._layout = layout
        self._clock = clock
        self._files: dict[str, FileStat] = {}
        self._lines: dict[str, FileStat] = {}
        self._young: set[str] = set()

    def __len__(self) -> int:
        """Return how many files and folders were there when last looked at."""
        return len(self._files)

    def look(self) -> Hints:
        """Look at everything; return what is different since it was last looked at."""
        now = self._clock()
        files, lines = stat_tree(self._layout.root), stat_lines(self._layout)
        changed = frozenset(path for path, _ in self._files.items() ^ files.items())
        turns = lines != self._lines
        self._files, self._lines = files, lines
        self._young = {path for path, found in files.items() if _is_young(found, now)}
        return Hints(changed, turns=turns)

    def look_at(self, paths: Iterable[str]) -> Hints:
        """Look at paths, and below those that are folders; return what is different, or may be."""
        paths = frozenset(paths)
        if len(paths) > _MANY:
            young = frozenset(self._young & paths)
            return self.look() | Hints(young)
        return Hints(frozenset().union(*map(self._look_at, paths)))

    def _look_at(self, path: str) -> frozenset[str]:
        now = self._clock()
        after = stat_below(self._layout.root, path)
        before = self._seen_below(path, after)
        young = self._young & (before.keys() | after.keys())
        for gone in before.keys() - after.keys():
            del self._files[gone]
        self._files.update(after)
        self._young -= before.keys()
        self._young |= {path for path, found in after.items() if _is_young(found, now)}
        return frozenset(path for path, _ in before.items() ^ after.items()) | young

    def _seen_below(self, path: str, after: dict[str, FileStat]) -> dict[str, FileStat]:
        known = self._files.get(path)
        if not (_is_folder(known) or _is_folder(after.get(path))):
            return {} if known is None else {path: known}
        below = f"{path}/"
        return {name: found for name, found in self._files.items() if name == path or name.startswith(below)}


def stat_tree(root: Path) -> dict[str, FileStat]:
    """Return path and stat of every authored file and folder; links are not followed, litter is left out."""
    found: dict[str, FileStat] = {}
    for name in (*MANAGED_FILES, *MANAGED_FOLDERS):
        found.update(stat_below(root, name))
    return found


def stat_below(root: Path, path: str) -> dict[str, FileStat]:
    """Return path and stat of what is at `path` and, if that is a folder, below it; nothing if it is gone."""
    try:
        top = _stat_of(os.lstat(f"{root}/{path}"))
    except OSError:
        return {}
    return {path: top, **dict(_walk(str(root), path))} if _is_folder(top) else {path: top}


def stat_lines(layout: Layout) -> dict[str, FileStat]:
    """Return path and stat of what records are read from: refs of turn lines, finished spool files."""
    refs = layout.common_dir / "refs"
    own = layout.common_dir / TURN_LINES
    folders = [own, *(refs / "remotes").glob("*/gitmem/turns")]
    paths = [layout.common_dir / "packed-refs", *(path for folder in folders for path in folder.glob("**/*"))]
    found = {}
    for path in (*paths, *layout.spool.glob("*.turn")):
        with suppress(OSError):
            if path.suffix != ".lock":
                found[str(path)] = _stat_of(path.lstat())
    return found


def _walk(root: str, folder: str) -> Iterator[tuple[str, FileStat]]:
    waiting = [folder]
    while waiting:
        inner = waiting.pop()
        for name in _names_in(f"{root}/{inner}"):
            path = f"{inner}/{name}"
            with suppress(OSError):  # gone meanwhile
                found = _stat_of(os.lstat(f"{root}/{path}"))
                if _is_folder(found):
                    waiting.append(path)
                yield path, found


def _names_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if not is_litter(entry.name)]
    except OSError:  # not ours to read; the folder's own stat changes when that does
        return []


def _stat_of(found: os.stat_result) -> FileStat:
    # A folder's times change with every temporary file in it.
    if stat.S_ISDIR(found.st_mode):
        return found.st_ino, found.st_mode
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _is_folder(found: FileStat | None) -> bool:
    return found is not None and len(found) == 2


def _is_young(found: FileStat, now: int) -> bool:
    if _is_folder(found):
        return False
    changed = found[2:]
    in_seconds = all(moment % 1_000_000_000 == 0 for moment in changed)
    return max(changed) > now - (_YOUNG_IN_SECONDS if in_seconds else _YOUNG)
