"""Whether the own line stands where gitmem left it: one comparison of the note of it with the ref."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gitmem.errors import GitmemError
from gitmem.repository import Commit, Repository
from gitmem.subjects import CHAIN, parse_trailers
from gitmem.writer import WriterState

_CHAIN: Final = re.compile(r"(w[0-9a-f]{8}):(\d{1,18}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Astray:
    """An own line whose ref is not where the last turn left it.

    Attributes:
        ref: its full name.
        branch: its short name.
        found: where the ref stands; None for one that is gone or unreadable.
        last: the last own commit, where that can be read; readers take the line as standing there.
    """

    ref: str
    branch: str
    found: str | None
    last: str | None

    @property
    def reason(self) -> str:
        """What is wrong and who mends it, in words."""
        if self.found is None:
            what = "is gone or cannot be read"
        else:
            what = f"was moved to {self.found[:12]} by somebody else"
        read = "; it is read as gitmem left it" if self.last else ""
        return f"the turn line {self.branch} {what}{read}, and the next turn or `gitmem watch` puts it back"


def find_astray(repository: Repository, state: WriterState, found: str | None) -> Astray | None:
    """Return what the next turn would find out of place with the own line's ref, None where it would nothing.

    Args:
        repository: the objects.
        state: what was remembered of the line before its ref was read: a turn moves the ref first.
        found: where the ref stands.
    """
    if found == state.last or (
        found is not None and repository.contains(found) and is_next(repository, state, found)
    ):
        return None
    last = state.last if state.last is not None and repository.contains(state.last) else None
    return Astray(state.ref, state.branch, found, last)


def is_next(repository: Repository, state: WriterState, found: str) -> bool:
    """Say whether a ref is ahead of what is remembered only because a kill came before the note of it."""
    try:
        if chain_of(repository.read_commit(found), state.writer) is None:
            return False
        return state.last is None or repository.is_ancestor(state.last, found)
    except GitmemError:
        return False


def chain_of(commit: Commit, writer: str) -> tuple[int, str] | None:
    """Return seq and envelope hash of a writer's last line as a turn's commit names them, or None."""
    found = _CHAIN.fullmatch(parse_trailers(commit.message).get(CHAIN, ""))
    return (int(found[2]), found[3]) if found and found[1] == writer else None
