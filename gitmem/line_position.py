"""Where a writer's turn line stands: all that the next turn is built from, read from its tip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gitmem.errors import LedgerCorrupt
from gitmem.git_objects import parse_commit
from gitmem.growing_file import GrowingFile
from gitmem.ledger_format import Line, parse_segment_path, split_segment
from gitmem.ledger_tree import LedgerTree
from gitmem.line_astray import chain_of
from gitmem.repository import TREE_MODE, Commit, ObjectReader, walk_tree
from gitmem.sealing import ChainEnd
from gitmem.subjects import parse_subject


@dataclass(slots=True)
class LinePosition:
    """The end of one turn line, advanced turn by turn.

    Attributes:
        tip: the line's commit; None before the first turn.
        end: where the chain ends.
        turn_index: of the last turn.
        tree: the tip's tree, being edited.
        segment: path of the segment that holds the chain's end; None before the first turn.
        file: its bytes.
        number: the highest number of an own segment in the tree.
        is_closed: the next turn begins a segment, because other lines follow the chain's end in this one.
        merged: other lines' tips that `tip` contains, by ref name.
        unreadable: tips that could not be merged; they are not tried again before they move.
    """

    tip: str | None
    end: ChainEnd
    turn_index: int
    tree: LedgerTree
    segment: str | None
    file: GrowingFile
    number: int
    is_closed: bool = False
    merged: dict[str, str] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)

    def take_segment(self, path: str, content: bytes | None) -> None:
        """Note that a merge wrote a segment; its content is wanted only for the current one."""
        name = parse_segment_path(path)
        if name is None or name.writer != self.end.writer:
            return
        self.number = max(self.number, name.number)
        if path == self.segment and content is not None:
            self.file = GrowingFile(content)
            self.is_closed |= not _ends_at(content, self.end)
        self.is_closed |= self.number > _number(self.segment)


@dataclass(frozen=True, slots=True)
class _Found:
    path: str
    content: bytes
    end: ChainEnd


def read_position(
    objects: ObjectReader,
    writer: str,
    tip: str | None,
    *,
    segment: str | None = None,
    number: int = 0,
    merged: Mapping[str, str] | None = None,
) -> LinePosition:
    """Read the position of a line from its tip.

    Args:
        objects: the object store.
        writer: whose chain it is.
        tip: the line's commit; None for a new line.
        segment: the path that the tip wrote to, if it is remembered; it is checked.
        number: the highest number of an own segment, if it is remembered.
        merged: what is remembered of other lines' tips.

    Raises:
        ObjectMissing: an object that the tip needs is not there.
        LedgerCorrupt: the tree does not hold what the tip's commit says of the chain.
    """
    if tip is None:
        return LinePosition(None, ChainEnd(writer), 0, LedgerTree(objects, None), None, GrowingFile(), 0)
    kind, content = objects.read(tip)
    if kind != "commit":
        raise LedgerCorrupt(f"the tip of {writer} is a {kind}, not a commit", writer=writer)
    commit = parse_commit(tip, content)
    tree = LedgerTree(objects, commit.tree)
    wanted = chain_of(commit, writer)
    found = _look_at(objects, tree, segment, writer, wanted) if segment and wanted and number else None
    if found is None:
        own = _own_segments(objects, tree, writer)
        number = max((_number(path) for path in own), default=0)
        found = _search(objects, tree, own, writer, wanted)
    position = LinePosition(
        tip,
        ChainEnd(writer),
        _turn_index(commit),
        tree,
        None,
        GrowingFile(),
        number,
        merged=dict(merged or {}),
    )
    if found is not None:
        position.end, position.segment, position.file = found.end, found.path, GrowingFile(found.content)
        position.is_closed = number > _number(found.path) or not _ends_at(found.content, found.end)
    return position


def _look_at(
    objects: ObjectReader, tree: LedgerTree, path: str, writer: str, wanted: tuple[int, str] | None
) -> _Found | None:
    """Return the chain's end in one segment: the line that is wanted, else the last one; None without it."""
    entry = tree.get(path)
    if entry is None or entry.mode == TREE_MODE or not _is_of(path, writer):
        return None
    content = objects.read(entry.id)[1]
    own = [line for line in _good_lines(content) if line.writer == writer]
    ends = [line for line in own if wanted is None or (line.seq, line.envelope_hash) == wanted]
    if not ends:
        return None
    last = max(ends, key=lambda line: (line.seq, line.clock))
    clock = max(line.clock for line in own)
    return _Found(path, content, ChainEnd(writer, last.seq, last.envelope_hash, clock))


def _search(
    objects: ObjectReader, tree: LedgerTree, own: list[str], writer: str, wanted: tuple[int, str] | None
) -> _Found | None:
    # Two copies of a folder share a writer, so the end of this line need not be in the last segment.
    for path in sorted(own, key=_number, reverse=True):
        found = _look_at(objects, tree, path, writer, wanted)
        if found is not None:
            return found
    if wanted is not None or own:
        line = wanted[0] if wanted else 0
        raise LedgerCorrupt(
            f"the ledger of {writer} does not hold the line {line} that its last commit names",
            hint="Run `git fsck` and compare with another clone.",
            writer=writer,
            line=line,
        )
    return None


def _own_segments(objects: ObjectReader, tree: LedgerTree, writer: str) -> list[str]:
    ledger = tree.get("ledger")
    if ledger is None or ledger.mode != TREE_MODE:
        return []
    return [path for path, _ in walk_tree(objects, ledger.id, "ledger/") if _is_of(path, writer)]


def _good_lines(content: bytes) -> Iterator[Line]:
    return (line for line in split_segment(content) if isinstance(line, Line))


def _ends_at(content: bytes, end: ChainEnd) -> bool:
    """Say whether the last good line of a segment is the chain's end."""
    tail = content[content.rfind(b"\n", 0, -1) + 1 :]
    hashes = [line.envelope_hash for line in _good_lines(tail)]
    return content.endswith(b"\n") and hashes[-1:] == [end.prev]


def _is_of(path: str, writer: str) -> bool:
    name = parse_segment_path(path)
    return name is not None and name.writer == writer


def _number(path: str | None) -> int:
    name = parse_segment_path(path) if path else None
    return name.number if name else 0


def _turn_index(commit: Commit) -> int:
    subject = parse_subject(commit.message)
    return (subject.index or 0) if subject else 0
