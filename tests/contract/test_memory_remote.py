"""Remotes in memory keep the contract, and fail where they are told to."""

from __future__ import annotations

import pytest

from contract.remote_repository_contract import LINE, MAIN, Peers, RemoteRepositoryContract, turns
from gitmem.errors import RemoteUnreachable
from gitmem.remote_repository import RefUpdate
from gitmem.testing import MemoryRemotes, MemoryRepository

URL = "memory://remote"


@pytest.fixture
def remotes() -> MemoryRemotes:
    """One empty remote."""
    return MemoryRemotes({URL: MemoryRepository()})


@pytest.fixture
def peers(remotes: MemoryRemotes) -> Peers:
    """Two empty repositories."""
    own = MemoryRepository()
    return Peers(
        own,
        remotes.served[URL],
        lambda: remotes.connect(URL, repository=own),
        lambda: remotes.connect("memory://nowhere", repository=own),
    )


class TestMemoryRemote(RemoteRepositoryContract):
    """The contract."""

    @pytest.fixture
    def peers(self, peers: Peers) -> Peers:
        """Two empty repositories."""
        return peers


def test_lost_answer(remotes: MemoryRemotes, peers: Peers) -> None:
    """A push whose answer is lost was done, and says so when it is tried again."""
    ids = turns(peers.own, 1)
    remotes.fail_next("after push")
    with pytest.raises(RemoteUnreachable):
        peers.connect().push([RefUpdate(LINE, None, ids[0])])
    assert peers.connect().push([RefUpdate(LINE, None, ids[0])])[0].accepted


def test_refusals(remotes: MemoryRemotes, peers: Peers) -> None:
    """A checked-out branch and a ref that a hook refuses stay where they are."""
    ids = turns(peers.own, 1)
    remotes.checked_out.add(URL)
    remotes.rejected[LINE] = "no turns here"
    outcomes = peers.connect().push([RefUpdate(MAIN, None, ids[0]), RefUpdate(LINE, None, ids[0])])
    assert [(one.code, one.reason) for one in outcomes] == [
        ("refused", "branch is currently checked out"),
        ("refused", "no turns here"),
    ]
    assert not peers.remote.list_refs("refs/")
