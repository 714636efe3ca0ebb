"""Puts one sequence to both memory tools and compares them step by step.

Where they part on purpose, Hermes is put into gitmem's state and goes on from there, so one known difference
hides nothing behind it. What it is put into and what it answers makes a *round*; rounds can be recorded and
judged again without Hermes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from differential import differences
from differential.differences import Step, Verdict, judge, target_of
from differential.facts import Facts
from differential.model import next_failures
from differential.sequences import Sequence, decode, encode

TARGETS = ("memory", "user")


class Side(Protocol):
    """gitmem's memory tool on two files."""

    def begin(self, sequence: Sequence) -> None:
        """Stand where a sequence or round begins."""

    def call(self, call: dict[str, Any]) -> Facts:
        """Return the facts of one call, with what became of its file."""

    def write(self, target: str, content: bytes | None) -> None:
        """Write or remove a file by hand."""

    def turn(self) -> None:
        """Begin a new turn."""

    def file(self, target: str) -> bytes | None:
        """Return the bytes of a file."""


#: Asks Hermes: a sequence in, the facts of each step out.
Ask = Callable[[Sequence], list[Facts]]


@dataclass
class Round:
    """Steps with what Hermes answers to them, from a state in which both tools are alike.

    Attributes:
        start: a sequence, as gitmem's side begins it.
        reasons: why Hermes was asked again from here.
    """

    start: Sequence
    answers: list[Facts | None] = field(default_factory=list)
    reasons: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Compared:
    """One call, compared.

    Attributes:
        number: of its step in the sequence.
        names: of the known differences that were met.
    """

    number: int
    step: Step
    verdict: Verdict
    names: set[str]


class Duel:
    """Compares both tools on one sequence.

    Args:
        sequence: what is done.
        side: gitmem's.
        ask: Hermes'.

    Attributes:
        rounds: what was asked and answered.
    """

    def __init__(self, sequence: Sequence, side: Side, ask: Ask) -> None:
        self._sequence = sequence
        self._side = side
        self._ask = ask
        self._failures = 0
        self.rounds: list[Round] = []

    def run(self) -> Iterator[Compared]:
        """Yield each call with what became of it."""
        self._side.begin(self._sequence)
        self._answers = self._begin(0)
        for number, step in enumerate(self._sequence["steps"]):
            if "call" not in step:
                self._aside(step)
                self._record(step, None)
                self._answers.pop(0)
                continue
            if self._answers is None:
                self._answers = self._begin(number)
            compared = self._compare(number, step["call"])
            self._record(step, compared.step.theirs)
            self._answers.pop(0)
            if self._have_parted(compared.step) and number + 1 < len(self._sequence["steps"]):
                self._answers = self._begin(number + 1)
            yield compared

    def _aside(self, step: dict[str, Any]) -> None:
        aside(self._side, step)
        if "turn" in step:
            self._failures = 0

    def _compare(self, number: int, call: dict[str, Any]) -> Compared:
        before = self._side.file(target_of(call))
        files = {target: self._side.file(target) for target in TARGETS}
        failures = self._failures
        ours = self._side.call(call)
        step = Step(call, self._sequence["limits"], before, failures, self._answers[0], ours)
        names: set[str] = set()
        if step.differing():
            names = set(differences.needs_restating(step))
        if names:
            self._answers = self._begin(number, files=files, restate=True)
            self.rounds[-1].reasons = names
            step = Step(call, self._sequence["limits"], before, failures, self._answers[0], ours)
        verdict = judge(step)
        self._failures = next_failures(failures, ours["category"], succeeded=ours["success"])
        return Compared(number, step, verdict, names | verdict.names)

    def _begin(
        self, number: int, *, files: dict[str, bytes | None] | None = None, restate: bool = False
    ) -> list[Facts]:
        """Begin a round at a step, and return what Hermes answers from there."""
        files = {target: self._side.file(target) for target in TARGETS} if files is None else files
        steps = self._sequence["steps"][number:]
        shared = {"limits": self._sequence["limits"], "failures": self._failures}
        start = {
            **shared,
            "files": {target: encode(content) for target, content in files.items()},
            "steps": [],
        }
        self.rounds.append(Round(start))
        if not restate:
            return self._ask({**start, "steps": steps})
        clean = {target: encode(differences.clean_form(content)) for target, content in files.items()}
        first = {"call": differences.restated_call(steps[0]["call"])}
        asked = {**start, "files": clean, "steps": [first, *steps[1:]]}
        return self._ask({**asked, "unguarded": True, "joiners": True})

    def _record(self, step: dict[str, Any], answer: Facts | None) -> None:
        self.rounds[-1].start["steps"].append(step)
        self.rounds[-1].answers.append(answer)

    def _have_parted(self, step: Step) -> bool:
        """Say whether the tools are in different states from here."""
        theirs = step.theirs
        category = theirs.get("category", "")
        failures = next_failures(step.failures, category, succeeded=theirs.get("success", False))
        return failures != self._failures or theirs["entries"] != step.ours["entries"]


def aside(side: Side, step: dict[str, Any]) -> None:
    """Do on gitmem's side what is no call."""
    if "turn" in step:
        side.turn()
    else:
        for target, content in step["write"].items():
            side.write(target, decode(content))


def replay(recorded: Round, side: Side) -> Iterator[Compared]:
    """Yield the calls of a recorded round, compared with what Hermes answered then."""
    start = recorded.start
    side.begin(start)
    failures = start["failures"]
    for number, (step, theirs) in enumerate(zip(start["steps"], recorded.answers, strict=True)):
        if theirs is None:
            aside(side, step)
            failures = 0 if "turn" in step else failures
            continue
        before = side.file(target_of(step["call"]))
        ours = side.call(step["call"])
        known = {"entries": differences.entries_of(before), **theirs}
        compared = Step(step["call"], start["limits"], before, failures, known, ours)
        verdict = judge(compared)
        failures = next_failures(failures, ours["category"], succeeded=ours["success"])
        names = verdict.names | (recorded.reasons if number == 0 else set())
        yield Compared(number, compared, verdict, names)
