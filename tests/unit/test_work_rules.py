"""What a work item may hold, whether it can be worked on, and which ones a prompt lists."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import InvalidRecord
from gitmem.work_rules import (
    CANDIDATES,
    FILTERS,
    WAIT_ORDER,
    TodoItem,
    Workload,
    candidates,
    current_todo,
    filters_of,
    parse_todo,
    read_todo,
    schedule,
    todo_rows,
    unfinished_todos,
)


def steps(*states: str) -> tuple[TodoItem, ...]:
    """Return steps called by their number and state."""
    return tuple(TodoItem(f"{number} {state}", state) for number, state in enumerate(states))


class TestTodo:
    """Steps of a work item."""

    def test_texts_are_pending_steps(self) -> None:
        """A list of texts is what a model writes first; they are trimmed."""
        assert parse_todo([" dump ", {"text": "load", "state": "completed"}]) == (
            TodoItem("dump"),
            TodoItem("load", "completed"),
        )
        assert parse_todo([]) == ()

    @pytest.mark.parametrize(
        "value",
        ["dump", None, {"text": "x"}, [""], [{"text": "  "}], [{"state": "pending"}], [7],
         [{"text": "x", "state": "blocked"}], [{"text": "x", "owner": "aria"}]],
    )  # fmt: skip
    def test_anything_else_is_refused(self, value: Any) -> None:
        """There is no state of being blocked for one step, and a blank step says nothing (§2.1)."""
        with pytest.raises(InvalidRecord):
            parse_todo(value)

    def test_a_record_is_read_with_patience(self) -> None:
        """What another program wrote badly costs only itself."""
        assert read_todo([{"text": "a"}, 7, "", {"text": "b", "state": "odd"}, "c"]) == (
            TodoItem("a"),
            TodoItem("c"),
        )
        assert read_todo("dump") == read_todo(None) == ()

    @given(st.lists(st.builds(TodoItem, st.text(min_size=1).map(str.strip).filter(bool))))
    def test_rows_are_read_back(self, todo: list[TodoItem]) -> None:
        """What stands in a record is what was given."""
        assert parse_todo(todo_rows(todo)) == read_todo(todo_rows(todo)) == tuple(todo)

    @pytest.mark.parametrize(
        ("states", "current"),
        [
            ((), None),
            (("completed",), None),
            (("completed", "pending", "pending"), 1),
            (("pending", "in_progress"), 1),
            (("in_progress", "in_progress"), 0),
        ],
    )
    def test_the_current_step(self, states: tuple[str, ...], current: int | None) -> None:
        """The first in progress comes before the first that is pending; two in progress are no error."""
        todo = steps(*states)
        assert current_todo(todo) == (None if current is None else todo[current])

    def test_what_is_left_is_counted_and_sampled(self) -> None:
        """Five samples are enough to warn (W4)."""
        assert unfinished_todos(steps("completed")) is None
        left = unfinished_todos(steps("completed", "in_progress", *["pending"] * 6))
        assert left is not None
        assert (left.pending, left.in_progress) == (6, 1)
        assert left.samples == ("1 in_progress", "2 pending", "3 pending", "4 pending", "5 pending")
        assert str(left).startswith("unfinished_todos: 7 (1 in progress): 1 in_progress; ")


class TestSchedule:
    """The one function that says whether something can be worked on."""

    @pytest.mark.parametrize(
        ("work", "readiness", "reason"),
        [
            ({}, "runnable", "runnable"),
            ({"status": "completed", "waits": ("task",), "blocked_by": "x"}, "completed", "completed"),
            ({"status": "completing"}, "completing", "completing"),
            ({"status": "cancelled", "is_yielded": True}, "dropped", "cancelled"),
            ({"is_yielded": True, "waits": ("task",)}, "yielded", "yielded"),
            ({"waits": ("operator",), "blocked_by": "x"}, "waiting_for_operator", "operator"),
            ({"waits": ("external",)}, "blocked", "external"),
            ({"blocked_by": "the vendor"}, "blocked", "blocked_by"),
            ({"plan_status": "needs_input"}, "runnable", "runnable"),
        ],
    )
    def test_precedence(self, work: dict[str, Any], readiness: str, reason: str) -> None:
        """An end, yielding, a wait, a blocker, in this order; what the plan needs holds up nothing (§2.4)."""
        found = schedule(Workload("w1", **work))
        assert (found.readiness, found.reason) == (readiness, reason)

    @pytest.mark.parametrize(("first", "second"), list(combinations(WAIT_ORDER, 2)))
    def test_of_two_waits_one_counts_and_both_show(self, first: str, second: str) -> None:
        """A task wins over an operator, he over a timer; the oddity is named (W6)."""
        for waits in ((first, second), (second, first)):
            found = schedule(Workload("w1", waits=waits))
            assert found.reason == first
            assert found.diagnostics == (f"several_wait_kinds: {first}, {second}",)

    @pytest.mark.parametrize(
        ("work", "diagnostic"),
        [
            ({"status": "completed", "is_current": True}, "current_is_not_open"),
            ({"is_yielded": True, "is_current": True}, "current_is_yielded"),
            ({"status": "cancelled", "waits": ("timer",)}, "ended_with_active_wait"),
        ],
    )
    def test_oddities_are_named(self, work: dict[str, Any], diagnostic: str) -> None:
        """They come from machines that did not know each other's word, and fail nothing."""
        assert diagnostic in schedule(Workload("w1", **work)).diagnostics

    def test_there_is_always_one_answer(self) -> None:
        """Every mixture has a readiness, and an odd kind of wait ranks last."""
        for status, yielded, wait, blocker in product(
            ("open", "completed", "cancelled"), (False, True), ((), ("odd",)), (None, "x")
        ):
            work = Workload("w1", status, waits=wait, blocked_by=blocker, is_yielded=yielded)
            assert schedule(work).is_runnable == (status == "open" and not (yielded or wait or blocker))


class TestCandidates:
    """Which work items a prompt lists."""

    def test_each_class_has_its_cap_and_order(self) -> None:
        """Queued ones wait their turn by age, the others show the latest first (§2.4)."""
        caps = {one.name: one.limit for one in CANDIDATES}
        assert caps == {
            "current_runnable": 1,
            "triggered_blocked": 3,
            "queued_runnable": 5,
            "yielded": 5,
            "waiting_for_operator": 3,
            "blocked": 3,
            "completing": 3,
            "completed_recent": 3,
        }
        work = [Workload(f"q{n}", created_at=f"{n:02}", updated_at=f"{n:02}") for n in range(7)]
        work += [Workload(f"y{n}", is_yielded=True, updated_at=f"{n:02}") for n in range(7)]
        found = candidates(reversed(work))
        assert found["queued_runnable"] == ("q0", "q1", "q2", "q3", "q4")
        assert found["yielded"] == ("y6", "y5", "y4", "y3", "y2")

    def test_ties_go_by_id(self) -> None:
        """The same list on every machine."""
        work = [Workload(name, waits=("operator",)) for name in ("c", "a", "b")]
        assert candidates(work)["waiting_for_operator"] == ("a", "b", "c")

    def test_what_needs_nobody_is_not_listed(self) -> None:
        """A task ends by itself; an end that was not reported has nothing to say."""
        work = [
            Workload("t", waits=("task",)),
            Workload("d", status="completed"),
            Workload("x", status="cancelled", has_report=True),
        ]
        assert not any(candidates(work).values())

    def test_what_was_triggered_comes_before_what_is_blocked(self) -> None:
        """Also where it waits for a task: its result is there."""
        work = [
            Workload("a", blocked_by="x", triggered_at="2"),
            Workload("b", waits=("task",), triggered_at="3"),
            Workload("c", blocked_by="x"),
            Workload("done", status="completed", has_report=True, triggered_at="4"),
            Workload("now", is_current=True),
        ]
        found = candidates(work)
        assert found["triggered_blocked"] == ("b", "a")
        assert (found["blocked"], found["completed_recent"]) == (("c",), ("done",))
        assert found["current_runnable"] == ("now",)

    @given(
        st.lists(
            st.builds(
                Workload,
                st.text("abc", min_size=1, max_size=3),
                status=st.sampled_from(("open", "completed", "cancelled", "completing")),
                blocked_by=st.sampled_from((None, "x")),
                waits=st.sampled_from(((), ("task",), ("operator",), ("timer", "task"))),
                triggered_at=st.sampled_from(("", "1")),
                is_yielded=st.booleans(),
                is_current=st.booleans(),
                has_report=st.booleans(),
            ),
            unique_by=lambda work: work.id,
        )
    )
    def test_nothing_is_listed_twice(self, work: list[Workload]) -> None:
        """Each stands in one class at most, within the caps, and under filters that exist."""
        found = candidates(work)
        listed = [name for names in found.values() for name in names]
        assert len(listed) == len(set(listed))
        assert all(len(found[one.name]) <= one.limit for one in CANDIDATES)
        for one in work:
            words = filters_of(one)
            assert words <= {*FILTERS, "redacted"}
            assert ("runnable" in words) == schedule(one).is_runnable
            assert ("queued" in words) == (schedule(one).is_runnable and not one.is_current)
