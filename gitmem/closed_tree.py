"""A tree of the operator's branch closed under receipts: nothing that was forgotten stands in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitmem.authored_text import BOM, newline_of
from gitmem.branch_merge import EPISODES, STORES, conflict_of
from gitmem.entries import format_store, parse_store
from gitmem.errors import ObjectMissing
from gitmem.forgotten import Receipts, close_segment
from gitmem.front_matter import read_front_matter
from gitmem.git_objects import hash_object
from gitmem.ledger_format import parse_segment_path
from gitmem.repository import FILE_MODE
from gitmem.tree_edit import TreeFile

_LEDGER: Final = "ledger/"


@dataclass(frozen=True, slots=True)
class ClosedTree:
    """A tree in which nothing forgotten stands.

    Attributes:
        files: by path.
        made: contents of blobs that are new, by id.
        forgotten: paths that went or hold less than before.
    """

    files: Mapping[str, TreeFile]
    made: Mapping[str, bytes] = field(default_factory=dict)
    forgotten: frozenset[str] = frozenset()


def close_tree(files: Mapping[str, TreeFile], receipts: Receipts, read: Callable[[str], bytes]) -> ClosedTree:
    """Take what was forgotten out of a tree.

    A file with a listed blob goes, under any name; of an episode its stub stays. Listed entries leave the
    stores and their conflict copies. Whatever nobody listed is not read.

    Args:
        files: of the tree, by path.
        receipts: in force.
        read: returns the content of a blob.
    """
    if not (receipts.blobs or receipts.entries or receipts.records):
        return ClosedTree(files)
    touched = [path for path, file in files.items() if _may_hold(path, file, receipts)]
    if not touched:
        return ClosedTree(files)
    closed = dict(files)
    made: dict[str, bytes] = {}
    changed = set()
    for path in touched:
        content = _closed(path, files[path], receipts, read)
        blob = None if content is None else hash_object("blob", content)
        if content is None or blob is None or receipts.is_forgotten_blob(blob):
            del closed[path]
            changed.add(path)
        elif blob != files[path].id:
            closed[path] = TreeFile(files[path].mode, blob)
            made[blob] = content
            changed.add(path)
    return ClosedTree(closed, made, frozenset(changed))


def close_file(path: str, content: bytes, receipts: Receipts) -> bytes | None:
    """Return a file of the operator's branch without what was forgotten; None where it goes."""
    if not (receipts.blobs or receipts.entries or receipts.records):
        return content
    file = TreeFile(FILE_MODE, hash_object("blob", content))
    if not _may_hold(path, file, receipts):
        return content
    closed = _closed(path, file, receipts, lambda _: content)
    return None if closed is None or receipts.is_forgotten_blob(hash_object("blob", closed)) else closed


def episode_stub(episode_id: str) -> bytes:
    """Return what stays of a forgotten episode."""
    return f"---\nid: {episode_id}\nforgotten: true\n---\n".encode()


def may_hold_forgotten(path: str, receipts: Receipts) -> bool:
    """Say whether a file at this path may hold what was forgotten without being listed itself."""
    of = conflict_of(path)
    if of in STORES:
        return bool(receipts.entries)
    return of.startswith(_LEDGER) and bool(receipts.records)


def _may_hold(path: str, file: TreeFile, receipts: Receipts) -> bool:
    return file.id in receipts.blobs or (file.is_regular and may_hold_forgotten(path, receipts))


def _closed(path: str, file: TreeFile, receipts: Receipts, read: Callable[[str], bytes]) -> bytes | None:
    """Return what a file holds once it is closed; None where it goes."""
    if receipts.is_forgotten_blob(file.id):
        is_episode = path.startswith(f"{EPISODES}/") and file.is_regular
        return _stub_of(file, read) if is_episode else None
    of = conflict_of(path)
    if of in STORES:
        return _close_store(read(file.id), receipts)
    if receipts.is_forgotten_path(of):
        return None
    content = read(file.id)
    return close_segment(content, receipts) if parse_segment_path(of) else content


def _stub_of(file: TreeFile, read: Callable[[str], bytes]) -> bytes | None:
    try:
        text = read(file.id).decode("utf-8", "replace")
    except ObjectMissing:  # purged: whoever purged it has the stub
        return None
    episode_id = read_front_matter(text).id
    return None if episode_id is None else episode_stub(episode_id)


def _close_store(content: bytes, receipts: Receipts) -> bytes:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return content
    entries = parse_store(text)
    kept = [entry for entry in entries if not receipts.is_forgotten_entry(entry.text)]
    if len(kept) == len(entries):
        return content
    mark = BOM if text.startswith(BOM) else ""
    return format_store(kept, newline_of(text), mark).encode("utf-8")
