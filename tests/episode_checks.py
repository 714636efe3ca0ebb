"""Histories of turns, and the check that their episodes leave nothing out and take nothing twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from gitmem.episode_marks import Close, ItemMark, TurnMark, mark_from_row, mark_to_row
from gitmem.episode_rules import MOST_TURNS, Closing, EpisodeFold, episode_id
from gitmem.times import format_time

WRITER = "w0000000a"
PLACE = "ledger/2026-11/30/w0000000a-0001.jsonl"
START = 1_772_442_000.0

Row = list[Any]


def turn(number: int, *, at: float | None = None, **facts: Any) -> TurnMark:
    """Return the mark of a turn of session s1 with a message; minutes since the start are its number."""
    ts = format_time(START + 60 * (number if at is None else at))
    given = {"session": "s1", "began": ts, "ended": ts, "material": True, **facts}
    return TurnMark(turn=f"turn_{number:015x}", **given)


def item(name: str = "w1", status: str = "open", objective: str = "a") -> ItemMark:
    """Return a work item as a turn left it."""
    return ItemMark(name, status, objective, f"work_{abs(hash((name, status, objective))) % 16**15:015x}")


def tell(fold: EpisodeFold, mark: TurnMark, *, asked: bool = False) -> tuple[list[Closing], Row]:
    """Let a turn happen: what it finishes stands in its row."""
    closings = fold.decide(mark, asked=asked)
    closes = tuple(
        Close(one.builder.id, tuple(inner.turn for inner in one.builder.turns)) for one in closings
    )
    row = [*mark_to_row(replace(mark, closes=closes)), PLACE]
    fold.take(row)
    return closings, row


def live(marks: Iterable[TurnMark]) -> tuple[EpisodeFold, list[Closing], list[Row]]:
    """Let turns happen one after the other."""
    fold = EpisodeFold(WRITER)
    closings, rows = [], []
    for mark in marks:
        closed, row = tell(fold, mark)
        closings += closed
        rows.append(row)
    return fold, closings, rows


def rebuilt(rows: Iterable[Sequence[Any]], writer: str = WRITER) -> EpisodeFold:
    """Return the fold that a process makes that reads what the others have written."""
    fold = EpisodeFold(writer)
    for row in rows:
        fold.take(row)
    return fold


def faults(rows: Sequence[Sequence[Any]], writer: str = WRITER) -> list[str]:
    """Say what is wrong: a turn in two episodes, in none before the open one, out of order, or too many."""
    found: list[str] = []
    marks = {row[0]: mark_from_row(row) for row in rows}
    order = {name: number for number, name in enumerate(marks)}
    owner: dict[str, str] = {}
    for row in rows:
        for name, turns in row[11]:
            found += [f"{turn} is in two" for turn in turns if turn in owner]
            owner.update(dict.fromkeys(turns, name))
            found += [f"{turn} is no turn" for turn in turns if turn not in marks]
            found += (
                [f"{name} has another id than its first turn and its last give"]
                if turns and episode_id(writer, turns[0], row[0]) != name
                else []
            )
            known = [order[turn] for turn in turns if turn in order]
            found += [f"{name} is out of order"] if known != sorted(known) else []
            found += [f"{name} has {len(turns)} turns"] if not 0 < len(turns) <= MOST_TURNS else []
    try:
        left = {mark.turn for builder in rebuilt(rows, writer).builders() for mark in builder.turns}
    except (KeyError, IndexError) as error:
        return [*found, f"cannot be read: {error!r}"]
    found += [f"{name} is open and finished" for name in left & owner.keys()]
    missing = [mark for name, mark in marks.items() if mark.material and name not in owner]
    found += [f"{mark.turn} is in none" for mark in missing if mark.turn not in left]
    return found + _gaps(marks, owner, left)


def _gaps(marks: dict[str, TurnMark], owner: dict[str, str], left: set[str]) -> list[str]:
    """Name open turns that have a finished one of their session behind them."""
    found = []
    open_since: dict[str | None, str] = {}
    for name, mark in marks.items():
        if mark.session is None and (mark.work_item or mark.items):
            continue  # it belongs to whatever session its work item was done in
        if name in left:
            open_since.setdefault(mark.session, name)
        elif name in owner and mark.session in open_since:
            found.append(f"{open_since[mark.session]} is open before the finished {name}")
    return found


_ITEMS = st.lists(
    st.builds(
        item,
        st.sampled_from(["w1", "w2"]),
        st.sampled_from(["open", "open", "completed", "cancelled"]),
        st.sampled_from(["a", "b"]),
    ),
    max_size=2,
    unique_by=lambda one: one.item,
).map(tuple)


@st.composite
def histories(draw: st.DrawFn) -> list[TurnMark]:
    """Turns of a few sessions with everything that may end an episode, in any mixture."""
    marks, minutes = [], 0.0
    for number in range(draw(st.integers(1, 40))):
        minutes += draw(st.sampled_from([1, 1, 1, 5, 45]))
        mark = turn(
            number,
            at=minutes,
            session=draw(st.sampled_from(["s1", "s1", "s2", None])),
            material=draw(st.sampled_from([True, True, True, False])),
            work_item=draw(st.sampled_from([None, None, "w1", "w2"])),
            picked=draw(st.sampled_from([None, None, None, "w1", "w2"])),
            items=draw(st.one_of(st.just(()), _ITEMS)),
            task_ended=draw(st.sampled_from([False] * 7 + [True])),
            wait=draw(st.sampled_from([None] * 6 + ["x", "y"])),
            session_event=draw(st.sampled_from([None] * 8 + ["end", "compact"])),
        )
        marks.append(mark)
    return marks
