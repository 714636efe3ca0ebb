"""Notes as things that are found, listed and changed; a change is planned here and committed elsewhere."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from gitmem.authored_files import is_same
from gitmem.authored_text import BOM, LINE_BREAK, newline_of, one_line
from gitmem.branch_changes import PathChange
from gitmem.catalog import MAX_CHARS, MAX_NOTES, render_catalog
from gitmem.curated import NOTE_SUFFIXES, NoteList, find_notes, is_note_path, list_notes, read_note
from gitmem.errors import AmbiguousMatch, ProtectedPath, RefusedError, Unavailable, UnknownSource, UsageError
from gitmem.front_matter import read_front_matter
from gitmem.front_matter_edit import format_block, quote_secrets, refuse_malformed, set_field, set_tags
from gitmem.git_objects import hash_object
from gitmem.layout import NOTES, Layout
from gitmem.manifest import FileMark
from gitmem.note_ids import NoteIds
from gitmem.note_paths import check_free, note_path
from gitmem.note_tags import normalise_tags
from gitmem.note_text import Note, make_note
from gitmem.path_names import fold_path
from gitmem.records import clean_text
from gitmem.redaction import redact_secrets, refuse_secret
from gitmem.refs import parse_ref
from gitmem.repository import Repository
from gitmem.slugs import make_slug
from gitmem.tree_files import MAX_FILE, FoundFile, Listing, ManagedFile, Skipped, read_managed

_SHORT_ID: Final = re.compile(r"[A-Za-z0-9_.-]{4,80}")
_LEADING_BREAKS: Final = re.compile(r"[\r\n]+")


@dataclass(frozen=True, slots=True)
class NotePlan:
    """A change of one note, ready to be committed.

    Attributes:
        action: `add edit append move remove`.
        path: where the note is behind the change (before it, when it is removed).
        id: the note's id, which no change alters.
        changes: what to write; empty where the note is as it shall be.
        moved_from: the path that a move leaves.
    """

    action: str
    path: str
    id: str
    changes: tuple[PathChange, ...]
    moved_from: str | None = None

    @property
    def source_ref(self) -> str:
        """The address under which `get` finds the note."""
        return f"note:{self.id}"


class Notes:
    """The notes of a home, as they are on disk.

    Args:
        repository: whose history gives ids to notes that have none.
        layout: where the notes are.
        marks: returns what the search index knows of files by path; spares reading those that are the same.
    """

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        marks: Callable[[], Mapping[str, FileMark]] = dict,
    ) -> None:
        self._root = layout.root
        self._marks = marks
        self._ids = NoteIds(repository, layout)

    def list(self, *, limit: int | None = None) -> NoteList:
        """Read all notes, or the first of them."""
        found = find_notes(self._root)
        return list_notes(self._root, self._lookup(found), limit=limit, found=found)

    def catalog(
        self,
        *,
        limit: int = MAX_NOTES,
        max_chars: int = MAX_CHARS,
        retracted: Container[str] = (),
        seen: Callable[[Note], Note] = lambda note: note,
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
        text = _new_text(_clean(content), note_id, _one_title(title), normalise_tags(tags))
        where = _new_path(path) if path else _path_of_title(text, title, note_id)
        check_free(self._root, where)
        return NotePlan("add", where, note_id, (PathChange(where, None, _encode(text)),))

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
        text = note.text if content is None else _with_body(note, _clean(content))
        if title is not None:
            text = set_field(text, "title", _one_title(title) or "")
        if tags is not None:
            text = set_tags(text, tags)
        return _changed("edit", note, text)

    def plan_append(self, name: str, content: str) -> NotePlan:
        """Plan text at a note's end, on a line of its own, with the note's line ending."""
        added = _clean(content)
        if not added.strip():
            raise UsageError("nothing to append")
        note = self.find(name)
        newline = newline_of(note.text)
        text = note.text
        if text and not text.endswith(("\n", "\r")):
            text += newline
        return _changed("append", note, text + _ended(added).replace("\n", newline))

    def plan_move(self, name: str, target: str) -> NotePlan:
        """Plan another path for a note; its bytes and its id stay.

        Args:
            name: path, ref or id.
            target: the new path; one that ends in `/` is a folder.

        Raises:
            RefusedError: the path is taken.
        """
        note = self.find(name)
        where = _new_path(target + PurePosixPath(note.path).name if target.endswith("/") else target)
        if where == note.path:
            raise UsageError(f"the note is at {where} already", path=where)
        check_free(self._root, where, moved_from=note.path)
        content = note.text.encode()
        changes = (PathChange(note.path, _blob(content), None), PathChange(where, None, content))
        return NotePlan("move", where, note.id, changes, moved_from=note.path)

    def plan_remove(self, name: str) -> NotePlan:
        """Plan a note's removal; its history keeps it."""
        note = self.find(name)
        return NotePlan(
            "remove", note.path, note.id, (PathChange(note.path, _blob(note.text.encode()), None),)
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
        notes = list_notes(self._root, id_of, found=found).notes
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
                note = read_note(self._root, file.path, id_of)
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
        note = read_note(self._root, path, id_of) if path else None
        return note if isinstance(note, Note) and note.front.id is None else None

    def _read(self, path: str) -> Note | None:
        read = read_note(self._root, path, self._id_of)
        if isinstance(read, Skipped):
            raise ProtectedPath(f"{path} is not read: {read.reason}", path=path, reason=read.reason)
        return read


def _new_text(content: str, note_id: str, title: str | None, tags: Sequence[str]) -> str:
    front = read_front_matter(content)
    refuse_malformed(front)
    content = quote_secrets(content)
    if front.block is None:
        fields: dict[str, str | tuple[str, ...]] = {"id": note_id}
        if title:
            fields["title"] = title
        if tags:
            fields["tags"] = tuple(tags)
        gap = "\n" if content and not content.startswith("\n") else ""
        return f"{format_block(fields)}{gap}{_ended(content)}"
    text = set_field(content, "id", note_id)
    if title:
        text = set_field(text, "title", title)
    if tags:
        text = set_tags(text, tuple(dict.fromkeys((*front.tags, *tags))))
    return _ended(text)


def _new_path(given: str) -> str:
    return note_path(refuse_secret(given, "path"))


def _path_of_title(text: str, title: str | None, note_id: str) -> str:
    """Return the path of a note that was given none: from its title, else its first heading."""
    named = _one_title(title) or make_note("", text, note_id).title
    if not named or named == "note":
        raise UsageError(
            "a new note needs a path, a title or a heading",
            hint="Give a title, or begin the text with # Title.",
        )
    named = redact_secrets(named)[0]  # before a slug makes it unlike one
    return note_path(f"{NOTES}/{make_slug(named) or f'note-{note_id[:4]}'}.md")


def _with_body(note: Note, content: str) -> str:
    """Return a note's text with another body, or with all of it replaced by a text that has its own block."""
    newline = newline_of(note.text) if note.text else "\n"
    content = quote_secrets(_ended(content))
    front = read_front_matter(content)
    if front.block is not None or front.is_malformed:
        refuse_malformed(front)
        own = note.front.id or (note.id if front.id else None)
        mark = note.text[: len(BOM)] if note.text.startswith(BOM) else ""
        return mark + (set_field(content, "id", own) if own else content).replace("\n", newline)
    if note.front.block is None:
        refuse_malformed(note.front)
    gap = ""
    if not content.startswith("\n"):
        blank = _LEADING_BREAKS.match(note.body)
        gap = blank[0] if blank else ""
    return note.text[: note.front.body_start] + gap + content.replace("\n", newline)


def _changed(action: str, note: Note, text: str) -> NotePlan:
    content = _encode(text)
    before = note.text.encode()
    changes = () if content == before else (PathChange(note.path, _blob(before), content),)
    return NotePlan(action, note.path, note.id, changes)


def _clean(content: str) -> str:
    """Return a caller's text with LF line endings and no lone surrogates."""
    if "\0" in content:
        raise UsageError("a note is text and holds no NUL")
    return LINE_BREAK.sub("\n", clean_text(content)).removeprefix(BOM)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _one_title(title: str | None) -> str | None:
    if title is None:
        return None
    return one_line(clean_text(title)) or None


def _encode(text: str) -> bytes:
    content = text.encode()
    if len(content) > MAX_FILE:
        raise RefusedError(
            f"a note of {len(content)} bytes; at most {MAX_FILE} are read", hint="Split it.", limit=MAX_FILE
        )
    return content


def _blob(content: bytes) -> str:
    return hash_object("blob", content)


def _unknown(name: str) -> UnknownSource:
    return UnknownSource(f"no note {name[:200]!r}", hint="`gitmem notes` lists them.", name=name[:200])


def _ambiguous(name: str, matches: Sequence[str]) -> AmbiguousMatch:
    return AmbiguousMatch(
        f"{name[:200]!r} fits {len(matches)} notes: {', '.join(matches[:10])}",
        hint="Use one of them in full.",
        matches=list(matches[:10]),
    )
