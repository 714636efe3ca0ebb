"""Where a writer's turn line stands: all that the next turn is built from, read from its tip."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gitmem.errors import GitmemError, LedgerCorrupt
from gitmem.git_objects import parse_commit
from gitmem.growing_file import GrowingFile
from gitmem.ledger_format import Line, parse_segment_path, split_segment
from gitmem.ledger_tree import LedgerTree
from gitmem.repository import TREE_MODE, ObjectReader, walk_tree
from gitmem.sealing import ChainEnd
from gitmem.subjects import parse_trailers

_INDEX = re.compile(r"turn (\d{1,12})\b")
_CHAIN = re.compile(r"(w[0-9a-f]{8}):(\d{1,18}):([0-9a-f]{64})")


@dataclass(slots=True)
class LinePosition:
    """The end of one turn line, advanced turn by turn.

    Attributes:
        tip: the line's commit; None before the first turn.
        end: where the chain ends.
        turn_index: of the last turn.
        tree: the tip's tree, being edited.
        segment: path of the current segment; None before the first turn.
        file: its bytes.
        number: its number.
        merged: other lines' tips that `tip` contains, by ref name.
    """

    tip: str | None
    end: ChainEnd
    turn_index: int
    tree: LedgerTree
    segment: str | None
    file: GrowingFile
    number: int
    merged: dict[str, str] = field(default_factory=dict)


def read_position(
    objects: ObjectReader, writer: str, tip: str | None, *, segment: str | None, merged: Mapping[str, str]
) -> LinePosition:
    """Read the position of a line from its tip.

    Args:
        objects: the object store.
        writer: whose chain it is.
        tip: the line's commit; None for a new line.
        segment: the path that the tip wrote to, if it is remembered; it is checked.
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
    path = _last_segment(objects, tree, writer, segment)
    if path is None:
        return LinePosition(
            tip, ChainEnd(writer), _turn_index(commit.message), tree, None, GrowingFile(), 0, dict(merged)
        )
    entry = tree.get(path)
    name = parse_segment_path(path)
    assert entry is not None
    assert name is not None
    segment_bytes = objects.read(entry.id)[1]
    end = _chain_end(segment_bytes, writer)
    _check_chain(end, commit.message, writer)
    return LinePosition(
        tip,
        end,
        _turn_index(commit.message),
        tree,
        path,
        GrowingFile(segment_bytes),
        name.number,
        dict(merged),
    )


def _last_segment(objects: ObjectReader, tree: LedgerTree, writer: str, remembered: str | None) -> str | None:
    if remembered and tree.get(remembered) and _is_of(remembered, writer):
        return remembered
    ledger = tree.get("ledger")
    if ledger is None or ledger.mode != TREE_MODE:
        return None
    own = [path for path, _ in walk_tree(objects, ledger.id, "ledger/") if _is_of(path, writer)]
    return max(own, key=_number, default=None)


def _is_of(path: str, writer: str) -> bool:
    name = parse_segment_path(path)
    return name is not None and name.writer == writer


def _number(path: str) -> int:
    name = parse_segment_path(path)
    return name.number if name else 0


def _chain_end(content: bytes, writer: str) -> ChainEnd:
    own = [line for line in split_segment(content) if isinstance(line, Line) and line.writer == writer]
    if not own:
        raise LedgerCorrupt(f"the last segment of {writer} holds no good line", writer=writer)
    last = max(own, key=lambda line: (line.seq, line.clock))
    return ChainEnd(writer, last.seq, last.envelope_hash, max(line.clock for line in own))


def _check_chain(end: ChainEnd, message: str, writer: str) -> None:
    """A tip that names another end of its own chain than its tree holds was not made by a turn."""
    chain = _CHAIN.fullmatch(parse_trailers(message).get("Gitmem-Chain", ""))
    if chain and chain[1] == writer and (int(chain[2]), chain[3]) != (end.seq, end.prev):
        raise LedgerCorrupt(
            f"the ledger of {writer} ends at line {end.seq}, its last commit says {chain[2]}",
            hint="Run `git fsck` and compare with another clone.",
            writer=writer,
            line=end.seq,
        )


def _turn_index(message: str) -> int:
    match = _INDEX.match(message)
    return int(match[1]) if match else 0


def is_readable(objects: ObjectReader, writer: str, tip: str) -> bool:
    """Say whether everything that the next turn needs of a tip can be read."""
    try:
        read_position(objects, writer, tip, segment=None, merged={})
    except GitmemError:
        return False
    return True
