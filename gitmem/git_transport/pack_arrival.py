"""Takes in a pack from a server: all of it, checked, as one durable pack of the own store, or nothing."""

from __future__ import annotations

import mmap
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from gitmem.durable_file import write_all
from gitmem.errors import CorruptionError, ObjectMissing, RemoteMisbehaved
from gitmem.git_transport.pack_stream import Content, PackStream
from gitmem.layout import Layout
from gitmem.pack_files import keep_file, write_pack_files
from gitmem.pack_format import PackEntry, whole_entry
from gitmem.remote_repository import FetchedPack, TransferLimits
from gitmem.repository import GitObject, ObjectKind, Repository
from gitmem.transfer_walk import Closure

#: Up to here a pack stays in memory and its objects are stored whole, as those of a turn.
_SMALL_PACK: Final = 4 << 20
_SMALL_CONTENT: Final = 32 << 20
_SMALL_COUNT: Final = 2000
_PIECE: Final = 1 << 16
#: Packs of whole histories are merged with those of many turns, if at all.
_LEVEL: Final = 1


class Incoming(Protocol):
    """Where a pack comes from."""

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Store:
    """The own store, and what may come into it."""

    repository: Repository
    layout: Layout
    limits: TransferLimits

    @property
    def pack_folder(self) -> Path:
        """Where packs lie."""
        return self.layout.common_dir / "objects" / "pack"

    def read(self, object_id: str) -> tuple[ObjectKind, bytes] | None:
        """Return an object, or None if it is not here."""
        try:
            return self.repository.read(object_id)
        except ObjectMissing:
            return None


@contextmanager
def take_in(
    source: Incoming, store: Store, wants: Sequence[str], pulse: Callable[[], object]
) -> Iterator[FetchedPack]:
    """Read a pack to its end, check it and store it; a `.keep` holds it until the context ends.

    Args:
        source: the pack's bytes.
        store: where it goes.
        wants: what was asked for.
        pulse: called for each object; what it raises ends the work.

    Raises:
        RemoteMisbehaved: it is damaged, too large, or lacks something; nothing was stored.
    """
    with ExitStack() as stack:
        content = stack.enter_context(_received(source, store))
        stream = PackStream(content, store.read, store.limits.object_bytes, pulse)
        stack.callback(stream.close)
        with _translated():
            small = _checked(stream, store, wants, keep=len(content) <= _SMALL_PACK)
        count = len({entry.id for entry in stream.entries})
        if small is not None:
            stack.enter_context(store.repository.write_pack(small))
        elif count:
            stack.enter_context(_stored(stream, store))
        yield FetchedPack(count, len(content))


def _checked(stream: PackStream, store: Store, wants: Sequence[str], *, keep: bool) -> list[GitObject] | None:
    """Check everything; return the objects if they are few."""
    closure = Closure()
    kept: list[GitObject] | None = [] if keep else None
    weight = 0
    for object_id, kind, content in stream.objects():
        closure.add(object_id, kind, content)
        weight += len(content)
        if kept is not None:
            kept.append(GitObject(kind, content, object_id))
            if weight > _SMALL_CONTENT or len(kept) > _SMALL_COUNT:
                kept = None
    closure.check(wants, store.repository.contains)
    return kept


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except CorruptionError as error:
        message = f"what the remote sent cannot be used: {error.message}"
        hint = "Nothing of it was kept. Run `git fsck` there, or ask who runs it."
        raise RemoteMisbehaved(message, hint=hint, **error.details) from error


@contextmanager
def _stored(stream: PackStream, store: Store) -> Iterator[None]:
    bases = [_base_entry(store, object_id) for object_id in stream.outside_bases()]
    count = len({entry.id for entry in stream.entries}) + len(bases)

    def entries() -> Iterator[PackEntry]:
        yield from bases
        yield from stream.stored()

    stem = write_pack_files(
        store.pack_folder,
        entries(),
        count,
        level=_LEVEL,
        keep=keep_file(store.layout.common_dir / "gitmem" / "keep"),
        shared=store.repository.config("core.sharedRepository"),
    )
    try:
        yield
    finally:
        stem.with_suffix(".keep").unlink(missing_ok=True)


def _base_entry(store: Store, object_id: str) -> PackEntry:
    kind, content = store.repository.read(object_id)
    return whole_entry(GitObject(kind, content, object_id))


@contextmanager
def _received(source: Incoming, store: Store) -> Iterator[Content]:
    """Read to the end; what is large goes into a file without a name that anybody takes for a pack."""
    begun = bytearray()
    while len(begun) <= _SMALL_PACK:
        piece = source.read(_PIECE)
        if not piece:
            _check_length(len(begun), store)
            yield bytes(begun)
            return
        begun += piece
        _check_length(len(begun), store)
    with _spooled(source, begun, store) as content:
        yield content


@contextmanager
def _spooled(source: Incoming, begun: bytearray, store: Store) -> Iterator[mmap.mmap]:
    store.pack_folder.mkdir(parents=True, exist_ok=True)
    # As a part of a pack is named: what a killed process leaves is found and removed.
    path = store.pack_folder / f"gitmem-{os.getpid()}-{secrets.token_hex(6)}.part"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        # Its name is not needed any more; the space goes with the process, however it ends.
        path.unlink()
        write_all(descriptor, bytes(begun))
        length = len(begun)
        begun.clear()
        while piece := source.read(_PIECE):
            length += len(piece)
            _check_length(length, store)
            write_all(descriptor, piece)
        with mmap.mmap(descriptor, length, access=mmap.ACCESS_READ) as content:
            yield content
    finally:
        os.close(descriptor)


def _check_length(length: int, store: Store) -> None:
    if length > store.limits.pack_bytes:
        raise RemoteMisbehaved(
            f"the remote sends more than the {store.limits.pack_bytes} bytes that are allowed",
            hint="Allow more, or fetch with `git fetch`.",
            limit=store.limits.pack_bytes,
        )
