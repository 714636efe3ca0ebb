"""What is kept of each segment of the ledger, so that a process reads only those that are new to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final

from gitmem.errors import ObjectMissing
from gitmem.facts_file import FactsFile, Place, Row, to_json, write_facts
from gitmem.layout import Layout
from gitmem.ledger import Ledger, Segment
from gitmem.ledger_format import parse_segment_path

#: Folder of these files below the layout's derived one.
_FOLDER: Final = "facts"
#: Of the file around the facts; a caller's own version counts what is inside.
_FORMAT: Final = 2
#: Segments that may be read anew before they are kept: a turn changes the last one of its line.
_SPARE: Final = 4
#: Lines of the file that may be superseded, beside as many as hold, before it is written anew.
_SUPERSEDED: Final = 64

#: Blob ids of the versions that a segment's lines hold, and what was extracted from their union: as JSON, or
#: where that stands in the file.
_Fact = tuple[tuple[str, ...], bytes | Place]


class _Values(Mapping[str, Any]):
    """Values by path, made of their JSON when they are looked at."""

    def __init__(self, facts: Mapping[str, _Fact], read: Callable[[str, _Fact], Any]) -> None:
        self._facts = facts
        self._read = read

    def __getitem__(self, path: str) -> Any:
        return self._read(path, self._facts[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)


class SegmentFacts:
    """One JSON value for each segment: a fold over its lines, kept in a file that may vanish at any time.

    A value holds as long as the segment has the same blobs and nothing more was forgotten. The file grows by
    a line for each segment that was read, and a later line stands for an earlier one; a line is trusted only
    with its check, which covers version and receipts, too. What is absent or damaged is read again. Safe in
    threads and beside other processes.

    Args:
        layout: the file lies in its derived folder.
        ledger: whose segments.
        name: of the file; a word.
        version: of what `extract` returns; another one makes the file worthless.
        extract: from a segment's content, closed under receipts, to JSON data. Texts in it outlive their
            forgetting until the next catching up: it should keep ids and hashes.

    Attributes:
        left: segments that the last catching up did not read.
    """

    def __init__(
        self, layout: Layout, ledger: Ledger, name: str, version: int, extract: Callable[[bytes], Any]
    ) -> None:
        self._file = layout.derived / _FOLDER / f"{name}.json"
        self._sign = f"gitmem facts {_FORMAT} {name} {version}"
        self._ledger = ledger
        self._extract = extract
        self._facts: dict[str, _Fact] | None = None
        self._kept: FactsFile | None = None
        self._receipts: frozenset[str] = frozenset()
        self._unkept: set[str] = set()
        self._lines = 0
        self._is_stale = False
        self.left = 0
        self._lock = threading.RLock()
        ledger.close_with(self)

    def close(self) -> None:
        """Release the file; whoever goes on begins with it anew."""
        with self._lock:
            if self._kept is not None:
                self._kept.close()
            self._facts = self._kept = None

    def values(self) -> Mapping[str, Any]:
        """Return the value of every readable segment by its path; not to be changed."""
        with self._lock:
            self.catch_up()
            assert self._facts is not None
            return _Values(dict(self._facts), self._value)

    def known(self) -> Mapping[str, Any]:
        """Return the values that were read so far, by path; nothing more is read for it."""
        with self._lock:
            return _Values(dict(self._facts or {}), self._value)

    def value(self, path: str) -> Any:
        """Return what was read of a segment, None if nothing was."""
        with self._lock:
            fact = (self._facts or {}).get(path)
        return None if fact is None else self._value(path, fact)

    def catch_up(self, goes_on: Callable[[], bool] = lambda: True) -> Iterable[tuple[str, Any]]:
        """Read what is new or changed; return it by path. The first time that is everything that is kept.

        Args:
            goes_on: is asked before each segment; what is left when it says no is read another time.
        """
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
            learned = self._learn(changed, goes_on)
            self.left = sum(segment.path not in learned for segment in changed)
            self._unkept.update(learned)
            if len(self._unkept) > _SPARE or self._is_stale:
                self._keep(receipts)
            if is_first:  # one value after the other: all at once they would take much memory
                present = {path: facts[path] for path in segments if path in facts}
                return _Values(present, self._value).items()
            return learned.items()

    def _learn(self, segments: Sequence[Segment], goes_on: Callable[[], bool]) -> dict[str, Any]:
        assert self._facts is not None
        learned: dict[str, Any] = {}
        for segment in segments:
            if not goes_on():
                break
            with suppress(ObjectMissing):  # it may be fetched later
                value = self._extract(self._ledger.read_segment(segment))
                self._facts[segment.path] = segment.blobs, to_json(value)
                learned[segment.path] = value
        return learned

    def _begin(self, receipts: frozenset[str], *, is_first: bool) -> dict[str, _Fact]:
        """Return what holds still; nothing if more was forgotten since, as that is to be read as its stub."""
        if is_first:
            return self._read(receipts)
        self._is_stale = True  # what the file says of forgotten records must not stay
        return {}

    def _value(self, path: str, fact: _Fact) -> Any:
        """Return a value; of one whose place in the file is damaged by now, the segment is read again."""
        blobs, source = fact
        if isinstance(source, bytes):
            return json.loads(source)
        with suppress(OSError, ValueError, TypeError, RecursionError):
            return json.loads(source.read())
        with self._lock:
            self._is_stale = True
            value = self._extract(self._ledger.read_segment(_segment(path, blobs)))
            if self._facts is not None and path in self._facts and self._facts[path][0] == blobs:
                self._facts[path] = blobs, to_json(value)
            return value

    def _read(self, receipts: frozenset[str]) -> dict[str, _Fact]:
        found: dict[str, _Fact] = {}
        shared = {path: segment.blobs for path, segment in self._ledger.segments().items()}
        self._lines = 0
        try:
            self._kept = FactsFile(self._file, self._head(receipts))
            for one in self._kept.rows():
                self._lines += 1
                self._is_stale |= one is None
                if one is not None:
                    (path, blobs, _), place = one
                    known = shared.get(path)  # most ids are in memory once
                    found[path] = known if known == blobs else blobs, place
        except OSError:
            return {}
        return found

    def _keep(self, receipts: frozenset[str]) -> None:
        assert self._facts is not None
        head = self._head(receipts)
        fresh = [path for path in self._unkept if path in self._facts]
        with suppress(OSError):  # a home that cannot be written is still read
            if self._kept is not None and self._can_grow(self._kept, head, len(fresh)):
                places = self._kept.add(self._file, [self._row(path) for path in fresh])
                for path, place in zip(fresh, places, strict=True):
                    self._facts[path] = self._facts[path][0], place
                self._lines += len(fresh)
            else:
                write_facts(self._file, head, map(self._row, self._facts))
                kept = self._read(receipts)
                self._facts = {
                    path: kept[path] if path in kept and kept[path][0] == fact[0] else fact
                    for path, fact in self._facts.items()
                }
            self._unkept.clear()
            self._is_stale = False

    def _row(self, path: str) -> Row:
        assert self._facts is not None
        blobs, source = self._facts[path]
        content = source if isinstance(source, bytes) else to_json(self._value(path, (blobs, source)))
        return path, blobs, content

    def _can_grow(self, kept: FactsFile, head: bytes, more: int) -> bool:
        assert self._facts is not None
        if self._is_stale or self._lines + more > 2 * len(self._facts) + _SUPERSEDED:
            return False
        return kept.head == head and kept.is_at(self._file)

    def _head(self, receipts: frozenset[str]) -> bytes:
        return f"{self._sign} {sha256(' '.join(sorted(receipts)).encode()).hexdigest()}".encode()


def _segment(path: str, blobs: tuple[str, ...]) -> Segment:
    name = parse_segment_path(path)
    assert name is not None
    return Segment(path, name.writer, name.number, blobs)
