"""Verifies the copy of the ledger on disk against the turn lines: whoever reads it is to read the truth."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path, PurePosixPath

from gitmem.disk_copy import read_plain
from gitmem.errors import GitmemError
from gitmem.forgotten import Receipts, close_segment
from gitmem.git_objects import hash_object
from gitmem.layout import LEDGER
from gitmem.ledger import Ledger
from gitmem.ledger_format import parse_blob_path, parse_segment_path
from gitmem.repository import ObjectReader
from gitmem.verify_finding import Finding


def disk_findings(
    root: Path, ledger: Ledger, is_known: Callable[[str, tuple[str, ...]], bool]
) -> Iterator[Finding]:
    """Yield the files of the copy that say something else than the lines; missing ones are restored.

    Args:
        root: of the work tree.
        ledger: what they should hold.
        is_known: says of a path and its versions whether the file was found equal and is untouched since.
    """
    if (root / LEDGER).is_symlink():
        yield Finding("disk", f"{LEDGER} on disk is a link, which no copy is written through", path=LEDGER)
        return
    receipts = ledger.receipts()
    segments = ledger.segments()
    yield from _linked_folders(root, segments)
    for path, segment in segments.items():
        if is_known(path, segment.blobs):
            continue
        found = read_plain(root / path)
        if found is None:
            yield from _no_file(root, path)
            continue
        if _is_version(found, segment.blobs, receipts):
            continue
        try:
            expected = ledger.read_segment(segment)
        except GitmemError:
            continue  # named with the line that holds it
        if found != expected:
            number = _first_difference(found, expected)
            message = f"line {number} of {path} on disk is not what the turn line holds"
            yield Finding("disk", message, path=path, line=number)


def _linked_folders(root: Path, paths: Iterable[str]) -> Iterator[Finding]:
    """Yield the links that stand in the place of folders of the copy."""
    folders = {parent for path in paths for parent in PurePosixPath(path).parents[:-2]}
    for folder in sorted(folders):
        if (root / folder).is_symlink():
            yield Finding("disk", f"{folder} on disk is a link", path=str(folder))


def _no_file(root: Path, path: str) -> Iterator[Finding]:
    if os.path.lexists(root / path):
        message = f"what stands at {path} on disk is no plain file that can be read"
        yield Finding("disk", message, path=path)


def _is_version(found: bytes, blobs: Sequence[str], receipts: Receipts) -> bool:
    """Say whether a file is the only version of a segment, which then need not be read."""
    if len(blobs) != 1 or hash_object("blob", found) != blobs[0]:
        return False
    return not receipts.records or close_segment(found, receipts) == found


def whole_copy_findings(root: Path, ledger: Ledger, objects: ObjectReader) -> Iterator[Finding]:
    """Yield what only a full look at the copy sees: changed long texts, and files of no line.

    Args:
        root: of the work tree.
        ledger: what they should hold.
        objects: its trees.
    """
    if (root / LEDGER).is_symlink():
        return
    texts = _long_texts(ledger, objects)
    yield from _linked_folders(root, texts)
    yield from _strange_files(root, {*texts, *ledger.segments(), *ledger.receipt_files()})
    for path, blobs in texts.items():
        found = read_plain(root / path)
        if found is None:
            yield from _no_file(root, path)
        elif hash_object("blob", found) not in blobs:
            yield Finding("disk", f"{path} on disk is not what the turn line holds", path=path)


def _strange_files(root: Path, known: Container[str]) -> Iterator[Finding]:
    """Yield the segments and long texts in the copy that no turn line holds."""
    for folder, _, names in os.walk(root / LEDGER):
        for name in sorted(names):
            path = (Path(folder) / name).relative_to(root).as_posix()
            if path not in known and (parse_segment_path(path) or parse_blob_path(path)):
                yield Finding("disk", f"{path} on disk is in no turn line", "warning", path=path)


def _long_texts(ledger: Ledger, objects: ObjectReader) -> dict[str, set[str]]:
    """Return the paths of long texts that are not forgotten, with the ids of the versions that lines hold."""
    receipts = ledger.receipts()
    found: dict[str, set[str]] = {}
    for folder, trees in ledger.long_text_folders().items():
        for tree in trees:
            with suppress(GitmemError):  # named with the line that holds it
                for entry in objects.read_tree(tree):
                    path = f"{folder}/{entry.name}"
                    if parse_blob_path(path) is not None and not receipts.is_forgotten_path(path):
                        found.setdefault(path, set()).add(entry.id)
    return found


def _first_difference(found: bytes, expected: bytes) -> int:
    lines = zip_longest(found.split(b"\n"), expected.split(b"\n"))
    return next(number for number, (one, other) in enumerate(lines, 1) if one != other)
