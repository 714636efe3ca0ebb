"""What the agent is doing: work items, waits, tasks and focus, as they are or as they were at a commit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from gitmem.layout import Layout
from gitmem.ledger import Ledger, Segment
from gitmem.ledger_format import decode
from gitmem.lifecycle import Lifecycle, find_line, wait_of, whole_snapshot
from gitmem.lifecycle_rules import Snapshot, State, reduce_heads
from gitmem.object_fold import ObjectFold, from_row, snapshot_rows
from gitmem.past_ledger import tips_at
from gitmem.repository import Repository
from gitmem.segment_facts import SegmentFacts
from gitmem.times import format_time
from gitmem.wait_rules import Wait, is_due
from gitmem.work_item import TaskState, WorkItem, item_from, task_from
from gitmem.work_ref import WorkRef, refs_from_json
from gitmem.work_ref_merge import WorkRefs
from gitmem.work_rules import Workload, candidates, filters_of, text_of
from gitmem.work_turns import ROWS_VERSION, RefReader, TurnPlace, WorkTurns, turn_rows

#: Ended work items that are looked at for those whose end was reported.
_RECENT_ENDS: Final = 12

_Object = TypeVar("_Object")


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a state is read.

    Attributes:
        whole: returns a snapshot with its body.
        turns: the turns of each work item.
        refs: folds what they found.
    """

    fold: ObjectFold
    whole: Callable[[Snapshot], Snapshot]
    turns: WorkTurns
    refs: RefReader


class Objects(Mapping[str, _Object]):
    """The objects of one kind by id; each is read when it is asked for.

    Args:
        fold: knows them.
        kind: of them.
        read: returns one.
    """

    def __init__(self, fold: ObjectFold, kind: str, read: Callable[[str], _Object | None]) -> None:
        self._fold = fold
        self._kind = kind
        self._read = read

    def _ids(self) -> list[str]:
        return sorted(name for kind, name in self._fold.objects() if kind == self._kind)

    def _is_known(self, name: str) -> bool:
        return self._fold.status(self._kind, name) is not None

    def __getitem__(self, name: str) -> _Object:
        """Return an object."""
        found = self._read(name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        """Say whether there is an object of this name; nothing is read for it."""
        return isinstance(name, str) and self._is_known(name)

    def __iter__(self) -> Iterator[str]:
        """Yield the ids."""
        return iter(self._ids())

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._ids())


class WorkState:
    """Work as it stands at one moment. The state of now goes on with the ledger as long as it is held.

    Args:
        source: where it is read.
        now: that moment, RFC 3339, by which it is told what is due.
    """

    def __init__(self, source: _Source, now: str) -> None:
        self._source = source
        self._now = now
        self._waits: dict[str | None, list[Wait]] | None = None
        self.items: Mapping[str, WorkItem] = Objects(source.fold, "work_item", self._item)
        self.waits: Mapping[str, Wait] = Objects(source.fold, "wait", self._wait)
        self.tasks: Mapping[str, TaskState] = Objects(source.fold, "task", self._task)

    def focus(self, session: str | None = None) -> str | None:
        """Return the work item that a session works on: its own focus, else the home's; None for none."""
        current = self._source.fold.focus().of(session).current
        return current if current is not None and self._source.fold.is_open("work_item", current) else None

    def yielded(self) -> frozenset[str]:
        """Return the work items that gave way to others."""
        return self._source.fold.focus().yielded()

    def open_items(self) -> Sequence[str]:
        """Return the ids of the work items that have not ended."""
        return self._source.fold.open("work_item")

    def open_tasks(self) -> Sequence[str]:
        """Return the ids of the tasks that have not ended."""
        return self._source.fold.open("task")

    def ended_items(self) -> Iterator[str]:
        """Yield the ids of those that were completed or dropped, the last one first."""
        return self._source.fold.ended()

    def waits_of(self, item: str | None) -> tuple[Wait, ...]:
        """Return the waits of a work item that stand; those of the agent itself for None."""
        if self._waits is None:
            self._waits = {}
            for wait in self._standing():
                self._waits.setdefault(wait.work_item, []).append(wait)
        return tuple(self._waits.get(item, ()))

    def candidates(
        self, session: str | None = None, *, workspace: str | None = None
    ) -> dict[str, tuple[str, ...]]:
        """Return the ids of the work items that a prompt lists, by class.

        Args:
            session: whose focus is the current one.
            workspace: only what belongs to it, or to none; None is everything.
        """
        recent = [item for _, item in zip(range(_RECENT_ENDS), self.ended_items(), strict=False)]
        names = dict.fromkeys([*self.open_items(), *recent])
        current = self.focus(session)
        loads = []
        for name in names:
            state = self._state("work_item", name)
            if state is not None and is_in_scope(workspace_of(state), workspace):
                loads.append(self._load(state, is_current=name == current))
        return candidates(loads)

    def filters(self, item: str, session: str | None = None) -> frozenset[str]:
        """Return the filters under which a work item is listed."""
        state = self._state("work_item", item)
        return filters_of(self._load(state, is_current=item == self.focus(session))) if state else frozenset()

    def refs(self, item: str) -> WorkRefs:
        """Return the work refs of a work item: a fold over its turns."""
        return self._source.refs.refs(item, self._source.turns.of(item))

    def plan_text(self, item: str) -> str | None:
        """Return the plan that a work item was given last, as it was given."""
        state = self._state("work_item", item)
        return text_of(state.winner.body, "plan") if state is not None else None

    def snapshot_of(self, kind: str, name: str) -> Snapshot | None:
        """Return the snapshot that counts of a task, a wait or a work item."""
        state = self._state(kind, name)
        return None if state is None else state.winner

    def had_objective(self, item: str, objective: str) -> bool:
        """Say whether a work item ever had an objective; reads its history."""
        snapshots = self._source.fold.snapshots("work_item", item)
        return any(self._source.whole(one).body.get("objective") == objective for one in snapshots)

    def turns(self, item: str) -> tuple[str, ...]:
        """Return the ids of the turns that belong to a work item, the first one first."""
        return tuple(place.turn for place in self._source.turns.of(item))

    def turn_places(self, item: str, most: int) -> Mapping[str, str]:
        """Return the last turns of a work item, the first one first, with the segments that hold them."""
        return {place.turn: place.path for place in self._source.turns.of(item)[-most:]}

    def _state(self, kind: str, name: str) -> State | None:
        heads = self._source.fold.heads(kind, name) if self._source.fold.status(kind, name) else ()
        if not heads:
            return None
        state = reduce_heads(heads)
        return State(self._source.whole(state.winner), state.diverged, state.revision)

    def _standing(self) -> Iterator[Wait]:
        for name in self._source.fold.open("wait"):
            state = self._state("wait", name)
            if state is not None:
                yield wait_of(state.winner)

    def _item(self, name: str) -> WorkItem | None:
        state = self._state("work_item", name)
        if state is None:
            return None
        is_current = name in self._source.fold.focus().current()
        due = state.status == "open" and is_due(
            text_of(state.winner.body, "recheck_at"), self._source.turns.last_at(name), self._now
        )
        return item_from(state, self._load(state, is_current=is_current), is_due=due)

    def _wait(self, name: str) -> Wait | None:
        state = self._state("wait", name)
        return wait_of(state.winner) if state is not None else None

    def _task(self, name: str) -> TaskState | None:
        state = self._state("task", name)
        return task_from(state) if state is not None else None

    def _load(self, state: State, *, is_current: bool) -> Workload:
        last = state.winner
        waits = self.waits_of(last.object)
        return Workload(
            id=last.object,
            status=state.status,
            plan_status=text_of(last.body, "plan_status") or "draft",
            blocked_by=text_of(last.body, "blocked_by"),
            waits=tuple(wait.kind for wait in waits if wait.status == "active"),
            triggered_at=max((w.triggered_at for w in waits if w.status == "triggered"), default=""),
            is_yielded=last.object in self.yielded(),
            is_current=is_current,
            has_report=text_of(last.body, "report") is not None,
            created_at=text_of(last.body, "created_at") or last.ts,
            updated_at=last.ts,
        )


class WorkReader:
    """Reads the state of work; what was read once is not read again.

    Args:
        repository: resolves moments of the past.
        layout: where the places of records are kept.
        ledger: where the records are.
        now: the wall clock, seconds since 1970.
    """

    def __init__(
        self, repository: Repository, layout: Layout, ledger: Ledger, now: Callable[[], float]
    ) -> None:
        self._repository = repository
        self._ledger = ledger
        self._now = now
        self._lifecycle = Lifecycle(layout, ledger)
        self._facts = SegmentFacts(layout, ledger, "work-turns", ROWS_VERSION, turn_rows)
        self._turns = WorkTurns(self._facts.value)
        self._refs = RefReader(lambda place: self._read_refs(place, self._ledger.segments()))
        self._past: tuple[object, _Source] | None = None
        self._lock = threading.RLock()

    def state(self, as_of: str | None = None, now: str | None = None) -> WorkState:
        """Return work as it stands, or as it stood.

        Args:
            as_of: a turn's commit, a commit of the operator's branch, or a time in words; None is now.
            now: what counts as this moment, RFC 3339.

        Raises:
            NotFound: there is no such commit here.
            UsageError: `as_of` is neither a commit nor a time.
        """
        moment = now or format_time(self._now())
        with self._lock:
            return WorkState(self._present() if as_of is None else self._at(as_of), moment)

    def source(self) -> Lifecycle:
        """Return what a turn would ask, as it is now."""
        self._lifecycle.catch_up()
        return self._lifecycle

    def _present(self) -> _Source:
        fold = self._lifecycle.fold()
        for path, rows in self._facts.catch_up():
            self._turns.take(path, rows or ())
        return _Source(fold, self._lifecycle.whole, self._turns, self._refs)

    def _at(self, as_of: str) -> _Source:
        lines, own = self._ledger.tips().values(), self._ledger.lines.own_tip()
        tips = tips_at(self._repository, as_of, self._now(), lines, own)
        key = (tips, self._ledger.receipts().records)
        if self._past is None or self._past[0] != key:
            self._past = (key, self._read_past(self._ledger.segments_of(tips)))
        return self._past[1]

    def _read_past(self, segments: Mapping[str, Segment]) -> _Source:
        """Fold the segments of a moment; of those that are the same today nothing is read."""
        self._present()
        present = self._ledger.segments()
        known, known_turns = self._lifecycle.rows(), self._facts.known()
        past: dict[str, list[list[Any]] | None] = {}
        fold, turns = ObjectFold(), WorkTurns(lambda path: past[path] if path in past else known_turns[path])
        places: dict[str, Segment] = {}
        for path, segment in segments.items():
            is_same = path in known and path in known_turns and present.get(path) == segment
            content = b"" if is_same else self._ledger.read_segment(segment)
            for row in (known[path] if is_same else snapshot_rows(content)) or ():
                snapshot = from_row(row)
                fold.take(snapshot)
                places[snapshot.id] = segment
            if not is_same:
                past[path] = turn_rows(content)
            turns.take(path, (known_turns[path] if is_same else past[path]) or ())

        def whole(snapshot: Snapshot) -> Snapshot:
            line = find_line(self._ledger, places[snapshot.id], snapshot.id)
            return snapshot if line is None else whole_snapshot(self._ledger, line)

        return _Source(fold, whole, turns, RefReader(lambda place: self._read_refs(place, segments)))

    def _read_refs(self, place: TurnPlace, segments: Mapping[str, Segment]) -> tuple[WorkRef, ...]:
        segment = segments.get(place.path)
        line = find_line(self._ledger, segment, place.turn) if segment is not None else None
        if line is None:
            return ()
        record = decode(line)
        body = self._ledger.full_body(record)
        return refs_from_json(body.get("work_refs"), clock=place.clock, ts=place.ts)


def workspace_of(state: State) -> str | None:
    """Return the workspace that a work item was created in."""
    return text_of(state.winner.body, "workspace_id") or state.winner.workspace


def is_in_scope(own: str | None, workspace: str | None) -> bool:
    """Say whether something of a workspace is seen from one: what belongs to none is seen from everywhere."""
    return workspace is None or own is None or own == workspace
