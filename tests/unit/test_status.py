"""What `status` says of turns and waiting writes that are not as they should be."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from homes import new_home

from fixtures import git, write_files
from gitmem.home import AgentHome
from gitmem.status import CORRUPT
from turns import put_on_line

DAY = 86_400


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A home with a turn."""
    root = tmp_path / "home"
    with new_home(root, operator=True) as home:
        home.record([{"kind": "message", "role": "user", "text": "hello"}])
    return root


def findings(root: Path, kind: str) -> list[tuple[int, str]]:
    """Return exit code and message of the findings of one kind."""
    with AgentHome.open(root) as home:
        return [(one.exit_code, one.message) for one in home.status().findings if one.id == kind]


def test_edits_that_are_not_committed_are_told(root: Path) -> None:
    """A store that somebody edited by hand and forgot; what is the agent's is not meant."""
    assert findings(root, "edits") == []
    with AgentHome.open(root) as home:
        home.note_add("kept.md", content="# Kept\n")
    assert findings(root, "edits") == []
    write_files(root, {"memory/MEMORY.md": "By hand.\n"})
    assert findings(root, "edits") == [(0, "1 file has an edit not committed yet: memory/MEMORY.md")]
    write_files(root, {f"notes/{number}.md": "# N\n" for number in range(4)} | {"src/own.py": "1\n"})
    (root / "notes/kept.md").unlink()
    ((_, message),) = findings(root, "edits")
    assert message.startswith(
        "6 files have edits not committed yet: memory/MEMORY.md, notes/0.md, notes/1.md"
    )
    assert message.endswith(" and 3 more")
    with AgentHome.open(root) as home:
        home.commit()
    assert findings(root, "edits") == []


def test_records_of_the_future_are_told(root: Path) -> None:
    """OPEN-LEDGER-09: a clock that ran ahead is named with its writer; state and order hold."""
    assert findings(root, "clock") == []
    with AgentHome.open(root, now=lambda: time.time() + 2 * DAY) as home:
        home.record([{"kind": "task", "task_id": "t", "status": "running"}])
    with AgentHome.open(root) as home:
        assert home.record([{"kind": "task", "task_id": "t", "status": "completed"}]).committed
        assert home.get("task:t").metadata["status"] == "completed"
        (writer,) = [branch["id"].rpartition("/")[2] for branch in home.status().turns["lines"]]
    ((code, message),) = findings(root, "clock")
    assert code == 0
    assert re.fullmatch(rf"records of {writer} are dated (1 day, 23:|2 days, 0:).* ahead of .*", message)


def test_a_damaged_line_is_told(root: Path) -> None:
    """A part of the ledger that cannot be read is damage (20), not silence."""
    ref = "refs/remotes/origin/gitmem/turns/w0000000a"
    path = "ledger/2026-11/30/w0000000a-0001.jsonl"
    with AgentHome.open(root) as home:
        put_on_line(root, ref, {path: b"{}\n"}, home_id=home.config.home_id)
    blob = git("rev-parse", f"{ref}:{path}", cwd=root)
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    ((code, message),) = findings(root, "ledger")
    assert code == CORRUPT
    assert message.startswith(f"{blob[:12]} cannot be read: ")


def test_a_damaged_waiting_write_is_told(root: Path) -> None:
    """What was acknowledged and cannot be settled any more must not look like nothing."""
    write_files(root, {".git/gitmem/main/pending/00000001-abc.json": "{"})
    assert findings(root, "pending") == [(CORRUPT, "00000001-abc.json: a waiting write that cannot be read")]


def test_a_lock_that_stays_is_told_with_the_way_out(root: Path) -> None:
    """OPEN-GIT-17: its age, and how to clear it; gitmem itself never does."""
    write_files(root, {".git/index.lock": ""})
    with AgentHome.open(root) as home:
        (finding,) = [one for one in home.status().findings if one.id == "git"]
    assert finding.message.startswith("commits to your branch wait: index.lock is held (for ")
    assert finding.hint is not None
    assert finding.hint.endswith(f"rm {root.resolve()}/.git/index.lock")


def test_where_a_line_had_been_moved_is_told(root: Path) -> None:
    """OPEN-LEDGER-03: what somebody else put on the own line is kept aside, and that is said."""
    ref = git("for-each-ref", "--format=%(refname)", "refs/heads/gitmem/turns", cwd=root)
    commit = put_on_line(root, ref, {"ledger/2026-11/30/w0000000a-0001.jsonl": b"not json\n"})
    with AgentHome.open(root) as home:
        assert home.record([{"kind": "message", "role": "user", "text": "on"}]).warnings
    ((code, message),) = findings(root, "rescue")
    assert code == 0
    assert git("rev-parse", message.rpartition(" ")[2], cwd=root) == commit
