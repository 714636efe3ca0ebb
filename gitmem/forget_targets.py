"""What has to be forgotten for a ref: its records wherever they stand, and all versions of its files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from gitmem.closed_tree import episode_stub
from gitmem.curated import PROSE, STORES
from gitmem.entries import entry_digest, entry_id, parse_store
from gitmem.errors import GitmemError, Unavailable, UnknownSource, UsageError
from gitmem.file_versions import FileVersions, read_versions
from gitmem.forgetting_record import Forgetting, forgetting_of, ref_digest
from gitmem.front_matter import read_front_matter
from gitmem.git_objects import hash_object
from gitmem.layout import (
    CONFIG_FILE,
    CONFLICTS,
    EPISODES,
    MANAGED_FILES,
    MANAGED_FOLDERS,
    WORK,
    Layout,
    is_managed,
)
from gitmem.ledger import Ledger
from gitmem.memory_files import file_id
from gitmem.memory_get import Memory
from gitmem.records import LIFECYCLE_KINDS, Record, record_of, record_ref
from gitmem.refs import SourceRef, parse_ref
from gitmem.repository import Repository
from gitmem.source_errors import is_forgotten_ref, unknown_source
from gitmem.spool import Spool
from gitmem.tree_files import ManagedFile, list_files, read_managed

_ID: Final = re.compile(rb"[a-z]{1,16}_[0-9a-f]{15}|(?<=work_item:)[A-Za-z0-9_.-]+|(?<=task:)[A-Za-z0-9_.-]+")
#: What every empty file has, and every file may become.
_EMPTY: Final = hash_object("blob", b"")


@dataclass(slots=True)
class Found:
    """What is to be forgotten, and how people call it.

    Attributes:
        rows: `source_ref`, `kind` and `path` of each thing, in the order in which it was found.
        objects: ids of work items, tasks and waits all snapshots of which are among the records.
        turns: ids of the turns of the records.
    """

    what: Forgetting = field(default_factory=Forgetting)
    rows: dict[str, Mapping[str, str | None]] = field(default_factory=dict)
    objects: set[str] = field(default_factory=set)
    turns: set[str] = field(default_factory=set)

    def add(self, ref: str, kind: str, path: str | None = None, **parts: Any) -> None:
        """Add one thing with what has to go for it."""
        self.what |= Forgetting(**{**parts, "refs": frozenset({ref_digest(ref)})})
        self.rows.setdefault(ref, {"source_ref": ref, "kind": kind, "path": path})


@dataclass(frozen=True, slots=True)
class TargetParts:
    """Where things are looked for.

    Attributes:
        get: resolves a ref, or raises.
    """

    layout: Layout
    repository: Repository
    ledger: Ledger
    spool: Spool
    get: Callable[[str], Memory]


class ForgetTargets:
    """Finds what refs name, for one act of forgetting.

    Args:
        parts: of the home.
    """

    def __init__(self, parts: TargetParts) -> None:
        self.parts = parts
        self.found = Found()
        self._root = parts.layout.root

    def name(self, text: str) -> str:
        """Add what a ref names, with all that goes with it; return the ref.

        Raises:
            UnknownSource: it names nothing here, and never did.
            UsageError: it names what cannot be forgotten.
        """
        ref = parse_ref(text if ":" in text else self.parts.get(text).source_ref)
        finders: Mapping[str, Callable[[SourceRef], bool]] = {
            "turn": self._turn,
            "session": lambda one: self._session(one) or self._record(one),
            "entry": self._entry,
            "note": self._note,
            "agent_memory": lambda one: self._path(str(one), {**STORES, **PROSE}.get(one.id)),
            "file": lambda one: self._file(one) or self._record(one),
            "episode": lambda one: self.add_episode(one.id),
            **dict.fromkeys(LIFECYCLE_KINDS, self._object),
        }
        if not finders.get(ref.kind, self._record)(ref) and not self.is_known_forgotten(str(ref)):
            raise unknown_source(str(ref))
        return str(ref)

    def is_known_forgotten(self, ref: str) -> bool:
        """Say whether a record of the ledger says that what a ref named was forgotten."""
        return is_forgotten_ref(self.parts.ledger, ref)

    def add_cited(self) -> None:
        """Add the episodes that quote what was found: their accounts have its words."""
        found = self.found
        cited = {one.encode() for one in (*found.what.records, *found.objects)}
        if not cited:
            return
        for path, blob in self.versions_below(EPISODES):
            content = self.blob(blob)
            if not cited.isdisjoint(_ID.findall(content)):
                name = read_front_matter(content.decode("utf-8", "replace")).id
                if name is not None and content != episode_stub(name):
                    self.add_episode(name, path, blob)
        self._add_unwritten()

    def _add_unwritten(self) -> None:
        """Add episodes of touched turns that have no file: none can be made from what is left of them."""
        written = {path.rpartition("-")[2].partition(".")[0] for path, _ in self.versions_below(EPISODES)}
        for record in self.records(b'"kind":"episode"'):
            turns = record.body.get("turns")
            is_touched = isinstance(turns, list) and not self.found.turns.isdisjoint(map(str, turns))
            if record.kind == "episode" and is_touched and record.id.partition("_")[2][:4] not in written:
                self.add_record(record)

    # Records

    def records(self, needle: bytes) -> Iterator[Record]:
        """Yield the records of the ledger whose lines hold `needle`, and all that are spooled."""
        yield from self.parts.ledger.find_all(needle)
        for turn in self.parts.spool.told():
            yield from (record_of(event, turn.turn) for event in turn.events)

    def add_record(self, record: Record, ref: str | None = None) -> None:
        """Add one record."""
        if forgetting_of(record.kind, record.body) is None:  # what says so has no words, and has to stay
            named = ref or record_ref(record.kind, record.id)
            self.found.add(named, record.kind, records=frozenset({record.id}))
            self.found.turns.add(record.turn)

    def _record(self, ref: SourceRef) -> bool:
        needle = f',"id":"{ref.id}"'.encode()
        found = [one for one in self.records(needle) if one.id == ref.id and one.kind == ref.kind]
        if any(forgetting_of(one.kind, one.body) is not None for one in found):
            hint = "It holds ids and digests alone."
            raise UsageError(f"{ref} says what was forgotten, and stays", hint=hint, field="ref")
        for record in found[:1]:
            self.add_record(record)
        return bool(found)

    def _turn(self, ref: SourceRef) -> bool:
        records = self.parts.ledger.find_turn(ref.id)
        for record in records:
            self.add_record(record)
        if records:
            self.found.add(str(ref), "turn", records=frozenset({ref.id}))
            self.found.turns.add(ref.id)
        return bool(records)

    def _session(self, ref: SourceRef) -> bool:
        records = [one for one in self.records(f'"session":"{ref.id}"'.encode()) if one.session == ref.id]
        for record in records:
            self.add_record(record)
        for turn in self.parts.spool.told():
            if turn.header.get("session") == ref.id and turn.end is not None:
                self.found.add(f"turn:{turn.turn}", "turn", records=frozenset({turn.turn}))
        if records:
            self.found.add(str(ref), "session")
        return bool(records)

    def _object(self, ref: SourceRef) -> bool:
        """Add all snapshots of a work item, task or wait; of a work item also plan, report and episode."""
        records = [r for r in self.records(f'"{ref.id}"'.encode()) if r.kind == ref.kind]
        own = [r for r in records if r.object == ref.id]
        if not own:
            by_id = next((r.object for r in records if r.id == ref.id and r.object), None)
            return by_id is not None and self._object(SourceRef(ref.kind, by_id))
        for record in own:
            self.add_record(record, str(ref))
            self._add_plan(record.body)
            self._add_report(record.body)
        self.found.objects.add(ref.id)
        for record in self.records(f'"work_item":"{ref.id}"'.encode()):
            if record.kind == "episode" and record.work_item == ref.id:
                self.add_episode(record.id)
        return True

    def _add_plan(self, body: Mapping[str, Any]) -> None:
        plan = body.get("plan_path")
        folder = plan.split("/")[-2] if isinstance(plan, str) and plan.count("/") > 0 else None
        for path in {path for path, _ in self.versions_below(WORK)} if folder else ():
            if path.rpartition("/")[0].rpartition("/")[2] == folder:
                self._path(f"file:{file_id(path)}", path)

    def _add_report(self, body: Mapping[str, Any]) -> None:
        brief = body.get("result_brief")
        if isinstance(brief, str) and brief.startswith("brief:"):
            with suppress(GitmemError):
                self._record(parse_ref(brief))

    # Files

    @cached_property
    def versions(self) -> FileVersions:
        """The versions of all managed files, those on disk included."""
        found = read_versions(self.parts.repository, is_managed)
        folders = (list_files(self._root, folder, ("",)).files for folder in MANAGED_FOLDERS)
        for path in (*MANAGED_FILES, *(one.path for files in folders for one in files)):
            read = read_managed(self._root, path)
            if isinstance(read, ManagedFile):
                blob = hash_object("blob", read.content)
                found.blobs.setdefault(path, set()).add(blob)
                self._fresh[blob] = read.content
        return found

    @cached_property
    def _fresh(self) -> dict[str, bytes]:
        return {}

    def versions_below(self, folder: str) -> Iterator[tuple[str, str]]:
        """Yield path and blob id of every version of the files below a folder."""
        for path, blobs in sorted(self.versions.blobs.items()):
            if path.startswith(f"{folder}/"):
                yield from ((path, blob) for blob in sorted(blobs))

    def blob(self, blob: str) -> bytes:
        """Return a version's content; empty for one that is not here."""
        if blob in self._fresh:
            return self._fresh[blob]
        with suppress(GitmemError):
            kind, content = self.parts.repository.read(blob)
            return content if kind == "blob" else b""
        return b""

    def add_versions(self, ref: str, kind: str, path: str, blobs: Mapping[str, str]) -> None:
        """Add versions of a file; an empty one has no words, and every file may be like it."""
        kept = {blob: at for blob, at in blobs.items() if blob != _EMPTY}
        self.found.add(ref, kind, path, blobs=kept)

    def add_episode(self, name: str, path: str | None = None, blob: str | None = None) -> bool:
        """Add an episode whole: its record, and what its file was."""
        ref = f"episode:{name}"
        blobs = {blob: path} if blob is not None and path is not None else self._episode_blobs(name)
        record = next((one for one in self.records(f',"id":"{name}"'.encode()) if one.id == name), None)
        if record is None and not blobs:
            return False
        at = next((one for one in blobs.values() if one), None)
        self.found.add(ref, "episode", at, records=frozenset({name} if record else ()), blobs=blobs)
        return True

    def _episode_blobs(self, name: str) -> dict[str, str | None]:
        stub, needle = episode_stub(name), f"id: {name}\n".encode()
        contents = ((path, blob, self.blob(blob)) for path, blob in self.versions_below(EPISODES))
        return {blob: path for path, blob, content in contents if needle in content and content != stub}

    def _path(self, ref: str, path: str | None) -> bool:
        if path == CONFIG_FILE:
            raise UsageError(f"{CONFIG_FILE} cannot be forgotten: it is what the home is", field="ref")
        blobs = self.versions.of(path) if path is not None else {}
        if path is None or not blobs:
            return False
        for other in sorted({path, *blobs.values()}):
            for copy, blob in self.versions_below(f"{CONFLICTS}/{other}"):
                blobs = {**blobs, blob: copy}
        self.add_versions(ref, parse_ref(ref).kind, path, blobs)
        return True

    def _file(self, ref: SourceRef) -> bool:
        return self._path(str(ref), next((p for p in self.versions.blobs if file_id(p) == ref.id), None))

    def _note(self, ref: SourceRef) -> bool:
        try:
            path: object = self.parts.get(str(ref)).metadata.get("path")
        except Unavailable as error:
            path = error.details.get("path")
        except UnknownSource:
            path = None
        return self._path(str(ref), path if isinstance(path, str) else None)

    def _entry(self, ref: SourceRef) -> bool:
        texts = {text for text in self._entries() if entry_id(text) == ref.id}
        with suppress(GitmemError):
            texts.add(self.parts.get(str(ref)).content)
        texts = {text for text in texts if entry_id(text) == ref.id}
        for text in texts:
            self.add_entry(text)
        return bool(texts)

    def add_entry(self, text: str) -> None:
        """Add an entry by its text, and the records of judgements and refusals that keep that text."""
        self.found.add(f"entry:{entry_id(text)}", "entry", entries=frozenset({entry_digest(text)}))
        needle = json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "replace")
        for record in self.records(needle):
            if record.kind == "memory" and any(text == one.strip() for one in strings(record.body)):
                self.add_record(record)

    def _entries(self) -> Iterator[str]:
        for path in STORES.values():
            for blob in self.versions.blobs.get(path, ()):
                for entry in parse_store(self.blob(blob).decode("utf-8", "replace")):
                    yield entry.text

    def entries(self) -> Iterator[str]:
        """Yield the text of every entry that a store ever had."""
        yield from self._entries()


def strings(value: object) -> Iterator[str]:
    """Yield all texts in JSON data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
