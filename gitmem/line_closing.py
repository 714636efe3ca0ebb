"""Closing the whole tree of a turn line: each forgotten record is its stub, and its long texts are gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gitmem.forgotten import Receipts, close_segment, merge_receipt_files
from gitmem.git_objects import make_object
from gitmem.ledger_format import parse_segment_path
from gitmem.line_position import LinePosition
from gitmem.repository import GitObject


@dataclass(slots=True)
class LineClosing:
    """What closing a tree changed.

    Attributes:
        files: new content of each path; None for one that went.
        objects: blobs to write.
    """

    files: dict[str, bytes | None] = field(default_factory=dict)
    objects: list[GitObject] = field(default_factory=list)


def close_line(
    position: LinePosition,
    brought: Mapping[str, bytes],
    receipts: Receipts,
    read: Callable[[str], bytes],
) -> LineClosing:
    """Put receipts into a position's tree, and close all of it.

    Args:
        position: edited in place.
        brought: the new receipts by path.
        receipts: all that are in force, these among them.
        read: returns a blob's content, also of one that is not written yet.
    """
    done = LineClosing()

    def put(path: str, content: bytes) -> None:
        blob = make_object("blob", content)
        position.tree.put(path, blob.id)
        done.objects.append(blob)
        done.files[path] = content

    for path, content in brought.items():
        entry = position.tree.get(path)
        put(path, merge_receipt_files([content] if entry is None else [content, read(entry.id)]))
    for path, blob_id in list(position.tree.walk("ledger")):
        if receipts.is_forgotten_path(path):
            position.tree.drop(path)
            done.files[path] = None
        elif parse_segment_path(path) is not None:
            content = read(blob_id)
            closed = close_segment(content, receipts)
            if closed != content:
                put(path, closed)
                position.take_segment(path, closed)
    return done
