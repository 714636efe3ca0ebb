"""Curated memory, notes, episodes and managed files as `get` shows them: whole, as they are on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from gitmem.authored_files import episode_id
from gitmem.authored_text import BOM, Problem, decode_text
from gitmem.authored_times import UNKNOWN, AuthoredTimes, blobs_of
from gitmem.closed_tree import episode_stub
from gitmem.curated import NOTE_SUFFIXES, PROSE, STORES
from gitmem.documents import episode_time
from gitmem.entries import parse_store
from gitmem.errors import GitmemError, Unavailable
from gitmem.forgotten import Receipts
from gitmem.front_matter import read_front_matter
from gitmem.git_objects import hash_object
from gitmem.gone_entries import GoneEntries
from gitmem.layout import EPISODES, MANAGED_FILES, MANAGED_FOLDERS, Layout
from gitmem.memory_text import Whole
from gitmem.note_text import make_note
from gitmem.notes import Notes
from gitmem.refs import SourceRef
from gitmem.times import format_time
from gitmem.tree_files import ManagedFile, Skipped, list_files, read_managed


class MemoryFiles:
    """Reads what people and the agent wrote.

    Args:
        layout: where the files are.
        notes: finds notes by id.
        receipts: returns what was forgotten; it is not shown.
        gone: tells of entries that no store holds any more.
        times: returns what history tells of when files were changed.
    """

    def __init__(
        self,
        layout: Layout,
        notes: Notes,
        receipts: Callable[[], Receipts],
        gone: GoneEntries | None = None,
        times: Callable[[], AuthoredTimes] = lambda: UNKNOWN,
    ) -> None:
        self._times = times
        self._gone = gone
        self._root = layout.root
        self._notes = notes
        self._receipts = receipts

    def note(self, ref: SourceRef) -> Whole:
        """Return a note.

        Raises:
            UnknownSource: there is none.
            Unavailable: it was removed.
        """
        note = self._notes.find(f"note:{ref.id}")
        metadata = {"path": note.path, "tags": list(note.tags), "summary": note.summary}
        return Whole(
            str(ref), note.title, note.text.removeprefix(BOM), self._time_of(note.path), _known(metadata)
        )

    def entries(self) -> Iterator[tuple[str, str, str, int]]:
        """Yield id, text, path and line of every entry that was not forgotten."""
        receipts = self._receipts()
        for path in STORES.values():
            text = self._text_of(path)
            for entry in parse_store(text or ""):
                if not receipts.is_forgotten_entry(entry.text):
                    yield entry.id, entry.text, path, entry.line

    def entry(self, ref: SourceRef) -> Whole | None:
        """Return an entry of a store, or one that was retracted.

        Raises:
            Unavailable: it was in a store, and was removed or replaced.
        """
        return self._stored(ref) or (self._gone.entry(ref) if self._gone is not None else None)

    def is_in_record_only(self, ref: SourceRef) -> bool:
        """Say whether a retracted entry is in no store, and was not forgotten."""
        try:
            if self._gone is None or self._stored(ref) is not None:
                return False
            return not self._receipts().entries or self._gone.entry(ref) is not None
        except GitmemError:  # a store that cannot be read may hold it
            return False

    def _stored(self, ref: SourceRef) -> Whole | None:
        for entry_id, text, path, line in self.entries():
            if entry_id == ref.id:
                at = self._time_of(path, entry_id)
                return Whole(str(ref), path, text, at, {"path": path, "line": line})
        return None

    def agent_memory(self, ref: SourceRef) -> Whole | None:
        """Return a whole memory file: `self operator memory user`."""
        path = {**STORES, **PROSE}.get(ref.id)
        if path is None:
            return None
        text = self._text_of(path)
        if text is None:
            return None
        return Whole(str(ref), path, text.removeprefix(BOM), self._time_of(path), {"path": path})

    def episode(self, ref: SourceRef) -> Whole | None:
        """Return an episode."""
        mark = f"-{ref.id.rpartition('_')[2][:4]}"
        files = list_files(self._root, EPISODES, NOTE_SUFFIXES).files
        for found in sorted(files, key=lambda one: mark not in one.path):  # its name tells, mostly
            text = self._text_of(found.path)
            if text is None:
                continue
            front = read_front_matter(text)
            if episode_id(found.path, front) == ref.id:
                if is_stub(text, front.id):
                    raise Unavailable(f"{ref} was forgotten", source_ref=str(ref), reason="redacted")
                title = make_note(found.path, text, ref.id, front).title
                at = episode_time(front, self._time_of(found.path))
                return Whole(str(ref), title, text, at, {"path": found.path})
        return None

    def file(self, ref: SourceRef) -> Whole | None:
        """Return a managed file by the hash of its path."""
        for path in self._managed_paths():
            if file_id(path) == ref.id:
                text = self._text_of(path)
                return (
                    None if text is None else Whole(str(ref), path, text, self._time_of(path), {"path": path})
                )
        return None

    def _managed_paths(self) -> Iterator[str]:
        yield from MANAGED_FILES
        for folder in MANAGED_FOLDERS:
            yield from (found.path for found in list_files(self._root, folder, ("",)).files)

    def _text_of(self, path: str) -> str | None:
        """Return the text of a file of the home, None where there is none that may be shown."""
        file = read_managed(self._root, path)
        if file is None:
            return None
        if isinstance(file, Skipped):
            raise Unavailable(f"{path} is not read: {file.reason}", path=path, reason=file.reason)
        if self._receipts().is_forgotten_blob(hash_object("blob", file.content)):
            raise Unavailable(f"{path} was forgotten", path=path, reason="redacted")
        text = decode_text(file.content)
        if isinstance(text, Problem):
            raise Unavailable(f"{path} is not read: {text}", path=path, reason=str(text))
        return text

    def _time_of(self, path: str, entry: str | None = None) -> str:
        """Return when a file was last changed, or an entry brought into it; as a search dates its hits."""
        file = read_managed(self._root, path)
        if not isinstance(file, ManagedFile):  # gone since it was read
            return format_time(0)
        times, mtime_ns = self._times(), file.stat.st_mtime_ns
        if entry is not None:
            return times.of_entry(path, entry, mtime_ns)
        return times.of_file(path, blobs_of(file.content), mtime_ns)


def is_stub(text: str, name: str | None) -> bool:
    """Say whether an episode's file is what is left of a forgotten one."""
    return name is not None and text.encode("utf-8", "surrogatepass") == episode_stub(name)


def file_id(path: str) -> str:
    """Return the id under which `file:` refs name a path of the home."""
    return sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:15]


def _known(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if value is not None}
