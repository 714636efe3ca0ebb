"""The files of Git by which HEAD's branch moves: its locks, its reflogs, and the ref itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.durable_file import sync_folder
from gitmem.errors import HomeLocked
from gitmem.git_lock import git_lock, lock_mark, remove_stale
from gitmem.git_refs import format_reflog, is_logged
from gitmem.home_owner import HomeOwner
from gitmem.layout import Layout
from gitmem.repository import ABSENT, Head

#: Seconds to wait for each of Git's locks.
LOCK_WAIT: Final = 1.0


class BranchBusy(Exception):
    """The branch cannot be moved now; the message says why, for a receipt."""


@dataclass(frozen=True, slots=True)
class RefStep:
    """One step of a branch: the commit it goes to, who made it go there, and what the reflog says of it."""

    commit: str
    who: str
    message: str


class BranchFiles:
    """Locks, logs and moves the branch that HEAD of one work tree names.

    Args:
        layout: where the files lie.
        owner: to whom new files belong.
        setting: returns a Git configuration value; asked for `core.logAllRefUpdates`.
        now: the wall clock, seconds since 1970.
        checkpoint: called with a name between any two steps.
    """

    def __init__(
        self,
        layout: Layout,
        owner: HomeOwner,
        setting: Callable[[str], str | None],
        now: Callable[[], float],
        checkpoint: Callable[[str], None],
    ) -> None:
        self._layout = layout
        self._owner = owner
        self._setting = setting
        self._now = now
        self._step = checkpoint
        self._mark = lock_mark(layout.common_dir)

    @contextmanager
    def locks(self, head: Head) -> Iterator[None]:
        """Hold the locks of staging area, HEAD and branch, taken in Git's order.

        Raises:
            BranchBusy: one of them stayed held.
        """
        assert head.branch is not None
        own = self._layout.git_dir
        with ExitStack() as stack:
            for path in (own / "index", own / "HEAD", self._file(head.branch)):
                try:
                    stack.enter_context(git_lock(path, wait=LOCK_WAIT, mark=self._mark))
                except HomeLocked as error:
                    raise BranchBusy(error.message) from error
            yield

    def move(self, head: Head, steps: Sequence[RefStep]) -> None:
        """Write the reflogs of HEAD and its branch, then move the branch, durably; under the locks."""
        assert head.branch is not None
        self._log(head.commit or ABSENT, head.branch, steps)
        self._step("logged")
        self._write(self._file(head.branch), steps[-1].commit)
        self._step("moved")

    def clear_stale_locks(self, head: Head, branch: str | None) -> None:
        """Remove what a killed gitmem left of Git's locks; call only under the home's lock."""
        branches = {name for name in (head.branch, branch) if name is not None}
        own = self._layout.git_dir
        for path in (own / "index", own / "HEAD", *map(self._file, branches)):
            with suppress(OSError):
                remove_stale(path)

    def make_durable(self, branch: str | None) -> None:
        """Make the last move of a branch durable."""
        if branch is not None:
            with suppress(FileNotFoundError):
                sync_folder(self._file(branch).parent)

    def _log(self, old: str, branch: str, steps: Sequence[RefStep]) -> None:
        setting, rows = self._setting("core.logAllRefUpdates"), b""
        for step in steps:
            seconds = int(self._now())
            rows += format_reflog(
                old=old, new=step.commit, who=step.who, seconds=seconds, message=step.message
            )
            old = step.commit
        logs = {"HEAD": self._layout.git_dir / "logs", branch: self._layout.common_dir / "logs"}
        for name, folder in logs.items():
            self._append(folder / name, rows, create=is_logged(name, setting))

    def _append(self, path: Path, rows: bytes, *, create: bool) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        try:
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, flags, 0o666)
        except (FileNotFoundError, NotADirectoryError):
            return
        try:
            self._owner.grant(descriptor)
            os.write(descriptor, rows)
        finally:
            os.close(descriptor)

    def _write(self, path: Path, commit: str) -> None:
        # The name of the file beside is that of every mover of refs here; under the lock one is enough.
        beside = path.with_name(f".{path.name}.gitmem-new")
        descriptor = os.open(
            beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666
        )
        try:
            os.write(descriptor, commit.encode("ascii") + b"\n")
            self._owner.grant(descriptor)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        # This fsync, the last before the branch moves, also carries the moves of files and index to the disk.
        self._step("ref written")
        beside.replace(path)
        sync_folder(path.parent)

    def _file(self, branch: str) -> Path:
        return self._layout.common_dir / branch
