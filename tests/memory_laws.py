"""What must hold of any home (Holon §11), as laws over plain data that was seen of one.

A law returns what breaks it. Tests hold each against damaged data too: one that nothing breaks says nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from gitmem.token_estimate import estimate_tokens

Json = Mapping[str, Any]

_HEAD = re.compile(r"^Turn .*?· turn:(\S+)", re.MULTILINE)
_SHOWN = re.compile(r"^- ([^(\n]*?)(?:, retracted)? \((\w+:[\w:]+)\)", re.MULTILINE)
_REF = re.compile(
    r"\b(?:message|brief|decision|tool_execution|turn|work_item|episode|task|wait|note)"
    r":(?:msg|brief|dec|tool|turn|work|ep|task|wait|[0-9a-f]{15})\w*(?::(?:cmd|output))?"
)
#: What may stand twice: a question is shown by itself and in the answer that ends in it.
_QUESTION = "question that it ended in"
#: What has a life: each turn tells what became of it there.
_LIVES = ("work_item:", "wait:", "task:")


@dataclass(frozen=True, slots=True)
class SeenContext:
    """A context as it was seen.

    Attributes:
        last_turn: id of the turn before it, of its session.
        data: its JSON; `text` beside it.
        item: id of the current work item.
    """

    session: str
    budget: int
    input: str
    text: str
    data: Json
    last_turn: str | None
    item: str | None = None

    def section(self, name: str) -> str:
        """Return the text of a section, empty if it is not there."""
        return next((one["text"] for one in self.data["sections"] if one["id"] == name), "")


@dataclass(frozen=True, slots=True)
class SeenHome:
    """What was seen of a home.

    Attributes:
        contexts: at several budgets, smaller ones first, by session.
        again: the same contexts from a clone.
        records: body facts of each record by its ref: `turn`, `work_item`, `voice`.
        lines: of each turn line its rows as `(seq, id, kind, object, status)`, in the order of its file.
        damaged: rows that are no record, each with file and line, or without where they were not named.
        state: id of each work item and its state, as the home tells it.
        reads: ref -> what `get` gives of it; None where it gives nothing.
        hits: query -> refs found; `found` are their texts.
        episodes: ids of the turns of each.
        open: ids of the turns that no episode holds yet.
        turns: ids of all turns, in order, with their sessions.
        material: ids of those that hold anything that an episode tells of.
        index, rebuilt: query -> rows of the index as it was kept up, and as it was built anew.
        status: freshness, pending and quarantined.
    """

    contexts: Mapping[str, Sequence[SeenContext]]
    again: Mapping[str, Sequence[SeenContext]]
    records: Mapping[str, Json]
    lines: Mapping[str, Sequence[tuple[int, str, str, str | None, str | None]]]
    state: Mapping[str, str]
    reads: Mapping[str, str | None]
    hits: Mapping[str, Sequence[str]]
    episodes: Mapping[str, Sequence[str]]
    open: Sequence[str]
    turns: Mapping[str, str | None]
    material: Sequence[str]
    index: Mapping[str, Sequence[Any]]
    rebuilt: Mapping[str, Sequence[Any]]
    status: Json
    damaged: Sequence[tuple[str | None, int | None]] = field(default=())

    def each(self) -> Iterator[SeenContext]:
        """Yield every context."""
        for found in self.contexts.values():
            yield from found


def law_1(home: SeenHome) -> list[str]:
    """Rendered total within the budget; a section has one form; every selected ref appears once."""
    faults = []
    for one in home.each():
        sections = [row["id"] for row in one.data["sections"]]
        if estimate_tokens(one.text) > one.budget or one.data["used"] > one.budget:
            faults.append(f"{one.session} at {one.budget}: more tokens than that")
        if len(set(sections)) != len(sections):
            faults.append(f"{one.session} at {one.budget}: a section stands twice")
        told = _SHOWN.findall(one.section("recent_turns"))
        shown = [ref for label, ref in told if label != _QUESTION and not ref.startswith(_LIVES)]
        doubled = [ref for ref, count in Counter(shown).items() if count > 1]
        faults += [f"{one.session} at {one.budget}: {ref} stands twice" for ref in doubled]
    return faults


def law_2(home: SeenHome) -> list[str]:
    """The current input exactly once, and the direct predecessor exactly once where there is one."""
    faults = []
    for one in home.each():
        if one.text.count(one.input) != 1 or one.input not in one.section("current_input"):
            faults.append(f"{one.session} at {one.budget}: the input is not there once")
        heads = _HEAD.findall(one.section("recent_turns"))
        if heads and one.last_turn is not None and heads.count(one.last_turn) != 1:
            faults.append(f"{one.session} at {one.budget}: the turn before is not there once")
    return faults


def law_3(home: SeenHome) -> list[str]:
    """No evidence of another work item or agent; nobody but the operator instructs."""
    faults = []
    for one in home.each():
        for label, ref in _SHOWN.findall(one.section("recent_turns")):
            record = home.records.get(ref.removesuffix(":output"), home.records.get(f"{ref}:cmd"))
            if ref.startswith("tool_execution:"):
                record = home.records.get(f"{ref.rpartition(':')[0]}:cmd")
            if record is None:
                faults.append(f"{ref} is of no record here")
            elif label.startswith("operator instruction") and record["voice"] != "operator":
                faults.append(f"{ref} is called an instruction of the operator")
        traced = _SHOWN.findall(one.section("current_work_item_process_trace"))
        owners = {home.records[ref]["work_item"] for _, ref in traced if ref in home.records}
        if owners - {one.item}:
            faults.append(f"{one.session}: evidence of {owners - {one.item}} stands with {one.item}")
    return faults


def law_4(home: SeenHome) -> list[str]:
    """A smaller budget selects no ref that is absent at a larger one; episodes give way to their turns."""
    faults = []
    for found in home.contexts.values():
        kept: set[str] = set()
        for one in found:
            whole = one.text.replace(one.section("relevant_episode_memory"), "")
            refs = set(_REF.findall(whole))
            if kept - refs:
                faults.append(f"{one.session} at {one.budget} has no {sorted(kept - refs)} any more")
            kept = refs
    return faults


def law_5(home: SeenHome) -> list[str]:
    """A fresh clone gives the same manifest byte for byte: sections, refs, reasons, hashes."""
    names = ("sections", "decisions", "cache_key", "fingerprint", "tiers", "episodes", "commit", "head")
    faults = []
    for session, found in home.contexts.items():
        for one, other in zip(found, home.again.get(session, ()), strict=True):
            if one.text != other.text:
                faults.append(f"{session} at {one.budget}: another text")
            faults += [
                f"{session} at {one.budget}: other {name}"
                for name in names
                if one.data[name] != other.data[name]
            ]
    return faults


def law_6(home: SeenHome) -> list[str]:
    """Sequences grow in commit order; the last snapshots are the state; each bad line is named."""
    faults = []
    last: dict[str, str] = {}
    for name, rows in home.lines.items():
        numbers = [row[0] for row in rows]
        if any(later <= earlier for earlier, later in pairwise(numbers)):
            faults.append(f"{name}: the sequence does not grow")
        told = ((item, status) for _, _, kind, item, status in rows if kind == "work_item")
        last |= {item: status for item, status in told if item is not None and status is not None}
    if last != dict(home.state):
        faults.append(f"the state is {dict(home.state)}, the last snapshots are {last}")
    faults += ["a bad line is not named" for file, line in home.damaged if file is None or line is None]
    return faults


def law_7(home: SeenHome) -> list[str]:
    """Each minted ref resolves, each hit resolves, and what was found holds what was looked for."""
    faults = [f"{ref} does not resolve" for ref in home.records if home.reads.get(ref) is None]
    for query, refs in home.hits.items():
        faults += [] if refs else [f"nothing is found for {query}"]
        for ref in refs:
            text = home.reads.get(ref)
            if text is None:
                faults.append(f"the hit {ref} does not resolve")
            elif query.casefold() not in text.casefold():
                faults.append(f"{ref} does not hold {query}")
    return faults


def law_8(home: SeenHome) -> list[str]:
    """The turns of all episodes overlap nowhere, and none is left out before what is still open."""
    faults = []
    owner: dict[str, str] = {}
    for name, turns in home.episodes.items():
        faults += [f"{turn} is in {owner[turn]} and {name}" for turn in turns if turn in owner]
        owner.update(dict.fromkeys(turns, name))
    faults += [f"{turn} is open and finished" for turn in home.open if turn in owner]
    waiting: dict[str, str] = {}
    for turn, session in home.turns.items():
        if turn in home.open and session is not None:
            waiting.setdefault(session, turn)
        elif turn in owner and session in waiting:
            faults.append(f"{waiting[session]} is open before the finished {turn}")
    held = {*owner, *home.open}
    return faults + [f"{turn} is in no episode" for turn in home.material if turn not in held]


def law_9(home: SeenHome) -> list[str]:
    """An index that was kept up is one that was built anew; fresh means that nothing waits or failed."""
    faults = [f"{query}: other rows" for query in home.index if home.index[query] != home.rebuilt.get(query)]
    waits = bool(home.status["pending"] or home.status["quarantined"])
    if (home.status["freshness"] == "fresh") == waits:
        faults.append("it is called fresh, or is not, against what waits")
    return faults


LAWS = (law_1, law_2, law_3, law_4, law_5, law_6, law_7, law_8, law_9)
