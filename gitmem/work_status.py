"""What a status says of plans and episodes: what was put back, and what cannot be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitmem.status import BUSY, Finding


def work_findings(told: Sequence[str], left: Sequence[str], waiting: Mapping[str, str]) -> list[Finding]:
    """Return what wants a person's eye.

    Args:
        told: what was done to plans just now.
        left: what keeps plans where they are.
        waiting: why episodes are not written, by their ids.
    """
    plans = [Finding("plan", 0, sentence) for sentence in dict.fromkeys([*told, *left])]
    episodes = [
        Finding(
            "episode",
            BUSY,
            f"episode {name} is finished and cannot be written: {reason}",
            hint="It is written with the next turn once that is out of the way.",
        )
        for name, reason in waiting.items()
    ]
    return [*plans, *episodes]
