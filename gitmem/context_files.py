"""The files that a context is made from, as they are or as they were, with what was read of them noted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

from gitmem.authored_text import Problem, decode_text
from gitmem.config import HomeConfig, parse_config
from gitmem.context_moment import Moment
from gitmem.context_record import LoadedFiles
from gitmem.curated import NOTE_SUFFIXES, own_id
from gitmem.errors import GitmemError
from gitmem.forgotten import Receipts
from gitmem.front_matter import read_front_matter
from gitmem.git_objects import hash_object
from gitmem.layout import CONFIG_FILE, EPISODES, NOTES
from gitmem.note_text import Note, make_note
from gitmem.repository import TREE_MODE, Repository, read_path, walk_tree
from gitmem.tree_files import Skipped, list_files, read_managed

_LONGEST_PLAN: Final = 4_000


@dataclass(slots=True)
class Noted:
    """What was read for one context, and what could not be; see `LoadedFiles`."""

    blobs: dict[str, str | None] = field(default_factory=dict)
    frozen: dict[str, str | None] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    notes: int | None = None
    retracted: tuple[str, ...] = ()
    missing: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def loaded(self) -> LoadedFiles:
        """Return what a record of the context names."""
        return LoadedFiles(self.blobs, self.frozen, self.unread, self.notes, self.retracted)


class MomentFiles:
    """The files of a home at a moment; notes what is read.

    Attributes:
        readable: notes with which `read_notes` found no fault, read or not.

    Args:
        root: the work tree.
        repository: where files of the past are.
        receipts: of what was forgotten.
        moment: whose files.
        noted: takes what is read.
    """

    def __init__(
        self,
        root: Path,
        repository: Repository,
        receipts: Callable[[], Receipts],
        moment: Moment,
        noted: Noted,
    ) -> None:
        self._root = root
        self._repository = repository
        self._receipts = receipts
        self._moment = moment
        self._noted = noted
        self.readable = 0

    def content(self, path: str) -> bytes | Skipped | None:
        """Return a file's bytes; why it cannot be read; None where there is none."""
        if not self._moment.is_past:
            found = read_managed(self._root, path)
            if isinstance(found, Skipped):
                self._noted.unread[path] = found.reason
            if found is None or isinstance(found, Skipped):
                self._noted.blobs[path] = None
                return found
            blob = hash_object("blob", found.content)
            if self._receipts().is_forgotten_blob(blob):  # somebody's git brought it back
                self._noted.blobs[path] = None
                return None
            self._noted.blobs[path] = blob
            return found.content
        loaded = self._moment.loaded
        if path in loaded.unread:
            self._noted.blobs[path], self._noted.unread[path] = None, loaded.unread[path]
            return Skipped(path, loaded.unread[path])
        wanted = loaded.blobs[path] if path in loaded.blobs else self._committed(path)
        self._noted.blobs[path] = wanted
        return None if wanted is None else self.blob(wanted, path)

    def _committed(self, path: str) -> str | None:
        entry = read_path(self._repository, self._moment.tree, path) if self._moment.tree else None
        return entry.id if entry is not None and entry.mode != TREE_MODE else None

    def blob(self, blob: str, path: str) -> bytes | None:
        """Return the bytes that a file had; what is not here or was forgotten is noted as missing."""
        if self._receipts().is_forgotten_blob(blob):
            self._noted.missing.append(f"{path} as it was was forgotten since")
            return None
        with suppress(GitmemError):
            return self._repository.read(blob)[1]
        now = read_managed(self._root, path)
        if now is not None and not isinstance(now, Skipped) and hash_object("blob", now.content) == blob:
            return now.content
        why = "is not here" if self._moment.missing else "was an edit that was never committed"
        self._noted.missing.append(f"{path} as it was {why} ({blob[:12]})")
        return None

    def text(self, path: str) -> str | Problem | None:
        """Return a file's text; what is wrong with it; None where there is none."""
        content = self.content(path)
        if isinstance(content, Skipped):
            return Problem(content.line, content.reason)
        return None if content is None else decode_text(content)

    def config(self, otherwise: HomeConfig) -> HomeConfig:
        """Return the home's limits and switches.

        Args:
            otherwise: those that the home was opened with, where its file cannot be read.
        """
        content = self.content(CONFIG_FILE)
        with suppress(GitmemError):
            if isinstance(content, bytes):
                return _parsed(content)
        return otherwise

    def plan(self, path: str | None, held: Callable[[str, bytes], object] = lambda *_: None) -> str | None:
        """Return the text of a plan without its front matter.

        Args:
            path: of it.
            held: tells of what is in quarantine, by path and content; it is not shown.
        """
        content = self.content(path) if path else None
        if path is None or not isinstance(content, bytes) or held(path, content):
            return None
        text = decode_text(content)
        if not isinstance(text, str):
            return None
        return text[read_front_matter(text).body_start :].lstrip("\r\n")[:_LONGEST_PLAN]

    def notes(self) -> Sequence[str]:
        """Return the paths of the notes: all of them, or, of a recorded context, those that it read."""
        if not self._moment.is_past:
            found = [one.path for one in list_files(self._root, NOTES, NOTE_SUFFIXES).files]
            self._noted.notes = len(found)
            return found
        known = [path for path in self._moment.loaded.blobs if _is_note(path)]
        self._noted.notes = self._moment.loaded.notes
        if self._noted.notes is not None:
            return known
        root = self._moment.tree
        entry = read_path(self._repository, root, NOTES) if root else None
        walked = walk_tree(self._repository, entry.id, f"{NOTES}/") if entry else ()
        committed = [path for path, _ in walked if _is_note(path)]
        self._noted.notes = len({*committed, *known})
        return list(dict.fromkeys([*committed, *known]))

    def read_notes(self, paths: Sequence[str], most: int, id_of: Callable[[str], str]) -> list[Note]:
        """Return the first notes, each with an id of its own; an unreadable one is named, not counted."""
        notes: list[Note] = []
        owners: dict[str, str] = {}
        unreadable = 0
        for path in paths:
            if len(notes) == max(most, 1):
                break
            text = self.text(path)
            if isinstance(text, Problem):
                unreadable += 1
                self._noted.warnings.append(f"{path} is unreadable: {text}")
            if not isinstance(text, str):
                continue
            note = make_note(path, text, "")
            claimed = note.front.id or id_of(path)
            name = own_id(claimed, path, owners, id_of)
            owners[name] = path
            notes.append(make_note(path, text, name, note.front))
        self.readable = max(0, (self._noted.notes or 0) - unreadable)
        return notes

    def waiting_episodes(self, paths: Callable[[], Sequence[str]]) -> Mapping[str, bytes]:
        """Return the files of episodes that the branch has not yet, by path.

        Args:
            paths: returns those that wait for their commit now.
        """
        past = [path for path in self._moment.loaded.blobs if path.startswith(f"{EPISODES}/")]
        found = {path: self.content(path) for path in (past if self._moment.is_past else paths())}
        return {path: content for path, content in found.items() if isinstance(content, bytes)}


@lru_cache(maxsize=8)
def _parsed(content: bytes) -> HomeConfig:
    return parse_config(content)


def _is_note(path: str) -> bool:
    folder, *names = path.split("/")
    is_hidden = any(name.startswith(".") for name in names)
    return folder == NOTES and path.lower().endswith(NOTE_SUFFIXES) and not is_hidden
