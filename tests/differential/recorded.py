"""Rounds on disk: JSON lines, compressed, of facts only; what Hermes said in words is not in them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from differential.differences import EXTRA_KEYS, hermes_entries, target_of
from differential.duel import Round
from differential.facts import Facts
from differential.sequences import Sequence, decode

#: Recorded with hermes-agent 0.19.0 by `run.py --record`.
CASES = Path(__file__).parent.parent / "data" / "hermes_memory_cases.jsonl.gz"


def write_rounds(path: Path, rounds: Iterable[Round]) -> None:
    """Write rounds; the same rounds give the same bytes."""
    lines = [
        {"start": one.start, "answers": _lean(one.start, one.answers), "reasons": sorted(one.reasons)}
        for one in rounds
        if any(one.answers)
    ]
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode("utf-8", "surrogatepass"), mtime=0))


def read_rounds(path: Path = CASES) -> Iterator[Round]:
    """Yield the rounds of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            data = json.loads(line)
            yield Round(data["start"], data["answers"], set(data["reasons"]))


def _lean(start: Sequence, answers: list[Facts | None]) -> list[Facts | None]:
    """Leave out the entries of a store that stays as it is."""
    stores = {target: hermes_entries(decode(content)) for target, content in start["files"].items()}
    lean: list[Facts | None] = []
    for step, answer in zip(start["steps"], answers, strict=True):
        if answer is None:
            stores |= {
                name: hermes_entries(decode(content)) for name, content in step.get("write", {}).items()
            }
            lean.append(None)
            continue
        target = target_of(step["call"])
        same = answer["entries"] == stores[target]
        stores[target] = answer["entries"]
        kept = {
            name: value
            for name, value in answer.items()
            if name not in ("written", *(["entries"] if same else []))
        }
        if "keys" in kept:
            kept["keys"] = [key for key in kept["keys"] if key not in EXTRA_KEYS]
        lean.append(kept)
    return lean
