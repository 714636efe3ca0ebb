"""What is searched: records and curated texts as documents, each with the address under which `get` finds it.

A long text becomes several documents with one address, so that a match at its end counts like one at its
start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitmem.analysis import Analysis, count_terms
from gitmem.authored_text import LINE_BREAK
from gitmem.records import LIFECYCLE_KINDS, Json, Record, record_ref

#: Raise this when the same source gives other documents than before: they are then made again.
DOCUMENTS_VERSION: Final = 1
#: A longer text is cut into pieces of about this many characters.
CHUNK_CHARS: Final = 3000
#: No more than this many characters of one source are indexed; `get` returns all of it.
INDEXED_CHARS: Final = 2_000_000

_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")


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


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a Markdown text.

    Attributes:
        heading: None for what stands before the first heading.
        line: number of its first line, from 1.
    """

    heading: str | None
    line: int
    text: str


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


def split_sections(text: str, first_line: int = 1) -> list[Section]:
    """Return the sections of a Markdown text, cut at its headings of level 1 and 2 outside code fences."""
    sections: list[Section] = []
    heading: str | None = None
    start = first_line
    lines: list[str] = []
    fence = ""
    for number, line in enumerate(LINE_BREAK.split(text), first_line):
        fence = _fence_after(fence, line)
        title = None if fence else _HEADING.fullmatch(line)
        if title and len(title[1]) <= 2:
            sections.append(Section(heading, start, "\n".join(lines)))
            heading, start, lines = title[2], number, [line]
        else:
            lines.append(line)
    sections.append(Section(heading, start, "\n".join(lines)))
    return [section for section in sections if section.text.strip()]


def _fence_after(fence: str, line: str) -> str:
    """Return the code fence that is open behind a line, or nothing."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    return "" if mark[1].startswith(fence) and not line[mark.end() :].strip() else fence


def record_documents(record: Record, origin: str) -> list[Document]:
    """Return the documents of one ledger record; kinds that are only read by `get` have none.

    Args:
        record: with its whole body, long texts included.
        origin: the segment it stands in.
    """
    maker = _MAKERS.get(record.kind)
    if record.redacted or maker is None:
        return []
    title, text, metadata = maker(record.body)
    if not text.strip():
        return []
    document = Document(
        source_ref=record_ref(record.kind, record.id, record.object),
        kind=record.kind,
        title=title,
        text=text,
        ts=record.ts,
        origin=origin,
        keywords=str(metadata.get("author") or metadata.get("tool") or ""),
        session=record.session,
        turn=record.turn,
        work_item=record.work_item,
        workspace=record.workspace,
        record=record.id,
        metadata={name: value for name, value in metadata.items() if value is not None},
    )
    return chunks_of(_as_snapshot(document, record))


def _as_snapshot(document: Document, record: Record) -> Document:
    state = {"clock": record.clock, "writer": record.writer, "seq": record.seq}
    if record.kind == "session":
        name = record.session or record.id
        return replace(document, source_ref=f"session:{name}", group=f"session:{name}", state=state)
    if record.kind not in LIFECYCLE_KINDS or record.object is None:
        return document
    state = {**state, "status": record.status, "after": list(record.after), "revision": record.revision}
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


_MAKERS: Final[Mapping[str, Callable[[Json], _Made]]] = {
    "message": _message,
    "brief": _brief,
    "tool_execution": _tool,
    "task": _task,
    "wait": _wait,
    "work_item": _work_item,
    "decision": _decision,
    "session": _session,
}


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


def note_documents(
    *, path: str, note_id: str, title: str, tags: Sequence[str], body: str, line: int, ts: str
) -> list[Document]:
    """Return the documents of a note, one for each section.

    Args:
        path: in the home; its words are searched too.
        note_id: the id under which `get` finds it.
        title: of the whole note.
        tags: are searched with each section.
        body: the text without front matter.
        line: number of the body's first line in the file.
        ts: when the file was last written.
    """
    whole = Document(
        source_ref=f"note:{note_id}",
        kind="note",
        title=title,
        text=body,
        ts=ts,
        origin=path,
        keywords="\n".join([title, " ".join(tags), path]),
        path=path,
        metadata={"tags": list(tags)} if tags else {},
    )
    # A note of front matter only is still found by its title.
    return _section_documents(whole, line) or [replace(whole, text="", line=1)]


def prose_documents(
    *, path: str, source_ref: str, title: str, text: str, line: int, ts: str
) -> list[Document]:
    """Return the documents of prose memory or of an episode, one for each section."""
    kind = source_ref.partition(":")[0]
    whole = Document(source_ref, kind, title, text, ts, origin=path, path=path, keywords=title)
    return _section_documents(whole, line)


def _section_documents(whole: Document, line: int) -> list[Document]:
    found: list[Document] = []
    for section in split_sections(whole.text, line):
        title = whole.title
        if section.heading and section.heading != title:
            title = f"{title} › {section.heading}"
        found += chunks_of(replace(whole, title=title, text=section.text, line=section.line))
    return found


def entry_document(*, path: str, entry_id: str, title: str, text: str, line: int, ts: str) -> list[Document]:
    """Return the documents of one entry of a store; mostly a single one."""
    ref = f"entry:{entry_id}"
    return chunks_of(Document(ref, "entry", title, text, ts, origin=path, path=path, line=line))
