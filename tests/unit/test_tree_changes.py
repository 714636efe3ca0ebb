"""What changed between two folders: the same whether they are decoded whole or only where they differ."""

from __future__ import annotations

from hashlib import sha1

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.git_objects import make_tree
from gitmem.repository import FILE_MODE, TreeEntry
from gitmem.testing.memory_repository import MemoryRepository
from gitmem.tree_changes import changed_paths

NAMES = [f"2026-11-{number:02d}-episode-{number:03d}.md" for number in range(60)]
#: Ids in which there are bytes that end a name, and bytes that look like an entry.
IDS = [sha1(b"one").hexdigest(), "00" * 20, b"100644 evil\0evilevile".hex()[:40].ljust(40, "0")]

folders = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(IDS), min_size=42)


def folder(repository: MemoryRepository, files: dict[str, str]) -> str:
    """Put a folder there and return its id."""
    tree = make_tree([TreeEntry(name, FILE_MODE, blob) for name, blob in files.items()])
    repository.objects[tree.id] = (tree.kind, tree.content)
    return tree.id


@given(folders, folders)
def test_every_difference_of_two_folders_is_told(one: dict[str, str], other: dict[str, str]) -> None:
    """Folders that share much and folders that share nothing, entries added, gone and changed."""
    repository = MemoryRepository()
    found = {
        change.path: (change.old and change.old.id, change.new and change.new.id)
        for change in changed_paths(repository, folder(repository, one), folder(repository, other))
    }
    names = one.keys() | other.keys()
    assert found == {
        name: (one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name)
    }


@pytest.mark.parametrize("where", [0, 30, 59])
@pytest.mark.parametrize("what", ["changed", "gone"])
def test_one_difference_in_a_large_folder(where: int, what: str) -> None:
    """Only the entry that differs is told, at the start, in the middle and at the end."""
    repository = MemoryRepository()
    files = dict.fromkeys(NAMES, IDS[1])
    later = {**files, NAMES[where]: IDS[2]}
    if what == "gone":
        del later[NAMES[where]]
    (change,) = changed_paths(repository, folder(repository, files), folder(repository, later))
    assert change.path == NAMES[where]
