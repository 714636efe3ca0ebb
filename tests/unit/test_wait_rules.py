"""Waits: owner, replacing, what satisfies them, and what their end frees."""

from __future__ import annotations

from typing import Any

import pytest

from gitmem.errors import InvalidRecord
from gitmem.wait_rules import (
    Trigger,
    Wait,
    check_wait,
    is_due,
    may_clear_blocker,
    replaced_waits,
    satisfied_waits,
    satisfies,
    trigger_of_message,
    trigger_of_task,
    wait_from,
    wait_kind,
    wait_owner,
)


def wait(kind: str, **fields: Any) -> Wait:
    """Return an active wait."""
    return Wait("wait_1", "active", kind, **fields)


def heard(work_item: str | None = None, **body: Any) -> Trigger | None:
    """Return what a message may satisfy."""
    return trigger_of_message("message:m", {"role": "user", "text": "go", **body}, work_item)


def test_a_wake_is_a_kind_of_wait() -> None:
    """Both words are understood; no other is."""
    assert [wait_kind(word) for word in ("operator_input", "task_result", "timer", "operator")] == [
        "operator",
        "task",
        "timer",
        "operator",
    ]
    with pytest.raises(InvalidRecord):
        wait_kind("sunrise")


@pytest.mark.parametrize(
    ("kind", "resource", "named"),
    [("operator", None, None), ("external", "  ", None), ("task", " t1 ", "t1"), ("timer", "x", "x")],
)
def test_blank_is_absent(kind: str, resource: str | None, named: str | None) -> None:
    """A resource of spaces names nothing (§2.3)."""
    assert check_wait(kind, "the dump", resource) == named


@pytest.mark.parametrize(
    ("kind", "waiting_for", "resource"),
    [
        ("task", "x", None),
        ("task", "x", " "),
        ("timer", "x", ""),
        ("operator", "", None),
        ("operator", 7, "x"),
    ],
)
def test_a_wait_says_what_for(kind: str, waiting_for: object, resource: object) -> None:
    """A wait for a task or a timer that names none could never end."""
    with pytest.raises(InvalidRecord):
        check_wait(kind, waiting_for, resource)


@pytest.mark.parametrize(
    ("given", "owner"),
    [
        (("a", "b", "c", "d"), "a"),
        ((None, "b", "c", "d"), "b"),
        ((None, None, "c", "d"), "c"),
        ((None, None, None, "d"), "d"),
        ((None, None, None, None), None),
    ],
)
def test_the_owner_is_what_is_named_first(given: tuple[str | None, ...], owner: str | None) -> None:
    """Named, bound to the event, bound to the turn, the focus, the agent itself (§2.3)."""
    assert wait_owner(*given) == owner


def test_a_wait_replaces_those_of_its_owner() -> None:
    """Of the agent's own waits, too; those that ended and those of others stay (W7)."""
    standing = [
        Wait("a", "active", "task", "w1"),
        Wait("b", "triggered", "operator", "w1"),
        Wait("c", "resolved", "operator", "w1"),
        Wait("d", "active", "operator", "w2"),
        Wait("e", "active", "operator"),
    ]
    assert replaced_waits(Wait("n", "active", "timer", "w1"), standing) == ("a", "b")
    assert replaced_waits(Wait("n", "active", "timer"), standing) == ("e",)
    assert replaced_waits(standing[0], standing) == ("b",)


class TestTriggers:
    """What arrives."""

    @pytest.mark.parametrize(
        "body",
        [{}, {"origin": "operator"}, {"authority": "operator_instruction"}, {"origin": {"kind": "operator"}}],
    )
    def test_a_user_is_the_operator(self, body: dict[str, Any]) -> None:
        """Unless the message says that it came another way."""
        found = heard("w1", **body)
        assert found == Trigger("operator", "message:m", work_item="w1")

    @pytest.mark.parametrize(
        "body",
        [
            {"role": "assistant"},
            {"role": "tool"},
            {"role": "system"},
            {"authority": "external_evidence"},
            {"origin": "carrier-pigeon"},
            {"origin": "channel"},
        ],
    )
    def test_others_are_not(self, body: dict[str, Any]) -> None:
        """Neither the agent's own words nor those that a channel brought answer for the operator."""
        found = heard("w1", **body)
        assert found is None or found.kind != "operator"

    def test_what_a_message_says_of_its_work_item_binds_nothing(self) -> None:
        """Anybody may write metadata (W17)."""
        found = heard(None, metadata={"work_item_id": "w1"}, work_item_id="w1", origin="operator")
        assert found is not None
        assert not satisfies(found, wait("operator", work_item="w1"))

    @pytest.mark.parametrize(
        ("status", "ends"),
        [("queued", False), ("running", False), ("cancelling", False), ("completed", True), ("failed", True),
         ("cancelled", True), ("interrupted", True)],
    )  # fmt: skip
    def test_a_task_wakes_by_its_end(self, status: str, ends: bool) -> None:
        """However it ended."""
        found = trigger_of_task("task:t1", "t1", status)
        assert (found is not None and satisfies(found, wait("task", resource="t1"))) == ends
        assert found is None or not satisfies(found, wait("task", resource="t2"))

    @pytest.mark.parametrize(
        ("sources", "fits"),
        [
            ({"external_trigger_id": "hook", "wait_id": "wait_1"}, True),
            ({"external_trigger_id": "hook"}, False),
            ({"wait_id": "wait_1"}, False),
            ({"external_trigger_id": "hook", "wait_id": "wait_2"}, False),
            ({"external_trigger_id": 7, "wait_id": "wait_1"}, False),
            ("hook wait_1", False),
        ],
    )
    def test_something_external_names_trigger_and_wait(self, sources: Any, fits: bool) -> None:
        """One of the two could be guessed or reused; a wait for no certain trigger takes any (§2.3)."""
        found = heard(origin={"type": "webhook"}, source_refs=sources)
        assert found is not None
        assert satisfies(found, wait("external", resource="hook")) == fits
        named = "external_trigger_id" in sources and sources["external_trigger_id"] != 7
        assert satisfies(found, wait("external")) == (named and sources.get("wait_id") == "wait_1")

    def test_a_timer_is_any_or_the_one_named(self) -> None:
        """A wait without a subject takes every timer (§2.3)."""
        found = heard(origin="timer", source_refs={"timer_id": "t"})
        assert found is not None
        assert [satisfies(found, wait("timer", resource=name)) for name in (None, "t", "u")] == [
            True,
            True,
            False,
        ]

    def test_a_timers_own_id_is_in_its_origin(self) -> None:
        """What an origin says of itself counts as one of the `source_refs` (§1.5)."""
        found = heard(origin={"kind": "timer", "timer_id": "t"})
        assert found is not None
        assert satisfies(found, wait("timer", resource="t"))
        assert not satisfies(found, wait("timer", resource="u"))
        claimed = heard(origin={"kind": "channel", "timer_id": "t"})
        assert claimed is not None
        assert not satisfies(claimed, wait("timer", resource="t"))

    def test_the_system_wakes_what_waits_for_it(self) -> None:
        """And nothing else."""
        found = heard(origin="system")
        assert found is not None
        assert satisfies(found, wait("system"))
        assert not satisfies(found, wait("timer"))

    @pytest.mark.parametrize(
        ("message", "owner", "fits"),
        [
            ("w1", "w1", True),
            (None, None, True),
            ("w1", None, False),
            (None, "w1", False),
            ("w2", "w1", False),
        ],
    )
    def test_an_operator_answers_where_he_is_asked(self, message: str, owner: str, fits: bool) -> None:
        """A word on one work item does not wake another (§2.3)."""
        found = heard(message)
        assert found is not None
        assert satisfies(found, wait("operator", work_item=owner)) == fits

    def test_a_wait_that_ended_is_past(self) -> None:
        """Each is satisfied once, by the first that does."""
        two = (Trigger("system", "message:a"), Trigger("system", "message:b"))
        standing = [
            Wait("a", "resolved", "system"),
            Wait("b", "active", "system"),
            Wait("c", "triggered", "system"),
        ]
        assert satisfied_waits(two, standing) == ((standing[1], two[0]), (standing[2], two[0]))


@pytest.mark.parametrize(
    ("is_open", "blocked_by", "frees"),
    [(True, "the dump", True), (True, "the vendor", False), (True, None, False), (False, "the dump", False)],
)
def test_the_words_of_somebody_else_stay(is_open: bool, blocked_by: str | None, frees: bool) -> None:
    """A wait takes back only what it wrote itself (W8)."""
    one = wait("task", waiting_for="the dump", resource="t1")
    assert may_clear_blocker(one, is_open=is_open, blocked_by=blocked_by) == frees


def test_a_wait_without_words_frees_nothing() -> None:
    """A work item that is not blocked is not freed of nothing."""
    assert not may_clear_blocker(wait("system"), is_open=True, blocked_by="")


@pytest.mark.parametrize(
    ("recheck_at", "last", "now", "due"),
    [
        (None, "", "2026-03-02T10", False),
        ("2026-03-02T10", "", "2026-03-02T09", False),
        ("2026-03-02T10", "", "2026-03-02T10", True),
        ("2026-03-02T10", "2026-03-02T09", "2026-03-02T11", True),
        ("2026-03-02T10", "2026-03-02T10", "2026-03-02T11", False),
    ],
)
def test_a_recheck_is_due_once(recheck_at: str | None, last: str, now: str, due: bool) -> None:
    """The turn that looks at it consumes it (§2.3)."""
    assert is_due(recheck_at, last, now) == due


def test_a_wait_is_read_from_its_record() -> None:
    """Blank is absent; a record without a kind waits for the system."""
    body = {
        "wait_kind": "task",
        "work_item_id": "w1",
        "waiting_for": "dump",
        "resource": " ",
        "trigger": "task:t",
    }
    found = wait_from("wait_1", "triggered", body, turn="turn_1", at="2026")
    assert (found.kind, found.work_item, found.resource, found.trigger) == ("task", "w1", None, "task:t")
    assert found.is_unresolved
    assert wait_from("x", "odd", {}).kind == "system"
