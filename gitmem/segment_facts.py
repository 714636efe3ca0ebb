"""What is kept of each segment of the ledger, so that a process reads only those that are new to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final

from gitmem.durable_file import write_file
from gitmem.errors import ObjectMissing
from gitmem.layout import Layout
from gitmem.ledger import Ledger, Segment

#: Folder of these files below the layout's derived one.
_FOLDER: Final = "facts"
#: Of the file around the facts; a caller's own version counts what is inside.
_FORMAT: Final = 1
#: Segments that may be read anew before the file is written again: a turn changes the last one of its line.
_SPARE: Final = 4

#: Blob ids of the versions that a segment's lines hold, and what was extracted from their union.
_Fact = tuple[tuple[str, ...], Any]


class SegmentFacts:
    """One JSON value for each segment: a fold over its lines, kept in a file that may vanish at any time.

    A value holds as long as the segment has the same blobs and nothing more was forgotten. The file is
    trusted only whole: where it is absent, damaged or of another version, everything is read again. Safe in
    threads.

    Args:
        layout: the file lies in its derived folder.
        ledger: whose segments.
        name: of the file; a word.
        version: of what `extract` returns; another one makes the file worthless.
        extract: from a segment's content, closed under receipts, to JSON data. Texts in it outlive their
            forgetting until the next catching up: it should keep ids and hashes.
    """

    def __init__(
        self, layout: Layout, ledger: Ledger, name: str, version: int, extract: Callable[[bytes], Any]
    ) -> None:
        self._file = layout.derived / _FOLDER / f"{name}.json"
        self._sign = f"gitmem facts {_FORMAT} {name} {version}"
        self._ledger = ledger
        self._extract = extract
        self._facts: dict[str, _Fact] | None = None
        self._receipts: frozenset[str] = frozenset()
        self._unkept: set[str] = set()
        self._is_stale = False
        self._lock = threading.RLock()

    def values(self) -> Mapping[str, Any]:
        """Return the value of every readable segment by its path; not to be changed."""
        with self._lock:
            self.catch_up()
            assert self._facts is not None
            return {path: value for path, (_, value) in self._facts.items()}

    def known(self) -> Mapping[str, Any]:
        """Return the values that were read so far, by path; nothing more is read for it."""
        with self._lock:
            return {path: value for path, (_, value) in (self._facts or {}).items()}

    def catch_up(self) -> Sequence[tuple[str, Any]]:
        """Read what is new or changed; return it by path. The first time that is everything that is kept."""
        with self._lock:
            segments = self._ledger.segments()
            receipts = self._ledger.receipts().records
            is_first = self._facts is None
            if self._facts is None or receipts != self._receipts:
                self._facts = self._begin(receipts, is_first=is_first)
                self._receipts = receipts
            facts = self._facts
            for path in facts.keys() - segments.keys():  # a line was taken away, or is not readable now
                del facts[path]
            changed = [s for path, s in segments.items() if path not in facts or facts[path][0] != s.blobs]
            learned = self._learn(changed)
            self._unkept.update(learned)
            if len(self._unkept) > _SPARE or self._is_stale:
                self._keep(receipts)
            return [(path, facts[path][1]) for path in (segments if is_first else learned) if path in facts]

    def _learn(self, segments: Sequence[Segment]) -> list[str]:
        assert self._facts is not None
        learned = []
        for segment in segments:
            with suppress(ObjectMissing):  # it may be fetched later
                self._facts[segment.path] = segment.blobs, self._extract(self._ledger.read_segment(segment))
                learned.append(segment.path)
        return learned

    def _begin(self, receipts: frozenset[str], *, is_first: bool) -> dict[str, _Fact]:
        """Return what holds still; nothing if more was forgotten since, as that is to be read as its stub."""
        kept = self._read(receipts) if is_first else None
        if kept is None and self._file.exists():
            self._is_stale = True  # what it says of forgotten records must not stay
        return kept or {}

    def _read(self, receipts: frozenset[str]) -> dict[str, _Fact] | None:
        try:
            head, _, content = self._file.read_bytes().partition(b"\n")
            if head.decode() != self._head(content, receipts):
                return None
            return {path: (tuple(blobs), value) for path, (blobs, value) in json.loads(content).items()}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return None

    def _keep(self, receipts: frozenset[str]) -> None:
        content = json.dumps(self._facts, separators=(",", ":")).encode()
        with suppress(OSError):  # a home that cannot be written is still read
            write_file(self._file, f"{self._head(content, receipts)}\n".encode() + content, durable=False)
            self._unkept.clear()
            self._is_stale = False

    def _head(self, content: bytes, receipts: frozenset[str]) -> str:
        forgotten = sha256(" ".join(sorted(receipts)).encode()).hexdigest()
        return f"{self._sign} {forgotten} {sha256(content).hexdigest()}"
