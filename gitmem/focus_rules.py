"""Which work item a session works on: picking, giving way to another one, coming back to it.

Only `pick`, `complete` and `drop` move a focus. A turn's end keeps it, nothing that arrives moves it, and a
work item that waits its turn never takes it by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from gitmem.records import is_name

#: Actions that move a focus.
MOVES: Final = frozenset({"pick", "complete", "drop"})
#: Deeper chains of yielding lose their oldest part: a record that is hostile costs no more than this.
_DEEPEST: Final = 64


@dataclass(frozen=True, slots=True)
class FocusMove:
    """An event that may move the focus of its session, and of the home.

    Attributes:
        action: `pick`, `complete` or `drop`.
        session: the conversation; None moves the home's focus alone.
        yields: of a pick: the work item that gives way and comes back when this one ends.
    """

    action: str
    item: str
    session: str | None = None
    yields: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A work item that gave way to another one."""

    suspended: str
    active: str


@dataclass(frozen=True, slots=True)
class Focus:
    """The focus of one session.

    Attributes:
        current: id of the work item; None for none.
        frames: who gave way to whom, the oldest first.
    """

    current: str | None = None
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class PickReport:
    """What a pick does.

    Attributes:
        kind: `same_work_item yield_current explicit_yield_return explicit_focus_override
            explicit_focus_pick`.
        mode: `runnable`, or `inspection` of what cannot be worked on now.
        yields: the work item that gives way.
    """

    kind: str
    mode: str
    yields: str | None = None


@dataclass(frozen=True, slots=True)
class FocusState:
    """The focus of every session that picked something, and of the home.

    Attributes:
        sessions: by id.
        home: what was picked last, whichever session it was.
    """

    sessions: Mapping[str, Focus] = field(default_factory=lambda: MappingProxyType({}))
    home: Focus = Focus()

    def of(self, session: str | None) -> Focus:
        """Return a session's own focus if it ever picked, else the home's."""
        own = self.sessions.get(session) if session is not None else None
        return self.home if own is None else own

    def current(self) -> frozenset[str]:
        """Return all work items that somebody has as focus."""
        found = {focus.current for focus in self._all()}
        return frozenset(item for item in found if item is not None)

    def yielded(self) -> frozenset[str]:
        """Return all work items that gave way and were not brought back; what a session works on did not."""
        given_way = {frame.suspended for focus in self._all() for frame in focus.frames}
        return frozenset(given_way) - self.current()

    def _all(self) -> Sequence[Focus]:
        return (*self.sessions.values(), self.home)


def classify_pick(
    focus: Focus, target: str, *, current_is_runnable: bool, target_is_runnable: bool
) -> PickReport:
    """Return what picking a work item means where a session stands.

    Args:
        focus: of the session.
        target: the open work item that is picked.
        current_is_runnable: the focus is open and could be worked on, so it gives way and comes back.
        target_is_runnable: not taking into account that it may have given way.
    """
    mode = "runnable" if target_is_runnable else "inspection"
    if focus.current == target:
        return PickReport("same_work_item", mode)
    if any(frame.suspended == target for frame in focus.frames):
        return PickReport("explicit_yield_return", mode)
    if focus.current is None:
        return PickReport("explicit_focus_pick", mode)
    if current_is_runnable:
        return PickReport("yield_current", mode, focus.current)
    return PickReport("explicit_focus_override", mode)


def move_focus(state: FocusState, move: FocusMove) -> FocusState:
    """Return where everybody stands behind an event."""
    if move.action == "pick":
        home = _pick(state.home, move)
        if move.session is None:
            return replace(state, home=home)
        own = _pick(state.sessions.get(move.session, Focus()), move)
        return FocusState(MappingProxyType({**state.sessions, move.session: own}), home)
    touched = {
        name: _end(focus, move.item) for name, focus in state.sessions.items() if _has(focus, move.item)
    }
    home = _end(state.home, move.item) if _has(state.home, move.item) else state.home
    sessions = MappingProxyType({**state.sessions, **touched}) if touched else state.sessions
    return FocusState(sessions, home)


def focus_after(moves: Iterable[FocusMove], start: FocusState | None = None) -> FocusState:
    """Return where everybody stands behind events in the order of the ledger."""
    state = start or FocusState()
    for move in moves:
        state = move_focus(state, move)
    return state


def turn_item(link: str | None, focus: str | None, moves: Sequence[FocusMove]) -> str | None:
    """Return the work item that a turn belongs to.

    What its caller names comes first. Else it is the focus, or what the turn picks instead; once that is
    completed or dropped, the turn stays with it: its last turn is its own.

    Args:
        link: the work item that the turn was opened for.
        focus: of its session before the turn.
        moves: of the turn, in order.
    """
    if link is not None:
        return link
    bound = focus
    for move in moves:
        if move.action == "pick":
            bound = move.item
        elif bound is None or bound == move.item:
            return move.item
    return bound


def move_from(body: Mapping[str, object], item: str, session: str | None) -> FocusMove | None:
    """Return the move that a snapshot of a work item records, None if it is none."""
    action = body.get("action")
    if not isinstance(action, str) or action not in MOVES:
        return None
    yields = body.get("yields")
    return FocusMove(action, item, session, yields if is_name(yields) else None)


def _pick(focus: Focus, move: FocusMove) -> Focus:
    target = move.item
    place = next((n for n, frame in enumerate(focus.frames) if frame.suspended == target), None)
    if place is not None:
        return Focus(target, focus.frames[:place])
    if move.yields is None or move.yields == target:
        return Focus(target, focus.frames)
    # Each work item comes back once, and brings back one.
    kept = (f for f in focus.frames if f.active != target and f.suspended != move.yields)
    return Focus(target, (*kept, Frame(move.yields, target))[-_DEEPEST:])


def _end(focus: Focus, item: str) -> Focus:
    back = next((frame.suspended for frame in focus.frames if frame.active == item), None)
    frames = tuple(frame for frame in focus.frames if item not in (frame.active, frame.suspended))
    return Focus(back if focus.current == item else focus.current, frames)


def _has(focus: Focus, item: str) -> bool:
    return focus.current == item or any(item in (frame.active, frame.suspended) for frame in focus.frames)
