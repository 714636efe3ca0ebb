"""Lock files of refs that a killed process of gitmem left, found by their mark; of others none is touched."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.git_lock import MARK, remove_stale
from gitmem.layout import Layout

#: Refs that other work trees of the repository may be moving just now, which takes them milliseconds.
_SHARED: Final = ("refs/tags/episode", "refs/gitmem", "refs/heads/gitmem")
#: Seconds for which a lock is watched that nobody may hold. Its times tell nothing: it is a link to the mark.
_WATCHED: Final = 1.0
_LOOK: Final = 0.02
_SUFFIX: Final = ".lock"


def clear_stale_ref_locks(layout: Layout, remote: str) -> None:
    """Remove what killed processes left, so that refs can be moved again.

    Call it under the home's lock and the lock of syncing with the remote: then nobody else here moves the
    remote's side refs.

    Args:
        layout: where the refs lie.
        remote: its name.
    """
    common = layout.common_dir
    for lock in _marked(common / "refs" / "remotes" / remote):
        _remove(lock)
    shared = {lock for name in _SHARED for lock in _marked(common / name)}
    shared |= {lock for lock in [common / f"packed-refs{_SUFFIX}"] if _has_mark(lock)}
    until = time.monotonic() + _WATCHED
    while shared and time.monotonic() < until:
        time.sleep(_LOOK)
        shared = {lock for lock in shared if _has_mark(lock)}
    for lock in shared:
        _remove(lock)


def _marked(folder: Path) -> Iterator[Path]:
    return (lock for lock in folder.rglob(f"*{_SUFFIX}") if _has_mark(lock))


def _has_mark(lock: Path) -> bool:
    try:
        return lock.read_bytes() == MARK
    except OSError:
        return False


def _remove(lock: Path) -> None:
    with suppress(OSError):
        remove_stale(lock.with_name(lock.name.removesuffix(_SUFFIX)))
