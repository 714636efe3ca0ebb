"""Whether a turn line only grew from one commit to another: rule V3, the same for servers, pushes and verify.

The old lines of a segment are a subsequence of the new ones, each as it was, or its stub with a receipt in
the new commit. No file of the ledger goes, except a record's long texts with the receipt of their record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from gitmem.forgotten import FOLDER, Receipts, is_receipt_path, read_receipts
from gitmem.ledger_format import BadLine, Line, parse_blob_path, parse_segment_path, split_segment
from gitmem.repository import TREE_MODE, ObjectReader, read_path, walk_tree
from gitmem.tree_changes import TreeChange, changed_paths

_LEDGER: Final = "ledger"


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of the ledger that the new commit no longer has.

    Attributes:
        path: of the file in the turn line's tree.
        rule: `deleted`, `changed`, `line` (a line went or moved) or `redacted` (a stub without its receipt).
        message: what it is, one sentence; never a record's words.
    """

    path: str
    rule: str
    message: str


def segment_losses(path: str, old: bytes, new: bytes, forgotten: Callable[[str], bool]) -> list[Loss]:
    """Return what a segment lost between two versions of it.

    Args:
        path: of the segment, for the losses.
        old: its bytes before.
        new: its bytes after.
        forgotten: says of a record's id whether the new commit holds its receipt.
    """
    if new.startswith(old):
        return []
    later = split_segment(new)
    losses: list[Loss] = []
    at = 0
    for item in split_segment(old):
        found = next((n for n in range(at, len(later)) if _is_kept(item, later[n], old)), None)
        if found is None:
            losses.append(_lost(path, item))
            continue
        at = found + 1
        kept = later[found]
        is_stub = isinstance(kept, Line) and kept.redacted and kept.raw != item.raw
        if isinstance(kept, Line) and is_stub and not forgotten(kept.id):
            message = f"record {kept.id} of {kept.writer} is redacted without its receipt"
            losses.append(Loss(path, "redacted", message))
    return losses


def _is_kept(old: Line | BadLine, new: Line | BadLine, content: bytes) -> bool:
    if new.raw == old.raw:
        return True
    if isinstance(old, Line):
        # A line that was damaged may come back as it was sealed: the digest in its envelope proves it.
        return (
            isinstance(new, Line)
            and new.envelope == old.envelope
            and (new.redacted or (not old.is_intact and new.is_intact))
        )
    # A line that was cut off at the end of the file may have become whole.
    is_tail = not content.endswith(b"\n") and content.endswith(old.raw[:-1])
    return is_tail and new.raw.startswith(old.raw[:-1])


def _lost(path: str, item: Line | BadLine) -> Loss:
    if isinstance(item, Line):
        return Loss(path, "line", f"line {item.seq} of {item.writer} is gone or stands elsewhere")
    return Loss(path, "line", f"the bytes of line {item.number} are gone or stand elsewhere")


def ledger_losses(objects: ObjectReader, old: str, new: str) -> Iterator[Loss]:
    """Yield what the ledger lost from one commit of a turn line to another, in the order of paths.

    Args:
        objects: where both are read from.
        old: id of the commit before.
        new: id of the commit after.
    """
    before, after = _ledger_of(objects, old), _ledger_of(objects, new)
    if before is None:
        return
    receipts = cache(lambda: _receipts(objects, new))
    for change in changed_paths(objects, before, after, f"{_LEDGER}/"):
        if change.old is not None:
            yield from _file_losses(objects, change, receipts)


def _ledger_of(objects: ObjectReader, commit: str) -> str | None:
    entry = read_path(objects, objects.read_commit(commit).tree, _LEDGER)
    return entry.id if entry is not None and entry.mode == TREE_MODE else None


def _receipts(objects: ObjectReader, commit: str) -> Receipts:
    tree = read_path(objects, objects.read_commit(commit).tree, FOLDER)
    if tree is None or tree.mode != TREE_MODE:
        return Receipts()
    found = walk_tree(objects, tree.id, f"{FOLDER}/")
    return read_receipts({path: objects.read(entry.id)[1] for path, entry in found})


def _file_losses(
    objects: ObjectReader, change: TreeChange, receipts: Callable[[], Receipts]
) -> Sequence[Loss]:
    path = change.path
    record = parse_blob_path(path)
    if change.new is None:
        if record is not None and record in receipts().records:
            return []
        return [Loss(path, "deleted", "a file of the ledger is gone")]
    assert change.old is not None
    old, new = (objects.read(entry.id)[1] for entry in (change.old, change.new))
    if old == new and change.old.mode == change.new.mode:
        return []
    if parse_segment_path(path) is not None and change.old.mode == change.new.mode:
        return segment_losses(path, old, new, lambda name: name in receipts().records)
    if is_receipt_path(path) and set(old.splitlines()) <= set(new.splitlines()):
        return []
    return [Loss(path, "changed", "a file of the ledger that is written once has changed")]
