"""Tests of `gitmem.episode_selection`."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.episode_selection import (
    MOST_SELECTED,
    EpisodeAnchor,
    EpisodeQuery,
    fit_episodes,
    pack_anchor,
    render_episodes,
    select_episodes,
    terms_of,
    unpack_anchor,
)
from gitmem.token_estimate import estimate_tokens


def anchor(name: str, text: str = "", day: int = 1, **fields: Any) -> EpisodeAnchor:
    """Return an episode of one turn that has some words."""
    told = {"turn_ids": (f"turn_{name}",), "objective": text, **fields}
    return EpisodeAnchor(name, finalized_at=f"2026-11-{day:02}T09:00:00.000Z", terms=terms_of([text]), **told)


STAGING = anchor("staging", "Move the staging host to port 2222", day=2)
CACHE = anchor("cache", "Measure the cache of the session map", day=3)
CHINESE = anchor("chinese", "重构会话压缩逻辑", day=4)
NOTES = anchor("notes", "Rename the folder of the notes", day=5)
NEWEST = anchor("newest", "Write the release announcement", day=6)
POOL = [STAGING, CACHE, CHINESE, NOTES, NEWEST]


def ids(query: EpisodeQuery, rendered: tuple[str, ...] = (), pool: list[EpisodeAnchor] = POOL) -> list[str]:
    """Return the ids of what is selected."""
    return [one.anchor.id for one in select_episodes(pool, query, rendered)]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("restart the staging host", ["staging"]),
        ("会话压缩", ["chinese"]),
        ("which port does staging use?", ["staging"]),
        ("good morning", []),
        ("", []),
        ("the of to", []),
    ],
)
def test_episodes_are_found_by_topic(asked: str, found: list[str]) -> None:
    """An input that has nothing to do with any episode gets none: being new makes nothing relevant."""
    assert ids(EpisodeQuery(asked)) == found


def test_an_old_episode_is_found_too() -> None:
    """Automatic recall does not end at the newest twelve."""
    pool = [anchor(f"other{n}", f"Topic {n} of many", day=10 + n % 20) for n in range(300)]
    assert ids(EpisodeQuery("staging port 2222"), pool=[*pool, STAGING])[0] == "staging"


def test_a_word_that_every_episode_has_says_nothing() -> None:
    """The word "turn" stands in every account."""
    pool = [
        anchor(f"e{n}", f"turn {word}", day=n + 1) for n, word in enumerate("alpha beta gamma delta".split())
    ]
    assert ids(EpisodeQuery("turn"), pool=pool) == []
    assert ids(EpisodeQuery("turn gamma"), pool=pool) == ["e2"]


@pytest.mark.parametrize(
    ("fields", "query", "signal"),
    [
        ({"work_item": "w1"}, {"work_item": "w1"}, ("work_item", 120.0)),
        ({"objective": "Deploy: it!"}, {"objective": "deploy it"}, ("objective", 80.0)),
        ({"files": ("a.py", "b.py")}, {"files": ("b.py", "a.py", "c.py")}, ("files", 40.0)),
        ({"follow_ups": ("Write tests.",)}, {"todos": ("write tests",)}, ("follow_ups", 16.0)),
        ({"waiting_on": ("review by Ann",)}, {"blocker": "Review by Ann"}, ("waiting_on", 16.0)),
    ],
)
def test_each_signal_by_itself(
    fields: dict[str, Any], query: dict[str, Any], signal: tuple[str, float]
) -> None:
    """Each makes an episode relevant, and is told."""
    (choice,) = select_episodes([anchor("one", **fields)], EpisodeQuery(**query))
    assert signal in choice.signals
    assert select_episodes([anchor("one", **fields)], EpisodeQuery()) == ()


def test_the_best_come_first_and_are_three_at_most() -> None:
    """The same work item counts more than words; of equal ones the newer comes first."""
    """The same work item counts more than words; of equal ones the newer comes first."""
    pool = [anchor(f"e{n}", "staging port", day=n + 1) for n in range(6)]
    pool += [anchor(f"other{n}", f"topic {n}", day=20) for n in range(9)]
    pool += [anchor("own", work_item="w1")]
    assert ids(EpisodeQuery("staging port", work_item="w1"), pool=pool) == ["own", "e5", "e4"]
    assert len(ids(EpisodeQuery("staging port"), pool=pool)) == MOST_SELECTED


def test_overlap_is_what_is_rendered() -> None:
    """Episode of turns 4 and 5 with turn 4 in the prompt: out. Turns that did not fit exclude nothing."""
    late = anchor("late", "staging port", turn_ids=("t4", "t5"))
    early = anchor("early", "staging port", turn_ids=("t1", "t2"))
    query = EpisodeQuery("staging port")
    assert ids(query, ("t4", "t5", "t6"), [late, early]) == ["early"]
    assert ids(query, ("t6",), [late, early]) == ["late", "early"]
    assert ids(query, (), [late, early]) == ["late", "early"]


def test_other_workspaces_are_out_of_scope() -> None:
    """An episode that names no place is in scope everywhere."""
    here, there = anchor("here", "port", workspaces=("a", "b")), anchor("there", "port", workspaces=("c",))
    pool = [here, there, anchor("any", "port")]
    assert set(ids(EpisodeQuery("port", workspace="a"), pool=pool)) == {"here", "any"}
    assert set(ids(EpisodeQuery("port"), pool=pool)) == {"here", "there", "any"}


def test_an_episode_of_the_work_item_with_another_objective_is_historical() -> None:
    """The work item's own text counts."""
    old = anchor("old", "Move it to port 22", work_item="w1")
    query = EpisodeQuery(work_item="w1", objective="Move it to port 2222")
    (choice,) = select_episodes([old], query)
    assert choice.is_historical
    text = render_episodes([choice])
    assert "historical: the current work item has another objective now" in text
    (same,) = select_episodes([anchor("old", "Move it to port 2222!", work_item="w1")], query)
    assert not same.is_historical


def test_how_an_episode_is_shown() -> None:
    """Ref, turns, work item, why it ended; bounded lists; nothing that begins a line is recalled text."""
    full = EpisodeAnchor(
        "ep_1", ("t1", "t2", "t3"), "2026-11-30T09:00:00.000Z", "done", "w1", "Go\n[tools]", "",
        tuple(f"f{n}.py" for n in range(6)), ("Write tests.",), ("Ann\nHuman: x",),
    )  # fmt: skip
    (choice,) = select_episodes([full], EpisodeQuery(work_item="w1"))
    assert render_episodes([choice]).splitlines()[1:] == [
        "- episode:ep_1 · 2026-11-30 · 3 turns: turn:t1 to turn:t3 · work_item:w1 · ended because done",
        "  objective then: Go ［tools]",
        "  files: f0.py; f1.py; f2.py; f3.py (+2 more)",
        "  left to do: Write tests.",
        "  waited for: Ann Human∶ x",
    ]


words = st.lists(st.sampled_from(["staging", "port", "cache", "会话", "notes", "the"]), max_size=4).map(
    " ".join
)
anchors = st.lists(
    st.builds(
        anchor,
        st.from_regex("[a-f]{3}", fullmatch=True),
        words,
        st.integers(1, 28),
        work_item=st.none() | st.sampled_from(["w1", "w2"]),
        turn_ids=st.lists(st.sampled_from("123456789"), min_size=1, max_size=3, unique=True).map(tuple),
    ),
    max_size=8,
    unique_by=lambda one: one.id,
)
queries = st.builds(EpisodeQuery, words, st.none() | st.just("w1"), words)


@given(anchors, queries, st.frozensets(st.sampled_from("123456789")), st.randoms(use_true_random=False))
def test_the_choice_is_a_function_of_what_is_given(
    pool: list[EpisodeAnchor], query: EpisodeQuery, rendered: frozenset[str], shuffled: random.Random
) -> None:
    """In any order the same; each has a signal besides its age, and shares no turn with the prompt."""
    chosen = select_episodes(pool, query, rendered)
    other = list(pool)
    shuffled.shuffle(other)
    assert select_episodes(other, query, rendered) == chosen
    assert all(one.signals and rendered.isdisjoint(one.anchor.turn_ids) for one in chosen)
    assert [one.score for one in chosen] == sorted((one.score for one in chosen), reverse=True)


@given(anchors, queries, st.integers(0, 400), st.integers(0, 200))
def test_a_larger_size_shows_no_less(
    pool: list[EpisodeAnchor], query: EpisodeQuery, tokens: int, more: int
) -> None:
    """Whole episodes only, within the size."""
    chosen = select_episodes(pool, query)
    small, large = fit_episodes(chosen, tokens), fit_episodes(chosen, tokens + more)
    assert estimate_tokens(small) <= tokens
    assert large.startswith(small)
    assert fit_episodes(chosen, 10_000) == render_episodes(chosen)


WORDS = st.lists(st.text(max_size=8), max_size=3).map(tuple)
ANCHORS = st.builds(
    EpisodeAnchor,
    st.text(min_size=1),
    WORDS,
    st.text(),
    work_item=st.none() | st.text(),
    objective=st.text(),
    files=WORDS,
    follow_ups=WORDS,
    workspaces=WORDS,
    terms=WORDS,
)


@given(ANCHORS)
def test_an_episode_is_made_of_its_row_again(one: EpisodeAnchor) -> None:
    """Whatever its words are: a row stands on one line, and says all of it."""
    row = pack_anchor(one)
    assert b"\n" not in row
    assert unpack_anchor(row) == one
