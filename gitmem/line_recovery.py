"""The own line's ref, put right where somebody moved it or a power cut broke it."""

from __future__ import annotations

import time
from collections.abc import Iterator

from gitmem.errors import CorruptionError, GitmemError
from gitmem.layout import Layout
from gitmem.line_position import is_readable
from gitmem.repository import ABSENT, Repository
from gitmem.writer import WriterState


def own_tip(
    repository: Repository, layout: Layout, state: WriterState, agent: str
) -> tuple[str | None, list[str]]:
    """Return the commit that the own line stands at, after mending its ref where it has to be (W1, T3).

    Args:
        repository: the refs and objects.
        layout: where reflog and ref file lie.
        state: what is remembered of the line.
        agent: `Name <mail>` for the reflog.

    Returns:
        The tip, None for a line that has no turn; and what was mended, in words.
    """
    try:
        found = repository.read_ref(state.ref)
    except CorruptionError:
        return _restore_broken(repository, layout, state, agent)
    if found == state.last:
        if found is None or repository.contains(found):
            return found, []
        return _restore_broken(repository, layout, state, agent)
    if found is not None and not repository.contains(found):
        return _restore_broken(repository, layout, state, agent)
    if state.last is None or (found is not None and _descends(repository, state.last, found)):
        return found, []  # a kill came between the ref and the note of it, or the state was lost
    return _put_back(repository, layout, state, found, agent)


def _put_back(
    repository: Repository, layout: Layout, state: WriterState, found: str | None, agent: str
) -> tuple[str | None, list[str]]:
    """Somebody moved or deleted the ref: it returns to the last own commit, what it was is kept."""
    assert state.last is not None
    if not repository.contains(state.last):
        return _restore_broken(repository, layout, state, agent)
    warnings = [f"{state.branch} had been moved by somebody else and was put back to {state.last[:12]}"]
    if found is not None:
        rescue = f"refs/gitmem/rescue/{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{found[:12]}"
        if repository.read_ref(rescue) is None:
            repository.move_ref(rescue, old=ABSENT, new=found, message="moved by somebody else", who=agent)
        warnings.append(f"where it had been moved to is kept as {rescue}")
    repository.move_ref(state.ref, old=found or ABSENT, new=state.last, message="put back", who=agent)
    return state.last, warnings


def _restore_broken(
    repository: Repository, layout: Layout, state: WriterState, agent: str
) -> tuple[str | None, list[str]]:
    """A power cut left the ref unreadable or its objects missing: back to the newest good commit."""
    tip = next((c for c in _candidates(layout, state) if is_readable(repository, state.writer, c)), None)
    broken = layout.common_dir / state.ref
    broken.unlink(missing_ok=True)  # what it named cannot be read; the reflog still has it
    packed = repository.read_ref(state.ref)
    if tip is None:
        return None, [f"{state.branch} was unreadable and has no readable commit; a new line begins"]
    if packed != tip:
        repository.move_ref(state.ref, old=packed or ABSENT, new=tip, message="recovered", who=agent)
    return tip, [f"{state.branch} was unreadable and stands at its newest readable commit, {tip[:12]}"]


def _candidates(layout: Layout, state: WriterState) -> Iterator[str]:
    if state.last is not None:
        yield state.last
    try:
        log = (layout.common_dir / "logs" / state.ref).read_bytes()
    except OSError:
        log = b""
    for line in reversed(log.split(b"\n")):
        new = line[41:81].decode("ascii", "replace")
        if len(new) == 40 and set(new) <= set("0123456789abcdef") and new != ABSENT:
            yield new
    if state.checkpoint is not None:
        yield state.checkpoint


def _descends(repository: Repository, ancestor: str, commit: str) -> bool:
    try:
        return repository.is_ancestor(ancestor, commit)
    except GitmemError:
        return False
