"""The files that people and the agent write: memory stores, prose memory and notes, as they are on disk."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from gitmem.authored_text import BOM, Problem, decode_text, newline_of
from gitmem.entries import Entry, count_chars, parse_store
from gitmem.forgotten import Receipts
from gitmem.front_matter import read_front_matter
from gitmem.git_objects import hash_object
from gitmem.layout import NOTES
from gitmem.note_text import Note, make_note
from gitmem.path_names import Twins
from gitmem.tree_files import Listing, Skipped, list_files, read_managed

#: Target of the agent's tool -> its store.
STORES: Final = {"memory": "memory/MEMORY.md", "user": "memory/USER.md"}
#: Name of a prose memory -> its file.
PROSE: Final = {"operator": "memory/operator.md", "self": "memory/self.md"}
NOTE_SUFFIXES: Final = (".md", ".markdown")
_NO_RECEIPTS: Final = Receipts()


@dataclass(frozen=True, slots=True)
class Store:
    """A memory store as read.

    Attributes:
        chars: its size in code points, as it counts against the limit.
        newline: the line ending of its file.
        content: its bytes.
    """

    path: str
    entries: tuple[Entry, ...]
    chars: int
    newline: str
    content: bytes

    @property
    def mark(self) -> str:
        """The byte order mark with which the file begins, if it does."""
        return BOM if self.content.startswith(BOM.encode()) else ""


@dataclass(frozen=True, slots=True)
class Prose:
    """A prose memory as read: its text, without byte order mark and with LF as line ending."""

    path: str
    text: str
    content: bytes


@dataclass(frozen=True, slots=True)
class NoteList:
    """The notes of a home.

    Attributes:
        notes: shallow first, then in byte order of the path.
        skipped: what is no note, and why.
        twins: notes whose names are one name on another machine.
        hidden: notes whose names begin with a dot; they are not listed.
        total: how many there are, where not all were read.
    """

    notes: tuple[Note, ...]
    skipped: tuple[Skipped, ...]
    twins: tuple[Twins, ...]
    hidden: tuple[str, ...]
    total: int

    @property
    def problems(self) -> tuple[Skipped, ...]:
        """Everything that an operator should know: what was skipped, faults inside notes, twins."""
        faults = [Skipped(note.path, one.reason, one.line) for note in self.notes for one in note.problems]
        pairs = [
            Skipped(twins.paths[0], f"differs only in {twins.differs} from {', '.join(twins.paths[1:])}")
            for twins in self.twins
        ]
        return (*self.skipped, *faults, *pairs)


def read_store(root: Path, path: str) -> Store | Skipped | None:
    """Read a memory store; None where there is no file."""
    read = _read_text(root, path)
    if read is None or isinstance(read, Skipped):
        return read
    content, text = read
    entries = tuple(parse_store(text))
    return Store(path, entries, count_chars(entries), newline_of(text), content)


def read_prose(root: Path, path: str, receipts: Receipts = _NO_RECEIPTS) -> Prose | Skipped | None:
    """Read a prose memory; None where there is no file, or one that was forgotten."""
    read = _read_text(root, path)
    if read is None or isinstance(read, Skipped):
        return read
    content, text = read
    if receipts.blobs and receipts.is_forgotten_blob(hash_object("blob", content)):
        return None
    return Prose(path, text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n"), content)


def read_only_fault(root: Path, path: str) -> str | None:
    """Say that a file was made read-only, if it was: its owner took away his right to change it.

    The bits count, not what this process could do: a file is replaced, not opened, and root may do anything.
    """
    try:
        mode = (root / path).stat(follow_symlinks=False).st_mode
    except OSError:
        return None
    return f"{path} is read-only: its owner took that right away" if not mode & stat.S_IWUSR else None


def is_note_path(path: str) -> bool:
    """Say whether a path of the tree is a note's: in `notes/`, Markdown, no hidden part."""
    folder, *names = path.split("/")
    return bool(
        folder == NOTES
        and names
        and names[-1].lower().endswith(NOTE_SUFFIXES)
        and not any(name.startswith(".") or not name for name in names)
    )


def find_notes(root: Path) -> Listing:
    """Return the notes' files by listing folders only; no file is opened."""
    return list_files(root, NOTES, NOTE_SUFFIXES)


def read_note(
    root: Path, path: str, id_of: Callable[[str], str], receipts: Receipts = _NO_RECEIPTS
) -> Note | Skipped | None:
    """Read one note; None where there is no file, or one that was forgotten.

    Args:
        root: the work tree.
        path: relative to it.
        id_of: gives the id of a note that has none in its front matter.
        receipts: what was forgotten.
    """
    read = _read_text(root, path)
    if read is None or isinstance(read, Skipped):
        return read
    content, text = read
    if receipts.blobs and receipts.is_forgotten_blob(hash_object("blob", content)):
        return None
    front = read_front_matter(text)
    return make_note(path, text, front.id or id_of(path), front)


def list_notes(
    root: Path,
    id_of: Callable[[str], str],
    *,
    limit: int | None = None,
    found: Listing | None = None,
    receipts: Receipts = _NO_RECEIPTS,
) -> NoteList:
    """Read the notes of a home, or the first of them.

    No two notes have one id: of several that claim it, the first keeps it.

    Args:
        root: the work tree.
        id_of: gives the id of a note that has none in its front matter.
        limit: read no more notes than this.
        found: what `find_notes` gave, if the caller has it.
        receipts: what was forgotten.
    """
    found = find_notes(root) if found is None else found
    skipped = list(found.skipped)
    notes: list[Note] = []
    owners: dict[str, str] = {}
    hidden = 0
    for file in found.files:
        read = read_note(root, file.path, id_of, receipts)
        if read is None:
            hidden += 1
            continue
        if isinstance(read, Skipped):
            skipped.append(read)
            continue
        note = _with_own_id(read, owners, id_of)
        owners[note.id] = note.path
        notes.append(note)
        if limit is not None and len(notes) == limit:
            break
    unread = len(found.files) - hidden - len(notes) - (len(skipped) - len(found.skipped))
    return NoteList(tuple(notes), tuple(skipped), found.twins, found.hidden, len(notes) + unread)


def own_id(claimed: str, path: str, owners: Mapping[str, str], id_of: Callable[[str], str]) -> str:
    """Return the id of a note: what it claims, unless a note before it claimed the same.

    Args:
        claimed: from its front matter, else derived.
        path: of the note.
        owners: path by id of the notes before it.
        id_of: gives the derived id of a path.
    """
    if claimed not in owners:
        return claimed
    derived = id_of(path)
    if derived not in owners:
        return derived
    return sha256(f"copy\0{claimed}\0{path}".encode("utf-8", "surrogatepass")).hexdigest()[:15]


def _with_own_id(note: Note, owners: Mapping[str, str], id_of: Callable[[str], str]) -> Note:
    note_id = own_id(note.id, note.path, owners, id_of)
    if note_id == note.id:
        return note
    field = note.front.fields.get("id")
    reason = f"its id is that of {owners[note.id]}; a copy needs its own"
    problem = Problem(field.line if field else None, reason)
    return replace(note, id=note_id, problems=(*note.problems, problem))


def _read_text(root: Path, path: str) -> tuple[bytes, str] | Skipped | None:
    file = read_managed(root, path)
    if file is None or isinstance(file, Skipped):
        return file
    text = decode_text(file.content)
    if isinstance(text, Problem):
        return Skipped(path, text.reason, text.line)
    return file.content, text
