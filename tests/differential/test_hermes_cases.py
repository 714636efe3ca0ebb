"""Compares the memory tool with what the published hermes-agent 0.19.0 answered to the same calls.

Its answers are recorded as facts (`tests/data`), so it is needed by the last test only.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from differential.differences import NAMES
from differential.duel import Compared, Round, Side, replay
from differential.facts import KEPT
from differential.home_side import HomeSide
from differential.oracle import Oracle
from differential.plain_side import PlainSide, scan_text
from differential.recorded import read_rounds
from differential.run import compare

#: Names an interpreter that has hermes-agent==0.19.0; read before the tests forget the environment.
HERMES = os.environ.get("GITMEM_HERMES_PYTHON")


@pytest.fixture
def side(tmp_path: Path) -> PlainSide:
    """The memory tool on two plain files."""
    return PlainSide(tmp_path / "plain", scan_text)


def unexplained(one: Compared) -> str:
    """Return what a differing answer looks like."""
    step, faults = one.step, sorted(one.verdict.faults)
    asked = f"{step.call} on {step.before!r}"[:2_000]
    theirs, ours = (
        str({name: side.get(name) for name in faults})[:2_000] for side in (step.theirs, step.ours)
    )
    return f"{asked}, limit {step.limit}, {step.failures} failures before:\nhermes {theirs}\ngitmem {ours}"


def check(rounds: list[Round], side: Side) -> Counter[str]:
    """Replay rounds and return how often each known difference was met."""
    met: Counter[str] = Counter()
    for one in (compared for recorded in rounds for compared in replay(recorded, side)):
        if one.verdict.faults:
            pytest.fail(unexplained(one))
        met.update(one.names)
    return met


def test_some_recorded_answers(side: PlainSide) -> None:
    """A call is answered as Hermes answers it, or otherwise by a named difference (hermes 8)."""
    check(list(islice(read_rounds(), 250)), side)


@pytest.mark.slow
def test_recorded_answers_in_a_home(tmp_path: Path) -> None:
    """The same holds where each change is a commit and each file was edited by hand before."""
    begun = (one for one in read_rounds() if not one.start["failures"])
    with HomeSide(tmp_path) as home:
        check(list(islice(begun, 30)), home)


@pytest.mark.slow
def test_all_recorded_answers_meet_every_difference(side: PlainSide) -> None:
    """The same holds of all recorded calls, and none of the named differences is there for nothing."""
    rounds = list(read_rounds())
    assert sum(answer is not None for one in rounds for answer in one.answers) > 5_000
    assert set(check(rounds, side)) == NAMES


def test_every_difference_is_decided() -> None:
    """What the comparison lets pass by a name is said under that name in decision 0009."""
    page = Path(__file__).parents[2] / "docs" / "decisions" / "0009-what-the-memory-tool-does-otherwise.md"
    assert {
        line.split("|")[1].strip() for line in page.read_text().splitlines() if line.startswith("|")
    } >= NAMES


def test_the_record_holds_facts_only() -> None:
    """What Hermes says in words is not in the record; every kind of its answers is."""
    answers = [answer for one in read_rounds() for answer in one.answers if answer is not None]
    assert {name for answer in answers for name in answer} <= {
        *KEPT,
        "keys",
        "category",
        "numbers",
        "raised",
        "entries",
    }
    kinds = {str(answer.get("category")).split(" ")[0] for answer in answers}
    assert kinds >= {
        "added",
        "duplicate",
        "replaced",
        "removed",
        "applied",
        "overflow",
        "no",
        "several",
        "missing",
    }
    assert kinds >= {"capped", "aborted", "refused:", "blocked"}


@pytest.mark.slow
@pytest.mark.needs("hermes-agent")
@pytest.mark.timeout(900)
@pytest.mark.skipif(
    HERMES is None, reason="GITMEM_HERMES_PYTHON names no interpreter with hermes-agent==0.19.0"
)
def test_a_home_beside_hermes(tmp_path: Path) -> None:
    """In a home that Git keeps, fresh sequences are answered as the running Hermes answers them."""
    with Oracle(str(HERMES)) as oracle, HomeSide(tmp_path) as home:
        faults, _ = compare(range(1_000_000, 1_000_100), home, oracle.run)
    assert faults == 0
