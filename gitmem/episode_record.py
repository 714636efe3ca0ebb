"""What a finished episode says: drawn from the evidence of its turns, never from what somebody claims.

Decisions are `decision` records, the outcome is the briefs, verification is what tools returned (an exit
code, an error). What was asked and answered stands as short previews beside their source refs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.authored_text import one_line, shorten
from gitmem.json_view import JsonView
from gitmem.records import TERMINAL_STATUSES, Record
from gitmem.turn_evidence import TurnEvidence

#: Characters of an objective or delivery target, of an item, and of a title.
_LONG: Final = 500
_SHORT: Final = 240
MAX_TITLE: Final = 80
#: Items of each list at most; the first come, first kept, and one more says how many are left out.
MOST_ITEMS: Final = 24

#: Boundaries as people read them; a reader keeps others as they stand.
BOUNDARIES: Final[Mapping[str, str]] = {
    "work_item_completed": "its work item was completed",
    "work_item_dropped": "its work item was dropped",
    "work_item_switched": "other work began",
    "objective_changed": "its objective changed",
    "task_ended": "a task came to its end",
    "waiting": "something had to be waited for",
    "turn_cap": "it had as many turns as an episode holds",
    "session_ended": "the session ended",
    "compacted": "the conversation was compacted",
    "pause": "nothing was said for half an hour",
    "closed": "somebody asked for it",
}
#: Statuses of a todo after which it is no follow-up.
_DONE: Final = frozenset({"completed", "done", "cancelled"})


@dataclass(frozen=True, slots=True)
class EpisodeItem:
    """One line of an account.

    Attributes:
        text: on one line, bounded.
        ref: the evidence for it; empty where an old account names none.
        label: what it is, for lists of several sorts: `Asked`, `Result`, `Todo`, …
    """

    text: str
    ref: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class EpisodeTurn:
    """One turn of an episode.

    Attributes:
        id: of the turn.
        at: when it ended; empty where an old account does not say.
        workspace: where it ran; None where the caller named no place.
    """

    id: str
    at: str = ""
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class EpisodeRecord(JsonView):
    """A finished episode.

    Attributes:
        boundary: why it ended.
        created_at: when its first turn ended; `finalized_at`: when its last one did.
        turns: in order.
        work_item, objective, delivery_target: of what was done, as they were then.
        result_brief: ref of the brief that reported the result.
        done: what was asked, answered and reported.
        decisions, verification, files, links, follow_ups: each with its source.
        is_forgotten: only the id is left.
    """

    id: str
    writer: str
    session: str | None
    title: str
    boundary: str
    created_at: str
    finalized_at: str
    turns: tuple[EpisodeTurn, ...]
    work_item: str | None = None
    objective: str | None = None
    delivery_target: str | None = None
    result_brief: str | None = None
    done: tuple[EpisodeItem, ...] = ()
    decisions: tuple[EpisodeItem, ...] = ()
    verification: tuple[EpisodeItem, ...] = ()
    files: tuple[EpisodeItem, ...] = ()
    links: tuple[EpisodeItem, ...] = ()
    follow_ups: tuple[EpisodeItem, ...] = ()
    is_forgotten: bool = False

    @property
    def source_refs(self) -> tuple[str, ...]:
        """The refs of its turns."""
        return tuple(f"turn:{turn.id}" for turn in self.turns)

    @property
    def workspaces(self) -> Mapping[str | None, int]:
        """The places where it happened, with the number of turns in each."""
        return Counter(turn.workspace for turn in self.turns)


@dataclass(frozen=True, slots=True)
class EpisodeFrame:
    """What is decided of an episode before its texts are read.

    Attributes:
        turns: ids, in order.
        item: id of the record that holds its work item as it was.
    """

    id: str
    writer: str
    session: str | None
    boundary: str
    turns: tuple[str, ...]
    work_item: str | None = None
    item: str | None = None


def make_episode(
    frame: EpisodeFrame, turns: Sequence[TurnEvidence], item: Mapping[str, Any] | None = None
) -> EpisodeRecord:
    """Return the account of turns; the same turns always give the same.

    Args:
        frame: says which turns these are.
        turns: their evidence as the ledger's lines hold it, in order; at least one.
        item: body of the work item's snapshot.
    """
    records = [record for turn in turns for record in _own_records(turn, frame.work_item)]
    body = item or {}
    objective = _text(body.get("objective"), _LONG)
    return EpisodeRecord(
        id=frame.id,
        writer=frame.writer,
        session=frame.session,
        title=_title(objective, records, frame),
        boundary=frame.boundary,
        created_at=turns[0].turn.ts,
        finalized_at=turns[-1].turn.ts,
        turns=tuple(EpisodeTurn(one.id, one.turn.ts, _workspace(one)) for one in turns),
        work_item=frame.work_item,
        objective=objective,
        delivery_target=_text(body.get("delivery_target"), _LONG),
        result_brief=_result(records, frame.work_item),
        done=_bounded(_done(turns, frame.work_item)),
        decisions=_bounded(_decisions(records)),
        verification=_bounded(_verification(records)),
        files=_bounded(_files(turns, records)),
        links=_bounded(_links(turns)),
        follow_ups=_bounded([*_todos(frame.work_item, body), *_waits(records), *_tasks(records)]),
    )


def _own_records(turn: TurnEvidence, work_item: str | None) -> Iterator[Record]:
    """Yield what belongs to the episode: evidence of another work item in the same turn does not."""
    for record in turn.records:
        is_other = record.work_item not in (None, work_item) and work_item is not None
        if not record.redacted and not is_other:
            yield record


def _title(objective: str | None, records: Sequence[Record], frame: EpisodeFrame) -> str:
    asked = (_text(record.body.get("text"), MAX_TITLE) for record in records if _is_from(record, "user"))
    named = f"Session {frame.session}" if frame.session else "Turns without a session"
    return shorten(objective or next(filter(None, asked), None) or named, MAX_TITLE)


def _workspace(turn: TurnEvidence) -> str | None:
    found = (record.workspace for record in turn.records if record.workspace)
    return turn.turn.workspace or next(found, None)


def _result(records: Sequence[Record], work_item: str | None) -> str | None:
    results = [one for one in records if one.kind == "brief" and one.body.get("brief_kind") == "result"]
    own = [one for one in results if one.work_item == work_item] or results
    return own[-1].source_ref if own else None


def _done(turns: Sequence[TurnEvidence], work_item: str | None) -> Iterator[EpisodeItem]:
    for turn in turns:
        records = list(_own_records(turn, work_item))
        asked = [record for record in records if _is_from(record, "user")]
        answered = [record for record in records if _is_from(record, "assistant")]
        for label, said in (("Asked", asked[:1]), ("Answered", answered[-1:])):
            yield from _said(label, said)
        for record in records:
            kind = record.body.get("brief_kind")
            if record.kind == "brief" and kind in ("result", "failure"):
                yield from _said(str(kind).capitalize(), [record])
    yield from _ran([record for turn in turns for record in _own_records(turn, work_item)])


def _said(label: str, records: Sequence[Record]) -> Iterator[EpisodeItem]:
    for record in records:
        text = _text(record.body.get("text"), _SHORT)
        if text:
            yield EpisodeItem(text, record.source_ref, label)


def _ran(records: Sequence[Record]) -> Iterator[EpisodeItem]:
    tools = [record for record in records if record.kind == "tool_execution"]
    counts = Counter(_text(record.body.get("tool"), 40) or "tool" for record in tools)
    told = ", ".join(f"{name} {count}" for name, count in counts.most_common(8))
    if tools:
        yield EpisodeItem(told, tools[0].source_ref, "Ran")


def _decisions(records: Sequence[Record]) -> Iterator[EpisodeItem]:
    for record in records:
        text = _text(record.body.get("text"), _SHORT) if record.kind == "decision" else None
        because = _text(record.body.get("because"), _SHORT)
        if text:
            yield EpisodeItem(f"{text}, because {because}" if because else text, record.source_ref)


def _verification(records: Sequence[Record]) -> list[EpisodeItem]:
    """Return what tools returned, failures first: a claim in a message is none."""
    found = [(record, _outcome(record)) for record in records if record.kind == "tool_execution"]
    told = [(record, outcome) for record, outcome in found if outcome is not None]
    failed = [one for one in told if one[1] != "exit 0"]
    passed = [one for one in told if one[1] == "exit 0"]
    return [EpisodeItem(f"{how}: {_command(one)}", one.source_ref) for one, how in [*failed, *passed]]


def _outcome(record: Record) -> str | None:
    code, status = record.body.get("exit_code"), record.body.get("status")
    if isinstance(code, int) and not isinstance(code, bool):
        return f"exit {code}"
    return str(status) if status in ("error", "interrupted") else None


def _command(record: Record) -> str:
    tool = _text(record.body.get("tool"), 40) or "tool"
    told = _text(_input_text(record.body.get("input")), _SHORT)
    return f"{tool}: {told}" if told else tool


def _input_text(value: object) -> object:
    """Return what a tool was given: the command, where that is named, else all of it."""
    if not isinstance(value, Mapping):
        return value
    found = (value[name] for name in ("command", "cmd") if isinstance(value.get(name), str))
    return next(found, None) or json.dumps(value, ensure_ascii=False)


def _files(turns: Sequence[TurnEvidence], records: Sequence[Record]) -> Iterator[EpisodeItem]:
    seen: set[str] = set()
    named = [(one.body.get("path"), one.source_ref) for one in records if one.kind == "file"]
    for path, ref in [*named, *_work_refs(turns, "file")]:
        text = _text(path, _SHORT)
        if text and text not in seen:
            seen.add(text)
            yield EpisodeItem(text, ref)


def _links(turns: Sequence[TurnEvidence]) -> Iterator[EpisodeItem]:
    seen: set[str] = set()
    for named, ref in _work_refs(turns, "issue", "pr"):
        text = _text(named, _SHORT)
        if text and text not in seen:
            seen.add(text)
            yield EpisodeItem(text, ref)


def _work_refs(turns: Sequence[TurnEvidence], *kinds: str) -> Iterator[tuple[Any, str]]:
    for turn in turns:
        refs = turn.turn.body.get("work_refs")
        for one in refs if isinstance(refs, list) else ():
            if isinstance(one, Mapping) and one.get("kind") in kinds:
                yield one.get("ref"), _text(one.get("source_ref"), _SHORT) or f"turn:{turn.id}"


def _todos(work_item: str | None, body: Mapping[str, Any]) -> Iterator[EpisodeItem]:
    """Yield what is left to do, as the item was at the end: what was done meanwhile is in no list."""
    todos = body.get("todo")
    for todo in todos if isinstance(todos, list) else ():
        text = todo.get("text") if isinstance(todo, Mapping) else todo
        state = todo.get("state") if isinstance(todo, Mapping) else None
        told = _text(text, _SHORT)
        if told and state not in _DONE and work_item is not None:
            yield EpisodeItem(told, f"work_item:{work_item}", "Todo")


def _waits(records: Sequence[Record]) -> Iterator[EpisodeItem]:
    for record in _last_snapshots(records, "wait"):
        text = _text(record.body.get("waiting_for"), _SHORT) or _text(record.body.get("resource"), _SHORT)
        yield EpisodeItem(text or "something", record.source_ref, "Waiting")


def _tasks(records: Sequence[Record]) -> Iterator[EpisodeItem]:
    for record in _last_snapshots(records, "task"):
        text = _text(record.body.get("summary"), _SHORT)
        yield EpisodeItem(text or str(record.object), record.source_ref, "Running")


def _last_snapshots(records: Sequence[Record], kind: str) -> list[Record]:
    """Return the last snapshot of each object of a kind that is not finished."""
    last = {record.object: record for record in records if record.kind == kind}
    return [record for record in last.values() if record.status not in TERMINAL_STATUSES]


def _bounded(items: Iterable[EpisodeItem]) -> tuple[EpisodeItem, ...]:
    known = list(dict.fromkeys(items))
    if len(known) <= MOST_ITEMS:
        return tuple(known)
    last = known[-1]
    more = EpisodeItem(f"{len(known) - MOST_ITEMS + 1} more", last.ref, last.label)
    return (*known[: MOST_ITEMS - 1], more)


def _is_from(record: Record, role: str) -> bool:
    return record.kind == "message" and record.body.get("role") == role


def _text(value: object, limit: int) -> str | None:
    """Return a text on one line, bounded; None where there is none."""
    if not isinstance(value, str):
        return None
    # Only the first part of a long text can be shown: the rest need not be put on one line.
    return shorten(one_line(value[: 8 * limit]), limit).rstrip() or None
