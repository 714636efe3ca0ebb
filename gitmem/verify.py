"""Verifies a home: its turn lines, episodes, the agent's commits, the copy on disk, the search index.

It only writes marks, refs below `refs/gitmem/verified/`, behind which the next look begins.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from gitmem.config import HomeConfig
from gitmem.durable_file import write_file
from gitmem.errors import CorruptionError, GitmemError, ObjectMissing
from gitmem.file_lock import file_lock
from gitmem.json_view import JsonView
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.ledger_copy import LedgerCopy
from gitmem.records import Record
from gitmem.repository import ABSENT, Commit, ObjectReader, Repository
from gitmem.search_index import SearchIndex
from gitmem.verify_branch import branch_findings
from gitmem.verify_disk import disk_findings, whole_copy_findings
from gitmem.verify_episodes import EPISODE_TAGS, EpisodeVerifier
from gitmem.verify_finding import Finding
from gitmem.verify_index import index_findings
from gitmem.verify_ledger import LedgerLook, LedgerVerifier
from gitmem.verify_store import StoredObjects, store_findings

MARKS: Final = "refs/gitmem/verified/"
#: Findings of one rule that are listed; the rest is counted.
_LISTED: Final = 100
_LOCK_WAIT: Final = 5.0

Scope = Literal["new", "everything", "range", "witness"]


@dataclass(frozen=True, slots=True)
class Checked(JsonView):
    """How much was looked at.

    Attributes:
        writers: turn lines.
        commits: of turn lines and of the operator's branch.
        lines: of the ledger.
        episodes: records of finished episodes.
    """

    writers: int = 0
    commits: int = 0
    lines: int = 0
    episodes: int = 0


@dataclass(frozen=True, slots=True)
class Verification(JsonView):
    """What a verification found.

    Attributes:
        ok: whether there is no error; warnings are legal.
        scope: `new` since the last clean look, `everything`, a `range`, or what a remote bears `witness` of.
        findings: errors first; at most a hundred of one rule.
        omitted: how many more there are, by rule.
    """

    ok: bool
    scope: Scope
    findings: Sequence[Finding]
    omitted: Mapping[str, int]
    checked: Checked


def conclude(scope: Scope, findings: Iterable[Finding], checked: Checked) -> Verification:
    """Return findings in order, bounded."""
    found = sorted(
        dict.fromkeys(findings),
        key=lambda one: (one.severity != "error", one.rule, one.path or "", one.line or 0),
    )
    counts: Counter[str] = Counter()
    shown = []
    for finding in found:
        counts[finding.rule] += 1
        if counts[finding.rule] <= _LISTED:
            shown.append(finding)
    omitted = {rule: count - _LISTED for rule, count in counts.items() if count > _LISTED}
    is_ok = not any(finding.severity == "error" for finding in found)
    return Verification(is_ok, scope, tuple(shown), omitted, checked)


@dataclass(frozen=True, slots=True)
class VerifyParts:
    """What a verification looks at.

    Attributes:
        branch: full name of the operator's branch; None where none is set.
        waiting: returns ids of episodes whose files are not on the branch yet.
        record: returns a record by its id.
    """

    layout: Layout
    config: HomeConfig
    repository: Repository
    ledger: Ledger
    copy: LedgerCopy
    index: SearchIndex
    agent: str
    branch: str | None
    waiting: Callable[[], Iterable[str]]
    record: Callable[[str], Record | None]


class Verify:
    """Looks at a home.

    Args:
        parts: of it.
    """

    def __init__(self, parts: VerifyParts) -> None:
        self._parts = parts
        self._repository = parts.repository
        self._tags_file = parts.layout.derived / "verified-tags.json"

    def run(self, *, full: bool = False) -> Verification:
        """Verify what came since the last look that found nothing wrong, or everything.

        Args:
            full: trust no mark, and look at the search index and at every byte of the copy on disk, too.
        """
        with StoredObjects(self._repository, self._parts.layout.common_dir) as objects:
            return self._run(objects, full=full)

    def _run(self, objects: ObjectReader, *, full: bool) -> Verification:
        parts = self._parts
        marks = {} if full else self._marks()
        shallow = read_shallow(parts.layout.common_dir)
        verifier = LedgerVerifier(self._repository, parts.ledger, shallow, objects)
        since = {ref: commit for ref, commit in marks.items() if ref != parts.branch}
        look = verifier.look(since)
        tip = self._repository.read_ref(parts.branch) if parts.branch else None
        commits = self._branch_commits(objects, tip, marks.get(parts.branch or ""))
        tags = {} if full else self._read_tags()
        findings = [*look.findings, *self._readable(lambda: self._branch(look, commits, full=full), tip)]
        since_tip = marks.get(parts.branch or "")
        findings += self._readable(
            lambda: self._episodes(objects, tip, look, commits, since=since_tip, tags=tags), tip
        )
        findings += self._readable(lambda: self._disk(full=full), tip)
        if full:
            findings += self._readable(lambda: index_findings(parts.index, parts.ledger), tip)
            findings += store_findings(parts.layout.common_dir)
        checked = Checked(
            len(look.tips), look.commits + len(commits), look.lines, len(_of_kind(look.records, "episode"))
        )
        result = conclude("everything" if full else "new", findings, checked)
        if result.ok:
            self._mark(look.tips if tip is None or not parts.branch else {**look.tips, parts.branch: tip})
            self._keep_tags(tags)
        return result

    def _readable(self, look: Callable[[], Iterable[Finding]], tip: str | None) -> Iterator[Finding]:
        """Yield what a part of the look finds; that it cannot read something is a finding, too."""
        try:
            yield from look()
        except (CorruptionError, ObjectMissing) as error:
            yield Finding("unreadable", error.message, path=self._parts.branch, commit=tip)

    def _episodes(
        self,
        objects: ObjectReader,
        tip: str | None,
        look: LedgerLook,
        commits: Sequence[Commit],
        *,
        since: str | None,
        tags: Mapping[str, str],
    ) -> Iterator[Finding]:
        parts = self._parts
        is_going_on = since is not None and tip is not None and self._is_ancestor(since, tip)
        seen = {commit.id for commit in commits}

        def is_on_branch(commit: str) -> bool:
            return commit in seen or (is_going_on and tip is not None and self._is_ancestor(commit, tip))

        verifier = EpisodeVerifier(
            self._repository,
            objects,
            parts.ledger.receipts(),
            waiting=parts.waiting(),
            find=parts.record,
            is_on_branch=is_on_branch,
        )
        records = _of_kind(look.records, "episode")
        return verifier.look(tip, records, since if is_going_on else None, tags)

    def _is_ancestor(self, ancestor: str, commit: str) -> bool:
        try:
            return self._repository.is_ancestor(ancestor, commit)
        except GitmemError:
            return False

    def _branch(self, look: LedgerLook, commits: Sequence[Commit], *, full: bool) -> Iterator[Finding]:
        records = _of_kind(look.records, "memory")
        turns = look.turns if full else None
        return branch_findings(
            self._repository, self._parts.config.home_id, commits, records, turns, closed=look.closed
        )

    def _branch_commits(self, objects: ObjectReader, tip: str | None, since: str | None) -> list[Commit]:
        """Return the commits of the operator's branch that came since a mark, all sides of merges."""
        found: dict[str, Commit] = {}
        waiting = [tip] if tip is not None else []
        while waiting:
            commit_id = waiting.pop()
            if commit_id == since or commit_id in found:
                continue
            with suppress(GitmemError):  # beyond the boundary of a shallow clone
                found[commit_id] = objects.read_commit(commit_id)
                waiting.extend(found[commit_id].parents)
        return list(found.values())

    def _disk(self, *, full: bool) -> list[Finding]:
        parts = self._parts

        def is_known(path: str, blobs: tuple[str, ...]) -> bool:
            return not full and parts.copy.is_as_left(path, blobs)

        if parts.copy.is_left_alone():
            return []

        def look() -> list[Finding]:
            found = list(disk_findings(parts.layout.root, parts.ledger, is_known))
            if full:
                found += whole_copy_findings(parts.layout.root, parts.ledger, self._repository)
            return found

        if not look():
            return []
        # A turn may be between its commit and its copy.
        with file_lock(parts.layout.home_lock, wait=_LOCK_WAIT):
            return look()

    def _marks(self) -> dict[str, str]:
        found = self._repository.list_refs(MARKS)
        return {f"refs/{name.removeprefix(MARKS)}": commit for name, commit in found.items()}

    def _mark(self, tips: Mapping[str, str]) -> None:
        """Remember what was found whole; a home that cannot be written is verified all the same."""
        known = self._marks()
        for ref, commit in tips.items():
            if known.get(ref) != commit:
                name = f"{MARKS}{ref.removeprefix('refs/')}"
                with suppress(GitmemError, OSError):
                    self._repository.move_ref(
                        name,
                        old=known.get(ref, ABSENT),
                        new=commit,
                        message="verified",
                        who=self._parts.agent,
                    )

    def _read_tags(self) -> dict[str, str]:
        """Return the tags of episodes that were found whole, by full name."""
        try:
            data = json.loads(self._tags_file.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return {str(k): str(v) for k, v in data.items()} if isinstance(data, dict) else {}

    def _keep_tags(self, known: Mapping[str, str]) -> None:
        now = self._repository.list_refs(EPISODE_TAGS)
        if now != known:
            with suppress(OSError):
                write_file(self._tags_file, json.dumps(dict(now)).encode(), durable=False)


def read_shallow(common_dir: Path) -> frozenset[str]:
    """Return the commits at which a shallow clone was cut off."""
    try:
        return frozenset((common_dir / "shallow").read_text("ascii").split())
    except (OSError, UnicodeDecodeError):
        return frozenset()


def _of_kind(records: Sequence[Record], kind: str) -> list[Record]:
    return [record for record in records if record.kind == kind]
