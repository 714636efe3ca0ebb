"""The files of a home as they were: the tree that a commit or a time in the past stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gitmem.past_ledger import commit_or_time
from gitmem.repository import Commit, Repository
from gitmem.subjects import HEAD, parse_trailers


@dataclass(frozen=True, slots=True)
class PastTree:
    """Files as they were.

    Attributes:
        commit: the commit that was asked for or found.
        head: the one on the operator's branch whose files these are; for a turn, what HEAD was then.
        tree: of `head`; None where there was none yet.
    """

    commit: str | None
    head: str | None
    tree: str | None


def tree_at(repository: Repository, as_of: str, now: float, lines: Iterable[str] = ()) -> PastTree:
    """Return the tree that `--as-of` means.

    Args:
        repository: the home's.
        as_of: a commit of the operator's branch or of a turn line, or a time in words.
        now: seconds since 1970, for times in words.
        lines: tips of the turn lines, where a shortened commit id is looked for too.

    Raises:
        NotFound: there is no such commit here.
        UsageError: it is neither a commit nor a time.
    """
    asked = commit_or_time(repository, as_of, now, lines)
    if isinstance(asked, Commit):
        head = parse_trailers(asked.message).get(HEAD, asked.id) if _is_turn(asked) else asked.id
        return PastTree(asked.id, head, repository.read_commit(head).tree if head else None)
    for commit in _branch(repository):
        if commit.commit_time <= asked:
            return PastTree(commit.id, commit.id, commit.tree)
    return PastTree(None, None, None)


def _is_turn(commit: Commit) -> bool:
    return parse_trailers(commit.message).get("Gitmem-Kind") == "turn"


def _branch(repository: Repository) -> Iterable[Commit]:
    tip = repository.head().commit
    return repository.walk_first_parents(tip) if tip else ()
