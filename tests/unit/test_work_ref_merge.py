"""Work refs over many turns: quotas, recency, status, order, and the way through JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.work_ref import REF_KINDS, WorkRef, in_order, refs_from_json, refs_to_json
from gitmem.work_ref_merge import MOST_KEPT, QUOTAS, RefFold, WorkRefs, merge_refs


def seen(
    kind: str, ref: str, turn: int, *, status: str = "active", judged: bool = True, **fields: Any
) -> WorkRef:
    """Return a ref as the turn of that number would give it."""
    ts = f"2026-11-30T09:{turn // 60 % 60:02}:{turn % 60:02}.000Z"
    clock = f"{turn + 1:016x}"
    stamp = f"{clock} {ts}" if judged else ""
    return WorkRef(
        kind,
        ref,
        status,
        last_seen=ts,
        first_seen=ts,
        clock=clock,
        judged=stamp,
        **({"reason": "seen"} | fields),
    )


def fold(*turns: list[WorkRef]) -> WorkRefs:
    """Return the refs of turns that were added one by one."""
    known = WorkRefs()
    for turn in turns:
        known = merge_refs(known, turn)
    return known


def test_commands_push_out_no_files() -> None:
    """Each kind has places of its own: in Holon six commands filled all twelve."""
    start = [seen("file", "src/x.py", 0), seen("issue", "github:o/r#1", 0), seen("pr", "github:o/r#2", 0)]
    commands = [[seen("tool_execution", f"tool_execution:tool_{n}:cmd", n)] for n in range(1, 40)]
    refs = fold(start, *commands)
    assert {ref.key for ref in start} <= {ref.key for ref in refs.active}
    active = [ref.ref for ref in refs.active if ref.kind == "tool_execution"]
    assert active == [f"tool_execution:tool_{n}:cmd" for n in (39, 38, 37, 36)]


def test_what_is_pushed_out_is_archived_and_found() -> None:
    """Nothing is deleted for want of room."""
    refs = fold(*([seen("file", f"f{n}", n)] for n in range(20)))
    assert [ref.ref for ref in refs.active] == [f"f{n}" for n in range(19, 7, -1)]
    assert [(ref.ref, ref.status) for ref in refs.archived] == [
        (f"f{n}", "archived") for n in range(7, -1, -1)
    ]
    found = refs.find("file", "f0")
    assert found is not None
    assert found.status == "archived"
    assert refs.find("pr", "f0") is None


def test_one_pull_request_in_any_case_is_one() -> None:
    """A ref is one thing, however often it is named, and GitHub knows no case in owners and repositories."""
    named, merged = (
        seen("pr", "github:Owner/Repo#7", 1),
        seen("pr", "github:owner/repo#7", 2, status="resolved"),
    )
    for turns in ([named], [merged]), ([merged], [named]):
        refs = fold(*turns)
        assert [(ref.ref, ref.status) for ref in refs.all] == [("github:owner/repo#7", "resolved")]
        assert refs.find("pr", "github:OWNER/repo#7") == refs.archived[0]
    assert len(fold([seen("file", "A.py", 1)], [seen("file", "a.py", 2)]).active) == 2


def test_a_place_that_becomes_free_is_taken_again() -> None:
    """An archived ref is an active one without a place."""
    refs = fold(*([seen("file", f"f{n}", n)] for n in range(13)))
    assert [ref.ref for ref in refs.archived] == ["f0"]
    refs = merge_refs(refs, [seen("file", "f5", 20, status="stale")])
    assert refs.active[-1].ref == "f0"
    assert [ref.status for ref in refs.archived] == ["stale"]


def test_a_file_touched_every_turn_is_the_most_recent() -> None:
    """Its time moves also where nothing else of it changes."""
    refs = fold(*([seen("file", "always", n), seen("file", f"f{n}", n)] for n in range(30)))
    always = refs.find("file", "always")
    assert always is not None
    assert refs.active.index(always) <= 1
    assert (always.first_seen, always.last_seen) == ("2026-11-30T09:00:00.000Z", "2026-11-30T09:00:29.000Z")


def test_what_was_deleted_and_made_again_is_active() -> None:
    """The later evidence of what became of it counts."""
    gone = [seen("file", "x", 2, status="stale")]
    refs = fold([seen("file", "x", 1)], gone)
    assert [ref.status for ref in refs.archived] == ["stale"]
    assert [ref.status for ref in fold([seen("file", "x", 1)], gone, [seen("file", "x", 3)]).active] == [
        "active"
    ]


def test_to_be_named_opens_nothing_again() -> None:
    """Looking at a merged pull request tells that it is recent, not that it is open."""
    refs = fold([seen("pr", "p", 1, status="resolved")], [seen("pr", "p", 2, judged=False)])
    (ref,) = refs.archived
    assert (ref.status, ref.last_seen) == ("resolved", "2026-11-30T09:00:02.000Z")


def test_what_is_over_goes_before_what_is_active() -> None:
    """A long task is not forgotten for the many that ended meanwhile."""
    ended = [[seen("task", f"t{n}", n, status="resolved")] for n in range(1, MOST_KEPT + 100)]
    refs = fold([seen("task", "long", 0)], *ended)
    assert [ref.ref for ref in refs.active] == ["long"]
    assert len(refs.all) == MOST_KEPT


def test_what_was_touched_again_is_not_the_oldest() -> None:
    """What goes is what was not seen for the longest time, not what came first."""
    turns = [[seen("url", f"u{n}", n)] for n in range(MOST_KEPT)]
    again, more = [seen("url", "u0", MOST_KEPT)], [seen("url", f"v{n}", MOST_KEPT + 1 + n) for n in range(2)]
    at_once = RefFold()
    for turn in (*turns, again, more):
        at_once.add(turn)
    refs = at_once.refs()
    assert [ref for ref in ("u0", "u1", "u2", "u3") if refs.find("url", ref)] == ["u0", "u3"]


def test_a_status_without_a_time_was_given_when_it_was_seen() -> None:
    """A ref that is made by hand needs no more than a status."""
    gone = replace(seen("file", "x", 2, status="stale"), judged="")
    assert [ref.status for ref in fold([gone], [seen("file", "x", 1)]).archived] == ["stale"]
    assert [ref.status for ref in fold([gone], [seen("file", "x", 3)]).active] == ["active"]


def test_order_is_by_status_recency_kind_and_ref() -> None:
    """The same refs stand in the same order everywhere."""
    refs = [
        seen("file", "b", 1),
        seen("file", "a", 1),
        seen("pr", "a", 1),
        seen("pr", "z", 2),
        seen("file", "s", 9, status="stale"),
        seen("file", "r", 9, status="resolved"),
    ]
    expected = [("pr", "z"), ("file", "a"), ("file", "b"), ("pr", "a"), ("file", "s"), ("file", "r")]
    assert [ref.key for ref in in_order(reversed(refs))] == expected


def test_clocks_count_more_than_times() -> None:
    """A turn that says it happened in the year 9999 pins nothing."""
    late = replace(seen("file", "x", 1, reason="pinned"), last_seen="9999-12-31T00:00:00.000Z")
    (ref,) = fold([late], [seen("file", "x", 2)]).active
    assert ref.reason == "seen"
    assert [ref.ref for ref in fold([replace(late, ref="y")], [seen("file", "x", 2)]).active] == ["x", "y"]


def test_nothing_new_is_the_same_object() -> None:
    """Merging a turn twice changes nothing."""
    turn = [seen("file", "x", 1)]
    refs = fold(turn)
    assert merge_refs(refs, turn) is refs


TURNS = st.lists(
    st.lists(
        st.builds(
            lambda kind, ref, status, judged: (kind, ref, status, judged),
            st.sampled_from(REF_KINDS[:3]),
            st.sampled_from([*(f"r{n}" for n in range(20)), "R0", "R1"]),
            st.sampled_from(["active", "stale", "resolved"]),
            st.booleans(),
        ),
        max_size=8,
        unique_by=lambda drawn: drawn[:2],
    ),
    max_size=12,
)


def turns_of(drawn: list[list[tuple[str, str, str, bool]]]) -> list[list[WorkRef]]:
    """Return what was drawn as refs; without a judgement a ref is active."""
    return [
        [
            seen(
                kind,
                ref,
                turn // 2,
                status=status if judged else "active",
                judged=judged,
                reason=f"turn {turn}",
            )
            for kind, ref, status, judged in refs
        ]
        for turn, refs in enumerate(drawn)
    ]


@given(TURNS, st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_matters(drawn: list[Any], random: Any) -> None:
    """Folding one by one, at once, shuffled, doubled and from a cache give the same, equal times or not."""
    turns = turns_of(drawn)
    one_by_one = fold(*turns)
    at_once = RefFold()
    for turn in turns:
        at_once.add(turn)
    assert at_once.refs() == one_by_one
    shuffled = turns + random.sample(turns, len(turns) // 2)
    random.shuffle(shuffled)
    assert fold(*shuffled) == one_by_one
    half = fold(*turns[: len(turns) // 2])
    for turn in turns[len(turns) // 2 :]:
        half = merge_refs(half, turn)
    assert half == one_by_one


@given(TURNS)
def test_quotas_hold_and_nothing_is_lost(drawn: list[Any]) -> None:
    """Whatever happened, each ref stands in one place, and no kind in more places than it has."""
    turns = turns_of(drawn)
    refs = fold(*turns)
    assert sorted(ref.key for ref in refs.all) == sorted({ref.key for turn in turns for ref in turn})
    for kind, quota in QUOTAS.items():
        assert sum(ref.kind == kind for ref in refs.active) <= quota
    assert all(ref.status == "active" for ref in refs.active)
    assert "active" not in {ref.status for ref in refs.archived}


def test_beyond_what_is_kept_the_ledgers_order_gives_the_same() -> None:
    """What goes is decided after each turn, so that a rebuild forgets what the running process forgot."""
    turns = [[seen("url", f"u{n * 7 % 611}", n), seen("url", f"v{n}", n)] for n in range(900)]
    at_once = RefFold()
    for turn in turns:
        at_once.add(turn)
    later = RefFold()
    for turn in turns[:-100]:
        later.add(turn)
    refs = later.refs()
    for turn in turns[-100:]:
        refs = merge_refs(refs, turn)
    assert at_once.refs() == refs
    assert len(at_once.refs().all) == MOST_KEPT


def test_the_record_of_a_turn_gives_back_its_refs() -> None:
    """All but the clock, which the record itself has."""
    refs = (
        seen("file", "ä b.py", 3, metadata={"digest": "ab", "exit_code": 1}, title="t", source_ref="x:y"),
        seen("pr", "github:o/r#7", 3, status="resolved"),
        seen("url", "https://x.example/", 3, judged=False),
    )
    data = json.loads(json.dumps(refs_to_json(refs)))
    assert refs_from_json(data, clock=refs[0].clock, ts=refs[0].last_seen) == refs


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["file", "active"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=5)
            | st.sampled_from(
                ["kind", "ref", "status", "title", "metadata", "last_seen", "judged_at", "clock"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)
REF_LIKE = st.fixed_dictionaries(
    {"kind": st.just("file"), "ref": st.text(min_size=1), "status": st.just("active")},
    optional=dict.fromkeys(
        (
            "title", "reason", "last_seen", "first_seen", "judged_at",
            "judged", "clock", "source_ref", "metadata",
        ),
        JSON,
    ),
)  # fmt: skip


@given(JSON | st.lists(REF_LIKE, max_size=4))
def test_any_json_gives_refs_that_can_be_merged_and_written(raw: Any) -> None:
    """A line from elsewhere may say what it wants: it gives fewer refs, and never an error."""
    ts = "2026-11-30T09:00:00.000Z"
    refs = refs_from_json(raw, clock="0" * 16, ts=ts)
    merged = merge_refs(WorkRefs(), refs)
    assert merge_refs(merged, refs) == merged
    assert refs_from_json(json.loads(json.dumps(refs_to_json(refs))), clock="0" * 16, ts=ts) == refs


@pytest.mark.parametrize(
    "raw",
    [
        {"kind": "file", "ref": "", "status": "active"},
        {"kind": "file", "ref": " \n", "status": "active"},
        {"kind": "file", "ref": "x" * 1001, "status": "active"},
        {"kind": "secret", "ref": "x", "status": "active"},
        {"kind": "file", "ref": "x", "status": "open"},
        {"kind": ["file"], "ref": "x", "status": {}},
        "file:x",
    ],
)
def test_what_is_no_ref_is_left_out(raw: Any) -> None:
    """A ref has a known kind, a status, and something that it points to."""
    assert refs_from_json([raw], clock="0" * 16, ts="") == ()
