"""Verifies what one commit has beyond another: what a forge runs on a pull request."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress

from gitmem.commit_names import find_commit
from gitmem.config import HomeConfig
from gitmem.content_checks import check_file
from gitmem.errors import GitmemError, UsageError
from gitmem.layout import LEDGER, is_managed
from gitmem.ledger_growth import ledger_losses
from gitmem.reachability import reaches
from gitmem.repository import SUBMODULE_MODE, Commit, Repository, TreeEntry
from gitmem.tree_changes import TreeChange, changed_paths
from gitmem.verify import Checked, Verification, conclude
from gitmem.verify_finding import Finding


def verify_range(
    repository: Repository, config: HomeConfig, allowed: Collection[str], text: str, lines: Collection[str]
) -> Verification:
    """Verify what the second commit of `A..B` has beyond the first.

    Args:
        repository: their objects.
        config: the home's facts.
        allowed: this machine's exceptions for the scanner.
        text: the range.
        lines: tips of the turn lines, where commits may be, too.

    Raises:
        UsageError: not two names of commits with `..` between them.
        NotFound: there is no such commit here.
    """
    first, dots, last = text.partition("..")
    if not (first and dots and last) or last.startswith("."):
        raise UsageError(f"not a range of commits: {text!r}", hint="Write it as A..B.", field="range")
    old, new = (find_commit(repository, name, lines) for name in (first, last))
    commits = range_commits(repository, old.id, new.id)
    findings = range_findings(repository, config, allowed, (old, new), commits)
    return conclude("range", findings, Checked(commits=len(commits)))


def range_commits(repository: Repository, old: str, new: str) -> list[Commit]:
    """Return the commits that are behind `new` and not behind `old`, newest first.

    Raises:
        ObjectMissing: `new` is not here.
    """
    found: dict[str, Commit] = {}
    waiting = [new]
    while waiting:
        commit_id = waiting.pop(0)
        if commit_id in found or reaches(repository.read_commit, old, commit_id):
            continue
        found[commit_id] = repository.read_commit(commit_id)
        waiting.extend(found[commit_id].parents)
    return list(found.values())


def range_findings(
    repository: Repository,
    config: HomeConfig,
    allowed: Collection[str],
    ends: tuple[Commit, Commit],
    commits: Collection[Commit],
) -> Iterator[Finding]:
    """Yield what speaks against taking in some commits.

    Commits of a turn line have to keep every line; those of people are held to what `pre-commit` checks,
    each by itself, because a text that one brings and the next takes away stays in history.

    Args:
        repository: their objects.
        config: the home's facts.
        allowed: this machine's exceptions for the scanner.
        ends: the commit that is there, and the one that is to be taken in.
        commits: all between them.
    """
    old, new = ends
    if all(_is_of_a_turn_line(repository, end) for end in ends):
        for loss in ledger_losses(repository, old.id, new.id):
            yield Finding("lost", loss.message, path=loss.path, commit=new.id)
        return
    for commit in commits:
        for change in _own_changes(repository, commit):
            yield from _judge(repository, config, allowed, commit, change)


def _is_of_a_turn_line(repository: Repository, commit: Commit) -> bool:
    """Say whether a commit's tree holds `ledger/` alone; its message is no proof, anybody may write one."""
    return [entry.name for entry in repository.read_tree(commit.tree)] == [LEDGER]


def _own_changes(repository: Repository, commit: Commit) -> Iterator[TreeChange]:
    """Yield the changes of a commit; of a merge those that none of its sides has."""
    sides: list[dict[str, TreeChange]] = []
    for parent in commit.parents or ("",):
        with suppress(GitmemError):  # beyond the boundary of a shallow clone
            tree = repository.read_commit(parent).tree if parent else None
            sides.append({change.path: change for change in changed_paths(repository, tree, commit.tree)})
    if sides:
        everywhere = set.intersection(*map(set, sides))
        yield from (change for path, change in sides[0].items() if path in everywhere)


def _judge(
    repository: Repository, config: HomeConfig, allowed: Collection[str], commit: Commit, change: TreeChange
) -> Iterator[Finding]:
    path = change.path
    if not is_managed(path) and path.split("/", 1)[0] != LEDGER:
        return
    old, new = (_content(repository, entry) for entry in (change.old, change.new))
    for found in check_file(path, new, old, config, allowed):
        message = f"{found.rule}: {found.message}"
        yield Finding("branch", message, path=path, line=found.line, commit=commit.id)


def _content(repository: Repository, entry: TreeEntry | None) -> bytes | None:
    if entry is None or entry.mode == SUBMODULE_MODE:
        return None
    kind, content = repository.read(entry.id)
    return content if kind == "blob" else None
