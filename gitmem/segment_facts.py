"""What is kept of each segment of the ledger, so that a process reads only those that are new to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
_FORMAT: Final = 2
#: Segments that may be read anew before they are kept: a turn changes the last one of its line.
_SPARE: Final = 4
#: Lines of the file that may be superseded, beside as many as hold, before it is written anew.
_SUPERSEDED: Final = 64
#: Hex digits of a line's check.
_CHECK: Final = 16

#: Blob ids of the versions that a segment's lines hold, and what was extracted from their union, as JSON: a
#: fifth of the memory of the values themselves.
_Fact = tuple[tuple[str, ...], bytes]


class _Values(Mapping[str, Any]):
    """Values by path, made of their JSON when they are looked at."""

    def __init__(self, facts: Mapping[str, _Fact]) -> None:
        self._facts = facts

    def __getitem__(self, path: str) -> Any:
        return json.loads(self._facts[path][1])

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
        self._receipts: frozenset[str] = frozenset()
        self._unkept: set[str] = set()
        self._lines = 0
        self._is_stale = False
        self.left = 0
        self._lock = threading.RLock()

    def values(self) -> Mapping[str, Any]:
        """Return the value of every readable segment by its path; not to be changed."""
        with self._lock:
            self.catch_up()
            assert self._facts is not None
            return _Values(dict(self._facts))

    def known(self) -> Mapping[str, Any]:
        """Return the values that were read so far, by path; nothing more is read for it."""
        with self._lock:
            return _Values(dict(self._facts or {}))

    def value(self, path: str) -> Any:
        """Return what was read of a segment, None if nothing was."""
        with self._lock:
            fact = (self._facts or {}).get(path)
        return None if fact is None else json.loads(fact[1])

    def paths_with(self, text: str) -> list[str]:
        """Return the segments in whose value a text stands as a string; nothing more is read for it.

        Args:
            text: letters, digits and signs that JSON writes as they are.
        """
        needle = _to_json(text)
        with self._lock:
            return [path for path, (_, content) in (self._facts or {}).items() if needle in content]

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
                values = _Values({path: facts[path] for path in segments if path in facts})
                return values.items()
            return learned.items()

    def _learn(self, segments: Sequence[Segment], goes_on: Callable[[], bool]) -> dict[str, Any]:
        assert self._facts is not None
        learned: dict[str, Any] = {}
        for segment in segments:
            if not goes_on():
                break
            with suppress(ObjectMissing):  # it may be fetched later
                value = self._extract(self._ledger.read_segment(segment))
                self._facts[segment.path] = segment.blobs, _to_json(value)
                learned[segment.path] = value
        return learned

    def _begin(self, receipts: frozenset[str], *, is_first: bool) -> dict[str, _Fact]:
        """Return what holds still; nothing if more was forgotten since, as that is to be read as its stub."""
        if is_first:
            return self._read(receipts)
        self._is_stale = True  # what the file says of forgotten records must not stay
        return {}

    def _read(self, receipts: frozenset[str]) -> dict[str, _Fact]:
        try:
            head, *lines = self._file.read_bytes().split(b"\n")
        except OSError:
            return {}
        expected = self._head(receipts)
        found: dict[str, _Fact] = {}
        for line in lines[:-1] if head == expected else ():
            with suppress(ValueError, TypeError, RecursionError):
                path, fact = _read_line(expected, line)
                found[path] = fact
                continue
            self._is_stale = True
        self._lines = len(lines)
        self._is_stale |= head != expected or lines[-1:] != [b""]
        return found

    def _keep(self, receipts: frozenset[str]) -> None:
        assert self._facts is not None
        head = self._head(receipts)
        fresh = [path for path in self._unkept if path in self._facts]
        with suppress(OSError):  # a home that cannot be written is still read
            if self._can_grow(head, len(fresh)):
                with self._file.open("ab") as file:
                    file.write(b"".join(_line(head, path, self._facts[path]) for path in fresh))
                self._lines += len(fresh)
            else:
                lines = (_line(head, path, fact) for path, fact in self._facts.items())
                write_file(self._file, head + b"\n" + b"".join(lines), durable=False)
                self._lines = len(self._facts)
            self._unkept.clear()
            self._is_stale = False

    def _can_grow(self, head: bytes, more: int) -> bool:
        assert self._facts is not None
        if self._is_stale or self._lines + more > 2 * len(self._facts) + _SUPERSEDED:
            return False
        with suppress(FileNotFoundError), self._file.open("rb") as file:
            return file.read(len(head) + 1) == head + b"\n"
        return False

    def _head(self, receipts: frozenset[str]) -> bytes:
        return f"{self._sign} {sha256(' '.join(sorted(receipts)).encode()).hexdigest()}".encode()


def _to_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _line(head: bytes, path: str, fact: _Fact) -> bytes:
    content = b"[%b,%b,%b]" % (_to_json(path), _to_json(fact[0]), fact[1])
    return b"%b %b\n" % (_check(head, content), content)


def _check(head: bytes, content: bytes) -> bytes:
    # Of what another process wrote under other receipts or another version, nothing is taken.
    return sha256(head + b"\n" + content).hexdigest()[:_CHECK].encode()


def _read_line(head: bytes, line: bytes) -> tuple[str, _Fact]:
    check, _, content = line.partition(b" ")
    if check != _check(head, content):
        raise ValueError("a damaged line")
    decoder = json.JSONDecoder()
    text = content.decode("ascii")
    path, end = decoder.raw_decode(text, 1)
    blobs, end = decoder.raw_decode(text, end + 1)
    return str(path), (tuple(blobs), content[end + 1 : -1])
