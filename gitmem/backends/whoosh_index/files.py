"""Whoosh's files, fields and codec: read without trust, written durably."""

from __future__ import annotations

import os
import pickle
import re
import zlib
from array import array
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from sys import byteorder
from typing import Any, Final

from whoosh import columns, fields, formats
from whoosh.codec.whoosh3 import W3Codec, W3LeafMatcher, W3Segment, W3TermsReader
from whoosh.filedb.compound import CompoundStorage
from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import BufferFile, StructFile

from gitmem.durable_file import sync_folder, write_file
from gitmem.manifest import Manifest, format_manifest, parse_manifest
from gitmem.private_folder import open_own
from gitmem.search_index import COLUMNS, IndexDamaged

NAME: Final = "MAIN"
TERMS: Final = "terms"
ROW: Final = "row"
_TOC: Final = re.compile(rf"_{NAME}_([0-9]+)\.toc")
_SEAL_BYTES: Final = 32
_MANIFEST: Final = re.compile(r"manifest-([0-9]+)\.json")
#: How the name of a manifest begins that a kill left half written.
_BROKEN_OFF: Final = ".manifest-"


class TermCounts(fields.FieldType):
    """The field of terms; what it holds comes ready from the analyzer, without positions."""

    def __init__(self) -> None:
        super().__init__(format=formats.Existence(), analyzer=None, scorable=False, stored=False)


class ColumnField(fields.FieldType):
    """A field that is only a column."""

    indexed = False

    def __init__(self, column: columns.Column) -> None:
        self.column_type = column


class Numbers(columns.NumericColumn):
    """A column of signed 64-bit numbers that is read as one array."""

    def __init__(self) -> None:
        super().__init__("q", default=0)

    class Reader(columns.NumericColumn.Reader):
        """Reads the whole column at once."""

        def load(self) -> Sequence[int]:
            """Return all values; those that were not written are 0."""
            values = _numbers("q", self._dbfile.get(self._basepos, self._count * 8))
            values.extend([0] * (self._doccount - self._count))
            return values


NUMBERS: Final = Numbers()
ROWS: Final = columns.VarBytesColumn()
SCHEMA: Final = fields.Schema(
    **{TERMS: TermCounts(), ROW: ColumnField(ROWS)}, **{name: ColumnField(NUMBERS) for name in COLUMNS}
)


class _Unpickler(pickle.Unpickler):
    """Reads Whoosh's pickles: numbers, texts and containers, and gitmem's own two classes."""

    def find_class(self, module: str, name: str) -> Any:
        """Return one of the two classes; anything else is an attack or damage."""
        if module == __name__ and name in ("Codec", "Segment"):
            return {"Codec": Codec, "Segment": Segment}[name]
        raise pickle.UnpicklingError(f"a search index does not hold {module}.{name}")


class _Buffer(BufferFile):
    """A file of the index in memory."""

    def read_pickle(self) -> Any:
        """Read harmless data only."""
        return _Unpickler(self.file).load()


class _Handle:
    """An open file that threads read without a common position, closed when nobody holds it any more."""

    def __init__(self, path: Path) -> None:
        self._descriptor = open_own(path)

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def read(self, offset: int, size: int) -> bytes:
        """Return `size` bytes.

        Raises:
            IndexDamaged: the file ends before.
        """
        content = os.pread(self._descriptor, size, offset)
        if len(content) != size:
            raise IndexDamaged("a segment is cut off")
        return content

    def checksum(self) -> int:
        """Return a checksum of the whole file."""
        value = at = 0
        while chunk := os.pread(self._descriptor, 1 << 20, at):
            value, at = zlib.crc32(chunk, value), at + len(chunk)
        return value


class _Span(StructFile):
    """A file inside a segment, read piece by piece: it is large and little of it is asked for."""

    def __init__(self, handle: _Handle, offset: int, length: int) -> None:
        super().__init__(None)
        self._handle = handle
        self._offset = offset
        self._length = length

    def get(self, position: int, length: int) -> bytes:
        """Return bytes of the file."""
        if not 0 <= position <= position + length <= self._length:
            raise IndexDamaged("outside of a file in a segment")
        return self._handle.read(self._offset + position, length)

    def get_array(self, position: int, typecode: str, length: int) -> array[Any]:
        """Return numbers of the file."""
        return _numbers(typecode, self.get(position, length * array(typecode).itemsize))

    def close(self) -> None:
        """The handle closes itself."""


def _numbers(typecode: str, content: bytes) -> array[Any]:
    values = array(typecode, content)
    if byteorder == "little":
        values.byteswap()
    return values


class Storage(FileStorage):
    """The folder; makes a commit durable and ties the manifest to it.

    Args:
        folder: private to this user.
        manifest: of the commit that is written through this storage.
    """

    def __init__(self, folder: Path, manifest: Manifest | None = None) -> None:
        super().__init__(str(folder))
        self._path = folder
        self._manifest = manifest
        self._written: set[str] = set()

    def create_file(self, name: str, **options: Any) -> Any:
        """Make a file, to be synced by the commit."""
        self._written.add(name)
        return super().create_file(name, **options)

    def open_file(self, name: str, **_: Any) -> _Buffer:
        """Read a file of this user."""
        return _Buffer(_read_own(self._path / name), name=name)

    def open_handle(self, name: str) -> _Handle:
        """Open a segment's file."""
        return _Handle(self._path / name)

    def rename_file(self, oldname: str, newname: str, safe: bool = False) -> None:
        """Put the table of contents in place: the commit, for which everything else has to be durable."""
        toc = _TOC.fullmatch(newname)
        assert toc is not None
        assert self._manifest is not None
        manifest = format_manifest(self._manifest)
        with (self._path / oldname).open("ab") as file:
            file.write(_seal_of((self._path / oldname).read_bytes(), manifest))
        for name in self._written:
            with suppress(FileNotFoundError):
                _sync(self._path / name)
        # Before the table of contents, so that no manifest is ever ahead of the index it describes.
        write_file(manifest_file(self._path, int(toc[1])), manifest)
        super().rename_file(oldname, newname, safe=safe)
        sync_folder(self._path)


class _Compound(CompoundStorage):
    """The one file of a segment, opened as the folder of files that it is."""

    def __init__(self, handle: _Handle) -> None:
        self.is_closed = False
        self._handle = handle
        self._source = self._file = None
        place = _Buffer(handle.read(0, 12))
        start, length = place.read_long(), place.read_int()
        self._dir = _Buffer(handle.read(start, length)).read_pickle()

    def open_file(self, name: str, *_: Any, **__: Any) -> _Buffer | _Span:
        """Open a file inside; numbers and terms are read at once, postings and documents when asked for."""
        offset, length = self.range(name)
        if name.endswith((W3Codec.POSTS_EXT, f".{ROW}{W3Codec.COLUMN_EXT}")):
            return _Span(self._handle, offset, length)
        return _Buffer(self._handle.read(offset, length), name=name)


class Segment(W3Segment):
    """A segment whose file is read without trust.

    Attributes:
        checksum: of its file; Whoosh's formats have none, and would answer wrongly from a damaged one.
    """

    checksum = 0

    def __getstate__(self) -> dict[str, Any]:
        """Return what the table of contents holds of it, without the one value of a foreign class."""
        return {**self.__dict__, "_fieldlengths": {}}

    def create_compound_file(self, storage: Storage) -> None:
        """Put the segment's files into one."""
        super().create_compound_file(storage)
        self.checksum = storage.open_handle(self.make_filename(self.COMPOUND_EXT)).checksum()

    def open_compound_file(self, storage: Storage) -> _Compound:
        """Open the segment's file."""
        handle = storage.open_handle(self.make_filename(self.COMPOUND_EXT))
        if handle.checksum() != self.checksum:
            raise IndexDamaged("a segment is not what was written")
        return _Compound(handle)


class Codec(W3Codec):
    """Whoosh's own file format, read without trust."""

    # No lengths for each posting: a document's length is a column.
    length_stats = False

    def new_segment(self, _storage: Any, indexname: str) -> Segment:
        """Return a segment to be written."""
        return Segment(self, indexname)

    def terms_reader(self, storage: Any, segment: Segment) -> _Terms:
        """Open the terms of a segment."""
        name = segment.make_filename(self.TERMS_EXT)
        length = storage.file_length(name)
        return _Terms(self, storage.open_file(name), length, segment.open_file(storage, self.POSTS_EXT))

    def postings_reader(
        self, dbfile: Any, terminfo: Any, format_: Any, term: Any = None, scorer: Any = None
    ) -> _Matcher:
        """Open the postings of a term."""
        offset, length = terminfo.extent()
        if isinstance(length, tuple):  # whoosh3 3.54 forgets to unpack it; nothing of its own asks for it
            (length,) = length
        return _Matcher(_Buffer(dbfile.get(offset, length)), 0, length, format_, term=term, scorer=scorer)


class _Terms(W3TermsReader):
    """The terms of a segment."""

    def decode(self, term: bytes) -> tuple[array[int], array[float]]:
        """Return all postings of a term: document numbers, and how often each document has it."""
        key = self._keycoder(TERMS, term)
        if key not in self._tindex:
            return array("I"), array("f")
        # Whoosh would unpickle postings that stand beside their term; gitmem writes none there.
        if self._dbfile.get_byte(self._tindex.range_for_key(key)[0]) != 0:
            raise IndexDamaged("postings where gitmem writes none")
        matcher: _Matcher = self.matcher(TERMS, term, SCHEMA[TERMS].format)
        return matcher.decode()


class _Matcher(W3LeafMatcher):
    """The postings of a term."""

    def _read_data(self) -> None:
        raw = self._postfile.get(self._dataoffset, self._nextoffset - self._dataoffset)
        self._data = _Unpickler(BytesIO(zlib.decompress(raw) if self._compression else raw)).load()

    def decode(self) -> tuple[array[int], array[float]]:
        """Return all postings at once, block by block."""
        numbers, counts = array("I"), array("f")
        last = 0
        while True:
            self._read_data()
            steps, weights, _ = self._data
            block = list(accumulate(steps))
            if len(block) != self._blocklength or min(block) < last:
                raise IndexDamaged("a block of postings out of order")
            last = block[-1]
            numbers.extend(block)
            if isinstance(weights, tuple):
                counts.extend(weights)
            else:
                counts.extend([1.0 if weights is None else weights] * len(block))
            if self._lastblock:
                return numbers, counts
            self._next_block()


def find_generation(folder: Path) -> int | None:
    """Return the number of the last commit, None where there is none."""
    found = [int(match[1]) for name in os.listdir(folder) if (match := _TOC.fullmatch(name))]  # noqa: PTH208
    return max(found, default=None)


def read_seal(folder: Path, generation: int) -> bytes:
    """Return what tells a commit from every other, also from one of the same number in an older copy."""
    descriptor = open_own(folder / f"_{NAME}_{generation}.toc")
    try:
        size = os.fstat(descriptor).st_size
        return os.pread(descriptor, _SEAL_BYTES, max(size - _SEAL_BYTES, 0))
    finally:
        os.close(descriptor)


def read_manifest(folder: Path, generation: int) -> Manifest:
    """Return the manifest of a commit, if it and the table of contents are what was written together.

    Raises:
        IndexDamaged: they are not.
        OtherFormat: another gitmem wrote them.
    """
    toc = _read_own(folder / f"_{NAME}_{generation}.toc")
    content = _read_own(manifest_file(folder, generation))
    manifest = parse_manifest(content)
    if toc[-_SEAL_BYTES:] != _seal_of(toc[:-_SEAL_BYTES], content):
        raise IndexDamaged("table of contents and manifest are not what was written")
    return manifest


def _seal_of(toc: bytes, manifest: bytes) -> bytes:
    """Return a digest that stands behind the table of contents; Whoosh reads no further than its own end."""
    return sha256(len(toc).to_bytes(8, "big") + toc + manifest).digest()


def _read_own(path: Path) -> bytes:
    with os.fdopen(open_own(path), "rb") as file:
        return file.read()


def manifest_file(folder: Path, generation: int) -> Path:
    """Return where the manifest of a commit stands."""
    return folder / f"manifest-{generation}.json"


def remove_other_manifests(folder: Path, generation: int) -> None:
    """Remove the manifests of all commits but one, and what a kill left of one."""
    for path in list(folder.iterdir()):
        match = _MANIFEST.fullmatch(path.name)
        if (match and int(match[1]) != generation) or path.name.startswith(_BROKEN_OFF):
            path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
