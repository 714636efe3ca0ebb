"""Tests of `gitmem.context_planner`."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from context_checks import check_monotone, check_no_inversion, check_once, check_total
from hypothesis import given
from hypothesis import strategies as st

from gitmem.context_planner import ContextPlan, plan_context
from gitmem.context_section import SECTION_RULES, TIERS, Section, make_section, render_section
from gitmem.errors import BudgetExceeded, UsageError
from gitmem.text_cut import without_notice
from gitmem.token_estimate import estimate_tokens

LINE = "The staging host listens on port 2222 since Monday.\n"


def section(name: str, text: str, **fields: object) -> Section:
    """Return a section of normal weight."""
    given_ = {"tier": "turn", "priority": "normal", "drop_tier": "normal", "order": 1, **fields}
    return Section(id=name, text=text, **given_)  # type: ignore[arg-type]


def cost(name: str, text: str) -> int:
    """Return the tokens of a section."""
    return estimate_tokens(render_section(name, text))


def outcomes(plan: ContextPlan) -> dict[str, str]:
    """Return what became of each candidate."""
    return {one.id: one.outcome for one in plan.decisions}


def whole_lines(lines: list[str]) -> Callable[[int], str]:
    """Return a rendering at any size: as many lines as fit."""

    def fit(tokens: int) -> str:
        kept: list[str] = []
        for line in lines:
            if estimate_tokens("\n".join([*kept, line])) > tokens:
                break
            kept.append(line)
        return "\n".join(kept)

    return fit


@st.composite
def candidates(draw: st.DrawFn) -> list[Section]:
    """Draw sections of all kinds."""
    names = draw(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=7))
    made = []
    for name in names:
        words = draw(
            st.lists(st.sampled_from(["", "port 2222", "员工说端口", "🎉" * 9]), min_size=1, max_size=25)
        )
        lines = [f"{name}{number} {said}" for number, said in enumerate(words)]
        pinned = draw(st.booleans())
        short = lines[0] if pinned or draw(st.booleans()) else None
        made.append(
            Section(
                name,
                draw(st.sampled_from(TIERS)),
                draw(st.sampled_from(["critical", "high", "normal", "low"])),
                draw(st.sampled_from(["last", "late", "normal", "early"])),
                "\n".join(lines),
                draw(st.integers(0, 5)),
                compact=short,
                pinned=pinned,
                fit=whole_lines(lines) if draw(st.booleans()) else None,
                first=draw(st.none() | st.integers(1, 80)),
            )
        )
    return made


def try_plan(
    sections: list[Section], budget: int, count: Callable[[str], int] = estimate_tokens
) -> ContextPlan | None:
    """Return a plan, None where the pinned ones do not fit."""
    try:
        return plan_context(sections, budget, count)
    except BudgetExceeded:
        return None


@given(candidates(), st.integers(0, 1200))
def test_a_plan_keeps_its_promises(sections: list[Section], budget: int) -> None:
    """Within the budget, each section once, nothing instead of something of more weight."""
    plan = try_plan(sections, budget)
    if plan is not None:
        check_total(plan)
        check_once(plan, sections)
        check_no_inversion(plan, sections)


@given(candidates(), st.integers(0, 900), st.integers(0, 300))
def test_a_larger_budget_shows_no_less(sections: list[Section], budget: int, more: int) -> None:
    """A model that has more room must not know less."""
    small, large = try_plan(sections, budget), try_plan(sections, budget + more)
    if small is not None:
        assert large is not None
        check_monotone(small, large, sections)


@given(candidates(), st.integers(0, 900), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(
    sections: list[Section], budget: int, shuffled: random.Random
) -> None:
    """The same candidates make the same context, in whatever order they were read."""
    other = list(sections)
    shuffled.shuffle(other)
    assert try_plan(sections, budget) == try_plan(other, budget)


@given(candidates(), st.integers(0, 900))
def test_a_tokenizer_of_the_caller_is_kept_to(sections: list[Section], budget: int) -> None:
    """The whole is counted too: a tokenizer may count it higher than its parts."""

    def count(text: str) -> int:
        return len(text.split()) + len(text) // 100

    plan = try_plan(sections, budget, count)
    if plan is not None:
        check_total(plan, count)
        check_once(plan, sections)


def test_pinned_minimum_exactly_fits() -> None:
    """With the sum of the pinned compacts all of them are there; with one token less there is no context."""
    sections = [
        section(name, LINE * 50, pinned=True, compact=f"{name} in short", order=number)
        for number, name in enumerate("abc")
    ]
    least = sum(cost(name, f"{name} in short") for name in "abc")
    plan = plan_context(sections, least)
    assert [one.text for one in plan.sections] == ["a in short", "b in short", "c in short"]
    assert (plan.used, plan.minimum) == (least, least)
    assert {one.reason for one in plan.decisions} == {"selected_compact_for_pinned_minimum"}
    with pytest.raises(BudgetExceeded, match=rf"{least} tokens, and the budget is {least - 1}") as refused:
        plan_context(sections, least - 1)
    assert (refused.value.exit_code, refused.value.details) == (3, {"minimum": least, "budget": least - 1})


def test_a_pinned_section_that_is_shorter_than_its_compact_form_is_whole() -> None:
    """A notice can be longer than what it stands for."""
    plan = plan_context([section("a", "ok", pinned=True, compact="ok, and some words more")], cost("a", "ok"))
    assert outcomes(plan) == {"a": "full"}


def test_recent_turns_use_what_is_left() -> None:
    """A little too much history must not leave most of the budget unused, nor history to a catalog."""
    history = [f"turn {number}: {LINE.strip()}" for number in range(300)]
    turns = section(
        "recent_turns", "\n".join(history), priority="high", drop_tier="late", fit=whole_lines(history)
    )
    catalog = section("notes", LINE * 20, priority="low", drop_tier="early")
    assert cost("recent_turns", turns.text) > 4096
    plan = plan_context([turns, catalog], 4096)
    assert plan.used > 4096 - 40
    assert outcomes(plan) == {"recent_turns": "truncated", "notes": "omitted"}
    assert {one.reason for one in plan.decisions} == {"fitted_to_remaining_budget", "omitted_lower_priority"}


def test_what_is_left_of_a_small_budget_goes_to_nobody_else() -> None:
    """An important section that does not fit is not replaced by an unimportant one."""
    lines = ["x" * 400, "y"]
    turns = section("recent_turns", "\n".join(lines), priority="high", fit=whole_lines(lines))
    plan = plan_context([turns, section("notes", LINE, priority="low")], 60)
    assert plan.sections == ()
    assert {one.id: one.reason for one in plan.decisions} == {
        "recent_turns": "omitted_no_room",
        "notes": "omitted_lower_priority",
    }


def test_a_first_size_leaves_room_for_others() -> None:
    """A long history gives way to an episode, then takes all that nobody wants."""
    turns = section("turns", LINE * 400, priority="high", first=100)
    episode = section("episode", LINE * 5)
    plan = plan_context([turns, episode], 400)
    assert outcomes(plan) == {"turns": "truncated", "episode": "full"}
    assert plan.used > 370


def test_a_cut_text_says_so() -> None:
    """Cut at a character's end, with the ref under which the rest is."""
    plan = plan_context([section("a", "员工说端口" * 200, source_ref="file:f1")], 120)
    (shown,) = plan.sections
    assert "characters are shown; all of it: memory_get file:f1]" in shown.text
    assert ("员工说端口" * 200).startswith(without_notice(shown.text))
    assert plan.decisions[0].reason == "truncated_to_remaining_budget"


def test_a_compact_form_is_shown_where_a_cut_would_show_less() -> None:
    """The compact form is the least that makes sense."""
    short = "Deploy staging in three steps."
    one = section("work", short + " " + LINE * 100, compact=short)
    plan = plan_context([one], cost("work", short) + 2)
    assert (outcomes(plan), plan.decisions[0].reason) == ({"work": "compact"}, "selected_compact_for_budget")


def test_drop_tiers_decide_among_equals() -> None:
    """The reason tells which rule left a section out."""
    late = section("z", LINE * 4, drop_tier="late")
    early = section("a", LINE * 4, drop_tier="early")
    plan = plan_context([late, early], cost("z", LINE * 4) - 1)
    assert {one.id: one.reason for one in plan.decisions} == {
        "z": "truncated_to_remaining_budget",
        "a": "omitted_drop_tier",
    }


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([section(" ", "x")], "no id"),
        ([section("a", "x"), section("a", "y")], "two sections are called a"),
        ([section("a", "x", pinned=True)], "no compact form"),
    ],
)
def test_candidates_that_are_wrong_are_refused(wrong: list[Section], said: str) -> None:
    """Whoever puts them together made a mistake."""
    with pytest.raises(UsageError, match=said):
        plan_context(wrong, 100)


def test_named_sections_stand_in_their_places() -> None:
    """AGENTS.md, operator, self, workspace instructions and skills come first, the input last."""
    made = [make_section(name, "text", compact="text") for name in reversed(list(SECTION_RULES))]
    plan = plan_context(made, 4096)
    names = [one.id for one in plan.sections]
    assert names[:5] == [
        "agents_md",
        "agent_memory_operator",
        "agent_memory_self",
        "workspace_instructions",
        "skills_catalog",
    ]
    assert names[-1] == "current_input"
    assert names.index("current_work_item") < names.index("relevant_episode_memory")
    assert {name for name, rule in SECTION_RULES.items() if rule.pinned} == {
        "agents_md",
        "agent_memory_operator",
        "agent_memory_self",
        "current_work_item",
        "continuation_anchor",
        "current_input",
    }


BASE = [
    section("a", LINE * 3, pinned=True, compact="short", order=1),
    section("b", LINE * 9, order=2),
    section("c", LINE * 9, order=3, priority="low"),
]


def test_the_checks_fail_on_damage() -> None:
    """A section dropped, doubled, moved, swapped or lengthened is found by the check that it concerns."""
    plan, large = plan_context(BASE, 160), plan_context(BASE, 800)
    first, second = plan.sections
    ended, cut, left_out = plan.decisions

    def once(damaged: ContextPlan) -> None:
        check_once(damaged, BASE)

    def monotone(damaged: ContextPlan) -> None:
        check_monotone(plan, damaged, BASE)

    def in_order(damaged: ContextPlan) -> None:
        check_no_inversion(damaged, BASE)

    others = (ended, replace(cut, outcome="omitted"), replace(left_out, outcome="full"))
    damages: list[tuple[ContextPlan, Callable[[ContextPlan], None]]] = [
        (replace(plan, sections=(first,)), once),
        (replace(plan, sections=(first, first, second)), once),
        (replace(plan, sections=(second, first)), once),
        (replace(plan, sections=(replace(first, text="other"), second)), once),
        (replace(plan, decisions=plan.decisions[1:]), once),
        (replace(plan, budget=plan.used - 1), check_total),
        (replace(plan, sections=(first, replace(second, text=LINE * 30))), check_total),
        (replace(plan, sections=(replace(first, tokens=1), second)), check_total),
        (replace(large, sections=large.sections[1:]), monotone),
        (replace(large, sections=(replace(first, text="T"), second)), monotone),
        (replace(plan, decisions=others), in_order),
    ]
    for damaged, check in damages:
        with pytest.raises(AssertionError):
            check(damaged)
