"""Numbers and what they count."""

from __future__ import annotations

from gitmem.counted import counted


def test_one_is_singular() -> None:
    """People read these lines."""
    assert [counted(n, "turn") for n in (0, 1, 2, 12_000)] == ["0 turns", "1 turn", "2 turns", "12,000 turns"]
    assert counted(2, "memory", "memories") == "2 memories"
