"""Turns that a removed work tree left in its spool: the next open of any other work tree takes them over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gitmem.durable_file import remove_file, sync_folder
from gitmem.errors import GitmemError, HomeLocked
from gitmem.file_lock import file_lock
from gitmem.layout import Layout
from gitmem.line_turns import turns_since
from gitmem.repository import Repository
from gitmem.spool import Spool, turn_of
from gitmem.writer import WriterState, read_writer


def adopt_spools(layout: Layout, repository: Repository, *, now: float) -> int:
    """Move the acknowledged turns of work trees that are gone into the spool of this one.

    Args:
        layout: of this work tree.
        repository: says which of those turns stand on their writer's line already.
        now: seconds since 1970.

    Returns:
        How many turns were moved.
    """
    count = 0
    for private in _abandoned(layout):
        with suppress(HomeLocked, GitmemError), file_lock(private / "lock", wait=0):
            count += _adopt(private, layout, repository, now)
    return count


def _abandoned(layout: Layout) -> Iterator[Path]:
    """Yield the private folders of linked work trees that git does not know any more."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for private in sorted((layout.common_dir / "gitmem" / "worktrees").iterdir()):
            is_known = (layout.common_dir / "worktrees" / private.name).exists()
            if not is_known and (private / "spool").is_dir():
                yield private


def _adopt(private: Path, layout: Layout, repository: Repository, now: float) -> int:
    spool = Spool(private / "spool")
    spool.close_dead(now)
    left = [*spool.finished(), *spool.sealed()]
    if not left:
        return 0
    done = _turns_done(repository, read_writer(private / "writer.json"))
    repository.settle_refs()
    layout.spool.mkdir(parents=True, exist_ok=True)
    waiting = [path for path in left if turn_of(path) not in done]
    for path in waiting:
        path.rename(layout.spool / path.with_suffix(".turn").name)
    sync_folder(layout.spool)
    for path in left:
        remove_file(path)
    return len(waiting)


def _turns_done(repository: Repository, state: WriterState | None) -> set[str]:
    if state is None:
        return set()
    return turns_since(repository, repository.read_ref(state.ref) or state.last, state.checkpoint)
