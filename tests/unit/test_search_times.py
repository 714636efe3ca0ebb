"""When hits happened: episodes say it themselves; of files and entries history does, not the files' times."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from homes import new_home
from search_home import SearchHome

from fixtures import commit_all, git, set_identity
from gitmem import AgentHome
from gitmem.index_status import should_catch_up
from gitmem.indexer import Budget
from gitmem.times import format_time, parse_timestamp

STORE = "memory/MEMORY.md"
T = 1_740_000_000
DAY = 86_400


@pytest.fixture(params=[False, True], ids=["unindexed", "indexed"])
def settle(request: pytest.FixtureRequest) -> Callable[[SearchHome], object]:
    """What a search is made over: what is not indexed yet, or what is."""
    return (lambda home: home.catch_up()) if request.param else (lambda home: None)


@pytest.fixture
def home(tmp_path: Path) -> SearchHome:
    """A home with an index on disk."""
    return SearchHome.on_disk(tmp_path)


def _times(home: SearchHome, query: str) -> dict[str, str]:
    """Return title and time of the hits, and see that `get` gives each the same time."""
    hits = home.search(query).results
    assert [home.searcher.get(hit.source_ref).updated_at for hit in hits] == [hit.updated_at for hit in hits]
    return {hit.snippet: hit.updated_at for hit in hits}


def _touch(home: SearchHome, *paths: str) -> None:
    for path in paths:
        os.utime(home.root / path)


def test_files_are_dated_by_their_commits(home: SearchHome, settle: Callable[[SearchHome], object]) -> None:
    """Touching a file changes nothing; an edit that is not committed happened when it was saved."""
    home.write({"notes/a.md": "word a", "notes/b.md": "word b", "memory/self.md": "word self"})
    home.commit(when=T)
    home.write({"notes/b.md": "word b edited"}, mtime=T + 3 * DAY)
    _touch(home, "notes/a.md", "memory/self.md")
    settle(home)
    at = format_time(T)
    expected = {"word a": at, "word self": at, "word b edited": format_time(T + 3 * DAY)}
    assert _times(home, "word") == expected
    assert home.texts("word", sort="newest")[0] == "word b edited"
    assert len(home.refs("word", until=T + DAY)) == 2
    assert home.texts("word", since=T + DAY) == ["word b edited"]
    _touch(home, "notes/a.md")
    assert _times(home, "word") == expected
    settle(home)
    assert _times(home, "word") == expected


def test_an_entry_keeps_its_time_when_others_come(
    home: SearchHome, settle: Callable[[SearchHome], object]
) -> None:
    """Only what is not committed is as new as the file."""
    home.write({STORE: "fact one\n"})
    home.commit(when=T)
    home.write({STORE: "fact one\n§\nfact two\n"})
    home.commit(when=T + DAY)
    home.write({STORE: "fact one\n§\nfact two\n§\nfact three\n"}, mtime=T + 2 * DAY)
    settle(home)
    days = {"fact one": 0, "fact two": 1, "fact three": 2}
    assert _times(home, "fact") == {text: format_time(T + day * DAY) for text, day in days.items()}


@pytest.mark.parametrize("key", ["finalized_at", "ended"])
def test_an_episode_happened_when_it_ended(
    home: SearchHome, settle: Callable[[SearchHome], object], key: str
) -> None:
    """Neither its file nor its commit says so; only one that names no time is as old as its commit."""
    front = f'---\nid: e1\n{key}: "2026-03-04T10:00:00.000Z"\n---\n'
    home.write({"episodes/2026-03/04-a.md": f"{front}# A\n\nword"})
    home.write({"episodes/2026-03/05-b.md": f"---\nid: e2\n{key}: soon\n---\n# B\n\nword too"})
    home.commit(when=T)
    settle(home)
    found = {hit.source_ref: hit.updated_at for hit in home.search("word").results}
    assert found == {"episode:e1": "2026-03-04T10:00:00.000Z", "episode:e2": format_time(T)}
    assert {ref: home.searcher.get(ref).updated_at for ref in found} == found
    assert home.refs("word", since=parse_timestamp("2026-03-04")) == ["episode:e1"]


def test_the_index_learns_of_a_commit(home: SearchHome) -> None:
    """What was indexed before it was committed is dated anew, in slices too, and nothing else is."""
    home.write({"notes/a.md": "word a", "notes/b.md": "word b", STORE: "word c\n"}, mtime=T + 9 * DAY)
    home.catch_up()
    assert set(_times(home, "word").values()) == {format_time(T + 9 * DAY)}
    assert not should_catch_up(home.view())
    home.commit(when=T)
    assert should_catch_up(home.view())
    while home.catch_up(budget=Budget(seconds=0.0)).pending:
        pass
    assert set(_times(home, "word").values()) == {format_time(T)}
    assert {document.ts for document in home.documents()} == {format_time(T)}
    home.write({"notes/d.md": "word d"})
    home.commit(when=T + DAY)
    assert home.catch_up().indexed == 1
    home.reset(1)
    assert home.catch_up().indexed == 2  # the document, and the one in whose place it comes
    assert _times(home, "word d")["word d"] != format_time(T + DAY)


def test_a_fresh_clone_and_one_more_fact_leave_times_as_they_were(tmp_path: Path) -> None:
    """In a real home, all of whose files were written just now."""
    with new_home(tmp_path / "home") as home:
        set_identity(tmp_path / "home")
        episode = '---\nid: e1\nfinalized_at: "2026-03-04T10:00:00Z"\n---\n# E\n\nharbour'
        files = {"notes/a.md": "harbour note", STORE: "harbour fact\n", "episodes/2026-03/e.md": episode}
        commit_all(tmp_path / "home", files=files, when=T)
        before = _of(home)
        assert before == {
            "note": format_time(T),
            "entry": format_time(T),
            "episode": "2026-03-04T10:00:00.000Z",
        }
        assert home.memory("add", target="memory", content="Another one.").success
        assert _of(home) == before
        home.reindex()
        assert _of(home) == before
    git("clone", "-q", tmp_path / "home", tmp_path / "clone", cwd=tmp_path)
    with AgentHome.open(tmp_path / "clone") as clone:
        assert _of(clone) == before
        clone.reindex()
        assert _of(clone) == before


def _of(home: AgentHome) -> dict[str, str]:
    return {hit.kind: hit.updated_at for hit in home.search("harbour").results}
