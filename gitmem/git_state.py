"""What state Git is in: whether HEAD's branch can take a commit now, and if not, why, in plain words."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.git_refs import parse_ref_file
from gitmem.layout import Layout
from gitmem.repository import Head, Repository

#: Names in the work tree's own git dir, and what the operator is doing while they are there. Other names that
#: Git leaves behind (SQUASH_MSG, AUTO_MERGE, ORIG_HEAD, MERGE_MSG, REBASE_HEAD, FETCH_HEAD) are no states.
STATES: Final = (
    ("MERGE_HEAD", "merge in progress"),
    ("rebase-merge", "rebase in progress"),
    ("rebase-apply", "rebase in progress"),
    ("CHERRY_PICK_HEAD", "cherry-pick in progress"),
    ("REVERT_HEAD", "revert in progress"),
    ("sequencer", "series of cherry-picks or reverts in progress"),
    ("BISECT_LOG", "bisect in progress"),
)
MESSAGE_OPEN: Final = "a commit message is open in an editor"
DETACHED: Final = "detached HEAD"

#: An editor that was given up leaves its file behind; after this many seconds it counts no more.
_EDITOR_SECONDS: Final = 300.0
#: A message from the command line is committed as fast as Git is; if it was not by then, it never will.
_GIVEN_SECONDS: Final = 0.25
#: Hooks that run while the message lies there, and may take their time.
_MESSAGE_HOOKS: Final = ("prepare-commit-msg", "commit-msg")
#: Bytes of a ref's file that holds a commit id and a line feed; a name of a ref is found by reading.
_ID_LENGTH: Final = 41


@dataclass(frozen=True, slots=True)
class GitState:
    """What HEAD is, and what keeps its branch from taking a commit.

    Attributes:
        obstacle: in words for a receipt, for example `merge in progress`; None when there is none.
    """

    head: Head
    obstacle: str | None


def read_git_state(layout: Layout, repository: Repository, branch: str | None = None) -> GitState:
    """Look at HEAD and the names that Git keeps while an operation is open.

    Args:
        layout: where they lie.
        repository: reads HEAD.
        branch: full name of the one branch that gitmem commits on; None takes any.
    """
    head = repository.head()
    obstacle = operation_in_progress(layout) or _head_obstacle(layout, head, branch)
    if obstacle is None and _message_is_open(layout, repository, head):
        obstacle = MESSAGE_OPEN
    return GitState(head, obstacle)


def operation_in_progress(layout: Layout) -> str | None:
    """Name what the operator began and has not ended; None if nothing."""
    for name, words in STATES:
        if os.path.lexists(layout.git_dir / name):
            if name == "rebase-apply" and os.path.lexists(layout.git_dir / name / "applying"):
                return "git am in progress"
            return words
    return None


def find_lock(layout: Layout, head: Head) -> Path | None:
    """Return the first of the locks that a commit needs and somebody holds, or left behind."""
    locks = [layout.git_dir / "index.lock", layout.git_dir / "HEAD.lock"]
    if head.branch is not None:
        locks.append(layout.common_dir / f"{head.branch}.lock")
    return next((lock for lock in locks if os.path.lexists(lock)), None)


def held_lock(layout: Layout, head: Head) -> str | None:
    """Return which of the locks that a commit needs is held, and for how long; None if none is."""
    lock = find_lock(layout, head)
    if lock is None:
        return None
    try:
        age = time.time() - lock.lstat().st_mtime
    except OSError:
        return None  # let go meanwhile
    return f"{lock.name} is held (for {max(age, 0.0):.0f} s)"


def short_name(branch: str) -> str:
    """Return a branch as people call it."""
    return branch.removeprefix("refs/heads/")


def _head_obstacle(layout: Layout, head: Head, branch: str | None) -> str | None:
    if head.branch is None:
        return DETACHED
    if branch is not None and head.branch != branch:
        return f"HEAD is on {short_name(head.branch)}, this home's branch is {short_name(branch)}"
    target = _target_of(layout.common_dir / head.branch)
    if target is not None:
        return f"the branch {short_name(head.branch)} is only another name of {short_name(target)}"
    return None


def _target_of(path: Path) -> str | None:
    """Return the ref that a ref's file points at; None if it holds a commit id or is not there."""
    try:
        if path.stat().st_size == _ID_LENGTH:
            return None
        parsed = parse_ref_file(path.read_bytes())
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
    return parsed.target if parsed else None


def _message_is_open(layout: Layout, repository: Repository, head: Head) -> bool:
    """Say whether `git commit` waits for a message: its file is newer than the last move of HEAD.

    A commit with nothing in it leaves its message too. One from the command line has no comments in it, so
    no editor is waited for.
    """
    if not _is_recent(layout, head, _EDITOR_SECONDS):
        return False
    if _is_for_editor(layout, repository):
        return True
    while _is_recent(layout, head, _GIVEN_SECONDS):
        time.sleep(0.005)
    return False


def _is_for_editor(layout: Layout, repository: Repository) -> bool:
    """Say whether a message's file looks as it does for an editor, or hooks may be at work on it."""
    mark = repository.config("core.commentChar") or "#"
    has_comments = (repository.config("commit.status") or "true").lower() in ("true", "yes", "on", "1")
    if not has_comments or len(mark) != 1 or repository.config("core.hooksPath") is not None:
        return True
    if any(os.path.lexists(layout.common_dir / "hooks" / name) for name in _MESSAGE_HOOKS):
        return True
    try:
        message = (layout.git_dir / "COMMIT_EDITMSG").read_bytes()
    except OSError:
        return False
    return any(line.startswith(mark.encode()) for line in message.splitlines())


def _is_recent(layout: Layout, head: Head, seconds: float) -> bool:
    """Say whether a message was written in so many seconds, and behind the last move of HEAD."""
    message = _changed_at(layout.git_dir / "COMMIT_EDITMSG")
    if message is None or abs(time.time_ns() - message) > seconds * 1e9:
        return False
    for path in _signs_of_last_commit(layout, head):
        moved = _changed_at(path)
        if moved is not None:
            return message > moved
    return True


def _signs_of_last_commit(layout: Layout, head: Head) -> list[Path]:
    # Without a reflog the branch's own file tells when it moved; after `git gc` only packed-refs does.
    branch = [layout.common_dir / head.branch] if head.branch else []
    return [layout.git_dir / "logs" / "HEAD", *branch, layout.common_dir / "packed-refs"]


def _changed_at(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
