"""Where episodes end: the boundaries one by one, then random histories against what must always hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from episode_checks import WRITER, faults, histories, item, live, rebuilt, tell, turn
from hypothesis import given
from hypothesis import strategies as st

from gitmem.episode_marks import TurnMark, mark_from_row, mark_to_row
from gitmem.episode_rules import EpisodeFold, builder_id, episode_id


def ends(*marks: TurnMark) -> list[tuple[str, list[int]]]:
    """Return boundary and numbers of turns of each episode that turns finish."""
    return [(one.boundary, [int(mark.turn[5:], 16) for mark in one.builder.turns]) for one in live(marks)[1]]


def numbers(fold: EpisodeFold) -> list[int]:
    """Return the numbers of the open turns of s1."""
    builder = fold.builder("s1")
    return [] if builder is None else [int(mark.turn[5:], 16) for mark in builder.turns]


def test_a_completed_work_item_ends_with_the_turn_that_completes_it() -> None:
    """E8: that turn holds the result; Holon left it in no episode."""
    marks = [turn(1, picked="w1", items=(item(),)), turn(2, work_item="w1"), turn(3, work_item="w1")]
    marks[2] = replace(marks[2], items=(item(status="completed"),))
    assert ends(*marks) == [("work_item_completed", [1, 2, 3])]


def test_a_dropped_work_item_ends_too() -> None:
    """What is given up is over as well."""
    dropped = turn(2, work_item="w1", items=(item(status="cancelled"),))
    assert ends(turn(1, work_item="w1"), dropped) == [("work_item_dropped", [1, 2])]


def test_another_work_item_begins_another_episode() -> None:
    """E9: the turn that switches belongs to the new item, so none of its files is in the old episode."""
    marks = [turn(1, work_item="w1"), turn(2, work_item="w2", task_ended=True), turn(3, work_item="w2")]
    fold, closings, _ = live(marks)
    assert [(one.boundary, one.builder.work_item) for one in closings] == [
        ("work_item_switched", "w1"),
        ("task_ended", "w2"),
    ]
    assert [mark.turn[-1] for mark in closings[0].builder.turns] == ["1"]
    assert numbers(fold) == [3]


def test_talk_ends_where_work_begins() -> None:
    """What was said before a work item was picked is not its history."""
    assert ends(turn(1), turn(2, picked="w1")) == [("work_item_switched", [1])]


def test_what_touched_an_item_before_it_was_picked_is_its_history() -> None:
    """An item may be created in one turn and completed in the next without being picked."""
    done = turn(2, work_item="w1", items=(item(status="completed"),))
    assert ends(turn(1, items=(item(),)), done) == [("work_item_completed", [1, 2])]


def test_a_changed_objective_ends_the_episode_that_had_the_old_one() -> None:
    """E3: the account of what was done names what was wanted then."""
    first, second = item(objective="a"), item(objective="b")
    fold, closings, _ = live(
        [turn(1, work_item="w1", items=(first,)), turn(2, work_item="w1", items=(second,))]
    )
    assert [(one.boundary, one.builder.item) for one in closings] == [
        ("objective_changed", replace(first, place=closings[0].builder.item.place))  # type: ignore[union-attr]
    ]
    assert numbers(fold) == [2]


def test_an_item_that_is_touched_and_wants_the_same_goes_on() -> None:
    """A new todo list is no boundary."""
    assert ends(turn(1, work_item="w1", items=(item(),)), turn(2, work_item="w1", items=(item(),))) == []


@pytest.mark.parametrize(("minutes", "expected"), [(30, []), (31, [("pause", [1])])])
def test_a_pause_is_decided_by_the_next_turn(minutes: int, expected: list[tuple[str, list[int]]]) -> None:
    """Nothing has to happen while nothing happens."""
    assert ends(turn(1, at=0), turn(2, at=minutes)) == expected


def test_work_goes_on_after_a_night() -> None:
    """A work item has ends of its own."""
    assert ends(turn(1, at=0, work_item="w1"), turn(2, at=900, work_item="w1")) == []


@pytest.mark.parametrize(
    ("facts", "boundary"),
    [
        ({"session_event": "end"}, "session_ended"),
        ({"session_event": "compact"}, "compacted"),
        ({"task_ended": True}, "task_ended"),
        ({"wait": "x"}, "waiting"),
    ],
)
def test_what_ends_with_the_turn(facts: dict[str, Any], boundary: str) -> None:
    """The turn in which it happens is the episode's last."""
    assert ends(turn(1), turn(2, **facts), turn(3)) == [(boundary, [1, 2])]


def test_a_compaction_does_not_end_work() -> None:
    """A work item outlives the prompt in which it was done."""
    assert ends(turn(1, work_item="w1"), turn(2, work_item="w1", session_event="compact")) == []


def test_waiting_on_for_the_same_is_no_boundary() -> None:
    """Each waking that only goes on waiting was an episode of one turn in Holon."""
    assert ends(turn(1, wait="x"), turn(2, wait="x"), turn(3, wait="x")) == [("waiting", [1])]
    assert [boundary for boundary, _ in ends(turn(1, wait="x"), turn(2, wait="y"))] == ["waiting", "waiting"]


def test_twelve_turns_are_the_most() -> None:
    """E6: each of them is named; Holon's thirteenth was lost."""
    found = ends(*(turn(number) for number in range(1, 26)))
    assert found == [("turn_cap", list(range(1, 13))), ("turn_cap", list(range(13, 25)))]


def test_a_line_without_records_is_caught_up_in_twelves() -> None:
    """A ledger that was written before there were episodes loses none of its turns."""
    fold = EpisodeFold(WRITER)
    for number in range(30):
        fold.take([*mark_to_row(turn(number)), "place"])
    closings, _ = tell(fold, turn(30))
    assert [len(one.builder.turns) for one in closings] == [12, 12]
    assert len(numbers(fold)) == 7


def test_a_turn_without_words_begins_nothing() -> None:
    """Material is a message, a tool or a brief; in an open episode every turn counts."""
    bare = turn(1, material=False, session_event="end")
    assert ends(bare) == []
    assert ends(turn(1), turn(2, material=False), turn(3, session_event="end")) == [
        ("session_ended", [1, 2, 3])
    ]


def test_sessions_do_not_mix() -> None:
    """One builder a session."""
    fold, closings, _ = live(
        [turn(1), turn(2, session="s2"), turn(3, session_event="end"), turn(4, session="s2")]
    )
    assert [(one.builder.session, len(one.builder.turns)) for one in closings] == [("s1", 2)]
    assert [builder.session for builder in fold.builders()] == ["s2"]


def test_an_item_that_is_completed_outside_of_any_session_takes_its_turns_along() -> None:
    """`gitmem work complete` from a shell ends what the agent did in its session."""
    done = turn(3, session=None, work_item="w1", items=(item(status="completed"),))
    assert ends(turn(1, work_item="w1"), turn(2, work_item="w1"), done) == [
        ("work_item_completed", [1, 2, 3])
    ]


def test_an_item_that_is_completed_in_another_session_ends_in_both() -> None:
    """No builder is left that is for something finished."""
    done = turn(2, session="s2", work_item="w1", items=(item(status="completed"),))
    assert sorted(ends(turn(1, work_item="w1"), done)) == [
        ("work_item_completed", [1]),
        ("work_item_completed", [2]),
    ]


def test_somebody_may_ask_for_it() -> None:
    """What is open can be finished by hand; where nothing is, nothing is."""
    fold, _, _ = live([turn(1)])
    assert [one.boundary for one in fold.decide(turn(2, material=False), asked=True)] == ["closed"]
    assert EpisodeFold(WRITER).decide(turn(2, material=False), asked=True) == []


def test_the_id_follows_from_writer_first_turn_and_the_turn_that_ends_it() -> None:
    """Another writer's episode has another one."""
    fold, closings, _ = live([turn(1), turn(2, session_event="end")])
    first, last = turn(1).turn, turn(2).turn
    assert closings[0].builder.id == episode_id(WRITER, first, last) != episode_id("w0000000b", first, last)
    assert fold.builders() == []


def test_two_copies_of_a_line_never_finish_one_id() -> None:
    """What was open when a folder was copied is finished by each copy with turns of its own.

    One id for both would be two tags of one name, of which neither may move.
    """
    before = [turn(1), turn(2)]
    ended = [live([*before, turn(number, session_event="end")])[1][0].builder for number in (3, 4)]
    assert ended[0].id != ended[1].id
    paused = [live([*before, turn(number, at=60 + number)])[1][0].builder for number in (3, 4)]
    assert paused[0].turns == paused[1].turns
    assert paused[0].id != paused[1].id


def test_a_line_that_was_written_under_the_older_ids_goes_on() -> None:
    """An id of writer and first turn alone ends its builder just so, also where only the id is left."""
    rows = live([turn(1), turn(2, session_event="end"), turn(3)])[2]
    for turns in (rows[1][11][0][1], []):
        rows[1][11] = [[builder_id(WRITER, turn(1).turn), turns]]
        assert numbers(rebuilt(rows)) == [3]


def test_a_forgotten_record_still_ends_its_episode() -> None:
    """What is left of it is its id; its turns must not be told again in another one."""
    rows = live([turn(1), turn(2, session_event="end"), turn(3)])[2]
    rows[1][11] = [[rows[1][11][0][0], []]]
    assert numbers(rebuilt(rows)) == [3]


@given(histories())
def test_a_row_is_a_mark(marks: list[TurnMark]) -> None:
    """What is kept says the same."""
    assert [mark_from_row(mark_to_row(mark)) for mark in marks] == marks


@given(histories())
def test_no_turn_is_left_out_or_taken_twice(marks: list[TurnMark]) -> None:
    """Holon §11.8: no overlap, no gap before what is open, nothing out of order, never over twelve."""
    assert faults(live(marks)[2]) == []


@given(histories())
def test_a_rebuild_gives_the_same_builders(marks: list[TurnMark]) -> None:
    """There is no state beside the ledger."""
    fold, _, rows = live(marks)
    assert rebuilt(rows).builders() == fold.builders()


@given(histories(), st.data())
def test_a_process_may_take_over_anywhere(marks: list[TurnMark], data: st.DataObject) -> None:
    """Who reads what others wrote decides as they would have."""
    at = data.draw(st.integers(0, len(marks)))
    whole = live(marks)
    first = live(marks[:at])
    fold = rebuilt(first[2])
    later = [one for mark in marks[at:] for one in tell(fold, mark)[0]]
    assert [*first[1], *later] == whole[1]


@given(histories(), st.data())
def test_the_check_sees_what_is_wrong(marks: list[TurnMark], data: st.DataObject) -> None:
    """Holon §11.10: a record that is lost, a turn that is twice, too early or another's is found."""
    end = [turn(100 + number, at=9000 + number) for number in range(3)]
    rows = live([*marks, *end, turn(103, at=9003, session_event="end")])[2]
    assert faults(rows) == []
    whole = [row for row in rows if row[11] and len(row[11][0][1]) > 1]
    row = data.draw(st.sampled_from(whole))
    name, turns = row[11][0]
    kind = data.draw(st.sampled_from(["twice", "missing", "swapped", "foreign"]))
    changed = {
        "twice": [*turns, turns[0]],
        "missing": turns[1:],
        "swapped": list(reversed(turns)),
        "foreign": [*turns, "turn_fffffffffffffff"],
    }[kind]
    spoiled = [[*one[:11], [[name, changed], *one[11][1:]], *one[12:]] if one is row else one for one in rows]
    assert faults(spoiled) != []


def test_a_record_that_is_lost_leaves_a_gap() -> None:
    """Its turns are open before turns that are finished."""
    rows = live([turn(number) for number in range(30)])[2]
    first = next(row for row in rows if row[11])
    assert faults(rows) == []
    assert faults([[*row[:11], [], *row[12:]] if row is first else row for row in rows]) != []
