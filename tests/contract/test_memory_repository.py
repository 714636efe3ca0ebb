"""The repository in memory keeps the contract, and fails where it is told to."""

from __future__ import annotations

import pytest

from contract.repository_contract import LINE, WHO, RepositoryContract, commit_of
from gitmem.git_objects import make_tree
from gitmem.repository import ABSENT, Repository
from gitmem.testing import FaultPoint, MemoryRepository


@pytest.fixture
def repository() -> Repository:
    """A fresh one."""
    return MemoryRepository()


class TestMemoryRepository(RepositoryContract):
    """The contract."""


TREE = make_tree([])
COMMIT = commit_of(TREE)


@pytest.mark.parametrize(
    ("point", "written", "moved"),
    [
        ("before write_pack", False, False),
        ("after write_pack", True, False),
        ("before move_ref", True, False),
        ("after move_ref", True, True),
    ],
)
def test_faults_strike_once_and_where_they_say(point: FaultPoint, written: bool, moved: bool) -> None:
    """A test of recovery can rely on what had happened before the fault and what had not."""
    memory = MemoryRepository()
    memory.fail_next(point)
    with pytest.raises(OSError, match="space"), memory.write_pack([TREE, COMMIT]):
        memory.move_ref(LINE, old=ABSENT, new=COMMIT.id, message="", who=WHO)
    assert memory.contains(COMMIT.id) is written
    assert (memory.read_ref(LINE) is not None) is moved
    with memory.write_pack([TREE, COMMIT]):
        assert memory.prune() == set()
    assert memory.prune() == (set() if moved else {TREE.id, COMMIT.id})


def test_a_power_cut_takes_unsettled_moves() -> None:
    """Only what `settle_refs` made durable is there afterwards, as on a disk."""
    memory = MemoryRepository()
    memory.move_ref(LINE, old=ABSENT, new=COMMIT.id, message="", who=WHO)
    memory.settle_refs()
    memory.move_ref(LINE, old=COMMIT.id, new=ABSENT, message="", who=WHO)
    memory.cut_power()
    assert memory.read_ref(LINE) == COMMIT.id
