"""A Git repository on disk: objects and configuration read through dulwich, refs and packs through own files.

dulwich is imported when the first object or the first configuration value is asked for, so that opening a
home and reading its refs costs nothing.
"""

from __future__ import annotations

import errno
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, cast

from gitmem import pack_files
from gitmem.backends.dulwich_repository.settings import GitSettings
from gitmem.durable_file import remove_file, sync_folder
from gitmem.errors import CorruptionError, HomeLocked, ObjectMissing
from gitmem.file_lock import file_lock
from gitmem.git_objects import parse_commit, parse_tree
from gitmem.layout import Layout
from gitmem.new_repository import init_repository
from gitmem.pack_format import whole_entry
from gitmem.reachability import first_parents, reaches
from gitmem.recent_objects import RecentObjects
from gitmem.ref_files import RefFiles
from gitmem.repository import Commit, GitObject, Head, ObjectKind, TreeEntry

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore
    from dulwich.objects import ObjectID

__all__ = ["DulwichRepository", "init_repository", "open_repository"]

_KINDS: Final[dict[int, ObjectKind]] = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_ID: Final = re.compile(r"[0-9a-f]{40}")
#: Failures of the process or its rights, which say nothing about the object.
_PASSING: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EPERM)


def open_repository(layout: Layout) -> DulwichRepository:
    """Return the repository of a work tree; the first use of each part opens it."""
    repository = DulwichRepository(layout)
    with suppress(HomeLocked, PermissionError):
        repository.remove_stale_keeps()
    return repository


class DulwichRepository:
    """The `Repository` protocol over a repository on disk; may be used by several threads."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._pack_folder = layout.common_dir / "objects" / "pack"
        self._settings = GitSettings(layout, self.head)
        self._refs = RefFiles(layout, self._settings.get)
        self._recent = RecentObjects()
        self._keep = pack_files.keep_file(layout.common_dir / "gitmem" / "keep")
        self._lock = threading.RLock()
        self._store: DiskObjectStore | None = None
        self._release: Callable[[], object] = lambda: None

    def read(self, object_id: str) -> tuple[ObjectKind, bytes]:
        """Return kind and raw content of an object."""
        known = self._recent.get(object_id)
        if known is not None:
            return known
        with self._lock:
            kind, content = self._read_stored(object_id)
        self._recent.add(object_id, kind, content)
        return kind, content

    def read_tree(self, tree_id: str) -> Sequence[TreeEntry]:
        """Return the entries of a tree in Git's order."""
        entries = self._recent.entries(tree_id)
        if entries is None:
            entries = tuple(parse_tree(self._read_as("tree", tree_id)))
            self._recent.add_entries(tree_id, entries)
        return entries

    def read_commit(self, commit_id: str) -> Commit:
        """Return a parsed commit."""
        return parse_commit(commit_id, self._read_as("commit", commit_id))

    def contains(self, object_id: str) -> bool:
        """Say whether the object is in the store."""
        if _ID.fullmatch(object_id) is None:
            return False
        with self._lock:
            try:
                # Asking for the packs lets go of those that were removed: their indexes must not answer.
                _ = self._opened().packs
                return cast("ObjectID", object_id.encode()) in self._opened()
            except Exception as error:  # noqa: BLE001 - dulwich raises a dozen kinds for damaged packs
                return self._read_around_damage(object_id, error) is not None

    def head(self) -> Head:
        """Return what HEAD is now."""
        return self._refs.head()

    def read_ref(self, name: str) -> str | None:
        """Return a ref's value now, or None."""
        return self._refs.read(name)

    def list_refs(self, prefix: str) -> Mapping[str, str]:
        """Return names and values of the refs below `prefix`."""
        return self._refs.below(prefix)

    def move_ref(
        self, name: str, *, old: str, new: str, message: str, who: str, durable: bool = True
    ) -> None:
        """Compare-and-swap one ref, with its reflog line."""
        self._refs.move(name, old=old, new=new, message=message, who=who, durable=durable)

    def settle_refs(self) -> None:
        """Make the last ref moves durable, the names of the objects first."""
        with suppress(FileNotFoundError):
            sync_folder(self._pack_folder)
        self._refs.settle()

    @contextmanager
    def write_pack(self, objects: Sequence[GitObject], *, durable: bool = True) -> Iterator[None]:
        """Write objects as one small durable pack, held by a `.keep` until the context ends."""
        items = {item.id: item for item in objects}
        if not items:
            yield
            return
        entries = [whole_entry(item) for item in items.values()]
        shared = self._settings.get("core.sharedRepository")
        pack = pack_files.kept_pack(
            self._pack_folder, entries, keep=self._keep, shared=shared, durable=durable
        )
        with pack:
            for item in items.values():
                self._recent.add(item.id, item.kind, item.content)
            yield

    def remove_stale_keeps(self) -> list[str]:
        """Remove what dead processes of gitmem left among the packs; return the names.

        Raises:
            HomeLocked: the packs are being merged just now.
        """
        if not pack_files.stale_files(self._pack_folder):
            return []
        with file_lock(self._layout.maintenance_lock, wait=0):
            stale = pack_files.stale_files(self._pack_folder)
            return [path.name for path in stale if remove_file(path)]

    def config(self, key: str) -> str | None:
        """Return a Git configuration value, the most local one, or None."""
        return self._settings.get(key)

    def config_section(self, section: str) -> Sequence[tuple[str | None, str, str]]:
        """Return every setting of a section, the strongest last."""
        return self._settings.section(section)

    def set_config(self, key: str, value: str | None) -> None:
        """Set a value in the repository's own configuration file; None removes it."""
        self._settings.set(key, value)

    def object_format(self) -> str:
        """Return `sha1`, or name what gitmem does not support."""
        return self._settings.object_format()

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Say whether one commit is reachable from another."""
        return reaches(self.read_commit, descendant, ancestor)

    def walk_first_parents(self, commit_id: str) -> Iterator[Commit]:
        """Yield a commit and its first parents, newest first."""
        return first_parents(self.read_commit, commit_id)

    def close(self) -> None:
        """Release files; the object stays usable and opens them again."""
        with self._lock:
            # What was raised by a damaged object may hold a view of its pack still; it goes with that.
            with suppress(BufferError):
                self._release()
            self._store = None

    def _opened(self) -> DiskObjectStore:
        if self._store is None:
            from dulwich.object_store import DiskObjectStore  # noqa: PLC0415 - costs 50 ms

            self._store = DiskObjectStore(str(self._layout.common_dir / "objects"))
            # Also when this object is dropped without `close`; dulwich would complain.
            self._release = weakref.finalize(self, self._store.close)
        return self._store

    def _read_as(self, kind: ObjectKind, object_id: str) -> bytes:
        found, content = self.read(object_id)
        if found != kind:
            raise CorruptionError(f"{object_id} is a {found}, not a {kind}", object=object_id)
        return content

    def _read_stored(self, object_id: str) -> tuple[ObjectKind, bytes]:
        if _ID.fullmatch(object_id) is None:
            raise ObjectMissing(f"not an object id: {object_id!r}", object=object_id)
        try:
            number, content = self._read_twice(object_id)
        except KeyError:
            raise _missing(object_id) from None
        except Exception as error:
            found = self._read_around_damage(object_id, error)
            if found is None:
                raise _missing(object_id, reason=str(error) or type(error).__name__) from error
            number, content = found
        return _KINDS[number], content

    def _read_twice(self, object_id: str) -> tuple[int, bytes]:
        name = cast("ObjectID", object_id.encode())
        try:
            return self._opened().get_raw(name)
        except KeyError:
            # `git gc` may have packed a loose object after the packs were looked through.
            return self._opened().get_raw(name)

    def _read_around_damage(self, object_id: str, error: Exception) -> tuple[int, bytes] | None:
        """Look in each place by itself: one damaged pack must not hide what the others hold.

        Raises:
            OSError: the process, not the store, is at fault.
        """
        if isinstance(error, OSError) and error.errno in _PASSING:
            raise error
        from dulwich.objects import ObjectID, RawObjectID, ShaFile  # noqa: PLC0415

        store = self._opened()
        name, raw_id = ObjectID(object_id.encode()), RawObjectID(bytes.fromhex(object_id))
        for pack in store.packs:
            with suppress(Exception):
                return pack.get_raw(raw_id)
        with suppress(Exception):
            path = self._layout.common_dir / "objects" / object_id[:2] / object_id[2:]
            loose = ShaFile.from_path(str(path), name)
            return loose.type_num, loose.as_raw_string()
        for alternate in store.alternates:
            with suppress(Exception):
                return alternate.get_raw(name)
        return None


def _missing(object_id: str, **details: str) -> ObjectMissing:
    return ObjectMissing(f"object {object_id} is not in the repository", object=object_id, **details)
