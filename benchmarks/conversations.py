"""Turns to measure with: the development conversations from a folder, or made-up ones of the same size."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path

Event = dict[str, object]

_TEXT = """
server port staging deploy rollback window certificate renewed backup restore replica queue latency alert
page weekend handover incident review budget limit retry timeout cache index shard tenant invoice migration
"""
_WORDS = _TEXT.split()


def turns(data: Path | None, seed: int = 1) -> Iterator[list[Event]]:
    """Yield turns of four records and about 2 KB for ever.

    Args:
        data: a folder with `locomo/locomo-dev.json`; None makes sentences up.
        seed: of the made-up ones.
    """
    texts = itertools.cycle(_texts(data)) if data else _made_up(seed)
    for number in itertools.count():
        user, reply, line, output = (next(texts) for _ in range(4))
        yield [
            {"kind": "message", "role": "user", "text": user},
            {
                "kind": "tool_execution",
                "tool": "bash",
                "input": f"grep -n {line[:60]!r} notes",
                "output": output * 3,
            },
            {"kind": "message", "role": "assistant", "text": reply * 4},
            {"kind": "brief", "brief_kind": "result", "text": f"{number}: {line}" * 3},
        ]


def _texts(data: Path) -> list[str]:
    conversations = json.loads((data / "locomo" / "locomo-dev.json").read_text("utf-8"))
    found = []
    for item in conversations:
        sessions = [value for key, value in item["conversation"].items() if isinstance(value, list)]
        found += [turn["text"] for session in sessions for turn in session if turn.get("text")]
    return found


def _made_up(seed: int) -> Iterator[str]:
    chance = random.Random(seed)
    while True:
        yield " ".join(chance.choices(_WORDS, k=chance.randint(8, 30))) + f" {chance.randrange(10**6)}."
