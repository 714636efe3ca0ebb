"""What other writers' lines bring into the next turn: the union of all, closed under receipts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from gitmem.errors import GitmemError
from gitmem.forgotten import (
    Receipts,
    close_segment,
    is_receipt_path,
    merge_receipt_files,
    read_receipts,
)
from gitmem.git_objects import make_object
from gitmem.ledger_format import Line, parse_blob_path, parse_segment_path, split_segment, union_segments
from gitmem.ledger_tree import brought_by
from gitmem.line_position import LinePosition
from gitmem.repository import EXECUTABLE_MODE, FILE_MODE, GitObject, Repository, walk_tree

_CLOCK = re.compile(rb'"clock":"([0-9a-f]{16})"')


@dataclass(slots=True)
class LineMerge:
    """What has to go into the next turn's commit besides its own lines.

    Attributes:
        parents: tips that are new, in a fixed order.
        objects: blobs that are in no line yet.
        files: blob id of each path that changed; None for one that was forgotten.
        warnings: lines that could not be read, in words.
    """

    parents: list[str] = field(default_factory=list)
    objects: list[GitObject] = field(default_factory=list)
    files: dict[str, str | None] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def merge_lines(repository: Repository, position: LinePosition, tips: Mapping[str, str]) -> LineMerge:
    """Bring other lines' new tips into a position's tree.

    Before a writer's first turn nothing is merged, so that its line begins with a commit of its own; only the
    clock is put above every clock known here.

    Args:
        repository: the object store.
        position: edited in place: tree, clock, current segment, merged tips.
        tips: of the other lines, by ref name.
    """
    if position.tip is None:
        for tip in set(tips.values()):
            _hear(position, _last_segments(repository, tip))
        return LineMerge()
    moved = {
        ref: tip
        for ref, tip in tips.items()
        if position.merged.get(ref) != tip and tip not in position.unreadable
    }
    if not moved:
        return LineMerge()
    union = _Union(repository, position)
    for tip in sorted(set(moved.values())):
        try:
            union.take(tip)
        except GitmemError as error:
            # Nothing of it is merged: what is whole of it can still be read from its own line.
            position.unreadable.add(tip)
            union.merge.warnings.append(f"the line at {tip[:12]} cannot be read: {error.message}")
    position.merged.update({ref: tip for ref, tip in moved.items() if tip not in position.unreadable})
    return union.finish()


def _last_segments(repository: Repository, tip: str) -> Iterator[bytes]:
    """Yield each writer's segment with the highest number, which holds the writer's highest clock."""
    newest: dict[str, tuple[int, str]] = {}
    try:
        for path, entry in walk_tree(repository, repository.read_commit(tip).tree):
            name = parse_segment_path(path)
            if name is not None and name.number > newest.get(name.writer, (0, ""))[0]:
                newest[name.writer] = (name.number, entry.id)
        for _, blob in newest.values():
            yield repository.read(blob)[1]
    except GitmemError:
        return


def _hear(position: LinePosition, segments: Iterable[bytes]) -> None:
    """Put the clock above all that these segments hold."""
    for content in segments:
        # The text of a clock may stand in a body too; only where it would count are lines looked at.
        if max(_CLOCK.findall(content), default=b"").decode() > position.end.clock:
            lines = (line for line in split_segment(content) if isinstance(line, Line))
            clock = max((line.clock for line in lines), default="")
            position.end = replace(position.end, clock=max(position.end.clock, clock))


class _Union:
    """Collects what tips hold, and edits a position's tree only once all of it was read."""

    def __init__(self, repository: Repository, position: LinePosition) -> None:
        assert position.tip is not None
        self.merge = LineMerge()
        self._repository = repository
        self._position = position
        self._ours = repository.read_commit(position.tip).tree
        self._made: dict[str, GitObject] = {}
        self._brought: dict[str, str] = {}

    def take(self, tip: str) -> None:
        """Take one tip's files into the union.

        Raises:
            GitmemError: a part of it is damaged or not here; nothing of it was taken.
        """
        assert self._position.tip is not None
        if self._repository.is_ancestor(tip, self._position.tip):
            return
        theirs = self._repository.read_commit(tip).tree
        brought: dict[str, str] = {}
        for path, _, entry in brought_by(self._repository, self._ours, theirs):
            # A tree may come from anywhere: what is no file of the ledger, by name or mode, is not taken.
            if entry.mode in (FILE_MODE, EXECUTABLE_MODE) and _is_ours(path):
                known = self._brought.get(path) or self._blob_at(path)
                brought[path] = entry.id if known is None else self._join(path, known, entry.id)
        self._brought |= brought
        self.merge.parents.append(tip)

    def finish(self) -> LineMerge:
        """Edit the tree; return what the commit has to hold."""
        changed = {path: blob for path, blob in self._brought.items() if blob != self._blob_at(path)}
        for path, blob in changed.items():
            self._put(path, blob)
        self._close(changed)
        for path in changed:
            if parse_segment_path(path) is not None:
                _hear(self._position, [self._content_at(path)])
        self.merge.objects = [self._made[blob] for blob in self.merge.files.values() if blob in self._made]
        return self.merge

    def _join(self, path: str, mine: str, theirs: str) -> str:
        if mine == theirs or parse_blob_path(path) is not None:
            return mine  # a long text is written once; where two differ the record's digest decides
        versions = [self._read(mine), self._read(theirs)]
        union = (merge_receipt_files if is_receipt_path(path) else union_segments)(versions)
        same = {versions[0]: mine, versions[1]: theirs}
        return same.get(union) or self._make(union)

    def _close(self, changed: Mapping[str, str]) -> None:
        """Close what came under the receipts known before, and everything under the receipts that came."""
        receipts = self._receipts()
        if not receipts.records:
            return
        everything = any(is_receipt_path(path) for path in changed)
        paths = [path for path, _ in self._position.tree.walk("ledger")] if everything else list(changed)
        for path in paths:
            if receipts.is_forgotten_path(path):
                self._position.tree.drop(path)
                self.merge.files[path] = None
            elif parse_segment_path(path) is not None:
                content = self._content_at(path)
                closed = close_segment(content, receipts)
                if closed != content:
                    self._put(path, self._make(closed))

    def _receipts(self) -> Receipts:
        found = self._position.tree.walk("ledger/forgotten")
        return read_receipts({path: self._read(blob) for path, blob in found})

    def _put(self, path: str, blob: str) -> None:
        self._position.tree.put(path, blob)
        self.merge.files[path] = blob
        if parse_segment_path(path) is not None:
            is_current = path == self._position.segment
            self._position.take_segment(path, self._read(blob) if is_current else None)

    def _make(self, content: bytes) -> str:
        blob = make_object("blob", content)
        self._made[blob.id] = blob
        return blob.id

    def _read(self, blob: str) -> bytes:
        made = self._made.get(blob)
        return made.content if made else self._repository.read(blob)[1]

    def _blob_at(self, path: str) -> str | None:
        entry = self._position.tree.get(path)
        return entry.id if entry else None

    def _content_at(self, path: str) -> bytes:
        blob = self._blob_at(path)
        assert blob is not None
        return self._read(blob)


def _is_ours(path: str) -> bool:
    """Say whether a path is one that gitmem writes below `ledger/`."""
    return any(parse(path) for parse in (parse_segment_path, parse_blob_path, is_receipt_path))
