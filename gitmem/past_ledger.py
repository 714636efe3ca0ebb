"""The ledger as it was known at a moment: the turn commits that stood at the ends of the lines."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Final

from gitmem.commit_names import find_commit, is_commit_id, may_be_commit_id, may_be_words
from gitmem.errors import NotFound, UsageError
from gitmem.repository import Commit, Repository
from gitmem.subjects import HEAD, KIND, parse_trailers
from gitmem.times import TIMES, parse_when

#: Digits of a day such as 20261130, which is one before it is the beginning of an id.
_DAY_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class PastLedger:
    """The ledger as it was.

    Attributes:
        tips: commits of turn lines whose trees together are it.
        is_union: asked for was a commit of the operator's branch that no turn of the own line reaches; so it
            is what all lines held by its time.
    """

    tips: frozenset[str]
    is_union: bool = False


def ledger_at(
    repository: Repository, as_of: str, now: float, tips: Iterable[str], own: str | None = None
) -> PastLedger:
    """Return the ledger that `--as-of` means.

    Args:
        repository: the home's.
        as_of: a turn's commit: what its writer knew then. A commit of the operator's branch: the newest turn
            of the own line that began at it or at one before it. Or a time in words: what the lines that are
            here held by then.
        now: seconds since 1970, for times in words.
        tips: of the turn lines as they are.
        own: of the own turn line.

    Raises:
        NotFound: there is no such commit here.
        UsageError: it is neither a commit nor a time.
    """
    lines = list(tips)
    commit = commit_or_time(repository, as_of, now, lines)
    if not isinstance(commit, Commit):
        return PastLedger(_union(repository, lines, commit))
    if parse_trailers(commit.message).get(KIND) == "turn":
        return PastLedger(frozenset({commit.id}))
    turn = _begun_at(repository, own, commit) if own is not None else None
    if turn is not None:
        return PastLedger(frozenset({turn}))
    return PastLedger(_union(repository, lines, commit.commit_time), is_union=True)


def tips_at(
    repository: Repository, as_of: str, now: float, tips: Iterable[str], own: str | None = None
) -> frozenset[str]:
    """Return the commits of turn lines whose trees together are the ledger as it was; see `ledger_at`."""
    return ledger_at(repository, as_of, now, tips, own).tips


def _begun_at(repository: Repository, own: str, commit: Commit) -> str | None:
    """Return the newest turn of a line whose HEAD was a commit or an ancestor of it."""
    known: dict[str | None, bool] = {None: True}  # there was no commit yet
    for turn in repository.walk_first_parents(own):
        head = parse_trailers(turn.message).get(HEAD)
        if head not in known:
            known[head] = repository.contains(str(head)) and repository.is_ancestor(str(head), commit.id)
        if known[head] and parse_trailers(turn.message).get(KIND) == "turn":
            return turn.id
    return None


def _union(repository: Repository, lines: Iterable[str], moment: float) -> frozenset[str]:
    found = (_before(repository, tip, moment) for tip in lines)
    return frozenset(commit for commit in found if commit is not None)


def commit_or_time(repository: Repository, as_of: str, now: float, lines: Iterable[str]) -> Commit | float:
    """Return the commit that `--as-of` names, or the time in seconds since 1970.

    What can be read as a time is one, whatever branches are called; only ids come before.

    Raises:
        NotFound: there is no such commit here.
        UsageError: it is neither.
    """
    if is_commit_id(as_of):
        return find_commit(repository, as_of, lines)
    if may_be_commit_id(as_of) and len(as_of) != _DAY_DIGITS:  # one id in 280 of those with twelve digits
        with suppress(NotFound):
            return find_commit(repository, as_of, lines)
    try:
        return parse_when(as_of, now)
    except UsageError as error:
        with suppress(NotFound) if may_be_words(as_of) else nullcontext():
            return find_commit(repository, as_of, lines)
        raise UsageError(
            f"neither a commit nor a time: {as_of[:80]!r}",
            hint=f"Use the id of a commit, HEAD, a branch, a tag, or a time: {TIMES}.",
            field="as_of",
        ) from error


def _before(repository: Repository, tip: str, moment: float) -> str | None:
    commits = repository.walk_first_parents(tip)
    return next((commit.id for commit in commits if commit.commit_time <= moment), None)
