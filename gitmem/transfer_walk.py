"""Which objects travel: what a remote lacks, and whether what came from one is whole."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gitmem.errors import CorruptionError, ObjectMissing
from gitmem.git_objects import decode_path, parse_commit, parse_tag
from gitmem.repository import SUBMODULE_MODE, TREE_MODE, Commit, ObjectKind, ObjectReader

_LACKING: Final = 1
_KNOWN: Final = 2
_NO_NAMES: Final = (b".", b"..", b".git")
#: Mode, name and id of an entry; a mode of a kind that Git does not know matches nothing.
_TREE_ROW: Final = re.compile(rb"(0?40000|100[0-7]{3}|120000|160000) ([^\0]+)\0(.{20})", re.DOTALL)
_KINDS: Final[dict[bytes, ObjectKind]] = {b"40": "tree", b"04": "tree", b"10": "blob", b"12": "blob"}


class WalkTooLong(Exception):
    """More commits are new than the walk was allowed to look at."""


@dataclass(frozen=True, slots=True)
class NewHistory:
    """What a remote lacks.

    Attributes:
        tags: ids of annotated tags.
        commits: each behind its parents, whatever the clocks said.
        other: blobs and trees that are pushed by themselves.
    """

    tags: tuple[str, ...]
    commits: tuple[Commit, ...]
    other: tuple[str, ...] = ()


class LackingObject(NamedTuple):
    """An object that a remote lacks.

    Attributes:
        place: where it was first found in a commit's tree, with a slash before it; empty for what has none.
            Versions of one file or folder have one place.
        before: what stood there before, which the remote has; None if it has nothing.
    """

    id: str
    place: str = ""
    before: str | None = None


def new_history(
    own: ObjectReader,
    tips: Sequence[str],
    known: Collection[str],
    *,
    landmarks: Sequence[str] | None = None,
    most: int | None = None,
) -> NewHistory:
    """Return what is reachable from `tips` and not from what the remote has.

    Both are painted, newest commits first, until nothing is left that only the tips reach; so the cost is
    that of what is new, whatever lies behind it. Clocks that are wrong make more of it, never less.

    Args:
        own: the own store.
        tips: the new values, commits or tags.
        known: values that the remote has; those that are not in the own store tell nothing.
        landmarks: those of them from which history is followed; by default all, which costs where they are
            many.
        most: how many new commits may be looked at.

    Raises:
        WalkTooLong: more are new.
        ObjectMissing: a tip is not in the own store.
    """
    tags: dict[str, None] = {}
    commits: list[str] = []
    other: list[str] = []
    for tip in tips:
        if tip in known:
            continue
        kind, target = _peel(own, tip, tags, known)
        (commits if kind == "commit" else other).append(target)
    walk = _Painting(own, known)
    for commit_id in known if landmarks is None else landmarks:
        walk.paint(commit_id, _KNOWN)
    for commit_id in commits:
        walk.paint(commit_id, _LACKING)
    found = {commit.id: commit for commit in reversed(list(walk.lacking(most)))}
    return NewHistory(tuple(tags), tuple(_parents_first(found)), tuple(other))


def lacking_objects(own: ObjectReader, history: NewHistory) -> Iterator[LackingObject]:
    """Yield the objects to send, none twice: tags, commits, and what is new in their trees.

    The tree of each commit is compared with its parents' by the ids of their entries; what did not change is
    not opened.
    """
    seen: set[str] = set()
    yield from _once(history.tags, seen)
    for commit in history.commits:
        yield from _once([commit.id], seen)
        parents = [_tree_of(own, parent) for parent in commit.parents]
        yield from _changed(own, commit.tree, [tree for tree in parents if tree], "/", seen)
    for object_id in history.other:
        if own.read(object_id)[0] == "tree":
            yield from _changed(own, object_id, [], "/", seen)
        else:
            yield from _once([object_id], seen)


class Closure:
    """Finds out whether what arrived lacks nothing, an object at a time."""

    def __init__(self) -> None:
        self._kinds: dict[str, ObjectKind] = {}
        self._needed: dict[str, ObjectKind | None] = {}

    def __contains__(self, object_id: str) -> bool:
        """Say whether an object arrived."""
        return object_id in self._kinds

    def add(self, object_id: str, kind: ObjectKind, content: bytes) -> None:
        """Note an object that arrived.

        Raises:
            CorruptionError: it is damaged, or a tree with a name that no path may have.
        """
        self._kinds[object_id] = kind
        for link, expected in links_of(object_id, kind, content):
            known = self._needed.get(link)
            if None not in (known, expected) and known != expected:
                raise CorruptionError(f"{link} cannot be a {expected} too", object=link)
            self._needed[link] = expected or known  # a tag says of what it names only that it is there

    def check(self, wants: Iterable[str], contains: Callable[[str], bool]) -> None:
        """Make sure that everything wanted, and all that it needs, arrived or was there.

        Args:
            wants: ids that were asked for.
            contains: says whether the own store has an object, with all that it needs.

        Raises:
            CorruptionError: an object is missing, or of another kind than where it is named says.
        """
        for object_id, expected in (*((want, None) for want in wants), *self._needed.items()):
            kind = self._kinds.get(object_id)
            if kind is None and not contains(object_id):
                raise CorruptionError(f"object {object_id} is missing", object=object_id)
            if kind is not None and expected not in (None, kind):
                raise CorruptionError(f"{object_id} is a {kind}, not a {expected}", object=object_id)


def links_of(object_id: str, kind: ObjectKind, content: bytes) -> list[tuple[str, ObjectKind | None]]:
    """Return id and expected kind of everything that an object needs; of submodules nothing.

    Raises:
        CorruptionError: it is damaged.
    """
    if kind == "blob":
        return []
    if kind == "tag":
        return [(_target_of(content), None)]
    try:
        if kind == "tree":
            return _links_of_tree(object_id, content)
        commit = parse_commit(object_id, content)
    except ValueError as error:
        raise CorruptionError(f"a damaged {kind} object {object_id}", object=object_id) from error
    return [(commit.tree, "tree"), *((parent, "commit") for parent in commit.parents)]


@dataclass(slots=True)
class _Painting:
    own: ObjectReader
    known: Collection[str]
    colours: dict[str, int] = field(default_factory=dict)
    queue: list[tuple[int, str, Commit]] = field(default_factory=list)
    hunting: set[str] = field(default_factory=set)

    def paint(self, commit_id: str, colour: int) -> None:
        if commit_id in self.known:
            colour |= _KNOWN
        known = self.colours.get(commit_id, 0)
        if known | colour == known:
            return
        try:
            commit = self.own.read_commit(commit_id)
        except (ObjectMissing, CorruptionError):
            return  # behind the edge of a shallow clone, or no commit; the remote will say if it lacks it
        self.colours[commit_id] = known | colour
        if known | colour == _LACKING:
            self.hunting.add(commit_id)
        else:
            self.hunting.discard(commit_id)
        heapq.heappush(self.queue, (-commit.commit_time, commit_id, commit))

    def lacking(self, most: int | None) -> Iterator[Commit]:
        """Yield the new commits, newest first."""
        found: dict[str, Commit] = {}
        oldest = 0
        # Of commits of one second the known ones may be reached last: they are followed as far as the new go.
        while self.hunting or (found and self.queue and self.queue[0][0] <= oldest):
            _, commit_id, commit = heapq.heappop(self.queue)
            self.hunting.discard(commit_id)
            colour = self.colours[commit_id]
            if colour == _LACKING:
                found[commit_id] = commit
                oldest = max(oldest, -commit.commit_time) if len(found) > 1 else -commit.commit_time
                if most is not None and len(found) > most:
                    raise WalkTooLong
            for parent in commit.parents:
                self.paint(parent, colour)
        yield from (commit for key, commit in found.items() if self.colours[key] == _LACKING)


def _parents_first(commits: Mapping[str, Commit]) -> Iterator[Commit]:
    """Yield commits behind their parents: what is new in one is told against what was told of these."""
    done: set[str] = set()
    for start in commits:
        stack = [start]
        while stack:
            commit = commits[stack[-1]]
            todo = [] if commit.id in done else [p for p in commit.parents if p in commits and p not in done]
            if todo:
                stack += todo
                continue
            stack.pop()
            if commit.id not in done:
                done.add(commit.id)
                yield commit


def _peel(
    own: ObjectReader, object_id: str, tags: dict[str, None], known: Collection[str]
) -> tuple[ObjectKind, str]:
    kind, content = own.read(object_id)
    while kind == "tag" and object_id not in tags and object_id not in known:
        tags[object_id] = None
        object_id = parse_tag(content)[0]
        kind, content = own.read(object_id)
    return kind, object_id


def _tree_of(own: ObjectReader, commit_id: str) -> str | None:
    try:
        return own.read_commit(commit_id).tree
    except ObjectMissing:
        return None


def _changed(
    own: ObjectReader, tree: str, before: Sequence[str], place: str, seen: set[str]
) -> Iterator[LackingObject]:
    if tree in seen or tree in before:
        return
    seen.add(tree)
    yield LackingObject(tree, place, next((old for old in before if old not in seen), None))
    olds = [{entry.name: entry for entry in own.read_tree(old)} for old in before]
    for entry in own.read_tree(tree):
        there = [old[entry.name] for old in olds if entry.name in old]
        if entry.mode == SUBMODULE_MODE or any(one.id == entry.id for one in there):
            continue
        inner = f"{place}{entry.name}"
        if entry.mode == TREE_MODE:
            trees = [one.id for one in there if one.mode == TREE_MODE]
            yield from _changed(own, entry.id, trees, f"{inner}/", seen)
        elif entry.id not in seen:
            seen.add(entry.id)
            files = (one.id for one in there if one.mode not in (TREE_MODE, SUBMODULE_MODE))
            yield LackingObject(entry.id, inner, next((old for old in files if old not in seen), None))


def _once(ids: Sequence[str], seen: set[str]) -> Iterator[LackingObject]:
    for object_id in ids:
        if object_id not in seen:
            seen.add(object_id)
            yield LackingObject(object_id)


def _target_of(content: bytes) -> str:
    return parse_tag(content)[0]


def _links_of_tree(tree_id: str, content: bytes) -> list[tuple[str, ObjectKind | None]]:
    """Return what a tree names; a quarter of the time that parsing its entries would take.

    Raises:
        CorruptionError: it is damaged, or has a name that could lead out of it.
    """
    rows = _TREE_ROW.findall(content)
    if sum(len(mode) + len(name) for mode, name, _ in rows) + 22 * len(rows) != len(content):
        raise CorruptionError(f"a damaged tree object {tree_id}", object=tree_id)
    for _, name, _ in rows:
        if b"/" in name or name.lower() in _NO_NAMES:
            raise CorruptionError(f"a tree with an entry named {decode_path(name)!r}", object=tree_id)
    return [(target.hex(), _KINDS[mode[:2]]) for mode, _, target in rows if mode[:2] != b"16"]
