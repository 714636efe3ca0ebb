"""The merge of two commits of the operator's branch: a function of the two, so that any machine makes one.

Trees are read side by side and written again only where they change. Several bases are folded into a virtual
one by the same merge.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.branch_merge import CONFIG_FILE
from gitmem.closed_tree import may_hold_forgotten
from gitmem.config import HomeConfig, parse_config
from gitmem.errors import NotAHome, OtherHome, UnsupportedFormat
from gitmem.forgotten import Receipts
from gitmem.git_objects import make_commit, make_object, parse_tree
from gitmem.identity import agent_identity
from gitmem.merge_bases import find_merge_bases
from gitmem.repository import Commit, GitObject, ObjectKind, ObjectReader, TreeEntry
from gitmem.subjects import KIND, format_message, merge_subject
from gitmem.tree_edit import edit_tree, find_file
from gitmem.tree_merge import TreeMerge, merge_trees
from gitmem.tree_sides import read_sides

#: Bases of bases are looked for so far down; criss-cross merges beyond are merged as if nothing was shared.
_DEEPEST: Final = 16
_NO_RECEIPTS: Final = Receipts()


@dataclass(frozen=True, slots=True)
class RootMerge:
    """The merge of two trees by id.

    Attributes:
        tree: id of the result.
        objects: trees and blobs to write for it.
        merge: what was decided of each path that differs.
    """

    tree: str
    objects: tuple[GitObject, ...]
    merge: TreeMerge


@dataclass(frozen=True, slots=True)
class CommitMerge:
    """The merge of two commits.

    Attributes:
        commit: the merge commit; it is in `objects` too.
        objects: commit, trees and blobs to write.
        bases: the best common ancestors, by id; empty for unrelated histories.
        merge: what was decided of each path that differs.
    """

    commit: GitObject
    objects: tuple[GitObject, ...]
    bases: tuple[str, ...]
    merge: TreeMerge


def merge_commits(
    objects: ObjectReader, first: str, second: str, *, receipts: Receipts = _NO_RECEIPTS
) -> CommitMerge:
    """Merge two commits of the operator's branch; exchanging them changes nothing.

    Args:
        objects: where commits, trees and blobs are read from.
        first: id of a commit, none of whose descendants is the other.
        second: id of the other one, likewise.
        receipts: in force; the result is closed under them.

    Raises:
        OtherHome: they are of two homes.
        NotAHome: one of them has no `gitmem.toml`.
        UnsupportedFormat: one of them has a format that this program does not read.
        RefusedError: the trees are too large to be a home's.
    """
    sides = [objects.read_commit(commit) for commit in sorted((first, second))]
    configs = [_config_of(objects, side.tree) for side in sides]
    if configs[0].home_id != configs[1].home_id:
        raise OtherHome(
            f"these are two homes: {configs[0].home_id} and {configs[1].home_id}",
            hint="Sync a home with remotes of its own only.",
            homes=[config.home_id for config in configs],
        )
    memory = _Overlay(objects)
    bases = find_merge_bases(objects.read_commit, [first], [second])
    base = _Fold(memory).fold(bases)
    done = merge_roots(memory, base, sides[0].tree, sides[1].tree, receipts=receipts)
    agent = _agent_of(memory, done, configs)
    commit = make_merge_commit(done.tree, sides, agent_identity(agent, configs[0].home_id))
    return CommitMerge(commit, (*done.objects, commit), bases, done.merge)


def make_merge_commit(tree: str, parents: Sequence[Commit], agent: str) -> GitObject:
    """Return the commit of a merge: a function of its parents and their tree, whoever makes it and when.

    Args:
        tree: id of the merged tree.
        parents: the merged commits, in any order.
        agent: `Name <mail>` of the merged home's agent.
    """
    return make_commit(
        tree=tree,
        parents=sorted(parent.id for parent in parents),
        author=agent,
        committer=agent,
        seconds=max(parent.commit_time for parent in parents),
        message=format_message(merge_subject(), [(KIND, "sync")]),
    )


def merge_roots(
    objects: ObjectReader,
    base: str | None,
    first: str,
    second: str,
    *,
    receipts: Receipts = _NO_RECEIPTS,
    virtual: bool = False,
) -> RootMerge:
    """Merge two trees; folders that are equal in all three are read only where a receipt may touch them.

    Args:
        objects: where trees and blobs are read from.
        base: id of the tree that both came from; None where there is none.
        first: id of one side's tree.
        second: id of the other side's; exchanging them changes nothing.
        receipts: in force; the result is closed under them.
        virtual: the result is to be a base.

    Raises:
        RefusedError: the trees are too deep or too large to be a home's.
    """
    # Where both are equally good, the same one is edited whoever merges.
    sides = sorted((first, second), reverse=True)
    seen = read_sides(objects, [base, *sides], is_wanted=_wanted(receipts))
    was, one, other = seen.files
    merge = merge_trees(
        was,
        one,
        other,
        lambda blob: objects.read(blob)[1],
        receipts=receipts,
        folders=seen.folders,
        virtual=virtual,
    )
    blobs = [make_object("blob", content) for content in merge.made.values()]
    edits = merge.edits(one)
    tree, trees = edit_tree(objects, sides[0], edits) if edits else (sides[0], [])
    return RootMerge(tree, (*blobs, *trees), merge)


def _wanted(receipts: Receipts) -> Callable[[str, str], bool] | None:
    if not (receipts.blobs or receipts.entries or receipts.records):
        return None
    return lambda path, blob: receipts.is_forgotten_blob(blob) or may_hold_forgotten(path, receipts)


def _config_of(objects: ObjectReader, tree: str) -> HomeConfig:
    file = find_file(objects, tree, CONFIG_FILE)
    if file is None or not file.is_regular:
        raise NotAHome(f"there is no {CONFIG_FILE}", hint="Is this the right remote, and the right branch?")
    return parse_config(objects.read(file.id)[1])


def _agent_of(memory: _Overlay, done: RootMerge, configs: Sequence[HomeConfig]) -> str:
    """Return the agent's name in a merged tree; where its config was lost, one that both sides agree on."""
    memory.add(done.objects)
    try:
        return _config_of(memory, done.tree).agent
    except (NotAHome, UnsupportedFormat):
        return max(config.agent for config in configs)


class _Overlay:
    """An object store with some objects that are not written."""

    def __init__(self, objects: ObjectReader) -> None:
        self._objects = objects
        self._made: dict[str, GitObject] = {}

    def add(self, objects: Collection[GitObject]) -> None:
        """Take objects in."""
        self._made.update((one.id, one) for one in objects)

    def read(self, object_id: str) -> tuple[ObjectKind, bytes]:
        """Return kind and raw content."""
        made = self._made.get(object_id)
        return (made.kind, made.content) if made else self._objects.read(object_id)

    def read_tree(self, tree_id: str) -> Sequence[TreeEntry]:
        """Return the entries of a tree."""
        made = self._made.get(tree_id)
        return parse_tree(made.content) if made else self._objects.read_tree(tree_id)

    def read_commit(self, commit_id: str) -> Commit:
        """Return a parsed commit."""
        return self._objects.read_commit(commit_id)

    def contains(self, object_id: str) -> bool:
        """Say whether the object is here."""
        return object_id in self._made or self._objects.contains(object_id)


class _Fold:
    """Makes one base of several, and for that of their own bases, as far down as they are several."""

    def __init__(self, objects: _Overlay) -> None:
        self._objects = objects
        self._known: dict[tuple[str, ...], str | None] = {}

    def fold(self, bases: Sequence[str], depth: int = 0) -> str | None:
        """Return the tree of bases that stand in the order of their ids; None for none."""
        if not bases or depth > _DEEPEST:
            return None
        key = tuple(bases)
        if key not in self._known:
            self._known[key] = self._merge(bases, depth)
        return self._known[key]

    def _merge(self, bases: Sequence[str], depth: int) -> str:
        tree = self._objects.read_commit(bases[0]).tree
        for number, base in enumerate(bases[1:], 1):
            common = find_merge_bases(self._objects.read_commit, bases[:number], [base])
            done = merge_roots(
                self._objects,
                self.fold(common, depth + 1),
                tree,
                self._objects.read_commit(base).tree,
                virtual=True,
            )
            self._objects.add(done.objects)
            tree = done.tree
        return tree
