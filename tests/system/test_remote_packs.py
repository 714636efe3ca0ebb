"""What comes from a remote is whole, sound and no larger than allowed, or nothing of it is kept."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from contract.remote_repository_contract import LINE, MAIN, TAG, set_ref, tag_of, turns
from contract.repository_contract import commit_of
from fixtures import commit_all, fsck, git, head, make_repo
from gitmem.backends.dulwich_repository import open_repository
from gitmem.errors import (
    RemoteError,
    RemoteMisbehaved,
)
from gitmem.git_objects import make_object, make_tree
from gitmem.git_transport.connect import RemoteConnector
from gitmem.layout import find_layout
from gitmem.pack_maintenance import merge_packs
from gitmem.remote_repository import RefUpdate, TransferLimits
from gitmem.repository import ABSENT, FILE_MODE, TREE_MODE, TreeEntry
from remote_peers import (
    Own,
    bare,
    commit_pack,
    history,
    listening,
    old_server,
    pkt,
    saying,
)

pytestmark = pytest.mark.usefixtures("no_proxy")

A = "a" * 40


# What arrives.


@pytest.mark.parametrize("missing", ["blob", "tree", "commit"])
def test_too_little(own: Own, tmp_path: Path, missing: str) -> None:
    """A pack that lacks something is refused whole."""
    tip, pack = commit_pack(bare(tmp_path / "x.git"), missing)
    with listening(old_server(tip, pack=pack)) as port:
        remote = own.connect(f"git://127.0.0.1:{port}/a.git")
        assert remote.refs().refs == {LINE: tip}
        with pytest.raises(RemoteMisbehaved, match="is missing"), remote.fetch([tip]):
            raise AssertionError
    assert own.is_clean()


def test_something_else(own: Own, tmp_path: Path) -> None:
    """A sound pack of other things than what was asked for is refused."""
    _, pack = commit_pack(bare(tmp_path / "x.git"))
    with listening(old_server(A, pack=pack)) as port:
        remote = own.connect(f"git://127.0.0.1:{port}/a.git")
        with pytest.raises(RemoteMisbehaved, match=A), remote.fetch([A]):
            raise AssertionError
    assert own.is_clean()


def test_too_much(own: Own, tmp_path: Path) -> None:
    """A pack that is larger than allowed is not read to its end."""
    tip, pack = commit_pack(bare(tmp_path / "x.git"))
    limits = TransferLimits(30, pack_bytes=len(pack) - 1)
    with listening(old_server(tip, pack=pack)) as port:
        remote = own.connect(f"git://127.0.0.1:{port}/a.git", limits)
        with pytest.raises(RemoteMisbehaved, match="allowed"), remote.fetch([tip]):
            raise AssertionError
    assert own.is_clean()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_pack_that_breaks_off(own: Own, tmp_path: Path, share: float) -> None:
    """A connection that breaks leaves nothing in the store."""
    tip, pack = commit_pack(bare(tmp_path / "x.git"))
    shown = pkt(f"{tip} {LINE}\0side-band-64k\n".encode()) + b"0000"
    half = pkt(b"NAK\n") + pkt(b"\x01" + pack[: int(share * len(pack))])
    for end in (b"", b"0000", pkt(b"\x03out of memory")):
        with listening(saying(shown, half + end)) as port:
            remote = own.connect(f"git://127.0.0.1:{port}/a.git")
            with pytest.raises(RemoteError), remote.fetch([tip]):
                raise AssertionError
    assert own.is_clean()


def test_what_is_done_with_the_pack_fails(own: Own, tmp_path: Path) -> None:
    """Where the refs cannot be moved the pack stays for another time, and nothing holds it."""
    remote = bare(tmp_path / "x.git")
    tip = turns(remote, 2)[-1]
    set_ref(remote, LINE, tip)
    with pytest.raises(ZeroDivisionError), own.connect(tmp_path / "x.git").fetch([tip]):
        raise ZeroDivisionError
    assert own.repository.contains(tip)
    assert not list((own.path / ".git/objects/pack").glob("*.keep"))


def test_a_whole_history(own: Own, tmp_path: Path) -> None:
    """A long history comes and goes as one pack, which fits among gitmem's own and can be merged."""
    served, other = tmp_path / "x.git", tmp_path / "y.git"
    bare(served)
    bare(other)
    tip = history(served, 1100)
    with own.connect(served).fetch([tip]) as pack:
        assert pack.objects > 3000
        (kept,) = (own.path / ".git/objects/pack").glob("*.keep")
        assert kept.name.startswith("pack-")
        set_ref(own.repository, LINE, tip)
    assert own.connect(other).push([RefUpdate(LINE, None, tip)])[0].accepted
    for number in range(40):
        turns(own.repository, 1, name=f"n{number}")
    merge_packs(find_layout(own.path), seconds=60)
    for path in (own.path, other):
        fsck(path)
    assert head(other, LINE) == tip


@pytest.mark.parametrize("program", ["git", None])
def test_many_turns_go_as_deltas(own: Own, tmp_path: Path, program: str | None) -> None:
    """A first push takes little more room than Git's own, although Git makes no deltas of it afterwards."""
    for name in ("ours.git", "theirs.git", "back"):
        bare(tmp_path / name)
    text = b"".join(b"%d %d\n" % (n, random.Random(n).getrandbits(200)) for n in range(120))
    tip = None
    for number in range(120):
        blob = make_object("blob", text[: (number + 1) * len(text) // 120])
        tree = make_tree([TreeEntry("a.jsonl", FILE_MODE, blob.id)])
        top = make_tree([TreeEntry("ledger", TREE_MODE, tree.id)])
        commit = commit_of(
            top, *([tip] if tip else []), seconds=1_772_442_000 + number, message=f"{number}\n"
        )
        with own.repository.write_pack([blob, tree, top, commit]):
            set_ref(own.repository, LINE, commit.id, old=tip or ABSENT)
        tip = commit.id
    assert tip is not None
    own.connect(tmp_path / "ours.git", program=program).push([RefUpdate(LINE, None, tip)])
    git("push", "-q", str(tmp_path / "theirs.git"), LINE, cwd=own.path)
    sizes = [
        sum(one.stat().st_size for one in (tmp_path / name / "objects/pack").glob("*.pack"))
        for name in ("ours.git", "theirs.git")
    ]
    assert sizes[0] <= 1.15 * sizes[1]
    fsck(tmp_path / "ours.git")
    with Own(tmp_path / "again").connect(tmp_path / "ours.git", program=program).fetch([tip]) as pack:
        assert pack.objects == 480
    fsck(tmp_path / "again")


def test_a_remote_that_lacks_what_it_should_have(own: Own, tmp_path: Path) -> None:
    """A turn still goes where an old version of its segment was lost there: without a delta of that."""
    served = tmp_path / "x.git"
    remote = bare(served)
    ids = turns(own.repository, 60)
    way = own.connect(served)
    way.push([RefUpdate(LINE, None, ids[0])])
    way.push([RefUpdate(LINE, ids[0], ids[-2])])
    lost = git("rev-parse", f"{ids[-2]}:ledger/a.jsonl", cwd=own.path)
    packs = [*(served / "objects/pack").iterdir()]
    held = tmp_path / "held"
    held.mkdir()
    for pack in packs:
        pack.rename(held / pack.name)
    for pack in held.glob("*.pack"):
        git("unpack-objects", "-q", cwd=served, stdin=pack.read_bytes())
    (served / "objects" / lost[:2] / lost[2:]).unlink()
    remote.close()
    assert way.push([RefUpdate(LINE, ids[-2], ids[-1])])[0].accepted
    assert git("cat-file", "-p", f"{LINE}:ledger/a.jsonl", cwd=served).endswith("59 a")


def test_a_pack_larger_than_memory_should_hold(own: Own, tmp_path: Path) -> None:
    """A large pack goes through a file without a name, of which nothing is left, also where it is refused."""
    served = bare(tmp_path / "x.git")
    big = make_object("blob", os.urandom(6 << 20))
    with served.write_pack([big]):
        set_ref(served, "refs/big", big.id)
    with (
        pytest.raises(RemoteMisbehaved, match="allowed"),
        own.connect(tmp_path / "x.git", TransferLimits(30, object_bytes=1 << 20)).fetch([big.id]),
    ):
        raise AssertionError
    assert own.is_clean()
    with own.connect(tmp_path / "x.git").fetch([big.id]) as pack:
        assert pack.bytes > 6 << 20
    assert own.repository.read(big.id) == ("blob", big.content)


def test_a_partial_clone_as_remote(own: Own, tmp_path: Path) -> None:
    """From a clone without file contents either all of it comes, or nothing, with a word."""
    source = make_repo(tmp_path / "source")
    tip = commit_all(source, files={"a": "a" * 1000})
    git("config", "uploadpack.allowFilter", "true", cwd=source)
    git("clone", "-q", "--bare", "--filter=blob:none", f"file://{source}", "part.git", cwd=tmp_path)
    (source / ".git").rename(source / "gone")
    with pytest.raises(RemoteError), own.connect(tmp_path / "part.git").fetch([tip]):
        raise AssertionError
    with pytest.raises(RemoteError), own.connect(tmp_path / "part.git", program=None).fetch([tip]):
        raise AssertionError
    assert own.is_clean()


def test_the_largest_pack_is_a_setting(own: Own, tmp_path: Path) -> None:
    """How large a pack may be that a machine takes is said by its configuration."""
    served = bare(tmp_path / "x.git")
    big = make_object("blob", os.urandom(2 << 20))
    with served.write_pack([big]):
        set_ref(served, "refs/big", big.id)
    own.repository.set_config("gitmem.sync.packMiB", "1")
    with pytest.raises(RemoteMisbehaved, match="1048576"), own.connect(tmp_path / "x.git").fetch([big.id]):
        raise AssertionError


# Histories that are cut off.


def test_own_shallow_clone(tmp_path: Path) -> None:
    """OPEN-GIT-29: a shallow clone fetches and pushes what is above its edge."""
    served = tmp_path / "x.git"
    remote = bare(served)
    ids = turns(remote, 6)
    set_ref(remote, MAIN, ids[3])
    git("clone", "-q", "--depth=1", f"file://{served}", str(tmp_path / "shallow"), cwd=tmp_path)
    own = open_repository(find_layout(tmp_path / "shallow"))
    way = RemoteConnector(find_layout(tmp_path / "shallow")).connect(str(served), repository=own)
    set_ref(remote, MAIN, ids[5], old=ids[3])
    with way.fetch([ids[5]], [ids[3]]) as pack:
        assert pack.objects == 8
    more = turns(own, 1, after=ids[5], name="more")[-1]
    assert way.push([RefUpdate(MAIN, ids[5], more), RefUpdate(LINE, None, more)])[1].accepted
    assert head(served, MAIN) == more
    fsck(served)
    fsck(tmp_path / "shallow")


def test_shallow_remote(own: Own, tmp_path: Path) -> None:
    """From a remote whose history is cut off nothing comes that would be incomplete here, with a word why."""
    source = make_repo(tmp_path / "source")
    ids = [commit_all(source, f"c{number}", {"a": str(number)}) for number in range(4)]
    git("clone", "-q", "--bare", "--depth=1", f"file://{source}", str(tmp_path / "cut.git"), cwd=tmp_path)
    for settings in ({}, {"protocol.version": "0"}):
        for key, value in settings.items():
            git("config", key, value, cwd=tmp_path / "cut.git")
        with (
            pytest.raises(RemoteError, match=r"cut off|missing"),
            own.connect(tmp_path / "cut.git").fetch([ids[-1]]),
        ):
            raise AssertionError
    assert own.is_clean()
    with own.connect(source).fetch([ids[2]], []), pytest.MonkeyPatch.context():
        set_ref(own.repository, MAIN, ids[2])
    with own.connect(tmp_path / "cut.git").fetch([ids[-1]], [ids[2]]):
        set_ref(own.repository, MAIN, ids[-1], old=ids[2])
    fsck(own.path)


def test_a_tag_that_was_there_comes_no_more(own: Own, tmp_path: Path) -> None:
    """A push after the remote lost what it had: the tag and the turns behind it are sent again."""
    served = tmp_path / "x.git"
    bare(served)
    ids = turns(own.repository, 3)
    tag = tag_of(ids[1])
    with own.repository.write_pack([tag]):
        set_ref(own.repository, TAG, tag.id)
    way = own.connect(served)
    way.push([RefUpdate(LINE, None, ids[2]), RefUpdate(TAG, None, tag.id)])
    git("update-ref", "-d", LINE, cwd=served)
    git("update-ref", "-d", TAG, cwd=served)
    git("prune", "--expire=now", cwd=served)
    assert way.push([RefUpdate(TAG, None, tag.id)])[0].accepted
    fsck(served)
