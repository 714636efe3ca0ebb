"""Reads what a context is made from: turns, work, episodes and files, as they are or as they were."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from gitmem.authored_text import Problem, decode_text
from gitmem.blocked_parts import Judge
from gitmem.catalog import path_order, render_catalog
from gitmem.config import HomeConfig
from gitmem.context_assembly import ContextInputs
from gitmem.context_moment import Moment
from gitmem.context_record import ContextRequest, LoadedFiles
from gitmem.context_sections import ChangedFile, CurrentInput
from gitmem.curated import NOTE_SUFFIXES, PROSE, STORES, own_id
from gitmem.episode_anchors import EpisodeAnchors
from gitmem.episode_selection import EpisodeIndex
from gitmem.errors import GitmemError
from gitmem.execution_environment import read_environment
from gitmem.front_matter import read_front_matter
from gitmem.git_objects import hash_object
from gitmem.identity import is_agent
from gitmem.layout import NOTES, Layout, is_managed
from gitmem.ledger import Ledger
from gitmem.note_ids import NoteIds
from gitmem.note_text import Note, make_note
from gitmem.prose_section import ProseSection, make_section, unreadable_section
from gitmem.recent_turns import MOST_TURNS
from gitmem.repository import TREE_MODE, Commit, Repository, read_path, walk_tree
from gitmem.session_snapshot import SessionSnapshots
from gitmem.store_sight import StoreSight, StoreSights
from gitmem.times import format_time
from gitmem.tree_changes import changed_paths
from gitmem.tree_files import Skipped, list_files, read_managed
from gitmem.turn_evidence import TurnEvidence
from gitmem.turn_places import TurnPlaces
from gitmem.work_item import WorkItem
from gitmem.work_sections import TaskView, WorkItemView
from gitmem.work_state import WorkReader, WorkState

#: Turns of a work item before the recent ones that its trace is made from.
_TRACED: Final = 12
#: Commits behind HEAD that are looked through for what others changed, and paths that are told.
_MOST_COMMITS: Final = 200
_MOST_CHANGES: Final = 50
_LONGEST_PLAN: Final = 4_000


@dataclass(frozen=True, slots=True)
class ReadingTools:
    """What reading needs of a home.

    Attributes:
        seen: returns a note as an agent may see it.
        retracted: returns the refs of notes that come last.
        judge: the scanner.
    """

    layout: Layout
    config: HomeConfig
    repository: Repository
    ledger: Ledger
    places: TurnPlaces
    episodes: EpisodeAnchors
    work: WorkReader
    note_ids: NoteIds
    sights: StoreSights
    snapshots: SessionSnapshots
    seen: Callable[[Note], Note]
    retracted: Callable[[], Container[str]]
    judge: Judge


@dataclass(slots=True)
class _Noted:
    """What was read for one context, and what could not be."""

    blobs: dict[str, str | None] = field(default_factory=dict)
    frozen: dict[str, str | None] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What was read.

    Attributes:
        loaded: the files, by digest.
        missing: what a past moment had and is not here, a sentence each.
    """

    inputs: ContextInputs
    loaded: LoadedFiles
    missing: tuple[str, ...]


class ContextReader:
    """Reads the inputs of contexts. Safe in threads.

    Args:
        tools: of the home.
    """

    def __init__(self, tools: ReadingTools) -> None:
        self._tools = tools

    def last_told(self) -> str | None:
        """Return the id of the last turn in which anything was told."""
        found = self._tools.places.last(None, 1)
        return found[0].turn if found else None

    def read(self, request: ContextRequest, moment: Moment) -> ReadContext:
        """Return everything that a context is made from.

        Args:
            request: what is asked for.
            moment: whose turns and files.
        """
        noted = _Noted()
        files = _Files(self._tools, moment, noted)
        place = read_environment(request.environment)
        work = self._tools.work.state(moment.as_of, request.now)
        turns = self._turns(request.session, moment)
        item = self._item(work, request.session, files)
        agents = files.text("AGENTS.md")
        inputs = ContextInputs(
            home_id=self._tools.config.home_id,
            agent=self._tools.config.agent,
            now=request.now if request.tells_time else "",
            session=request.session,
            input=_input(request),
            environment=place,
            agents_md=agents if isinstance(agents, str) else None,
            prose=tuple(self._prose(files)),
            frozen=self._frozen(request.session, moment, noted, files),
            catalog=self._catalog(files, moment),
            work_item=item,
            work_refs=work.refs(item.id).active if item else (),
            other_work=self._other_work(work, request.session, place.workspace_id, item),
            tasks=tuple(self._tasks(work)),
            turns=tuple(turns),
            work_turns=tuple(self._work_turns(work, item, turns, moment)),
            episodes=self._episodes(moment),
            changes=tuple(self._changes(moment)),
            warnings=() if not isinstance(agents, Problem) else (f"AGENTS.md is unreadable: {agents}",),
        )
        return ReadContext(inputs, LoadedFiles(noted.blobs, noted.frozen), tuple(noted.missing))

    def _turns(self, session: str | None, moment: Moment) -> list[TurnEvidence]:
        places = self._tools.places
        if moment.segments is None:
            return places.read(places.last(session, MOST_TURNS))
        last = places.last_of(moment.segments, session, MOST_TURNS, moment.without)
        return places.read(last, moment.segments)

    def _work_turns(
        self, work: WorkState, item: WorkItemView | None, turns: Sequence[TurnEvidence], moment: Moment
    ) -> list[TurnEvidence]:
        if item is None:
            return []
        shown = {turn.id for turn in turns} | {moment.without}
        names = [turn for turn in work.turns(item.id)[-_TRACED - MOST_TURNS :] if turn not in shown][
            -_TRACED:
        ]
        return self._tools.places.read(self._tools.places.find(names), moment.segments)

    def _item(self, work: WorkState, session: str | None, files: _Files) -> WorkItemView | None:
        current = work.focus(session)
        found = work.items.get(current) if current is not None else None
        return None if found is None else _view(found, files.plan(found.plan_path))

    def _other_work(
        self, work: WorkState, session: str | None, workspace: str | None, current: WorkItemView | None
    ) -> Mapping[str, Sequence[WorkItemView]]:
        found = {}
        for name, ids in work.candidates(session, workspace=workspace).items():
            items = (work.items.get(one) for one in ids if current is None or one != current.id)
            views = [_view(item, None) for item in items if item is not None]
            if views:
                found[name] = views
        return found

    def _tasks(self, work: WorkState) -> Iterator[TaskView]:
        running = (work.tasks.get(task) for task in work.open_tasks())
        known = [task for task in running if task is not None]
        for task in sorted(known, key=lambda one: (one.updated_at, one.id), reverse=True):
            yield TaskView(task.id, task.status, task.summary or "")

    def _prose(self, files: _Files) -> Iterator[ProseSection]:
        for name, path in PROSE.items():
            settings = self._tools.config.memory[name]
            content = files.content(path) if settings.enabled else None
            if isinstance(content, Skipped):
                yield unreadable_section(name, path, content.reason)
            elif content is not None:
                yield make_section(name, path, content, limit=settings.char_limit, judge=self._tools.judge)

    def _frozen(self, session: str | None, moment: Moment, noted: _Noted, files: _Files) -> str | None:
        """Return the memory stores as the session sees them; without one, as they are."""
        if moment.recorded is not None and moment.loaded.frozen:
            found = {}
            for target, blob in moment.loaded.frozen.items():
                content = files.blob(blob, f"memory store {target}") if blob else None
                found[target] = StoreSight() if content is None else self._tools.sights.from_bytes(content)
            noted.frozen.update(moment.loaded.frozen)
            return self._tools.sights.render(found)
        if session is not None and not moment.is_past:
            block = self._tools.snapshots.peek(session, self._tools.places.session_events(session))
            noted.frozen.update({target: store.blob for target, store in block.stores.items()})
            return block.text
        sights = self._tools.sights.read() if not moment.is_past else files.stores()
        noted.frozen.update({target: sight.blob for target, sight in sights.items()})
        return self._tools.sights.render(sights)

    def _catalog(self, files: _Files, moment: Moment) -> str:
        config = self._tools.config
        paths = sorted(files.notes(), key=path_order)
        notes = files.read_notes(paths, config.catalog_notes, self._id_of(moment, paths))
        return render_catalog(
            notes,
            limit=config.catalog_notes,
            max_chars=config.catalog_chars,
            total=len(paths),
            retracted=self._tools.retracted(),
            seen=self._tools.seen,
        )

    def _id_of(self, moment: Moment, paths: Sequence[str]) -> Callable[[str], str]:
        if not moment.is_past or moment.head is None:
            return self._tools.note_ids.lookup(paths)
        return self._tools.note_ids.lookup_at(moment.head)

    def _episodes(self, moment: Moment) -> EpisodeIndex:
        """Return the episodes of the operator's branch; one that waits for its commit is not among them."""
        root = moment.tree
        if root is None and moment.head is not None:
            root = self._tools.repository.read_commit(moment.head).tree
        return self._tools.episodes.index(root)

    def _changes(self, moment: Moment) -> Iterator[ChangedFile]:
        """Yield the managed files that others changed between the last turn and HEAD."""
        repository, base, head = self._tools.repository, moment.base, moment.head
        if base is None or head is None or base == head or not repository.contains(base):
            return
        old, new = repository.read_commit(base).tree, repository.read_commit(head).tree
        told: set[str] = set()
        for commit in self._others(base, head):
            parent = repository.read_commit(commit.parents[0]).tree if commit.parents else None
            for change in changed_paths(repository, parent, commit.tree):
                path = change.path
                if path in told or not is_managed(path) or len(told) >= _MOST_CHANGES:
                    continue
                told.add(path)
                before, after = read_path(repository, old, path), read_path(repository, new, path)
                if before != after:
                    what = "added" if before is None else "removed" if after is None else "changed"
                    by = commit.author.rpartition(" <")[0]
                    yield ChangedFile(path, what, by, format_time(commit.author_time), commit.id)

    def _others(self, base: str, head: str) -> Iterator[Commit]:
        """Yield the commits behind HEAD that are not the agent's, the newest first."""
        for commit in islice(self._tools.repository.walk_first_parents(head), _MOST_COMMITS):
            if commit.id == base:
                return
            if not is_agent(commit.author, self._tools.config.home_id):
                yield commit


class _Files:
    """The files of a home at a moment; notes what is read.

    Args:
        tools: of the home.
        moment: whose files.
        noted: takes what is read.
    """

    def __init__(self, tools: ReadingTools, moment: Moment, noted: _Noted) -> None:
        self._tools = tools
        self._moment = moment
        self._noted = noted

    def content(self, path: str) -> bytes | Skipped | None:
        """Return a file's bytes; why it cannot be read; None where there is none."""
        if self._moment.tree is None and not self._moment.is_past:
            found = read_managed(self._tools.layout.root, path)
            if found is None or isinstance(found, Skipped):
                self._noted.blobs[path] = None
                return found
            self._noted.blobs[path] = hash_object("blob", found.content)
            return found.content
        entry = read_path(self._tools.repository, self._moment.tree, path) if self._moment.tree else None
        blob = entry.id if entry is not None and entry.mode != TREE_MODE else None
        wanted = self._moment.loaded.blobs.get(path, blob)
        self._noted.blobs[path] = wanted
        return None if wanted is None else self.blob(wanted, path)

    def blob(self, blob: str, name: str) -> bytes | None:
        """Return the bytes of a blob; what is not here or was forgotten is noted as missing."""
        if self._tools.ledger.receipts().is_forgotten_blob(blob):
            self._noted.missing.append(f"{name} as it was was forgotten since")
            return None
        with suppress(GitmemError):
            return self._tools.repository.read(blob)[1]
        now = read_managed(self._tools.layout.root, name)
        if now is not None and not isinstance(now, Skipped) and hash_object("blob", now.content) == blob:
            return now.content
        self._noted.missing.append(f"{name} as it was, an edit that was never committed ({blob[:12]})")
        return None

    def text(self, path: str) -> str | Problem | None:
        """Return a file's text; what is wrong with it; None where there is none."""
        content = self.content(path)
        if isinstance(content, Skipped):
            return Problem(content.line, content.reason)
        return None if content is None else decode_text(content)

    def plan(self, path: str | None) -> str | None:
        """Return the text of a plan without its front matter."""
        text = self.text(path) if path else None
        if not isinstance(text, str):
            return None
        return text[read_front_matter(text).body_start :].lstrip("\r\n")[:_LONGEST_PLAN]

    def notes(self) -> Sequence[str]:
        """Return the paths of all notes."""
        if not self._moment.is_past:
            return [one.path for one in list_files(self._tools.layout.root, NOTES, NOTE_SUFFIXES).files]
        root = self._moment.tree
        entry = read_path(self._tools.repository, root, NOTES) if root else None
        found = list(walk_tree(self._tools.repository, entry.id, f"{NOTES}/")) if entry else []
        known = [path for path in self._moment.loaded.blobs if path.startswith(f"{NOTES}/")]
        return [path for path in dict.fromkeys([*(path for path, _ in found), *known]) if _is_note(path)]

    def read_notes(self, paths: Sequence[str], most: int, id_of: Callable[[str], str]) -> list[Note]:
        """Return the first notes, each with an id of its own."""
        notes: list[Note] = []
        owners: dict[str, str] = {}
        for path in paths:
            if len(notes) == max(most, 1):
                break
            text = self.text(path)
            if isinstance(text, str):
                note = make_note(path, text, "")
                claimed = note.front.id or id_of(path)
                name = own_id(claimed, path, owners, id_of)
                owners[name] = path
                notes.append(make_note(path, text, name, note.front))
        return notes

    def stores(self) -> dict[str, StoreSight]:
        """Return the memory stores."""
        found = {}
        for target, path in STORES.items():
            content = self.content(path) if self._tools.config.memory[target].enabled else None
            found[target] = (
                self._tools.sights.from_bytes(content) if isinstance(content, bytes) else StoreSight()
            )
        return found


def _input(request: ContextRequest) -> CurrentInput | None:
    if request.input is None:
        return None
    return CurrentInput(request.input, request.voice, request.origin)


def _view(item: WorkItem, plan: str | None) -> WorkItemView:
    return WorkItemView(
        item.id,
        item.objective,
        readiness=item.schedule.readiness,
        reason=item.schedule.reason,
        plan_status=item.plan_status,
        todo=item.todo,
        revision=item.revision,
        blocked_by=item.blocked_by,
        delivery_target=item.delivery_target,
        workspace=item.workspace,
        plan_path=item.plan_path,
        plan=plan,
        report=item.report,
        diagnostics=item.schedule.diagnostics,
    )


def _is_note(path: str) -> bool:
    names = path.split("/")[1:]
    return path.lower().endswith(NOTE_SUFFIXES) and not any(name.startswith(".") for name in names)
