"""Random turns against the promises of work items: sealed one after the other, without Git."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gitmem.focus_rules import FocusState
from gitmem.forgotten import Receipts
from gitmem.ledger_format import decode
from gitmem.lifecycle import wait_of
from gitmem.lifecycle_rules import Snapshot, reduce_heads
from gitmem.object_fold import ObjectFold
from gitmem.records import Record, parse_event
from gitmem.sealing import ChainEnd, SealedTurn, seal_turn
from gitmem.spool_file import SpooledTurn
from gitmem.wait_rules import Wait

NOW = 1_772_442_000.0
ITEMS = ("w1", "w2", "w3")
SESSIONS = ("s1", "s2")


class FoldSource:
    """A ledger in memory, as a turn asks it."""

    def __init__(self) -> None:
        self.fold = ObjectFold()

    def heads(self, kind: str, object_id: str) -> Sequence[Snapshot]:
        """Return the heads of an object."""
        return self.fold.heads(kind, object_id)

    def snapshot(self, kind: str, object_id: str, snapshot_id: str) -> Snapshot | None:
        """Return one snapshot."""
        return self.fold.snapshot(kind, object_id, snapshot_id)

    def status(self, kind: str, object_id: str) -> str | None:
        """Return an object's status."""
        return self.fold.status(kind, object_id)

    def waits(self) -> Sequence[Wait]:
        """Return the waits that stand."""
        return [self.wait(name) for name in self.fold.open("wait")]

    def wait(self, name: str) -> Wait:
        """Return a wait."""
        return wait_of(reduce_heads(self.fold.heads("wait", name)).winner)

    def focus(self) -> FocusState:
        """Return where every session's focus is."""
        return self.fold.focus()


def events() -> st.SearchStrategy[dict[str, Any]]:
    """Return events on a few work items, waits and tasks."""
    item = st.sampled_from(ITEMS)
    work = st.fixed_dictionaries(
        {
            "kind": st.just("work_item"),
            "action": st.sampled_from(("create", "update", "pick", "pick", "complete", "drop")),
            "work_item_id": item,
        },
        optional={
            "objective": st.sampled_from(("a", "b")),
            "report": st.sampled_from(("", "done")),
            "blocked_by": st.sampled_from(("", "the vendor", "the port")),
            "expected_revision": st.integers(0, 6),
            "revision": st.integers(1, 6),
            "clear_blocker": st.just(True),
            "reason": st.just("why"),
        },
    )
    wait = st.fixed_dictionaries(
        {
            "kind": st.just("wait"),
            "wait_id": st.sampled_from(("x1", "x2", "x3")),
            "status": st.sampled_from(("active", "active", "active", "cancelled", "resolved")),
            "wait_kind": st.sampled_from(("operator", "task", "system")),
            "waiting_for": st.sampled_from(("the port", "the dump")),
            "resource": st.just("t1"),
        },
        optional={"work_item_id": item},
    )
    task = st.fixed_dictionaries(
        {"kind": st.just("task"), "task_id": st.just("t1"), "status": st.sampled_from(("running", "failed"))}
    )
    say = st.fixed_dictionaries({"kind": st.just("message"), "role": st.just("user"), "text": st.just("go")})
    return st.one_of(work, work, wait, task, say)


class WorkMachine(RuleBasedStateMachine):
    """Turns of two sessions, some of which break off."""

    def __init__(self) -> None:
        super().__init__()
        self.source = FoldSource()
        self.end = ChainEnd("w0123abcd")
        self.records: dict[str, Record] = {}
        self.count = 0

    @rule(
        told=st.lists(events(), min_size=1, max_size=4),
        session=st.sampled_from(SESSIONS),
        link=st.sampled_from((None, None, *ITEMS)),
        end=st.sampled_from(("completed", "completed", "completed", "aborted", "interrupted")),
    )
    def turn(self, told: list[dict[str, Any]], session: str, link: str | None, end: Any) -> None:
        """Seal a turn, and once more: the same comes out but for salts."""
        self.count += 1
        name = f"turn_{self.count:015x}"
        links = {"session": session, **({"work_item": link} if link else {})}
        parsed = tuple(parse_event({**links, **one}, now=NOW + self.count) for one in told)
        spooled = SpooledTurn(name, links, parsed, (), end, None, Path("x"))
        before = {item: self.source.status("work_item", item) for item in ITEMS}
        sealed, again = (self.seal(spooled) for _ in range(2))
        assert [line.id for line in sealed.lines] == [line.id for line in again.lines]
        assert sealed.refused == again.refused
        self.check(sealed, before)
        self.end = sealed.end
        for snapshot in sealed.snapshots:
            self.source.fold.take(snapshot)
        self.records |= {line.id: decode(line) for line in sealed.lines}

    def seal(self, spooled: SpooledTurn) -> SealedTurn:
        """Seal a turn at the end of the chain."""
        moment = NOW + self.count
        return seal_turn(
            spooled, self.end, turn_index=self.count, now=moment, work=self.source, receipts=Receipts()
        )

    def check(self, sealed: SealedTurn, before: dict[str, str | None]) -> None:
        """A turn belongs to something that was open or that it created, and no wait is both made and met."""
        records = [decode(line) for line in sealed.lines]
        item = records[-1].body.get("work_item")
        made = {r.object for r in records if r.kind == "work_item" and r.body["action"] == "create"}
        assert item is None or before[item] == "open" or (before[item] is None and item in made)
        heard = {r.source_ref for r in records if r.kind == "message"}
        standing = {wait.id for wait in self.source.waits()}
        met = {r.object for r in records if r.kind == "wait" and r.body.get("trigger") in heard}
        assert met <= standing

    @invariant()
    def each_owner_waits_for_one_thing(self) -> None:
        """And what ended waits for nothing."""
        owners = [wait.work_item for wait in self.source.waits()]
        assert len(owners) == len(set(owners))
        assert all(owner is None or self.source.status("work_item", owner) == "open" for owner in owners)

    @invariant()
    def what_is_completed_has_its_report_and_its_brief(self) -> None:
        """The ref leads to a record that says the same."""
        for item in ITEMS:
            if self.source.status("work_item", item) == "completed":
                body = reduce_heads(self.source.heads("work_item", item)).winner.body
                brief = self.records[body["result_brief"].removeprefix("brief:")]
                assert (brief.body["text"], brief.work_item) == (body["report"], item)
                assert body["blocked_by"] is None

    @invariant()
    def revisions_count_the_lines(self) -> None:
        """Every line of a work item is one revision, none is skipped."""
        for item in ITEMS:
            lines = [r for r in self.records.values() if (r.kind, r.object) == ("work_item", item)]
            assert sorted(r.revision or 0 for r in lines) == list(range(1, len(lines) + 1))

    @invariant()
    def a_new_fold_is_the_same(self) -> None:
        """Whatever order the snapshots come in."""
        fresh = ObjectFold()
        for key in reversed(list(self.source.fold.objects())):
            for snapshot in reversed(self.source.fold.snapshots(*key)):
                fresh.take(snapshot)
        assert fresh.focus() == self.source.fold.focus()
        for kind in ("work_item", "wait", "task"):
            assert list(fresh.open(kind)) == list(self.source.fold.open(kind))


WorkMachine.TestCase.settings = settings(
    max_examples=examples(60), stateful_step_count=20, report_multiple_bugs=False
)
TestWorkMachine = WorkMachine.TestCase
