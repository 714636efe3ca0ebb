"""Which turns the newest commits of a line hold, by the trailers of their messages alone."""

from __future__ import annotations

from gitmem.repository import Repository
from gitmem.subjects import TURN, parse_trailers


def turns_since(repository: Repository, tip: str | None, checkpoint: str | None) -> set[str]:
    """Return the ids of the turns from a line's tip back to a commit that is not counted."""
    done: set[str] = set()
    for commit in repository.walk_first_parents(tip) if tip else ():
        if commit.id == checkpoint:
            break
        turn = parse_trailers(commit.message).get(TURN)
        done |= {turn} if turn else set()
    return done
