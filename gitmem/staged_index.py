"""Git's index file on disk: what it holds of a few paths, and how it is replaced under its lock.

Where the file has a feature that gitmem does not write (a split index), git itself is asked, if it is
installed, on a copy of the file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from gitmem.git_objects import encode_path
from gitmem.layout import Layout
from gitmem.staging_area import StagedEntry, StagedFile, StagingArea, StagingPlan
from gitmem.staging_extensions import StagingRefused

_Identity = tuple[int, int, int, int] | None

#: What git is asked to do must not take longer while the operator waits for the index.
_GIT_SECONDS: Final = 10.0
_BY_GIT: Final = "unsupported index feature: "


@dataclass(frozen=True, slots=True)
class StagedIndex:
    """The index file as it was read.

    Attributes:
        content: its bytes; None where there is no file.
        identity: by which a later change is noticed.
        modified: its modification time in nanoseconds.
        area: what it says; None where only git can read it.
        listed: what git listed, where only git can read it.
        refused: why gitmem cannot read it.
    """

    content: bytes | None = None
    identity: _Identity = None
    modified: int | None = None
    area: StagingArea | None = None
    listed: Mapping[bytes, tuple[StagedEntry, ...]] = field(default_factory=dict)
    refused: StagingRefused | None = None

    def rows(self, path: str) -> tuple[StagedEntry, ...]:
        """Return a path's entries, all stages."""
        name = encode_path(path)
        return self.listed.get(name, ()) if self.area is None else self.area.rows(name)

    def resolved_sides(self, path: str) -> tuple[str, str] | None:
        """Return the blob ids of both sides of a path that was unmerged, where gitmem can read the file."""
        return None if self.area is None else self.area.resolved_sides(encode_path(path))


#: Stands for an index file that nobody looked at.
UNREAD: Final = StagedIndex()


class NewIndex:
    """A new index file, ready but for the stat data of the changed files."""

    def __init__(self, layout: Layout, plan: StagingPlan | bytes, modified: int | None) -> None:
        self._layout = layout
        self._plan = plan
        self._modified = modified

    @contextmanager
    def written(
        self, stats: Mapping[str, os.stat_result], grant: Callable[[int], None]
    ) -> Iterator[Callable[[], object]]:
        """Write the file beside the present one, durably; yield what moves it into place.

        Args:
            stats: of the changed files after their last write.
            grant: called with the new file, open.
        """
        plan = self._plan
        content = (
            plan
            if isinstance(plan, bytes)
            else plan.seal({encode_path(path): found for path, found in stats.items()})
        )
        path = self._layout.git_dir / "index"
        beside = path.with_name("gitmem-index.part")  # one name serves, because the index is locked
        try:
            _write(beside, path, content, grant)
            if self._modified is not None:
                # Git compares the content of files that are as new as the index. A newer time would make it
                # trust the stat data of an edit that was made in the second in which the index was written.
                os.utime(beside, ns=(self._modified, self._modified))
            yield partial(beside.replace, path)
        except BaseException:
            with suppress(FileNotFoundError):
                beside.unlink()
            raise


def read_index(layout: Layout) -> StagedIndex:
    """Read the index file.

    Raises:
        StagingRefused: it is damaged, or has a feature that neither gitmem nor an installed git can read.
    """
    path = layout.git_dir / "index"
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            content = file.read()
    except FileNotFoundError:
        return StagedIndex(area=StagingArea(None))
    read = StagedIndex(content, _identity(found), found.st_mtime_ns)
    try:
        return replace(read, area=StagingArea(content))
    except StagingRefused as refused:
        return replace(read, listed=_entries_by_git(layout, refused), refused=refused)


def index_identity(layout: Layout) -> _Identity:
    """Return what tells one index file from the next; None where there is none."""
    try:
        return _identity((layout.git_dir / "index").stat())
    except FileNotFoundError:
        return None


def plan_index(
    layout: Layout, index: StagedIndex, changes: Mapping[str, StagedFile | None], *, unborn: bool
) -> NewIndex | None:
    """Work out the index file in which `changes` are staged.

    Args:
        layout: where it lies.
        index: the present file.
        changes: for each path the file to stage, or None to remove its entry.
        unborn: the branch has no commit; only then a missing index file is made.

    Returns:
        The new file; None where there is none to change.

    Raises:
        StagingRefused: it cannot be changed.
    """
    if not changes or (index.content is None and not unborn):
        return None
    encoded = {encode_path(path): file for path, file in changes.items()}
    try:
        if index.area is None:
            raise index.refused or StagingRefused("the staging area was not read")
        plan: StagingPlan | bytes = index.area.plan(encoded)
    except StagingRefused as refused:
        plan = _plan_by_git(layout, index, encoded, refused)
    return NewIndex(layout, plan, index.modified)


def _identity(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _write(path: Path, present: Path, content: bytes, grant: Callable[[int], None]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o666)
    try:
        done = 0
        while done < len(content):
            done += os.write(descriptor, content[done:])
        with suppress(FileNotFoundError):
            os.fchmod(descriptor, present.stat().st_mode & 0o7777)
        grant(descriptor)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _entries_by_git(layout: Layout, refused: StagingRefused) -> dict[bytes, tuple[StagedEntry, ...]]:
    entries: dict[bytes, tuple[StagedEntry, ...]] = {}
    listed = _run_git(layout, layout.git_dir / "index", ["ls-files", "-s", "-z"], b"", refused)
    for row in listed.split(b"\0")[:-1]:
        head, _, path = row.partition(b"\t")
        mode, blob, stage = head.split(b" ")
        entry = StagedEntry(path, int(mode, 8), blob.decode("ascii"), int(stage))
        entries[path] = (*entries.get(path, ()), entry)
    return entries


def _plan_by_git(
    layout: Layout,
    index: StagedIndex,
    changes: Mapping[bytes, StagedFile | None],
    refused: StagingRefused,
) -> bytes:
    """Let git change a copy of the index file; the files' stat data are left for git to find out."""
    if index.content is None:
        raise refused
    copy = layout.git_dir / "gitmem-index-copy.part"
    rows = b"".join(
        b"0 %s\t%s\0" % (b"0" * 40, path)
        if file is None
        else b"%o %s 0\t%s\0" % (file.mode, file.id.encode("ascii"), path)
        for path, file in changes.items()
    )
    lock = copy.with_name(copy.name + ".lock")
    try:
        lock.unlink(missing_ok=True)
        copy.write_bytes(index.content)
        _run_git(layout, copy, ["update-index", "-z", "--index-info"], rows, refused)
        return copy.read_bytes()
    finally:
        for leftover in (copy, lock):
            leftover.unlink(missing_ok=True)


def _run_git(layout: Layout, index: Path, args: list[str], given: bytes, refused: StagingRefused) -> bytes:
    program = shutil.which("git") if refused.reason.startswith(_BY_GIT) else None
    if program is None:
        raise refused
    environment = {
        "GIT_DIR": str(layout.git_dir),
        "GIT_WORK_TREE": str(layout.root),
        "GIT_INDEX_FILE": str(index),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C",
    }
    command = [program, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", *args]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command; paths go through standard input
            command, input=given, env=environment, capture_output=True, timeout=_GIT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise refused from error
    return done.stdout
