"""A repository in memory that keeps every promise of the protocol and can be told to fail."""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

from gitmem.errors import CorruptionError, HeadMoved, HomeError, ObjectMissing, UsageError
from gitmem.git_config import split_key
from gitmem.git_objects import parse_commit, parse_tree
from gitmem.git_refs import clash_with, is_ref_name
from gitmem.reachability import first_parents, reaches
from gitmem.repository import ABSENT, Commit, GitObject, Head, ObjectKind, TreeEntry

FaultPoint = Literal["before write_pack", "after write_pack", "before move_ref", "after move_ref"]


class MemoryRepository:
    """Objects, refs and configuration in dictionaries.

    Attributes:
        objects: kind and content by id.
        refs: values by full name; `symbolic_head` is the branch that HEAD names, None when it is detached.
        settled: the refs as they would be after a power cut.
        reflog: (name, old, new, message, who) of every move, oldest first.
    """

    def __init__(self, branch: str = "main") -> None:
        self.objects: dict[str, tuple[ObjectKind, bytes]] = {}
        self.refs: dict[str, str] = {}
        self.symbolic_head: str | None = f"refs/heads/{branch}"
        self.detached_head: str | None = None
        self.settled: dict[str, str] = {}
        self.reflog: list[tuple[str, str, str, str, str]] = []
        self.format = "sha1"
        self._config: dict[tuple[str, str | None, str], str] = {}
        self._held: Counter[str] = Counter()
        self._faults: dict[FaultPoint, BaseException] = {}

    def fail_next(self, point: FaultPoint, error: BaseException | None = None) -> None:
        """Make the next call fail at one point, once; by default as on a full disk.

        A failure before a step leaves everything as it was, one after it leaves the step done.
        """
        self._faults[point] = error or OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def prune(self) -> set[str]:
        """Remove, as `git gc --prune=now` does, what no ref and no open `write_pack` holds; return it."""
        roots = [*self.refs.values(), *([self.detached_head] if self.detached_head else []), *self._held]
        reached: set[str] = set()
        while roots:
            object_id = roots.pop()
            if object_id in reached or object_id not in self.objects:
                continue
            reached.add(object_id)
            roots += self._named_by(object_id)
        gone = set(self.objects) - reached
        for object_id in gone:
            del self.objects[object_id]
        return gone

    def cut_power(self) -> None:
        """Take back the ref moves that were not settled."""
        self.refs = dict(self.settled)

    def read(self, object_id: str) -> tuple[ObjectKind, bytes]:
        """Return kind and raw content of an object."""
        try:
            return self.objects[object_id]
        except KeyError:
            raise ObjectMissing(f"object {object_id} is not in the repository", object=object_id) from None

    def read_tree(self, tree_id: str) -> Sequence[TreeEntry]:
        """Return the entries of a tree in Git's order."""
        return parse_tree(self._read_as("tree", tree_id))

    def read_commit(self, commit_id: str) -> Commit:
        """Return a parsed commit."""
        return parse_commit(commit_id, self._read_as("commit", commit_id))

    def contains(self, object_id: str) -> bool:
        """Say whether the object is in the store."""
        return object_id in self.objects

    def head(self) -> Head:
        """Return what HEAD is now."""
        if self.symbolic_head is None:
            return Head(None, self.detached_head)
        return Head(self.symbolic_head, self.refs.get(self.symbolic_head))

    def read_ref(self, name: str) -> str | None:
        """Return a ref's value now, or None."""
        return self.refs.get(name)

    def list_refs(self, prefix: str) -> Mapping[str, str]:
        """Return names and values of the refs below `prefix`."""
        head, star, tail = prefix.partition("*")
        below = re.compile(f"{re.escape(head)}[^/]+{re.escape(tail)}" if star else re.escape(head))
        return {name: value for name, value in sorted(self.refs.items()) if below.match(name)}

    def move_ref(
        self,
        name: str,
        *,
        old: str,
        new: str,
        message: str,
        who: str,
        durable: bool = True,  # noqa: ARG002 - what is in memory is gone or there
    ) -> None:
        """Compare-and-swap one ref."""
        if not is_ref_name(name):
            raise UsageError(f"not a ref name: {name!r}", ref=name)
        self._fail("before move_ref")
        now = self.refs.get(name, ABSENT)
        if now != old:
            raise HeadMoved(f"{name} moved", hint="Try again.", ref=name, expected=old, found=now)
        other = clash_with(name, self.refs) if old == ABSENT else None
        if other is not None:
            raise HomeError(f"{name} cannot be made: {other} stands in its place", ref=name, clash=other)
        if new == ABSENT:
            self.refs.pop(name, None)
        else:
            self.refs[name] = new
        self.reflog.append((name, old, new, message, who))
        self._fail("after move_ref")

    def settle_refs(self) -> None:
        """Make the last ref moves survive `cut_power`."""
        self.settled = dict(self.refs)

    @contextmanager
    def write_pack(
        self,
        objects: Sequence[GitObject],
        *,
        durable: bool = True,  # noqa: ARG002 - what is in memory is gone or there
    ) -> Iterator[None]:
        """Write objects; until the context ends `prune` spares them."""
        self._fail("before write_pack")
        ids = [item.id for item in objects]
        self.objects.update({item.id: (item.kind, item.content) for item in objects})
        self._held.update(ids)
        try:
            self._fail("after write_pack")
            yield
        finally:
            self._held.subtract(ids)
            self._held += Counter()

    def config(self, key: str) -> str | None:
        """Return a configuration value, or None."""
        return self._config.get(split_key(key))

    def config_section(self, section: str) -> Sequence[tuple[str | None, str, str]]:
        """Return every setting of a section."""
        rows = self._config.items()
        return [(sub, name, value) for (head, sub, name), value in rows if head == section.lower()]

    def set_config(self, key: str, value: str | None) -> None:
        """Set a configuration value; None removes it."""
        if value is None:
            self._config.pop(split_key(key), None)
        else:
            self._config[split_key(key)] = value

    def object_format(self) -> str:
        """Return `format`."""
        return self.format

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Say whether one commit is reachable from another."""
        return reaches(self.read_commit, descendant, ancestor)

    def walk_first_parents(self, commit_id: str) -> Iterator[Commit]:
        """Yield a commit and its first parents, newest first."""
        return first_parents(self.read_commit, commit_id)

    def close(self) -> None:
        """Do nothing: there are no files."""

    def _read_as(self, kind: ObjectKind, object_id: str) -> bytes:
        found, content = self.read(object_id)
        if found != kind:
            raise CorruptionError(f"{object_id} is a {found}, not a {kind}", object=object_id)
        return content

    def _named_by(self, object_id: str) -> list[str]:
        kind, content = self.objects[object_id]
        if kind == "commit":
            commit = parse_commit(object_id, content)
            return [commit.tree, *commit.parents]
        if kind == "tree":
            return [entry.id for entry in parse_tree(content)]
        if kind == "tag":
            return [content.split(b"\n", 1)[0].removeprefix(b"object ").decode()]
        return []

    def _fail(self, point: FaultPoint) -> None:
        error = self._faults.pop(point, None)
        if error is not None:
            raise error
