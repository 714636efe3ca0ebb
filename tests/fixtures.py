"""Plain functions over real repositories in `tmp_path`; imported as `from fixtures import git, make_repo`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from originals import copy_of

from gitmem.layout import Layout, find_layout

OPERATOR = "Olivia Operator"
OPERATOR_MAIL = "olivia@example.com"


class CounterClock:
    """Seconds since 1970 that go on by `step` each time they are asked for; call it like `time.time`."""

    def __init__(self, start: float = 1_772_442_000.0, step: float = 1.0) -> None:
        self.seconds = start
        self.step = step

    def __call__(self) -> float:
        """Return the time, then let it go on."""
        now = self.seconds
        self.seconds += self.step
        return now

    def advance(self, seconds: float) -> None:
        """Let time pass; a negative number sets the clock back."""
        self.seconds += seconds


def git(
    *args: str | Path,
    cwd: Path,
    stdin: str | bytes | None = None,
    env: Mapping[str, str] | None = None,
    check: bool = True,
) -> str:
    """Run git and return what it printed, without the last line feed.

    Raises:
        AssertionError: it failed and `check` is set; the message holds both of its outputs.
    """
    done = run_git(*args, cwd=cwd, stdin=stdin, env=env)
    if check and done.returncode != 0:
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        raise AssertionError(f"git {' '.join(map(str, args))}: exit {done.returncode}\n{said}")
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def run_git(
    *args: str | Path, cwd: Path, stdin: str | bytes | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run git and return exit code and outputs as bytes, whatever they are."""
    return subprocess.run(
        ["git", *map(str, args)],
        cwd=cwd,
        input=stdin.encode() if isinstance(stdin, str) else stdin or b"",
        env={**os.environ, **(env or {})},
        capture_output=True,
        check=False,
        timeout=100,
    )


def make_repo(path: Path, *, branch: str = "main", identity: bool = True) -> Path:
    """Make an empty repository at `path` (branch unborn), by default with an operator configured in it."""
    if os.path.lexists(path / ".git"):
        _init(path, branch, identity)
    else:
        copy_of(("repo", branch, identity), lambda at: _init(at, branch, identity), path)
    return path


def _init(path: Path, branch: str, identity: bool) -> None:
    path.mkdir(parents=True, exist_ok=True)
    git("init", "-q", "-b", branch, cwd=path)
    if identity:
        set_identity(path)


def set_identity(repo: Path, name: str = OPERATOR, mail: str = OPERATOR_MAIL) -> None:
    """Configure who commits in `repo`, in its own configuration."""
    git("config", "user.name", name, cwd=repo)
    git("config", "user.email", mail, cwd=repo)


def write_files(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below `root` (slashes in names), making folders; text is written as UTF-8, as it is."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
        path.write_bytes(raw)


def commit_all(
    repo: Path,
    message: str = "work",
    files: Mapping[str, str | bytes] | None = None,
    *,
    when: int | None = None,
) -> str:
    """Write `files`, stage everything and commit with plain git; return the commit id.

    Args:
        repo: the work tree.
        message: the commit message.
        files: what to write first.
        when: author and commit time in seconds since 1970.
    """
    write_files(repo, files or {})
    date = {} if when is None else {f"GIT_{who}_DATE": f"@{when} +0000" for who in ("AUTHOR", "COMMITTER")}
    git("add", "-A", cwd=repo)
    git("commit", "-q", "--allow-empty", "-m", message, cwd=repo, env=date)
    return head(repo)


def head(repo: Path, ref: str = "HEAD") -> str:
    """Return the commit id of `ref`."""
    return git("rev-parse", "--verify", f"{ref}^{{commit}}", cwd=repo)


def show(repo: Path, path: str, ref: str = "HEAD") -> str:
    """Return a committed file's text, exactly."""
    done = run_git("show", f"{ref}:{path}", cwd=repo)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape")


def fsck(repo: Path) -> None:
    """Fail unless `git fsck --strict --full` finds nothing; dangling objects are no fault."""
    git("fsck", "--strict", "--full", "--no-dangling", cwd=repo)


def layout_of(repo: Path) -> Layout:
    """Return where everything of the work tree `repo` lies."""
    return find_layout(repo)


def flip_byte(path: Path, at: int = -2) -> None:
    """Damage a file: change one of its bytes."""
    content = bytearray(path.read_bytes())
    content[at] ^= 0x01
    path.chmod(0o644)
    path.write_bytes(content)
