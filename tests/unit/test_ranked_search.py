"""What ranks before what: conversations, people, times, and what was kept on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from search_home import SearchHome

from gitmem.templates import render_templates


@pytest.fixture(params=["memory", "disk"])
def home(tmp_path: Path, request: pytest.FixtureRequest) -> SearchHome:
    """An empty home, its index in memory or on disk."""
    return SearchHome.in_memory(tmp_path) if request.param == "memory" else SearchHome.on_disk(tmp_path)


def talk(home: SearchHome, *texts: str, session: str = "s1", **fields: str) -> list[str]:
    """Say texts one after another; return their refs."""
    return [home.say(text, session=session, **fields).source_ref for text in texts]


def test_the_answer_is_found_by_the_words_of_its_question(home: SearchHome) -> None:
    """Half of the words of an answer stand in what it answers."""
    talk(home, "Good morning.", "Rain again.", session="s0")
    _, asked, answer, _ = talk(
        home, "Hello there.", "Where do you keep the staging key?", "In the safe, left side.", "Thanks."
    )
    talk(home, "The staging area is muddy.", "Indeed.", session="s2")
    assert set(home.refs("Where is the staging key kept?")[:2]) == {asked, answer}


@pytest.mark.parametrize("query", ["staging", "ADR-016", "日本語"])
def test_a_look_up_shows_only_what_holds_the_word(home: SearchHome, query: str) -> None:
    """Whoever looks up a name does not want what stands beside it, however many terms the name has."""
    talk(home, "Before.", "Said: staging, ADR-016, 私は日本語を勉強します", "After.")
    assert len(home.refs(query)) == 1


def test_in_the_order_of_time_only_matches_are_listed(home: SearchHome) -> None:
    """What only stands beside a match would stand among the matches."""
    refs = talk(home, "The staging server.", "Yes.", "Another staging server.", "No.")
    assert set(home.refs("staging server", sort="newest")) == {refs[0], refs[2]}
    assert set(home.refs("staging server")) >= set(refs)


def test_who_is_named_has_said_it(home: SearchHome) -> None:
    """Evidence for what somebody did is said by him."""
    bo, ana = (
        home.say("I sold the red bicycle.", session=name, author=name.title()).source_ref
        for name in ("bo", "ana")
    )
    assert home.refs("Which bicycle did Bo sell?")[:2] == [bo, ana]
    assert home.refs("Which bicycle did Ana sell?")[:2] == [ana, bo]
    assert home.refs("which bicycle did ana sell?")[:2] == [ana, bo]


def test_the_day_that_is_named_comes_first(home: SearchHome) -> None:
    """A date in a question is met by when it was said, not by words in it."""
    refs = {
        day: home.say("We walked along the river.", session=day, ts=f"2023-05-{day}T10:00:00.000Z").source_ref
        for day in ("01", "03", "09", "20")
    }
    found = home.refs("When did we walk along the river on 3 May 2023?")
    assert found[:2] == [refs["03"], refs["09"]]


def test_what_was_kept_is_found_among_all_that_was_said(home: SearchHome) -> None:
    """A note that fits a question is not lost behind the messages that use its words."""
    for number in range(60):
        talk(home, "Is the port open?", "The server answers on its port.", session=f"s{number}")
    home.write({"memory/MEMORY.md": "The staging server listens on port 2222.\n"})
    home.catch_up()
    assert home.search("Which port does the staging server listen on?").results[0].kind == "entry"


@pytest.mark.parametrize("indexed", range(5))
def test_a_conversation_that_is_half_indexed_ranks_as_a_whole(home: SearchHome, indexed: int) -> None:
    """Neighbours are neighbours, wherever the index ends."""
    texts = ["Where is the red key?", "In the safe.", "And the blue key?", "Lost, I fear."]
    refs = talk(home, *texts[:indexed])
    home.catch_up()
    refs += talk(home, *texts[indexed:])
    found = [(hit.source_ref, hit.score) for hit in home.search("Where is the blue key?").results]
    home.catch_up()
    again = [(hit.source_ref, hit.score) for hit in home.search("Where is the blue key?").results]
    assert found == again
    assert {ref for ref, _ in found} == set(refs)


def test_an_explanation_says_what_a_score_is_made_of(home: SearchHome) -> None:
    """Its terms, those of its neighbours by distance, and what conversation, time and author did."""
    talk(home, "Where is the red key?", "In the safe.")
    (_, beside) = home.search("red key", explain=True).results
    assert beside.explanation is not None
    assert beside.explanation["terms"]["key"] == {
        "count": 0,
        "weight": beside.explanation["terms"]["key"]["weight"],
        "near": {"-1": 1.0},
    }
    parts = {
        name: beside.explanation[name] for name in ("text", "conversation", "time", "factor", "as_typed")
    }
    total = (parts["text"] + parts["conversation"] + parts["time"]) * parts["factor"] + parts["as_typed"]
    assert beside.score == pytest.approx(total, abs=1e-5)


def test_an_explanation_tells_what_words_as_typed_add(home: SearchHome) -> None:
    """Else the parts would not make the score."""
    home.say("the red bicycles")
    home.say("a red bicycle")
    (first, second) = home.search("red bicycle", explain=True).results
    assert (first.snippet, second.snippet) == ("a red bicycle", "the red bicycles")
    assert first.explanation is not None
    assert second.explanation is not None
    assert first.explanation["as_typed"] > 0 == second.explanation["as_typed"]


def test_pages_repeat_nothing_while_turns_are_written(home: SearchHome) -> None:
    """Each new record changes how rare every word is."""
    for number in range(30):
        home.say(f"staging port {number}" + " filler" * (number % 7))
    seen: list[str] = []
    cursor = None
    for _ in range(10):
        reply = home.search("staging port", limit=5, cursor=cursor)
        seen += [hit.source_ref for hit in reply.results]
        cursor = reply.cursor
        if cursor is None:
            break
        home.say("staging " + "port " * 3)
    assert len(seen) == len(set(seen)) >= 30


def test_chinese_words_with_a_particle_in_them_tell_texts_apart(home: SearchHome) -> None:
    """`对` says nothing alone, but a 对象 (an object) is no 图象 (an image)."""
    right = home.say("对象存储每月费用三百元").source_ref
    home.say("图象存储每月费用五百元")
    reply = home.search("对象存储每月费用是多少")
    assert reply.results[0].source_ref == right
    start, end = reply.results[0].highlights[0]
    assert reply.results[0].snippet[start:end] == "对象存储每月费用"


def test_a_prefix_in_text_without_spaces_is_a_part_of_it(home: SearchHome) -> None:
    """Every place in such text begins a word, and a single character of it is not enough."""
    ref = home.say("大别山项目的预算").source_ref
    home.say("桂林山水")
    assert home.refs("大别山*", advanced=True) == [ref]


def test_a_hit_is_short_whatever_its_source(home: SearchHome) -> None:
    """A reply is bounded: the objective of a work item may be a whole document."""
    event = {"kind": "work_item", "action": "create", "work_item_id": "w1", "plan_status": "x" * 5000}
    home.bent.append({**event, "objective": "staging " * 5000}, revision=1, status="open")
    (hit,) = home.search("staging").results
    assert len(hit.title) <= 500
    assert len(str(hit.metadata)) < 2000


def test_a_whole_word_is_a_prefix_of_itself(home: SearchHome) -> None:
    """Its stem, under which it is indexed, is shorter than the word."""
    ref = home.say("the deployment failed").source_ref
    assert home.refs("deployment*", advanced=True) == [ref]


def test_the_files_of_a_new_home_say_nothing(home: SearchHome) -> None:
    """What gitmem wrote into them itself is no answer to a question (nobody holds standing orders yet)."""
    for path, content in render_templates(agent="aria", home_id="0" * 16).items():
        home.write({path: content})
    home.catch_up()
    assert home.refs("What are the standing orders of the operator?") == []
    home.write({"memory/operator.md": "# Operator\n\nStanding orders: be brief.\n"})
    assert home.refs("standing orders") == ["agent_memory:operator"]
