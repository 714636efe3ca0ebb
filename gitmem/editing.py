"""An operator's edit of a file: opened as a copy, merged with what came meanwhile, checked, committed."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from gitmem.branch_merge import PathMerge, merge_path
from gitmem.commit_found import NOTHING, REFUSED, CommitReply, commit_found, parse_after
from gitmem.config import HomeConfig
from gitmem.content_checks import GIT_FILES, CheckFinding, check_file
from gitmem.curated import PROSE, STORES
from gitmem.errors import HeadMoved, NotFound, ProtectedPath, UnknownSource, UsageError
from gitmem.file_lock import file_lock
from gitmem.home_owner import HomeOwner
from gitmem.json_view import JsonView
from gitmem.layout import NOTES, Layout, is_managed
from gitmem.memory_get import Memory
from gitmem.note_paths import check_free, note_path
from gitmem.operator_branch import OperatorBranch
from gitmem.tree_files import Skipped, read_managed
from gitmem.work_tree import replaced_file

#: What is edited every day -> its file.
NAMED: Final[Mapping[str, str]] = {**PROSE, **STORES, "agents": "AGENTS.md"}
#: Kinds of refs that lead to a file that can be edited.
_EDITABLE: Final = ("note", "entry", "agent_memory", "file")
#: How often an edit is merged anew because somebody else wrote at the same moment.
_TRIES: Final = 10
_HOME_WAIT: Final = 10.0


@dataclass(frozen=True, slots=True)
class EditTarget:
    """A file as it was opened.

    Attributes:
        path: relative to the home.
        opened: its bytes; None where there is no file yet.
        shown: what the editor gets: the bytes, or a beginning for a new note.
        line: where what was asked for begins, from 1.
        source_ref: of what was asked for.
    """

    path: str
    opened: bytes | None
    shown: bytes
    line: int | None = None
    source_ref: str | None = None


@dataclass(frozen=True, slots=True)
class EditReply(JsonView):
    """What is true of an edit when it is reported.

    Attributes:
        committed: the commit that holds it; None with `reason`.
        unchanged: nothing was edited.
        merged: somebody else had changed the file meanwhile.
        conflicts: copies of texts that lost that merge.
        findings: what keeps it from being written, or was written all the same.
        warnings: what the operator should know besides, as of front matter that was put back.
    """

    committed: str | None
    reason: str | None
    source_ref: str | None
    path: str
    unchanged: bool = False
    merged: bool = False
    conflicts: Sequence[str] = ()
    findings: Sequence[Mapping[str, Any]] = ()
    warnings: Sequence[str] = ()

    @property
    def is_refused(self) -> bool:
        """Whether nothing was written because of what was found."""
        return self.reason == REFUSED


class Editing:
    """Opens files for an operator and brings their text back.

    Args:
        branch: takes the commit.
        layout: where the files are.
        owner: whose the files are.
        config: the home's facts, for the checks.
        get: resolves a ref.
        allowed: returns this machine's exceptions for the scanner.
    """

    def __init__(
        self,
        branch: OperatorBranch,
        layout: Layout,
        owner: HomeOwner,
        *,
        config: HomeConfig,
        get: Callable[[str], Memory],
        allowed: Callable[[], Collection[str]],
    ) -> None:
        self._branch = branch
        self._layout = layout
        self._owner = owner
        self._config = config
        self._get = get
        self._allowed = allowed

    def open(self, what: str) -> EditTarget:
        """Return the file that a name, a path or a ref stands for; a note that is not there yet is begun.

        Args:
            what: `operator`, `self`, `memory`, `user`, `agents`, a path of the home, or a source ref.

        Raises:
            NotFound: nothing has this name.
            ProtectedPath: it is a link, or gitmem does not manage it.
        """
        if what in NAMED:
            return self._target(NAMED[what])
        if ":" in what:
            return self._by_ref(what)
        if (is_managed(what) or what in GIT_FILES) and self._read(what) is not None:
            return self._target(what)
        return self._target(self._note_path(what))

    def finish(self, target: EditTarget, edited: bytes, *, verify: bool = True) -> EditReply:
        """Write and commit what came back from the editor.

        Args:
            target: as it was opened.
            edited: the text now.
            verify: refuse what has findings; nothing is written then.

        Raises:
            HeadMoved: others kept writing the file at the same moment.
        """
        if edited == target.shown:
            commit = self._branch.look(staged=False).state.head.commit
            return EditReply(commit, None, target.source_ref, target.path, unchanged=True)
        for _ in range(_TRIES):
            now = self._read(target.path)
            merge = merge_path(target.path, target.opened, now, edited)
            findings = self._check(target.path, merge)
            rows = [dataclasses.asdict(finding) for finding in findings]
            if findings and verify:
                return EditReply(None, REFUSED, target.source_ref, target.path, findings=rows)
            if self._place(target.path, now, merge):
                return self._commit(target, merge, merged=now != target.opened, findings=rows)
        raise HeadMoved(f"{target.path} kept changing", hint="Try again.", path=target.path)

    def _note_path(self, what: str) -> str:
        missing = NotFound(f"no such file: {what[:200]}", hint="A new note ends in .md.", path=what[:200])
        if is_managed(what) and not what.startswith(f"{NOTES}/"):
            raise missing
        try:
            path = note_path(what)
        except UsageError:
            raise missing from None
        if self._read(path) is None:
            check_free(self._layout.root, path)
        return path

    def _by_ref(self, ref: str) -> EditTarget:
        memory = self._get(ref)
        path = memory.metadata.get("path")
        if memory.kind not in _EDITABLE or not isinstance(path, str):
            hint = "A record is not edited; to take it back: gitmem retract"
            raise UnknownSource(f"{memory.source_ref} is in no file that can be edited", hint=hint)
        target = self._target(path)
        line = memory.metadata.get("line")
        return dataclasses.replace(
            target, source_ref=memory.source_ref, line=line if isinstance(line, int) else None
        )

    def _target(self, path: str) -> EditTarget:
        opened = self._read(path)
        if opened is not None or path in NAMED.values():
            return EditTarget(path, opened, opened or b"")
        return EditTarget(path, None, f"# {_title_of(path)}\n\n".encode())

    def _read(self, path: str) -> bytes | None:
        found = read_managed(self._layout.root, path)
        if isinstance(found, Skipped):
            raise ProtectedPath(f"{path} is not edited: {found.reason}", path=path)
        return None if found is None else found.content

    def _check(self, path: str, merge: PathMerge) -> list[CheckFinding]:
        sight = self._branch.look(staged=False).sight(path)
        config = parse_after(self._config, path, merge.live)
        return check_file(path, merge.live, sight.head, config, self._allowed())

    def _place(self, path: str, now: bytes | None, merge: PathMerge) -> bool:
        """Put a merge on disk as an editor does; say whether the file was still what it was merged from."""
        self._owner.check()
        with file_lock(self._layout.home_lock, wait=_HOME_WAIT):
            if self._read(path) != now:
                return False
            try:
                for name, content in {path: merge.live, **merge.copies}.items():
                    self._write(name, content)
            except HeadMoved:  # another editor saved at the same moment
                return False
        return True

    def _write(self, path: str, content: bytes | None) -> None:
        view = self._branch.look(staged=False).view(path)
        if view.sight.fault is not None:
            raise ProtectedPath(view.sight.fault, hint="Nothing was written.", path=path)
        mode = view.stat.st_mode if view.stat else None
        with replaced_file(
            self._layout.root, path, content, mode=mode, token=secrets.token_hex(6), grant=self._owner.give
        ) as file:
            file.place(view.stat)
            file.settle()

    def _commit_paths(self, paths: Sequence[str]) -> CommitReply:
        for number in range(1, _TRIES + 1):
            try:
                return commit_found(
                    self._branch,
                    self._layout,
                    paths,
                    config=self._config,
                    allowed=self._allowed(),
                    verify=False,
                )
            except HeadMoved:  # somebody wrote behind it, and has committed this edit as they found it
                if number == _TRIES:
                    raise
        raise AssertionError("the last try returns or raises")

    def _commit(
        self, target: EditTarget, merge: PathMerge, *, merged: bool, findings: Sequence[Mapping[str, Any]]
    ) -> EditReply:
        done = self._commit_paths([target.path, *merge.copies])
        reason = next((one["reason"] for one in done.skipped if one["path"] == target.path), done.reason)
        commit = done.committed if reason is None else None
        if reason == NOTHING:  # whoever wrote meanwhile has committed it as they found it
            commit, reason = self._branch.look(staged=False).state.head.commit, None
        return EditReply(
            commit,
            reason,
            target.source_ref or _new_ref(target.path, merge.live),
            target.path,
            merged=merged,
            conflicts=tuple(merge.copies),
            findings=findings,
        )


def _title_of(path: str) -> str:
    words = PurePosixPath(path).stem.replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _new_ref(path: str, content: bytes | None) -> str | None:
    names = [name for name, own in {**PROSE, **STORES}.items() if own == path]
    return f"agent_memory:{names[0]}" if names and content is not None else None
