"""A pack from a server is read as Git writes it, and whatever is wrong with it is found."""

from __future__ import annotations

import hashlib
import random
import struct
import subprocess
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import commit_all, make_repo
from gitmem.errors import RemoteMisbehaved
from gitmem.git_objects import hash_object, make_object
from gitmem.git_transport.pack_stream import PackStream, apply_delta
from gitmem.pack_format import build_pack, delta_entry, whole_entry
from gitmem.repository import ObjectKind

LARGEST = 1 << 20


def objects_of(content: bytes, own: dict[str, tuple[ObjectKind, bytes]] | None = None) -> dict[str, bytes]:
    """Return what is in a pack."""
    stream = PackStream(content, (own or {}).get, LARGEST, lambda: None)
    found = list(stream.objects())
    assert all(hash_object(kind, data) == object_id for object_id, kind, data in found)
    return {object_id: data for object_id, _, data in found}


def pack_of(*entries: bytes, count: int | None = None) -> bytes:
    """Return a pack with a right checksum."""
    body = struct.pack(">4sLL", b"PACK", 2, len(entries) if count is None else count) + b"".join(entries)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def entry(number: int, size: int, stream: bytes, base: bytes = b"") -> bytes:
    """Return an entry with the header that is asked for, true or not."""
    byte, size = (number << 4) | (size & 15), size >> 4
    header = bytearray()
    while size:
        header.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    header.append(byte)
    return bytes(header) + base + stream


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose files grow and change, so that Git makes deltas of deltas."""
    repo = make_repo(tmp_path_factory.mktemp("history") / "repo")
    lines = [f"line {number} {random.Random(number).random()}\n" for number in range(300)]
    for number in range(12):
        commit_all(repo, f"c{number}", {"a.txt": "".join(lines[: 100 + 15 * number]), "b/c": f"{number}\n"})
    return repo


@pytest.mark.parametrize("option", ["--delta-base-offset", "--no-reuse-delta"])
def test_packs_of_git(history: Path, option: str) -> None:
    """Every object of a pack by Git is found, with deltas by place and by id."""
    content = subprocess.run(
        ["git", "pack-objects", "--all", "--stdout", "-q", option],
        cwd=history,
        capture_output=True,
        check=True,
    ).stdout
    found = objects_of(content)
    listed = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"],
        cwd=history,
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()
    assert set(found) == set(listed)


def test_thin_packs(history: Path) -> None:
    """A delta of something that is not in the pack is made of what is here; without that it is refused."""
    revisions = b"HEAD\n^HEAD~1\n"
    content = subprocess.run(
        ["git", "pack-objects", "--revs", "--thin", "--stdout", "-q"],
        cwd=history,
        input=revisions,
        capture_output=True,
        check=True,
    ).stdout
    old = subprocess.run(
        ["git", "cat-file", "blob", "HEAD~1:a.txt"], cwd=history, capture_output=True, check=True
    ).stdout
    base = hash_object("blob", old)
    assert len(objects_of(content, {base: ("blob", old)})) == 5
    with pytest.raises(RemoteMisbehaved, match="neither in it nor here"):
        objects_of(content)


def test_stored_as_gitmem_stores_it(history: Path, tmp_path: Path) -> None:
    """What is kept of a pack names each base by its id, and Git finds nothing wrong with it."""
    content = subprocess.run(
        ["git", "pack-objects", "--all", "--stdout", "-q", "--delta-base-offset"],
        cwd=history,
        capture_output=True,
        check=True,
    ).stdout
    stream = PackStream(content, lambda _: None, LARGEST, lambda: None)
    ids = {object_id for object_id, _, _ in stream.objects()}
    entries = list(stream.stored())
    pack = build_pack(entries)
    (tmp_path / "pack-x.pack").write_bytes(pack.content)
    (tmp_path / "pack-x.idx").write_bytes(pack.index)
    subprocess.run(["git", "verify-pack", str(tmp_path / "pack-x.idx")], check=True)
    assert {one.id for one in entries} == ids
    assert any(one.raw[0] >> 4 & 7 == 7 for one in entries)


@given(st.binary(max_size=3000), st.data())
def test_damage_is_an_error_of_the_remote(junk: bytes, data: st.DataObject) -> None:
    """Whatever bytes come, the answer is objects whose ids are true, or an error of the remote."""
    text = b"".join(b"%d\n" % number for number in range(200))
    one, two = make_object("blob", text), make_object("blob", text + junk)
    delta = delta_entry(two.id, two.content, one.id, one.content)
    pack = build_pack([whole_entry(one), delta or whole_entry(two)]).content
    at = data.draw(st.integers(0, len(pack) - 1))
    damaged = pack[:at] + bytes([pack[at] ^ data.draw(st.integers(1, 255))]) + pack[at + 1 :]
    for content in (junk, b"PACK\0\0\0\2" + junk, damaged, damaged[: at + 1], resealed(damaged)):
        with suppress(RemoteMisbehaved):
            objects_of(content)


def resealed(pack: bytes) -> bytes:
    """Return a pack with its checksum made right, as a server would that means it."""
    return pack[:-20] + hashlib.sha1(pack[:-20], usedforsecurity=False).digest()


BOMB = zlib.compress(bytes(LARGEST * 4))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a pack"),
        (pack_of(count=1), "too short"),
        (pack_of(entry(3, 1, zlib.compress(b"x")), count=2**32 - 1), "too short"),
        (pack_of(entry(3, 1 << 40, zlib.compress(b"x"))), "more than allowed"),
        (pack_of(b"\xbf" + b"\xff" * 30), "never ends"),
        (pack_of(entry(3, 1, BOMB)), "another length"),
        (pack_of(entry(3, 9, zlib.compress(b"x"))), "another length"),
        (pack_of(entry(3, 1, b"not zlib at all")), "does not inflate"),
        (pack_of(entry(5, 1, zlib.compress(b"x"))), "type 5"),
        (pack_of(entry(6, 1, zlib.compress(b"x"), b"\x01")), "outside"),
        (pack_of(entry(6, 1, zlib.compress(b"x"), b"\x7f")), "outside"),
        (pack_of(entry(7, 1, zlib.compress(b"x"), bytes(20))), "neither in it nor here"),
        (pack_of(entry(3, 1, zlib.compress(b"x")), b"and more", count=1), "more in it"),
        (pack_of(entry(3, 1, zlib.compress(b"x")))[:-1] + b"\0", "checksum"),
    ],
)
def test_lies(content: bytes, reason: str) -> None:
    """Huge claims, bombs and broken structures are refused before they cost anything."""
    with pytest.raises(RemoteMisbehaved, match=reason):
        objects_of(content)


@pytest.mark.parametrize(
    "delta",
    [
        b"",
        b"\x03\x03\x00",  # a command that means nothing
        b"\x03\x03\x91\x02\x03",  # copies behind the end of the base
        b"\x03\x05\x05ab",  # inserts more than there is
        b"\x04\x03\x90\x03",  # another base
        b"\x03\x04\x90\x03",  # makes less than it says
        b"\x03\x02\x90\x03",  # makes more than it says
        b"\x03" + b"\xff" * 12,  # a length that never ends
        b"\x03\xff\xff\xff\x7f",  # more than is taken
    ],
)
def test_deltas_that_do_not_fit(delta: bytes) -> None:
    """A delta makes exactly what it says of exactly its base."""
    assert apply_delta(b"abc", b"\x03\x03\x90\x03", LARGEST) == b"abc"
    with pytest.raises(RemoteMisbehaved):
        apply_delta(b"abc", delta, LARGEST)
