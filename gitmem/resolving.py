"""Conflicts as people end them: both texts with who wrote them, and one commit that keeps what they chose."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.branch_changes import PathChange
from gitmem.branch_merge import conflict_of
from gitmem.conflict_copies import list_conflicts
from gitmem.conflict_resolution import EDITED, resolve_conflict
from gitmem.errors import NotFound
from gitmem.git_objects import hash_object
from gitmem.json_view import JsonView
from gitmem.layout import CONFLICTS, NOTES, Layout
from gitmem.operator_branch import OperatorBranch
from gitmem.repository import TREE_MODE, Repository, walk_tree
from gitmem.subjects import KIND, format_message, resolve_subject
from gitmem.text_origin import TextOrigin, TextOrigins
from gitmem.tree_edit import TreeFile, find_file
from gitmem.tree_files import Skipped, read_managed

#: Characters of a text that are shown.
_SHOWN: Final = 20_000
_TOPS: Final = (CONFLICTS, NOTES)


@dataclass(frozen=True, slots=True)
class OpenConflict(JsonView):
    """A text that lost a merge, beside the one that lives.

    Attributes:
        id: the path of the copy.
        path: of the file whose text it is.
        copy: the same as `id`.
        text: what lost; None for what is no text.
        by: who wrote it.
        live: what lives; None where there is no such file, or it is no text.
        live_by: who wrote that.
    """

    id: str
    path: str
    copy: str
    text: str | None
    by: TextOrigin | None
    live: str | None
    live_by: TextOrigin | None


@dataclass(frozen=True, slots=True)
class Resolved(JsonView):
    """What ending a conflict did.

    Attributes:
        committed: the commit; None while it waits, with `reason`.
        path: of the file.
        kept: what was chosen.
        removed: the copies that went.
        notes: notes that were copies.
    """

    committed: str | None
    reason: str | None
    path: str
    kept: str
    removed: Sequence[str]
    notes: Sequence[str]


class Resolving:
    """Lists and ends conflicts.

    Args:
        repository: the operator's branch.
        layout: the files.
        branch: takes the commit.
        origins: says who wrote what.
        operator: `Name <mail>` of who resolves.
    """

    def __init__(
        self,
        repository: Repository,
        layout: Layout,
        branch: OperatorBranch,
        origins: TextOrigins,
        operator: Callable[[], str],
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._branch = branch
        self._origins = origins
        self._operator = operator

    def list(self, path: str | None = None) -> list[OpenConflict]:
        """Return what is open, of one file or of all.

        Raises:
            NotFound: this file has no open conflict.
        """
        commit, files = self._files(path)
        wanted = None if path is None else self._named(path)
        found = [
            self._told(commit, one, copy, files)
            for one, copies in list_conflicts(files).items()
            for copy in copies
            if commit is not None and wanted in (None, one)
        ]
        if path is not None and not found:
            raise NotFound(f"{path} has no open conflict", hint="See what is open: gitmem resolve", path=path)
        return found

    def resolve(self, path: str, keep: str) -> Resolved:
        """End a conflict with one commit in which all copies of the path go.

        Args:
            path: of the file, or of one of its copies.
            keep: `live`, `edited` (the file as it is on disk now), `both` (each copy becomes a note of its
                own), or a copy: its path, or the beginning of its name.

        Raises:
            NotFound: there is no such conflict or copy.
            RefusedError: that cannot be kept.
        """
        path = self._named(path)
        _, files = self._files(path)
        edited = self._on_disk(path) if keep == EDITED else None
        done = resolve_conflict(files, path, keep, self._read, mint_id=_mint, edited=edited)
        changes = [
            PathChange(
                name,
                self._disk_blob(name),
                None if file is None else done.made.get(file.id) or self._read(file.id),
            )
            for name, file in done.files.items()
        ]
        outcome = self._branch.write(
            changes,
            message=format_message(resolve_subject(path), [(KIND, "sync")]),
            author=self._operator(),
            operation="resolve",
            turn=None,
        )
        removed = [name for name in done.files if name.startswith(f"{CONFLICTS}/")]
        return Resolved(outcome.committed, outcome.reason, path, keep, removed, done.notes)

    def _named(self, path: str) -> str:
        return conflict_of(path) if path.startswith(f"{CONFLICTS}/") else path

    def _files(self, path: str | None) -> tuple[str | None, dict[str, TreeFile]]:
        """Return the commit of HEAD and those of its files that a resolution looks at."""
        head = self._repository.head().commit
        if head is None:
            return None, {}
        root = self._repository.read_commit(head).tree
        files: dict[str, TreeFile] = {}
        for top in self._repository.read_tree(root):
            if top.name in _TOPS and top.mode == TREE_MODE:
                found = walk_tree(self._repository, top.id, f"{top.name}/")
                files.update((name, TreeFile(entry.mode, entry.id)) for name, entry in found)
        live = find_file(self._repository, root, self._named(path)) if path else None
        if path is not None and live is not None and live.mode != TREE_MODE:
            files[self._named(path)] = live
        return head, files

    def _told(self, commit: str | None, path: str, copy: str, files: dict[str, TreeFile]) -> OpenConflict:
        assert commit is not None
        lost_by, live_by = self._origins.find(commit, path, copy)
        tree = self._repository.read_commit(commit).tree
        live = find_file(self._repository, tree, path)
        return OpenConflict(
            copy, path, copy, self._text(files[copy]), lost_by, self._text(live), live_by if live else None
        )

    def _text(self, file: TreeFile | None) -> str | None:
        if file is None or not file.is_regular:
            return None
        try:
            return self._read(file.id).decode("utf-8")[:_SHOWN]
        except UnicodeDecodeError:
            return None

    def _read(self, blob: str) -> bytes:
        return self._repository.read(blob)[1]

    def _on_disk(self, path: str) -> bytes | None:
        found = read_managed(self._layout.root, path)
        if isinstance(found, Skipped):
            raise NotFound(f"{path}: {found.reason}", path=path)
        return None if found is None else found.content

    def _disk_blob(self, path: str) -> str | None:
        found = read_managed(self._layout.root, path)
        return None if found is None or isinstance(found, Skipped) else hash_object("blob", found.content)


def _mint() -> str:
    return secrets.token_hex(8)[:15]
