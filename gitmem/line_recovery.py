"""The own line's ref, put right where somebody moved it or a power cut broke it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from gitmem.errors import CorruptionError, GitmemError
from gitmem.git_lock import git_lock
from gitmem.git_refs import parse_reflog
from gitmem.layout import RESCUES, Layout
from gitmem.line_astray import chain_of, find_astray
from gitmem.line_position import read_position
from gitmem.repository import ABSENT, Repository
from gitmem.writer import WriterState


@dataclass(frozen=True, slots=True)
class OwnTip:
    """Where the own line stands after it was put right.

    Attributes:
        tip: its commit; None for a line that has no turn.
        warnings: what was mended, in words.
        is_lost: it had turns and none of them can be read, so that another writer has to begin.
    """

    tip: str | None
    warnings: tuple[str, ...] = ()
    is_lost: bool = False


def own_tip(repository: Repository, layout: Layout, state: WriterState, agent: str) -> OwnTip:
    """Return the commit that the own line stands at, after mending its ref where it has to be.

    Args:
        repository: the refs and objects.
        layout: where reflog and ref file lie.
        state: what is remembered of the line.
        agent: `Name <mail>` for the reflog.
    """
    try:
        found = repository.read_ref(state.ref)
    except CorruptionError:
        return restore(repository, layout, state, agent)
    if found is not None and not repository.contains(found):
        return restore(repository, layout, state, agent)
    if find_astray(repository, state, found) is None:
        return OwnTip(found)
    if state.last is not None and not repository.contains(state.last):
        return restore(repository, layout, state, agent)
    return _put_back(repository, state, found, agent)


def restore(repository: Repository, layout: Layout, state: WriterState, agent: str) -> OwnTip:
    """Put the ref on the newest turn that can be read; turns after it come again from the spool."""
    tip = _newest_readable(repository, layout, state)
    now = _drop_broken(repository, layout, state, agent)
    if now != tip:
        new = tip or ABSENT
        repository.move_ref(state.ref, old=now or ABSENT, new=new, message="recovered", who=agent)
    if tip is None:
        was = now or state.last
        return OwnTip(
            None,
            (f"{state.branch} (at {was}) has no turn that can be read; a new line begins",),
            is_lost=True,
        )
    return OwnTip(
        tip, (f"{state.branch} was unreadable and stands at its newest readable commit, {tip[:12]}",)
    )


def _put_back(repository: Repository, state: WriterState, found: str | None, agent: str) -> OwnTip:
    """Return the ref to the last own commit; what somebody else made of it is kept."""
    stands = "deleted" if state.last is None else f"put back to {state.last[:12]}"
    warnings = [f"{state.branch} had been moved by somebody else and was {stands}"]
    if found is not None:
        rescue = f"{RESCUES}{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{found[:12]}"
        if repository.read_ref(rescue) is None:
            repository.move_ref(rescue, old=ABSENT, new=found, message="moved by somebody else", who=agent)
        warnings.append(f"where it had been moved to is kept as {rescue}")
    new = state.last or ABSENT
    repository.move_ref(state.ref, old=found or ABSENT, new=new, message="put back", who=agent)
    return OwnTip(state.last, tuple(warnings))


def _newest_readable(repository: Repository, layout: Layout, state: WriterState) -> str | None:
    logged = _first_readable(repository, state.writer, _logged(layout, state))
    noted = [commit for commit in (state.last, state.checkpoint) if commit is not None]
    other = _first_readable(repository, state.writer, iter(noted))
    # Somebody may have moved the ref back before it broke, and a power cut may have taken the last notes.
    if logged is None or (other is not None and _is_ancestor(repository, logged, other)):
        return other
    return logged


def _first_readable(repository: Repository, writer: str, commits: Iterator[str]) -> str | None:
    return next((commit for commit in commits if _is_readable(repository, writer, commit)), None)


def _is_readable(repository: Repository, writer: str, commit: str) -> bool:
    """Say whether everything that the next turn needs of an own commit can be read."""
    try:
        if chain_of(repository.read_commit(commit), writer) is None:
            return False
        read_position(repository, writer, commit)
    except GitmemError:
        return False
    return True


def _logged(layout: Layout, state: WriterState) -> Iterator[str]:
    try:
        yield from parse_reflog((layout.common_dir / "logs" / state.ref).read_bytes())
    except OSError:
        return


def _drop_broken(repository: Repository, layout: Layout, state: WriterState, agent: str) -> str | None:
    """Remove what cannot be read, before the reflog names it; return what the ref is then."""
    path = layout.common_dir / state.ref
    with git_lock(path):
        try:
            is_broken = _is_missing(repository, repository.read_ref(state.ref))
        except CorruptionError:
            is_broken = True
        if is_broken:
            path.unlink(missing_ok=True)
    now = repository.read_ref(state.ref)
    if now is not None and _is_missing(repository, now):  # a packed one
        repository.move_ref(state.ref, old=now, new=ABSENT, message="unreadable", who=agent)
        return None
    return now


def _is_missing(repository: Repository, commit: str | None) -> bool:
    return commit is not None and not repository.contains(commit)


def _is_ancestor(repository: Repository, ancestor: str, commit: str) -> bool:
    try:
        return repository.is_ancestor(ancestor, commit)
    except GitmemError:
        return False
