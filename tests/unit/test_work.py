"""Work items as a caller changes them: one turn for each change, typed refusals, plans beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from homes import new_home

from fixtures import CounterClock, git, show
from gitmem import AgentHome
from gitmem.errors import (
    AmbiguousMatch,
    BindingMismatch,
    InvalidRecord,
    NotFound,
    ReportMissing,
    RevisionConflict,
    UnknownWorkItem,
    UsageError,
    WorkItemExists,
    WorkItemNotOpen,
)


@pytest.fixture
def home(tmp_path: Path, clock: CounterClock) -> Iterator[AgentHome]:
    """A home with an operator, on 2026-03-02."""
    with new_home(tmp_path / "home", now=clock, operator=True) as made:
        yield made


def turns(home: AgentHome) -> int:
    """Return how many turns the ledger holds."""
    return sum(line.kind == "turn" for line in home.ledger.lines_newest_first())


def plan_of(home: AgentHome, item: str) -> Path:
    """Return the file of a plan."""
    detail = home.work_show(item)
    assert detail.plan is not None
    return home.layout.root / detail.plan.path


class TestChanges:
    """One turn each."""

    def test_from_creation_to_completion(self, home: AgentHome) -> None:
        """The reply tells what holds, and what people should know (W4)."""
        made = home.work_create("Move staging", todo=["dump", "load"], delivery_target="mail", session="s1")
        assert made.work_item is not None
        item = made.work_item
        assert (item.revision, item.status, item.plan_status, item.schedule.readiness) == (
            1,
            "open",
            "draft",
            "runnable",
        )
        assert (made.committed is not None, made.source_ref) == (True, f"work_item:{item.id}")
        assert home.work_list(session="s1").focus is None
        picked = home.work_pick(item.id[:9], session="s1")
        assert (picked.pick, picked.focus_mode) == ("explicit_focus_pick", "runnable")
        again = home.work_pick(item.id, session="s1")
        assert (again.pick, again.focus_mode, again.unchanged) == ("same_work_item", "runnable", True)
        assert home.work_list(session="s1").focus == item.id
        with pytest.raises(ReportMissing):
            home.work_complete(item.id, session="s1")
        assert home.work_show(item.id).work_item.is_open
        done = home.work_complete(item.id, "It is moved.", session="s1")
        assert done.work_item is not None
        assert (done.work_item.status, done.work_item.report) == ("completed", "It is moved.")
        assert done.warnings == ["unfinished_todos: 2 (0 in progress): dump; load"]
        assert home.get(str(done.work_item.result_brief)).content == "It is moved."
        again = home.work_complete(item.id, "It is moved.", session="s1")
        assert (again.unchanged, again.turn_id) == (True, None)

    def test_why_it_was_dropped_is_told(self, home: AgentHome) -> None:
        """A work item without a result has at least a reason."""
        home.work_create("Move", work_item_id="w1")
        home.work_drop("w1", reason="the vendor did it")
        assert home.work_show("w1").work_item.reason == "the vendor did it"

    @pytest.mark.parametrize("moment", ["foreseeing", "sealing"])
    def test_what_another_process_did_just_before_is_no_change(self, home: AgentHome, moment: str) -> None:
        """Completing twice is once (W4), also where two processes do it at the same time."""
        home.work_create("Move", work_item_id="w1")
        with AgentHome.open(home.layout.root, now=home._parts.now) as other:
            source = home._parts.work_state.source()
            heads, told = source.heads, other.work_complete

            def late(kind: str, name: str) -> Any:
                found = heads(kind, name)
                calls.append(name)
                if len(calls) == at:
                    told("w1", "done")
                return found

            calls: list[str] = []  # between two looks at the ledger, or behind the last before sealing
            at = 1 if moment == "foreseeing" else 2
            source.heads = late  # type: ignore[method-assign]
            try:
                reply = home.work_complete("w1", "done")
            finally:
                source.heads = heads  # type: ignore[method-assign]
        assert reply.unchanged
        assert home.work_show("w1").work_item.revision == 2

    def test_nothing_named_changes_nothing(self, home: AgentHome) -> None:
        """No revision, no turn (W1)."""
        item = home.work_create("Move", work_item_id="w1").work_item_id
        before = turns(home)
        for values in ({}, {"objective": "Move"}, {"todo": None}):
            reply = home.work_update(str(item), **values)
            assert reply.unchanged
            assert reply.work_item is not None
            assert reply.work_item.revision == 1
        assert turns(home) == before

    @pytest.mark.parametrize("action", ["update", "pick", "wait", "drop"])
    def test_each_refusal_has_its_own_type(self, home: AgentHome, action: str) -> None:
        """What is over, what is foreign, what never was (W3); another home's ref behaves as absent (§8)."""
        home.work_create("Move", work_item_id="w1")
        home.work_complete("w1", "done")

        def change(name: str) -> None:
            values: dict[str, Any] = {"update": {"objective": "x"}}.get(action, {})
            if action == "wait":
                home.work_wait("x", work_item=name)
            else:
                getattr(home, f"work_{action}")(name, **values)

        with pytest.raises(WorkItemNotOpen):
            change("w1")
        for name in ("w2", "work_item:w1@h0123456789abcdef", "work_item:w9"):
            with pytest.raises(UnknownWorkItem):
                change(name)

    def test_a_name_may_be_short_if_it_is_clear(self, home: AgentHome) -> None:
        """The beginning of one id, not of two."""
        home.work_create("a", work_item_id="move-a")
        home.work_create("b", work_item_id="move-b")
        with pytest.raises(AmbiguousMatch):
            home.work_pick("move")
        assert home.work_pick("work_item:move-b").work_item_id == "move-b"
        with pytest.raises(WorkItemExists):
            home.work_create("c", work_item_id="move-a")

    @pytest.mark.parametrize(
        "values",
        [
            {"objective": " "},
            {"objective": "x", "todo": "dump"},
            {"objective": "x", "plan_status": "agreed"},
            {"objective": "x", "plan": "  "},
            {"objective": "x", "work_item_id": "a b"},
        ],
    )
    def test_what_cannot_be_is_refused_before_anything_is_written(
        self, home: AgentHome, values: dict[str, Any]
    ) -> None:
        """No turn, no file."""
        with pytest.raises(UsageError):
            home.work_create(**values)
        assert turns(home) == 0

    def test_a_revision_that_was_read_is_compared(self, home: AgentHome) -> None:
        """A second writer with the old one is refused, the same words again are none (§1.3)."""
        home.work_create("Move", work_item_id="w1")
        home.work_update("w1", objective="Move all", expected_revision=1)
        assert home.work_update("w1", objective="Move all", expected_revision=1).unchanged
        with pytest.raises(RevisionConflict) as caught:
            home.work_update("w1", objective="Move none", expected_revision=1)
        assert (caught.value.details["actual"], caught.value.details["retryable"]) == (2, True)

    def test_waits_come_and_go(self, home: AgentHome) -> None:
        """The ids of those that were replaced are told (W7); two kinds at once are told, too (W6)."""
        home.work_create("Move", work_item_id="w1")
        home.work_pick("w1", session="s1")
        first = home.work_wait("the dump", wake="task_result", resource="t1", session="s1")
        assert first.wait is not None
        assert (first.wait.work_item, first.cancelled_waits) == ("w1", ())
        assert first.work_item is not None
        assert (first.work_item.blocked_by, first.work_item.schedule.reason) == ("the dump", "task")
        second = home.work_wait("the port", session="s1")
        assert second.cancelled_waits == (first.wait.id,)
        assert home.work_list("waiting_for_operator").total_matching == 1
        cleared = home.work_pick("w1", clear_blocker=True, reason="by mail", session="s1")
        assert second.wait is not None
        assert cleared.cancelled_waits == (second.wait.id,)
        with pytest.raises(InvalidRecord):
            home.work_update("w1", clear_blocker=True)
        with pytest.raises(InvalidRecord):
            home.work_wait("x", wake="timer")
        own = home.work_wait("the vendor", wake="external", resource="hook")
        assert own.work_item_id == "w1"  # the home's last focus

    def test_a_task_that_ended_is_not_waited_for(self, home: AgentHome) -> None:
        """The answer says so, and nothing is written (§2.3)."""
        home.record([{"kind": "task", "task_id": "t1", "status": "completed"}])
        before = turns(home)
        reply = home.work_wait("it", wake="task_result", resource="t1")
        assert (reply.wait, turns(home)) == (None, before)
        assert "t1 has ended" in str(reply.reason)

    def test_a_yielded_one_comes_back(self, home: AgentHome) -> None:
        """The reply to the end says which (§2.5)."""
        for name in ("w1", "w2"):
            home.work_create(name, work_item_id=name)
            picked = home.work_pick(name, session="s1")
        assert (picked.pick, picked.yielded) == ("yield_current", "w1")
        assert home.work_list("yielded").work_items[0].id == "w1"
        assert home.work_drop("w2", session="s1", reason="not needed").resumed == "w1"

    def test_a_change_can_be_part_of_a_turn(self, home: AgentHome) -> None:
        """It holds with the turn; what the turn itself created can be picked in it."""
        with home.turn(session="s1") as turn:
            turn.message("user", "move it")
            made = home.work_create("Move", work_item_id="w1", turn=turn)
            assert (made.work_item, made.reason) == (None, "the turn is still open")
            home.work_pick("w1", turn=turn)
            with pytest.raises(UnknownWorkItem):
                home.work_pick("w2", turn=turn)
        assert [record["kind"] for record in turn.receipt.records] == [
            "message",
            "work_item",
            "work_item",
            "turn",
        ]
        assert home.work_state().focus("s1") == "w1"
        with home.turn(session="s1", work_item="w1") as turn:
            home.work_create("Other", work_item_id="w2")
            with pytest.raises(BindingMismatch):
                home.work_complete("w2", "done", turn=turn)

    def test_who_and_why_stand_in_the_record(self, home: AgentHome) -> None:
        """And are not inherited by the next change."""
        with home.turn(session="s1") as turn:
            ref = turn.message("user", "move it")
        home.work_create("Move", work_item_id="w1", source=ref, reason="asked", by="operator")
        home.work_update("w1", objective="Move all")
        first, second = [r.body for r in reversed(list(home.ledger.find_all(b'"kind":"work_item"')))]
        assert (first["source"], first["reason"], first["by"]) == (ref, "asked", "operator")
        assert not {"source", "reason", "by"} & set(second)


class TestLists:
    """What there is."""

    def test_lists_are_paged_and_narrowed(self, home: AgentHome) -> None:
        """Those that changed last come first, and all are counted."""
        for number in range(5):
            home.work_create(str(number), work_item_id=f"w{number}", workspace="ws_a" if number % 2 else None)
        home.work_update("w0", blocked_by="x")
        page = home.work_list(limit=2)
        assert ([item.id for item in page.work_items], page.total_matching) == (["w0", "w4"], 5)
        rest = home.work_list(limit=4, cursor=page.cursor)
        assert ([item.id for item in rest.work_items], rest.cursor) == (["w3", "w2", "w1"], None)
        assert [item.id for item in home.work_list("blocked").work_items] == ["w0"]
        assert home.work_list(workspace="ws_b").total_matching == 3
        for wrong in ({"only": "sunny"}, {"limit": 0}, {"limit": 101}, {"cursor": "x"}):
            with pytest.raises(UsageError):
                home.work_list(**wrong)
        for wrong in ({"session": "a b"}, {"workspace": "a b"}):
            with pytest.raises(InvalidRecord):
                home.work_list(**wrong)
        with pytest.raises(UsageError):
            home.tasks(status="asleep")

    def test_replies_have_the_keys_of_their_json(self, home: AgentHome) -> None:
        """What `--json` prints is read as attributes from Python (contract §4)."""
        made = home.work_create("Move", work_item_id="w1")
        shown = home.work_show("w1")
        for value in (made, shown, shown.work_item, shown.plan):
            assert value is not None
            assert [name for name in value.to_json() if not hasattr(value, name)] == []
        assert (made.id, made.revision, shown.work_item.readiness) == ("w1", 1, "runnable")

    def test_the_past_is_told_by_a_commit(self, home: AgentHome) -> None:
        """Lists, single ones and tasks (`--as-of`)."""
        first = home.work_create("Move", work_item_id="w1").committed
        home.record([{"kind": "task", "task_id": "t1", "status": "running", "summary": "dump"}])
        home.work_complete("w1", "done")
        assert home.work_list(as_of=first).work_items[0].status == "open"
        assert home.work_show("w1", as_of=first).work_item.revision == 1
        assert (home.tasks(as_of=first).total_matching, home.tasks().total_matching) == (0, 1)
        assert home.tasks(status="failed").tasks == []
        with pytest.raises(UnknownWorkItem):
            home.work_show("w1", as_of="2020-01-01")

    def test_the_plan_of_the_past_is_the_one_of_then(self, home: AgentHome) -> None:
        """`--as-of` shows all of a work item as it was, also where its plan was moved since."""
        first = home.work_create("Move", work_item_id="w1", plan="1. dump").committed
        home.work_update("w1", plan="1. load")
        made, changed = git("rev-parse", "HEAD~", "HEAD", cwd=home.layout.root).split()
        home.work_complete("w1", "done")
        done = home.work_show("w1").plan
        assert done is not None
        before, after = (home.work_show("w1", as_of=commit).plan for commit in (made, changed))
        assert before is not None
        assert after is not None
        assert (before.preview, after.preview, after.exists) == ("1. dump", "1. load", True)
        assert after.path == done.path.replace("work/done/", "work/")
        assert home.work_show("w1", as_of=first).plan is None
        git("rm", "-q", done.path, cwd=home.layout.root)
        assert home.work_show("w1", as_of="now").plan == done


class TestEvents:
    """What a turn's events say of work, checked before anything is written."""

    @pytest.mark.parametrize(
        "event",
        [
            {"action": "create", "objective": "  "},
            {"action": "update", "objective": None},
            {"action": "update", "plan_status": "started"},
            {"action": "update", "todo": "dump"},
            {"action": "update", "todo": [{"text": "dump", "state": "blocked"}]},
            {"action": "update", "recheck_after_ms": "soon"},
            {"action": "update", "recheck_after_ms": -5},
            {"action": "update", "recheck_after_ms": True},
            {"action": "update", "recheck_after_ms": 10**20},
            {"action": "update", "clear_blocker": "yes"},
            {"action": "update", "clear_blocker": True, "reason": "ok", "blocked_by": "the vendor"},
            {"action": "update", "report": "done"},
            {"action": "update", "blocked_by": ["the vendor"]},
            {"action": "update", "objective": "x", "expected_revision": "1"},
        ],
    )
    def test_what_means_nothing_is_refused(self, home: AgentHome, event: dict[str, Any]) -> None:
        """A value that no rule reads would be lost, or empty what was there, without a word."""
        home.work_create("Move", work_item_id="w1", todo=["dump"])
        before = turns(home)
        with pytest.raises(InvalidRecord):
            home.record([{"kind": "work_item", "work_item_id": "w1", **event}])
        assert turns(home) == before
        assert [one.text for one in home.work_show("w1").work_item.todo] == ["dump"]

    def test_a_wait_is_what_its_caller_says(self, home: AgentHome) -> None:
        """One that nothing here can end is ended by an event; a command names what it waits for (§2.3)."""
        event = {"kind": "wait", "wait_id": "x", "status": "active", "wait_kind": "task"}
        assert home.record([event]).refused == ()
        assert home.record([{**event, "status": "cancelled"}]).refused == ()
        with pytest.raises(InvalidRecord):
            home.work_wait("the dump", wake="task_result")
        with pytest.raises(InvalidRecord):
            home.work_wait("the vendor", recheck_after_ms=10**20)

    def test_a_pick_that_frees_is_of_something_runnable(self, home: AgentHome) -> None:
        """The focus mode tells what can be done after the pick, not before it (§2.2)."""
        home.work_create("Move", work_item_id="w1", blocked_by="the vendor")
        home.work_wait("the vendor", work_item="w1")
        assert home.work_pick("w1", session="s1").focus_mode == "inspection"
        freed = home.work_pick("w1", session="s1", clear_blocker=True, reason="he called")
        assert (freed.pick, freed.focus_mode) == ("same_work_item", "runnable")
        assert home.work_show("w1").work_item.readiness == "runnable"


class TestPlans:
    """The file beside a work item."""

    def test_a_plan_is_made_and_moved(self, home: AgentHome) -> None:
        """Its folder says the state, its front matter what it is of; both in commits of their own."""
        item = str(home.work_create("Move the staging DB", plan="1. dump\n2. load").work_item_id)
        path = plan_of(home, item)
        assert path.relative_to(home.layout.root).as_posix() == (
            f"work/2026-03-02-move-the-staging-db-{item[5:9]}/plan.md"
        )
        text = path.read_text()
        assert text == f"---\nid: {item}\nobjective: Move the staging DB\n---\n\n1. dump\n2. load\n"
        assert show(home.layout.root, str(path.relative_to(home.layout.root))) == text
        home.work_complete(item, "done")
        moved = plan_of(home, item)
        assert moved.relative_to(home.layout.root).as_posix().startswith("work/done/2026-03-02-move-the-")
        assert (moved.read_text(), path.exists()) == (text, False)
        assert git("status", "--short", cwd=home.layout.root) == ""
        assert git("log", "-1", "--format=%an %s", cwd=home.layout.root).startswith("aria ")

    def test_events_of_a_turn_make_and_move_it_too(self, home: AgentHome) -> None:
        """Whatever way a work item comes, it has a plan."""
        create = {
            "kind": "work_item",
            "action": "create",
            "work_item_id": "w1",
            "objective": "Move",
            "plan": "x",
        }
        receipt = home.record([create])
        assert list(receipt.warnings) == []
        assert plan_of(home, "w1").read_text().endswith("---\n\nx\n")
        home.record([{"kind": "work_item", "action": "drop", "work_item_id": "w1"}])
        assert "work/done/" in plan_of(home, "w1").as_posix()

    def test_an_operator_edits_it(self, home: AgentHome) -> None:
        """The body is theirs; the front matter is put back, and they are told."""
        home.work_create("Move", work_item_id="w1", plan="first")
        path = plan_of(home, "w1")
        path.write_text("---\nid: mine\nobjective: Rule the world\nowner: Olivia\n---\n\nsecond\n")
        reply = home.commit()
        assert [warning.partition(": ")[2].split(" ")[0] for warning in reply.warnings] == ["id", "objective"]
        assert path.read_text() == "---\nid: w1\nobjective: Move\nowner: Olivia\n---\n\nsecond\n"
        assert git("status", "--short", cwd=home.layout.root) == ""
        authors = git("log", "-2", "--format=%an", cwd=home.layout.root).split("\n")
        assert authors == ["aria", "Olivia Operator"]
        assert home.work_show("w1").work_item.objective == "Move"
        assert list(home.work_update("w1", objective="Move all of it").warnings) == []
        assert path.read_text() == "---\nid: w1\nobjective: Move all of it\nowner: Olivia\n---\n\nsecond\n"

    def test_it_is_edited_by_its_work_item(self, home: AgentHome) -> None:
        """`gitmem edit work_item:…` opens the plan, and puts its front matter back."""
        home.work_create("Move", work_item_id="w1", plan="first")
        target = home.edit_open("work_item:w1")
        reply = home.edit_finish(target, target.shown.replace(b"first", b"second").replace(b"Move", b"Stay"))
        assert ["objective was put back" in warning for warning in reply.warnings] == [True]
        assert plan_of(home, "w1").read_text() == "---\nid: w1\nobjective: Move\n---\n\nsecond\n"
        plan_of(home, "w1").unlink()
        with pytest.raises(NotFound):
            home.edit_open("work_item:w1")

    def test_an_edit_that_is_not_committed_is_not_lost(self, home: AgentHome) -> None:
        """It is committed as the operator's before the plan moves."""
        home.work_create("Move", work_item_id="w1")
        path = plan_of(home, "w1")
        path.write_text(path.read_text() + "\nby hand\n")
        home.work_complete("w1", "done")
        assert plan_of(home, "w1").read_text().endswith("by hand\n")
        assert "Olivia Operator" in git("log", "-4", "--format=%an", cwd=home.layout.root)

    def test_the_agent_gives_another_plan(self, home: AgentHome) -> None:
        """The text as a whole; the front matter stays."""
        home.work_create("Move", work_item_id="w1", plan="first")
        home.work_update("w1", plan="second")
        assert plan_of(home, "w1").read_text() == "---\nid: w1\nobjective: Move\n---\n\nsecond\n"
        home.work_update("w1", blocked_by="x")
        assert plan_of(home, "w1").read_text().endswith("second\n")

    def test_a_plan_that_is_gone_is_missed_and_breaks_nothing(self, home: AgentHome) -> None:
        """Reported where it is shown, and where it would be moved."""
        home.work_create("Move", work_item_id="w1")
        plan_of(home, "w1").unlink()
        detail = home.work_show("w1")
        assert detail.plan is not None
        assert (detail.plan.exists, list(detail.plan.problems)) == (False, ["the file is gone"])
        done = home.work_complete("w1", "done")
        assert done.work_item is not None
        assert done.work_item.status == "completed"
        assert "is gone" in "".join(done.warnings)

    @pytest.mark.parametrize("content", [b"\xff\xfe", b"---\nid: [\n---\nbody\n"])
    def test_a_plan_that_cannot_be_read_is_left_as_it_is(self, home: AgentHome, content: bytes) -> None:
        """The work item goes on without it."""
        home.work_create("Move", work_item_id="w1")
        path = plan_of(home, "w1")
        path.write_bytes(content)
        done = home.work_update("w1", objective="Move all")
        assert done.work_item is not None
        assert done.work_item.objective == "Move all"
        assert path.read_bytes() == content
        assert done.warnings

    def test_a_plan_waits_for_the_branch(self, home: AgentHome) -> None:
        """While a merge is under way the work item changes, and the file is there, not yet committed."""
        (home.layout.git_dir / "MERGE_HEAD").write_text(git("rev-parse", "HEAD", cwd=home.layout.root) + "\n")
        made = home.work_create("Move", work_item_id="w1")
        assert made.committed is not None
        assert plan_of(home, "w1").exists()
        assert any("merge" in warning for warning in made.warnings)
        (home.layout.git_dir / "MERGE_HEAD").unlink()
        home.commit()
        assert git("ls-files", "work", cwd=home.layout.root) != ""

    def test_a_killed_process_leaves_a_notice(self, home: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
        """The next one makes the plan."""
        with monkeypatch.context() as patch:
            patch.setattr(home._parts.recorder, "_on_committed", lambda: ())
            home.work_create("Move", work_item_id="w1")
        assert not (home.layout.root / "work").exists()
        with AgentHome.open(home.layout.root) as other:
            assert plan_of(other, "w1").exists()
        assert not list(home.layout.private.glob("plans*"))

    def test_the_plan_of_another_is_not_taken(self, home: AgentHome) -> None:
        """Two work items of one day, one name and the same four digits: the second goes without."""
        names = ["work_1234aaaaaaaaaaa", "work_1234bbbbbbbbbbb"]
        first, second = (home.work_create("Move", work_item_id=name) for name in names)
        assert (list(first.warnings), "is taken" in second.warnings[0]) == ([], True)
        assert f"id: {names[0]}" in plan_of(home, names[0]).read_text()
        found = home.work_show(names[1]).plan
        assert found is not None
        assert not found.exists
        home.work_create("Move it", work_item_id="work_1234ccccccccccc")
        home.work_drop(names[0])
        assert "work/done/" in plan_of(home, names[0]).as_posix()
        assert f"id: {names[0]}" in plan_of(home, names[0]).read_text()
