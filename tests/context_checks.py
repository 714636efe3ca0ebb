"""What must hold of every assembled context, as checks that name what is broken.

A check raises AssertionError; tests hold it against damaged plans too, for one that cannot fail says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gitmem.context_planner import ContextPlan
from gitmem.context_section import Section, render_section
from gitmem.text_cut import without_notice
from gitmem.token_estimate import estimate_tokens

#: Tokens in which something of every section can be shown.
_VISIBLE = 60


def check_total(plan: ContextPlan, count: Callable[[str], int] = estimate_tokens) -> None:
    """The rendered text, its sections together, and what the plan says of both are within the budget."""
    assert count(plan.text) <= plan.budget, "the text has more tokens than the budget"
    assert sum(section.tokens for section in plan.sections) <= plan.used <= plan.budget, "sections exceed it"
    for section in plan.sections:
        assert section.tokens == count(render_section(section.id, section.text)), (
            f"{section.id} is miscounted"
        )


def check_once(plan: ContextPlan, candidates: Sequence[Section]) -> None:
    """Every candidate has one decision, and stands once or not at all, as that says, in its place."""
    assert [one.id for one in plan.decisions] == sorted(one.id for one in candidates), "not one decision each"
    shown = {one.id: one for one in plan.sections}
    assert len(shown) == len(plan.sections), "a section stands twice"
    by_id = {one.id: one for one in candidates}
    for decision in plan.decisions:
        section = by_id[decision.id]
        placed = shown.get(decision.id)
        assert (placed is None) == (decision.outcome == "omitted"), f"{decision.id} is not as decided"
        assert decision.allocated == (placed.tokens if placed else 0), f"{decision.id} has other tokens"
        if placed is not None:
            whole = placed.text == section.text
            assert whole == (decision.outcome == "full"), f"{decision.id} is whole or is not"
            if decision.outcome == "compact":
                assert placed.text == section.compact, f"{decision.id} is not its compact form"
        assert not section.pinned or placed is not None, f"{decision.id} is pinned and missing"
    places = [(by_id[one.id].order, one.id) for one in plan.sections]
    assert places == sorted(places), "sections stand in another order"


def check_monotone(small: ContextPlan, large: ContextPlan, candidates: Sequence[Section]) -> None:
    """What a smaller budget shows, a larger one shows too."""
    assert small.budget <= large.budget
    more = {one.id: one.text for one in large.sections}
    fits = {one.id for one in candidates if one.fit}
    for one in small.sections:
        assert one.id in more, f"{one.id} is there only with the smaller budget"
        shown, also = without_notice(one.text), without_notice(more[one.id])
        if one.id in fits:
            missing = set(shown.splitlines()) - set(also.splitlines())
            assert not missing, f"{one.id} loses {missing}"
        else:
            assert also.startswith(shown), f"{one.id} shows less"


def check_no_inversion(plan: ContextPlan, candidates: Sequence[Section]) -> None:
    """Nothing stands there instead of something of more weight: what is left out comes last."""
    outcomes = {one.id: one.outcome for one in plan.decisions}
    # One that wishes for a first part that shows nothing gives way by its own wish.
    asking = [one for one in candidates if not one.pinned and (one.first is None or one.first >= _VISIBLE)]
    ranked = [outcomes[one.id] for one in sorted(asking, key=lambda one: one.rank)]
    if "omitted" in ranked:
        assert set(ranked[ranked.index("omitted") :]) == {"omitted"}, (
            "a section of less weight is there instead"
        )
