"""What a turn does to work items, tasks and waits, on a home's own turn line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fixtures import git
from gitmem.lifecycle import Lifecycle
from gitmem.lifecycle_rules import reduce_heads
from gitmem.records import Receipt, Record
from turns import Desk, again, make_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home's turn path."""
    return make_desk(tmp_path / "home")


def work(action: str, item: str = "w1", **fields: Any) -> dict[str, Any]:
    """Return an event of a work item."""
    return {"kind": "work_item", "action": action, "work_item_id": item, **fields}


def wait(name: str = "x1", status: str = "active", **fields: Any) -> dict[str, Any]:
    """Return an event of a wait."""
    return {"kind": "wait", "wait_id": name, "status": status, **fields}


def say(text: str = "go on", role: str = "user", **fields: Any) -> dict[str, Any]:
    """Return a message."""
    return {"kind": "message", "role": role, "text": text, **fields}


def task(status: str, name: str = "t1") -> dict[str, Any]:
    """Return an event of a task."""
    return {"kind": "task", "task_id": name, "status": status}


def tell(desk: Desk, *events: dict[str, Any], session: str | None = "s1", **links: Any) -> Receipt:
    """Record one turn."""
    receipt = desk.recorder.record(events, session=session, **links)
    assert receipt.committed, receipt.reason
    return receipt


def body(desk: Desk, name: str = "w1", kind: str = "work_item") -> dict[str, Any]:
    """Return an object as its last snapshot tells it, with status and revision."""
    state = reduce_heads(Lifecycle(desk.layout, again(desk).ledger).heads(kind, name))
    return {**state.winner.body, "status": state.status, "revision": state.revision}


def last_turn(desk: Desk) -> Record:
    """Return the newest turn's own record."""
    return [record for record in desk.records() if record.kind == "turn"][-1]


def codes(receipt: Receipt) -> list[str]:
    """Return the codes of what was refused."""
    return [str(refused["code"]) for refused in receipt.refused]


class TestUpdate:
    """Revisions."""

    def test_nothing_new_is_no_line(self, desk: Desk) -> None:
        """The revision stays, and the ledger has no line more than the turn's own (W1)."""
        tell(desk, work("create", objective="Move", todo=["dump"]))
        for event in (
            work("update"),
            work("update", objective="Move", todo=["dump"], reason="again"),
            work("update", blocked_by=""),
        ):
            assert tell(desk, event).refused == ()
        assert body(desk)["revision"] == 1
        assert sum(record.kind == "work_item" for record in desk.records()) == 1

    def test_a_todo_list_is_replaced_as_a_whole(self, desk: Desk) -> None:
        """What the new list does not have is gone."""
        tell(desk, work("create", todo=["dump", "load"]), work("update", todo=["load"]))
        assert (body(desk)["todo"], body(desk)["revision"]) == (["load"], 2)

    def test_a_replay_changes_nothing(self, desk: Desk) -> None:
        """Whoever did not hear the answer may send it again; other words are a conflict (§1.3)."""
        tell(desk, work("create", objective="a", todo=["x"]))
        change = work("update", objective="b", blocked_by="the vendor", expected_revision=1)
        tell(desk, change)
        assert tell(desk, change).refused == ()
        assert body(desk)["revision"] == 2
        assert codes(tell(desk, {**change, "objective": "c"})) == ["revision_conflict"]
        assert codes(tell(desk, {**change, "objective": "c", "revision": 2})) == [
            "same_revision_payload_conflict"
        ]
        assert codes(tell(desk, {**change, "revision": 4})) == ["invalid_revision_transition"]
        again_created = work("create", objective="a", todo=["x"], revision=1)
        assert codes(tell(desk, again_created)) == ["revision_conflict"]

    def test_a_creation_may_be_sent_again(self, desk: Desk) -> None:
        """As long as nothing happened to it since."""
        event = work("create", objective="a", expected_revision=0)
        tell(desk, event)
        assert tell(desk, event).refused == ()
        assert body(desk)["revision"] == 1

    def test_a_blocker_in_words_is_looked_at_again(self, desk: Desk) -> None:
        """After an hour, or when it was said; the same words do not put it off (§2.3)."""
        tell(desk, work("create", ts="2026-03-02T10:00:00Z", blocked_by="the vendor"))
        assert body(desk)["recheck_at"] == "2026-03-02T11:00:00.000Z"
        tell(desk, work("update", ts="2026-03-02T10:30:00Z", blocked_by="the vendor", objective="m"))
        assert body(desk)["recheck_at"] == "2026-03-02T11:00:00.000Z"
        tell(desk, work("update", ts="2026-03-02T10:30:00Z", recheck_after_ms=60_000))
        assert body(desk)["recheck_at"] == "2026-03-02T10:31:00.000Z"
        tell(desk, work("update", blocked_by=None))
        assert (body(desk)["blocked_by"], body(desk)["recheck_at"]) == (None, None)

    def test_what_stays_true_is_written_at_creation(self, desk: Desk) -> None:
        """The workspace is the one it was created in, wherever it is changed later (§8)."""
        tell(desk, work("create", ts="2026-03-02T10:00:00Z", objective="Move it"), workspace="ws_a")
        tell(desk, work("update", objective="Move"), workspace="ws_b")
        found = body(desk)
        assert (found["workspace_id"], found["created_at"]) == ("ws_a", "2026-03-02T10:00:00.000Z")
        assert found["plan_path"].startswith("work/2026-03-02-move-it-")


class TestEnd:
    """Completing and dropping."""

    def test_a_report_is_needed(self, desk: Desk) -> None:
        """Without one it stays open; with one its brief is a record of the turn (W4)."""
        tell(desk, work("create", objective="Move", blocked_by="the vendor"))
        assert codes(tell(desk, work("complete"))) == ["completion_report_missing"]
        assert codes(tell(desk, work("complete", report="  "))) == ["completion_report_missing"]
        assert body(desk)["status"] == "open"
        receipt = tell(desk, work("complete", report="It is moved."))
        found = body(desk)
        assert (found["status"], found["blocked_by"]) == ("completed", None)
        brief = desk.ledger.find(found["result_brief"].removeprefix("brief:"))
        assert brief is not None
        assert (brief.body, brief.work_item) == ({"brief_kind": "result", "text": "It is moved."}, "w1")
        assert [record["kind"] for record in receipt.records][:2] == ["work_item", "brief"]
        assert receipt.records[1]["source_ref"] == found["result_brief"]

    def test_the_turns_own_brief_is_the_report(self, desk: Desk) -> None:
        """An agent that has said what came of it need not say it twice."""
        tell(desk, work("create"))
        brief = {"kind": "brief", "brief_kind": "result", "text": "Moved.", "work_item": "w1"}
        other = {**brief, "text": "of another", "work_item": "w2"}
        receipt = tell(desk, other, brief, work("complete"))
        assert body(desk)["report"] == "Moved."
        assert body(desk)["result_brief"] == receipt.records[1]["source_ref"]
        assert sum(record.kind == "brief" for record in desk.records()) == 2

    def test_a_brief_that_names_nothing_is_the_turns(self, desk: Desk) -> None:
        """A report said in the same round completes (W4); in a turn of another work item it is that one's."""
        tell(desk, work("create"), work("create", "w2"))
        brief = {"kind": "brief", "brief_kind": "result", "text": "Moved."}
        receipt = tell(desk, brief, work("complete"))
        assert body(desk)["result_brief"] == receipt.records[0]["source_ref"]
        assert sum(record.kind == "brief" for record in desk.records()) == 1
        tell(desk, work("create", "w3"), work("pick", "w3"))
        assert codes(tell(desk, brief, work("complete", "w2"))) == ["completion_report_missing"]

    def test_a_second_time_is_nothing(self, desk: Desk) -> None:
        """But it cannot be dropped, changed or picked any more (W3, W4)."""
        tell(desk, work("create"), work("complete", report="done"))
        assert tell(desk, work("complete", report="other")).refused == ()
        assert (body(desk)["revision"], body(desk)["report"]) == (2, "done")
        for action in ("drop", "pick"):
            assert codes(tell(desk, work(action))) == ["work_item_not_open"]
        assert codes(tell(desk, work("update", objective="x"))) == ["work_item_not_open"]
        refused = tell(desk, wait(work_item_id="w1"), wait("x2", work_item_id="w9"))
        assert codes(refused) == ["work_item_not_open", "work_item_not_found"]

    def test_a_turn_of_another_work_item_completes_none(self, desk: Desk) -> None:
        """What it did belongs to the other one (§2.2)."""
        tell(desk, work("create"), work("create", "w2"))
        refused = tell(desk, work("complete", report="done"), work_item="w2")
        assert codes(refused) == ["work_item_execution_binding_mismatch"]

    @pytest.mark.parametrize("end", [work("complete", report="done"), work("drop", reason="not needed")])
    def test_its_waits_end_with_it(self, desk: Desk, end: dict[str, Any]) -> None:
        """Nothing waits for what is over."""
        tell(desk, work("create"), wait(work_item_id="w1", waiting_for="a"), wait("x2", waiting_for="b"))
        tell(desk, end)
        assert body(desk, "x1", "wait")["status"] == "cancelled"
        assert body(desk, "x2", "wait")["status"] == "active"


class TestImports:
    """What happened elsewhere, before."""

    def test_an_import_may_lack_a_report_and_has_no_plan(self, desk: Desk) -> None:
        """Its work is over, and nobody can be asked for words now."""
        turn = desk.recorder.open(session="s1", ts="2025-01-01T00:00:00.000Z")
        turn.add(work("create", objective="Move"))
        turn.add(work("complete"))
        turn.spool_only()
        desk.line.commit_spooled(wait=1)
        found = body(desk)
        assert (found["status"], found.get("report"), found.get("plan_path")) == ("completed", None, None)
        assert not list(desk.layout.private.glob("plans*"))


class TestWaits:
    """Registering, replacing, resolving."""

    def test_a_wait_blocks_its_owner(self, desk: Desk) -> None:
        """With its words, and the time at which somebody looks again."""
        tell(desk, work("create"), work("pick"))
        tell(desk, wait(waiting_for="the dump", recheck_after_ms=1000, ts="2026-03-02T10:00:00Z"))
        found = body(desk)
        assert (found["blocked_by"], found["recheck_at"]) == ("the dump", "2026-03-02T10:00:01.000Z")
        assert body(desk, "x1", "wait")["work_item_id"] == "w1"

    def test_a_new_wait_takes_the_place_of_the_old_one(self, desk: Desk) -> None:
        """And a message of its own turn does not resolve it (W7)."""
        tell(desk, work("create"), work("pick"))
        tell(desk, wait(wait_kind="task", resource="t1", waiting_for="the dump"))
        tell(desk, say(), wait("x2", wait_kind="operator", waiting_for="the port"), say())
        assert body(desk, "x1", "wait")["status"] == "cancelled"
        assert body(desk, "x1", "wait")["replaced_by"] == "x2"
        assert body(desk, "x2", "wait")["status"] == "active"
        assert body(desk)["blocked_by"] == "the port"
        receipt = tell(desk, say("2222"))
        found = body(desk, "x2", "wait")
        assert (found["status"], found["trigger"]) == ("resolved", receipt.records[0]["source_ref"])
        assert body(desk)["blocked_by"] is None

    def test_of_two_waits_in_one_turn_the_second_stands(self, desk: Desk) -> None:
        """And one that begins in the turn that completes its work item ends with it."""
        tell(desk, work("create"), work("pick"), wait("x1", waiting_for="a"), wait("x2", waiting_for="b"))
        assert [body(desk, name, "wait")["status"] for name in ("x1", "x2")] == ["cancelled", "active"]
        assert body(desk)["blocked_by"] == "b"
        tell(desk, wait("x3", waiting_for="c"), work("complete", report="done"))
        assert [body(desk, name, "wait")["status"] for name in ("x2", "x3")] == ["cancelled", "cancelled"]
        assert (body(desk)["status"], body(desk)["blocked_by"]) == ("completed", None)

    def test_a_wait_keeps_its_owner(self, desk: Desk) -> None:
        """Another event of it cannot give it to another work item, or to one that never was."""
        tell(desk, work("create"), work("create", "w2"), wait(work_item_id="w1", waiting_for="a"))
        tell(desk, wait(work_item_id="w2"), wait(work_item_id="w9", waiting_for="b"))
        assert body(desk, "x1", "wait")["work_item_id"] == "w1"
        assert body(desk, "w2")["revision"] == 1

    def test_somebody_elses_blocker_stays(self, desk: Desk) -> None:
        """The operator wrote another one meanwhile (W8)."""
        tell(desk, work("create"), work("pick"), wait(wait_kind="operator", waiting_for="the port"))
        tell(desk, work("update", blocked_by="the vendor"), session="s9")
        tell(desk, say("2222"))
        assert body(desk, "x1", "wait")["status"] == "resolved"
        assert body(desk)["blocked_by"] == "the vendor"

    def test_a_task_that_ends_resolves(self, desk: Desk) -> None:
        """Not before, and not another one; one that has ended is not waited for (§2.3)."""
        tell(desk, work("create"), work("pick"), wait(wait_kind="task", resource="t1", waiting_for="t"))
        tell(desk, task("running"), task("completed", "t2"), session="s9")
        assert body(desk, "x1", "wait")["status"] == "active"
        tell(desk, task("failed"), session="s9")
        assert body(desk, "x1", "wait")["trigger"] == "task:t1"
        assert codes(tell(desk, wait("x3", wait_kind="task", resource="t1"))) == ["task_finished"]

    def test_an_operator_is_heard_where_he_answers(self, desk: Desk) -> None:
        """A word in another conversation, or a message that names the work item, wakes nothing (W17)."""
        tell(desk, work("create"), work("pick"), wait(wait_kind="operator", waiting_for="the port"))
        tell(desk, work("create", "w2"), work("pick", "w2"), session="s2")
        tell(desk, say(metadata={"work_item_id": "w1"}, work_item_id="w1"), session="s2")
        tell(desk, say(role="assistant"))
        tell(desk, say(origin="webhook", source_refs={"wait_id": "x1"}))
        assert body(desk, "x1", "wait")["status"] == "active"
        tell(desk, say())
        assert body(desk, "x1", "wait")["status"] == "resolved"

    def test_a_turn_that_breaks_off_only_triggers(self, desk: Desk) -> None:
        """The agent did not take it in; its next turn on the work item does."""
        tell(desk, work("create"), work("pick"), wait(wait_kind="operator", waiting_for="the port"))
        turn = desk.recorder.open(session="s1")
        turn.message("user", "2222")
        turn.finish("aborted")
        assert body(desk, "x1", "wait")["status"] == "triggered"
        assert body(desk)["blocked_by"] == "the port"
        tell(desk, say("so?", role="assistant"), session="s2", work_item="w9")
        assert body(desk, "x1", "wait")["status"] == "triggered"
        tell(desk, say("on it", role="assistant"))
        assert (body(desk, "x1", "wait")["status"], body(desk)["blocked_by"]) == ("resolved", None)

    def test_clearing_a_blocker_needs_a_reason(self, desk: Desk) -> None:
        """And ends the waits behind it (§2.2)."""
        tell(desk, work("create"), wait(work_item_id="w1", waiting_for="the dump"))
        assert codes(tell(desk, work("pick", clear_blocker=True))) == ["invalid_record"]
        tell(desk, work("pick", clear_blocker=True, reason="it came by mail"))
        assert (body(desk)["blocked_by"], body(desk, "x1", "wait")["status"]) == (None, "cancelled")


class TestTurnItem:
    """Which work item a turn belongs to."""

    def test_each_turn_names_it(self, desk: Desk) -> None:
        """Its focus, and the turn that ends it, too (W15); afterwards there is none."""
        tell(desk, say())
        assert "work_item" not in last_turn(desk).body
        tell(desk, work("create"))
        assert "work_item" not in last_turn(desk).body
        for events in ([work("pick")], [say()], [wait(waiting_for="x")], [work("complete", report="d")]):
            tell(desk, *events)
            assert last_turn(desk).body["work_item"] == "w1"
        tell(desk, say())
        assert "work_item" not in last_turn(desk).body

    def test_a_link_comes_first_if_it_leads_to_something_open(self, desk: Desk) -> None:
        """A turn for what is over, or nowhere, belongs to nothing."""
        tell(desk, work("create"), work("pick"), work("create", "w2"), work("create", "w3"))
        tell(desk, work("drop", "w3"))
        for link, item in (("w2", "w2"), ("w3", None), ("w9", None)):
            tell(desk, say(), work_item=link)
            assert last_turn(desk).body.get("work_item") == item

    def test_giving_way_and_coming_back(self, desk: Desk) -> None:
        """What could be worked on gives way, what is blocked does not (§2.5)."""
        tell(desk, work("create"), work("pick"), work("create", "w2"), work("pick", "w2"))
        assert (body(desk, "w2")["pick"], body(desk, "w2")["yields"]) == ("yield_current", "w1")
        tell(desk, work("complete", "w2", report="d"))
        tell(desk, say())
        assert last_turn(desk).body["work_item"] == "w1"
        tell(desk, work("update", blocked_by="x"), work("create", "w3"), work("pick", "w3"))
        assert body(desk, "w3")["pick"] == "explicit_focus_override"
        assert "yields" not in body(desk, "w3")
        tell(desk, work("pick", "w1"))
        assert (body(desk)["pick"], body(desk)["focus_mode"]) == ("yield_current", "inspection")
        assert body(desk)["yields"] == "w3"

    def test_picking_again_is_no_line(self, desk: Desk) -> None:
        """It is the focus already."""
        tell(desk, work("create"), work("pick"))
        tell(desk, work("pick"))
        assert body(desk)["revision"] == 2

    def test_another_writer_moves_it(self, desk: Desk, tmp_path: Path) -> None:
        """What comes with a fetch is known to the next turn, though this process had read before."""
        tell(desk, work("create"), work("pick"))
        root = desk.layout.root
        git("clone", "-q", "--no-checkout", str(root), str(tmp_path / "clone"), cwd=tmp_path)
        git("fetch", "-q", "origin", "refs/heads/*:refs/remotes/origin/*", cwd=tmp_path / "clone")
        clone = Desk(tmp_path / "clone", desk.recorder.now)
        tell(clone, work("complete", report="done elsewhere"))
        tell(desk, say())
        assert last_turn(desk).body["work_item"] == "w1"
        git("fetch", "-q", str(tmp_path / "clone"), "refs/heads/*:refs/remotes/clone/*", cwd=root)
        tell(desk, say())
        assert "work_item" not in last_turn(desk).body

    def test_another_process_goes_on(self, desk: Desk) -> None:
        """Focus and waits are read from the lines."""
        tell(desk, work("create"), work("pick"), wait(wait_kind="operator", waiting_for="the port"))
        tell(again(desk), say())
        assert last_turn(desk).body["work_item"] == "w1"
        assert body(desk, "x1", "wait")["status"] == "resolved"


def test_what_follows_has_one_id_however_often_it_is_sealed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that failed and is made again brings the same brief."""
    tell(desk, work("create"), work("pick"), wait(waiting_for="x"))

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(desk.repository, "write_pack", fail)
        assert desk.recorder.record([work("complete", report="done")], session="s1").committed is None
    tell(desk, say())
    kinds = [record.kind for record in desk.records()]
    assert kinds.count("brief") == 1
    found = body(desk)
    assert desk.ledger.find(found["result_brief"].removeprefix("brief:")) is not None
    assert (found["status"], body(desk, "x1", "wait")["status"]) == ("completed", "cancelled")
