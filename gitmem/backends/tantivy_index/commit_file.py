"""The file of a commit: which parts there are, what of them was removed, and what all that covers."""

from __future__ import annotations

import json
import os
import re
import secrets
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.durable_file import write_file
from gitmem.manifest import Manifest, format_manifest, parse_manifest
from gitmem.private_folder import open_own
from gitmem.search_index import IndexDamaged, IndexOutdated

_NAME: Final = re.compile(r"commit-([0-9]+)-[0-9a-f]{8}\.json")
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class PartMark:
    """What a commit says of a part.

    Attributes:
        name: of its file; no other part ever has it.
        checksum: of its file.
        size: how many documents it has, removed ones included.
        removed: numbers of documents that are no longer there.
    """

    name: str
    checksum: int
    size: int
    removed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Commit:
    """All that a commit's file says."""

    manifest: Manifest
    parts: tuple[PartMark, ...]


def find_commit(folder: Path) -> tuple[int, str] | None:
    """Return number and file name of the last commit, None where there is none."""
    return max(_commits(folder), default=None)


def write_commit_file(folder: Path, generation: int, commit: Commit) -> str:
    """Write a commit's file durably: from then on it is the last one; return its name.

    The name is never used again, so that a commit of a new index is not taken for one of the same number.
    """
    head = {"format": _FORMAT, "parts": [_row(mark) for mark in commit.parts]}
    body = json.dumps(head, separators=(",", ":")).encode("ascii") + b"\n" + format_manifest(commit.manifest)
    name = f"commit-{generation}-{secrets.token_hex(4)}.json"
    write_file(
        folder / name, f"{zlib.crc32(body):08x}\n".encode("ascii") + body, mode=0o600, make_folder=False
    )
    return name


def read_commit_file(path: Path) -> Commit:
    """Read a commit's file.

    Raises:
        IndexDamaged: it is not what was written.
        IndexOutdated: another gitmem wrote it.
    """
    with os.fdopen(open_own(path), "rb") as file:
        checksum, _, body = file.read().partition(b"\n")
    if checksum != f"{zlib.crc32(body):08x}".encode("ascii"):
        raise IndexDamaged("a commit is not what was written")
    head, _, manifest = body.partition(b"\n")
    data = json.loads(head)
    if data["format"] != _FORMAT:
        raise IndexOutdated(f"a commit of format {data['format']}, not {_FORMAT}")
    return Commit(parse_manifest(manifest), tuple(_mark(*row) for row in data["parts"]))


def remove_other_commits(folder: Path, name: str) -> None:
    """Remove the files of all commits but one."""
    for _, other in list(_commits(folder)):
        if other != name:
            (folder / other).unlink(missing_ok=True)


def _commits(folder: Path) -> Iterator[tuple[int, str]]:
    for name in os.listdir(folder):  # noqa: PTH208
        if match := _NAME.fullmatch(name):
            yield int(match[1]), name


def _row(mark: PartMark) -> list[object]:
    return [mark.name, mark.checksum, mark.size, sorted(mark.removed)]


def _mark(name: str, checksum: int, size: int, removed: Sequence[int]) -> PartMark:
    return PartMark(name, checksum, size, frozenset(removed))
