"""What other writers' lines bring into the next turn: the union of all, closed under receipts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gitmem.forgotten import Receipts, close_segment, merge_receipt_files, read_receipts
from gitmem.git_objects import make_object
from gitmem.growing_file import GrowingFile
from gitmem.ledger import Ledger
from gitmem.ledger_format import Line, parse_segment_path, split_segment, union_segments
from gitmem.ledger_tree import brought_by
from gitmem.line_position import LinePosition
from gitmem.repository import TREE_MODE, GitObject, Repository, walk_tree

_FORGOTTEN = "ledger/forgotten/"
_BLOBS = "ledger/blobs/"


@dataclass(frozen=True, slots=True)
class MergedLines:
    """What has to go into the next turn's commit besides its own lines.

    Attributes:
        parents: tips that are new, in a fixed order.
        objects: blobs to write.
        files: whole contents of the paths that changed; None for a path that was forgotten.
    """

    parents: Sequence[str]
    objects: Sequence[GitObject]
    files: Mapping[str, bytes]


def merge_lines(
    repository: Repository, ledger: Ledger, position: LinePosition, own_ref: str
) -> MergedLines | None:
    """Bring other lines' new tips into a position's tree.

    Before a writer's first turn nothing is merged, so that its line begins with a commit of its own; only the
    clock is put above every clock known here.

    Args:
        repository: the object store.
        ledger: knows the lines.
        position: edited in place: tree, clock, current segment, merged tips.
        own_ref: the full name of the own line.

    Returns:
        What the commit has to hold, or None where no line is new.
    """
    tips = {
        ref: tip for ref, tip in ledger.tips().items() if ref != own_ref and position.merged.get(ref) != tip
    }
    if position.tip is None:
        _hear(
            position, (content for tip in set(tips.values()) for content in _last_segments(repository, tip))
        )
        return None
    new = [tip for tip in sorted(set(tips.values())) if not repository.is_ancestor(tip, position.tip)]
    position.merged.update(tips)
    if not new:
        return None
    union = _Union(repository, position)
    for tip in new:
        union.take(tip)
    union.close()
    return MergedLines(new, list(union.objects.values()), union.files)


def _last_segments(repository: Repository, tip: str) -> Iterable[bytes]:
    """Yield each writer's segment with the highest number, which holds the writer's highest clock."""
    newest: dict[str, tuple[int, str]] = {}
    for path, entry in walk_tree(repository, repository.read_commit(tip).tree):
        name = parse_segment_path(path)
        if name is not None and name.number > newest.get(name.writer, (0, ""))[0]:
            newest[name.writer] = (name.number, entry.id)
    for _, blob in newest.values():
        yield repository.read(blob)[1]


def _hear(position: LinePosition, segments: Iterable[bytes]) -> None:
    clocks = [line.clock for content in segments for line in split_segment(content) if isinstance(line, Line)]
    position.end = replace(position.end, clock=max([position.end.clock, *clocks]))


class _Union:
    """Edits a position's tree until it holds what other tips hold."""

    def __init__(self, repository: Repository, position: LinePosition) -> None:
        self.objects: dict[str, GitObject] = {}
        self.files: dict[str, bytes] = {}
        self._repository = repository
        self._position = position
        self._receipts_changed = False

    def take(self, tip: str) -> None:
        """Bring one tip's tree in."""
        assert self._position.tip is not None
        ours = self._repository.read_commit(self._position.tip).tree
        tree = self._repository.read_commit(tip).tree
        for path, _, theirs in brought_by(self._repository, ours, tree):
            if path.startswith("ledger/") and theirs.mode != TREE_MODE:
                self._take_file(path, theirs.id)

    def close(self) -> None:
        """Close what came under the receipts known before, and everything under the receipts that came."""
        receipts = self._read_receipts()
        if not receipts.records:
            return
        for path, blob in self._segments():
            if self._receipts_changed or path in self.files:
                content = self._read(blob)
                closed = close_segment(content, receipts)
                if closed != content:
                    self._put(path, closed)
        self._drop_forgotten_blobs(receipts)

    def _take_file(self, path: str, theirs: str) -> None:
        present = self._position.tree.get(path)
        mine = present.id if present else None
        if mine == theirs:
            return
        content = self._read(theirs)
        if path.startswith(_FORGOTTEN):
            self._receipts_changed = True
            self._put(path, merge_receipt_files([self._read(mine), content]) if mine else content)
        elif path.startswith(_BLOBS):
            if mine is None:  # written once: where two differ, the record's digest decides and ours stays
                self._put(path, content)
        elif parse_segment_path(path) is not None:
            _hear(self._position, [content])
            self._put(path, union_segments([self._read(mine), content]) if mine else content)
        elif mine is None:
            self._put(path, content)

    def _put(self, path: str, content: bytes) -> None:
        blob = make_object("blob", content)
        self.objects[blob.id] = blob
        self.files[path] = content
        self._position.tree.put(path, blob.id)
        if path == self._position.segment:
            self._position.file = GrowingFile(content)

    def _read(self, blob: str) -> bytes:
        known = self.objects.get(blob)
        return known.content if known else self._repository.read(blob)[1]

    def _segments(self) -> list[tuple[str, str]]:
        return [(path, blob) for path, blob in self._walk("ledger") if parse_segment_path(path) is not None]

    def _walk(self, folder: str) -> list[tuple[str, str]]:
        found = []
        for entry in self._position.tree.names(folder):
            path = f"{folder}/{entry.name}"
            found += self._walk(path) if entry.mode == TREE_MODE else [(path, entry.id)]
        return found

    def _read_receipts(self) -> Receipts:
        return read_receipts(
            {path.removeprefix("ledger/"): self._read(blob) for path, blob in self._walk(_FORGOTTEN[:-1])}
        )

    def _drop_forgotten_blobs(self, receipts: Receipts) -> None:
        for path, _ in self._walk(_BLOBS[:-1]):
            if path.rpartition("/")[2] in receipts.records:
                self._position.tree.drop(path)
                self.files.pop(path, None)
