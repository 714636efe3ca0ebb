"""The operator's commit: what waits is settled, what they edited is theirs, what cannot be is named."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from stat import S_ISDIR
from typing import Any, Final

from gitmem.branch_changes import PathChange, Settled, WriteOutcome
from gitmem.branch_snapshot import BranchSnapshot
from gitmem.config import HomeConfig, parse_config
from gitmem.content_checks import GIT_FILES, CheckFinding, allowed_uses, check_file
from gitmem.errors import NotFound, ProtectedPath, UnsupportedFormat
from gitmem.json_view import JsonView
from gitmem.layout import CONFIG_FILE, MANAGED_FILES, MANAGED_FOLDERS, Layout, is_managed
from gitmem.operator_branch import OperatorBranch
from gitmem.path_names import fold_path
from gitmem.redaction import refuse_secret
from gitmem.subjects import ALLOWED, KIND, edit_subject, format_message
from gitmem.tree_files import LIKE_A_FILE, Skipped, list_files
from gitmem.watched import is_litter
from gitmem.work_tree import stat_file

#: The reason of a commit that was not made because of what is in it.
REFUSED: Final = "refused: see findings"
#: The reason of a commit that was not made because all is committed.
NOTHING: Final = "nothing to commit"


@dataclass(frozen=True, slots=True)
class CommitReply(JsonView):
    """What a commit of the operator did.

    Attributes:
        committed: the newest commit that it made; None with `reason`.
        source_ref: none, because a commit has no address of its own in the memory.
        path: the paths in it, as a person lists them.
        paths: the paths in it.
        settled: paths of pending writes that were settled first.
        skipped: `{"path", "reason"}` of what was left out.
        findings: `{"path", "line", "rule", "message", "fix"}` of what keeps all of it from being committed,
            or was committed all the same.
        warnings: what the operator should know besides, as of front matter that was put back.
    """

    committed: str | None
    reason: str | None
    source_ref: str | None
    path: str
    paths: Sequence[str] = ()
    settled: Sequence[str] = ()
    skipped: Sequence[dict[str, str]] = ()
    findings: Sequence[dict[str, Any]] = ()
    warnings: Sequence[str] = ()

    @property
    def is_refused(self) -> bool:
        """Whether edits were not committed because of what was found in them."""
        return self.reason == REFUSED


@dataclass(frozen=True, slots=True)
class _Edits:
    changes: Sequence[PathChange]
    skipped: Sequence[Skipped]


def commit_found(
    branch: OperatorBranch,
    layout: Layout,
    paths: Sequence[str] = (),
    *,
    message: str | None = None,
    settled: Sequence[Settled] = (),
    config: HomeConfig | None = None,
    allowed: Collection[str] = frozenset(),
    verify: bool = True,
) -> CommitReply:
    """Settle pending writes, then commit what is edited, new or removed among managed files.

    A finding refuses the whole of it, as with a hook: half of what belongs together is not committed, and of
    a secret no object is made. What waited is settled all the same.

    Args:
        branch: takes the commit.
        layout: the home's folders.
        paths: files or folders, relative to the home; none for all that is managed.
        message: the commit message; default one that names the paths.
        settled: pending writes that were settled before, when the home was opened.
        config: the home's facts, by which the edits are checked; None checks nothing.
        allowed: this machine's exceptions for the scanner.
        verify: refuse what has findings; else commit it, and name their rules in the commit.

    Raises:
        ProtectedPath: a named path is not managed.
        NotFound: a named path is neither on disk nor on the branch.
        ThreatFound: the message holds a secret; a commit cannot be made unsaid.
    """
    if verify:
        refuse_secret(message or "", "message")
    named = [_checked(path) for path in paths]
    settled = [*settled, *branch.settle()]
    before = [path for done in settled for path in done.write.paths]
    newest = next((done.committed for done in reversed(settled) if done.committed), None)
    snapshot = branch.look()
    if snapshot.refused is not None:
        return CommitReply(newest, snapshot.refused.reason, None, _listed(before), (), before)
    edits = _find_edits(snapshot, layout, named)
    skipped = [{"path": one.path, "reason": one.reason} for one in edits.skipped]
    if not edits.changes:
        reason = None if newest else branch.obstacle() or NOTHING
        return CommitReply(newest, reason, None, _listed(before), (), before, skipped)
    changed = [change.path for change in edits.changes]
    findings = [] if config is None else _check(edits.changes, snapshot, config, allowed)
    rows = [dataclasses.asdict(finding) for finding in findings]
    if findings and verify:
        skipped += [{"path": one.path, "reason": f"{one.rule}: {one.message}. {one.fix}"} for one in findings]
        return CommitReply(newest, REFUSED, None, _listed(before), (), before, skipped, rows)
    rules = [one.rule for one in findings] + _uses(edits.changes, snapshot, allowed)
    outcome = _write(branch, edits.changes, message or edit_subject(changed), rules)
    return CommitReply(
        outcome.committed, outcome.reason, None, _listed(changed), changed, before, skipped, rows
    )


def _write(
    branch: OperatorBranch, changes: Sequence[PathChange], message: str, rules: Sequence[str]
) -> WriteOutcome:
    subject, _, body = message.partition("\n")
    allowed = ", ".join(dict.fromkeys(rules)) or None
    return branch.write(
        changes,
        message=format_message(subject, [(KIND, "edit"), (ALLOWED, allowed)], body),
        author=branch.operator,
        operation="commit",
        turn=None,
        defer=False,
    )


def uncommitted(branch: OperatorBranch, layout: Layout) -> list[str]:
    """Return the managed files with edits that nobody has committed and that wait for nothing else.

    Only files that Git's own index does not vouch for are read.
    """
    snapshot = branch.look()
    if snapshot.refused is not None or snapshot.state.obstacle is not None:
        return []
    waiting = {path for write in branch.pending() for path in write.paths}
    return [one.path for one in _find_edits(snapshot, layout, ()).changes if one.path not in waiting]


def _check(
    changes: Sequence[PathChange], snapshot: BranchSnapshot, config: HomeConfig, allowed: Collection[str]
) -> list[CheckFinding]:
    sights = {change.path: snapshot.sight(change.path) for change in changes}
    for path, sight in sights.items():
        config = parse_after(config, path, sight.disk)
    return [
        finding
        for path, sight in sights.items()
        for finding in check_file(
            path,
            sight.disk,
            sight.head,
            config,
            allowed,
            sides=snapshot.resolved_sides(path) if b"<<<<<<<" in (sight.disk or b"") else None,
        )
    ]


def parse_after(config: HomeConfig, path: str, content: bytes | None) -> HomeConfig:
    """Return the home's facts as they are once a file has a content."""
    if path == CONFIG_FILE and content is not None:
        with suppress(UnsupportedFormat):  # which is a finding of its own
            return parse_config(content)
    return config


def _uses(changes: Sequence[PathChange], snapshot: BranchSnapshot, allowed: Collection[str]) -> list[str]:
    """Return what of this machine's allow list the changes need."""
    sights = ((change.path, snapshot.sight(change.path)) for change in changes)
    return [use for path, sight in sights for use in allowed_uses(path, sight.disk, sight.head, allowed)]


def _checked(path: str) -> str:
    plain = os.path.normpath(path).removeprefix("./") if path else ""
    if not is_managed(plain) and plain not in GIT_FILES:
        own = " ".join(f"{folder}/" for folder in MANAGED_FOLDERS)
        raise ProtectedPath(
            f"gitmem does not manage {path}",
            hint=f"It commits {own} {' '.join(MANAGED_FILES)}; the rest is yours: git commit -- {path}",
            path=path,
        )
    return plain


def _listed(paths: Sequence[str]) -> str:
    shown = ", ".join(dict.fromkeys(paths[:3]))
    return f"{shown}, …" if len(paths) > 3 else shown


def _find_edits(snapshot: BranchSnapshot, layout: Layout, named: Sequence[str]) -> _Edits:
    present, skipped = _on_disk(layout, named)
    branch = {
        path: file
        for path, file in snapshot.branch_files(lambda name: _is_top(name) or name in named).items()
        if _is_named(path, named)
    }
    known = {*present, *branch, *(one.path for one in skipped)}
    for name in named:
        if not any(_is_below(path, name) for path in known):
            raise NotFound(f"no such file: {name}", hint="Paths are relative to the home.", path=name)
    changes: list[PathChange] = []
    folded = {fold_path(path): path for path in sorted(present, key=branch.__contains__)}
    for path in sorted(present.keys() | branch.keys()):
        if path in present and path in branch and snapshot.is_unchanged(path, present[path], branch[path]):
            continue
        change = _edit_of(path, snapshot, folded.get(fold_path(path), path))
        if isinstance(change, Skipped):
            skipped.append(change)
        elif change is not None:
            changes.append(change)
    return _Edits(changes, sorted(skipped, key=lambda one: one.path))


def _edit_of(path: str, snapshot: BranchSnapshot, twin: str) -> PathChange | Skipped | None:
    view = snapshot.view(path)
    if view.sight.disk == view.sight.head and view.sight.fault is None:
        return None
    fault = view.sight.fault or _hindrance(path, snapshot)
    if fault is not None:
        return Skipped(path, fault.removeprefix(f"{path}: "))
    if twin != path and (view.raw is None or view.head is None):
        return Skipped(path, f"is the same name as {twin} on other machines")
    return PathChange(path, view.head.id if view.head else None, view.raw)


def _hindrance(path: str, snapshot: BranchSnapshot) -> str | None:
    sight = snapshot.sight(path)
    if sight.unmerged:
        return "unmerged: resolve it first"
    if not sight.staged_is_head and not sight.staged_is_disk:
        return "partly staged: stage all of it or none"
    return None


def _on_disk(layout: Layout, named: Sequence[str]) -> tuple[dict[str, os.stat_result], list[Skipped]]:
    """Return the managed files on disk that are meant, and what is no such file."""
    found: dict[str, os.stat_result] = {}
    skipped: list[Skipped] = []
    for folder in MANAGED_FOLDERS:
        listing = list_files(layout.root, folder, ("",))
        found.update({file.path: file.stat for file in listing.files if not _is_litter(file.path)})
        skipped += [one for one in listing.skipped if one.reason != LIKE_A_FILE]
    for path in (*MANAGED_FILES, *named):
        stat = stat_file(layout.root, path)
        if stat is not None and not S_ISDIR(stat.st_mode):
            found[path] = stat
    wanted = [one for one in skipped if _is_named(one.path, named) and one.path not in named]
    return {path: stat for path, stat in found.items() if _is_named(path, named)}, wanted


def _is_top(name: str) -> bool:
    return name in MANAGED_FOLDERS or name in MANAGED_FILES


def _is_litter(path: str) -> bool:
    return any(is_litter(name) for name in path.split("/"))


def _is_named(path: str, named: Sequence[str]) -> bool:
    return not named or any(_is_below(path, name) for name in named)


def _is_below(path: str, name: str) -> bool:
    return path == name or path.startswith(name + "/")
