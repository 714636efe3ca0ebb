"""`docs/events.md`: its commands run, its table is the one that events are checked by."""

from __future__ import annotations

import json
import re
from pathlib import Path

from documents.code_blocks import ROOT, blocks_of, run_shell

from gitmem import records
from gitmem.home import AgentHome
from gitmem.records import Receipt

PAGE = (ROOT / "docs" / "events.md").read_text("utf-8")
_ROW = re.compile(r"^\| `(\w+)` \|.*$", re.MULTILINE)
ROWS = {row[1]: row[0] for row in _ROW.finditer(PAGE.split("| `kind` | must")[1])}


def test_the_commands_run(tmp_path: Path) -> None:
    """A whole turn, and one that several programs feed."""
    AgentHome.init(tmp_path, agent="aria").close()
    whole, fed = [block.text for block in blocks_of("docs/events.md") if block.language == "sh"]
    receipt = json.loads(run_shell(whole, tmp_path))
    assert [record["kind"] for record in receipt["records"]] == [
        "message",
        "tool_execution",
        "decision",
        "message",
        "turn",
    ]
    assert run_shell(fed, tmp_path).splitlines()[-1].startswith("Turn 2: 2 records, committed as ")


def test_every_kind_is_listed_with_what_it_must_have() -> None:
    """Who writes an adapter reads this page and nothing else."""
    kinds = {kind: ROWS[kind].split(" | ")[1] for kind in records.CALLER_KINDS}
    for kind, required in records._REQUIRED.items():
        named = re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", kinds[kind]))
        optional = {"work_item_id"} if kind == "work_item" else set()
        assert set(named) - optional == set(required), kind


def test_every_choice_is_listed() -> None:
    """No more and no fewer words than are accepted."""
    for (kind, field), choices in records._CHOICES.items():
        (listed,) = re.findall(rf"`{field}` \(([^)]*)\)", ROWS[kind])
        assert set(re.findall(r"`(\w+)`", listed)) == choices, (kind, field)


def test_every_key_of_the_receipt_is_told() -> None:
    """The page says what each of them means."""
    table = PAGE.split("## The receipt")[1].split("## One turn")[0]
    first = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", "".join(first))) == set(Receipt.__slots__)
