"""Commits to the index: what goes, what comes, and which parts become one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from gitmem.backends.tantivy_index.commit_file import (
    Commit,
    PartMark,
    remove_other_commits,
    write_commit_file,
)
from gitmem.backends.tantivy_index.loose_part import LOOSE, write_loose
from gitmem.backends.tantivy_index.part_file import PACKED
from gitmem.backends.tantivy_index.part_view import PartView
from gitmem.backends.tantivy_index.tantivy_writer import write_tantivy
from gitmem.durable_file import sync_folder
from gitmem.index_merging import PartSize, choose_merged
from gitmem.search_index import IndexChange, Indexed, key_of


def write_commit(
    folder: Path, generation: int, parts: Sequence[PartView], change: IndexChange, loose_size: int
) -> None:
    """Commit a change; whoever calls this holds the lock.

    Args:
        folder: the index.
        generation: number of the new commit.
        parts: of the last commit.
        change: what to commit.
        loose_size: a part of fewer documents is a loose one.
    """
    marks = [_without(part, change) for part in parts]
    sizes = [PartSize(mark.size, mark.size - len(mark.removed)) for mark in marks]
    erased = [place for place, part in enumerate(parts) if change.erase and _holds_any(part, change)]
    merged = choose_merged(sizes, change.merge_limit, erased)
    kept = [mark for place, mark in enumerate(marks) if sizes[place].live and place not in merged]
    count = sum(sizes[place].live for place in merged) + len(change.add)
    if count:
        taken = (_left_of(parts[place], marks[place].removed) for place in sorted(merged))
        kept.append(_write_part(folder, chain(*taken, change.add), loose=count < loose_size))
    name = write_commit_file(folder, generation, Commit(change.manifest, tuple(kept)))
    remove_other_commits(folder, name)
    _remove_other_parts(folder, {mark.name for mark in kept})


def _remove_other_parts(folder: Path, names: set[str]) -> None:
    """Remove the files of parts that no commit has, whether it had them before or was broken off."""
    for path in list(folder.iterdir()):
        if path.suffix in (LOOSE, PACKED) and path.name not in names:
            path.unlink(missing_ok=True)


def _without(part: PartView, change: IndexChange) -> PartMark:
    """Return a part's mark with more of its documents removed."""
    found = _numbers(part, change)
    return part.mark if found <= part.mark.removed else replace(part.mark, removed=part.mark.removed | found)


def _holds_any(part: PartView, change: IndexChange) -> bool:
    """Say whether a part holds anything of what goes; earlier commits may have removed it already."""
    return bool(_numbers(part, change))


def _numbers(part: PartView, change: IndexChange) -> frozenset[int]:
    """Return the documents of a part that a change removes."""
    found: set[int] = set()
    for column, texts in (("origin", change.remove_origins), ("record", change.remove_records)):
        keys = set(map(key_of, texts))
        if keys:
            found.update(number for number, key in enumerate(part.column(column)) if key in keys)
    return frozenset(found)


def _write_part(folder: Path, documents: Iterable[Indexed], *, loose: bool) -> PartMark:
    mark = write_loose(folder, list(documents)) if loose else write_tantivy(folder, documents)
    sync_folder(folder)
    return mark


def _left_of(part: PartView, removed: frozenset[int]) -> Iterator[Indexed]:
    return (part.part.indexed(number) for number in range(part.size) if number not in removed)
