"""A turn line's tree as it is edited: only changed folders are written, and all of it can be seen before."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gitmem.errors import CorruptionError
from gitmem.git_objects import make_object
from gitmem.ledger_tree import LedgerTree, brought_by
from gitmem.repository import FILE_MODE, walk_tree
from gitmem.testing.memory_repository import MemoryRepository

A, B, C = (make_object("blob", text) for text in (b"a", b"b", b"c"))


def write(repository: MemoryRepository, files: Mapping[str, str]) -> str:
    """Return the id of a tree of files."""
    tree = LedgerTree(repository, None)
    for path, blob in files.items():
        tree.put(path, blob)
    root, objects = tree.write()
    with repository.write_pack([*objects, A, B, C]):
        pass
    return root


def read(repository: MemoryRepository, root: str) -> dict[str, str]:
    """Return the files of a tree."""
    return {path: entry.id for path, entry in walk_tree(repository, root)}


def test_edits_are_written_and_only_their_folders() -> None:
    """A turn writes as many trees as its paths have folders."""
    repository = MemoryRepository()
    files = {"ledger/2026-03/01/x": A.id, "ledger/2026-03/02/x": A.id, "ledger/2026-02/01/x": A.id}
    root = write(repository, files)
    tree = LedgerTree(repository, root)
    tree.put("ledger/2026-03/02/y", B.id)
    tree.drop("ledger/2026-03/02/x")
    tree.drop("ledger/2026-03/02/nothing")
    new, objects = tree.write()
    assert len(objects) == 4
    with repository.write_pack(objects):
        pass
    expected = {path: blob for path, blob in files.items() if path != "ledger/2026-03/02/x"}
    assert read(repository, new) == {**expected, "ledger/2026-03/02/y": B.id}
    assert tree.write() == (new, [])


def test_what_is_not_written_yet_is_seen() -> None:
    """Receipts that a merge brings have to be in force before its trees are written."""
    repository = MemoryRepository()
    tree = LedgerTree(
        repository, write(repository, {"ledger/2026-03/01/x": A.id, "ledger/2026-03/02/x": A.id})
    )
    tree.put("ledger/forgotten/record/ab/y.jsonl", B.id)
    tree.put("ledger/2026-03/02/x", C.id)
    assert tree.has_folder("ledger/forgotten")
    assert not tree.has_folder("ledger/blobs")
    assert dict(tree.walk("ledger/forgotten")) == {"ledger/forgotten/record/ab/y.jsonl": B.id}
    assert dict(tree.walk("ledger")) == {
        "ledger/2026-03/01/x": A.id,
        "ledger/2026-03/02/x": C.id,
        "ledger/forgotten/record/ab/y.jsonl": B.id,
    }
    assert dict(tree.walk("ledger/blobs")) == {}
    found = tree.get("ledger/2026-03/02/x")
    assert found
    assert (found.mode, found.id) == (FILE_MODE, C.id)
    assert tree.get("ledger/2026-03/09/x") is None


def test_a_file_in_a_folders_place_is_named() -> None:
    """It cannot be written around."""
    repository = MemoryRepository()
    tree = LedgerTree(repository, write(repository, {"ledger/2026-03": A.id}))
    with pytest.raises(CorruptionError):
        tree.put("ledger/2026-03/01/x", B.id)


def test_what_another_tree_brings_is_named_file_by_file() -> None:
    """Folders that are the same are not looked into; what only ours has is not named."""
    repository = MemoryRepository()
    ours = write(repository, {"l/same/x": A.id, "l/both": A.id, "l/ours": A.id, "l/file": A.id})
    theirs = write(repository, {"l/same/x": A.id, "l/both": B.id, "l/new/y": C.id, "l/file/z": C.id})
    found = {path: (mine and mine.id, entry.id) for path, mine, entry in brought_by(repository, ours, theirs)}
    assert found == {"l/both": (A.id, B.id), "l/new/y": (None, C.id), "l/file/z": (A.id, C.id)}
    assert list(brought_by(repository, ours, ours)) == []
    assert len(list(brought_by(repository, None, theirs))) == 4
