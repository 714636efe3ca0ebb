"""Verifies the copy of the ledger on disk against the turn lines: whoever reads it is to read the truth."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

from gitmem.disk_copy import read_plain
from gitmem.errors import GitmemError
from gitmem.ledger import Ledger
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
    for path, segment in ledger.segments().items():
        if is_known(path, segment.blobs):
            continue
        found = read_plain(root / path)
        if found is None:
            if os.path.lexists(root / path):
                message = f"what stands at {path} on disk is no plain file that can be read"
                yield Finding("disk", message, path=path)
            continue
        try:
            expected = ledger.read_segment(segment)
        except GitmemError:
            continue  # named with the line that holds it
        if found != expected:
            number = _first_difference(found, expected)
            message = f"line {number} of {path} on disk is not what the turn line holds"
            yield Finding("disk", message, path=path, line=number)


def _first_difference(found: bytes, expected: bytes) -> int:
    lines = zip_longest(found.split(b"\n"), expected.split(b"\n"))
    return next(number for number, (one, other) in enumerate(lines, 1) if one != other)
