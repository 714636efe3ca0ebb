"""What a push sends takes little room: one version of each file, and deltas of it."""

from __future__ import annotations

from contract.repository_contract import put
from gitmem.git_objects import make_object
from gitmem.git_transport.pack_entries import pack_entries
from gitmem.git_transport.pack_stream import PackStream
from gitmem.pack_format import build_pack, parse_entry
from gitmem.testing import MemoryRepository
from gitmem.transfer_walk import LackingObject

TEXT = b"".join(b"line %d of a ledger\n" % number for number in range(400))


def test_the_longest_version_is_the_base() -> None:
    """Older versions are nearly nothing, and what they were comes back from them."""
    own = MemoryRepository()
    versions = [make_object("blob", TEXT[: 1000 * (number + 1)]) for number in range(5)]
    alone = make_object("blob", b"alone")
    put(own, *versions, alone)
    lacking = [*(LackingObject(one.id, "/a") for one in versions), LackingObject(alone.id, "/b")]
    entries = list(pack_entries(own, lacking, thin=False, pulse=lambda: None))
    assert {entry.id for entry in entries} == {one.id for one in lacking}
    bases = {entry.id: parse_entry(entry.raw).base for entry in entries}
    assert [bases[one.id] for one in versions] == [versions[-1].id] * 4 + [None]
    assert all(len(entry.raw) < 60 for entry in entries if bases[entry.id])
    stream = PackStream(build_pack(entries).content, lambda _: None, 1 << 20, lambda: None)
    assert {name: body for name, _, body in stream.objects()} == {
        one.id: one.content for one in [*versions, alone]
    }


def test_a_thin_pack_builds_on_what_the_remote_has() -> None:
    """One more turn goes as what it added to the version before; not where a remote cannot complete that."""
    own = MemoryRepository()
    old, new = make_object("blob", TEXT[:7000]), make_object("blob", TEXT[:7100])
    put(own, old, new)
    lacking = [LackingObject(new.id, "/a", old.id)]
    (thin,) = pack_entries(own, lacking, thin=True, pulse=lambda: None)
    (whole,) = pack_entries(own, lacking, thin=False, pulse=lambda: None)
    assert (parse_entry(thin.raw).base, parse_entry(whole.raw).base) == (old.id, None)
    assert len(thin.raw) * 3 < len(whole.raw)


def test_no_delta_waits_for_itself() -> None:
    """What stood before and is sent as well is no base: where clocks differ it comes later."""
    own = MemoryRepository()
    old, new = make_object("blob", TEXT[:7000]), make_object("blob", TEXT[:7100])
    put(own, old, new)
    lacking = [LackingObject(new.id, "/a", old.id), LackingObject(old.id, "/a")]
    entries = pack_entries(own, lacking, thin=True, pulse=lambda: None)
    assert {entry.id: parse_entry(entry.raw).base for entry in entries} == {new.id: None, old.id: new.id}


def test_what_shares_nothing_goes_whole() -> None:
    """A file that was written anew is no delta, and neither is one that became something else."""
    own = MemoryRepository()
    one, other = make_object("blob", TEXT), make_object("blob", TEXT[::-1])
    link = make_object("tree", b"")
    put(own, one, other, link)
    lacking = [LackingObject(item.id, "/a") for item in (one, other, link)]
    entries = list(pack_entries(own, lacking, thin=True, pulse=lambda: None))
    assert [parse_entry(entry.raw).base for entry in entries] == [None] * 3
