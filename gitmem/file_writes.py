"""Notes as they are written: planned, committed on the operator's branch, recorded in the ledger."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence

from gitmem.authoring import Authoring, Provenance, WriteReply
from gitmem.branch_changes import PathChange
from gitmem.errors import GitmemError
from gitmem.git_objects import hash_object
from gitmem.layout import Layout, is_managed
from gitmem.note_plan import NotePlan
from gitmem.subjects import file_subject, note_subject
from gitmem.tree_files import ManagedFile, read_managed
from gitmem.turn import Turn


class FileWrites:
    """Brings plans and the agent's own edits to the operator's branch.

    Args:
        authoring: commits and records.
        layout: where the files are.
        head: returns the commit that HEAD is at.
    """

    def __init__(self, authoring: Authoring, layout: Layout, head: Callable[[], str | None]) -> None:
        self._authoring = authoring
        self._root = layout.root
        self._head = head

    def write_note(self, plan: NotePlan, by: Provenance) -> WriteReply:
        """Carry out a plan; one that changes nothing is answered with the commit that holds the note."""
        if not plan.changes:
            return WriteReply(self._head(), None, plan.source_ref, plan.path, unchanged=True)
        target = plan.path if plan.moved_from else None
        return self._authoring.write(
            plan.changes,
            kind="note",
            action=plan.action,
            subject=note_subject(plan.action, plan.moved_from or plan.path, target),
            source_ref=plan.source_ref,
            by=by,
        )

    def commit_files(self, paths: Sequence[str], turn: Turn) -> list[str]:
        """Commit as the agent what a turn says that it changed with its own tools; return what cannot be."""
        warnings = []
        for path in dict.fromkeys(paths):
            try:
                reason = self._commit_file(path, turn)
            except (GitmemError, OSError) as error:
                reason = str(error)
            if reason:
                warnings.append(f"{path[:200]}: {reason}")
        return warnings

    def _commit_file(self, told: str, turn: Turn) -> str | None:
        # `./AGENTS.md` is `AGENTS.md`, and so is its whole path.
        path = posixpath.normpath(told.removeprefix(f"{self._root.as_posix()}/"))
        self._authoring.refuse_protected([path])
        if not is_managed(path):
            return None  # a file of the workspace; the record of it is all there is to keep
        found = read_managed(self._root, path)
        if found is not None and not isinstance(found, ManagedFile):
            return found.reason
        content = None if found is None else found.content
        reply = self._authoring.write(
            [PathChange(path, None if content is None else hash_object("blob", content), content)],
            kind="file",
            action="edit",
            subject=file_subject(path),
            source_ref=None,
            by=Provenance("agent", turn=turn),
        )
        return reply.reason
