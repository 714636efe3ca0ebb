"""Packs as bytes: Git and dulwich must read what is written, and own readers must notice what is damaged."""

from __future__ import annotations

import hashlib
import random
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import git, make_repo, run_git
from gitmem.errors import CorruptionError
from gitmem.git_objects import make_object
from gitmem.pack_format import (
    PackAssembler,
    PackEntry,
    build_pack,
    common_end,
    common_start,
    delta_entry,
    ids_between,
    index_holds,
    inflate,
    parse_entry,
    parse_index,
    whole_entry,
)
from gitmem.repository import GitObject, ObjectKind

KINDS: tuple[ObjectKind, ...] = ("commit", "tree", "blob", "tag")


def apply_delta(entry: PackEntry, base: bytes) -> bytes:
    """Undo a delta by Git's documented format; written apart from the code that makes it."""
    parsed = parse_entry(entry.raw)
    delta = zlib.decompress(entry.raw[parsed.stream_at :])
    assert len(delta) == parsed.size
    at, sizes = 0, []
    for _ in range(2):
        value = shift = 0
        while True:
            byte = delta[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        sizes.append(value)
    assert sizes[0] == len(base)
    out = b""
    while at < len(delta):
        command = delta[at]
        at += 1
        if command & 0x80:
            fields = []
            for bit in range(7):
                fields.append(delta[at] if command >> bit & 1 else 0)
                at += command >> bit & 1
            start = int.from_bytes(bytes(fields[:4]), "little")
            size = int.from_bytes(bytes(fields[4:]), "little") or 0x10000
            assert start + size <= len(base)
            out += base[start : start + size]
        else:
            assert command
            out += delta[at : at + command]
            at += command
    assert len(out) == sizes[1]
    return out


@given(st.sampled_from(KINDS), st.binary(max_size=5000))
def test_any_object_comes_out_of_its_entry(kind: ObjectKind, content: bytes) -> None:
    """Header and stream give back kind and bytes, so that a merge may trust them."""
    entry = whole_entry(make_object(kind, content))
    parsed = parse_entry(entry.raw)
    assert (parsed.kind, parsed.size, parsed.base) == (kind, len(content), None)
    assert inflate(entry.raw, parsed) == content
    assert entry.crc == zlib.crc32(entry.raw)


def test_a_ready_stream_is_taken_as_it_is() -> None:
    """A growing file keeps its compressor; its stream goes into the pack without another pass."""
    content = b"line\n" * 1000
    stream = zlib.compress(content, 9)
    plain = make_object("blob", content)
    entry = whole_entry(GitObject("blob", content, plain.id, stream))
    assert entry.raw.endswith(stream)
    assert inflate(entry.raw, parse_entry(entry.raw)) == content


@given(st.binary(max_size=300), st.binary(max_size=300), st.binary(max_size=300), st.binary(max_size=300))
def test_any_delta_gives_back_its_object(start: bytes, old: bytes, new: bytes, end: bytes) -> None:
    """Whatever changed in the middle, start, change and end make the object again."""
    base, content = start + old + end, start + new + end
    entry = delta_entry("1" * 40, content, "2" * 40, base)
    if entry is None:
        shared = common_start(content, base)
        shared += common_end(content[shared:], base[shared:])
        assert shared < 40 or 2 * (len(content) - shared) > len(content)
    else:
        assert parse_entry(entry.raw).base == "2" * 40
        assert apply_delta(entry, base) == content


@pytest.mark.parametrize("size", [0x7F, 0x80, 0xFFFF, 0x10000, 0x10001, 0xFFFFFF, 0x1000000, 0x1000001])
def test_copies_of_every_length_are_exact(size: int) -> None:
    """Lengths around the limits of a copy command, 64 KiB above all, whose zero means something else."""
    base = random.Random(size).randbytes(1000) * (size // 1000 + 1)
    content = base[:size]
    entry = delta_entry("1" * 40, content, "2" * 40, base)
    assert entry is not None
    assert len(entry.raw) < 200
    assert apply_delta(entry, base) == content


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_common_ends_are_the_longest(one: bytes, other: bytes) -> None:
    """The shared start and end are found to the byte: a shorter one wastes space, a longer one is wrong."""
    start, end = common_start(one, other), common_end(one, other)
    assert one[:start] == other[:start]
    assert one[start : start + 1] != other[start : start + 1] or start == min(len(one), len(other))
    assert one[len(one) - end :] == other[len(other) - end :]
    shorter = min(len(one), len(other))
    assert end == shorter or one[len(one) - end - 1] != other[len(other) - end - 1]


def versions() -> tuple[list[GitObject], list[PackEntry]]:
    """Return blobs that grow, and entries in which the last is whole and the others are deltas of it."""
    lines = [random.Random(7).randbytes(60).hex().encode() + b"\n" for _ in range(40)]
    blobs = [make_object("blob", b"".join(lines[:count])) for count in range(1, 41)]
    last = blobs[-1]
    entries = [whole_entry(last)]
    for blob in blobs[:-1]:
        entry = delta_entry(blob.id, blob.content, last.id, last.content)
        assert entry is not None
        entries.append(entry)
    return blobs, entries


def test_git_reads_packs_with_deltas(tmp_path: Path) -> None:
    """Git finds each object, verifies pack and index, and would write the same index itself."""
    blobs, entries = versions()
    repo = make_repo(tmp_path / "repo")
    pack = build_pack(entries)
    stem = repo / ".git" / "objects" / "pack" / f"pack-{pack.checksum}"
    stem.with_suffix(".pack").write_bytes(pack.content)
    stem.with_suffix(".idx").write_bytes(pack.index)
    git("verify-pack", stem.with_suffix(".idx"), cwd=repo)
    git("fsck", "--strict", "--full", cwd=repo)
    for blob in blobs:
        assert run_git("cat-file", "blob", blob.id, cwd=repo).stdout == blob.content
    git("index-pack", "-o", tmp_path / "own.idx", stem.with_suffix(".pack"), cwd=repo)
    assert (tmp_path / "own.idx").read_bytes() == pack.index
    assert len(pack.content) < 8000


def test_an_index_lists_what_the_pack_holds() -> None:
    """Offsets, ends and checksums tile the pack, so that entries can be cut out unread."""
    _, entries = versions()
    pack = build_pack(entries)
    rows = parse_index(pack.index, len(pack.content))
    assert [row.id for row in rows] == [entry.id for entry in entries]
    assert [pack.content[row.offset : row.end] for row in rows] == [entry.raw for entry in entries]
    assert [row.crc for row in rows] == [entry.crc for entry in entries]
    assert pack.checksum == hashlib.sha1(pack.content[:-20]).hexdigest()


def test_ids_are_found_in_an_index_by_range() -> None:
    """Ranges of the first byte tile the index, and only what stands in it is held."""
    _, entries = versions()
    index = build_pack(entries).index
    ids = sorted(bytes.fromhex(entry.id) for entry in entries)
    assert [found for low in range(0, 256, 16) for found in ids_between(index, low, low + 16)] == ids
    assert ids_between(index, 0, 256) == ids
    assert all(index_holds(index, raw_id) for raw_id in ids)
    assert not index_holds(index, ids[0][:19] + bytes([ids[0][19] ^ 1]))
    assert not any(index_holds(index, bytes([byte]) * 20) for byte in (0, 255))


def test_offsets_beyond_two_gigabytes_are_written() -> None:
    """A pack of very large texts has a table of long offsets, which git writes and reads too."""
    _, entries = versions()
    assembler = PackAssembler(2)
    assembler.add(entries[0])
    assembler._offset += 3 << 30
    assembler.add(entries[1])
    _, index = assembler.finish()
    rows = parse_index(index, assembler._offset + 20)
    assert [row.offset for row in rows] == [12, 12 + len(entries[0].raw) + (3 << 30)]


def test_an_empty_pack_is_a_pack(tmp_path: Path) -> None:
    """Nothing is no special case of the format."""
    pack = build_pack([])
    assert parse_index(pack.index, len(pack.content)) == []
    (tmp_path / "empty.pack").write_bytes(pack.content)
    (tmp_path / "empty.idx").write_bytes(pack.index)
    git("verify-pack", tmp_path / "empty.idx", cwd=tmp_path)


@pytest.mark.parametrize("cut", [0, 7, 1031, 1032, 1100, -41])
def test_a_cut_index_is_damage(cut: int) -> None:
    """A torn index is told, never read as a short one."""
    pack = build_pack(versions()[1])
    with pytest.raises(CorruptionError):
        parse_index(pack.index[:cut], len(pack.content))


def test_an_index_that_points_outside_is_damage() -> None:
    """A cut pack under a whole index is told."""
    pack = build_pack(versions()[1])
    with pytest.raises(CorruptionError):
        parse_index(pack.index, len(pack.content) - 2000)


@pytest.mark.parametrize("raw", [b"", b"\xb0", b"\x00", b"\x60\x05", b"\x50"])
def test_what_is_no_entry_is_damage(raw: bytes) -> None:
    """Broken headers, reserved types and deltas against offsets are told."""
    with pytest.raises(CorruptionError):
        parse_entry(raw)


def test_a_damaged_stream_is_damage() -> None:
    """A flipped bit or a wrong length never passes for content."""
    entry = whole_entry(make_object("blob", b"text" * 100))
    parsed = parse_entry(entry.raw)
    flipped = entry.raw[:-3] + bytes([entry.raw[-3] ^ 1]) + entry.raw[-2:]
    longer = whole_entry(GitObject("blob", b"t" * 400, "1" * 40, zlib.compress(b"text" * 101)))
    for raw in (flipped, entry.raw[:-2], longer.raw):
        with pytest.raises(CorruptionError):
            inflate(raw, parsed)
