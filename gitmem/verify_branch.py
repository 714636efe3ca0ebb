"""Verifies the operator's branch: the agent's commits against the records of their turns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from gitmem.errors import GitmemError
from gitmem.identity import is_agent
from gitmem.layout import LEDGER
from gitmem.records import Record
from gitmem.repository import Commit, Repository, read_path
from gitmem.subjects import KIND, TURN, parse_trailers
from gitmem.tree_changes import changed_paths
from gitmem.verify_finding import Finding, Severity

#: Kinds of commits for which the turn that they name holds a `memory` record with their paths.
_RECORDED: Final = ("memory", "note", "work")


def branch_findings(
    repository: Repository,
    home_id: str,
    commits: Sequence[Commit],
    records: Sequence[Record],
    turns: Collection[str] | None,
    *,
    closed: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield what commits of the operator's branch say otherwise than the ledger.

    A missing trailer is nothing, as an operator may have edited the message; a contradicting one is. Where a
    person committed the agent's commit anew, as `git commit --amend` does, that is a warning.

    Args:
        repository: their objects.
        home_id: only the agent's commits are held against the ledger.
        commits: of the branch, newest first.
        records: `memory` records that were read.
        turns: ids of all turns; None where not all were read.
        closed: ids of turns of which such a record was forgotten; they are not judged.
    """
    by_turn = _by_turn(records)
    if commits and read_path(repository, commits[0].tree, LEDGER) is not None:
        message = "a branch of people holds a ledger/, which nobody reads"
        yield Finding("ledger_in_branch", message, "warning", LEDGER, commit=commits[0].id)
    for commit in commits:
        trailers = parse_trailers(commit.message)
        turn = trailers.get(TURN)
        if turn is None or turn in closed or not _is_recorded(commit, trailers.get(KIND), home_id):
            continue
        told = by_turn.get(turn)
        is_ours = is_agent(commit.committer, home_id)
        if told is None and turns is not None and turn in turns:
            told = frozenset()  # the turn tells of no change; one that was imported never does
            is_ours = is_ours and trailers.get(KIND) is None
        if told is not None:
            severity: Severity = "error" if is_ours else "warning"
            yield from _contradictions(repository, commit, turn, told, severity)
        elif turns is not None and turn not in turns:
            message = f"commit {commit.id[:12]} names turn {turn}, which no turn line here holds"
            yield Finding("memory_trailer", message, "warning", commit=commit.id, source_ref=f"turn:{turn}")


def _is_recorded(commit: Commit, kind: str | None, home_id: str) -> bool:
    """Say whether the turn that a commit names has to hold a record of it."""
    if not is_agent(commit.author, home_id):
        return False
    # gitmem writes both trailers: whoever edits a message is the committer.
    return kind in _RECORDED or (kind is None and is_agent(commit.committer, home_id))


def _contradictions(
    repository: Repository, commit: Commit, turn: str, told: frozenset[str], severity: Severity
) -> Iterator[Finding]:
    try:
        before = repository.read_commit(commit.parents[0]).tree if commit.parents else None
        changed = [change.path for change in changed_paths(repository, before, commit.tree)]
    except GitmemError:  # beyond the boundary of a shallow clone
        return
    for path in changed:
        if path not in told:
            message = f"commit {commit.id[:12]} changes {path} in the name of turn {turn}, which did not"
            yield Finding(
                "memory_trailer", message, severity, path, commit=commit.id, source_ref=f"turn:{turn}"
            )


def _by_turn(records: Sequence[Record]) -> Mapping[str, frozenset[str]]:
    """Return the paths that were changed in the name of each turn."""
    found: dict[str, set[str]] = {}
    for record in records:
        files = record.body.get("files")
        paths = {str(one.get("path")) for one in files if isinstance(one, dict)} if files else set()
        cause = record.body.get("cause")
        for turn in {record.turn, cause if isinstance(cause, str) else record.turn}:
            found.setdefault(turn, set()).update(paths)
    return {turn: frozenset(paths) for turn, paths in found.items()}
