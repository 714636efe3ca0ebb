"""Tests of `gitmem.turn_places` and `gitmem.episode_anchors`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import new_home

from fixtures import CounterClock
from gitmem import AgentHome
from gitmem.episode_anchors import EpisodeAnchors
from gitmem.episode_selection import EpisodeQuery
from gitmem.layout import Layout
from gitmem.turn_places import TurnPlaces


@pytest.fixture
def home(tmp_path: Path, clock: CounterClock) -> Iterator[AgentHome]:
    """An agent home."""
    with new_home(tmp_path / "home", now=clock) as made:
        yield made


def say(home: AgentHome, text: str, session: str | None = "s1") -> str:
    """Record a turn; return its id."""
    with home.turn(session=session) as turn:
        turn.message("user", text)
    return turn.id


def places_of(home: AgentHome) -> TurnPlaces:
    """Return what a new process finds."""
    return TurnPlaces(home.layout, home.ledger)


def test_the_last_turns_of_a_session(home: AgentHome) -> None:
    """Oldest first; those of another session only where all are asked for."""
    one, two, three = say(home, "a"), say(home, "b", "s2"), say(home, "c")
    places = places_of(home)
    assert [place.turn for place in places.last("s1", 12)] == [one, three]
    assert [place.turn for place in places.last(None, 2)] == [two, three]
    four = say(home, "d")
    assert [place.turn for place in places.last("s1", 2)] == [three, four]
    assert places.last("s3", 12) == []
    assert [place.turn for place in places_of(home).last(None, 12)] == [one, two, three, four]


def test_turns_of_more_segments_than_are_kept_in_memory(
    home: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory does not grow with the ledger: the turns of most segments are read when they are wanted."""
    monkeypatch.setattr("gitmem.turn_places._READ", 2)
    told = []
    for number in range(15):
        with home.turn(session=f"s{number % 3}") as turn:
            for _ in range(10):
                turn.message("user", f"{number} " * 1_200)
        told.append(turn.id)
    places = places_of(home)
    assert len(home.ledger.segments()) > 4
    for _ in range(2):
        assert [place.turn for place in places.last(None, 12)] == told[3:]
        assert [place.turn for place in places.last("s1", 12)] == told[1::3]
        paths = {place.turn: place.path for place in places.last(None, 15)}
        wanted = {told[14]: paths[told[14]], told[0]: paths[told[0]], "other": paths[told[0]]}
        assert [place.turn for place in places.find(wanted)] == [told[0], told[14]]
        assert [turn.id for turn in places.read(places.find({told[5]: paths[told[5]]}))] == [told[5]]
    assert len(places._read) == 2


def test_bookkeeping_is_no_turn_to_recall(home: AgentHome) -> None:
    """A session's beginning and a recorded context hold nothing that was said; the events are found."""
    with home.turn(session="s1") as turn:
        turn.event("session", event="start", source="cli")
    told = say(home, "a")
    home.context(session="s1", record=True)
    places = places_of(home)
    assert [place.turn for place in places.last("s1", 12)] == [told]
    assert [one.body["event"] for one in places.session_events("s1")] == ["start"]
    assert list(places.session_events("s2")) == []


def test_turns_are_read_with_whole_bodies(home: AgentHome) -> None:
    """A long text stands elsewhere, and is put back."""
    say(home, "long " * 10_000)
    places = places_of(home)
    (evidence,) = places.read(places.last("s1", 1))
    (message,) = evidence.of_kind("message")
    assert message.body["text"] == "long " * 10_000
    assert places.read([]) == []


def test_many_segments_are_told_by_their_newest_turn(home: AgentHome) -> None:
    """The last turns are the last ones, however many segments there are before."""
    turns = [say(home, "word " * 2_000, f"s{number % 2}") for number in range(24)]
    places = places_of(home)
    assert len(home.ledger.segments()) > 2
    for most in (1, 5, 24, 50):
        assert [place.turn for place in places.last(None, most)] == turns[-most:]
        assert [place.turn for place in places.last("s0", most)] == turns[::2][-most:]


def anchors_of(home: AgentHome, layout: Layout) -> EpisodeAnchors:
    """Return what a new process finds."""
    return EpisodeAnchors(layout, home._parts.repository, home.ledger)


def test_episodes_are_found_again_by_what_was_kept(home: AgentHome) -> None:
    """The same from the file as from the episodes, and from nothing where the file is damaged."""
    for number in range(6):
        say(home, f"Move the staging host number {number}")
        home.episode_close("s1")
    repository = home._parts.repository
    head = repository.head().commit
    assert head is not None
    tree = repository.read_commit(head).tree
    found = anchors_of(home, home.layout).index(tree)
    assert len(found) == 6
    kept = home.layout.derived / "facts" / "episode-anchors.json"
    assert kept.exists()
    query = EpisodeQuery("staging host number 3")
    again = anchors_of(home, home.layout).index(tree)
    assert again.select(query) == found.select(query)
    kept.write_bytes(kept.read_bytes()[:-20])
    assert anchors_of(home, home.layout).index(tree).select(query) == found.select(query)
    assert len(anchors_of(home, home.layout).index(None)) == 0
