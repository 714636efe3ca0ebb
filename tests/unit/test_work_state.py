"""What the agent is doing, as it is and as it was."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from fixtures import commit_all, git
from gitmem.errors import NotFound
from gitmem.lifecycle import Lifecycle
from gitmem.lifecycle_rules import reduce_heads
from gitmem.records import Receipt
from gitmem.work_state import WorkReader, WorkState
from turns import Desk, again, make_desk, put_on_line


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home's turn path."""
    return make_desk(tmp_path / "home")


def work(action: str, item: str = "w1", **fields: Any) -> dict[str, Any]:
    """Return an event of a work item."""
    return {"kind": "work_item", "action": action, "work_item_id": item, **fields}


def tell(desk: Desk, *events: dict[str, Any], session: str | None = "s1", **links: Any) -> Receipt:
    """Record one turn."""
    receipt = desk.recorder.record(events, session=session, **links)
    assert receipt.committed, receipt.reason
    return receipt


def reader(desk: Desk) -> WorkReader:
    """Return a reader of a process that has read nothing yet."""
    return WorkReader(desk.repository, desk.layout, again(desk).ledger, desk.recorder.now)


def shown(state: WorkState) -> dict[str, Any]:
    """Return everything that a state says."""
    return {
        "items": [item.to_json() for item in state.items.values()],
        "waits": list(state.waits.values()),
        "tasks": [task.to_json() for task in state.tasks.values()],
        "focus": [state.focus(name) for name in ("s1", "s2", None)],
        "candidates": state.candidates("s1"),
        "turns": {item: state.turns(item) for item in state.items},
        "refs": {item: state.refs(item).all for item in state.items},
    }


def test_a_work_item_as_its_records_tell_it(desk: Desk) -> None:
    """Every field that was given, and what was worked out."""
    tell(
        desk,
        work("create", objective="Move", todo=["a", {"text": "b", "state": "in_progress"}], ts="2026-03-02"),
        work("pick"),
        workspace="ws_a",
    )
    tell(desk, {"kind": "task", "task_id": "t1", "status": "running", "summary": "dump"})
    tell(desk, {"kind": "wait", "wait_id": "x1", "status": "active", "wait_kind": "task", "resource": "t1",
                "waiting_for": "the dump"})  # fmt: skip
    state = reader(desk).state()
    item = state.items["w1"]
    assert (item.objective, item.status, item.plan_status, item.revision) == ("Move", "open", "draft", 3)
    assert (item.workspace, item.created_at, item.session) == ("ws_a", "2026-03-02T00:00:00.000Z", "s1")
    assert (item.blocked_by, item.schedule.reason) == ("the dump", "task")
    assert item.current_todo == item.todo[1]
    assert item.plan_path is not None
    assert (state.focus("s1"), state.focus("s9"), list(state.items)) == ("w1", "w1", ["w1"])
    assert [wait.id for wait in state.waits_of("w1")] == ["x1"]
    assert state.tasks["t1"].summary == "dump"
    assert state.filters("w1", "s1") == {"blocked", "open", "current"}
    with pytest.raises(KeyError):
        state.items["w2"]


def test_a_recheck_is_due_until_a_turn_looks(desk: Desk) -> None:
    """The turn that belongs to the work item consumes it; an hour is what a blocker in words gets."""
    tell(desk, work("create", ts="2026-03-02T05:00:00Z", blocked_by="the vendor"))
    assert not reader(desk).state(now="2026-03-02T05:59:59.000Z").items["w1"].is_due
    assert reader(desk).state().items["w1"].is_due
    tell(desk, {"kind": "message", "role": "user", "text": "so?"}, work_item="w1")
    assert not reader(desk).state().items["w1"].is_due


def test_what_was_is_told_by_its_commit(desk: Desk) -> None:
    """Each turn's commit shows work as it was then; a commit of the branch and a time do, too."""
    live = reader(desk)
    told = []
    for events in (
        [work("create", objective="Move"), work("create", "w2", objective="Other")],
        [work("pick"), work("update", objective="Move it", blocked_by="x")],
        [work("complete", report="moved"), work("pick", "w2")],
    ):
        receipt = tell(desk, *events)
        told.append((receipt.committed, shown(live.state(now="2026-03-02T10:00:00.000Z"))))
    for commit, then in told:
        assert commit is not None
        assert shown(live.state(commit, now="2026-03-02T10:00:00.000Z")) == then
        assert shown(reader(desk).state(commit[:12], now="2026-03-02T10:00:00.000Z")) == then
    assert len(live.state("2020-01-01").items) == 0
    assert shown(live.state("now", now="2026-03-02T10:00:00.000Z")) == told[-1][1]
    commit = commit_all(desk.layout.root, files={"notes/a.md": "a"})
    assert live.state(commit).items["w1"].status == "completed"
    with pytest.raises(NotFound):
        live.state("feedfeed")


def test_work_refs_are_a_fold_over_the_turns(desk: Desk) -> None:
    """Those of the turn that ends it count, those of another work item do not (W14, W15)."""
    patch = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"

    def edit(path: str) -> dict[str, Any]:
        return {"kind": "tool_execution", "tool": "apply_patch", "input": {"patch": patch.format(path)}}

    tell(desk, work("create"), work("pick"), edit("a.py"))
    live = reader(desk)
    assert [ref.ref for ref in live.state().refs("w1").active if ref.kind == "file"] == ["a.py"]
    tell(desk, work("create", "w2"), work("pick", "w2"), edit("other.py"))
    tell(desk, work("pick", "w1"))
    tell(desk, edit("b.py"), work("complete", report="done"))
    tell(desk, edit("c.py"))
    state = live.state()
    files = [ref.ref for ref in state.refs("w1").active if ref.kind == "file"]
    assert sorted(files) == ["a.py", "b.py"]
    assert shown(reader(desk).state())["refs"] == shown(state)["refs"]
    assert len(state.turns("w1")) == 3


def test_forks_meet_in_one_state(desk: Desk, tmp_path: Path) -> None:
    """What was finished elsewhere stays finished, and the other word is listed."""
    tell(desk, work("create", objective="Move"), work("pick"))
    root = desk.layout.root
    git("clone", "-q", "--no-checkout", str(root), str(tmp_path / "clone"), cwd=tmp_path)
    git("fetch", "-q", "origin", "refs/heads/*:refs/remotes/origin/*", cwd=tmp_path / "clone")
    clone = Desk(tmp_path / "clone", desk.recorder.now)
    tell(clone, work("complete", report="moved"))
    tell(desk, work("update", objective="Move all"))
    live = reader(desk)
    assert live.state().focus("s1") == "w1"
    git("fetch", "-q", str(tmp_path / "clone"), "refs/heads/*:refs/remotes/clone/*", cwd=root)
    state = live.state()
    item = state.items["w1"]
    assert (item.status, item.report, len(item.diverged)) == ("completed", "moved", 1)
    assert state.focus("s1") is None


def test_a_forgotten_work_item_is_none_to_work_on(desk: Desk) -> None:
    """It is listed without words, and is nobody's focus."""
    tell(desk, work("create", objective="secret plan"), work("pick"))
    live = reader(desk)
    assert live.state().focus("s1") == "w1"
    for record in [record for record in desk.records() if record.kind == "work_item"]:
        receipt = f"ledger/forgotten/record/{record.id.partition('_')[2][:2]}/{record.id}.jsonl"
        put_on_line(desk.layout.root, "refs/remotes/origin/gitmem/turns/w0000000a", {receipt: b"{}\n"})
    state = live.state()
    assert (state.items["w1"].status, state.items["w1"].objective) == ("redacted", "")
    assert (state.focus("s1"), state.open_items()) == (None, [])
    assert not any(state.candidates("s1").values())


def test_a_workspace_sees_its_own_and_what_belongs_to_none(desk: Desk) -> None:
    """Worktrees of one workspace have one id; another workspace's work is hidden (§8)."""
    for name, workspace in (("a", "ws_a"), ("b", "ws_b"), ("n", None)):
        tell(desk, work("create", name), workspace=workspace)
    state = reader(desk).state()
    assert state.candidates("s9", workspace="ws_a")["queued_runnable"] == ("a", "n")
    assert state.candidates("s9")["queued_runnable"] == ("a", "b", "n")


def test_random_histories_read_the_same_in_any_order(desk: Desk, tmp_path: Path) -> None:
    """A reader that followed turn by turn, one that begins anew, and plain reducing agree."""
    chance = random.Random(7)
    live = reader(desk)
    for number in range(60):
        item = chance.choice("abcd")
        action = chance.choice(["create", "update", "pick", "pick", "complete", "drop"])
        report = chance.choice(["", "done"]) if action in ("complete", "drop") else ""
        event = work(action, item, objective=f"o{number}", report=report)
        wait = {"kind": "wait", "wait_id": f"x{number % 5}", "wait_kind": "operator", "waiting_for": "x",
                "status": chance.choice(["active", "active", "cancelled"])}  # fmt: skip
        say = {"kind": "message", "role": "user", "text": "go"}
        events = [one for one in (event, wait, say) if chance.random() < 0.7] or [event]
        tell(desk if number % 3 else again(desk), *events, session=chance.choice(["s1", "s2"]))
        if number % 4 == 0:
            live.state()
    state = live.state(now="2026-03-02T10:00:00.000Z")
    assert shown(state) == shown(reader(desk).state(now="2026-03-02T10:00:00.000Z"))
    heads = Lifecycle(desk.layout, again(desk).ledger).all_heads()
    for (kind, name), found in heads.items():
        if kind == "work_item":
            assert state.items[name].status == reduce_heads(found).status
            waits = [w.winner for w in map(reduce_heads, (v for k, v in heads.items() if k[0] == "wait"))]
            own = [w for w in waits if w.body.get("work_item_id") == name and not w.is_terminal]
            assert len(own) <= 1
            assert not own or state.items[name].is_open
