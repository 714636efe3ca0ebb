"""Where episodes end: a fold over the turns of one writer, in the order of its line.

One builder a session gathers turns. It holds nothing that the ledger does not say: what was finished is read
from the `episode` records, what is open is the turns behind them, so that a rebuild gives the same builder.
What ends it, the first that fits: its work item was completed or dropped, or another one (or another
objective) took its place; without a work item, a pause of 30 minutes; the session's end; a task that came
back; something new that is waited for; without a work item, a compaction; the twelfth turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from gitmem.episode_marks import ItemMark, TurnMark, mark_from_row, mark_to_row
from gitmem.records import derive_id

#: Turns of an episode at most (holon §3.3, counted so that each of them is in its source refs).
MOST_TURNS: Final = 12
#: A longer silence in a session without a work item is the end of what was talked about.
PAUSE: Final = timedelta(minutes=30)

#: Places in a row of `mark_to_row`.
_TURN, _SESSION, _MATERIAL, _WORK_ITEM, _PICKED, _ITEMS, _WAIT, _CLOSES = 0, 1, 4, 5, 6, 7, 9, 11
_PLACE: Final = 12


@dataclass(frozen=True, slots=True)
class Builder:
    """The turns of one session that no finished episode holds.

    Attributes:
        id: by which it is known while it is open; of one that is finished, the episode's.
        work_item: what it is for, if that is known.
        item: that item's last snapshot.
    """

    id: str
    writer: str
    session: str | None
    turns: tuple[TurnMark, ...]
    work_item: str | None
    item: ItemMark | None


@dataclass(frozen=True, slots=True)
class Closing:
    """A builder that is to be finished.

    Attributes:
        boundary: why.
    """

    builder: Builder
    boundary: str


class EpisodeFold:
    """The builders of one writer, as its turns are read one by one.

    Args:
        writer: id of the line.
    """

    def __init__(self, writer: str) -> None:
        self.writer = writer
        self._open: dict[str, list[Sequence[Any]]] = {}
        self._keys: dict[str, str] = {}
        self._waits: dict[str, str] = {}
        self._items: dict[str, ItemMark] = {}

    def builders(self) -> list[Builder]:
        """Return what is open, by session."""
        return [self._builder(key, self._marks(key)) for key in sorted(self._open)]

    def builder(self, session: str | None) -> Builder | None:
        """Return what is open of one session."""
        key = session or ""
        return self._builder(key, self._marks(key)) if key in self._open else None

    def decide(self, mark: TurnMark, *, asked: bool = False) -> list[Closing]:
        """Return which builders a new turn finishes; the fold stays as it is.

        Args:
            mark: of the turn, without `closes`.
            asked: somebody wants the session's builder finished with this turn.
        """
        return _Decision(self, mark).closings(asked=asked)

    def take(self, row: Sequence[Any]) -> None:
        """Go on over one turn.

        Args:
            row: its mark as JSON data, `closes` included, with the path of its segment behind it.
        """
        key = self.key_of(row[_SESSION], row[_WORK_ITEM], row[_ITEMS])
        ended: set[str] = set()
        for name, turns in row[_CLOSES]:
            ended |= self._finish(name, turns, key, row[_TURN])
        if row[_TURN] not in ended and (key in self._open or self.is_material(row)):
            if key not in self._open:
                self._keys[row[_TURN]] = key
            self._open.setdefault(key, []).append(row)
        self._note(key, row)

    @staticmethod
    def is_material(row: Sequence[Any]) -> bool:
        """Say whether a turn is worth beginning an episode with: words, tools, or work on its work item."""
        return bool(row[_MATERIAL] or row[_WORK_ITEM] or row[_PICKED])

    def key_of(self, session: str | None, work_item: str | None, items: Sequence[Any]) -> str:
        """Return whose builder a turn belongs to: that of its session, else of its work item's last turns."""
        if session is not None or (work_item is None and not items):
            return session or ""
        wanted = {work_item, *(one[0] for one in items)} - {None}
        found = [key for key in self._open if _item_of(self._marks(key)) in wanted]
        return max(found, key=lambda key: self._open[key][-1][3], default="")

    def _finish(self, name: str, turns: Sequence[str], key: str, turn: str) -> set[str]:
        """Take the turns of a finished episode from the builder that held them."""
        first = turns[0] if turns else self._first_of(name, turn)
        key = self._keys.get(first, key)
        rows = self._open.get(key, [])
        # Of a record that was forgotten only the id is left: it was all that was open.
        ended = set(turns) or {turn, *(row[_TURN] for row in rows)}
        left = [row for row in rows if row[_TURN] not in ended]
        self._keys.pop(first, None)
        self._open.pop(key, None)
        if left:
            self._open[key] = left
            self._keys[left[0][_TURN]] = key
        return ended

    def _first_of(self, name: str, turn: str) -> str:
        """Return the open turn with which the episode of this name began; "" where none is known to."""
        known = (
            first
            for first in self._keys
            if name in (builder_id(self.writer, first), episode_id(self.writer, first, turn))
        )
        return next(known, "")

    def _note(self, key: str, row: Sequence[Any]) -> None:
        for name, status, objective, record in row[_ITEMS]:
            self._items[name] = ItemMark(name, status, objective, record, row[_PLACE])
        if row[_WAIT]:
            self._waits[key] = row[_WAIT]
        else:
            self._waits.pop(key, None)

    def _marks(self, key: str) -> list[TurnMark]:
        return [mark_from_row(row) for row in self._open.get(key, ())]

    def _builder(
        self,
        key: str,
        marks: Sequence[TurnMark],
        work_item: str | None = None,
        item: ItemMark | None = None,
    ) -> Builder:
        name = work_item or _item_of(marks)
        return Builder(
            id=builder_id(self.writer, marks[0].turn),
            writer=self.writer,
            session=key or None,
            turns=tuple(marks),
            work_item=name,
            item=item or (self._items.get(name) if name else None),
        )


class _Decision:
    """What one turn does to the builders."""

    def __init__(self, fold: EpisodeFold, mark: TurnMark) -> None:
        self._fold = fold
        self._mark = mark
        row = mark_to_row(mark)
        self._key = fold.key_of(mark.session, mark.work_item, row[_ITEMS])
        self._turns = fold._marks(self._key)
        self._closed: list[Closing] = []
        self._is_material = fold.is_material(row)
        self._new = {one.item: one for one in mark.items}
        self._focus = _item_of([mark])

    def closings(self, *, asked: bool) -> list[Closing]:
        while len(self._turns) >= MOST_TURNS:  # a line that was written before there were episodes
            whole, self._turns = self._turns[:MOST_TURNS], self._turns[MOST_TURNS:]
            self._close(whole, "turn_cap")
        own = _item_of(self._turns)
        finished = self._finished_item(own)
        if finished is not None:
            self._complete(own, finished)
        else:
            self._go_on(own, asked=asked)
        self._close_elsewhere()
        return self._closed

    def _finished_item(self, own: str | None) -> ItemMark | None:
        """Return the work item that this turn finished, its own before any other."""
        finished = {one.item: one for one in self._mark.finished}
        for name in (own, self._focus):
            if name in finished:
                return finished[name]
        is_free = own is None and self._focus in (None, *finished)
        return next(iter(finished.values()), None) if is_free else None

    def _complete(self, own: str | None, finished: ItemMark) -> None:
        # Turns without a work item that touched this one, before anybody picked it, were for it, too.
        is_touched = any(one.item == finished.item for mark in self._turns for one in mark.items)
        is_other = own is None and self._focus == finished.item and not is_touched
        if self._turns and (own not in (None, finished.item) or is_other):
            self._close(self._turns, "work_item_switched")
            self._turns = []
        boundary = "work_item_completed" if finished.status == "completed" else "work_item_dropped"
        self._close([*self._turns, self._mark], boundary, finished)

    def _go_on(self, own: str | None, *, asked: bool) -> None:
        before = self._ends_before(own)
        if self._turns and before:
            self._close(self._turns, before)
            self._turns = []
        if not self._turns and not self._is_material:
            return
        turns = [*self._turns, self._mark]
        after = "closed" if asked else self._ends_after(len(turns))
        if after:
            self._close(turns, after, self._new.get(self._focus or ""))

    def _ends_before(self, own: str | None) -> str | None:
        """Return why the builder ends without this turn."""
        if own != self._focus:
            return "work_item_switched"
        if own is None:
            silence = _time(self._mark.began) - _time(max(mark.ended for mark in self._turns or [self._mark]))
            return "pause" if silence > PAUSE else None
        known, now = self._fold._items.get(own), self._new.get(own)
        if known is not None and now is not None and known.objective != now.objective:
            return "objective_changed"
        return None

    def _ends_after(self, count: int) -> str | None:
        """Return why the builder ends with this turn."""
        mark = self._mark
        if mark.session_event == "end":
            return "session_ended"
        if mark.task_ended:
            return "task_ended"
        if mark.wait is not None and mark.wait != self._fold._waits.get(self._key):
            return "waiting"
        if mark.session_event == "compact" and self._focus is None:
            return "compacted"
        return "turn_cap" if count >= MOST_TURNS else None

    def _close_elsewhere(self) -> None:
        """Close what other sessions did for a work item that is finished now."""
        for one in self._mark.finished:
            for key in sorted(self._fold._open):
                marks = self._fold._marks(key)
                if key != self._key and _item_of(marks) == one.item:
                    boundary = "work_item_completed" if one.status == "completed" else "work_item_dropped"
                    self._close(marks, boundary, one, key)

    def _close(
        self, turns: Sequence[TurnMark], boundary: str, item: ItemMark | None = None, key: str | None = None
    ) -> None:
        name = item.item if item is not None else None
        if name is None and self._mark in turns:
            name = self._focus
        builder = self._fold._builder(self._key if key is None else key, turns, name, item)
        named = episode_id(builder.writer, turns[0].turn, self._mark.turn)
        self._closed.append(Closing(replace(builder, id=named), boundary))


def _item_of(marks: Sequence[TurnMark]) -> str | None:
    """Return the work item that turns are for: the first that one of them names."""
    return next((item for mark in marks if (item := mark.work_item or mark.picked)), None)


def builder_id(writer: str, first: str) -> str:
    """Return the id of what a writer begins with a turn, as long as it is open."""
    return derive_id("episode", writer, first)


def episode_id(writer: str, first: str, last: str) -> str:
    """Return the id of an episode: two copies of one folder may each finish what was open when it was copied.

    Args:
        writer: of the line.
        first: the turn with which it begins.
        last: the turn by which it ends and that holds its record, whether it belongs to it or not.
    """
    return derive_id("episode", writer, first, last)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
