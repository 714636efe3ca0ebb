"""The objects of a ledger as a fold over their snapshots, in whatever order these come: heads, and focus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gitmem.focus_rules import MOVES, FocusMove, FocusState, focus_after, move_focus, move_from
from gitmem.ledger_format import Line, split_segment
from gitmem.lifecycle_rules import Snapshot, find_heads, reduce_heads
from gitmem.records import LIFECYCLE_KINDS, is_name

#: Of the rows that `snapshot_rows` makes.
ROWS_VERSION: Final = 2

_SIGNS: Final = tuple(f'"kind":"{kind}"'.encode() for kind in sorted(LIFECYCLE_KINDS))
_Key = tuple[str, str]
_Place = tuple[str, str, int, str]


class ObjectFold:
    """Knows the heads of every object, which of them are open, and where each session's focus is.

    The bodies of its snapshots need hold no more than `marks_of` says.
    """

    def __init__(self) -> None:
        self._objects: dict[_Key, dict[str, Snapshot]] = {}
        self._heads: dict[_Key, list[Snapshot]] = {}
        self._open: dict[str, set[str]] = {}
        self._unsure: set[_Key] = set()
        self._moves: dict[str, tuple[_Place, FocusMove]] = {}
        self._focus: FocusState | None = FocusState()
        self._last: _Place = ("", "", 0, "")

    def take(self, snapshot: Snapshot) -> None:
        """Take a snapshot, or what became of one that is known."""
        key = (snapshot.kind, snapshot.object)
        known = self._objects.setdefault(key, {})
        self._heads_after(key, snapshot, is_new=snapshot.id not in known)
        known[snapshot.id] = snapshot
        self._unsure.add(key)
        if snapshot.kind == "work_item":
            self._take_move(snapshot)

    def objects(self) -> Iterator[_Key]:
        """Yield kind and id of every object."""
        return iter(self._objects)

    def heads(self, kind: str, object_id: str) -> Sequence[Snapshot]:
        """Return the heads of an object; none if it is not known."""
        key = (kind, object_id)
        found = self._heads.get(key)
        if found is None:
            found = self._heads[key] = find_heads(self._objects.get(key, {}).values())
        return found

    def status(self, kind: str, object_id: str) -> str | None:
        """Return an object's status, `redacted` where it was forgotten, None if it is not known."""
        heads = self.heads(kind, object_id) if (kind, object_id) in self._objects else ()
        return reduce_heads(heads).status if heads else None

    def is_open(self, kind: str, object_id: str) -> bool:
        """Say whether an object is known, not ended and not forgotten."""
        heads = self.heads(kind, object_id) if (kind, object_id) in self._objects else ()
        return bool(heads) and _is_open(heads)

    def open(self, kind: str) -> Sequence[str]:
        """Return the ids of all objects of a kind that are open, in order."""
        for key in self._unsure:
            found = self._open.setdefault(key[0], set())
            (found.add if _is_open(self.heads(*key)) else found.discard)(key[1])
        self._unsure.clear()
        return sorted(self._open.get(kind, ()))

    def has_open(self, kind: str) -> bool:
        """Say whether any object of a kind is open."""
        return bool(self.open(kind)) if self._unsure else bool(self._open.get(kind))

    def focus(self) -> FocusState:
        """Return where every session's focus is; what is not open any more may still be named."""
        if self._focus is None:
            self._focus = focus_after(
                move for _, move in sorted(self._moves.values(), key=lambda one: one[0])
            )
            self._last = max((place for place, _ in self._moves.values()), default=("", "", 0, ""))
        return self._focus

    def ended(self) -> Iterator[str]:
        """Yield the work items that were completed or dropped, the last one first."""
        moves = sorted(self._moves.values(), key=lambda one: one[0], reverse=True)
        return iter(dict.fromkeys(move.item for _, move in moves if move.action != "pick"))

    def snapshots(self, kind: str, object_id: str) -> Sequence[Snapshot]:
        """Return all snapshots of an object."""
        return list(self._objects.get((kind, object_id), {}).values())

    def snapshot(self, kind: str, object_id: str, snapshot_id: str) -> Snapshot | None:
        """Return one snapshot of an object."""
        return self._objects.get((kind, object_id), {}).get(snapshot_id)

    def _heads_after(self, key: _Key, snapshot: Snapshot, *, is_new: bool) -> None:
        """Let the heads follow in the usual case: a snapshot that is new and follows all of them."""
        heads = self._heads.get(key)
        follows = heads is not None and is_new and {head.id for head in heads} == set(snapshot.after)
        if heads and follows and all(_place(head) < _place(snapshot) for head in heads):
            self._heads[key] = [snapshot]
        else:
            self._heads.pop(key, None)

    def _take_move(self, snapshot: Snapshot) -> None:
        move = None if snapshot.redacted else move_from(snapshot.body, snapshot.object, snapshot.session)
        if move is None:
            if self._moves.pop(snapshot.id, None) is not None:  # it was forgotten meanwhile
                self._focus = None
            return
        place, known = _place(snapshot), self._moves.get(snapshot.id)
        if known == (place, move):
            return
        self._moves[snapshot.id] = place, move
        if known is None and self._focus is not None and place > self._last:
            self._focus, self._last = move_focus(self._focus, move), place
        else:
            self._focus = None


def _is_open(heads: Sequence[Snapshot]) -> bool:
    winner = reduce_heads(heads).winner
    return not winner.is_terminal and not winner.redacted


def _place(snapshot: Snapshot) -> _Place:
    return (snapshot.clock, snapshot.writer, snapshot.seq, snapshot.id)


def marks_of(body: Mapping[str, Any]) -> dict[str, str]:
    """Return what the fold needs of a snapshot's body: ids and one of three words, never a caller's text."""
    action = body.get("action")
    marks = {"action": str(action)} if isinstance(action, str) and action in MOVES else {}
    return marks | {name: body[name] for name in ("yields", "work_item_id") if is_name(body.get(name))}


def snapshot_rows(content: bytes) -> list[list[Any]] | None:
    """Return the lifecycle lines of a segment as rows of ids, times and places; None where there is none.

    No caller's text is in them, so that what is kept of them never has to be forgotten.
    """
    if not any(sign in content for sign in _SIGNS):
        return None
    lines = (item for item in split_segment(content) if isinstance(item, Line) and item.object is not None)
    return [to_row(Snapshot.of(line)) for line in lines]


def to_row(snapshot: Snapshot) -> list[Any]:
    """Return a snapshot as a row."""
    return [
        snapshot.id, snapshot.kind, snapshot.object, snapshot.revision, snapshot.status, list(snapshot.after),
        snapshot.clock, snapshot.writer, snapshot.seq, snapshot.redacted, snapshot.turn, snapshot.ts,
        snapshot.session, snapshot.workspace, marks_of(snapshot.body),
    ]  # fmt: skip


def from_row(row: Sequence[Any]) -> Snapshot:
    """Return the snapshot that `to_row` gave, its body without a caller's text."""
    name, kind, object_id, revision, status, after, clock, writer, seq, redacted, *rest = row
    turn, ts, session, workspace, marks = rest
    return Snapshot(
        name, kind, object_id, revision, status, tuple(after), clock, writer, seq, marks, redacted,
        turn, ts, session, workspace,
    )  # fmt: skip
