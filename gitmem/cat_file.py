"""Objects and names of a repository as Git itself reads them, in the surroundings in which a hook runs.

A hook of a server sees what is being pushed only through the quarantine that Git's own variables name, and
one of a commit what is staged only through the index that they name. Git's programs understand all of them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, cast

from gitmem.errors import CorruptionError, ObjectMissing
from gitmem.git_objects import parse_commit, parse_tree
from gitmem.repository import ABSENT, Commit, ObjectKind, TreeEntry

#: The tree without anything in it, which Git knows without having it.
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@dataclass(frozen=True, slots=True)
class StagedChange:
    """One path whose staged content differs from a tree's.

    Attributes:
        path: with slashes; bytes that are not UTF-8 keep surrogate escapes.
        mode: of what is staged; 0 where the path is deleted.
        old_mode: of what the tree has; 0 where it has no such path.
        old, new: blob ids; None where there is none.
    """

    path: str
    mode: int
    old: str | None
    new: str | None
    old_mode: int = 0


class CatFile:
    """Reads objects through one `git cat-file --batch`, which lives as long as this does.

    Args:
        folder: where Git runs; by default the current folder, as a hook has it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let Git's process end."""
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                with suppress(OSError):
                    cast("IO[bytes]", stream).close()
            self._process.wait()
            self._process = None

    def read(self, name: str) -> tuple[ObjectKind, bytes]:
        """Return kind and raw content of an object; `name` may be any name that Git resolves, `:path` too.

        Raises:
            ObjectMissing: Git finds nothing under it.
        """
        process = self._started()
        into, out = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        if "\n" in name:
            raise ObjectMissing(f"not a name of an object: {name!r}", object=name)
        into.write(name.encode("utf-8", "surrogateescape") + b"\n")
        into.flush()
        fields = out.readline().split()
        if len(fields) != 3 or not fields[2].isdigit():
            raise ObjectMissing(f"{name} is not in this repository", object=name)
        content = out.read(int(fields[2]))
        out.read(1)
        return cast("ObjectKind", fields[1].decode("ascii")), content

    def read_tree(self, tree_id: str) -> Sequence[TreeEntry]:
        """Return the entries of a tree in Git's order."""
        return tuple(parse_tree(self._read_as("tree", tree_id)))

    def read_commit(self, commit_id: str) -> Commit:
        """Return a parsed commit."""
        return parse_commit(commit_id, self._read_as("commit", commit_id))

    def contains(self, object_id: str) -> bool:
        """Say whether the object is in the store."""
        try:
            self.read(object_id)
        except ObjectMissing:
            return False
        return True

    def _read_as(self, kind: ObjectKind, object_id: str) -> bytes:
        found, content = self.read(object_id)
        if found != kind:
            raise CorruptionError(f"{object_id} is a {found}, not a {kind}", object=object_id)
        return content

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                ["git", "cat-file", "--batch"],  # noqa: S607 - Git puts itself first in a hook's path
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        return self._process


def run_git(*arguments: str, folder: Path | None = None) -> bytes | None:
    """Return what a Git command printed; None if it failed, whose words are not shown."""
    done = subprocess.run(  # noqa: S603
        ["git", *arguments],  # noqa: S607
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.stdout if done.returncode == 0 else None


def staged_changes(against: str, folder: Path | None = None) -> list[StagedChange]:
    """Return what is staged otherwise than a commit or tree has it.

    Args:
        against: the commit or tree.
        folder: where Git runs.
    """
    raw = run_git(
        *("diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none"),
        *(against, "--"),
        folder=folder,
    )
    if raw is None:
        raise ObjectMissing(f"Git cannot compare what is staged with {against}", object=against)
    return list(_parse_raw(raw))


def _parse_raw(raw: bytes) -> Iterator[StagedChange]:
    """Read the output of `git diff-index --raw -z`: `:<mode> <mode> <id> <id> <letter>`, then the path."""
    fields = raw.split(b"\0")
    for head, name in zip(fields[::2], fields[1::2], strict=False):
        old_mode, mode, old, new, _ = head.decode("ascii").removeprefix(":").split(" ")
        path = name.decode("utf-8", "surrogateescape")
        yield StagedChange(path, int(mode, 8), _id_or_none(old), _id_or_none(new), int(old_mode, 8))


def resolved_sides(path: str, folder: Path | None = None) -> tuple[str, str] | None:
    """Return the blob ids of both sides of a path that was unmerged; the staging area remembers them."""
    raw = run_git("ls-files", "--resolve-undo", "-z", folder=folder) or b""
    wanted = path.encode("utf-8", "surrogateescape")
    rows = [row.partition(b"\t") for row in raw.split(b"\0")]
    ids = {head.split()[2]: head.split()[1].decode() for head, _, name in rows if name == wanted}
    return (ids[b"2"], ids[b"3"]) if {b"2", b"3"} <= ids.keys() else None


def _id_or_none(text: str) -> str | None:
    return None if text == ABSENT else text


def config_values(key: str, folder: Path | None = None) -> list[str]:
    """Return all values of a key in Git's configuration."""
    raw = run_git("config", "--null", "--get-all", key, folder=folder) or b""
    return [value.decode("utf-8", "replace") for value in raw.split(b"\0") if value]
