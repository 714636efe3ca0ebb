"""Which sections a context holds, and how much of each: a pure function of candidates and budget.

Every pinned section gets its compact form, or the context is refused. Then sections are given room one after
the other: pinned ones, then by priority, drop tier and name. The first that cannot have all that it wants is
shown at the size that is left, and what comes after it gets nothing: so nothing of less weight is there
instead of it, and a larger budget never shows less of anything. Sections with a `first` size take that much,
and the rest only when all others had their turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.context_section import Decision, Outcome, PlacedSection, Section, render_section
from gitmem.errors import BudgetExceeded, UsageError
from gitmem.text_cut import cut_to_tokens, without_notice
from gitmem.token_estimate import Tokenizer, estimate_tokens

#: How often a text is fitted again where a tokenizer counts the whole higher than its parts.
_TRIES: Final = 4


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """What a context holds.

    Attributes:
        sections: in the order in which they are rendered.
        decisions: one for each candidate, by id.
        used: tokens of the rendered text, at most the budget.
        minimum: tokens below which there would be no context.
    """

    sections: tuple[PlacedSection, ...]
    decisions: tuple[Decision, ...]
    budget: int
    used: int
    minimum: int

    @property
    def text(self) -> str:
        """The context."""
        return "".join(render_section(section.id, section.text) for section in self.sections)


@dataclass(frozen=True, slots=True)
class _Sized:
    """A candidate with what its forms cost.

    Attributes:
        least: tokens of its compact form if that is pinned, else 0.
    """

    section: Section
    full: int
    least: int

    @property
    def first(self) -> int:
        """What it wants before all others had their turn."""
        first = self.full if self.section.first is None else min(self.section.first, self.full)
        return max(first, self.least)


def plan_context(
    candidates: Sequence[Section], budget: int, count: Tokenizer = estimate_tokens
) -> ContextPlan:
    """Return what a context of at most `budget` tokens holds; the order of the candidates does not matter.

    Args:
        candidates: without empty ones.
        budget: counts every section and the line above it.
        count: counts tokens; exact where the caller has the model's tokenizer.

    Raises:
        UsageError: an id is blank or stands twice, or a pinned candidate has no compact form.
        BudgetExceeded: the pinned compacts have more tokens than the budget.
    """
    _check(candidates)
    sized = sorted((_size(one, count) for one in candidates), key=lambda one: one.section.rank)
    minimum = sum(one.least for one in sized)
    room = budget
    while True:
        if minimum > room:
            raise _too_small(budget, minimum + budget - room)
        plan = _Planner(sized, budget, count).plan(room, minimum)
        if plan.used <= budget:
            return plan
        room -= plan.used - budget  # the tokenizer counts the whole higher than its parts


class _Planner:
    def __init__(self, sized: Sequence[_Sized], budget: int, count: Tokenizer) -> None:
        self._sized = sized
        self._budget = budget
        self._count = count

    def plan(self, room: int, minimum: int) -> ContextPlan:
        granted = _grant(self._sized, room - minimum)
        ended = next((one.section for one in self._sized if granted[one.section.id] < one.full), None)
        placed, decisions = [], []
        for one in self._sized:
            section, decision = self._place(one, granted[one.section.id], ended)
            decisions.append(decision)
            if section is not None:
                placed.append((one.section.order, section))
        sections = tuple(section for _, section in sorted(placed, key=lambda row: (row[0], row[1].id)))
        return ContextPlan(
            sections,
            tuple(sorted(decisions, key=lambda decision: decision.id)),
            self._budget,
            self._used(sections),
            minimum,
        )

    def _used(self, sections: Sequence[PlacedSection]) -> int:
        parts = sum(section.tokens for section in sections)
        if self._count is estimate_tokens:  # it never counts a whole higher than its parts
            return parts
        whole = self._count("".join(render_section(section.id, section.text) for section in sections))
        return max(parts, whole)

    def _place(
        self, one: _Sized, granted: int, ended: Section | None
    ) -> tuple[PlacedSection | None, Decision]:
        section = one.section
        text, outcome, reason = self._form(one, granted)
        if not text:
            reason = "omitted_no_room" if granted else _why_omitted(section, ended)
            return None, Decision(section.id, one.full, one.least, 0, "omitted", reason)
        tokens = self._cost(section.id, text)
        placed = PlacedSection(section.id, section.tier, tokens, text)
        return placed, Decision(section.id, one.full, one.least, tokens, outcome, reason)

    def _form(self, one: _Sized, granted: int) -> tuple[str, Outcome, str]:
        """Return what is shown of a section, empty if nothing is, with outcome and reason."""
        section = one.section
        if granted >= one.full:
            return section.text, "full", "selected_full"
        fitted = self._fitted(section, granted) if granted > one.least else ""
        if _shows_more(fitted, section):
            reason = "fitted_to_remaining_budget" if section.fit else "truncated_to_remaining_budget"
            return fitted, "truncated", reason
        if section.compact is None or granted < self._cost(section.id, section.compact):
            return "", "omitted", ""
        is_least = section.pinned and granted == one.least
        why = "pinned_minimum" if is_least else "budget"
        return section.compact, "compact", f"selected_compact_for_{why}"

    def _fitted(self, section: Section, granted: int) -> str:
        room = granted - self._cost(section.id, "")
        for _ in range(_TRIES):
            if room <= 0:
                break
            text = self._at(section, room)
            over = self._cost(section.id, text) - granted
            if over <= 0:
                return text
            room -= over
        return ""

    def _at(self, section: Section, room: int) -> str:
        if section.fit is not None:
            return section.fit(room)
        return cut_to_tokens(section.text, room, self._count, source_ref=section.source_ref)

    def _cost(self, name: str, text: str) -> int:
        return self._count(render_section(name, text))


def _check(candidates: Sequence[Section]) -> None:
    seen: set[str] = set()
    for one in candidates:
        if not one.id.strip():
            raise UsageError("a section has no id", field="id")
        if one.id in seen:
            raise UsageError(f"two sections are called {one.id}", field="id", value=one.id)
        if one.pinned and not one.compact:
            raise UsageError(
                f"the pinned section {one.id} has no compact form", field="compact", value=one.id
            )
        seen.add(one.id)


def _size(section: Section, count: Tokenizer) -> _Sized:
    full = count(render_section(section.id, section.text))
    if not section.pinned or section.compact is None:
        return _Sized(section, full, 0)
    return _Sized(section, full, min(full, count(render_section(section.id, section.compact))))


def _grant(sized: Sequence[_Sized], spare: int) -> Mapping[str, int]:
    """Return how many tokens each section may have; no more in all than what is reserved and to spare.

    What a section wants does not depend on the budget, and one that cannot have it ends the round: therefore
    each gets at least as much of a larger budget.
    """
    granted = {one.section.id: one.least for one in sized}
    for wants in ({one.section.id: one.first for one in sized}, {one.section.id: one.full for one in sized}):
        for one in sized:
            more = min(max(0, wants[one.section.id] - granted[one.section.id]), spare)
            granted[one.section.id] += more
            spare -= more
    return granted


def _shows_more(text: str, section: Section) -> bool:
    """Say whether a fitted text is something, and no less than the compact form."""
    if not text:
        return False
    return section.fit is not None or section.compact is None or _length(text) > _length(section.compact)


def _length(text: str) -> int:
    return len(without_notice(text))


def _why_omitted(section: Section, ended: Section | None) -> str:
    same = ended is not None and (ended.pinned, ended.priority) == (section.pinned, section.priority)
    later = same and ended is not None and ended.drop_tier != section.drop_tier
    return "omitted_drop_tier" if later else "omitted_lower_priority"


def _too_small(budget: int, minimum: int) -> BudgetExceeded:
    return BudgetExceeded(
        f"the context needs at least {minimum} tokens, and the budget is {budget}",
        hint=f"Ask for {minimum} tokens or more: `gitmem context --budget {minimum}`.",
        minimum=minimum,
        budget=budget,
    )
