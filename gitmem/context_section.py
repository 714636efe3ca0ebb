"""Sections of an assembled context: what each is called, where it stands, what gives way to what.

Where a section stands says nothing of its authority; the section `context_contract` says what comes before
what. AGENTS.md and the prose memories stand first, the current input last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

#: What a section depends on: nothing that changes in ordinary work; the agent's memory; this very turn.
Tier = Literal["stable", "agent", "turn"]
Priority = Literal["critical", "high", "normal", "low"]
#: Of sections of one priority, which gives way last.
DropTier = Literal["last", "late", "normal", "early"]
Outcome = Literal["full", "compact", "truncated", "omitted"]

#: Returns the section's text at a size of at most so many tokens; empty where nothing fits.
Fit = Callable[[int], str]

TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
_PRIORITIES: Final[tuple[Priority, ...]] = get_args(Priority)
_DROP_TIERS: Final[tuple[DropTier, ...]] = get_args(DropTier)


@dataclass(frozen=True, slots=True)
class Section:
    """A candidate for a context.

    Attributes:
        id: its name, in the line above its text.
        text: all of it.
        compact: the least that is shown of it, made of the beginning of `text`; a pinned section has one.
        pinned: it is in every context; one that cannot hold all pinned compacts is refused.
        order: where it stands.
        fit: renders it at any size; what a smaller size shows, a larger one shows too. Without it a text that
            does not fit is cut.
        first: tokens that it takes at most until all others had their turn; what is left then is its.
        source_ref: under which all of it can be read, named where it is cut.
    """

    id: str
    tier: Tier
    priority: Priority
    drop_tier: DropTier
    text: str
    order: int
    compact: str | None = None
    pinned: bool = False
    fit: Fit | None = None
    first: int | None = None
    source_ref: str | None = None

    @property
    def rank(self) -> tuple[bool, int, int, str]:
        """Sort key of the order in which sections are given room."""
        return (
            not self.pinned,
            _PRIORITIES.index(self.priority),
            _DROP_TIERS.index(self.drop_tier),
            self.id,
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a candidate.

    Attributes:
        requested: tokens of all of it.
        minimum: tokens of the least that must be shown; 0 where it may be left out.
        allocated: tokens of what is shown.
        reason: a word for why; see `context_planner`.
    """

    id: str
    requested: int
    minimum: int
    allocated: int
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class PlacedSection:
    """A section as a context has it.

    Attributes:
        tokens: of its text with the line above it.
    """

    id: str
    tier: Tier
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class SectionRule:
    """What is the same of a section in every context; see `Section`."""

    order: int
    tier: Tier
    priority: Priority
    drop_tier: DropTier
    pinned: bool = False
    first: int | None = None


#: Name of a section -> its rule. Tasks and episodes depend on the turn, so they do not churn the cache key.
SECTION_RULES: Final[Mapping[str, SectionRule]] = {
    "agents_md": SectionRule(10, "stable", "critical", "last", pinned=True, first=2000),
    "agent_memory_operator": SectionRule(20, "agent", "critical", "last", pinned=True),
    "agent_memory_self": SectionRule(30, "agent", "critical", "last", pinned=True),
    "workspace_instructions": SectionRule(40, "stable", "high", "last", first=1000),
    "skills_catalog": SectionRule(50, "stable", "low", "early"),
    "tools": SectionRule(60, "stable", "low", "early"),
    "agent": SectionRule(70, "agent", "high", "last"),
    "frozen_memory": SectionRule(80, "agent", "high", "late"),
    "execution_environment": SectionRule(90, "agent", "high", "last"),
    "active_tasks": SectionRule(100, "turn", "high", "late"),
    "current_work_item": SectionRule(110, "turn", "critical", "last", pinned=True, first=1000),
    "current_work_refs": SectionRule(120, "turn", "high", "late"),
    "relevant_episode_memory": SectionRule(130, "turn", "normal", "normal"),
    "current_work_item_process_trace": SectionRule(140, "turn", "normal", "normal"),
    "queued_blocked_work_items": SectionRule(150, "turn", "normal", "normal"),
    "changed_files": SectionRule(160, "turn", "normal", "late"),
    "agent_home_notes_catalog": SectionRule(170, "agent", "low", "early"),
    "context_contract": SectionRule(180, "stable", "high", "last"),
    "continuation_anchor": SectionRule(190, "turn", "critical", "last", pinned=True, first=500),
    "recent_turns": SectionRule(200, "turn", "high", "late", first=1500),
    "continuation_context": SectionRule(210, "turn", "high", "last"),
    "current_input": SectionRule(220, "turn", "critical", "last", pinned=True, first=1500),
}


def make_section(
    name: str,
    text: str,
    *,
    compact: str | None = None,
    fit: Fit | None = None,
    source_ref: str | None = None,
    pinned: bool | None = None,
) -> Section:
    """Return a section of one of the known names.

    Args:
        name: of `SECTION_RULES`.
        text: all of it.
        compact: the least that is shown.
        fit: renders it at any size.
        source_ref: under which all of it can be read.
        pinned: where it is not as the rule says: a note that there is nothing is not pinned.
    """
    rule = SECTION_RULES[name]
    return Section(
        name,
        rule.tier,
        rule.priority,
        rule.drop_tier,
        text,
        rule.order,
        compact=compact,
        pinned=rule.pinned if pinned is None else pinned,
        fit=fit,
        first=rule.first,
        source_ref=source_ref,
    )


def render_section(name: str, text: str) -> str:
    """Return a section as it stands in a context, the blank line behind it included."""
    return f"[{name}]\n{text}\n\n"
