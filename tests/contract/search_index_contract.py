"""What every search index does; each implementation inherits these tests."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from gitmem.analysis import Analysis
from gitmem.documents import Document, analyze
from gitmem.manifest import EMPTY, FileMark, Manifest, SegmentMark
from gitmem.search_index import (
    IndexChange,
    Indexed,
    IndexSnapshot,
    SearchIndex,
    key_of,
    live_count,
)


def document(
    name: str, text: str = "staging port", *, origin: str = "ledger/a.jsonl", **more: object
) -> Indexed:
    """Return a document that is ready to be indexed."""
    made = Document(
        source_ref=f"message:{name}",
        kind="message",
        title="user",
        text=text,
        ts=str(more.pop("ts", "2026-11-30T09:15:00.250Z")),
        origin=origin,
        record=name,
        **more,  # type: ignore[arg-type]
    )
    return Indexed(made, analyze(made))


def manifest(*paths: str) -> Manifest:
    """Return a manifest that covers some files."""
    return Manifest(files={path: FileMark(1, 2, 3, "d") for path in paths})


def names(snapshot: IndexSnapshot, term: str) -> list[str]:
    """Return which documents have a term."""
    found = []
    for part in snapshot.parts:
        numbers = [number for number in part.postings(term)[0] if number not in part.removed]
        found += [part.document(number).record or "" for number in numbers]
    return sorted(found)


def commit(index: SearchIndex, change: IndexChange) -> IndexSnapshot:
    """Commit a change and return what is there then."""
    with index.writing() as writer:
        assert writer is not None
        writer.commit(change)
    found = index.snapshot()
    assert found is not None
    return found


class SearchIndexContract:
    """Inherit this and give the fixture `index`: a new, empty one for each test."""

    @pytest.fixture
    def index(self) -> SearchIndex:
        """Return the index under test."""
        raise NotImplementedError

    def test_nothing_is_there_at_first(self, index: SearchIndex) -> None:
        """A home that was never indexed has no snapshot, and asking makes none."""
        assert index.snapshot() is None
        assert index.snapshot() is None

    def test_a_writer_begins_with_an_empty_index(self, index: SearchIndex) -> None:
        """Whoever writes first finds the same as one who writes on."""
        with index.writing() as writer:
            assert writer is not None
            assert writer.snapshot().manifest == EMPTY
            assert live_count(writer.snapshot().parts) == 0

    def test_what_was_added_is_there(self, index: SearchIndex) -> None:
        """Postings, columns and documents come back as they went in."""
        item = document(
            "m1",
            "Port port 2222 in 上海",
            session="s1",
            work_item="w1",
            workspace="k",
            turn="t",
            path="notes/a.md",
            line=3,
            group="task:x",
            state={"clock": "0", "after": ["a"]},
            metadata={"role": "user", "n": 1},
        )
        snapshot = commit(index, IndexChange(manifest("a"), add=[document("m0", "other"), item]))
        (part,) = snapshot.parts
        numbers, counts = part.postings("port")
        assert (list(numbers), list(counts)) == ([1], [2.0])
        assert part.document(1) == item.document
        assert part.column("session")[1] == key_of("s1")
        assert part.column("session")[0] == 0
        assert part.column("time")[1] == 1796030100250
        assert part.column("length")[1] == item.analysis.length == 6
        assert list(part.postings("absent")[0]) == []
        assert names(snapshot, "上海") == ["m1"]

    def test_the_manifest_belongs_to_the_commit(self, index: SearchIndex) -> None:
        """What is covered is read with what is there, never one ahead of the other."""
        mark = SegmentMark(("b" * 40,), 120, "e" * 64, 2, {"ledger/a.jsonl:2": "not UTF-8"})
        wanted = Manifest({"ledger/a.jsonl": mark}, manifest("x").files, frozenset({"msg_1"}), "c", True)
        assert commit(index, IndexChange(wanted)).manifest == wanted
        assert commit(index, IndexChange(EMPTY)).manifest == EMPTY

    def test_generations_grow(self, index: SearchIndex) -> None:
        """A reader tells by the number whether anything changed."""
        first = commit(index, IndexChange(manifest("a")))
        second = commit(index, IndexChange(manifest("b")))
        assert second.generation > first.generation
        again = index.snapshot()
        assert again is not None
        assert again.generation == second.generation

    def test_removing_by_origin_and_adding_are_one_step(self, index: SearchIndex) -> None:
        """A file that is saved again is there once, with its new text (OPEN-SEARCH-08)."""
        commit(index, IndexChange(EMPTY, add=[document("m1", "old"), document("m2", "old", origin="b")]))
        change = IndexChange(EMPTY, remove_origins={"ledger/a.jsonl"}, add=[document("m1", "new")])
        snapshot = commit(index, change)
        assert names(snapshot, "old") == ["m2"]
        assert names(snapshot, "new") == ["m1"]
        assert live_count(snapshot.parts) == 2
        snapshot = commit(index, change)
        assert names(snapshot, "new") == ["m1"]
        assert live_count(snapshot.parts) == 2

    def test_removing_by_record_leaves_the_others(self, index: SearchIndex) -> None:
        """A record that is forgotten goes, whatever segment it came from."""
        commit(index, IndexChange(EMPTY, add=[document("m1"), document("m2"), document("m1", origin="b")]))
        snapshot = commit(index, IndexChange(EMPTY, remove_records={"m1"}, erase=True))
        assert names(snapshot, "port") == ["m2"]
        assert live_count(snapshot.parts) == 1

    def test_removing_what_is_not_there_is_nothing(self, index: SearchIndex) -> None:
        """Catching up may be repeated after a kill; absence is no error."""
        snapshot = commit(index, IndexChange(EMPTY, remove_origins={"x"}, remove_records={"y"}))
        assert live_count(snapshot.parts) == 0

    def test_a_snapshot_does_not_change(self, index: SearchIndex) -> None:
        """A search that runs while others write sees one state from beginning to end."""
        before = commit(index, IndexChange(manifest("a"), add=[document("m1"), document("m2")]))
        commit(index, IndexChange(EMPTY, remove_records={"m1"}, erase=True, add=[document("m3")]))
        assert names(before, "port") == ["m1", "m2"]
        assert before.manifest == manifest("a")
        assert before.parts[0].document(0).record == "m1"

    def test_terms_from_a_prefix_are_in_order(self, index: SearchIndex) -> None:
        """A prefix stands for the words that begin with it."""
        snapshot = commit(index, IndexChange(EMPTY, add=[document("m1", "port portal portion pot Éport")]))
        (part,) = snapshot.parts
        assert part.terms_from("port", 10) == ["port", "portal", "portion"]
        assert part.terms_from("port", 2) == ["port", "portal"]
        assert part.terms_from("zzz", 2) == []

    def test_one_writer_at_a_time(self, index: SearchIndex) -> None:
        """Two that index at once must not wait for each other, nor fail (OPEN-SEARCH-05)."""
        seen: list[object] = []

        def ask() -> None:
            with index.writing() as other:
                seen.append(other)

        with index.writing() as writer:
            assert writer is not None
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
        assert seen == [None]
        with index.writing() as writer:
            assert writer is not None

    def test_many_commits_stay_few_parts(self, index: SearchIndex) -> None:
        """A turn at a time must not make an index of thousands of files, nor lose one of them."""
        for number in range(60):
            commit(index, IndexChange(EMPTY, add=[document(f"m{number}", f"turn{number} port")]))
        snapshot = index.snapshot()
        assert snapshot is not None
        assert names(snapshot, "port") == sorted(f"m{number}" for number in range(60))
        assert names(snapshot, "turn17") == ["m17"]

    def test_hostile_text_is_kept(self, index: SearchIndex) -> None:
        """Whatever stands in a record can be indexed and comes back."""
        text = "a\x00b \udce9 \ufffe " + "x" * 70_000
        item = document("m1", text, metadata={"k\u2028": [None, {"d": "é"}]})
        snapshot = commit(index, IndexChange(EMPTY, add=[item]))
        assert snapshot.parts[0].document(0) == item.document

    def test_every_term_is_found_with_its_count(self, index: SearchIndex) -> None:
        """What the analyzer gives comes back as it went in, whatever the script and the signs in it."""
        texts = [
            "port port port memory.char_limit C++ C# it's ADR-016",
            "上海 東京タワー ภาษาไทย مرحبا 🙂 ½ ﷺ \u2028x\u00a0y",
            "a\x1f1 b\x1e c\x1d \x85 \udce9 ß ſ İ",
            "",
        ]
        items = [document(f"m{at}", text) for at, text in enumerate(texts)]
        (part,) = commit(index, IndexChange(EMPTY, add=items)).parts
        for number, item in enumerate(items):
            for term, count in item.analysis.counts.items():
                numbers, counts = part.postings(term)
                assert dict(zip(numbers, counts, strict=True))[number] == count
        assert part.terms_from("", 1000) == sorted({t for item in items for t in item.analysis.counts})

    def test_terms_that_no_analyzer_gives_are_found_too(self, index: SearchIndex) -> None:
        """The index does not lean on what terms look like today."""
        odd = ["a b", "a", "a\x1f2", "\x1e", "a\u3000", "\udc80", "a\nb", "x" * 300]
        item = document("m1", "x")
        counts = {term: at + 1 for at, term in enumerate(odd)}
        (part,) = commit(index, IndexChange(EMPTY, add=[replace(item, analysis=Analysis(counts, 9))])).parts
        for term, count in counts.items():
            assert [list(values) for values in part.postings(term)] == [[0], [count]]
        assert set(part.terms_from("a", 10)) == {"a", "a b", "a\x1f2", "a\u3000", "a\nb"}
        assert list(part.postings("\udc81")[0]) == []

    def test_counts_keep_their_documents(self, index: SearchIndex) -> None:
        """Postings are in the order of the documents, whatever the counts."""
        items = [document(f"m{at}", "port " * (1 + at * 7 % 5)) for at in range(40)]
        (part,) = commit(index, IndexChange(EMPTY, add=items)).parts
        numbers, counts = part.postings("port")
        assert list(numbers) == list(range(40))
        assert list(counts) == [1 + at * 7 % 5 for at in range(40)]

    def test_closing_loses_nothing(self, index: SearchIndex) -> None:
        """A closed index opens itself again."""
        commit(index, IndexChange(manifest("a"), add=[document("m1")]))
        index.close()
        snapshot = index.snapshot()
        if snapshot is not None:
            assert names(snapshot, "port") == ["m1"]


class StoredIndexContract(SearchIndexContract):
    """What an index does beside that if it keeps its parts on disk."""

    def test_what_is_erased_is_not_even_there_as_removed(self, index: SearchIndex) -> None:
        """The files hold nothing of it, also where an earlier commit had removed it already."""
        commit(index, IndexChange(EMPTY, add=[document("m1", "alpha"), document("m2", "omega", origin="b")]))
        commit(index, IndexChange(EMPTY, add=[document("m3", "omega"), document("m4", "alpha", origin="b")]))
        commit(index, IndexChange(EMPTY, remove_origins={"b"}))
        snapshot = commit(index, IndexChange(EMPTY, remove_records={"m2", "m3"}, erase=True))
        held = [part.document(number) for part in snapshot.parts for number in range(part.size)]
        assert "omega" not in {one.text for one in held}
        assert [list(part.postings("omega")[0]) for part in snapshot.parts] == [[]] * len(snapshot.parts)
        assert names(snapshot, "alpha") == ["m1"]

    def test_merging_changes_nothing(self, index: SearchIndex) -> None:
        """Documents keep their terms, numbers and order when their parts become one."""
        for at in range(30):
            commit(
                index, IndexChange(EMPTY, add=[document(f"m{at}", f"turn{at} port port", session=f"s{at}")])
            )
        commit(index, IndexChange(EMPTY, remove_records={"m3", "m29"}, erase=True))
        snapshot = commit(index, IndexChange(EMPTY))
        assert len(snapshot.parts) < 20
        found = {}
        for part in snapshot.parts:
            counts = dict(zip(*part.postings("port"), strict=True))
            for number in set(range(part.size)) - set(part.removed):
                found[part.document(number).record] = (counts[number], part.column("session")[number])
        assert found == {f"m{at}": (2.0, key_of(f"s{at}")) for at in range(30) if at not in (3, 29)}
