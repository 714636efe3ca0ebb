"""A repository on this machine without Git's program: copied directly, with the checks of a server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gitmem.backends.dulwich_repository import open_repository
from gitmem.errors import (
    CorruptionError,
    HeadMoved,
    HomeError,
    HomeLocked,
    NotAHome,
    NotARepository,
    ObjectMissing,
    RemoteDenied,
    RemoteError,
    RemoteMisbehaved,
)
from gitmem.git_transport.deadline import Deadline
from gitmem.git_transport.pack_arrival import Store
from gitmem.git_transport.pack_entries import pack_entries
from gitmem.layout import Layout, find_layout
from gitmem.pack_files import keep_file, write_pack_files
from gitmem.push_rules import check_updates, judge_update
from gitmem.remote_repository import FetchedPack, RefOutcome, RefUpdate, RemoteRefs
from gitmem.repository import ABSENT, GitObject, ObjectReader, Repository
from gitmem.transfer_walk import Closure, LackingObject, lacking_objects, links_of, new_history

#: Up to here objects are copied whole, as those of a few turns.
_FEW: Final = 100
_WHO: Final = "gitmem <gitmem@localhost>"
#: What a server would run before it takes a push.
_HOOKS: Final = ("pre-receive", "update", "reference-transaction", "proc-receive")


class PathCopy:
    """The `RemoteRepository` protocol between two folders.

    Args:
        path: the remote's folder.
        store: the own store.
    """

    def __init__(self, path: Path, store: Store) -> None:
        self._path = path
        self._store = store
        self._layout: Layout | None = None
        self._opened: Repository | None = None

    def refs(self, prefixes: Sequence[str] = ()) -> RemoteRefs:
        """Return the remote's refs."""
        deadline = self._deadline()
        remote = self._remote()
        refs: dict[str, str] = {}
        for prefix in prefixes or ("refs/",):
            refs |= _below(remote, prefix)
        peeled = {}
        for name, value in refs.items():
            deadline.remaining()
            end = _peel(remote, value) if name.startswith("refs/tags/") else value
            if end != value:
                peeled[name] = end
        return RemoteRefs(dict(sorted(refs.items())), remote.head().branch, peeled)

    @contextmanager
    def fetch(self, wants: Sequence[str], haves: Sequence[str] = ()) -> Iterator[FetchedPack]:
        """Bring objects into the own store."""
        deadline = self._deadline()
        remote, own = self._remote(), self._store.repository
        missing = [want for want in wants if not own.contains(want)]
        try:
            lacking = list(lacking_objects(remote, new_history(remote, missing, haves)))
            size = _check(remote, lacking, wants, own, deadline)
        except (ObjectMissing, CorruptionError) as error:
            message = f"what is at {self._path} cannot be used: {error.message}"
            raise RemoteMisbehaved(message, hint="Run `git fsck` there.", **error.details) from error
        with _copied(remote, lacking, own, self._store.layout, deadline):
            yield FetchedPack(len(lacking), size)

    def push(self, updates: Sequence[RefUpdate]) -> tuple[RefOutcome, ...]:
        """Move refs of the remote."""
        check_updates(updates, self._store.repository)
        remote, deadline = self._remote(), self._deadline()
        hooks = self._hooks()
        if hooks:
            message = f"{self._path} has the hook {hooks[0]}, which only Git can run"
            raise RemoteDenied(message, hint="Install Git.", hooks=hooks)
        return tuple(self._pushed(remote, update, deadline) for update in updates)

    def close(self) -> None:
        """Release files."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _pushed(self, remote: Repository, update: RefUpdate, deadline: Deadline) -> RefOutcome:
        own = self._store.repository
        known = remote.list_refs("refs/")
        decided = judge_update(update, known, own)
        if decided is not None:
            return decided
        if update.name in self._checked_out(remote):
            return RefOutcome(update.name, "refused", "the branch is checked out there")
        tips = [] if update.new is None else [update.new]
        landmarks = [value for name, value in known.items() if name.startswith("refs/heads/")]
        history = new_history(own, tips, set(known.values()), landmarks=landmarks)
        lacking = list(lacking_objects(own, history))
        try:
            with _copied(own, lacking, remote, self._layout or self._store.layout, deadline):
                remote.move_ref(
                    update.name,
                    old=update.old or ABSENT,
                    new=update.new or ABSENT,
                    message="push",
                    who=_WHO,
                )
        except (HeadMoved, HomeLocked) as error:
            return RefOutcome(update.name, "moved", error.message)
        except HomeError as error:
            return RefOutcome(update.name, "refused", error.message)
        remote.settle_refs()
        return RefOutcome(update.name)

    def _checked_out(self, remote: Repository) -> set[str]:
        """Return the branches that a work tree of the remote stands on."""
        layout = self._layout
        if layout is None:
            return set()
        found = set()
        if (remote.config("core.bare") or "false").lower() != "true":
            found.add(remote.head().branch or "")
        for head in (layout.common_dir / "worktrees").glob("*/HEAD"):
            with suppress(OSError):
                found.add(head.read_text("utf-8", "replace").removeprefix("ref:").strip())
        return found

    def _hooks(self) -> list[str]:
        layout = self._layout
        folder = Path() if layout is None else layout.common_dir / "hooks"
        return [name for name in _HOOKS if os.access(folder / name, os.X_OK)]

    def _deadline(self) -> Deadline:
        return Deadline(self._store.limits.seconds, str(self._path), self._store.limits.given)

    def _remote(self) -> Repository:
        if self._opened is None:
            self._layout = _layout_of(self._path)
            opened = open_repository(self._layout)
            kind = opened.object_format()
            if kind != "sha1":
                raise RemoteError(f"{self._path} is a repository of a kind unknown here: {kind}", format=kind)
            self._opened = opened
        return self._opened


def _layout_of(path: Path) -> Layout:
    if (path / "objects").is_dir() and (path / "HEAD").is_file():
        return Layout(path, path, path)
    try:
        return find_layout(path)
    except (NotAHome, OSError) as error:
        message = f"there is no Git repository at {path}"
        raise NotARepository(message, hint="Check the path.", url=str(path)) from error


def _below(remote: Repository, prefix: str) -> dict[str, str]:
    folder = prefix[: prefix.rindex("/") + 1] if "/" in prefix else "refs/"
    return {name: value for name, value in remote.list_refs(folder).items() if name.startswith(prefix)}


def _check(
    source: ObjectReader,
    lacking: Sequence[LackingObject],
    wants: Sequence[str],
    own: Repository,
    deadline: Deadline,
) -> int:
    """Make sure that what is to be copied lacks nothing; return how many bytes it is."""
    closure, size = Closure(), 0
    for one in lacking:
        deadline.remaining()
        kind, content = source.read(one.id)
        closure.add(one.id, kind, content)
        size += len(content)
    closure.check(wants, own.contains)
    return size


@contextmanager
def _copied(
    source: ObjectReader,
    lacking: Sequence[LackingObject],
    target: Repository,
    layout: Layout,
    deadline: Deadline,
) -> Iterator[None]:
    """Write objects of one repository into another as a pack that is held until the context ends.

    Args:
        source: where they are.
        lacking: which.
        target: the other one.
        layout: where that one lies.
        deadline: for reading them.
    """
    if len(lacking) <= _FEW:
        objects = [GitObject(*source.read(one.id), one.id) for one in lacking]
        with target.write_pack(objects):
            yield
        return
    stem = write_pack_files(
        layout.common_dir / "objects" / "pack",
        pack_entries(source, lacking, thin=False, pulse=deadline.remaining),
        len(lacking),
        level=1,
        keep=keep_file(layout.common_dir / "gitmem" / "keep"),
        shared=target.config("core.sharedRepository"),
    )
    try:
        yield
    finally:
        stem.with_suffix(".keep").unlink(missing_ok=True)


def _peel(source: ObjectReader, object_id: str) -> str:
    kind, content = source.read(object_id)
    while kind == "tag":
        object_id = links_of(object_id, kind, content)[0][0]
        kind, content = source.read(object_id)
    return object_id
