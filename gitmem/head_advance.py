"""Moves HEAD's branch to a commit that follows it, with files and staging area, as a pull does.

What is about to happen is noted first. A process that is killed on the way leaves the note, and whoever next
holds the home's lock goes on: files that hold the old content get the new one, those that hold neither are an
editor's and stay. The order behind the note is that of every other commit on the branch: files, staging area,
reflogs, branch, all under Git's own locks.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from gitmem.attribute_files import AttributeFiles
from gitmem.branch_files import BranchBusy, BranchFiles, RefStep
from gitmem.branch_snapshot import BranchSnapshot
from gitmem.durable_file import remove_file, write_file
from gitmem.errors import GitmemError, HeadMoved, ObjectMissing, ProtectedPath
from gitmem.home_owner import HomeOwner
from gitmem.layout import Layout
from gitmem.repository import EXECUTABLE_MODE, Head, Repository
from gitmem.staged_index import NewIndex, plan_index
from gitmem.staging_extensions import StagingRefused
from gitmem.tree_changes import TreeChange, changed_paths
from gitmem.tree_checkout import Checkout, plan_checkout, staged_file
from gitmem.work_tree import ANYTHING, ReplacedFile, Seen, remove_beside, replaced_file, stat_file
from gitmem.work_tree_links import place_link, place_nested, remove_nested

_NOTE: Final = "head-move.json"
#: Files that lie ready beside the old ones at one time; each holds a folder open.
_BATCH: Final = 200
#: Files that people track may be larger than those that gitmem reads; a remote's limit is below this one.
_LARGEST: Final = 1 << 40
_BITS: Final = 0o7777


@dataclass(frozen=True, slots=True)
class HeadMove:
    """A move of HEAD's branch.

    Attributes:
        branch: its full name.
        old: the commit that it is at; None for a branch that has none.
        new: the commit that it goes to.
        message: for the reflogs.
        who: `Name <mail>` for the reflogs.
        token: names the files that are written beside those of the work tree.
    """

    branch: str
    old: str | None
    new: str
    message: str
    who: str
    token: str = field(default_factory=lambda: secrets.token_hex(6))


@dataclass(frozen=True, slots=True)
class Advance:
    """What became of a move.

    Attributes:
        moved: whether the branch is there now.
        reason: why not, in words.
        blocked: paths that stand in the way, and why.
        left: files that somebody saved meanwhile; they are edits on top of the new commit now.
    """

    moved: bool
    reason: str | None = None
    blocked: Mapping[str, str] = field(default_factory=dict)
    left: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Run:
    """A move worked out: what was seen, what has to be done, and the new index file."""

    move: HeadMove
    snapshot: BranchSnapshot
    plan: Checkout
    index: NewIndex | None


class HeadAdvance:
    """Moves HEAD of one work tree forwards; used under the home's lock.

    Args:
        repository: the object store, refs and configuration.
        layout: folders.
        attributes: converts bytes.
        files: locks and moves the branch.
        owner: to whom new files belong.
        branch: full name of the one branch that may be moved, None for any.
        checkpoint: called with a name between any two steps; tests let it raise or act.
    """

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        attributes: AttributeFiles,
        files: BranchFiles,
        owner: HomeOwner,
        *,
        branch: str | None,
        checkpoint: Callable[[str], None],
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._attributes = attributes
        self._files = files
        self._owner = owner
        self._branch = branch
        self._step = checkpoint
        self._note = layout.private / _NOTE

    @property
    def is_begun(self) -> bool:
        """Whether a killed process left a move that is not finished."""
        return self._note.exists()

    def move(self, move: HeadMove) -> Advance:
        """Move the branch, with files and staging area, unless something of an operator's is in the way.

        Raises:
            HeadMoved: the branch is not where the move begins, or moved meanwhile; nothing was done.
        """
        self._files.clear_stale_locks(self._repository.head(), self._branch)
        snapshot = self._look()
        head = snapshot.state.head
        if snapshot.state.obstacle is not None:
            return Advance(moved=False, reason=snapshot.state.obstacle)
        if head != Head(move.branch, move.old):
            raise HeadMoved("the branch moved meanwhile", hint="Try again.", ref=move.branch)
        plan = self._plan(move, snapshot)
        if plan.blocked:
            return Advance(moved=False, reason="files here are in the way", blocked=plan.blocked)
        try:
            return Advance(moved=True, left=self._carry_out(self._prepare(move, snapshot, plan)))
        except (StagingRefused, BranchBusy) as refused:
            return Advance(moved=False, reason=str(refused))
        except ProtectedPath as error:
            path = str(error.details.get("path", ""))
            return Advance(moved=False, reason="files here are in the way", blocked={path: error.message})

    def finish(self) -> Advance | None:
        """Go on with a move that a killed process began; None where there is none, or it is over."""
        move = self._read_note()
        if move is None:
            return None
        self._files.clear_stale_locks(self._repository.head(), move.branch)
        head = self._repository.head()
        if head != Head(move.branch, move.old):  # done, or somebody moved the branch since: it begins anew
            self._clear(move)
            return Advance(moved=head.commit == move.new)
        self._remove_leftovers(move)
        snapshot = self._look()
        if snapshot.state.obstacle is not None:
            return Advance(moved=False, reason=snapshot.state.obstacle)
        plan = self._plan(move, snapshot)
        left = [*plan.blocked]
        plan.stage.update({row.path: staged_file(row.new) for row in self._changes(move) if row.path in left})
        try:
            left += self._carry_out(self._prepare(move, snapshot, plan))
        except (StagingRefused, BranchBusy, ProtectedPath, HeadMoved) as refused:
            return Advance(moved=False, reason=str(refused))
        return Advance(moved=True, left=left)

    def _look(self) -> BranchSnapshot:
        return BranchSnapshot(
            self._layout, self._repository, self._attributes, branch=self._branch, staged=True
        )

    def _changes(self, move: HeadMove) -> Iterator[TreeChange]:
        old = None if move.old is None else self._repository.read_commit(move.old).tree
        return changed_paths(self._repository, old, self._repository.read_commit(move.new).tree)

    def _plan(self, move: HeadMove, snapshot: BranchSnapshot) -> Checkout:
        return plan_checkout(self._repository, snapshot, self._layout.root, self._changes(move))

    def _prepare(self, move: HeadMove, snapshot: BranchSnapshot, plan: Checkout) -> _Run:
        if snapshot.refused is not None:
            raise snapshot.refused
        index = plan_index(self._layout, snapshot.index, plan.stage, unborn=move.old is None)
        return _Run(move, snapshot, plan, index)

    def _carry_out(self, run: _Run) -> list[str]:
        begun = self._note.exists()
        self._write_note(run.move)
        self._step("noted")
        try:
            early = [path for path in run.plan.files if path not in run.plan.late]
            early.sort(key=lambda path: run.plan.files[path] is not None)  # removals first
            with ExitStack() as stack:
                ready = [(path, stack.enter_context(self._beside(run, path))) for path in early[:_BATCH]]
                self._step("prepared")
                with self._files.locks(run.snapshot.state.head):
                    self._step("locked")
                    self._look_again(run)
                    begun = True
                    left = self._place(run, ready, early[_BATCH:])
        except BaseException:
            if not begun:
                self._clear(run.move)
            raise
        remove_file(self._note)
        self._step("finished")
        return left

    def _look_again(self, run: _Run) -> None:
        state = run.snapshot.read_state()
        if state.obstacle is not None:
            raise BranchBusy(state.obstacle)
        unread = run.plan.late | run.plan.large.keys()
        paths = [path for path in (*run.plan.files, *run.plan.kept) if path not in unread]
        holds = all(_is_still(self._layout.root, path, seen) for path, seen in run.plan.large.items())
        if state.head != run.snapshot.state.head or not holds or not run.snapshot.still_holds(paths):
            raise HeadMoved("the branch, the staging area or a file changed meanwhile", hint="Try again.")

    def _place(self, run: _Run, ready: Iterable[tuple[str, ReplacedFile]], rest: Sequence[str]) -> list[str]:
        placer = _Placer(self._layout.root, run, self._step)
        placer.place(ready)
        for paths in _batches([*rest, *(path for path in run.plan.files if path in run.plan.late)]):
            with ExitStack() as stack:
                placer.place(self._late(stack, run, paths, placer.left))
        placer.place_others(run.plan, run.move.token)
        placer.take(run.plan.kept)
        if run.index is not None:
            with run.index.written(placer.stats, self._owner.grant) as replace_index:
                self._step("index written")
                replace_index()
            self._step("staged")
        step = RefStep(run.move.new, run.move.who, run.move.message)
        self._files.move(run.snapshot.state.head, [step])
        return placer.left

    def _late(
        self, stack: ExitStack, run: _Run, paths: Iterable[str], left: list[str]
    ) -> Iterator[tuple[str, ReplacedFile]]:
        for path in paths:
            try:
                if path in run.plan.late:
                    with suppress(OSError):  # a folder that fell empty
                        (self._layout.root / path).rmdir()
                yield path, stack.enter_context(self._beside(run, path))
            except (GitmemError, OSError):  # behind the first file there is no way back
                left.append(path)

    def _beside(self, run: _Run, path: str) -> AbstractContextManager[ReplacedFile]:
        content = run.plan.files[path]
        is_late = path in run.plan.late
        raw = content if content is None or is_late else run.snapshot.disk_bytes(path, content)
        mode = None
        if content is not None:
            found = None if is_late else run.plan.large.get(path) or run.snapshot.view(path).stat
            mode = _mode(found, executable=run.plan.modes[path] == EXECUTABLE_MODE)
        return replaced_file(
            self._layout.root,
            path,
            raw,
            mode=mode,
            token=run.move.token,
            grant=self._owner.give,
            most=_LARGEST,
        )

    # The note

    def _write_note(self, move: HeadMove) -> None:
        write_file(self._note, json.dumps(asdict(move)).encode())

    def _read_note(self) -> HeadMove | None:
        try:
            return HeadMove(**json.loads(self._note.read_bytes()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError):  # a torn one: nothing was begun behind it
            remove_file(self._note)
            return None

    def _clear(self, move: HeadMove) -> None:
        self._remove_leftovers(move)
        remove_file(self._note)

    def _remove_leftovers(self, move: HeadMove) -> None:
        with suppress(ObjectMissing):
            for change in self._changes(move):
                remove_beside(self._layout.root, change.path, move.token)


class _Placer:
    """Puts files in place, and keeps what the staging area has to know of them."""

    def __init__(self, root: Path, run: _Run, checkpoint: Callable[[str], None]) -> None:
        self.stats: dict[str, os.stat_result] = {}
        self.left: list[str] = []
        self._root = root
        self._run = run
        self._step = checkpoint

    def place(self, files: Iterable[tuple[str, ReplacedFile]]) -> None:
        """Put files in place; what an editor saved meanwhile stays there."""
        for path, file in files:
            seen = self._seen(path)
            if file.removes and not _is_still(self._root, path, seen):
                self.left.append(path)
                continue
            try:
                found = file.place(seen)
            except HeadMoved:
                self.left.append(path)
                continue
            if found is not None:
                self.stats[path] = found
            self._step("placed")

    def place_others(self, plan: Checkout, token: str) -> None:
        """Make links, and the folders that stand for nested repositories."""
        root = self._root
        for path in plan.dropped:
            remove_nested(root, path)
        for path in plan.nested:
            with suppress(OSError, ProtectedPath):
                place_nested(root, path)
        for path, target in plan.links.items():
            try:
                self.stats[path] = place_link(root, path, target, token)
            except (OSError, ProtectedPath):
                self.left.append(path)
        self._step("others placed")

    def take(self, paths: Iterable[str]) -> None:
        """Take the stat data of what is in place already, as it was when it was looked at."""
        for path in paths:
            seen = self._seen(path)
            if isinstance(seen, os.stat_result):
                self.stats[path] = seen

    def _seen(self, path: str) -> Seen:
        if path in self._run.plan.large:
            return self._run.plan.large[path]
        view = self._run.snapshot.view(path)
        return ANYTHING if view.sight.fault is not None else view.stat


def _is_still(root: Path, path: str, seen: Seen) -> bool:
    """Say whether a file that is about to be removed is the one that was looked at."""
    found = stat_file(root, path)
    if found is None or not isinstance(seen, os.stat_result):
        return True
    return (found.st_ino, found.st_size, found.st_mtime_ns) == (seen.st_ino, seen.st_size, seen.st_mtime_ns)


def _batches(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    return (paths[first : first + _BATCH] for first in range(0, len(paths), _BATCH))


def _mode(found: os.stat_result | None, *, executable: bool) -> int | None:
    """Return the permission bits of a file; None for those of any new file."""
    if found is None:
        return 0o755 if executable else None
    bits = found.st_mode & _BITS
    return bits | (bits & 0o444) >> 2 if executable else bits & ~0o111
