"""Notes as things that are found, listed and changed; a change is planned here and committed elsewhere."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from gitmem.authored_files import is_same
from gitmem.authored_text import newline_of
from gitmem.branch_changes import PathChange
from gitmem.catalog import MAX_CHARS, MAX_NOTES, render_catalog
from gitmem.curated import NOTE_SUFFIXES, NoteList, find_notes, is_note_path, list_notes, read_note
from gitmem.errors import AmbiguousMatch, ProtectedPath, Unavailable, UnknownSource, UsageError
from gitmem.forgotten import Receipts
from gitmem.front_matter_edit import set_field, set_tags
from gitmem.layout import NOTES, Layout
from gitmem.manifest import FileMark
from gitmem.note_ids import NoteIds
from gitmem.note_paths import check_free
from gitmem.note_plan import (
    NotePlan,
    blob_id,
    clean_content,
    ended,
    new_path,
    new_text,
    note_bytes,
    one_title,
    path_of_title,
    plan_text,
    with_body,
)
from gitmem.note_tags import normalise_tags
from gitmem.note_text import Note
from gitmem.path_names import fold_path
from gitmem.refs import parse_ref
from gitmem.repository import Repository
from gitmem.tree_files import FoundFile, Listing, ManagedFile, Skipped, read_managed

_SHORT_ID: Final = re.compile(r"[A-Za-z0-9_.-]{4,80}")


class Notes:
    """The notes of a home, as they are on disk.

    Args:
        repository: whose history gives ids to notes that have none.
        layout: where the notes are.
        marks: returns what the search index knows of files by path; spares reading those that are the same.
        receipts: returns what was forgotten; a note that was is none, wherever its file comes from.
    """

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        marks: Callable[[], Mapping[str, FileMark]] = dict,
        receipts: Callable[[], Receipts] = Receipts,
    ) -> None:
        self._receipts = receipts
        self._root = layout.root
        self._marks = marks
        self._ids = NoteIds(repository, layout)

    def list(self, *, limit: int | None = None) -> NoteList:
        """Read all notes, or the first of them."""
        found = find_notes(self._root)
        receipts = self._receipts()
        return list_notes(self._root, self._lookup(found), limit=limit, found=found, receipts=receipts)

    def catalog(
        self,
        *,
        limit: int = MAX_NOTES,
        max_chars: int = MAX_CHARS,
        retracted: Container[str] = (),
        seen: Callable[[Note], Note] = lambda note: note,
        held: Callable[[Note], bool] = lambda _: False,
    ) -> str:
        """Return the catalog; reads no more notes than it may show, and lists retracted ones last."""
        listing = self.list(limit=max(limit, 1))
        return render_catalog(
            listing.notes,
            limit=limit,
            max_chars=max_chars,
            total=listing.total,
            retracted=retracted,
            seen=seen,
            held=held,
        )

    def find(self, name: str) -> Note:
        """Return the note that a path, a ref, an id or a unique short id names.

        Raises:
            UnknownSource: there is none and never was one.
            Unavailable: it was removed.
            AmbiguousMatch: several have that name.
            ProtectedPath: what is there is no note, for example a link.
        """
        if name.startswith("note:"):
            ref = parse_ref(name)
            if ref.home is None:
                return self._by_id(ref.id)
        elif "/" in name or name.lower().endswith(NOTE_SUFFIXES):
            return self._by_path(name)
        elif _SHORT_ID.fullmatch(name):
            return self._by_id(name, is_short=True)
        raise _unknown(name)

    def plan_add(
        self,
        content: str = "",
        *,
        path: str | None = None,
        title: str | None = None,
        tags: Sequence[str] = (),
        note_id: str | None = None,
    ) -> NotePlan:
        """Plan a new note.

        Args:
            content: its text; may begin with a front matter block of its own.
            path: below `notes/`; without it the name comes from the title.
            title: without it the first heading is the title.
            tags: joined to those of the block.
            note_id: instead of a new one (imports).

        Raises:
            RefusedError: the path is taken, or the content's block is malformed.
            UsageError: no usable path, or nothing to call the note by.
        """
        note_id = note_id or secrets.token_hex(8)[:15]
        text = new_text(clean_content(content), note_id, one_title(title), normalise_tags(tags))
        where = new_path(path) if path else path_of_title(text, title, note_id)
        check_free(self._root, where)
        return NotePlan("add", where, note_id, (PathChange(where, None, note_bytes(text)),))

    def plan_edit(
        self,
        name: str,
        *,
        content: str | None = None,
        title: str | None = None,
        tags: Sequence[str] | None = None,
    ) -> NotePlan:
        """Plan new words for a note; what is not named stays byte for byte.

        Args:
            name: path, ref or id.
            content: the new body; with a front matter block of its own it is the whole text, the id aside.
            title: the new title, in the front matter.
            tags: the new tags, instead of those it has.

        Raises:
            RefusedError: the front matter would have to change and is malformed.
        """
        if content is None and title is None and tags is None:
            raise UsageError("nothing to change: give a text, a title or tags")
        note = self.find(name)
        text = note.text if content is None else with_body(note, clean_content(content))
        if title is not None:
            text = set_field(text, "title", one_title(title) or "")
        if tags is not None:
            text = set_tags(text, tags)
        return plan_text("edit", note, text)

    def plan_append(self, name: str, content: str) -> NotePlan:
        """Plan text at a note's end, on a line of its own, with the note's line ending."""
        added = clean_content(content)
        if not added.strip():
            raise UsageError("nothing to append")
        note = self.find(name)
        newline = newline_of(note.text)
        text = note.text
        if text and not text.endswith(("\n", "\r")):
            text += newline
        return plan_text("append", note, text + ended(added).replace("\n", newline))

    def plan_move(self, name: str, target: str) -> NotePlan:
        """Plan another path for a note; its bytes and its id stay.

        Args:
            name: path, ref or id.
            target: the new path; one that ends in `/` is a folder.

        Raises:
            RefusedError: the path is taken.
        """
        note = self.find(name)
        where = new_path(target + PurePosixPath(note.path).name if target.endswith("/") else target)
        if where == note.path:
            raise UsageError(f"the note is at {where} already", path=where)
        check_free(self._root, where, moved_from=note.path)
        content = note.text.encode()
        changes = (PathChange(note.path, blob_id(content), None), PathChange(where, None, content))
        return NotePlan("move", where, note.id, changes, moved_from=note.path)

    def plan_remove(self, name: str) -> NotePlan:
        """Plan a note's removal; its history keeps it."""
        note = self.find(name)
        return NotePlan(
            "remove", note.path, note.id, (PathChange(note.path, blob_id(note.text.encode()), None),)
        )

    def _lookup(self, found: Listing) -> Callable[[str], str]:
        return self._ids.lookup([file.path for file in found.files])

    def _id_of(self, path: str) -> str:
        return self._lookup(find_notes(self._root))(path)

    def _by_path(self, name: str) -> Note:
        path = name if name.startswith(f"{NOTES}/") else f"{NOTES}/{name}"
        if not is_note_path(path):
            raise ProtectedPath(f"not a path of a note: {name[:200]!r}", path=name[:200])
        note = self._read(path)
        if note is not None:
            return note
        # A name typed on another keyboard may have another Unicode form or case.
        folded = fold_path(path)
        twins = [file.path for file in find_notes(self._root).files if fold_path(file.path) == folded]
        if len(twins) > 1:
            raise _ambiguous(name, twins)
        note = self._read(twins[0]) if twins else None
        if note is None:
            raise _unknown(name)
        return note

    def _by_id(self, note_id: str, *, is_short: bool = False) -> Note:
        found = find_notes(self._root)
        id_of = self._lookup(found)
        note = self._claiming(note_id, found, id_of) or self._deriving(note_id, found, id_of)
        if note is not None:
            return note
        notes = list_notes(self._root, id_of, found=found, receipts=self._receipts()).notes
        matches = [one for one in notes if one.id == note_id]
        if not matches and is_short:
            matches = [one for one in notes if one.id.startswith(note_id)]
        if len(matches) > 1:
            raise _ambiguous(note_id, [f"{one.source_ref} {one.path}" for one in matches])
        if matches:
            return matches[0]
        path = self._ids.find_removed(note_id, [file.path for file in found.files])
        if path is None:
            raise _unknown(note_id)
        raise Unavailable(
            f"note:{note_id} was removed; it was {path}",
            hint=f"See `git log -p -- {path}`.",
            reason="deleted",
            path=path,
        )

    def _claiming(self, note_id: str, found: Listing, id_of: Callable[[str], str]) -> Note | None:
        """Return the first note with this id in its front matter; most files are ruled out unread."""
        needle = note_id.encode()
        marks = self._marks()
        for file in found.files:
            mark = marks.get(file.path)
            if mark is not None and mark.declared != note_id and self._is_known(file, mark):
                continue
            read = read_managed(self._root, file.path)
            if isinstance(read, ManagedFile) and needle in read.content:
                note = read_note(self._root, file.path, id_of, self._receipts())
                if isinstance(note, Note) and note.front.id == note_id:
                    return note
        return None

    def _is_known(self, file: FoundFile, mark: FileMark) -> bool:
        """Say whether a mark tells which id a note declares, or that it declares none."""
        is_note = mark.note_id is not None and not mark.racy
        return is_note and is_same(self._root, file.path, file.stat, mark)

    def _deriving(self, note_id: str, found: Listing, id_of: Callable[[str], str]) -> Note | None:
        """Return the note whose id comes from its path and history."""
        path = next((file.path for file in found.files if id_of(file.path) == note_id), None)
        note = read_note(self._root, path, id_of, self._receipts()) if path else None
        return note if isinstance(note, Note) and note.front.id is None else None

    def _read(self, path: str) -> Note | None:
        read = read_note(self._root, path, self._id_of, self._receipts())
        if isinstance(read, Skipped):
            raise ProtectedPath(f"{path} is not read: {read.reason}", path=path, reason=read.reason)
        return read


def _unknown(name: str) -> UnknownSource:
    return UnknownSource(f"no note {name[:200]!r}", hint="`gitmem notes` lists them.", name=name[:200])


def _ambiguous(name: str, matches: Sequence[str]) -> AmbiguousMatch:
    return AmbiguousMatch(
        f"{name[:200]!r} fits {len(matches)} notes: {', '.join(matches[:10])}",
        hint="Use one of them in full.",
        matches=list(matches[:10]),
    )
