"""Compares gitmem's memory tool and scanner with the published hermes-agent, by hand.

    python3.11 -m venv /tmp/hermes && /tmp/hermes/bin/pip install hermes-agent==0.19.0
    PYTHONPATH=tests:. .venv/bin/python tests/differential/run.py --hermes /tmp/hermes/bin/python

The exit code is 1 where a step differs and no difference of docs/decisions/0009 explains it; the shortest
sequence that shows it is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from differential import scanners
from differential.duel import Ask, Compared, Duel, Round, Side
from differential.home_side import HomeSide
from differential.oracle import Oracle
from differential.plain_side import PlainSide, scan_text
from differential.recorded import CASES, write_rounds
from differential.sequences import Sequence, make_sequence

#: Faults after which a run ends: more of them say the same.
_ENOUGH = 5


def main() -> int:
    """Compare, print what was found, and return the exit code."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="gitmem-differential-") as folder, ExitStack() as stack:
        os.environ |= {"HOME": folder, "GIT_CONFIG_NOSYSTEM": "1"}
        oracle = stack.enter_context(Oracle(options.hermes))
        side: Side = (
            PlainSide(Path(folder) / "plain", scan_text)
            if options.plain
            else stack.enter_context(HomeSide(Path(folder)))
        )
        faults, rounds = compare(range(options.first, options.first + options.sequences), side, oracle.run)
        missed = list(scanners.missed_texts(oracle.scan))
        if options.record:
            write_rounds(CASES, rounds)
            scanners.record(scanners.CASES, oracle.scan)
    for text, scope, theirs in missed:
        print(f"the scanner misses {text!r} in scope {scope}: {', '.join(theirs)}")
    return 1 if faults or missed else 0


def compare(numbers: range, side: Side, ask: Ask) -> tuple[int, list[Round]]:
    """Put sequences to both; print what was found, and return the number of faults and what was asked."""
    names: Counter[str] = Counter()
    calls, faults, rounds = 0, 0, []
    for number in numbers:
        duel = Duel(make_sequence(number), side, ask)
        found = list(duel.run())
        rounds += duel.rounds
        calls += len(found)
        names.update(name for one in found for name in one.names)
        bad = next((one for one in found if one.verdict.faults), None)
        if bad is not None:
            faults += 1
            print(_told(*_shortest(make_sequence(number), bad, side, ask)))
        if faults == _ENOUGH:
            break
    print(f"{len(numbers):,} sequences, {calls:,} calls; {faults} with differences that nothing explains")
    for name, count in names.most_common():
        print(f"{count:8,}  {name}")
    return faults, rounds


def _shortest(sequence: Sequence, bad: Compared, side: Side, ask: Ask) -> tuple[Sequence, Compared]:
    """Leave out steps for as long as something differs."""
    sequence = {**sequence, "steps": sequence["steps"][: bad.number + 1]}
    for shorter in _shorter(sequence):
        found = next((one for one in Duel(shorter, side, ask).run() if one.verdict.faults), None)
        if found is not None:
            return _shortest(shorter, found, side, ask)
    return sequence, bad


def _shorter(sequence: Sequence) -> Iterator[Sequence]:
    steps = sequence["steps"]
    for at in range(len(steps)):
        yield {**sequence, "steps": steps[:at] + steps[at + 1 :]}
    for at, step in enumerate(steps):
        operations = step.get("call", {}).get("operations")
        for gone in range(len(operations) if isinstance(operations, list) else 0):
            call = {**step["call"], "operations": operations[:gone] + operations[gone + 1 :]}
            yield {**sequence, "steps": [*steps[:at], {"call": call}, *steps[at + 1 :]]}


def _told(sequence: Sequence, bad: Compared) -> str:
    faults = sorted(bad.verdict.faults)
    theirs, ours = (
        {name: side.get(name) for name in ("category", *faults)} for side in (bad.step.theirs, bad.step.ours)
    )
    return "\n".join(
        [
            f"sequence {sequence['number']}: {', '.join(faults)} differ",
            f"  {json.dumps(sequence, ensure_ascii=False)}",
            f"  file   {bad.step.before!r}",
            f"  hermes {theirs}",
            f"  gitmem {ours}",
        ]
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare gitmem with the published hermes-agent.")
    parser.add_argument("--hermes", required=True, help="a Python that has hermes-agent==0.19.0")
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first sequence")
    parser.add_argument(
        "--plain", action="store_true", help="two plain files instead of a home; five times as fast"
    )
    parser.add_argument("--record", action="store_true", help="write what was answered to tests/data")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
