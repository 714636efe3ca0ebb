"""Snapshots of one object: heads, state, what comes next (R1, R2)."""

from __future__ import annotations

from itertools import permutations

import pytest

from gitmem.errors import (
    InvalidRecord,
    InvalidRevisionTransition,
    PayloadConflict,
    RevisionConflict,
    Unavailable,
    UnknownWorkItem,
    WorkItemExists,
    WorkItemNotOpen,
)
from gitmem.ledger_format import decode, redact
from gitmem.lifecycle_rules import (
    Snapshot,
    find_heads,
    heads_by_object,
    is_replay,
    next_snapshot,
    reduce_heads,
)
from gitmem.records import parse_event
from ledgers import START, sealed, tampered


def snapshot(number: int, status: str = "open", *, after: tuple[int, ...] = (), **fields: object) -> Snapshot:
    """Return a work item's snapshot whose ids and clock come from its number."""
    values = {
        "id": f"work_{number:015x}",
        "kind": "work_item",
        "object": "work_00000000000000f",
        "revision": number,
        "status": status,
        "after": tuple(f"work_{other:015x}" for other in after),
        "clock": f"{number:016x}",
        "writer": "w0123abcd",
        "seq": number,
        "body": {"objective": f"o{number}"},
    }
    return Snapshot(**{**values, **fields})


def event(action: str, **fields: object):
    """Return an event of work item `w1`."""
    return parse_event({"kind": "work_item", "action": action, "work_item_id": "w1", **fields}, now=START)


class TestHeads:
    """What nothing follows."""

    def test_a_named_snapshot_is_no_head(self):
        """What a later snapshot names is past (R1)."""
        assert find_heads([snapshot(1), snapshot(2, after=(1,)), snapshot(3, after=(2,))]) == [
            snapshot(3, after=(2,))
        ]

    def test_snapshots_that_do_not_know_one_another_are_all_heads(self):
        """Two machines that went on from one snapshot have both their words kept."""
        one, a, b = snapshot(1), snapshot(2, after=(1,)), snapshot(3, after=(1,))

        for order in permutations([one, a, b]):
            assert find_heads(order) == [a, b]

    def test_a_copy_of_a_record_is_one_head(self):
        """A record that a fork brought twice does not diverge from itself."""
        assert find_heads([snapshot(1), snapshot(1)]) == [snapshot(1)]

    def test_no_object_vanishes_in_a_circle(self):
        """Hostile snapshots that name themselves or one another hide nothing."""
        a, b = snapshot(1, after=(2,)), snapshot(2, after=(1,))

        assert find_heads([a, b]) == [a, b]
        assert find_heads([snapshot(1, after=(1,))]) == [snapshot(1, after=(1,))]

    def test_objects_are_told_apart(self):
        """A task and a work item with one id are two objects."""
        task = snapshot(1, kind="task")

        assert heads_by_object([snapshot(1), task]) == {
            ("work_item", "work_00000000000000f"): [snapshot(1)],
            ("task", "work_00000000000000f"): [task],
        }


class TestReduce:
    """One state out of several heads."""

    def test_a_finished_head_beats_a_later_open_one(self):
        """Nothing finished is reopened unseen by a machine that did not know (R2)."""
        done, later = snapshot(2, "completed"), snapshot(9)

        state = reduce_heads([later, done])

        assert (state.winner, state.diverged, state.revision) == (done, (later,), 9)

    def test_then_the_clock_then_the_writer(self):
        """The choice is the same on every machine, in whatever order it heard of the heads."""
        a = snapshot(3)
        b = snapshot(3, id="work_00000000000000b", writer="wffffffff")
        c = snapshot(2)

        for order in permutations([a, b, c]):
            assert reduce_heads(order).winner == b
            assert reduce_heads(order).diverged == (a, c)

    def test_a_clock_ahead_does_not_freeze_what_follows_it(self):
        """A machine two hours ahead is followed by whoever knew its word (OPEN-LEDGER-09)."""
        ahead = snapshot(1, clock="f0" + "0" * 14)
        later = snapshot(2, after=(1,), clock="0" * 15 + "1")

        assert reduce_heads(find_heads([ahead, later])).winner == later

    def test_a_redacted_winner_makes_the_object_redacted(self):
        """A forgotten snapshot still supersedes, and nothing older shows through."""
        old, forgotten = snapshot(1), snapshot(2, "completed", after=(1,), redacted=True, body={})

        state = reduce_heads(find_heads([old, forgotten]))

        assert state.status == "redacted"
        assert state.winner.is_terminal

    def test_lines_and_records_reduce_alike(self):
        """Redacted and unreadable snapshots count by their envelope."""
        task = {"kind": "task", "task_id": "t1", "status": "running", "summary": "s"}
        line = sealed(task, seq=1, revision=1, status="running", after=())

        assert Snapshot.of(line) == Snapshot.of(decode(line))
        assert Snapshot.of(line).body["summary"] == "s"
        assert Snapshot.of(redact(line)).redacted
        assert Snapshot.of(tampered(line, b'"salt"', b'"seq"')).body == {}
        assert Snapshot.of(line, {"summary": "whole"}).body == {"summary": "whole"}


class TestNext:
    """What an event makes of an object."""

    def test_create_is_revision_one(self):
        """A new object follows nothing."""
        made = next_snapshot(event("create", objective="Move staging"), [])

        assert (made.revision, made.status, made.after) == (1, "open", ())
        assert made.body == {"action": "create", "work_item_id": "w1", "objective": "Move staging"}

    def test_given_fields_replace_and_the_rest_stays(self):
        """A work item is stored as its last state with the given fields replaced."""
        last = snapshot(
            4, body={"action": "create", "reason": "r", "objective": "a", "todo": ["x"], "own": 1}
        )

        made = next_snapshot(event("update", objective="b", blocked_by=None), [last])

        assert made.body == {
            "action": "update",
            "work_item_id": "w1",
            "objective": "b",
            "blocked_by": None,
            "todo": ["x"],
            "own": 1,
        }
        assert (made.revision, made.status, made.after) == (5, "open", (last.id,))

    @pytest.mark.parametrize(
        ("action", "status"), [("pick", "open"), ("complete", "completed"), ("drop", "cancelled")]
    )
    def test_an_action_says_the_status(self, action, status):
        """Completing and dropping end a work item."""
        assert next_snapshot(event(action), [snapshot(1)]).status == status

    def test_all_heads_are_named(self):
        """The next update ends a divergence (R2)."""
        a, b = snapshot(2), snapshot(5)

        made = next_snapshot(event("pick"), [b, a])

        assert (made.after, made.revision, made.status) == ((a.id, b.id), 6, "open")
        assert made.body["objective"] == "o5"

    @pytest.mark.parametrize(
        ("action", "heads", "error"),
        [
            ("create", [snapshot(1)], WorkItemExists),
            ("update", [], UnknownWorkItem),
            ("pick", [], UnknownWorkItem),
            ("update", [snapshot(1, "completed")], WorkItemNotOpen),
            ("pick", [snapshot(1, "completed")], WorkItemNotOpen),
            ("complete", [snapshot(1, "cancelled")], WorkItemNotOpen),
            ("update", [snapshot(1, redacted=True)], Unavailable),
        ],
    )
    def test_what_contradicts_the_ledger_is_refused(self, action, heads, error):
        """Each refusal has a code of its own, which the receipt names."""
        with pytest.raises(error) as caught:
            next_snapshot(event(action), heads)
        assert caught.value.code != "error"

    @pytest.mark.parametrize(("expected", "heads"), [(2, [snapshot(3)]), (1, []), (0, [snapshot(1)])])
    def test_another_revision_is_a_conflict(self, expected, heads):
        """Whoever says what he has read is not overwritten, and does not overwrite."""
        with pytest.raises(RevisionConflict) as caught:
            next_snapshot(event("update", expected_revision=expected), heads)
        assert caught.value.details["expected"] == expected

    def test_the_expected_revision_goes_through(self):
        """The highest revision known is the one to expect, 0 for a new object."""
        assert next_snapshot(event("update", expected_revision=3), [snapshot(2), snapshot(3)]).revision == 4
        assert next_snapshot(event("create", expected_revision=0), []).revision == 1

    def test_the_revision_that_is_meant_is_another_conflict(self):
        """Whoever names what he writes, and finds it written otherwise, cannot just repeat it (§1.3)."""
        with pytest.raises(PayloadConflict) as caught:
            next_snapshot(event("update", revision=3, objective="x"), [snapshot(3)])
        assert caught.value.details == {
            "domain": "work_item", "object": "w1", "expected": 2, "actual": 3, "retryable": False,
        }  # fmt: skip
        with pytest.raises(RevisionConflict) as retry:
            next_snapshot(event("update", revision=3, objective="x"), [snapshot(4)])
        assert retry.value.details["retryable"] is True
        assert next_snapshot(event("update", revision=4, objective="x"), [snapshot(3)]).revision == 4

    @pytest.mark.parametrize(
        "fields",
        [
            {"expected_revision": 3, "revision": 5},
            {"expected_revision": 3, "revision": 3},
            {"revision": 1},
        ],
    )
    def test_a_revision_follows_the_one_before(self, fields):
        """A gap would be a revision that nobody ever saw."""
        with pytest.raises(InvalidRevisionTransition):
            next_snapshot(event("update", **fields), [snapshot(3)])
        with pytest.raises(InvalidRevisionTransition):
            next_snapshot(event("create", revision=2), [])

    def test_a_replay_is_known_by_its_words(self):
        """What gitmem worked out for the first one does not count, every word of the caller does."""
        before = snapshot(3, body={"objective": "a", "todo": ["x"], "reason": "old"})
        told = event("update", expected_revision=3, objective="b")
        after = {"action": "update", "work_item_id": "w1", "objective": "b", "todo": ["x"], "recheck_at": "z"}
        now = snapshot(4, after=(3,), body=after)

        assert is_replay(told, [now], before)
        assert is_replay(event("update", revision=4, objective="b"), [now], before)
        assert not is_replay(event("update", expected_revision=3, objective="c"), [now], before)
        assert not is_replay(event("update", expected_revision=3), [now], before)
        assert not is_replay(event("update", expected_revision=3, objective="b", reason="r"), [now], before)
        assert not is_replay(event("update", objective="b"), [now], before)
        assert not is_replay(event("update", expected_revision=2, objective="b"), [now], before)
        assert not is_replay(told, [now, snapshot(4)], before)

    @pytest.mark.parametrize("expected", ["3", True, 1.5])
    def test_a_revision_is_a_number(self, expected):
        """A text that looks like a number is a mistake of the caller."""
        with pytest.raises(InvalidRecord):
            next_snapshot(event("update", expected_revision=expected), [snapshot(3)])

    def test_tasks_and_waits_say_their_status(self):
        """What a task was told before stays with it; its end is as the event says, also after another end."""
        task = parse_event({"kind": "task", "task_id": "t1", "status": "failed", "detail": "d"}, now=START)
        last = snapshot(1, "completed", kind="task", object="t1", body={"task_id": "t1", "summary": "s"})

        made = next_snapshot(task, [last])

        assert (made.status, made.body) == (
            "failed",
            {"task_id": "t1", "status": "failed", "summary": "s", "detail": "d"},
        )
