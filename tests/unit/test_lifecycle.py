"""Objects of the ledger: their heads across turns, processes, lines and what was forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fixtures import git
from gitmem.lifecycle import Lifecycle
from gitmem.lifecycle_rules import Snapshot, reduce_heads
from gitmem.records import Record
from turns import Desk, again, make_desk, put_on_line


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home's turn path."""
    return make_desk(tmp_path / "home")


def task(status: str = "running", **fields: Any) -> dict[str, Any]:
    """Return a task event."""
    return {"kind": "task", "task_id": "t1", "status": status, **fields}


def snapshots(desk: Desk) -> list[Record]:
    """Return all snapshots on the lines."""
    return [record for record in desk.records() if record.kind == "task"]


def test_each_snapshot_holds_the_whole_object_and_names_the_one_before(desk: Desk) -> None:
    """The last one alone says what the object is."""
    desk.recorder.record([task(summary="first", owner="aria")])
    desk.recorder.record([task("completed", summary="second")])
    first, second = snapshots(desk)
    assert (first.revision, first.after) == (1, ())
    assert (second.revision, second.after, second.status) == (2, (first.id,), "completed")
    assert second.body == {"task_id": "t1", "status": "completed", "summary": "second", "owner": "aria"}
    (head,) = Lifecycle(desk.layout, again(desk).ledger).heads("task", "t1")
    assert head.id == second.id


def test_several_changes_in_one_turn_follow_each_other(desk: Desk) -> None:
    """Also where many turns are sealed at once."""
    for _ in range(3):
        turn = desk.recorder.open()
        for number in range(3):
            turn.event("task", task_id="t1", status="running", step=number)
        turn.spool_only()
    desk.line.commit_spooled(wait=1)
    found = snapshots(desk)
    assert [record.revision for record in found] == list(range(1, 10))
    assert [record.after for record in found] == [(), *((record.id,) for record in found[:-1])]


def test_a_long_text_is_inherited_whole(desk: Desk) -> None:
    """Neither within a turn, nor within a batch of turns, nor later is the shortened one taken for it."""
    long = "計" * 9_000
    for events in ([task(detail=long), task(step=1)], [task(step=2)]):
        turn = desk.recorder.open()
        for event in events:
            turn.add(event)
        turn.spool_only()
    desk.line.commit_spooled(wait=1)
    again(desk).recorder.record([task(step=3)])
    found = snapshots(desk)
    assert len(found) == 4
    for record in found:
        assert desk.ledger.full_body(record)["detail"] == long


def test_another_process_goes_on_where_the_first_one_stopped(desk: Desk) -> None:
    """Heads are read from the lines."""
    for number in range(4):
        (desk if number % 2 else again(desk)).recorder.record([task(step=number)])
    assert [record.revision for record in snapshots(desk)] == [1, 2, 3, 4]


def test_concurrent_changes_meet_in_the_next_one(desk: Desk, tmp_path: Path) -> None:
    """What was finished elsewhere stays finished, the other is listed, and one change ends it."""
    desk.recorder.record([task()])
    root = desk.layout.root
    git("clone", "-q", "--no-checkout", str(root), str(tmp_path / "clone"), cwd=tmp_path)
    git("fetch", "-q", "origin", "refs/heads/*:refs/remotes/origin/*", cwd=tmp_path / "clone")
    clone = Desk(tmp_path / "clone", desk.recorder.now)
    clone.recorder.record([task("completed", by="clone")])
    desk.recorder.record([task(by="here")])
    git("fetch", "-q", str(tmp_path / "clone"), "refs/heads/*:refs/remotes/clone/*", cwd=root)
    state = reduce_heads(Lifecycle(desk.layout, desk.ledger).heads("task", "t1"))
    assert (state.status, state.revision, len(state.diverged)) == ("completed", 2, 1)
    receipt = desk.recorder.record([task("completed", expected_revision=2, by="all")])
    assert receipt.refused == ()
    *_, last = snapshots(desk)
    assert (last.revision, len(last.after)) == (3, 2)
    (head,) = Lifecycle(desk.layout, desk.ledger).heads("task", "t1")
    assert head.id == last.id
    assert Lifecycle(desk.layout, desk.ledger).all_heads()["task", "t1"] == [head]


def test_a_forgotten_snapshot_still_supersedes(desk: Desk) -> None:
    """Its place stands in the envelope, its text is gone; a process that knew it forgets it too."""
    lifecycle = Lifecycle(desk.layout, desk.ledger)
    desk.recorder.record([task(secret="x")])
    desk.recorder.record([task(secret="y")])
    assert [head.body["secret"] for head in lifecycle.heads("task", "t1")] == ["y"]
    last = snapshots(desk)[-1]
    receipt = f"ledger/forgotten/record/{last.id.partition('_')[2][:2]}/{last.id}.jsonl"
    put_on_line(desk.layout.root, "refs/remotes/origin/gitmem/turns/w0000000a", {receipt: b"{}\n"})
    (head,) = lifecycle.heads("task", "t1")
    assert (head.id, head.redacted, head.body) == (last.id, True, {})


def test_objects_of_one_name_and_two_kinds_are_two(desk: Desk) -> None:
    """A task and a wait may be called alike."""
    desk.recorder.record([task(), {"kind": "wait", "wait_id": "t1", "status": "active"}])
    heads = Lifecycle(desk.layout, desk.ledger).all_heads()
    assert set(heads) == {("task", "t1"), ("wait", "t1")}
    assert Lifecycle(desk.layout, desk.ledger).heads("work_item", "t1") == []


def test_a_failed_commit_leaves_no_trace(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sealed and not written is not a predecessor of anything."""
    desk.recorder.record([task()])

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(desk.repository, "write_pack", fail)
        assert desk.recorder.record([task(step=2)]).committed is None
    desk.recorder.record([task(step=3)])
    found = snapshots(desk)
    assert [(record.revision, record.after) for record in found] == [
        (1, ()),
        (2, (found[0].id,)),
        (3, (found[1].id,)),
    ]
    assert isinstance(Lifecycle(desk.layout, desk.ledger).heads("task", "t1")[0], Snapshot)


def test_work_items_are_checked_at_sealing(desk: Desk) -> None:
    """An update of nothing, a second creation and a change after the end are refused, one by one."""
    create = {"kind": "work_item", "action": "create", "work_item_id": "w1", "objective": "move"}
    update = {"kind": "work_item", "action": "update", "work_item_id": "w2"}
    receipt = desk.recorder.record(
        [
            create,
            update,
            create,
            {**create, "action": "complete", "report": "moved"},
            {**update, "work_item_id": "w1", "objective": "back"},
        ]
    )
    assert [(refused["event"], refused["code"]) for refused in receipt.refused] == [
        (1, "work_item_not_found"),
        (2, "work_item_exists"),
        (4, "work_item_not_open"),
    ]
