"""What every implementation of `gitmem.remote_repository.RemoteRepository` must do; to be inherited."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from contract.repository_contract import GONE, WHO, commit_of, put, put_chain
from gitmem.errors import NotARepository, ObjectMissing, RemoteError, UsageError
from gitmem.git_objects import make_object, make_tag, make_tree
from gitmem.remote_repository import RefOutcome, RefUpdate, RemoteRefs, RemoteRepository
from gitmem.repository import ABSENT, FILE_MODE, TREE_MODE, GitObject, Repository, TreeEntry
from gitmem.transfer_walk import links_of

MAIN = "refs/heads/main"
LINE = "refs/heads/gitmem/turns/w0123abcd"
TAG = "refs/tags/episode/e1"


@dataclass
class Peers:
    """Two repositories and the way from one to the other.

    Attributes:
        own: one's own.
        remote: the other one, as it is on its own machine.
        connect: returns the remote for any repository, by default the own one.
        nowhere: returns a remote where there is no repository.
    """

    own: Repository
    remote: Repository
    connect: Callable[[], RemoteRepository]
    nowhere: Callable[[], RemoteRepository]


def turns(repository: Repository, count: int, *, after: str | None = None, name: str = "a") -> list[str]:
    """Write commits whose trees grow like a ledger's, and return their ids, oldest first."""
    ids = [] if after is None else [after]
    for number in range(count):
        blob = make_object("blob", b"".join(b"%d %s\n" % (n, name.encode()) for n in range(number + 1)))
        day = make_tree([TreeEntry(f"{name}.jsonl", FILE_MODE, blob.id)])
        top = make_tree([TreeEntry("ledger", TREE_MODE, day.id)])
        commit = commit_of(top, *ids[-1:], seconds=1_772_442_000 + 10 * number, message=f"{name} {number}\n")
        put(repository, blob, day, top, commit)
        ids.append(commit.id)
    return ids if after is None else ids[1:]


def tag_of(commit: str, name: str = "episode/e1") -> GitObject:
    """Return an annotated tag."""
    return make_tag(target=commit, name=name, tagger=WHO, seconds=1_772_442_000, message="an episode\n")


def set_ref(repository: Repository, name: str, new: str, *, old: str = ABSENT) -> None:
    """Move a ref."""
    repository.move_ref(name, old=old, new=new, message="test", who=WHO)


def everything(repository: Repository, *tips: str) -> Iterator[str]:
    """Yield the ids of all that is behind some objects; fail if anything is missing."""
    waiting, seen = [*tips], set()
    while waiting:
        object_id = waiting.pop()
        if object_id not in seen:
            seen.add(object_id)
            yield object_id
            waiting += [link for link, _ in links_of(object_id, *repository.read(object_id))]


class RemoteRepositoryContract:
    """Inherit it and give the fixture `peers`, whose repositories are empty."""

    @pytest.fixture
    def peers(self) -> Peers:
        """Two empty repositories."""
        raise NotImplementedError

    def test_an_empty_remote_has_no_refs(self, peers: Peers) -> None:
        """An empty remote is a remote without refs, and not an error."""
        assert peers.connect().refs().refs == {}

    def test_push_and_see(self, peers: Peers) -> None:
        """A branch and a tag go in one push, with all that they need, and the remote shows them."""
        ids = turns(peers.own, 4)
        tag = tag_of(ids[1])
        put(peers.own, tag)
        remote = peers.connect()
        outcomes = remote.push([RefUpdate(LINE, None, ids[-1]), RefUpdate(TAG, None, tag.id)])
        assert outcomes == (RefOutcome(LINE), RefOutcome(TAG))
        assert len(list(everything(peers.remote, ids[-1], tag.id))) == 4 * 4 + 1
        shown = remote.refs()
        assert shown == RemoteRefs({LINE: ids[-1], TAG: tag.id}, shown.head, {TAG: ids[1]})

    def test_prefixes(self, peers: Peers) -> None:
        """Only the refs that were asked for come, and HEAD's branch with them."""
        ids = turns(peers.remote, 1)
        tag = tag_of(ids[0])
        put(peers.remote, tag)
        for name in (MAIN, LINE, "refs/tags/other"):
            set_ref(peers.remote, name, ids[0])
        set_ref(peers.remote, TAG, tag.id)
        shown = peers.connect().refs(["refs/heads/gitmem/", "refs/tags/episode/"])
        assert shown == RemoteRefs({LINE: ids[0], TAG: tag.id}, MAIN, {TAG: ids[0]})

    def test_fetch(self, peers: Peers) -> None:
        """What was asked for is in the store with all that it needs, and refs may be moved to it."""
        ids = turns(peers.remote, 3)
        tag = tag_of(ids[-1])
        put(peers.remote, tag)
        set_ref(peers.remote, LINE, ids[-1])
        set_ref(peers.remote, TAG, tag.id)
        remote = peers.connect()
        with remote.fetch([ids[-1], tag.id]) as pack:
            assert pack.objects == 3 * 4 + 1
            assert pack.bytes > 0
            set_ref(peers.own, LINE, ids[-1])
        assert len(list(everything(peers.own, ids[-1], tag.id))) == pack.objects

    def test_fetch_of_what_is_here_brings_nothing(self, peers: Peers) -> None:
        """A second fetch of the same is free."""
        ids = turns(peers.remote, 2)
        set_ref(peers.remote, LINE, ids[-1])
        remote = peers.connect()
        with remote.fetch([ids[-1]]):
            pass
        with remote.fetch([ids[-1]]) as pack:
            assert (pack.objects, pack.bytes) == (0, 0)

    def test_fetch_brings_only_what_is_new(self, peers: Peers) -> None:
        """With what is known named, a fetch brings one turn, however many there were before."""
        ids = turns(peers.remote, 30)
        set_ref(peers.remote, LINE, ids[-2])
        remote = peers.connect()
        with remote.fetch([ids[-2]]):
            set_ref(peers.own, LINE, ids[-2])
        set_ref(peers.remote, LINE, ids[-1], old=ids[-2])
        shown = remote.refs([LINE]).refs[LINE]
        with remote.fetch([shown], [ids[-2], GONE]) as pack:
            assert pack.objects == 4
        assert len(list(everything(peers.own, ids[-1]))) == 30 * 4

    def test_fetch_of_what_the_remote_does_not_show(self, peers: Peers) -> None:
        """What no ref of the remote has cannot be fetched, and nothing changes."""
        ids = turns(peers.remote, 2)
        set_ref(peers.remote, LINE, ids[-1])
        with pytest.raises(RemoteError), peers.connect().fetch([GONE]):
            pass
        assert not peers.own.contains(ids[-1])

    def test_push_of_one_more_turn(self, peers: Peers) -> None:
        """The next push of a line moves it on."""
        ids = turns(peers.own, 5)
        remote = peers.connect()
        remote.push([RefUpdate(LINE, None, ids[3])])
        assert remote.push([RefUpdate(LINE, ids[3], ids[4])]) == (RefOutcome(LINE),)
        assert len(list(everything(peers.remote, ids[4]))) == 5 * 4

    def test_push_of_a_merge(self, peers: Peers) -> None:
        """A commit with parents from two lines arrives whole, whichever of them the remote has."""
        one, two = turns(peers.own, 3, name="a"), turns(peers.own, 3, name="b")
        tree = make_tree([TreeEntry("x", TREE_MODE, peers.own.read_commit(two[2]).tree)])
        merge = commit_of(tree, one[2], two[1], seconds=1_772_442_900)
        put(peers.own, tree, merge)
        remote = peers.connect()
        remote.push([RefUpdate(LINE, None, one[1]), RefUpdate(MAIN, None, two[2])])
        assert remote.push([RefUpdate(LINE, one[1], merge.id)]) == (RefOutcome(LINE),)
        assert len(list(everything(peers.remote, merge.id, two[2]))) == 6 * 4 + 2

    def test_what_is_there_already_is_accepted(self, peers: Peers) -> None:
        """A push that was done before, whose answer was lost, is done; whatever value was expected."""
        ids = turns(peers.own, 2)
        remote = peers.connect()
        remote.push([RefUpdate(LINE, None, ids[1])])
        assert remote.push([RefUpdate(LINE, ids[0], ids[1])]) == (RefOutcome(LINE),)

    def test_a_ref_that_moved(self, peers: Peers) -> None:
        """A ref is moved only from the value that the caller expects."""
        ids = turns(peers.own, 3)
        remote = peers.connect()
        remote.push([RefUpdate(LINE, None, ids[1])])
        outcomes = remote.push([RefUpdate(LINE, ids[0], ids[2]), RefUpdate(MAIN, ids[0], ids[2])])
        assert [outcome.code for outcome in outcomes] == ["moved", "moved"]
        assert dict(peers.remote.list_refs("refs/")) == {LINE: ids[1]}

    def test_foreign_commits_are_fetched_first(self, peers: Peers) -> None:
        """No push goes over commits that are not here; the others of the same push go through."""
        theirs, ours = turns(peers.remote, 2, name="theirs"), turns(peers.own, 2, name="ours")
        set_ref(peers.remote, MAIN, theirs[1])
        updates = [RefUpdate(MAIN, theirs[1], ours[1]), RefUpdate(LINE, None, ours[1])]
        outcomes = peers.connect().push(updates)
        assert [(one.name, one.code) for one in outcomes] == [(MAIN, "fetch_first"), (LINE, "accepted")]
        assert "fetch first" in outcomes[0].reason
        assert dict(peers.remote.list_refs("refs/heads/")) == {MAIN: theirs[1], LINE: ours[1]}

    def test_nothing_is_rewritten(self, peers: Peers) -> None:
        """A branch does not move to a commit that does not follow its value, known as that may be.

        OPEN-GIT-27: a sync tool met such a case, forced its push and wiped the only backup.
        """
        ids = turns(peers.own, 3)
        fork = turns(peers.own, 1, after=ids[0], name="fork")
        remote = peers.connect()
        remote.push([RefUpdate(LINE, None, ids[2])])
        for other in (ids[1], fork[0]):
            (outcome,) = remote.push([RefUpdate(LINE, ids[2], other)])
            assert outcome.code == "fetch_first"
        assert peers.remote.read_ref(LINE) == ids[2]

    def test_tags_are_never_moved(self, peers: Peers) -> None:
        """A tag stays where it is, also where it could move forwards.

        OPEN-GIT-04: an episode changed because its tag did.
        """
        ids = turns(peers.own, 2)
        tags = [tag_of(commit) for commit in ids]
        put(peers.own, *tags)
        remote = peers.connect()
        remote.push([RefUpdate(TAG, None, tags[0].id)])
        (outcome,) = remote.push([RefUpdate(TAG, tags[0].id, tags[1].id)])
        assert outcome.code == "refused"
        assert tags[0].id[:10] in outcome.reason
        assert peers.remote.read_ref(TAG) == tags[0].id

    def test_deletion_is_asked_for(self, peers: Peers) -> None:
        """A ref goes where a caller asks for just that, and only from the value that it expects."""
        ids = turns(peers.own, 2)
        remote = peers.connect()
        remote.push([RefUpdate(LINE, None, ids[1]), RefUpdate(MAIN, None, ids[1])])
        (outcome,) = remote.push([RefUpdate(LINE, ids[0], None)])
        assert outcome.code == "moved"
        assert remote.push([RefUpdate(LINE, ids[1], None)]) == (RefOutcome(LINE),)
        assert remote.push([RefUpdate(LINE, ids[1], None)]) == (RefOutcome(LINE),)
        assert dict(peers.remote.list_refs("refs/")) == {MAIN: ids[1]}

    def test_calls_that_can_never_be_right(self, peers: Peers) -> None:
        """A name that is none, a name twice, nothing to do, a value that is not here: refused at once."""
        ids = turns(peers.own, 1)
        remote = peers.connect()
        update = RefUpdate(LINE, None, ids[0])
        for wrong in (replace(update, name="main"), replace(update, new=None)):
            with pytest.raises(UsageError):
                remote.push([wrong])
        with pytest.raises(UsageError):
            remote.push([update, update])
        with pytest.raises(ObjectMissing):
            remote.push([replace(update, new=GONE)])
        assert not peers.remote.list_refs("refs/")

    def test_no_repository(self, peers: Peers) -> None:
        """A wrong address is told from a network that fails."""
        with pytest.raises(NotARepository):
            peers.nowhere().refs()

    def test_a_chain_with_one_tree(self, peers: Peers) -> None:
        """Commits that change nothing travel too."""
        ids = put_chain(peers.own, 3)
        assert peers.connect().push([RefUpdate(LINE, None, ids[2])]) == (RefOutcome(LINE),)
        assert len(list(everything(peers.remote, ids[2]))) == 4

    def test_large_files(self, peers: Peers) -> None:
        """A file that fills every buffer on the way goes there and comes back."""
        blob = make_object("blob", random.Random(7).randbytes(3 << 20))
        tree = make_tree([TreeEntry("large", FILE_MODE, blob.id)])
        mine = commit_of(tree, message="mine\n")
        put(peers.own, blob, tree, mine)
        remote = peers.connect()
        assert remote.push([RefUpdate(LINE, None, mine.id)]) == (RefOutcome(LINE),)
        assert peers.remote.read(blob.id) == ("blob", blob.content)
        other = make_object("blob", random.Random(8).randbytes(5 << 20))
        tree = make_tree([TreeEntry("large", FILE_MODE, other.id)])
        theirs = commit_of(tree, mine.id, message="theirs\n")
        put(peers.remote, other, tree, theirs)
        set_ref(peers.remote, MAIN, theirs.id)
        with remote.fetch([remote.refs().refs[MAIN]], [mine.id]) as pack:
            assert pack.objects == 3
        assert peers.own.read(other.id) == ("blob", other.content)
