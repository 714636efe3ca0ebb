"""The ledger as it was known at a moment: the turn commits that stood at the ends of the lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from gitmem.errors import NotFound, UsageError
from gitmem.repository import Commit, Repository
from gitmem.subjects import KIND, parse_trailers
from gitmem.times import TIMES, parse_when

_COMMIT: Final = re.compile(r"[0-9a-f]{4,40}")


def tips_at(repository: Repository, as_of: str, now: float, tips: Iterable[str]) -> frozenset[str]:
    """Return the commits of turn lines whose trees together are the ledger as it was.

    Args:
        repository: the home's.
        as_of: a turn's commit: what its writer knew then. Or a commit of the operator's branch, or a time in
            words: what the lines that are here held by then.
        now: seconds since 1970, for times in words.
        tips: of the turn lines as they are.

    Raises:
        NotFound: there is no such commit here.
        UsageError: it is neither a commit nor a time.
    """
    lines = list(tips)
    if _COMMIT.fullmatch(as_of) and not as_of.isdigit():
        commit = find_commit(repository, as_of, lines)
        if parse_trailers(commit.message).get(KIND) == "turn":
            return frozenset({commit.id})
        moment: float = commit.commit_time
    else:
        moment = moment_named(as_of, now)
    found = (_before(repository, tip, moment) for tip in lines)
    return frozenset(commit for commit in found if commit is not None)


def moment_named(as_of: str, now: float) -> float:
    """Return when the time is, in seconds since 1970, that `--as-of` names where it names no commit.

    Raises:
        UsageError: it is neither.
    """
    try:
        return parse_when(as_of, now)
    except UsageError as error:
        raise UsageError(
            f"neither the id of a commit nor a time: {as_of!r}",
            hint=f"Use an id, as `git rev-parse HEAD` or `gitmem log` print it, or a time: {TIMES}.",
            field="as_of",
        ) from error


def _before(repository: Repository, tip: str, moment: float) -> str | None:
    commits = repository.walk_first_parents(tip)
    return next((commit.id for commit in commits if commit.commit_time <= moment), None)


def find_commit(repository: Repository, name: str, lines: Iterable[str]) -> Commit:
    """Return the commit with an id, or one that begins with it on HEAD's branch or a turn line.

    Args:
        repository: the home's.
        name: 40 hex digits, or the first of them.
        lines: tips of the turn lines.

    Raises:
        NotFound: there is none here.
    """
    if len(name) == 40 and repository.contains(name):
        return repository.read_commit(name)
    tips = [repository.head().commit, *lines]
    commits = (commit for tip in tips if tip for commit in repository.walk_first_parents(tip))
    found = next((commit for commit in commits if commit.id.startswith(name)), None)
    if found is None:
        raise NotFound(f"no commit {name} here", hint="Fetch it, or take one from `gitmem log`.", commit=name)
    return found
