"""Puts planned commits on HEAD's branch: files, staging area and branch move together under Git's own locks.

The order, which the crash tests walk through: objects in one durable pack and new files beside the old ones;
what is about to happen noted; `index.lock`, `HEAD.lock` and the branch's lock taken; everything that was seen
looked at again; files moved; the new index moved; reflogs; the branch moved. The index moves before the
branch: the other way round the operator's next commit would silently take the agent's back.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from gitmem.branch_changes import PendingWrite
from gitmem.branch_files import BranchBusy, BranchFiles, RefStep
from gitmem.branch_snapshot import BranchSnapshot
from gitmem.commit_signing import is_signing, sign_commit
from gitmem.errors import HeadMoved
from gitmem.git_objects import hash_object, make_commit, make_object
from gitmem.home_owner import HomeOwner
from gitmem.layout import Layout
from gitmem.pending_writes import Landing
from gitmem.repository import ABSENT, EXECUTABLE_MODE, FILE_MODE, GitObject, Head, ObjectKind, Repository
from gitmem.settling import PlannedCommit, SettlePlan
from gitmem.staged_index import NewIndex, plan_index
from gitmem.staging_area import StagedFile
from gitmem.subjects import KIND, format_message, found_subject
from gitmem.tree_edit import TreeFile, edit_tree
from gitmem.work_tree import ANYTHING, ReplacedFile, replaced_file


@dataclass(frozen=True, slots=True)
class MadeCommits:
    """Commits ready to be put on the branch.

    Attributes:
        objects: all that has to be in the store first.
        chain: the commits in order, with their messages and committers.
        by_write: pending write id -> its commit.
    """

    objects: Sequence[GitObject]
    chain: Sequence[tuple[str, str, str]]
    by_write: Mapping[str, str]


class BranchLanding:
    """Makes and lands commits of one work tree.

    Args:
        repository: the object store, refs and configuration.
        layout: folders.
        files: locks and moves the branch.
        owner: to whom new files belong.
        agent: `Name <mail>` that commits what was found.
        operator: `Name <mail>` that wrote what was found.
        now: the wall clock, seconds since 1970.
        checkpoint: called with a name between any two steps; tests let it raise or act.
    """

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        files: BranchFiles,
        owner: HomeOwner,
        *,
        agent: str,
        operator: str,
        now: Callable[[], float],
        checkpoint: Callable[[str], None],
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._files = files
        self._owner = owner
        self._agent = agent
        self._operator = operator
        self._now = now
        self._step = checkpoint

    def make(
        self, snapshot: BranchSnapshot, plan: SettlePlan, writes: Mapping[str, PendingWrite]
    ) -> MadeCommits:
        """Build the planned commits in memory.

        Raises:
            SigningFailed: signatures are asked for and one could not be made.
            ProtectedPath: a file stands where a folder is needed, or the other way round.
        """
        builder = _Builder(self._repository, snapshot, plan)
        for planned in plan.commits:
            author, committer, message = self._words(planned, writes)
            seconds = int(self._now())
            commit = builder.commit(
                planned, author=author, committer=committer, seconds=seconds, message=message
            )
            if is_signing(self._repository.config):
                commit = sign_commit(commit, self._repository.config, committer)
            builder.take(planned, commit, message, committer)
        return builder.made()

    def prepare_index(self, snapshot: BranchSnapshot, plan: SettlePlan) -> NewIndex | None:
        """Work out the new index file.

        Raises:
            StagingRefused: the present one cannot be changed.
        """
        staged = {path: self._staged_file(snapshot, plan, path) for path in plan.stage}
        return plan_index(self._layout, snapshot.index, staged, unborn=snapshot.state.head.commit is None)

    def land(
        self,
        snapshot: BranchSnapshot,
        plan: SettlePlan,
        made: MadeCommits,
        index: NewIndex | None,
        note: Callable[[Landing | None], None],
    ) -> None:
        """Put the commits on the branch.

        Args:
            snapshot: what they were planned for.
            plan: says which files and index entries go with them.
            made: the commits.
            index: the new index file, if it changes.
            note: keeps what is about to happen where a kill cannot take it; None when nothing will.

        Raises:
            HeadMoved: something that was seen has changed; nothing was done.
            BranchBusy: an operation began, or a lock is held; nothing was done.
        """
        head = snapshot.state.head
        assert head.branch is not None
        landing = _landing(plan, made, head)
        begun = False
        with ExitStack() as stack:
            stack.enter_context(self._repository.write_pack(made.objects))
            try:
                note(landing)
                self._step("noted")
                files = {
                    path: self._beside(stack, snapshot, path, content, landing.token)
                    for path, content in plan.disk.items()
                }
                self._step("prepared")
                with self._files.locks(head):
                    self._step("locked")
                    self._look_again(snapshot, plan)
                    begun = True
                    try:
                        self._move(snapshot, plan, made, files, index)
                    except HeadMoved:  # an editor was faster; nothing was done
                        begun = False
                        raise
            finally:
                if not begun:
                    note(None)
            self._step("unlocked")

    def _words(self, planned: PlannedCommit, writes: Mapping[str, PendingWrite]) -> tuple[str, str, str]:
        if planned.write is None:
            subject = found_subject(sorted(planned.files))
            return self._operator, self._agent, format_message(subject, [(KIND, "found")])
        write = writes[planned.write]
        message = write.message if write.message.endswith("\n") else write.message + "\n"
        return write.author, write.author, message

    def _staged_file(self, snapshot: BranchSnapshot, plan: SettlePlan, path: str) -> StagedFile | None:
        content = plan.contents[path]
        if content is None:
            return None
        view = snapshot.view(path)
        mode = tree_mode(snapshot, plan, path)
        if path not in plan.found and view.staged is not None:
            mode = view.staged.mode
        return StagedFile(mode, hash_object("blob", content))

    def _beside(
        self, stack: ExitStack, snapshot: BranchSnapshot, path: str, content: bytes | None, token: str
    ) -> ReplacedFile:
        view = snapshot.view(path)
        raw = None if content is None else snapshot.disk_bytes(path, content)
        mode = view.stat.st_mode if view.stat else 0o777 if view.mode == EXECUTABLE_MODE else None
        return stack.enter_context(
            replaced_file(self._layout.root, path, raw, mode=mode, token=token, grant=self._owner.give)
        )

    def _look_again(self, snapshot: BranchSnapshot, plan: SettlePlan) -> None:
        state = snapshot.read_state()
        if state.obstacle is not None:
            raise BranchBusy(state.obstacle)
        if state.head != snapshot.state.head or not snapshot.still_holds([*plan.contents]):
            raise HeadMoved("the branch, the staging area or a file changed meanwhile", hint="Try again.")

    def _move(
        self,
        snapshot: BranchSnapshot,
        plan: SettlePlan,
        made: MadeCommits,
        files: Mapping[str, ReplacedFile],
        index: NewIndex | None,
    ) -> None:
        stats = {path: snapshot.view(path).stat for path, is_disk in plan.stage.items() if is_disk}
        for number, (path, file) in enumerate(files.items()):
            # Behind the first one there is no way back.
            stats[path] = file.place(ANYTHING if number else snapshot.view(path).stat)
            self._step("placed")
        if index is not None:
            known = {path: found for path, found in stats.items() if found is not None and path in plan.stage}
            with index.written(known, self._owner.grant) as move:
                self._step("index written")
                move()
            self._step("staged")
        if made.chain:
            self._files.move(snapshot.state.head, _steps(snapshot.state.head, made))


def tree_mode(snapshot: BranchSnapshot, plan: SettlePlan, path: str) -> int:
    """Return the mode a path is committed with: the branch's, or the disk's where its bytes were found."""
    view = snapshot.view(path)
    if path in plan.found or view.head is None:
        return view.mode
    return view.head.mode if view.head.mode in (FILE_MODE, EXECUTABLE_MODE) else FILE_MODE


def _steps(head: Head, made: MadeCommits) -> list[RefStep]:
    """Return what the reflogs say of commits, in the words of `git commit`."""
    steps: list[RefStep] = []
    for commit, message, who in made.chain:
        word = "commit" if steps or head.commit else "commit (initial)"
        subject = message.split("\n", 1)[0]
        steps.append(RefStep(commit, who, f"{word}: {subject}"))
    return steps


def _landing(plan: SettlePlan, made: MadeCommits, head: Head) -> Landing:
    return Landing(
        tip=made.chain[-1][0] if made.chain else head.commit or ABSENT,
        commits={write: made.by_write.get(write) for write in plan.settled},
        conflicts=dict(plan.conflicts),
        files={path: hash_object("blob", text) for path, text in plan.contents.items() if text is not None},
        token=secrets.token_hex(6),
    )


class _Builder:
    """Builds a chain of commits in memory, each on top of the one before."""

    def __init__(self, repository: Repository, snapshot: BranchSnapshot, plan: SettlePlan) -> None:
        self._repository = repository
        self._snapshot = snapshot
        self._plan = plan
        self._objects: dict[str, GitObject] = {}
        self._tree = snapshot.tree
        self._tip = snapshot.state.head.commit
        self._chain: list[tuple[str, str, str]] = []
        self._by_write: dict[str, str] = {}

    def read(self, object_id: str) -> tuple[ObjectKind, bytes]:
        """Return an object that was just made, or one of the store."""
        made = self._objects.get(object_id)
        return (made.kind, made.content) if made else self._repository.read(object_id)

    def commit(
        self, planned: PlannedCommit, *, author: str, committer: str, seconds: int, message: str
    ) -> GitObject:
        """Return the next commit, not yet taken."""
        files: dict[str, TreeFile | None] = {}
        for path, content in planned.files.items():
            files[path] = None
            if content is not None:
                blob = make_object("blob", content)
                self._objects[blob.id] = blob
                files[path] = TreeFile(tree_mode(self._snapshot, self._plan, path), blob.id)
        self._tree, trees = edit_tree(self, self._tree, files)
        self._objects.update({tree.id: tree for tree in trees})
        return make_commit(
            tree=self._tree,
            parents=[self._tip] if self._tip else [],
            author=author,
            committer=committer,
            seconds=seconds,
            message=message,
        )

    def take(self, planned: PlannedCommit, commit: GitObject, message: str, committer: str) -> None:
        """Put a commit on top of the chain."""
        self._objects[commit.id] = commit
        self._tip = commit.id
        self._chain.append((commit.id, message, committer))
        if planned.write is not None:
            self._by_write[planned.write] = commit.id

    def made(self) -> MadeCommits:
        """Return all that was built."""
        return MadeCommits(list(self._objects.values()), self._chain, self._by_write)
