"""What is searched: records and curated texts as documents, each with the address under which `get` finds it.

A long text becomes several documents with one address, so that a match at its end counts like one at its
start.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitmem.analysis import Analysis, count_terms
from gitmem.authored_text import line_at
from gitmem.entries import Entry
from gitmem.errors import InvalidRecord
from gitmem.front_matter import FrontMatter
from gitmem.judgement_rules import kept_statement
from gitmem.note_text import Note, Section, split_sections
from gitmem.question import author_of
from gitmem.records import LIFECYCLE_KINDS, Json, Record, record_ref
from gitmem.times import format_time, parse_timestamp

#: Raise this when the same source gives other documents than before: they are then made again.
DOCUMENTS_VERSION: Final = 4
#: Columns hold numbers of 63 bits; only a hostile clock is larger.
_LARGEST: Final = 2**63 - 1
#: A longer text is cut into pieces of about this many characters.
CHUNK_CHARS: Final = 3000
#: Fields of an episode's front matter that may say when it ended, the surest first.
_EPISODE_ENDS: Final = ("finalized_at", "ended")
#: No more than this many characters of one source are indexed, which takes a second; `get` returns all of it.
#: No authored file has more.
INDEXED_CHARS: Final = 8 * 1024 * 1024
#: What an index lacks of a longer text.
CUT: Final = f"only its first {INDEXED_CHARS:,} characters"


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the index; the text of a hit.

    Attributes:
        source_ref: what `get` resolves; several documents of one long source share it.
        kind: the kind of the ref, by which searches are narrowed.
        text: what is searched and shown.
        ts: when it happened or was last written, RFC 3339.
        origin: the segment or file it was read from, by which it is removed.
        keywords: searched but not shown as text.
        path, line: where it stands in a file of the home; `line` counts from 1.
        record: id of the ledger record, None for authored files.
        group: of what only the latest snapshot counts, `<kind>:<object>`.
        state: of a snapshot: what decides which one counts.
        author: who said it, where that is a person's name.
        clock, seq: of the record: its place in its conversation.
    """

    source_ref: str
    kind: str
    title: str
    text: str
    ts: str
    origin: str
    keywords: str = ""
    session: str | None = None
    turn: str | None = None
    work_item: str | None = None
    workspace: str | None = None
    path: str | None = None
    line: int | None = None
    record: str | None = None
    group: str | None = None
    state: Json | None = None
    metadata: Json = field(default_factory=dict)
    author: str | None = None
    clock: int = 0
    seq: int = 0


def analyze(document: Document) -> Analysis:
    """Return the terms under which a document is found."""
    return count_terms(f"{document.keywords}\n{document.text}" if document.keywords else document.text)


def to_row(document: Document) -> list[Any]:
    """Return a document as JSON data, for storing."""
    return [getattr(document, name) for name in Document.__slots__]


def from_row(row: Sequence[Any]) -> Document:
    """Return the document that `to_row` gave.

    Raises:
        TypeError: the row is none.
    """
    return Document(*row)


def chunks_of(document: Document) -> list[Document]:
    """Return the documents of a long text: pieces with the line on which each begins."""
    if len(document.text) <= CHUNK_CHARS + CHUNK_CHARS // 4:
        return [document]
    line = document.line
    pieces = []
    for piece in split_text(document.text[:INDEXED_CHARS]):
        pieces.append(replace(document, text=piece, line=line))
        line = None if line is None else line + piece.count("\n")
    return pieces


def split_text(text: str, size: int = CHUNK_CHARS) -> Iterator[str]:
    """Yield pieces of about `size` characters, cut where the text itself has its deepest break."""
    at = 0
    while len(text) - at > size + size // 4:
        window = text[at : at + size]
        cuts = (_cut_after(window, mark) for mark in ("\n\n", "\n", ". ", "。", " "))
        cut = next((place for place in cuts if place > size // 2), size)
        yield text[at : at + cut]
        at += cut
    yield text[at:]


def _cut_after(window: str, mark: str) -> int:
    found = window.rfind(mark)
    return 0 if found < 0 else found + len(mark)


def record_documents(record: Record, origin: str) -> list[Document]:
    """Return the documents of one ledger record; kinds that are only read by `get` have none.

    Args:
        record: with its whole body, long texts included.
        origin: the segment it stands in.
    """
    maker = _MAKERS.get(record.kind)
    if maker is None:
        return []
    title, text, metadata = maker({} if record.redacted else record.body)
    is_snapshot = record.kind in LIFECYCLE_KINDS and record.object is not None
    if not text.strip() and not is_snapshot:
        return []
    kept = kept_statement(record.body) if record.kind == "memory" and not record.redacted else None
    document = Document(
        source_ref=kept[0] if kept else record_ref(record.kind, record.id, record.object),
        kind="entry" if kept else record.kind,
        title=title,
        text=text,
        ts=record.ts,
        origin=origin,
        keywords="" if record.redacted else str(metadata.get("author") or metadata.get("tool") or ""),
        session=record.session,
        turn=record.turn,
        work_item=record.work_item,
        workspace=record.workspace,
        record=record.id,
        metadata={name: value for name, value in metadata.items() if value is not None},
        author=author_of(metadata.get("author"), text) if record.kind == "message" else None,
        # A record that is on no line yet is newer than all that are.
        clock=min(int(record.clock, 16), _LARGEST) if record.clock else _LARGEST,
        seq=record.seq,
    )
    return chunks_of(_as_snapshot(document, record))


def is_cut(record: Record, documents: Sequence[Document]) -> bool:
    """Say whether a record has more text than its documents."""
    if sum(len(document.text) for document in documents) < INDEXED_CHARS:
        return False
    return len(_MAKERS[record.kind](record.body)[1]) > INDEXED_CHARS


def _as_snapshot(document: Document, record: Record) -> Document:
    """Return a document that says which object it is a snapshot of, if it is one.

    A redacted snapshot has no words and is never found, but still tells that an older one no longer counts.
    """
    state: dict[str, Any] = {"clock": record.clock, "writer": record.writer, "seq": record.seq}
    if record.kind == "session":
        name = record.session or record.id
        return replace(document, source_ref=f"session:{name}", group=f"session:{name}", state=state)
    if record.kind not in LIFECYCLE_KINDS or record.object is None:
        return document
    state |= {"status": record.status or "", "after": list(record.after), "revision": record.revision or 0}
    state["redacted"] = record.redacted
    metadata = {**document.metadata, "status": record.status, "revision": record.revision}
    group = f"{record.kind}:{record.object}"
    return replace(document, group=group, state=state, metadata=metadata)


_Made = tuple[str, str, dict[str, Any]]


def _message(body: Json) -> _Made:
    role = _text(body.get("role"))
    author = _text(body.get("author")) or None
    metadata = {
        "role": role,
        "author": author,
        "origin": body.get("origin"),
        "authority": body.get("authority"),
    }
    return author or role, _text(body.get("text")), metadata


def _brief(body: Json) -> _Made:
    kind = _text(body.get("brief_kind"))
    # An acknowledgement is no outcome: it is neither found nor shown.
    return kind, "" if kind == "ack" else _text(body.get("text")), {"brief_kind": kind}


def _tool(body: Json) -> _Made:
    # The command only: output fills an index with what nobody asks for.
    tool = _text(body.get("tool"))
    return tool, command_text(body.get("input")) or tool, {"tool": tool, "status": body.get("status")}


def _task(body: Json) -> _Made:
    text = _lines(body.get("summary"), body.get("detail"))
    return _text(body.get("summary")) or "task", text, {}


def _wait(body: Json) -> _Made:
    text = _lines(body.get("waiting_for"), body.get("resource"))
    return _text(body.get("waiting_for")) or "wait", text, {"wait_kind": body.get("wait_kind")}


def _work_item(body: Json) -> _Made:
    fields = (
        body.get(name) for name in ("objective", "todo", "plan", "blocked_by", "delivery_target", "report")
    )
    return (
        _text(body.get("objective")) or "work item",
        _lines(*fields),
        {"plan_status": body.get("plan_status")},
    )


def _decision(body: Json) -> _Made:
    return "decision", _lines(body.get("text"), body.get("because")), {}


def _session(body: Json) -> _Made:
    title = _text(body.get("title"))
    return (
        title,
        title,
        {"event": body.get("event"), "source": body.get("source"), "model": body.get("model")},
    )


def _memory(body: Json) -> _Made:
    # A change of a store is found in the store; what was taken back, or had no room there, is nowhere else.
    kept = kept_statement(body)
    if kept is not None:
        return "memory entry", kept[1], {}
    is_refused = body.get("action") == "refused"
    return "not kept", _text(body.get("text")) if is_refused else "", {"target": body.get("target")}


_MAKERS: Final[Mapping[str, Callable[[Json], _Made]]] = {
    "message": _message,
    "brief": _brief,
    "tool_execution": _tool,
    "task": _task,
    "wait": _wait,
    "work_item": _work_item,
    "decision": _decision,
    "session": _session,
    "memory": _memory,
}
#: Kinds by which a search can be narrowed: of records that have documents, then of files.
SEARCHED_KINDS: Final = (*_MAKERS, "note", "entry", "agent_memory", "episode")


def command_text(value: object) -> str:
    """Return the input of a tool as text: the command itself first, then the rest as JSON."""
    if isinstance(value, Mapping):
        command = next((value[name] for name in ("command", "cmd") if isinstance(value.get(name), str)), None)
        rest = {name: item for name, item in value.items() if item != command}
        return _lines(command, _text(rest) if rest else None)
    return _text(value)


def _lines(*values: object) -> str:
    return "\n".join(text for text in map(_text, values) if text)


def _text(value: object) -> str:
    """Return any JSON value as text to search in; a list of texts becomes lines."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False)


def note_documents(note: Note, ts: str) -> list[Document]:
    """Return the documents of a note, one for each section.

    Args:
        note: as it is on disk; its path's words are searched too.
        ts: when the note was last changed.
    """
    whole = Document(
        source_ref=note.source_ref,
        kind="note",
        title=note.title,
        text="",
        ts=ts,
        origin=note.path,
        keywords="\n".join([note.title, " ".join(note.tags), note.path]),
        path=note.path,
        metadata={"tags": list(note.tags)} if note.tags else {},
    )
    # A note of front matter only is still found by its title.
    return _sections_of(whole, split_sections(note.text, note.front)) or [replace(whole, line=1)]


def prose_documents(path: str, source_ref: str, title: str, text: str, ts: str) -> list[Document]:
    """Return the documents of prose memory, one for each section."""
    kind = source_ref.partition(":")[0]
    whole = Document(source_ref, kind, title, "", ts, origin=path, path=path, keywords=title)
    return _sections_of(whole, split_sections(text))


def episode_documents(
    path: str, episode_id: str, text: str, front: FrontMatter, *, title: str, ts: str
) -> list[Document]:
    """Return the documents of an episode, one for each section of its account.

    Its front matter is for machines: what of it is searched by, the documents carry as fields. A title that
    is only the first words of a message is no better answer than the message, and not searched.
    """
    fields = {name: field.node.text for name, field in front.fields.items()}
    whole = Document(
        source_ref=f"episode:{episode_id}",
        kind="episode",
        title=title,
        text="",
        ts=episode_time(front, ts),
        origin=path,
        path=path,
        keywords=title if fields.get("objective") else "",
        session=fields.get("session"),
        work_item=fields.get("work_item"),
    )
    sections = split_sections(text, front)
    body = line_at(text, front.body_start)
    own = [section for section in sections if section.line >= body]
    return _sections_of(whole, own if whole.keywords or len(own) == 1 else own[1:])


def episode_time(front: FrontMatter, otherwise: str) -> str:
    """Return when an episode ended, if its front matter has a time that can be read."""
    for name in _EPISODE_ENDS:
        found = front.fields.get(name)
        if found is not None:
            with suppress(InvalidRecord):
                return format_time(parse_timestamp(found.node.text))
    return otherwise


def _sections_of(whole: Document, sections: Sequence[Section]) -> list[Document]:
    found: list[Document] = []
    for section in sections:
        title = whole.title
        if section.heading and section.heading != title:
            title = f"{title} › {section.heading}"
        found += chunks_of(replace(whole, title=title, text=section.text, line=section.line))
    return found


def entry_documents(path: str, title: str, entry: Entry, ts: str) -> list[Document]:
    """Return the documents of one entry of a store; mostly a single one."""
    ref = f"entry:{entry.id}"
    return chunks_of(Document(ref, "entry", title, entry.text, ts, origin=path, path=path, line=entry.line))
