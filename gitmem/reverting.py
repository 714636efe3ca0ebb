"""Takes changes of memory back, and brings files back as they were: new commits, history stays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from gitmem.branch_changes import PathChange
from gitmem.commit_found import parse_after
from gitmem.commit_names import find_commit
from gitmem.config import HomeConfig
from gitmem.content_checks import check_file
from gitmem.curated import PROSE, STORES
from gitmem.entries import Entry
from gitmem.errors import NotFound, RefusedError, UnknownSource, UsageError
from gitmem.git_objects import hash_object
from gitmem.identity import is_agent
from gitmem.json_view import JsonView
from gitmem.layout import CONFLICTS, EPISODES, WORK, is_managed
from gitmem.memory_get import Memory
from gitmem.operator_branch import OperatorBranch
from gitmem.past_tree import tree_at
from gitmem.redaction import redact_secrets
from gitmem.refs import parse_ref
from gitmem.repository import Commit, Repository
from gitmem.subjects import KIND, REASON, REVERTS, format_message, parse_trailers, revert_subject
from gitmem.times import format_time
from gitmem.tree_changes import changed_paths
from gitmem.tree_edit import find_file
from gitmem.undo_rules import Undone, steps_of, undo_entries, undo_file

#: Folders whose files tell what the ledger says, or are kept for ever.
_FIXED: Final[Mapping[str, str]] = {
    EPISODES: "An episode is a record of finished work; gitmem forget takes it away.",
    WORK: "A plan follows its work item: gitmem work.",
    CONFLICTS: "A conflict is ended by gitmem resolve.",
}
#: Later commits that are named where they overlap.
_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class RevertReply(JsonView):
    """What is true of a change that was taken back, or of a file that was brought back.

    Attributes:
        committed: the new commit; None while it waits, with `reason`.
        reverted: the commit whose change was taken back; None for a restore.
        paths: the files that are different now.
        texts: entries of stores that came back.
        unchanged: nothing was to be done, and nothing was committed.
        conflicts: copies of texts that lost a merge on the way.
    """

    committed: str | None
    reason: str | None
    reverted: str | None
    paths: Sequence[str]
    texts: Sequence[str] = ()
    unchanged: bool = False
    conflicts: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """What shall become of some files.

    Attributes:
        before: of each path, what stood there ahead of the change that is taken back.
    """

    reverted: str | None
    subject: str
    files: Mapping[str, Undone]
    before: Mapping[str, bytes | None]


class Reverts:
    """Takes changes back as the operator.

    Args:
        repository: the history.
        branch: takes the commit.
        config: the home's facts.
        get: resolves a ref.
        lines: returns the tips of the turn lines, where a shortened commit id is looked for too.
        now: the wall clock, seconds since 1970.
        allowed: returns this machine's exceptions for the scanner.
    """

    def __init__(
        self,
        repository: Repository,
        branch: OperatorBranch,
        config: HomeConfig,
        *,
        get: Callable[[str], Memory],
        lines: Callable[[], Collection[str]],
        now: Callable[[], float],
        allowed: Callable[[], Collection[str]],
    ) -> None:
        self._repository = repository
        self._branch = branch
        self._config = config
        self._get = get
        self._lines = lines
        self._now = now
        self._allowed = allowed

    def revert(self, what: str, reason: str | None = None) -> RevertReply:
        """Take a change back; arguments and errors as `AgentHome.revert` has them."""
        if _is_ref(what):
            return self._do(self._plan_ref(what), reason)
        if is_managed(what) and self._last_change(what) is not None:
            return self._do(self._plan_path(what), reason)
        return self._do(self._plan_commit(find_commit(self._repository, what, self._lines())), reason)

    def restore(self, path: str, as_of: str, reason: str | None = None) -> RevertReply:
        """Bring a file back as it was; arguments and errors as `AgentHome.restore` has them."""
        path = self._path_of(path) if _is_ref(path) else path
        _refuse_fixed([path])
        past = tree_at(self._repository, as_of, self._now(), self._lines())
        content = None if past.tree is None else self._content(past.tree, path)
        if content is None:
            hint = f"gitmem log {path} tells its history; gitmem note remove takes a note away."
            raise NotFound(f"{path} was not there then", hint=hint, path=path)
        subject = revert_subject("restore", [path])
        return self._do(_Plan(None, subject, {path: Undone(content)}, {path: content}), reason)

    # What is to be done

    def _plan_commit(self, commit: Commit) -> _Plan:
        if parse_trailers(commit.message).get(KIND) == "turn":
            raise UsageError(
                f"{commit.id[:10]} is a turn, and the ledger is never taken back",
                hint="To take a statement back: gitmem retract REF; gitmem show lists the turn's.",
                field="what",
            )
        if len(commit.parents) > 1:
            hint = (
                "Take back the commits that it brought, or bring files back: gitmem restore PATH --as-of T."
            )
            raise UsageError(f"{commit.id[:10]} is a merge", hint=hint, field="what")
        before = self._repository.read_commit(commit.parents[0]).tree if commit.parents else None
        paths = [change.path for change in changed_paths(self._repository, before, commit.tree)]
        _refuse_fixed(paths)
        if not paths:
            raise UsageError(f"{commit.id[:10]} changed no file", field="what")
        old = {path: self._content(before, path) for path in paths}
        files = {
            path: undo_file(
                old[path], self._content(commit.tree, path), self._present(path), is_store=_is_store(path)
            )
            for path in paths
        }
        return _Plan(commit.id, revert_subject("revert", paths), files, old)

    def _plan_ref(self, ref: str) -> _Plan:
        parsed = parse_ref(ref)
        if parsed.kind == "entry":
            return self._plan_entry(parsed.id)
        return self._plan_path(self._path_of(ref))

    def _plan_path(self, path: str) -> _Plan:
        _refuse_fixed([path])
        commit = self._last_change(path)
        if commit is None:
            raise NotFound(f"{path} is not committed", hint="Nothing of it is in history.", path=path)
        before = self._before(commit, path)
        undone = undo_file(
            before, self._content(commit.tree, path), self._present(path), is_store=_is_store(path)
        )
        return _Plan(commit.id, revert_subject("revert", [path]), {path: undone}, {path: before})

    def _plan_entry(self, entry: str) -> _Plan:
        """Take back the last commit by which an entry came, went, or went from one store to the other."""
        for commit, paths in self._changes([*STORES.values()]):
            sides = {path: (self._before(commit, path), self._content(commit.tree, path)) for path in paths}
            held = [
                path for path, both in sides.items() if any(_names(one, entry) for one in steps_of(*both))
            ]
            if held:
                files = {path: undo_entries(*sides[path], self._present(path), only=entry) for path in held}
                before = {path: sides[path][0] for path in held}
                return _Plan(commit.id, revert_subject("revert", held), files, before)
        hint = "gitmem memory show lists the entries that there are."
        raise UnknownSource(f"no entry {entry} in the history of memory", hint=hint)

    def _path_of(self, ref: str) -> str:
        memory = self._get(ref)
        path = memory.metadata.get("path")
        if isinstance(path, str) and memory.kind in ("note", "file", "agent_memory"):
            return path
        names = {**STORES, **PROSE}
        if memory.kind == "agent_memory" and parse_ref(memory.source_ref).id in names:
            return names[parse_ref(memory.source_ref).id]
        hint = "What was said is taken back by gitmem retract."
        raise UsageError(f"{memory.source_ref} is not an entry or a file of memory", hint=hint, field="what")

    # What was

    def _last_change(self, path: str) -> Commit | None:
        return next(self._changes_of(path), None)

    def _changes_of(self, path: str) -> Iterator[Commit]:
        """Yield the commits that changed a file, the last one first."""
        return (commit for commit, _ in self._changes([path]))

    def _changes(self, paths: Sequence[str]) -> Iterator[tuple[Commit, list[str]]]:
        """Yield the commits that changed any of some files, the last one first, with those that they did."""
        head = self._repository.head().commit
        newer: tuple[Commit, list[str | None]] | None = None
        for commit in self._repository.walk_first_parents(head) if head else ():
            blobs = [self._blob(commit.tree, path) for path in paths]
            if newer is not None and newer[1] != blobs:
                yield newer[0], [p for p, one, old in zip(paths, newer[1], blobs, strict=True) if one != old]
            newer = (commit, blobs)
        if newer is not None and not newer[0].parents and any(newer[1]):
            yield newer[0], [path for path, blob in zip(paths, newer[1], strict=True) if blob]

    def _blob(self, tree: str, path: str) -> str | None:
        file = find_file(self._repository, tree, path)
        return None if file is None else file.id

    def _before(self, commit: Commit, path: str) -> bytes | None:
        if not commit.parents:
            return None
        return self._content(self._repository.read_commit(commit.parents[0]).tree, path)

    def _content(self, tree: str | None, path: str) -> bytes | None:
        file = None if tree is None else find_file(self._repository, tree, path)
        return self._repository.read(file.id)[1] if file is not None and file.is_regular else None

    def _present(self, path: str) -> bytes | None:
        return self._branch.look(staged=False).sight(path).disk

    # What is done

    def _do(self, plan: _Plan, reason: str | None) -> RevertReply:
        self._refuse_overlaps(plan)
        snapshot = self._branch.look(staged=False)
        changes = []
        for path, undone in plan.files.items():
            disk = snapshot.sight(path).disk
            if undone.content != disk:
                self._check(path, undone.content, disk)
                changes.append(
                    PathChange(path, None if disk is None else hash_object("blob", disk), undone.content)
                )
        if not changes:
            return RevertReply(snapshot.state.head.commit, None, plan.reverted, (), unchanged=True)
        outcome = self._branch.write(
            changes,
            message=format_message(plan.subject, _trailers(plan, reason)),
            author=self._branch.operator,
            operation=plan.subject.partition(":")[0],
            turn=None,
        )
        back = [text for one in changes for text in _came_back(one.path, snapshot.sight(one.path).disk, one)]
        paths = [change.path for change in changes]
        return RevertReply(
            outcome.committed, outcome.reason, plan.reverted, paths, back, conflicts=outcome.conflicts
        )

    def _check(self, path: str, content: bytes | None, before: bytes | None) -> None:
        config = parse_after(self._config, path, content)
        findings = check_file(path, content, before, config, self._allowed())
        if findings:
            first = findings[0]
            raise RefusedError(f"{first.rule}: {first.message}", hint=first.fix, path=path, rule=first.rule)

    def _refuse_overlaps(self, plan: _Plan) -> None:
        found = [
            {"path": path, **asdict(overlap)} for path, one in plan.files.items() for overlap in one.overlaps
        ]
        if not found:
            return
        since = [
            self._told(commit) for path, one in plan.files.items() if one.overlaps
            for commit in self._since(path, plan.reverted)
        ]  # fmt: skip
        raise RefusedError(
            f"{found[0]['path']} was changed where this would change it; nothing was done",
            hint="Take the later edits back first, or edit the file: gitmem edit.",
            overlaps=found,
            since=since,
        )

    def _since(self, path: str, commit: str | None) -> list[Commit]:
        """Return the commits that changed a file behind one, the last one first."""
        found: list[Commit] = []
        for one in self._changes_of(path):
            if one.id == commit or len(found) == _MOST_NAMED:
                break
            found.append(one)
        return found

    def _told(self, commit: Commit) -> dict[str, Any]:
        name = commit.author.rpartition(" <")[0]
        author = "agent" if is_agent(commit.author, self._config.home_id) else "operator"
        subject = commit.message.split("\n", 1)[0]
        return {
            "commit": commit.id, "at": format_time(commit.author_time), "author": author, "name": name,
            "subject": subject,
        }  # fmt: skip


def _is_ref(what: str) -> bool:
    return ":" in what


def _is_store(path: str) -> bool:
    return path in STORES.values()


def _refuse_fixed(paths: Sequence[str]) -> None:
    for path in paths:
        hint = _FIXED.get(path.split("/")[0])
        if hint is not None:
            raise UsageError(f"{path} is not taken back or brought back", hint=hint, field="what")
        if not is_managed(path):
            raise UsageError(
                f"gitmem does not manage {path}", hint="Git takes it back: git revert.", field="what"
            )


def _names(step: tuple[Entry | None, Entry | None], entry: str) -> bool:
    return any(one is not None and one.id == entry for one in step)


def _trailers(plan: _Plan, reason: str | None) -> list[tuple[str, str | None]]:
    told = redact_secrets(reason)[0] if reason else None
    return [(KIND, plan.subject.partition(":")[0]), (REVERTS, plan.reverted), (REASON, told)]


def _came_back(path: str, disk: bytes | None, change: PathChange) -> list[str]:
    """Return the entries that a change brings into a store."""
    if not _is_store(path):
        return []
    return [came.text for _, came in steps_of(disk, change.result) if came is not None]
