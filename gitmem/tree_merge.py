"""Three-way merge of two trees of the operator's branch: a pure function, the same with the sides exchanged.

Nothing but the trees and the receipts decides. What clashes leaves one live text and one copy under
`conflicts/`; no conflict marker is ever written. Links and submodules are taken whole and never read. Blobs
are read only where both sides changed a path, where a text needs a name as a copy, or where a receipt may
touch it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from gitmem.branch_merge import EPISODES, Blob, BlobMerge, conflict_of, make_blob, merge_blobs
from gitmem.closed_tree import close_tree
from gitmem.conflict_copies import Copy, copies_in, is_copy, list_conflicts, merge_copies, place_copies
from gitmem.errors import ObjectMissing
from gitmem.forgotten import Receipts
from gitmem.merge_moves import Tree, follow_moves
from gitmem.path_names import find_twins, name_fault, path_harm
from gitmem.repository import EXECUTABLE_MODE, FILE_MODE, LINK_MODE, SUBMODULE_MODE
from gitmem.tree_edit import TreeFile

#: What became of a path that differs between the trees.
#: taken: both sides agree, or one changed it. merged: both changes. clash: one text lives, one is a copy.
#: revived: removed on one side, changed on the other. kept: an episode as it was. moved: an edit followed a
#: move. folder: a folder took the file's place. withdrawn: edited where it was forgotten or withdrawn from
#: here; the text is a copy. replaced: of two things of different kinds one gave way.
TreeFate = Literal["taken", "merged", "clash", "revived", "kept", "moved", "folder", "withdrawn", "replaced"]

_NO_RECEIPTS: Final = Receipts()
_KIND: Final = 0o170000
_REGULAR: Final = 0o100000
_MODES: Final = (FILE_MODE, EXECUTABLE_MODE, LINK_MODE, SUBMODULE_MODE)
_OWNER_MAY_RUN: Final = 0o100
#: A link by which Git would read a submodule's orders from anywhere; Git takes it nowhere.
_MODULES: Final = ".gitmodules"


@dataclass(frozen=True, slots=True)
class TreeMerge:
    """What becomes of a tree.

    Attributes:
        files: by path, all that the three trees had told of.
        made: contents of blobs of `files` that neither side has, by id.
        conflicts: copies that stand in `files`, by the path whose text they keep; all of them are open.
        fates: what was decided of each path that differs.
        refused: entries of the trees that no checkout may write and that were left out, and why.
        forgotten: paths from which a receipt took something.
        dropped: links and submodules that gave way.
        twins: paths that are one name on some file systems, where one of them changed.
        odd: paths that changed and whose names no list shows, and why.
    """

    files: Mapping[str, TreeFile]
    made: Mapping[str, bytes] = field(default_factory=dict)
    conflicts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fates: Mapping[str, TreeFate] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    forgotten: frozenset[str] = frozenset()
    dropped: Mapping[str, TreeFile] = field(default_factory=dict)
    twins: tuple[tuple[str, ...], ...] = ()
    odd: Mapping[str, str] = field(default_factory=dict)

    def edits(self, tree: Tree) -> dict[str, TreeFile | None]:
        """Return what makes one of the merged trees the result: new files by path, None to remove one."""
        edits: dict[str, TreeFile | None] = {path: None for path in tree if path not in self.files}
        edits.update((path, file) for path, file in self.files.items() if tree.get(path) != file)
        return edits


def merge_trees(
    base: Tree,
    first: Tree,
    second: Tree,
    read: Callable[[str], bytes],
    *,
    receipts: Receipts = _NO_RECEIPTS,
    folders: Collection[str] = (),
    virtual: bool = False,
) -> TreeMerge:
    """Merge two trees.

    Args:
        base: files by path of the tree that both came from; empty where there is none.
        first: files of one side.
        second: files of the other side; exchanging them changes nothing.
        read: returns the content of a blob.
        receipts: in force; the result is closed under them.
        folders: of all three trees, equal in them, whose files are told of in none.
        virtual: the result is to be a base. A clash then stands in it as a line that no file holds.
    """
    merge = _Merge((base, first, second), read, receipts, folders)
    merge.run(virtual=virtual)
    return merge.result()


class _Merge:
    """One merge; its parts share which trees, which blobs and what was decided."""

    def __init__(
        self,
        trees: tuple[Tree, Tree, Tree],
        read: Callable[[str], bytes],
        receipts: Receipts,
        folders: Collection[str],
    ) -> None:
        self._read = read
        self._receipts = receipts
        self._skipped = folders
        self._known: dict[str, Blob] = {}
        self._fates: dict[str, TreeFate] = {}
        self._refused: dict[str, str] = {}
        self._forgotten: set[str] = set()
        self._dropped: dict[str, TreeFile] = {}
        changed = _differing(*trees)
        self._raw = [self._without_harm(tree, changed) for tree in trees]
        self._closed = [self._close(tree) for tree in self._raw]
        self._changed = _differing(*self._closed) if self._refused or self._forgotten else changed
        self._files: dict[str, TreeFile] = {}
        self._copies: set[Copy] = set()

    def run(self, *, virtual: bool) -> None:
        """Decide every path."""
        self._files = {path: file for path, file in self._closed[1].items() if path not in self._changed}
        sides = [{path: tree[path] for path in self._changed if path in tree} for tree in self._closed]
        was, one, two = (copies_in(side) for side in sides)
        self._copies = merge_copies(was, one, two)
        sides = [{p: file for p, file in side.items() if not is_copy(p, file)} for side in sides]
        self._withdraw(sides, (was, one, two))
        moved = follow_moves(*sides)
        for path in sorted({path for side in sides for path in side}):
            self._decide(path, *(side.get(path) for side in sides), virtual=virtual)
        self._fates.update((path, "moved") for path in moved if self._fates[path] == "taken")
        self._close_result()
        if virtual:
            # What was no copy in a base is none in what they stand for: a side without it took nothing away.
            self._copies &= merge_copies(was, one, two)
        self._place(virtual=virtual)

    def result(self) -> TreeMerge:
        """Return what was decided."""
        changed = {path for path in self._files if path in self._changed or path in self._fates}
        made = self._made()
        changed |= {path for path, file in self._files.items() if file.id in made}
        twins = (pair.paths for pair in find_twins([*self._files])) if changed else ()
        return TreeMerge(
            files=self._files,
            made=made,
            conflicts=list_conflicts(self._files),
            fates=self._fates,
            refused=self._refused,
            forgotten=frozenset(self._forgotten),
            dropped=self._dropped,
            twins=tuple(sorted(tuple(sorted(paths)) for paths in twins if not changed.isdisjoint(paths))),
            odd={path: fault for path in sorted(changed) if (fault := name_fault(path))},
        )

    def _without_harm(self, tree: Tree, changed: Collection[str]) -> Tree:
        """Return a tree without what Git itself would refuse; modes of files become those that Git writes.

        What stands in all three trees came by no merge.
        """
        here = [path for path in changed if path in tree]
        faults = {path: fault for path in here if (fault := _fault(path, tree[path]))}
        self._refused.update(faults)
        if not faults and all(tree[path].mode in _MODES for path in here):
            return tree
        safe = {path: file for path, file in tree.items() if path not in faults}
        safe.update(
            (path, replace(tree[path], mode=_plain_mode(tree[path].mode))) for path in here if path in safe
        )
        return safe

    def _close(self, tree: Tree) -> Tree:
        closed = close_tree(tree, self._receipts, self._content)
        self._known.update((blob, make_blob(content)) for blob, content in closed.made.items())
        self._forgotten |= closed.forgotten
        return closed.files

    def _withdraw(self, sides: list[dict[str, TreeFile]], copies: tuple[set[Copy], ...]) -> None:
        """Make copies of edits of what the other side forgot, or what a merge there made a copy already."""
        for path in [path for path in self._raw[0] if path in self._changed]:
            base = self._raw[0][path]
            for gone, other in ((1, 2), (2, 1)):
                edit = sides[other].get(path)
                if edit is None or path in self._raw[gone] or not edit.is_regular or _is_fixed(path):
                    continue
                became = (path, base.id) in copies[gone] - copies[0] - copies[other] and edit.id != base.id
                if became or self._receipts.is_forgotten_blob(base.id):
                    self._copies.discard((path, base.id))
                    self._copies.add((path, edit.id))
                    self._fates[path] = "withdrawn"
                    for side in sides:
                        side.pop(path, None)

    def _decide(
        self,
        path: str,
        base: TreeFile | None,
        first: TreeFile | None,
        second: TreeFile | None,
        *,
        virtual: bool,
    ) -> None:
        files = [file for file in (base, first, second) if file is not None]
        if _is_fixed(path) and any(file.is_regular for file in files):
            odd = [file for file in (first, second) if file is not None and not file.is_regular]
            self._dropped.update((path, file) for file in sorted(odd, key=_rank))
            base, first, second = (_regular(file) for file in (base, first, second))
        elif first == second or base in (first, second):
            self._take(path, second if first == base else first, "taken")
            return
        elif not all(file.is_regular for file in files):
            if first is None or second is None or not (first.is_regular and second.is_regular):
                self._choose(path, first, second)
                return
            base = None  # it was a link: two texts without a base
        shed = self._forgotten_base(path) if base is None and first and second else None
        was, one, two = (self._blob_of(file) for file in (base or shed, first, second))
        merged = merge_blobs(path, was, one, two, is_shed=shed is not None)
        live = merged.blurred if virtual and merged.blurred else merged.live
        self._copies.update((path, self._keep(blob)) for blob in merged.lost)
        mode = _merge_mode(base, first, second, merged)
        self._take(path, None if live is None else TreeFile(mode, self._keep(live)), merged.fate)

    def _forgotten_base(self, path: str) -> TreeFile | None:
        """Return what both sides of a path came from, if it was forgotten and is not purged yet."""
        file = self._raw[0].get(path)
        if file is None or not file.is_regular or not self._receipts.is_forgotten_blob(file.id):
            return None
        try:
            self._content(file.id)
        except ObjectMissing:
            return None
        return file

    def _choose(self, path: str, first: TreeFile | None, second: TreeFile | None) -> None:
        """Decide between a link or a submodule and something else, without reading either."""
        if first is None or second is None:
            self._take(path, second if first is None else first, "revived")
            return
        lost, live = sorted((first, second), key=_rank)
        self._dropped[path] = lost
        self._take(path, live, "replaced")

    def _take(self, path: str, file: TreeFile | None, fate: TreeFate) -> None:
        if file is not None:
            self._files[path] = file
        self._fates[path] = fate

    def _close_result(self) -> None:
        """Close what came of the merge: it may have put together what was forgotten."""
        fresh = {path: self._files[path] for path in self._fates if path in self._files}
        closed = close_tree(fresh, self._receipts, self._content)
        for path in closed.forgotten:
            del self._files[path]
        self._files.update(closed.files)
        self._known.update((blob, make_blob(content)) for blob, content in closed.made.items())
        self._forgotten |= closed.forgotten
        self._copies = {copy for copy in self._copies if not self._receipts.is_forgotten_blob(copy[1])}

    def _place(self, *, virtual: bool) -> None:
        """Give the copies their names; a file in whose place a folder is needed becomes a copy."""
        while True:
            folders = _folders_of([*self._files, *self._skipped]) | {*self._skipped}
            placed = place_copies(self._copies, self._files, folders, self._blob)
            folders |= _folders_of(placed)
            clashing = [path for path in self._files if path in folders]
            if not clashing:
                self._files.update(placed)
                return
            for path in clashing:
                file = self._files.pop(path)
                self._fates[path] = "folder"
                if not file.is_regular:
                    self._dropped[path] = file
                elif not virtual:
                    self._copies.add((conflict_of(path), file.id))

    def _blob_of(self, file: TreeFile | None) -> Blob | None:
        return None if file is None else self._blob(file.id)

    def _blob(self, blob_id: str) -> Blob:
        if blob_id not in self._known:
            self._known[blob_id] = Blob(blob_id, self._read)
        return self._known[blob_id]

    def _content(self, blob_id: str) -> bytes:
        return self._blob(blob_id).content

    def _keep(self, blob: Blob) -> str:
        """Note a blob that goes into the result; return its id."""
        self._known.setdefault(blob.id, blob)
        return blob.id

    def _made(self) -> dict[str, bytes]:
        """Return the blobs of the result that neither side has; a virtual base's are written nowhere."""
        _, first, second = self._raw
        fresh = {
            file.id
            for path, file in self._files.items()
            if file.is_regular and file not in (first.get(path), second.get(path))
        }
        if fresh:
            fresh -= {file.id for side in (first, second) for file in side.values()}
        return {blob: self._content(blob) for blob in sorted(fresh)}


def _differing(base: Tree, first: Tree, second: Tree) -> set[str]:
    """Return the paths at which three trees are not all equal."""
    changed = {path for path, file in base.items() if first.get(path) != file or second.get(path) != file}
    changed.update(path for path in first if path not in base)
    changed.update(path for path in second if path not in base)
    return changed


def _fault(path: str, file: TreeFile) -> str | None:
    if file.mode not in _MODES and file.mode & _KIND != _REGULAR:
        return f"an entry of mode {file.mode:o}"
    if file.mode == LINK_MODE and path.rpartition("/")[2].casefold() == _MODULES:
        return "a link in the place of .gitmodules"
    return path_harm(path)


def _plain_mode(mode: int) -> int:
    if mode in _MODES:
        return mode
    return EXECUTABLE_MODE if mode & _OWNER_MAY_RUN else FILE_MODE


def _is_fixed(path: str) -> bool:
    return path.startswith(f"{EPISODES}/")


def _regular(file: TreeFile | None) -> TreeFile | None:
    return file if file is not None and file.is_regular else None


def _rank(file: TreeFile) -> tuple[bool, int, str]:
    """Return what makes one of two things at a path the live one: a file, else a link; else the larger id."""
    return file.is_regular, -file.mode, file.id


def _merge_mode(
    base: TreeFile | None, first: TreeFile | None, second: TreeFile | None, merged: BlobMerge
) -> int:
    """Return the mode of a merged file: of the side that changed it, executable where both say otherwise."""
    old = FILE_MODE if base is None else base.mode
    if merged.fate == "kept" and base is not None:
        return base.mode
    modes = [file.mode for file in (first, second) if file is not None]
    return next((mode for mode in sorted(modes, reverse=True) if mode != old), old)


def _folders_of(paths: Iterable[str]) -> set[str]:
    """Return every folder that stands on the way to one of the paths."""
    found: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]  # noqa: PLW2901
    return found
