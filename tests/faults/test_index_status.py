"""Each part of the index broken in turn: what its status says is so before, during and after.

The status is held against the truth: the documents that the sources give, and what a search finds. Nothing
is missing silently, nothing is found that is not there, `fresh` means that the index holds exactly what it
should, and what clears a reason is in `docs/search.md`.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from search_home import OTHER, SearchHome

from gitmem.authored_files import find_authored, read_authored
from gitmem.backends.whoosh_index import WhooshIndex
from gitmem.documents import Document
from gitmem.errors import ObjectMissing
from gitmem.index_backlog import documents_of
from gitmem.indexer import Budget
from gitmem.ledger import Segment
from gitmem.ledger_format import read_records
from gitmem.records import Record
from gitmem.search_index import IndexChange, IndexDamaged, IndexRefused
from gitmem.search_reply import IndexStatus

WORD = "staging"


@pytest.fixture
def home(tmp_path: Path) -> SearchHome:
    """A home of two writers and two notes, indexed; every text holds the same word."""
    home = SearchHome.on_disk(tmp_path)
    for number in range(1, 4):
        home.say(f"{WORD} {number}", number=number)
    home.say(f"{WORD} other", writer=OTHER)
    home.write({"notes/a.md": f"{WORD} a", "notes/b.md": f"{WORD} b"})
    home.catch_up()
    return home


# The truth


def expected(home: SearchHome) -> dict[str, list[Document]]:
    """Return what the sources give now: documents by ref; none where they cannot be made."""
    found: dict[str, list[Document]] = {}
    for record, path in records_of(home):
        made = documents_of(home.ledger, record, path)
        found[record.source_ref] = [] if record.id in home.failing else made.documents
    for path in find_authored(home.root).files:
        read = read_authored(home.root, path, home.note_ids.lookup([path]), home.bent.receipts())
        for document in [] if read is None else read.documents:
            found.setdefault(document.source_ref, []).append(document)
    return {ref: documents for ref, documents in found.items() if documents}


def records_of(home: SearchHome) -> Iterator[tuple[Record, str]]:
    """Yield all records that can be read and were not forgotten, and where they stand."""
    for path, segment in home.bent.segments().items():
        with suppress(ObjectMissing):
            for record in read_records(home.bent.read_segment(segment)):
                if isinstance(record, Record) and not record.redacted:
                    yield record, path


def indexed(home: SearchHome) -> list[Document] | None:
    """Return what the index holds; None where it cannot be read."""
    try:
        return home.documents() if home.index.snapshot() is not None else None
    except (IndexDamaged, IndexRefused, OSError):
        return None


def check(home: SearchHome) -> IndexStatus:
    """Hold the status against the truth, and return it."""
    should = expected(home)
    held = indexed(home)
    told = home.searcher.index_status()
    reply = home.search(WORD, limit=50)
    status = reply.index_status
    refs = [hit.source_ref for hit in reply.results]
    assert len(refs) == len(set(refs)), "a duplicate"
    assert set(refs) <= {*should, *(record.source_ref for record, _ in records_of(home))}, "a ghost"
    wanted = {ref for ref, documents in should.items() if any(WORD in one.text for one in documents)}
    if wanted - set(refs):
        assert any("not searched" in reason for reason in status.reasons), "missing without a word"
    is_whole = held is not None and sorted(map(str, held)) == sorted(
        str(document) for documents in should.values() for document in documents
    )
    assert is_whole if status.freshness == "fresh" else not is_whole or status.reasons or status.quarantined
    assert (status.pending == 0) == (status.freshness == "fresh")
    assert status.freshness != "fresh" or not status.reasons
    assert (told.freshness, told.pending, told.quarantined) == (
        status.freshness,
        status.pending,
        status.quarantined,
    )
    assert told.reasons == status.reasons
    for reason in status.reasons:
        assert any(reason.startswith(known) for known in documented()), reason
    return status


def documented() -> list[str]:
    """Return the beginnings of all reasons of which the documentation says who clears them."""
    page = (Path(__file__).parents[2] / "docs/search.md").read_text("utf-8")
    return re.findall(r"^\| `([^`]+?)(?: …)?` \|", page, re.MULTILINE)


# The faults: each breaks something, says what the status shall show, and mends it


Fault = Callable[[SearchHome, pytest.MonkeyPatch], Iterator[None]]
FAULTS: dict[str, tuple[Fault, str]] = {}


def fault(name: str, shows: str) -> Callable[[Fault], Fault]:
    """Note a fault.

    Args:
        name: what is broken.
        shows: what stands in the status meanwhile: of a reason, or of a quarantined item.
    """

    def note(function: Fault) -> Fault:
        FAULTS[name] = (function, shows)
        return function

    return note


@fault("no index", "")
def no_index(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """Somebody emptied the cache."""
    shutil.rmtree(home.layout.index)
    yield


def damaged(pattern: str, change: Callable[[bytes], bytes]) -> Fault:
    """Return a fault that changes a file of the index."""

    def damage(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
        path = max(home.layout.index.glob(pattern))
        path.write_bytes(change(path.read_bytes()))
        home.index.close()
        yield

    return damage


def flip(content: bytes) -> bytes:
    """Return bytes with one bit changed in their middle."""
    at = len(content) // 2
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


for _pattern in ("_MAIN_*.toc", "*.seg", "manifest-*"):
    fault(f"a flipped bit in {_pattern}", "the index is damaged")(damaged(_pattern, flip))
    fault(f"half of {_pattern}", "the index is damaged")(
        damaged(_pattern, lambda content: content[: len(content) // 2])
    )
fault("an index of another gitmem", "the index is of another layout")(
    damaged("manifest-*", lambda content: re.sub(rb'"format":\d+', b'"format":99', content, count=1))
)


@fault("somebody else writes", "")
def locked(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """A search does not wait for him."""
    home.say(f"{WORD} meanwhile")
    with WhooshIndex(home.layout.index).writing():
        yield


@fault("a folder that cannot be written", "the index cannot be written")
def unwritable(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """Its lock cannot be had."""
    lock = home.layout.index.with_name("index.lock")
    lock.unlink()
    lock.symlink_to("/nowhere/index.lock")
    home.say(f"{WORD} meanwhile")
    yield
    lock.unlink()


@fault("a full disk", "the index cannot be written: No space left on device")
def full(home: SearchHome, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing can be made durable."""

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    home.say(f"{WORD} meanwhile")
    with patch.context() as patched:
        patched.setattr(os, "fsync", no_space)
        yield


@fault("a disk that cannot be read", "the index cannot be read: Input/output error")
def unreadable_disk(home: SearchHome, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """The index is kept: what the disk holds may well be good."""
    home.index.close()
    kept = {path.name for path in home.layout.index.iterdir()}
    with patch.context() as patched:
        patched.setattr(os, "pread", broken_read)
        yield
    assert kept <= {path.name for path in home.layout.index.iterdir()}


def broken_read(*_: object) -> bytes:
    """Read as a broken disk does."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@fault("somebody else's folder", "the index folder is somebody else's")
def foreign(home: SearchHome, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """It is not opened, and not removed either."""
    owner = home.layout.index.stat().st_uid
    with patch.context() as patched:
        patched.setattr(os, "geteuid", lambda: owner + 1)
        yield


@fault("a folder that others can write", "others may have filled the index folder")
def open_folder(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """What somebody else may have put there is not opened."""
    home.layout.index.chmod(0o777)
    yield


@fault("a file that is no text", "notes/bad.md")
def no_text(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """It is named, also before anybody has tried to index it."""
    home.write({"notes/bad.md": b"\xff\xfe\x00"})
    yield
    home.write({"notes/bad.md": f"{WORD} mended"})


@fault("a note that is a link", "notes/link.md")
def link(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """Where it leads is nobody's memory."""
    (home.root / "notes/link.md").symlink_to("/etc/hostname")
    yield
    (home.root / "notes/link.md").unlink()


@fault("a record that fails", "message:")
def failing(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """Its documents cannot be made; the others proceed (S11)."""
    home.failing.add(home.say(f"{WORD} bad").id)
    home.say(f"{WORD} good")
    yield
    home.failing.clear()


@fault("a bad line", "ledger/")
def bad_line(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """A line in the middle cannot be read."""
    path = max(path for path in home.bent.contents if OTHER not in path)
    good = home.say(f"{WORD} meanwhile", number=3)
    home.say(f"{WORD} later", number=3)
    lines = home.bent.contents[path]
    at = next(n for n, line in enumerate(lines) if not isinstance(line, bytes) and line.id == good.id)
    before, lines[at] = lines[at], b"no line\n"
    yield
    lines[at] = before


@fault("a long text that is missing", "only its beginning and end")
def missing_text(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """An object that may come with a fetch."""
    record = home.say(f"{WORD} {'lorem ipsum ' * 4000}")
    blob = home.bent.blobs.pop(record.id)
    yield
    home.bent.blobs[record.id] = blob


@fault("a segment that is missing", "gone")
def missing_segment(home: SearchHome, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """None of its versions can be read."""
    home.say(f"{WORD} meanwhile", number=9)
    real = home.bent.read_segment

    def read(segment: Segment) -> bytes:
        if segment.number == 9:
            raise ObjectMissing("gone")
        return real(segment)

    with patch.context() as patched:
        patched.setattr(home.bent, "read_segment", read)
        yield


@fault("far behind", "not indexed yet and not searched")
def behind(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """More is new than is searched without an index."""
    for number in range(4):
        home.say(f"{WORD} {number}", number=4)
    for number in range(520):
        home.say(f"other {number}", number=5)
    yield


@fault("history rewritten", "gone and not shown, still to be removed")
def ahead(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """The index holds what no line and no file has any more (S25)."""
    path = max(path for path in home.bent.contents if OTHER not in path)
    del home.bent.contents[path]
    (home.root / "notes/a.md").unlink()
    yield


@fault("a record that was forgotten", "gone and not shown, still to be removed")
def forgotten(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody finds it from the moment of its receipt."""
    record = home.say(f"{WORD} secret", writer=OTHER)
    home.catch_up()
    home.redact(record)
    yield


@fault("documents of an older gitmem", "indexed anew, and searched as it was until then: 0 of 6")
def older(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """They are found until each is replaced (S15)."""
    with home.index.writing() as writer:
        assert writer is not None
        manifest = writer.snapshot().manifest
        segments = {path: replace(mark, made_by="1.1.1") for path, mark in manifest.segments.items()}
        files = {path: replace(mark, made_by="1.1.1") for path, mark in manifest.files.items()}
        writer.commit(IndexChange(replace(manifest, segments=segments, files=files)))
    yield


@fault("an older copy of the index", "")
def old_copy(home: SearchHome, _: pytest.MonkeyPatch) -> Iterator[None]:
    """Restored from a backup over a newer one, under a process that has the newer one open."""
    copy = home.layout.index.with_name("copy")
    shutil.copytree(home.layout.index, copy)
    (home.root / "notes/a.md").unlink()
    home.write({"notes/b.md": f"{WORD} changed"})
    home.redact(home.say(f"{WORD} secret"))
    home.say(f"{WORD} meanwhile")
    home.catch_up()
    check(home)
    shutil.rmtree(home.layout.index)
    copy.rename(home.layout.index)
    yield


@pytest.mark.parametrize("name", FAULTS)
def test_the_status_is_true_and_every_reason_goes(
    home: SearchHome, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a fault, with it, after an attempt to index with it, and when it is mended."""
    make, shows = FAULTS[name]
    broken: Callable[..., AbstractContextManager[None]] = contextmanager(make)
    assert check(home).freshness == "fresh"
    with broken(home, monkeypatch):
        first = check(home)
        home.catch_up()
        later = check(home)
        seen = [*first.reasons, *later.reasons, *map(str, [*first.quarantined, *later.quarantined])]
        assert not shows or any(shows in one for one in seen), seen
    home.catch_up()
    status = check(home)
    assert (status.freshness, status.pending) == ("fresh", 0)
    assert (list(status.reasons), list(status.quarantined)) == ([], [])


def test_a_disk_that_fails_under_an_open_index(home: SearchHome, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search answers without the index, says so, and leaves it for when the disk is well."""
    home.snapshot()
    with monkeypatch.context() as patched:
        patched.setattr(os, "pread", broken_read)
        assert "the index cannot be read: Input/output error" in home.search("other").index_status.reasons
    assert len(home.refs(WORD)) == 6


def test_the_status_is_true_after_each_step_of_building_anew(home: SearchHome) -> None:
    """From the request to the last slice, and what it says of its progress grows."""
    for number in range(4, 9):
        for line in range(8):
            home.say(f"{WORD} {line}", number=number)
    home.catch_up()
    home.indexer.renew()
    told: list[str] = []
    while check(home).freshness != "fresh":
        told += check(home).reasons
        home.catch_up(budget=Budget(seconds=0.0))
    assert told[0] == "indexed anew, and searched as it was until then: 0 of 11 segments and files done"
    done = [int(re.findall(r": (\d+) of 11", reason)[0]) for reason in told]
    assert done == sorted(set(done))
