"""A home with an agent and an operator, and pictures of what git says of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from originals import copy_of

from fixtures import commit_all, git, layout_of, make_repo, run_git
from gitmem.backends.dulwich_repository import DulwichRepository, open_repository
from gitmem.branch_changes import PathChange, WriteOutcome
from gitmem.git_objects import hash_object
from gitmem.layout import Layout
from gitmem.operator_branch import OperatorBranch
from gitmem.subjects import KIND, format_message, note_subject

HOME_ID = "h0123456789abcde"
AGENT = f"aria <aria@{HOME_ID}.gitmem.invalid>"
OPERATOR = "Olivia Operator <olivia@example.com>"
CONFIG = f'format = 1\nhome = "{HOME_ID}"\nagent = "aria"\n'
FILES = {
    "gitmem.toml": CONFIG,
    ".gitattributes": "memory/** text eol=lf\nnotes/** text eol=lf\n",
    "memory/MEMORY.md": "one\n§\ntwo\n",
    "memory/self.md": "self\n",
    "notes/a.md": "1\n2\n3\n4\n5\n",
    "notes/b.md": "b\n",
    "src/main.c": "int main;\n",
}


def make_home(path: Path) -> Path:
    """Make a home whose files were committed by plain git."""
    copy_of("branch", lambda at: commit_all(make_repo(at), "base", FILES), path)
    git("update-index", "-q", "--refresh", cwd=path)  # which knows the files that were copied
    return path


class Agent:
    """Writes to the operator's branch as gitmem does.

    Args:
        repo: the work tree.
        branch: the home's branch, None for any.
        options: passed on to `OperatorBranch`.
    """

    def __init__(self, repo: Path, branch: str | None = "main", **options: Any) -> None:
        self.repo = repo
        self.layout: Layout = layout_of(repo)
        self.repository: DulwichRepository = open_repository(self.layout)
        self.branch = OperatorBranch(
            self.repository,
            self.layout,
            home_id=HOME_ID,
            agent=AGENT,
            operator=OPERATOR,
            now=time.time,
            branch=branch,
            **options,
        )

    def write(self, path: str, content: str | bytes | None, **options: Any) -> WriteOutcome:
        """Bring one file to a content, from what it holds now."""
        return self.change({path: content}, **options)

    def change(self, contents: dict[str, str | bytes | None], **options: Any) -> WriteOutcome:
        """Bring several files to their contents in one write."""
        changes = [
            PathChange(path, self.blob(path), text.encode() if isinstance(text, str) else text)
            for path, text in contents.items()
        ]
        path = next(iter(contents))
        message = format_message(note_subject("edit", path), [(KIND, "note")])
        given = {"message": message, "author": AGENT, "operation": "note edit", "turn": None, **options}
        return self.branch.write(changes, **given)

    def append(self, path: str, line: str, **options: Any) -> WriteOutcome:
        """Add a line at a file's end."""
        target = self.repo / path
        present = target.read_bytes() if target.exists() else b""
        return self.write(path, present + line.encode(), **options)

    def blob(self, path: str) -> str | None:
        """Return the blob id of what is on disk."""
        try:
            return hash_object("blob", (self.repo / path).read_bytes())
        except FileNotFoundError:
            return None

    def close(self) -> None:
        """Release files."""
        self.repository.close()


def git_files(repo: Path) -> dict[str, bytes]:
    """Return every file of a git dir that the operator's commands read, by name; objects aside."""
    layout = layout_of(repo)
    found = {}
    for folder in {layout.git_dir, layout.common_dir}:
        for path in folder.rglob("*"):
            name = path.relative_to(folder)
            if name.parts[0] in ("objects", "gitmem", "worktrees") or path.is_dir():
                continue
            found[f"{folder.name}/{name}"] = path.read_bytes()
    return found


def staged(repo: Path) -> str:
    """Return what the staging area holds, flags and stages included."""
    return git("ls-files", "-s", "-v", cwd=repo)


def status(repo: Path) -> str:
    """Return what `git status` shows."""
    return git("status", "--porcelain", "--untracked-files=all", cwd=repo)


def changed_in(repo: Path, commit: str) -> list[str]:
    """Return the paths that a commit changed against its first parent."""
    return git("diff-tree", "-r", "--root", "--no-commit-id", "--name-only", commit, cwd=repo).split("\n")


def authors(repo: Path) -> list[str]:
    """Return author and subject of each commit, newest first."""
    return git("log", "--format=%an: %s", cwd=repo).split("\n")


def in_child(act: Callable[[], None]) -> int:
    """Run `act` in a child process; return its exit code (a kill leaves locks and files as they are)."""
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def clash(repo: Path) -> None:
    """Leave the operator in a merge that clashes in notes/b.md."""
    git("switch", "-qc", "side", cwd=repo)
    commit_all(repo, "side", {"notes/b.md": "side\n"})
    git("switch", "-q", "main", cwd=repo)
    commit_all(repo, "main", {"notes/b.md": "main\n"})
    run_git("merge", "side", cwd=repo)
