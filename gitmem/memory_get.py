"""Reads what a source ref names from where it is kept; works without any index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.agent_sight import AgentSight, Reader, check_reader
from gitmem.authored_times import UNKNOWN, AuthoredTimes
from gitmem.documents import command_text
from gitmem.errors import GitmemError, Unavailable, UsageError
from gitmem.gone_entries import GoneEntries
from gitmem.graphemes import cut_at
from gitmem.judgement_rules import Judgement
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.lifecycle_rules import Snapshot, find_heads, reduce_heads
from gitmem.memory_files import MemoryFiles
from gitmem.memory_text import (
    BATCH_INPUTS,
    BATCH_OUTPUTS,
    Whole,
    as_json,
    batch_item,
    bounded,
    object_text,
    output_text,
    shortened,
    spoken,
)
from gitmem.notes import Notes
from gitmem.quarantine import Quarantine, held_source
from gitmem.records import LIFECYCLE_KINDS, Record
from gitmem.refs import SourceRef, parse_ref
from gitmem.search_reply import read_whole_number
from gitmem.short_refs import ShortRefs
from gitmem.source_errors import damaged_record, forgotten_first, lost_text, redacted_source, unknown_source

DEFAULT_CHARS: Final = 12_000
MOST_CHARS: Final = 50_000


@dataclass(frozen=True, slots=True)
class Memory:
    """A piece of what was remembered.

    Attributes:
        content: at most as many code points as were asked for.
        offset: of the first of them in the whole text.
        total_chars: code points of the whole text.
        next_offset: where the rest begins; None where nothing is left.
    """

    source_ref: str
    kind: str
    title: str
    content: str
    offset: int
    total_chars: int
    truncated: bool
    next_offset: int | None
    updated_at: str
    metadata: Mapping[str, Any]


class MemoryReader:
    """Resolves source refs of one home.

    Args:
        ledger: its records.
        layout: its files.
        notes: finds notes by id.
        home_id: refs into other homes are not resolved here.
        judged: returns the retraction of what a ref names.
        sight: what an agent may see of it; without it, everything.
        quarantine: what came by sync and is kept from an agent; without it, nothing.
        gone: tells of entries that no store holds any more.
        times: returns what history tells of when files were changed.
    """

    def __init__(
        self,
        ledger: Ledger,
        layout: Layout,
        notes: Notes,
        home_id: str,
        judged: Callable[[str], Judgement | None] = lambda _: None,
        *,
        sight: AgentSight | None = None,
        quarantine: Quarantine | None = None,
        gone: GoneEntries | None = None,
        times: Callable[[], AuthoredTimes] = lambda: UNKNOWN,
    ) -> None:
        self._judged = judged
        self._sight = sight
        self._quarantine = quarantine
        self._ledger = ledger
        self._notes = notes
        self._files = MemoryFiles(layout, notes, ledger.receipts, gone, times)
        self._refs = ShortRefs(ledger, self._files, notes, judged)
        self._home_id = home_id

    def get(
        self,
        ref: str,
        *,
        offset: object = 0,
        max_chars: object = DEFAULT_CHARS,
        by: Reader = "operator",
    ) -> Memory:
        """Return what a ref names, or a part of it; all parts together are the text, character by character.

        Args:
            ref: a source ref, an id, or the unique beginning of one.
            offset: of the first code point.
            max_chars: code points at most, 1 to 50,000.
            by: who reads. From an agent, what the scanner refuses of memory and notes is withheld, in all
                parts alike; `blocked` in the metadata names the rules, for an operator too.

        Raises:
            InvalidRef: it is none.
            UnknownSource: it names nothing in this home.
            Unavailable: what it names was redacted or deleted, is lost, or cannot be read; from an agent,
                also what is in quarantine, which `quarantined` in the metadata tells an operator.
        """
        start = _number(offset, "offset", 0, None)
        size = _number(max_chars, "max_chars", 1, MOST_CHARS)
        reader = check_reader(by)
        parsed = self._refs.parse(ref)
        with forgotten_first(self._ledger, parsed):
            found = self._read(parsed, reader)
        held = () if self._quarantine is None else self._quarantine.whole(found)
        if held and reader == "agent":
            raise held_source(found.ref, held)
        whole, rules = self._seen(found, reader)
        content = whole.text[start : start + size]
        end = start + len(content)
        is_cut = end < len(whole.text)
        judgement = self._judged(whole.ref)
        marks: dict[str, Any] = {"blocked": list(rules)} if rules else {}
        marks |= {"quarantined": list(held)} if held else {}
        if judgement is not None:
            facts = judgement.as_metadata()
            marks["retracted"] = self._sight.retracted(facts) if self._sight and reader == "agent" else facts
        return Memory(
            source_ref=whole.ref,
            kind=whole.ref.partition(":")[0],
            title=shortened(whole.title),
            content=content,
            offset=start,
            total_chars=len(whole.text),
            truncated=is_cut,
            next_offset=end if is_cut else None,
            updated_at=whole.updated_at,
            metadata={**bounded(whole.metadata), **marks},
        )

    def is_in_record_only(self, entry: str) -> bool:
        """Say whether a retracted entry is in no store, and was not forgotten."""
        return self._files.is_in_record_only(parse_ref(entry))

    def _seen(self, whole: Whole, by: Reader) -> tuple[Whole, tuple[str, ...]]:
        """Return what was read as somebody may see it, and the rules for which an agent may not see all."""
        if self._sight is None:
            return whole, ()
        seen, rules = self._sight.whole(whole)
        return (seen if by == "agent" else whole), rules

    def _read(self, ref: SourceRef, by: Reader) -> Whole:
        if ref.home is not None and ref.home != self._home_id:
            raise unknown_source(str(ref))
        readers: Mapping[str, Callable[[SourceRef], Whole | None]] = {
            "note": self._files.note,
            "entry": self._files.entry,
            "agent_memory": self._files.agent_memory,
            "episode": lambda wanted: self._files.episode(wanted) or self._record(wanted),
            "file": lambda wanted: self._files.file(wanted) or self._record(wanted),
            "turn": lambda wanted: self._turn(wanted, by),
            "session": lambda wanted: self._session(wanted, by),
            "tool_execution": self._tool,
            **dict.fromkeys(LIFECYCLE_KINDS, self._object),
        }
        whole = readers.get(ref.kind, self._record)(ref)
        if whole is None:
            raise damaged_record(self._ledger, ref) or unknown_source(str(ref))
        return whole

    # Records

    def _find(self, kind: str, record_id: str) -> Record | None:
        record = self._ledger.find(record_id)
        if record is None or record.kind != kind:
            return None
        if record.redacted:
            raise redacted_source(record)
        return record

    def _body(self, record: Record) -> Mapping[str, Any]:
        """Return a record's body, with what the line has of long texts where they are gone."""
        try:
            return self._ledger.full_body(record)
        except GitmemError:
            return record.body

    def _full_body(self, record: Record) -> Mapping[str, Any]:
        try:
            return self._ledger.full_body(record)
        except GitmemError as error:
            raise lost_text(record, error) from error

    def _whole(self, ref: SourceRef, record: Record, title: str, text: str, **metadata: Any) -> Whole:
        links = {"session": record.session, "turn": record.turn, "work_item": record.work_item}
        links["workspace_id"] = record.workspace
        known = {name: value for name, value in {**links, **metadata}.items() if value is not None}
        return Whole(str(ref), title, text, record.ts, known, record)

    def _record(self, ref: SourceRef) -> Whole | None:
        """Return a message, brief, decision or the like: its text, else its body as JSON."""
        record = self._find(ref.kind, ref.id)
        if record is None:
            return None
        if record.body.get("brief_kind") == "ack":
            # Its ref stands in receipts; but what it says is no outcome, and nobody shall take it for one.
            raise Unavailable(f"{ref} is only an acknowledgement", source_ref=str(ref), reason="ack")
        body = dict(self._full_body(record))
        text = body.pop("text", None)
        if not isinstance(text, str):
            return self._whole(ref, record, ref.kind, as_json(record.body))
        because = body.get("because")
        if ref.kind == "decision" and isinstance(because, str):
            text = f"{text}\n\nBecause: {because}"
        names = ("role", "author", "origin", "authority", "brief_kind")
        made_from = ("tool_name", "tool_call_id", "source_refs")
        title = body.get("author") or body.get("role") or body.get("brief_kind") or ref.kind
        known = {name: body.get(name) for name in (*names, *made_from)}
        return self._whole(ref, record, str(title), text, **known)

    def _tool(self, ref: SourceRef) -> Whole | None:
        record = self._find("tool_execution", ref.id)
        if record is None:
            return None
        body = self._full_body(record)
        given, output = body.get("input"), body.get("output")
        if ref.item is not None:
            given, output = (
                batch_item(given, BATCH_INPUTS, ref.item),
                batch_item(output, BATCH_OUTPUTS, ref.item),
            )
            if given is None and output is None:
                return None
        text = command_text(given) if ref.selector == "cmd" else output_text(output, ref.selector or "output")
        metadata = {name: body.get(name) for name in ("tool", "status", "exit_code", "summary")}
        return self._whole(ref, record, str(body.get("tool")), text, **metadata)

    def _object(self, ref: SourceRef) -> Whole | None:
        """Return the latest snapshot of a task, a wait or a work item."""
        needle = f'"object":"{ref.id}"'.encode()
        records = [r for r in self._ledger.find_all(needle) if (r.kind, r.object) == (ref.kind, ref.id)]
        if not records:
            return self._snapshot_by_id(ref) or self._spooled_object(ref)
        state = reduce_heads(find_heads(Snapshot.of(record) for record in records))
        record = next(r for r in records if r.id == state.winner.id)
        if record.redacted:
            raise redacted_source(record)
        diverged = [head.id for head in state.diverged] or None
        return self._object_text(ref, record, revision=state.revision, diverged=diverged)

    def _object_text(self, ref: SourceRef, record: Record, **metadata: Any) -> Whole:
        body = self._full_body(record)
        title = str(body.get("objective") or body.get("summary") or body.get("waiting_for") or ref.kind)
        text = object_text({"status": record.status, **body})
        return self._whole(ref, record, title, text, status=record.status, **metadata)

    def _snapshot_by_id(self, ref: SourceRef) -> Whole | None:
        record = self._find(ref.kind, ref.id)
        return self._object_text(ref, record) if record is not None and record.object is not None else None

    def _spooled_object(self, ref: SourceRef) -> Whole | None:
        for turn in reversed(self._ledger.spooled()):
            for event in reversed(turn.events):
                if (event.kind, event.object) == (ref.kind, ref.id):
                    record = self._ledger.find(event.id)
                    return None if record is None else self._object_text(ref, record)
        return None

    def _shown(self, records: Sequence[Record], by: Reader) -> list[Record]:
        """Return the records without those that are kept from their reader."""
        if by == "operator" or self._quarantine is None:
            return [*records]
        return [record for record in records if not self._quarantine.record(record)]

    def _turn(self, ref: SourceRef, by: Reader) -> Whole | None:
        found = self._ledger.find_turn(ref.id)
        if not found:
            return None
        last = found[-1]
        if all(record.redacted for record in found):
            raise redacted_source(last)
        records = self._shown(found, by)
        text = "\n\n".join(filter(None, (spoken(r, self._body(r)) for r in records)))
        index = last.body.get("turn_index") if last.kind == "turn" else None
        title = "turn" if index is None else f"turn {index}"
        refs = [r.source_ref for r in records if r.kind != "turn"]
        return self._whole(ref, last, title, text, turn_index=index, records=refs)

    def _session(self, ref: SourceRef, by: Reader) -> Whole | None:
        """Return a session as the list of its turns, or one session event by its record id."""
        needle = f'"session":"{ref.id}"'.encode()
        records = [r for r in self._ledger.find_all(needle) if r.session == ref.id]
        records += [r for r in self._spooled_records() if r.session == ref.id]
        if not records:
            return self._record(ref)
        records = self._shown(records, by)
        if not records:
            raise held_source(str(ref), ("all of it",))
        records.sort(key=lambda r: (r.clock or "~", r.writer, r.seq))
        events = [r.body for r in records if r.kind == "session"]
        title = next((str(b["title"]) for b in reversed(events) if b.get("title")), ref.id)
        facts = {name: next((b[name] for b in reversed(events) if b.get(name)), None)
                 for name in ("source", "model", "parent")}  # fmt: skip
        known = {name: value for name, value in facts.items() if value is not None}
        turns = list(dict.fromkeys(r.turn for r in records))
        text = "\n".join([title, *(f"turn:{turn}  {_opening(records, turn)}".rstrip() for turn in turns)])
        return Whole(str(ref), title, text, records[-1].ts, {**known, "turns": len(turns)})

    def _spooled_records(self) -> Iterator[Record]:
        for turn in self._ledger.spooled():
            for event in turn.events:
                record = self._ledger.find(event.id)
                if record is not None and not record.writer:
                    yield record


def _number(value: object, name: str, least: int, most: int | None) -> int:
    bounds = f"{least} or more" if most is None else f"{least} to {most}"
    number = read_whole_number(value)
    if number is None:
        raise UsageError(f"{name} is a number, {bounds}, not {str(value)[:40]!r}", field=name)
    if number < least or (most is not None and number > most):
        raise UsageError(f"{name} is {bounds}, not {str(number)[:40]}", field=name)
    return number


def _opening(records: Sequence[Record], turn: str) -> str:
    """Return how a turn began, on one line."""
    text = next((r.body.get("text") for r in records if r.turn == turn and r.kind == "message"), None)
    line = " ".join(text.split()) if isinstance(text, str) else ""
    return line[: cut_at(line, 120)]
