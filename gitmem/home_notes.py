"""What people and the agent write, as methods of a home: notes, and commits of edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gitmem.authoring import Author, Provenance, WriteReply
from gitmem.config import HomeConfig
from gitmem.errors import UsageError
from gitmem.home_parts import HomeParts
from gitmem.layout import Layout
from gitmem.turn import Turn

if TYPE_CHECKING:
    from gitmem.agent_sight import Reader
    from gitmem.commit_found import CommitReply
    from gitmem.curated import NoteList
    from gitmem.note_plan import NotePlan
    from gitmem.note_text import Note


class HomeNotes:
    """The part of `AgentHome` that has to do with notes."""

    layout: Layout
    config: HomeConfig
    _parts: HomeParts

    def notes(self) -> NoteList:
        """Return all notes."""
        return self._parts.notes.list()

    def catalog(self) -> str:
        """Return the notes catalog, as the agent sees it."""
        return self._parts.notes.catalog(
            limit=self.config.catalog_notes,
            max_chars=self.config.catalog_chars,
            retracted=self._parts.judgements.retracted(),
            seen=lambda note: self._parts.sight.note(note)[0],
            held=lambda note: bool(self._parts.quarantine.note(note)),
        )

    def withheld_notes(self, listing: NoteList) -> dict[str, Sequence[str]]:
        """Return the paths of notes whose title, summary or tags the catalog withholds, with the rules."""
        found = {note.path: self._parts.sight.note(note)[1] for note in listing.notes}
        return {path: rules for path, rules in found.items() if rules}

    def note_show(self, note: str, *, by: Reader = "operator") -> Note:
        """Return the note that a path, ref or id names.

        Args:
            note: path, ref or id.
            by: who reads: from an `agent`, what the scanner refuses of it is withheld.

        Raises:
            Unavailable: it came by sync and is kept from an agent.
        """
        from gitmem.agent_sight import check_reader
        from gitmem.quarantine import held_source

        found = self._parts.notes.find(note)
        if check_reader(by) == "operator":
            return found
        rules = self._parts.quarantine.note(found)
        if rules:
            raise held_source(found.source_ref, rules)
        return self._parts.sight.whole_note(found)

    def note_add(
        self,
        path: str | None = None,
        *,
        content: str = "",
        title: str | None = None,
        tags: Sequence[str] = (),
        **cause: Any,
    ) -> WriteReply:
        """Add a note.

        Args:
            path: below `notes/`; without it the name comes from the title.
            content: its text.
            title: its title; default its first heading.
            tags: its tags.
            cause: `session`, `turn`, `source`, `reason`, `by` (`agent` or `operator`), and `origin`
                (`foreground`, or `background_review` for an agent that nobody attends).
        """
        plan = self._parts.notes.plan_add(content, path=path, title=title, tags=tags)
        return self._write_note(plan, **cause)

    def note_edit(
        self,
        note: str,
        *,
        content: str | None = None,
        title: str | None = None,
        tags: Sequence[str] | None = None,
        **cause: Any,
    ) -> WriteReply:
        """Change a note's text, title or tags; what is not named stays."""
        plan = self._parts.notes.plan_edit(note, content=content, title=title, tags=tags)
        return self._write_note(plan, **cause)

    def note_append(self, note: str, content: str, **cause: Any) -> WriteReply:
        """Add text at a note's end."""
        return self._write_note(self._parts.notes.plan_append(note, content), **cause)

    def note_move(self, note: str, target: str, **cause: Any) -> WriteReply:
        """Give a note another path; it stays the same note."""
        return self._write_note(self._parts.notes.plan_move(note, target), **cause)

    def note_remove(self, note: str, **cause: Any) -> WriteReply:
        """Remove a note; its history keeps it."""
        return self._write_note(self._parts.notes.plan_remove(note), **cause)

    def commit(
        self, paths: Sequence[str] = (), *, message: str | None = None, verify: bool = True
    ) -> CommitReply:
        """Commit the operator's edits of managed files, and writes that had to wait.

        Args:
            paths: files or folders; none for all.
            message: of the commit.
            verify: refuse all of it where one of the files has a conflict mark, a secret or the like.
        """
        from gitmem.commit_found import commit_found

        self._parts.check_owner()
        if any("\0" in path for path in paths):
            raise UsageError("a path holds no NUL", field="paths")
        reply = commit_found(
            self._parts.branch,
            self.layout,
            paths,
            message=message,
            settled=self._parts.take_settled(),
            config=self.config,
            allowed=self._parts.allowed,
            verify=verify,
        )
        plans = [path for path in reply.paths if path.startswith("work/")]
        if not plans:
            return reply
        warnings = self._parts.work_files.put_back(plans)
        self._parts.recorder.commit_waiting()
        return replace(reply, warnings=warnings)

    def _write_note(
        self,
        plan: NotePlan,
        *,
        by: Author = "agent",
        session: str | None = None,
        turn: Turn | str | None = None,
        source: str | None = None,
        reason: str | None = None,
        origin: str = "foreground",
    ) -> WriteReply:
        self._parts.check_owner()
        reply = self._parts.writes.write_note(plan, Provenance(by, session, turn, source, reason, origin))
        self._parts.recorder.commit_waiting()
        return reply
