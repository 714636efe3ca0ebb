"""The files that people and the agent write, as the index sees them: which there are, and their documents."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import stat_result
from pathlib import Path
from typing import Final

from gitmem.authored_text import Problem, decode_text
from gitmem.authored_times import UNKNOWN, AuthoredTimes, blobs_of
from gitmem.curated import NOTE_SUFFIXES, PROSE, STORES, is_note_path
from gitmem.documents import Document, entry_documents, episode_documents, note_documents, prose_documents
from gitmem.entries import parse_store
from gitmem.forgotten import Receipts
from gitmem.front_matter import FrontMatter, read_front_matter
from gitmem.git_objects import hash_object
from gitmem.layout import EPISODES, MEMORY, NOTES
from gitmem.manifest import MADE_BY, FileMark
from gitmem.note_text import make_note
from gitmem.templates import is_untouched
from gitmem.tree_files import ManagedFile, Skipped, list_files, read_managed

#: Folders outside of which nothing that is written by hand is indexed.
FOLDERS: Final = (MEMORY, NOTES, EPISODES)

_ENTRY_TITLES: Final = {"memory": "memory entry", "user": "user entry"}
_PROSE_TITLES: Final = {"operator": "operator memory", "self": "self memory"}
#: File systems date by a clock that ticks every few milliseconds; some by whole seconds, or two.
_TICK_NS: Final = 50_000_000
_COARSE_TICK_NS: Final = 2_000_000_000


@dataclass(frozen=True, slots=True)
class FoundAuthored:
    """All authored files of a home, by listing folders only.

    Attributes:
        files: stat by path.
        problems: paths that cannot be indexed, and why.
    """

    files: Mapping[str, stat_result]
    problems: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReadAuthored:
    """One authored file as it was read.

    Attributes:
        mark: what the manifest says of it.
        documents: what is searched; none where `mark.problem` is set.
    """

    mark: FileMark
    documents: list[Document]


def find_authored(root: Path) -> FoundAuthored:
    """Return the authored files of a home."""
    files: dict[str, stat_result] = {}
    problems: dict[str, str] = {}
    for path in (*STORES.values(), *PROSE.values()):
        _look_at(root, path, files, problems)
    for folder in (NOTES, EPISODES):
        listing = list_files(root, folder, NOTE_SUFFIXES, in_order=False)
        files.update((found.path, found.stat) for found in listing.files)
        problems.update((skipped.path, skipped.reason) for skipped in listing.skipped)
    return FoundAuthored(files, problems)


def _look_at(root: Path, path: str, files: dict[str, stat_result], problems: dict[str, str]) -> None:
    try:
        found = (root / path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        problems[path] = f"unreadable: {error.strerror or error}"
        return
    files[path] = found


def is_same(root: Path, path: str, found: stat_result, mark: FileMark | None) -> bool:
    """Say whether a file is what this program read; its content is looked at where times do not tell."""
    return mark is not None and mark.made_by == MADE_BY and is_unchanged(root, path, found, mark)


def is_unchanged(root: Path, path: str, found: stat_result, mark: FileMark) -> bool:
    """Say whether a file is what any program read."""
    if (mark.size, mark.mtime_ns, mark.ctime_ns) != (found.st_size, found.st_mtime_ns, found.st_ctime_ns):
        return False
    if not mark.racy:
        return True
    file = read_managed(root, path)
    return isinstance(file, ManagedFile) and hashlib.sha256(file.content).hexdigest() == mark.digest


def read_authored(
    root: Path,
    path: str,
    id_of: Callable[[str], str],
    receipts: Receipts,
    *,
    note_id: str | None = None,
    longest: int | None = None,
    times: AuthoredTimes = UNKNOWN,
    clock: Callable[[], int] = time.time_ns,
) -> ReadAuthored | None:
    """Read one file and make its documents; None where there is no file.

    Args:
        root: the work tree.
        path: relative to it.
        id_of: gives the id of a note or episode that has none of its own.
        receipts: what was forgotten is left out.
        note_id: the note's id, where other notes decide it.
        longest: make documents of so many characters at most, up to the end of a line.
        times: what history tells of when files were changed.
        clock: wall clock in nanoseconds.
    """
    file = read_managed(root, path)
    if file is None:
        return None
    if isinstance(file, Skipped):
        return ReadAuthored(mark_of_problem(file.reason), [])
    blobs, mtime_ns = blobs_of(file.content), file.stat.st_mtime_ns
    mark = FileMark(
        size=file.stat.st_size,
        mtime_ns=mtime_ns,
        ctime_ns=file.stat.st_ctime_ns,
        digest=hashlib.sha256(file.content).hexdigest(),
        racy=_is_racy(file.stat, clock()),
        blobs=blobs,
        dated=times.mark_of(path, blobs, mtime_ns),
    )

    def own_or_given(own: str | None) -> str:
        return note_id or own or id_of(path)

    return _with_documents(file, mark, receipts, own_or_given, longest=longest, times=times)


def mark_of_problem(reason: str) -> FileMark:
    """Return the mark of a file that cannot be read."""
    return FileMark(0, 0, 0, "", problem=reason)


def _with_documents(
    file: ManagedFile,
    mark: FileMark,
    receipts: Receipts,
    id_of: Callable[[str | None], str],
    *,
    longest: int | None,
    times: AuthoredTimes,
) -> ReadAuthored:
    if receipts.blobs and receipts.is_forgotten_blob(hash_object("blob", file.content)):
        return ReadAuthored(mark, [])
    text = decode_text(file.content)
    if isinstance(text, Problem):
        return ReadAuthored(replace(mark, problem=str(text)), [])
    if longest is not None and len(text) > longest:
        text = text[:longest].rpartition("\n")[0] or text[:longest]
    if is_note_path(file.path):
        front = read_front_matter(text)
        note = make_note(file.path, text, id_of(front.id), front)
        mark = replace(mark, note_id=note.id, declared=front.id)
        return ReadAuthored(mark, note_documents(note, times.of_file(file.path, mark.blobs, mark.mtime_ns)))
    return ReadAuthored(mark, list(_other_documents(file.path, text, mark, receipts, times)))


def _other_documents(
    path: str, text: str, mark: FileMark, receipts: Receipts, times: AuthoredTimes
) -> Iterator[Document]:
    target = next((name for name, store in STORES.items() if store == path), None)
    if target is not None:
        for entry in parse_store(text):
            if not receipts.is_forgotten_entry(entry.text):
                ts = times.of_entry(path, entry.id, mark.mtime_ns)
                yield from entry_documents(path, _ENTRY_TITLES[target], entry, ts)
        return
    ts = times.of_file(path, mark.blobs, mark.mtime_ns)
    name = next((name for name, prose in PROSE.items() if prose == path), None)
    if name is not None:
        if is_untouched(path, text):  # a new home says nothing yet
            return
        yield from prose_documents(path, f"agent_memory:{name}", _PROSE_TITLES[name], text, ts)
        return
    front = read_front_matter(text)
    title = make_note(path, text, "", front).title
    yield from episode_documents(path, episode_id(path, front), text, front, title=title, ts=ts)


def episode_id(path: str, front: FrontMatter) -> str:
    """Return an episode's id: that of its front matter, else one from its path."""
    return front.id or hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:15]


def _is_racy(found: stat_result, now: int) -> bool:
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    is_coarse = found.st_mtime_ns % 1_000_000_000 == 0 and found.st_ctime_ns % 1_000_000_000 == 0
    return now - changed < (_COARSE_TICK_NS if is_coarse else _TICK_NS)
