"""`docs/work.md`: its table of kinds and its numbers are the code's."""

from __future__ import annotations

import re
from pathlib import Path

from gitmem.work_ref import MOST_TITLE, REF_KINDS
from gitmem.work_ref_evidence import INLINE, MOST_PER_KIND
from gitmem.work_ref_merge import MOST_KEPT, QUOTAS

PAGE = (Path(__file__).parents[2] / "docs" / "work.md").read_text("utf-8")


def test_the_table_of_kinds() -> None:
    """Every kind of ref stands in it in order, with as many places as it has."""
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| ", PAGE, re.MULTILINE)
    assert [(kind, int(places)) for kind, places in rows] == [(kind, QUOTAS[kind]) for kind in REF_KINDS]


def test_the_numbers() -> None:
    """What the page promises of lengths and counts is what is kept."""
    assert f"at most {MOST_TITLE} characters" in PAGE
    assert f"at most {MOST_PER_KIND} refs of a kind" in PAGE
    assert f"Of each kind {MOST_KEPT} are kept" in PAGE
    assert f"`{INLINE}`" in PAGE
