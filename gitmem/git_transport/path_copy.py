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
from gitmem.layout import Layout, find_layout
from gitmem.push_rules import check_updates, judge_update
from gitmem.remote_repository import FetchedPack, RefOutcome, RefUpdate, RemoteRefs
from gitmem.repository import ABSENT, GitObject, ObjectReader, Repository
from gitmem.transfer_walk import Closure, lacking_objects, links_of, new_history

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
            history = new_history(remote, missing, haves)
            objects = _copied(remote, lacking_objects(remote, history), deadline)
            closure = Closure()
            for item in objects:
                closure.add(item.id, item.kind, item.content)
            closure.check(wants, own.contains)
        except (ObjectMissing, CorruptionError) as error:
            message = f"what is at {self._path} cannot be used: {error.message}"
            raise RemoteMisbehaved(message, hint="Run `git fsck` there.", **error.details) from error
        with own.write_pack(objects):
            yield FetchedPack(len(objects), sum(len(item.content) for item in objects))

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
        objects = _copied(own, lacking_objects(own, history), deadline)
        try:
            with remote.write_pack(objects):
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
        return Deadline(self._store.limits.seconds, str(self._path))

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


def _copied(source: ObjectReader, ids: Iterator[str], deadline: Deadline) -> list[GitObject]:
    objects = []
    for object_id in ids:
        deadline.remaining()
        objects.append(GitObject(*source.read(object_id), object_id))
    return objects


def _peel(source: ObjectReader, object_id: str) -> str:
    kind, content = source.read(object_id)
    while kind == "tag":
        object_id = links_of(object_id, kind, content)[0][0]
        kind, content = source.read(object_id)
    return object_id
