"""Tests of `gitmem.cache_identity`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitmem.cache_identity import CacheIdentity, identify
from gitmem.context_planner import plan_context
from gitmem.context_section import Section, make_section
from gitmem.execution_environment import read_environment

HOME = "h0123456789abcde"
SECTIONS = {
    "agents_md": "Be careful.",
    "agent_memory_self": "I deploy.",
    "agent_home_notes_catalog": "- notes/staging.md",
    "relevant_episode_memory": "- episode:e1",
    "recent_turns": "Turn 1",
    "current_work_item": "Deploy staging.",
    "active_tasks": "- task:t1",
    "current_input": "Go on.",
}
PLACE: dict[str, Any] = {"workspace_id": "ws1", "cwd": "/src", "tools": [{"name": "shell"}]}


def identity(
    changes: dict[str, str] | None = None,
    place: dict[str, Any] | None = None,
    budget: int = 4096,
    home: str = HOME,
) -> CacheIdentity:
    """Return the identity of a context in which some sections or facts are others."""
    told = SECTIONS | (changes or {})
    sections: list[Section] = [make_section(name, text, compact=text) for name, text in told.items() if text]
    semantics = read_environment(PLACE | (place or {})).semantics
    return identify(home, semantics, sections, plan_context(sections, budget).sections)


BASE = identity()


@pytest.mark.parametrize(
    "name", ["current_input", "recent_turns", "relevant_episode_memory", "current_work_item", "active_tasks"]
)
def test_what_changes_in_each_turn_keeps_the_key(name: str) -> None:
    """Another input ranks other episodes; the cached beginning of the prompt is still good."""
    other = identity({name: "Something else."})
    assert other.cache_key == BASE.cache_key
    assert other.fingerprint != BASE.fingerprint
    assert [tier for tier in BASE.tiers if other.tiers[tier] != BASE.tiers[tier]] == ["turn"]


@pytest.mark.parametrize(
    ("name", "tier"),
    [("agents_md", "stable"), ("agent_memory_self", "agent"), ("agent_home_notes_catalog", "agent")],
)
def test_an_edit_of_memory_changes_the_key(name: str, tier: str) -> None:
    """Once; the tier that changed is told."""
    other = identity({name: "Something else."})
    assert other.cache_key != BASE.cache_key
    assert [one for one in BASE.tiers if other.tiers[one] != BASE.tiers[one]] == [tier]
    assert identity({name: "Something else."}) == other


def test_the_budget_does_not_change_the_key() -> None:
    """The key covers what there is, not what fitted."""
    small = identity(budget=60)
    assert small.cache_key == BASE.cache_key
    assert small.fingerprint != BASE.fingerprint


@pytest.mark.parametrize(
    "place",
    [{"cwd": "/other"}, {"anchor": "/src"}, {"access_mode": "read"}, {"workspace_id": "ws2"},
     {"tools": [{"name": "shell", "schema": {}}]}],
)  # fmt: skip
def test_where_work_happens_changes_the_key(place: dict[str, Any]) -> None:
    """Tools and folders are part of what a provider has cached."""
    assert identity(place=place).cache_key != BASE.cache_key


def test_bookkeeping_changes_nothing() -> None:
    """An id of the run is no part of a prompt."""
    assert identity(place={"execution_root_id": "run_7"}) == BASE


def test_another_home_has_another_key() -> None:
    """The home is the agent."""
    other = identity(home="hfedcba987654321")
    assert other.cache_key.startswith("hfedcba987654321:ctx:")
    assert other.cache_key[-16:] != BASE.cache_key[-16:]


def test_the_order_of_candidates_does_not_matter() -> None:
    """They are put in order first; what is rendered has an order of its own, which counts."""
    sections = [make_section(name, text, compact=text) for name, text in SECTIONS.items()]
    placed = plan_context(sections, 4096).sections
    one, other = identify(HOME, {}, sections, placed), identify(HOME, {}, sections[::-1], placed)
    assert one == other
    swapped = (placed[1], placed[0], *placed[2:])
    assert identify(HOME, {}, sections, swapped).fingerprint != one.fingerprint
    changed = (replace(placed[0], text="T"), *placed[1:])
    assert identify(HOME, {}, sections, changed).tiers["stable"] != one.tiers["stable"]
