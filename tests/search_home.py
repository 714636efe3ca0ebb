"""A home to search in: real files, a ledger of real lines that tests bend, an index in memory or on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from fixtures import write_files
from gitmem.backends.whoosh_index import WhooshIndex
from gitmem.changes import Hints
from gitmem.commit_times import CommitTimes
from gitmem.documents import Document
from gitmem.forgotten import Receipts, close_segment
from gitmem.git_objects import make_commit, make_object, make_tree
from gitmem.index_backlog import Made, documents_of
from gitmem.index_trouble import IndexTrouble
from gitmem.index_view import IndexView, IndexViewer
from gitmem.indexer import ALL, Budget, CatchUp, Indexer
from gitmem.layout import Layout
from gitmem.ledger import Ledger, Segment, spooled_records
from gitmem.ledger_format import NO_PREV, Line, decode, decode_lines, parse_segment_path, split_segment
from gitmem.long_text import join_long, split_long
from gitmem.memory_get import MemoryReader
from gitmem.note_ids import NoteIds
from gitmem.notes import Notes
from gitmem.records import ID_PREFIXES, Record
from gitmem.repository import FILE_MODE, TREE_MODE, TreeEntry
from gitmem.search import Search, SearchReply
from gitmem.search_index import IndexSnapshot, SearchIndex
from gitmem.spool import SpooledTurn
from gitmem.testing import MemoryRepository
from gitmem.testing.memory_index import MemoryIndex
from ledgers import sealed

WRITER = "w0123abcd"
OTHER = "w89ef4567"


class SteadyLines:
    """Stands in for `Lines`: nobody moves the own line."""

    def astray(self) -> None:
        """Return that all is in place."""


class BentLedger:
    """Stands in for `Ledger`: segments as lists of lines, which tests may append to, cut and rewrite."""

    def __init__(self) -> None:
        self.contents: dict[str, list[Line | bytes]] = {}
        self.blobs: dict[str, bytes] = {}
        self.spool: list[SpooledTurn] = []
        self.forgotten: frozenset[str] = frozenset()
        self.missing: dict[str, str] = {}
        self.lines = SteadyLines()
        self.reads = 0

    def append(
        self, event: Mapping[str, Any], *, writer: str = WRITER, number: int = 1, **place: Any
    ) -> Record:
        """Seal an event as the next line of a writer and return it as a record."""
        path = f"ledger/2026-11/30/{writer}-{number:04d}.jsonl"
        lines = [line for key in self.contents if writer in key for line in self.contents[key]]
        chain = [line for line in lines if isinstance(line, Line)]
        seq = place.pop("seq", max((line.seq for line in chain), default=0) + 1)
        prev = chain[-1].envelope_hash if chain else NO_PREV
        mark = int(sha256(writer.encode()).hexdigest()[:6], 16)
        record_id = place.pop("record_id", f"{_prefix(event['kind'])}_{mark:06x}{seq:09x}")
        line = sealed(event, seq=seq, writer=writer, prev=prev, record_id=record_id, **place)
        body, blob = split_long(decode(line).body)
        if blob is not None:
            self.blobs[record_id] = blob
            kept = {
                k: v for k, v in event.items() if k in ("kind", "ts", "session", "work_item", "workspace")
            }
            line = sealed({**body, **kept}, seq=seq, writer=writer, prev=prev, record_id=record_id, **place)
        self.contents.setdefault(path, []).append(line)
        return decode(line)

    # What `Ledger` has

    def still(self) -> AbstractContextManager[None]:
        """Nothing moves here by itself."""
        return nullcontext()

    def segments(self) -> Mapping[str, Segment]:
        """Return all segments by path."""
        found = {}
        for path in self.contents:
            name = parse_segment_path(path)
            assert name is not None
            blob = sha256(self._content(path)).hexdigest()[:40]
            found[path] = Segment(path, name.writer, name.number, (blob,))
        return found

    def _content(self, path: str) -> bytes:
        return b"".join(item.raw if isinstance(item, Line) else item for item in self.contents[path])

    def read_segment(self, segment: Segment) -> bytes:
        """Return a segment, closed under the receipts."""
        self.reads += 1
        return close_segment(self._content(segment.path), self.receipts())

    def damaged(self) -> Mapping[str, str]:
        """Return versions of segments that could not be read, and why."""
        return self.missing

    def receipts(self) -> Receipts:
        """Return what was forgotten."""
        return Receipts(records=self.forgotten)

    def full_body(self, record: Record) -> Mapping[str, Any]:
        """Return a body with its long texts."""
        return join_long(record.body, self.blobs.get(record.id))

    def spooled(self) -> Sequence[SpooledTurn]:
        """Return turns that are on no line."""
        return self.spool

    def _records(self) -> Iterator[Record]:
        for turn in self.spool:
            yield from spooled_records(turn)
        for segment in sorted(self.segments().values(), key=lambda s: -s.number):
            lines = reversed(split_segment(self.read_segment(segment)))
            yield from decode_lines(line for line in lines if isinstance(line, Line))

    def find(self, record_id: str) -> Record | None:
        """Return a record."""
        return next((record for record in self._records() if record.id == record_id), None)

    def find_turn(self, turn_id: str) -> list[Record]:
        """Return the records of a turn."""
        return sorted((r for r in self._records() if r.turn == turn_id), key=lambda r: r.clock)

    def find_all(self, needle: bytes) -> Iterator[Record]:
        """Yield the records whose lines hold some bytes."""
        for segment in self.segments().values():
            lines = split_segment(self.read_segment(segment))
            yield from decode_lines(line for line in lines if isinstance(line, Line) and needle in line.raw)

    def record_ids(self) -> frozenset[str]:
        """Return all ids."""
        return frozenset(record.id for record in self._records())


def _prefix(kind: str) -> str:
    return ID_PREFIXES[kind]


class SearchHome:
    """A home with an index.

    Attributes:
        failing: ids of records whose documents cannot be made.
    """

    def __init__(self, root: Path, index: SearchIndex) -> None:
        root.mkdir(parents=True, exist_ok=True)
        git = root.parent / f"{root.name}.git"
        git.mkdir(exist_ok=True)
        self.root = root
        self.layout = Layout(root, git, git)
        self.index = index
        self.repository = MemoryRepository()
        self.bent = BentLedger()
        self.ledger = cast("Ledger", self.bent)
        self.failing: set[str] = set()
        notes = Notes(self.repository, self.layout)
        self.note_ids = NoteIds(self.repository, self.layout)
        self.times = CommitTimes(self.repository, self.layout)
        self.reader = MemoryReader(self.ledger, self.layout, notes, "home1", times=self.times.now)
        self.trouble = IndexTrouble()
        self.viewer = IndexViewer(
            self.repository,
            self.ledger,
            self.layout,
            index,
            note_ids=self.note_ids,
            times=self.times,
            trouble=self.trouble,
        )
        self.searcher = Search(self.viewer, reader=self.reader)
        self.indexer = self.new_indexer()

    @classmethod
    def in_memory(cls, folder: Path) -> SearchHome:
        """Return a home whose index is in memory."""
        return cls(folder / "home", MemoryIndex())

    @classmethod
    def on_disk(cls, folder: Path) -> SearchHome:
        """Return a home whose index is on disk."""
        return cls(folder / "home", WhooshIndex(folder / "home.git" / "gitmem" / "index"))

    def new_indexer(self) -> Indexer:
        """Return an indexer that remembers nothing, as in another process."""
        return Indexer(
            self.repository,
            self.ledger,
            self.layout,
            self.note_ids,
            self.index,
            times=CommitTimes(self.repository, self.layout),
            trouble=self.trouble,
            make=self._documents_of,
        )

    def _documents_of(self, ledger: Ledger, record: Record, origin: str) -> Made:
        if record.id in self.failing:
            raise ValueError("told to fail")
        return documents_of(ledger, record, origin)

    def say(self, text: str, *, role: str = "user", **fields: Any) -> Record:
        """Add a message to the ledger."""
        place = {
            name: fields.pop(name)
            for name in ("writer", "number", "record_id", "seq", "turn")
            if name in fields
        }
        return self.bent.append({"kind": "message", "role": role, "text": text, **fields}, **place)

    def write(self, files: Mapping[str, str | bytes], *, mtime: float | None = None) -> None:
        """Write files as an editor does."""
        write_files(self.root, files)
        if mtime is not None:
            for name in files:
                os.utime(self.root / name, (mtime, mtime))

    def commit(self, *, when: int) -> None:
        """Commit all files, at a time in seconds since 1970."""
        who = "Olivia Operator <olivia@example.com>"
        parent = self.repository.head().commit
        commit = make_commit(
            tree=self._put_tree(self.root),
            parents=[parent] if parent else [],
            author=who,
            committer=who,
            seconds=when,
            message="work\n",
        )
        self.repository.objects[commit.id] = (commit.kind, commit.content)
        self._move_head(commit.id)

    def reset(self, back: int) -> None:
        """Set the branch back by some commits, and leave the files."""
        head = self.repository.head().commit
        line = list(self.repository.walk_first_parents(head)) if head else []
        if len(line) > back:
            self._move_head(line[back].id)

    def _put_tree(self, folder: Path) -> str:
        entries = []
        for path in folder.iterdir():
            if path.is_dir():
                entries.append(TreeEntry(path.name, TREE_MODE, self._put_tree(path)))
            else:
                blob = make_object("blob", path.read_bytes())
                self.repository.objects[blob.id] = (blob.kind, blob.content)
                entries.append(TreeEntry(path.name, FILE_MODE, blob.id))
        tree = make_tree(entries)
        self.repository.objects[tree.id] = (tree.kind, tree.content)
        return tree.id

    def _move_head(self, commit_id: str) -> None:
        assert self.repository.symbolic_head is not None
        self.repository.refs[self.repository.symbolic_head] = commit_id

    def catch_up(self, hints: Hints | None = None, budget: Budget = ALL) -> CatchUp:
        """Bring the index up to date."""
        return self.indexer.catch_up(hints, budget)

    def view(self) -> IndexView:
        """Return what a search sees."""
        return self.viewer.view()

    def search(self, query: object, **options: Any) -> SearchReply:
        """Search."""
        return self.searcher.search(query, **options)

    def refs(self, query: object, **options: Any) -> list[str]:
        """Return the refs of the hits."""
        return [hit.source_ref for hit in self.search(query, **options).results]

    def texts(self, query: object, **options: Any) -> list[str]:
        """Return the snippets of the hits."""
        return [hit.snippet for hit in self.search(query, **options).results]

    def snapshot(self) -> IndexSnapshot:
        """Return the index as it stands."""
        found = self.index.snapshot()
        assert found is not None
        return found

    def documents(self) -> list[Document]:
        """Return all documents of the index, in a fixed order."""
        found = [
            part.document(number)
            for part in self.snapshot().parts
            for number in range(part.size)
            if number not in part.removed
        ]
        return sorted(found, key=lambda d: (d.origin, d.source_ref, d.record or "", d.line or 0, d.text))

    def redact(self, record: Record) -> None:
        """Forget a record."""
        self.bent.forgotten |= {record.id}
