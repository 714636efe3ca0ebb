"""Which loose objects history needs: a walk from all refs and reflogs that ends where no loose commit can be.

What it does not find is left to `git gc`, which alone knows all of Git's reasons to keep an object for a
while; it is never packed, so that nothing lives longer, or goes sooner, than with plain Git.
"""

from __future__ import annotations

import heapq
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.errors import CorruptionError, ObjectMissing
from gitmem.git_objects import parse_tag
from gitmem.git_refs import parse_ref_file, parse_reflog
from gitmem.layout import Layout
from gitmem.loose_objects import loose_head
from gitmem.repository import Repository

#: Clocks of an operator's machines may differ; a commit may be older than its parent by so much.
_SKEW: Final = 86_400
#: Branches that only gitmem moves, with packs: behind a packed commit of theirs nothing is loose.
_LINES: Final = re.compile(r"refs/(?:heads|remotes/[^/]+)/gitmem/turns/")
_TREE_ENTRY: Final = re.compile(rb"([0-7]+) [^\0]+\0(.{20})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reach:
    """What a walk found.

    Attributes:
        ids: loose objects that refs or reflogs reach.
        damaged: loose objects that do not read.
        finished: whether it came to its end within its time.
    """

    ids: frozenset[str]
    damaged: tuple[str, ...]
    finished: bool


class LooseReach:
    """Finds the loose objects that refs reach.

    Args:
        repository: whose objects.
        layout: where refs and reflogs lie.
        loose: ids of its loose objects.
    """

    def __init__(self, repository: Repository, layout: Layout, loose: Iterable[str]) -> None:
        self._repository = repository
        self._layout = layout
        self._loose = frozenset(loose)
        self._raw = frozenset(bytes.fromhex(one) for one in self._loose)
        self._found: set[str] = set()
        self._seen: set[str] = set()
        self._damaged: list[str] = []
        #: Newest first: time, id, whether the walk ends at packed commits.
        self._queue: list[tuple[int, str, bool]] = []

    def find(self, is_over: Callable[[], bool]) -> Reach:
        """Walk until the end, or until the time is over."""
        oldest = self._oldest() - _SKEW
        for object_id, is_line in self._roots():
            self._enter(object_id, is_line)
        finished = True
        while self._queue:
            seconds, commit_id, is_line = heapq.heappop(self._queue)
            if -seconds < oldest:
                break
            if is_over():
                finished = False
                break
            self._visit(commit_id, is_line)
        return Reach(frozenset(self._found), tuple(self._damaged), finished)

    def _oldest(self) -> float:
        """Return the time before which no commit has anything to do with a loose object."""
        oldest = time.time()
        objects = self._layout.common_dir / "objects"
        for one in self._loose:
            with suppress(FileNotFoundError, ObjectMissing):
                try:
                    kind, _ = loose_head(objects, one)
                    path = objects / one[:2] / one[2:]
                    oldest = min(oldest, path.stat().st_mtime)
                    if kind == "commit":
                        oldest = min(oldest, self._repository.read_commit(one).commit_time)
                except CorruptionError:
                    self._damaged.append(one)
        return oldest

    def _roots(self) -> Iterator[tuple[str, bool]]:
        for name, value in self._repository.list_refs("refs/").items():
            # A packed tag names what a branch reaches; twenty thousand need not be read for that.
            if value in self._loose or not name.startswith("refs/tags/"):
                yield value, _LINES.match(name) is not None
        common = self._layout.common_dir
        for folder in (common, *_folders(common / "worktrees")):
            with suppress(OSError):
                head = parse_ref_file((folder / "HEAD").read_bytes())
                if head is not None and head.id is not None:
                    yield head.id, False
            yield from ((value, False) for value in _logged(folder / "logs"))

    def _enter(self, object_id: str, is_line: bool) -> None:
        """Take a commit, or what a tag names, into the queue."""
        if object_id in self._seen:
            return
        self._seen.add(object_id)
        with suppress(ObjectMissing, CorruptionError):
            kind, content = self._repository.read(object_id)
            if kind == "commit":
                seconds = self._repository.read_commit(object_id).commit_time
                if not is_line or object_id in self._loose:
                    heapq.heappush(self._queue, (-seconds, object_id, is_line))
                return
            self._note(object_id)
            if kind == "tag":
                self._enter(parse_tag(content)[0], is_line)
            elif kind == "tree":
                self._descend(object_id)

    def _visit(self, commit_id: str, is_line: bool) -> None:
        with suppress(ObjectMissing, CorruptionError):
            commit = self._repository.read_commit(commit_id)
            self._note(commit_id)
            self._descend(commit.tree)
            for parent in commit.parents:
                self._enter(parent, is_line)

    def _descend(self, tree_id: str) -> None:
        pending = [tree_id]
        while pending:
            one = pending.pop()
            if one in self._seen:
                continue
            self._seen.add(one)
            with suppress(ObjectMissing, CorruptionError):
                kind, content = self._repository.read(one)
                self._note(one)
                rows = _TREE_ENTRY.findall(content) if kind == "tree" else ()
                pending += [raw.hex() for mode, raw in rows if mode == b"40000"]
                self._found |= {raw.hex() for _, raw in rows if raw in self._raw}

    def _note(self, object_id: str) -> None:
        if object_id in self._loose:
            self._found.add(object_id)


def _folders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except OSError:
        return []


def _logged(logs: Path) -> Iterator[str]:
    """Yield what reflogs hold, but for the turn lines: theirs are as long as the line itself."""
    paths = [Path(folder) / name for folder, _, names in os.walk(logs) for name in names]
    for path in sorted(paths):
        if "gitmem/turns/" not in path.as_posix():
            with suppress(OSError):
                yield from parse_reflog(path.read_bytes())
