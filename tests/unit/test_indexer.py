"""Catching up: what is covered, in which order, and what a fault costs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from search_home import OTHER, WRITER, SearchHome

from contract.search_index_contract import document
from gitmem.changes import Hints
from gitmem.errors import ObjectMissing
from gitmem.indexer import FIRST_BATCH, Budget, CatchUp
from gitmem.ledger_format import Line
from gitmem.search_index import IndexChange
from gitmem.testing.memory_index import MemoryIndex, MemorySnapshot

OLD = 1_700_000_000.0


@pytest.fixture
def home(tmp_path: Path) -> SearchHome:
    """An empty home whose index is in memory."""
    return SearchHome.in_memory(tmp_path)


def terms(home: SearchHome, term: str) -> int:
    """Return in how many documents of the index a term stands."""
    return sum(len(set(part.postings(term)[0]) - part.removed) for part in home.snapshot().parts)


def test_everything_is_covered_and_the_second_time_nothing_is_done(home: SearchHome) -> None:
    """Catching up is idempotent: an unchanged home costs no commit (OPEN-AGENT-11)."""
    home.say("staging port")
    home.write({"notes/a.md": "# Staging\n\nport 2222\n", "memory/MEMORY.md": "one fact\n§\nanother fact\n"})
    done = home.catch_up()
    assert (done.pending, done.busy, done.reasons) == (0, False, ())
    assert done.indexed == 4
    commits = home.index.commits  # type: ignore[attr-defined]
    assert home.new_indexer().catch_up().indexed == 0
    assert home.index.commits == commits  # type: ignore[attr-defined]
    assert home.snapshot().manifest.complete


def test_only_new_lines_of_a_segment_are_read(home: SearchHome) -> None:
    """A turn is appended to a segment of up to 64 KiB; what was indexed of it stays (A2)."""
    home.say("first")
    home.catch_up()
    home.say("second")
    assert home.catch_up().indexed == 1
    assert [d.text for d in home.documents()] == ["first", "second"]


def test_a_segment_whose_lines_changed_is_read_anew(home: SearchHome) -> None:
    """An offset holds only if the line before it is the one noted: no duplicates, no ghosts (S25)."""
    for text in ("alpha", "beta", "gamma"):
        home.say(text)
    home.catch_up()
    (path,) = home.bent.contents
    del home.bent.contents[path][1]
    home.say("delta", seq=9)
    home.catch_up()
    assert sorted(d.text for d in home.documents()) == ["alpha", "delta", "gamma"]


def test_a_segment_that_no_line_has_any_more_goes(home: SearchHome) -> None:
    """A purged or rewritten line leaves nothing behind in search."""
    home.say("alpha")
    home.say("beta", writer=OTHER)
    home.catch_up()
    del home.bent.contents[next(p for p in home.bent.contents if OTHER in p)]
    home.catch_up()
    assert [d.text for d in home.documents()] == ["alpha"]


def test_newest_segments_come_first_and_time_ends_a_call(home: SearchHome) -> None:
    """A long backlog runs behind what was just said (S8)."""
    for number in range(1, 8):
        for line in range(120):
            home.say(f"word{number} line{line}", number=number)
    done = home.catch_up(budget=Budget(seconds=0.0))
    assert done.pending > 0
    assert terms(home, "word7") == 120
    assert terms(home, "word1") == 0
    assert not home.snapshot().manifest.complete
    home.say("overtakes", number=8)
    home.catch_up(budget=Budget(seconds=0.0))
    assert terms(home, "overtak") == 1
    while home.catch_up(budget=Budget(seconds=0.0)).pending:
        pass
    assert terms(home, "word1") == 120


def test_commits_are_bounded(home: SearchHome) -> None:
    """A cold home is indexed in several commits, so that progress is kept and shown."""
    for number in range(1, 12):
        for line in range(100):
            home.say(f"line{line}", number=number)
    home.catch_up()
    assert home.index.commits >= 3  # type: ignore[attr-defined]
    assert all(part.size <= 4 * FIRST_BATCH for part in home.snapshot().parts)


def test_a_saved_file_replaces_its_documents(home: SearchHome) -> None:
    """One hit with the newest text, whatever happened between two looks (OPEN-SEARCH-08, S22)."""
    home.write({"notes/a.md": "old words"})
    home.catch_up()
    home.write({"notes/a.md": "new words"})
    home.write({"notes/a.md": "newer words"})
    home.catch_up()
    assert [d.text for d in home.documents()] == ["newer words"]


def test_a_file_saved_within_one_tick_of_the_clock_is_not_missed(home: SearchHome) -> None:
    """Size and times may stay the same when a file is written twice in a moment."""
    home.write({"notes/a.md": "one"}, mtime=OLD)
    home.catch_up()
    home.write({"notes/a.md": "two"}, mtime=OLD)
    home.catch_up()
    assert [d.text for d in home.documents()] == ["two"]


def test_a_removed_file_leaves_nothing(home: SearchHome) -> None:
    """A note that was deleted while nobody looked is gone after one pass (R15, OPEN-SEARCH-09)."""
    home.write({"notes/a.md": "staging", "memory/USER.md": "staging"})
    home.catch_up()
    (home.root / "notes/a.md").unlink()
    (home.root / "memory/USER.md").unlink()
    home.catch_up()
    assert home.documents() == []
    assert home.snapshot().manifest.files == {}


def test_a_moved_note_keeps_one_hit(home: SearchHome) -> None:
    """Renamed there and back within one pass, a note is there once (OPEN-SEARCH-08)."""
    home.write({"notes/a.md": "---\nid: n1\n---\nstaging"})
    home.catch_up()
    (home.root / "notes/a.md").rename(home.root / "notes/b.md")
    home.catch_up()
    assert [(d.source_ref, d.path) for d in home.documents()] == [("note:n1", "notes/b.md")]
    (home.root / "notes/b.md").rename(home.root / "notes/a.md")
    home.catch_up()
    assert [(d.source_ref, d.path) for d in home.documents()] == [("note:n1", "notes/a.md")]


def test_ids_of_notes_are_those_of_the_list(home: SearchHome) -> None:
    """Two notes with one id: the first keeps it, whichever was saved first, and the other changes with it."""
    home.write({"notes/b.md": "---\nid: n1\n---\nsecond"})
    home.catch_up()
    assert [d.source_ref for d in home.documents()] == ["note:n1"]
    home.write({"notes/a.md": "---\nid: n1\n---\nfirst"})
    home.catch_up()
    refs = {d.path: d.source_ref for d in home.documents()}
    assert refs["notes/a.md"] == "note:n1"
    assert refs["notes/b.md"] != "note:n1"
    assert home.reader.get(refs["notes/b.md"]).content.endswith("second")
    (home.root / "notes/a.md").unlink()
    home.catch_up()
    assert [d.source_ref for d in home.documents()] == ["note:n1"]


def test_a_failing_record_costs_only_itself(home: SearchHome) -> None:
    """It is named with its reason, and the others go on (S11)."""
    home.say("alpha")
    bad = home.say("beta")
    home.say("gamma")
    home.failing.add(bad.id)
    done = home.catch_up()
    assert [d.text for d in home.documents()] == ["alpha", "gamma"]
    assert done.quarantined == (bad.source_ref,)
    assert home.snapshot().manifest.quarantined == {bad.source_ref: "ValueError: told to fail"}
    assert done.pending == 0


def test_a_failing_record_is_tried_again_when_asked_for(home: SearchHome) -> None:
    """Nothing about it changed, so nobody else looks at it; its neighbours stay as they are."""
    bad, other = home.say("beta"), home.say("delta", writer=OTHER)
    home.say("alpha")
    home.failing |= {bad.id, other.id}
    home.catch_up()
    reads = home.bent.reads
    assert home.catch_up(Hints(turns=True)).pending == 0
    assert home.bent.reads == reads
    commits = home.index.commits  # type: ignore[attr-defined]
    assert home.catch_up(Hints(again=frozenset({bad.source_ref}))).indexed == 0
    assert home.index.commits == commits  # type: ignore[attr-defined]
    home.failing.clear()
    assert home.catch_up(Hints(again=frozenset({bad.source_ref}))).quarantined == (other.source_ref,)
    assert [d.text for d in home.documents()] == ["beta", "alpha"]
    assert home.catch_up().quarantined == ()
    assert sorted(d.text for d in home.documents()) == ["alpha", "beta", "delta"]
    assert home.search("beta").index_status.quarantined == []


def test_a_long_text_that_is_missing_is_named_until_it_comes(home: SearchHome) -> None:
    """Its beginning and end are found meanwhile; what comes with a fetch is indexed once."""
    filler = "lorem ipsum dolor sit amet. " * 2000
    record = home.say(f"firstword {filler} needle {filler} lastword")
    home.say("other")
    blob = home.bent.blobs.pop(record.id)
    assert home.catch_up().quarantined == (record.source_ref,)
    assert (terms(home, "firstword"), terms(home, "needl"), terms(home, "lastword")) == (1, 0, 1)
    (named,) = home.search("firstword").index_status.quarantined
    assert named.name == record.source_ref
    assert "beginning and end" in named.reason
    home.bent.blobs[record.id] = blob
    assert home.catch_up(Hints(again=frozenset({record.source_ref}))).quarantined == ()
    assert (terms(home, "firstword"), terms(home, "needl"), terms(home, "lastword")) == (1, 1, 1)


def test_a_missing_version_of_a_segment_is_named_until_it_comes(home: SearchHome) -> None:
    """What can be read of a segment is indexed, and that something lacks is no secret."""
    home.say("alpha")
    (path,) = home.bent.contents
    (segment,) = home.bent.segments().values()
    home.bent.missing[segment.blobs[0]] = "gone"
    assert home.catch_up().quarantined == (path,)
    assert [d.text for d in home.documents()] == ["alpha"]
    assert home.catch_up().quarantined == (path,)
    home.bent.missing.clear()
    assert home.catch_up(Hints(again=frozenset({path}))).quarantined == ()
    assert [d.text for d in home.documents()] == ["alpha"]


def test_a_bad_line_that_comes_right_is_indexed(home: SearchHome) -> None:
    """The line after it still stands where it stood, so the offset alone would not tell."""
    home.say("alpha")
    home.say("beta")
    home.say("gamma")
    (path,) = home.bent.contents
    good = home.bent.contents[path][1]
    assert isinstance(good, Line)
    home.bent.contents[path][1] = b"X" + good.raw[1:]
    assert home.catch_up().quarantined == (f"{path}:2",)
    home.bent.contents[path][1] = good
    assert home.catch_up().quarantined == ()
    assert [d.text for d in home.documents()] == ["alpha", "beta", "gamma"]


def test_a_bad_line_is_named_by_its_number(home: SearchHome) -> None:
    """A damaged line is passed over; also when it comes behind lines that were indexed before."""
    home.say("alpha")
    home.catch_up()
    (path,) = home.bent.contents
    home.bent.contents[path].append(b"\0\0\0 not a line\n")
    home.say("beta")
    assert home.catch_up().quarantined == (f"{path}:2",)
    assert [d.text for d in home.documents()] == ["alpha", "beta"]


def test_an_unreadable_file_is_named_until_it_is_mended(home: SearchHome) -> None:
    """A note that is no text, or a link, is listed with its reason and stays out."""
    home.write({"notes/a.md": b"\xff\xfe\x00", "notes/b.md": "staging", "secret.txt": "staging"})
    (home.root / "notes/c.md").symlink_to(home.root / "secret.txt")
    done = home.catch_up()
    assert sorted(done.quarantined) == ["notes/a.md", "notes/c.md"]
    assert [d.path for d in home.documents()] == ["notes/b.md"]
    assert home.catch_up().indexed == 0
    home.write({"notes/a.md": "mended"})
    (home.root / "notes/c.md").unlink()
    assert home.catch_up().quarantined == ()
    assert [d.path for d in home.documents()] == ["notes/a.md", "notes/b.md"]


def test_what_could_not_be_read_is_tried_again(home: SearchHome, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing object may come with the next fetch: it is named until then, and looked for when in doubt."""
    record = home.say("staging")
    (path,) = home.bent.contents
    with monkeypatch.context() as patch:

        def missing(*_: object) -> bytes:
            raise ObjectMissing("gone")

        patch.setattr(home.bent, "read_segment", missing)
        assert home.catch_up().quarantined == (path,)
        commits = home.index.commits  # type: ignore[attr-defined]
        assert home.catch_up().quarantined == (path,)
        assert home.index.commits == commits  # type: ignore[attr-defined]
        assert home.search("staging").index_status.quarantined[0].name == path
    assert home.catch_up(Hints(turns=True)).quarantined == (path,)
    assert home.catch_up(Hints(doubt="a fetch")).quarantined == ()
    assert home.refs("staging") == [record.source_ref]


def test_a_forgotten_record_is_wiped(home: SearchHome) -> None:
    """A receipt takes a record out of search and off the disk, in whoever's segment it stands (F2)."""
    record = home.say("the secret word", writer=OTHER)
    home.say("other")
    home.catch_up()
    home.redact(record)
    home.catch_up()
    assert [d.text for d in home.documents()] == ["other"]
    assert record.id in home.snapshot().manifest.forgotten
    assert home.catch_up().indexed == 0


def test_erasing_leaves_no_bytes(tmp_path: Path) -> None:
    """On disk too nothing of a forgotten record is left in the index."""
    home = SearchHome.on_disk(tmp_path)
    record = home.say("xylophonesecret")
    home.say("other")
    home.catch_up()
    home.redact(record)
    home.catch_up()
    folder = home.layout.index
    assert not any(b"xylophonesecret" in p.read_bytes() for p in folder.iterdir() if p.is_file())
    assert [d.text for d in home.documents()] == ["other"]


def test_hints_spare_the_files(home: SearchHome, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn in a home of many notes must not cost a look at all of them."""
    home.write({"notes/a.md": "one"})
    home.catch_up()
    looks = []
    real = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looks.append(path) or real(path))
    home.say("staging")
    home.catch_up(Hints(turns=True))
    assert looks == []
    assert terms(home, "stage") == 1
    home.write({"notes/b.md": "two"})
    home.catch_up(Hints(frozenset({"notes/b.md"})))
    assert looks
    assert terms(home, "two") == 1


def test_what_quick_commits_left_is_put_together_later(tmp_path: Path) -> None:
    """A commit that merges nothing is quick; the parts it leaves are merged when nobody waits."""
    home = SearchHome.on_disk(tmp_path)
    for number in range(12):
        home.say(f"turn {number} staging")
        home.catch_up(budget=Budget(merged=0))
    assert len(home.snapshot().parts) == 12
    before = [d.text for d in home.documents()]
    manifest = home.snapshot().manifest
    assert home.indexer.merge(2048).reasons == ()
    assert len(home.snapshot().parts) < 8
    assert sorted(d.text for d in home.documents()) == sorted(before)
    assert home.snapshot().manifest == manifest
    with home.index.writing():
        assert home.indexer.merge(2048).busy


def test_whoever_is_second_does_nothing(home: SearchHome) -> None:
    """An overlap of two that index is no error and loses nothing (OPEN-SEARCH-05)."""
    home.say("staging")
    with home.index.writing():
        done = home.catch_up()
    assert done.busy
    assert done.pending
    assert home.catch_up().pending == 0
    assert terms(home, "stage") == 1


@pytest.mark.parametrize("switch", ["full", "refused"])
def test_an_index_that_cannot_be_written_is_a_reason(home: SearchHome, switch: str) -> None:
    """A full disk or a foreign folder costs the index, never the command."""
    home.say("staging")
    setattr(home.index, switch, True)
    done = home.catch_up()
    assert done.reasons
    assert done.pending
    setattr(home.index, switch, False)
    assert home.catch_up().pending == 0


def test_a_damaged_index_is_built_anew(home: SearchHome) -> None:
    """What is found damaged is thrown away, and everything is indexed again."""
    home.say("staging")
    home.catch_up()
    assert isinstance(home.index, MemoryIndex)
    home.index.damaged = True
    home.catch_up()
    assert terms(home, "stage") == 1


def test_renewing_serves_the_old_and_takes_the_newest_first(home: SearchHome) -> None:
    """Building anew throws nothing away: each search finds all once, and what is new too (S14, S15)."""
    for number in range(1, 8):
        for line in range(120):
            home.say(f"word{number} {'seldom' if line == 7 else 'often'}", number=number)
    home.write({"notes/a.md": "# Staging\n\nport 2222\n"})
    home.catch_up()
    before = home.documents()
    assert home.indexer.renew() == CatchUp(pending=8, sources=8)
    assert home.documents() == before
    left, said = 8, "meanwhile"
    while left:
        if len(said) < 12:  # a call without time does no more than what is new
            said += "x"
            home.say(said, number=8)
        refs = home.refs("seldom", limit=50)
        assert len(refs) == len(set(refs)) == 7
        assert len(home.refs(said)) == 1
        assert home.refs("staging") == ["note:" + home.note_ids.lookup(["notes/a.md"])("notes/a.md")]
        status = home.search("seldom").index_status
        assert status.freshness == "catching_up"
        assert status.indexed >= 841
        assert status.reasons[-1].startswith("indexed anew, and searched as it was until then: ")
        left = home.new_indexer().catch_up(budget=Budget(seconds=0.0)).pending
    assert home.search("seldom").index_status.reasons == []
    assert home.search("seldom").index_status.freshness == "fresh"
    assert home.snapshot().manifest.renewing == 0
    assert [d for d in home.documents() if "meanwhile" not in d.text] == before


def test_building_one_agents_index_anew_leaves_the_others_alone(tmp_path: Path) -> None:
    """Two homes share nothing: neither rows, nor what is pending, nor how fresh they are (S14)."""
    one, other = (SearchHome.on_disk(tmp_path / name) for name in ("a", "b"))
    for home in (one, other):
        home.say("staging port")
        home.catch_up()
    other.say("pending port")
    before, status = other.snapshot(), other.searcher.index_status()
    one.indexer.renew()
    assert one.searcher.index_status().freshness == "catching_up"
    one.indexer.rebuild()
    assert other.snapshot() is before
    assert other.searcher.index_status() == status
    assert (status.freshness, status.pending) == ("catching_up", 1)
    assert len(other.refs("port")) == 2
    assert len(one.refs("port")) == 1


def test_renewing_goes_on_where_it_was_broken_off(home: SearchHome) -> None:
    """Whoever asks again after a kill does not begin from the start."""
    for number in range(1, 8):
        for line in range(120):
            home.say(f"word{number} line{line}", number=number)
    home.catch_up()
    home.indexer.renew()
    home.new_indexer().catch_up(budget=Budget(seconds=0.0))
    left = home.snapshot().manifest.outdated
    assert 0 < left < 7
    assert home.new_indexer().renew().pending == left
    done: list[CatchUp] = []
    assert home.new_indexer().rebuild(done.append).pending == 0
    assert done[-1].sources == 7
    assert sum(part.size - len(part.removed) for part in home.snapshot().parts) == 840


def test_renewing_removes_what_belongs_to_nothing(home: SearchHome) -> None:
    """Documents that no mark knows, left by whatever fault, do not outlive it."""
    home.say("alpha")
    home.catch_up()
    with home.index.writing() as writer:
        assert writer is not None
        manifest = writer.snapshot().manifest
        writer.commit(IndexChange(manifest, add=[document("ghost", "alpha ghost", origin="ledger/x.jsonl")]))
    assert len(home.documents()) == 2
    home.indexer.rebuild()
    assert [d.text for d in home.documents()] == ["alpha"]


def test_marks_of_another_program_are_read_again(home: SearchHome) -> None:
    """When documents are made in a new way, old ones are found until each is replaced."""
    home.say("staging")
    home.write({"notes/a.md": "port"})
    home.catch_up()
    before = home.documents()
    assert isinstance(home.index, MemoryIndex)
    last = home.index.snapshot()
    assert last is not None
    old = replace(
        last.manifest,
        segments={path: replace(mark, made_by="0.0") for path, mark in last.manifest.segments.items()},
        files={path: replace(mark, made_by="0.0") for path, mark in last.manifest.files.items()},
    )
    home.index.replace(MemorySnapshot(last.generation, old, last.memory_parts))
    assert home.search("staging").index_status.pending == 2
    assert home.texts("staging") == ["staging"]
    assert home.catch_up().indexed == 4
    assert home.documents() == before
    assert home.catch_up().indexed == 0


def test_long_texts_are_indexed_to_their_end(home: SearchHome) -> None:
    """A match at character 20,000, and one in a long text that moved to a blob (S20)."""
    filler = "lorem ipsum dolor sit amet. " * 1000
    home.say(f"{filler}needleone {filler}")
    home.write({"notes/long.md": f"{filler}\n\n{filler}needletwo\n"})
    home.catch_up()
    assert terms(home, "needleon") == 1
    assert terms(home, "needletwo") == 1
    assert max(len(d.text) for d in home.documents()) < 4000
    (found,) = (d for d in home.documents() if "needletwo" in d.text)
    assert found.line == 3


EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.sampled_from([WRITER, OTHER]), st.integers(1, 3), st.integers(0, 5)),
        st.tuples(st.just("note"), st.sampled_from("abc"), st.integers(0, 3)),
        st.tuples(st.just("same id"), st.sampled_from("abc"), st.integers(0, 3)),
        st.tuples(st.just("remove"), st.sampled_from("abc")),
        st.tuples(st.just("move"), st.sampled_from("abc"), st.sampled_from("abc")),
        st.tuples(st.just("facts"), st.lists(st.integers(0, 4), max_size=4)),
        st.tuples(st.just("task"), st.integers(0, 2), st.sampled_from(["running", "completed"])),
        st.tuples(st.just("forget"), st.integers(0, 20)),
        st.tuples(st.just("drop segment"), st.integers(0, 5)),
        st.tuples(st.just("drop line"), st.integers(0, 5)),
        st.tuples(st.just("bad line"), st.integers(0, 5)),
        st.tuples(st.just("catch up"), st.sampled_from([None, 0.0])),
        st.just(("mend",)),
        st.just(("renew",)),
    ),
    max_size=25,
)


def edit(home: SearchHome, step: tuple[object, ...]) -> None:
    """Change the home as a step says."""
    kind, *rest = step
    note = home.root / "notes" / f"{rest[0] if rest else ''}.md"
    paths = sorted(home.bent.contents)
    lines = [line for path in paths for line in home.bent.contents[path] if isinstance(line, Line)]
    if kind == "say":
        said = home.say(f"word{rest[2]}", writer=str(rest[0]), number=int(str(rest[1])))
        if rest[2] == 5:
            home.failing.add(said.id)
    elif kind == "note":
        home.write({f"notes/{rest[0]}.md": f"# Title {rest[1]}\n\ntext{rest[1]}\n"})
    elif kind == "same id":
        home.write({f"notes/{rest[0]}.md": f"---\nid: n1\n---\ntext{rest[1]}\n"})
    elif kind == "remove":
        note.unlink(missing_ok=True)
    elif kind == "move" and note.exists():
        note.rename(home.root / "notes" / f"{rest[1]}.md")
    elif kind == "facts":
        assert isinstance(rest[0], list)
        home.write({"memory/MEMORY.md": "\n§\n".join(f"fact {number}" for number in rest[0])})
    elif kind == "task":
        place = {"revision": 1, "status": rest[1], "after": ()}
        home.bent.append(
            {"kind": "task", "task_id": f"t{rest[0]}", "status": rest[1], "summary": "do"}, **place
        )
    elif kind == "forget" and lines:
        home.bent.forgotten |= {lines[int(str(rest[0])) % len(lines)].id}
    elif kind == "drop segment" and paths:
        del home.bent.contents[paths[int(str(rest[0])) % len(paths)]]
    elif kind in ("drop line", "bad line") and paths:
        content = home.bent.contents[paths[int(str(rest[0])) % len(paths)]]
        if kind == "bad line":
            content.append(b"bad\n")
        elif content:
            content.pop(0)
    elif kind == "mend":
        home.failing.clear()
    elif kind == "renew":
        home.indexer.renew()
    elif kind == "catch up":
        seconds = rest[0]
        home.catch_up(budget=Budget(seconds=seconds if isinstance(seconds, float) else None))


@settings(max_examples=examples(60))
@given(EDITS)
def test_catching_up_equals_building_anew(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[object, ...]]
) -> None:
    """After any changes the index holds what one built from nothing holds: documents and problems (S13)."""
    home = SearchHome.in_memory(tmp_path_factory.mktemp("home"))
    (home.root / "notes").mkdir()
    for step in steps:
        edit(home, step)
    home.catch_up()
    caught_up = home.documents(), home.snapshot().manifest.quarantined
    home.indexer.rebuild()
    assert (home.documents(), home.snapshot().manifest.quarantined) == caught_up
    with home.index.writing() as writer:
        assert writer is not None
        writer.discard()
    home.new_indexer().catch_up()
    assert (home.documents(), home.snapshot().manifest.quarantined) == caught_up
