"""A context from what was read for it: which sections there are, what they hold, by what it is known.

A pure function: the same inputs give the same bytes, on any machine.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gitmem.blocked_parts import Judge
from gitmem.cache_identity import CacheIdentity, TierPrint, identify
from gitmem.context_planner import ContextPlan, plan_context
from gitmem.context_section import Decision, PlacedSection, Section, Tier
from gitmem.context_sections import Anchor, ChangedFile, ContextSections, Continuation, CurrentInput
from gitmem.episode_selection import EpisodeChoice, EpisodeIndex, EpisodeQuery
from gitmem.execution_environment import ExecutionEnvironment
from gitmem.json_view import to_json
from gitmem.message_authority import voice_of
from gitmem.prose_section import ProseSection
from gitmem.recent_turns import RecentTurns
from gitmem.records import Record
from gitmem.token_estimate import Tokenizer, estimate_tokens
from gitmem.turn_evidence import TurnEvidence
from gitmem.turn_lines import final_answer, question_of
from gitmem.work_ref import WorkRef
from gitmem.work_sections import (
    TaskView,
    WorkItemView,
    active_tasks,
    current_work_item,
    current_work_refs,
    other_work_items,
    process_trace,
)

#: How often episodes are chosen again because other turns are shown now; then they are only left out.
_ROUNDS: Final = 3
#: Characters of the input by which episodes are chosen.
_ASKED: Final = 2_000


@dataclass(frozen=True, slots=True)
class ContextInputs:
    """Everything that a context is made from.

    Attributes:
        now: RFC 3339; empty where the text is not to tell the time.
        agents_md: text of AGENTS.md; None where there is none.
        prose: the prose memories that are there.
        frozen: the memory stores as the session has them.
        catalog: of the notes.
        other_work: other work items by class, in order.
        turns: the last ones, oldest first, with whole bodies.
        work_turns: earlier ones of the current work item, oldest first.
        corrections: ref of what was retracted of these turns -> what is true instead, empty if nobody said.
        episodes: the finished ones.
        changes: what others changed since the last turn.
        warnings: what was wrong while this was read.
    """

    home_id: str
    agent: str
    now: str
    session: str | None = None
    input: CurrentInput | None = None
    environment: ExecutionEnvironment = field(default_factory=ExecutionEnvironment)
    agents_md: str | None = None
    prose: tuple[ProseSection, ...] = ()
    frozen: str | None = None
    catalog: str = ""
    work_item: WorkItemView | None = None
    work_refs: tuple[WorkRef, ...] = ()
    other_work: Mapping[str, Sequence[WorkItemView]] = field(default_factory=dict)
    tasks: tuple[TaskView, ...] = ()
    turns: tuple[TurnEvidence, ...] = ()
    work_turns: tuple[TurnEvidence, ...] = ()
    corrections: Mapping[str, str] = field(default_factory=dict)
    episodes: EpisodeIndex = field(default_factory=EpisodeIndex)
    changes: tuple[ChangedFile, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssembledContext:
    """A context and how it came about.

    Attributes:
        plan: its sections, and what became of each candidate.
        identity: by what it is known.
        episodes: those that are shown, and why.
        commit: of the turn whose ledger it shows; None before the first.
        head: the commit whose files it shows; None before the first.
        warnings: what was wrong while it was read.
        recorded: ref of its `assembly` record, if it was recorded.
        exact: of one that was made again: whether it is what it was, byte for byte; None otherwise.
        missing: what it had then and is not here any more, a sentence each.
    """

    plan: ContextPlan
    identity: CacheIdentity
    episodes: tuple[EpisodeChoice, ...] = ()
    commit: str | None = None
    head: str | None = None
    warnings: tuple[str, ...] = ()
    recorded: str | None = None
    exact: bool | None = None
    missing: tuple[str, ...] = ()

    @property
    def sections(self) -> tuple[PlacedSection, ...]:
        """What it holds, in the order of the text."""
        return self.plan.sections

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What became of each candidate."""
        return self.plan.decisions

    @property
    def budget(self) -> int:
        """Tokens that it may have."""
        return self.plan.budget

    @property
    def used(self) -> int:
        """Tokens that it has."""
        return self.plan.used

    @property
    def minimum(self) -> int:
        """Tokens below which there would be no context."""
        return self.plan.minimum

    @property
    def tiers(self) -> Mapping[Tier, TierPrint]:
        """What of each tier stands in it."""
        return self.identity.tiers

    @property
    def text(self) -> str:
        """What stands in the prompt."""
        return self.plan.text

    @property
    def cache_key(self) -> str:
        """What only stable text changes."""
        return self.identity.cache_key

    @property
    def fingerprint(self) -> str:
        """What anything that is shown changes."""
        return self.identity.fingerprint

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        data: dict[str, Any] = to_json(
            {
                "sections": self.plan.sections,
                "budget": self.plan.budget,
                "used": self.plan.used,
                "minimum": self.plan.minimum,
                "cache_key": self.cache_key,
                "fingerprint": self.fingerprint,
                "tiers": self.identity.tiers,
                "decisions": self.plan.decisions,
                "episodes": [
                    {"source_ref": one.anchor.source_ref, "score": one.score, "signals": dict(one.signals)}
                    for one in self.episodes
                ],
                "commit": self.commit,
                "head": self.head,
                "warnings": self.warnings,
                "recorded": self.recorded,
                "exact": self.exact,
                "missing": self.missing,
            }
        )
        return data


def assemble(
    inputs: ContextInputs, budget: int, *, count: Tokenizer = estimate_tokens, judge: Judge | None = None
) -> AssembledContext:
    """Return the context of at most `budget` tokens.

    Args:
        inputs: everything that it is made from.
        budget: counts every section.
        count: counts tokens.
        judge: the scanner.

    Raises:
        BudgetExceeded: what must be in it does not fit.
    """
    from_operator = inputs.input is None or inputs.input.voice == "operator"
    recent = RecentTurns(
        inputs.turns,
        from_operator=from_operator,
        count=count,
        judge=judge,
        corrections=inputs.corrections,
    )
    make = ContextSections(count, judge)
    fixed = [one for one in _sections(inputs, recent, make, count) if one is not None]
    plan, chosen = _plan_with_episodes(inputs, fixed, recent, make, (budget, count))
    candidates = [*fixed, *([section] if (section := make.episodes(chosen)) else [])]
    identity = identify(inputs.home_id, inputs.environment.semantics, candidates, plan.sections)
    shown = {one.id: one.text for one in plan.sections}.get("relevant_episode_memory", "")
    return AssembledContext(
        plan,
        identity,
        tuple(one for one in chosen if one.anchor.source_ref in shown),
        warnings=(*inputs.warnings, *recent.warnings),
    )


def _sections(
    inputs: ContextInputs, recent: RecentTurns, make: ContextSections, count: Tokenizer
) -> Iterator[Section | None]:
    """Yield every candidate but the episodes, which depend on what fits."""
    place = inputs.environment
    yield make.agents_md(inputs.agents_md or "")
    yield from map(make.prose, inputs.prose)
    yield make.workspace_instructions(place)
    yield make.abilities("skills_catalog", place.skills, "Skills of this workspace:")
    yield make.abilities("tools", place.tools, "Tools of this workspace:")
    yield make.agent(inputs.agent, inputs.home_id)
    yield make.frozen_memory(inputs.frozen)
    yield make.execution_environment(place)
    yield active_tasks(inputs.tasks, count)
    yield current_work_item(inputs.work_item, count)
    yield current_work_refs(inputs.work_refs, count)
    yield process_trace(inputs.work_turns, count, inputs.corrections)
    yield other_work_items(inputs.other_work, count)
    yield make.changed_files(inputs.changes)
    yield make.notes_catalog(inputs.catalog)
    yield make.contract()
    yield make.anchor(_anchor(inputs))
    yield make.recent_turns(recent)
    yield make.continuation(_continuation(inputs, recent))
    yield make.current_input(inputs.input)


def _plan_with_episodes(
    inputs: ContextInputs,
    fixed: Sequence[Section],
    recent: RecentTurns,
    make: ContextSections,
    size: tuple[int, Tokenizer],
) -> tuple[ContextPlan, tuple[EpisodeChoice, ...]]:
    """Return a plan in which no episode tells of a turn that is shown, and the episodes.

    Which turns are shown depends on the room that episodes take, so both are decided in turns.
    """
    query = _query(inputs)
    chosen = inputs.episodes.select(query)
    rounds = 0
    while True:
        section = make.episodes(chosen)
        plan = plan_context([*fixed, *([section] if section else [])], *size)
        text = next((one.text for one in plan.sections if one.id == "recent_turns"), "")
        shown = frozenset(recent.turns_in(text))
        rounds += 1
        if rounds <= _ROUNDS:
            again = inputs.episodes.select(query, shown)
        else:  # fewer episodes leave more room for turns: those that are shown now stay so
            again = tuple(one for one in chosen if shown.isdisjoint(one.anchor.turn_ids))
        if again == chosen:
            return plan, chosen
        chosen = again


def _query(inputs: ContextInputs) -> EpisodeQuery:
    item = inputs.work_item
    asked = inputs.input.text[:_ASKED] if inputs.input else ""
    place = inputs.environment.workspace_id
    if item is None:
        return EpisodeQuery(asked, workspace=place)
    return EpisodeQuery(
        asked,
        work_item=item.id,
        objective=item.objective,
        files=tuple(ref.ref for ref in inputs.work_refs if ref.kind == "file" and ref.status == "active"),
        todos=tuple(step.text for step in item.todo if step.state != "completed"),
        blocker=item.blocked_by,
        workspace=place,
    )


def _anchor(inputs: ContextInputs) -> Anchor | None:
    if not inputs.turns:
        return None
    last = inputs.turns[-1]
    question = question_of(last.of_kind("message"))
    answer = final_answer(last)
    asked = (question.text, answer.source_ref) if question is not None and answer is not None else ("", "")
    if inputs.input is None or inputs.input.voice == "operator":
        return Anchor(last.id, *asked)
    told = _last_instruction(inputs.turns, inputs.corrections)
    if told is None:
        return Anchor(last.id, *asked)
    text = str(told.body["text"]) if inputs.work_item is None else ""
    return Anchor(last.id, *asked, told.source_ref, text)


def _last_instruction(turns: Sequence[TurnEvidence], retracted: Container[str]) -> Record | None:
    told = [
        message
        for turn in turns
        for message in turn.of_kind("message")
        if voice_of(message.body) == "operator" and isinstance(message.body.get("text"), str)
        if message.source_ref not in retracted
    ]
    return told[-1] if told else None


def _continuation(inputs: ContextInputs, recent: RecentTurns) -> Continuation:
    last = inputs.turns[-1] if inputs.turns else None
    return Continuation(
        inputs.now,
        last.turn.ts if last else "",
        last.end if last else "",
        inputs.session,
        (*inputs.warnings, *recent.warnings),
    )
