"""Reads what a context is made from: turns, work, episodes and files, as they are or as they were."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from gitmem.authored_text import Problem
from gitmem.blocked_parts import Judge
from gitmem.catalog import path_order, render_catalog
from gitmem.config import HomeConfig
from gitmem.context_assembly import ContextInputs
from gitmem.context_files import MomentFiles, Noted
from gitmem.context_moment import Moment
from gitmem.context_record import ContextRequest, LoadedFiles
from gitmem.context_sections import ChangedFile, CurrentInput
from gitmem.curated import PROSE, STORES
from gitmem.episode_anchors import EpisodeAnchors
from gitmem.episode_selection import EpisodeIndex
from gitmem.execution_environment import read_environment
from gitmem.identity import is_agent
from gitmem.judgement_rules import Judgement
from gitmem.layout import Layout, is_managed
from gitmem.ledger import Ledger, Segment
from gitmem.note_ids import NoteIds
from gitmem.note_text import Note
from gitmem.prose_section import ProseSection, make_section, unreadable_section
from gitmem.quarantine import Quarantine
from gitmem.recent_turns import MOST_TURNS
from gitmem.repository import Commit, Repository, read_path
from gitmem.session_snapshot import SessionSnapshots
from gitmem.store_sight import StoreSight, StoreSights
from gitmem.times import format_time
from gitmem.tree_changes import changed_paths
from gitmem.tree_files import Skipped
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
#: Warnings of what could not be read that are told.
_MOST_WARNINGS: Final = 5


@dataclass(frozen=True, slots=True)
class ReadingTools:
    """What reading needs of a home.

    Attributes:
        seen: returns a note as an agent may see it.
        retracted: returns the refs of notes that come last; as the ledger was, if that is given.
        corrected: returns of some refs those that were retracted, and how; as the ledger was, likewise.
        waiting: returns the paths of episodes that wait for their commit.
        judge: the scanner.
        quarantine: what came by sync and is kept from the agent.
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
    retracted: Callable[[Mapping[str, Segment] | None], Container[str]]
    corrected: Callable[[Iterable[str], Mapping[str, Segment] | None], Mapping[str, Judgement]]
    waiting: Callable[[], Sequence[str]]
    judge: Judge
    quarantine: Quarantine


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
        noted = Noted(missing=list(moment.missing))
        tools = self._tools
        files = MomentFiles(tools.layout.root, tools.repository, tools.ledger.receipts, moment, noted)
        config = files.config(tools.config)
        place = read_environment(request.environment)
        work = self._tools.work.state(moment.as_of, request.now)
        turns = self._turns(request.session, moment)
        item = self._item(work, request.session, files)
        traced = self._work_turns(work, item, turns, moment)
        agents = files.text("AGENTS.md")
        if isinstance(agents, Problem):
            noted.warnings.append(f"AGENTS.md is unreadable: {agents}")
        noted.missing += self._forgotten([*turns, *traced], moment)
        inputs = ContextInputs(
            home_id=tools.config.home_id,
            agent=config.agent,
            now=request.now if request.tells_time else "",
            session=request.session,
            input=_input(request),
            environment=place,
            agents_md=tools.quarantine.agents_md(agents) if isinstance(agents, str) else None,
            prose=tuple(self._prose(files, config)),
            frozen=self._frozen(request.session, moment, noted, files, config),
            catalog=self._catalog(files, moment, noted, config),
            work_item=item,
            work_refs=work.refs(item.id).active if item else (),
            other_work=self._other_work(work, request.session, place.workspace_id, item),
            tasks=tuple(self._tasks(work)),
            turns=tuple(turns),
            work_turns=tuple(traced),
            corrections=self._corrections([*turns, *traced], moment),
            episodes=self._episodes(moment, files),
            changes=tuple(self._changes(moment)),
            warnings=tuple(noted.warnings[:_MOST_WARNINGS]),
        )
        return ReadContext(inputs, noted.loaded(), tuple(dict.fromkeys(noted.missing)))

    def _turns(self, session: str | None, moment: Moment) -> list[TurnEvidence]:
        places = self._tools.places
        if moment.segments is None:
            return self._shown(places.read(places.last(session, MOST_TURNS)))
        last = places.last_of(moment.segments, session, MOST_TURNS, moment.without)
        return self._shown(places.read(last, moment.segments))

    def _shown(self, turns: Sequence[TurnEvidence]) -> list[TurnEvidence]:
        """Return turns without the records that are kept from the agent."""
        told = self._tools.quarantine.told
        return [replace(turn, records=tuple(filter(None, map(told, turn.records)))) for turn in turns]

    def _work_turns(
        self, work: WorkState, item: WorkItemView | None, turns: Sequence[TurnEvidence], moment: Moment
    ) -> list[TurnEvidence]:
        if item is None:
            return []
        shown = {turn.id for turn in turns} | {moment.without}
        places = work.turn_places(item.id, _TRACED + MOST_TURNS)
        names = [turn for turn in places if turn not in shown][-_TRACED:]
        found = self._tools.places.find({turn: places[turn] for turn in names})
        return self._shown(self._tools.places.read(found, moment.segments))

    def _item(self, work: WorkState, session: str | None, files: MomentFiles) -> WorkItemView | None:
        current = work.focus(session)
        found = work.items.get(current) if current is not None else None
        if found is None or self._is_held(work, "work_item", found.id):
            return None
        return _view(found, files.plan(found.plan_path, self._tools.quarantine.version))

    def _is_held(self, work: WorkState, kind: str, name: str) -> bool:
        """Say whether the words of a work item or a task are kept from the agent."""
        found = work.snapshot_of(kind, name)
        if found is None or not self._tools.quarantine.refuses(found.body):
            return False  # where a record is costs a look through the ledger
        record = self._tools.ledger.find(found.id)
        return record is None or bool(self._tools.quarantine.record(record))

    def _other_work(
        self, work: WorkState, session: str | None, workspace: str | None, current: WorkItemView | None
    ) -> Mapping[str, Sequence[WorkItemView]]:
        found = {}
        for name, ids in work.candidates(session, workspace=workspace).items():
            shown = (one for one in ids if not self._is_held(work, "work_item", one))
            items = (work.items.get(one) for one in shown if current is None or one != current.id)
            views = [_view(item, None) for item in items if item is not None]
            if views:
                found[name] = views
        return found

    def _tasks(self, work: WorkState) -> Iterator[TaskView]:
        names = (task for task in work.open_tasks() if not self._is_held(work, "task", task))
        running = (work.tasks.get(task) for task in names)
        known = [task for task in running if task is not None]
        for task in sorted(known, key=lambda one: (one.updated_at, one.id), reverse=True):
            yield TaskView(task.id, task.status, task.summary or "")

    def _corrections(self, turns: Sequence[TurnEvidence], moment: Moment) -> Mapping[str, str]:
        """Return what of some turns was retracted by then: ref and what is true instead, if that was said."""
        refs = [record.source_ref for turn in turns for record in turn.records]
        found = self._tools.corrected(refs, moment.segments)
        return {ref: judgement.replaced_by or "" for ref, judgement in found.items()}

    def _forgotten(self, turns: Sequence[TurnEvidence], moment: Moment) -> Iterator[str]:
        """Yield what a recorded context showed and what nobody may show any more."""
        if moment.recorded is None:
            return
        forgotten = self._tools.ledger.receipts().records
        for turn in turns:
            for record in turn.records:
                if record.redacted and record.id in forgotten:
                    yield f"{record.source_ref} was forgotten since"

    def _prose(self, files: MomentFiles, config: HomeConfig) -> Iterator[ProseSection]:
        for name, path in PROSE.items():
            settings = config.memory[name]
            content = files.content(path) if settings.enabled else None
            if isinstance(content, Skipped):
                yield unreadable_section(name, path, content.reason)
            elif content is not None:
                judge, held = self._tools.judge, self._tools.quarantine.parts
                yield make_section(name, path, content, limit=settings.char_limit, judge=judge, held=held)

    def _frozen(
        self, session: str | None, moment: Moment, noted: Noted, files: MomentFiles, config: HomeConfig
    ) -> str | None:
        """Return the memory stores as the session sees them; without one, as they are."""
        tools = self._tools
        if session is not None and not moment.is_past:
            block = tools.snapshots.peek(session, tools.places.session_events(session))
            noted.frozen.update({target: store.blob for target, store in block.stores.items()})
            return block.text
        sights = tools.sights.under(config)
        if moment.recorded is not None and moment.loaded.frozen:
            found = {target: self._store(target, moment, files, sights) for target in moment.loaded.frozen}
        else:
            found = sights.read() if not moment.is_past else self._stores(files, sights, config)
        noted.frozen.update({target: sight.blob for target, sight in found.items()})
        noted.unread.update({STORES[name]: sight.problem for name, sight in found.items() if sight.problem})
        return sights.render(found)

    def _store(self, target: str, moment: Moment, files: MomentFiles, sights: StoreSights) -> StoreSight:
        """Return a store as a recorded context had it."""
        blob, path = moment.loaded.frozen[target], STORES.get(target, target)
        if blob is None:
            return StoreSight(problem=moment.loaded.unread.get(path))
        content = files.blob(blob, path)
        return StoreSight() if content is None else sights.from_bytes(content)

    def _stores(self, files: MomentFiles, sights: StoreSights, config: HomeConfig) -> dict[str, StoreSight]:
        """Return the stores as a commit has them."""
        found = {}
        for target, path in STORES.items():
            content = files.content(path) if config.memory[target].enabled else None
            found[target] = sights.from_bytes(content) if isinstance(content, bytes) else StoreSight()
        return found

    def _catalog(self, files: MomentFiles, moment: Moment, noted: Noted, config: HomeConfig) -> str:
        paths = sorted(files.notes(), key=path_order)
        notes = files.read_notes(paths, config.catalog_notes, self._id_of(moment, paths))
        retracted = self._retracted(moment)
        noted.retracted = tuple(note.source_ref for note in notes if note.source_ref in retracted)
        return render_catalog(
            notes,
            limit=config.catalog_notes,
            max_chars=config.catalog_chars,
            total=files.readable,
            retracted=retracted,
            seen=self._tools.seen,
            held=lambda note: self._is_note_held(note, moment),
        )

    def _is_note_held(self, note: Note, moment: Moment) -> bool:
        if not moment.is_past:
            return bool(self._tools.quarantine.note(note))
        content = note.text.encode("utf-8", "surrogatepass")
        return bool(self._tools.quarantine.version(note.path, content))

    def _retracted(self, moment: Moment) -> Container[str]:
        """Return the refs of notes that come last: a later retraction does not change what was told then."""
        if moment.recorded is not None and moment.loaded.notes is not None:
            return moment.loaded.retracted
        return self._tools.retracted(moment.segments)

    def _id_of(self, moment: Moment, paths: Sequence[str]) -> Callable[[str], str]:
        if not moment.is_past or moment.head is None or moment.tree is None:  # that commit is not here
            return self._tools.note_ids.lookup(paths)
        return self._tools.note_ids.lookup_at(moment.head)

    def _episodes(self, moment: Moment, files: MomentFiles) -> EpisodeIndex:
        """Return the episodes of the operator's branch and those that wait for their commit there."""
        root = moment.tree
        if root is None and moment.head is not None and not moment.is_past:
            root = self._tools.repository.read_commit(moment.head).tree
        waiting = files.waiting_episodes(self._tools.waiting)
        return self._tools.episodes.index(root, waiting, under=self._tools.quarantine.state)

    def _changes(self, moment: Moment) -> Iterator[ChangedFile]:
        """Yield the managed files that others changed between the last turn and HEAD."""
        repository, base, head = self._tools.repository, moment.base, moment.head
        if base is None or head is None or base == head:
            return
        if not repository.contains(base) or not repository.contains(head):
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
                    if self._tools.quarantine.file(path):
                        continue
                    by = "somebody" if self._tools.judge(by) else by
                    yield ChangedFile(path, what, by, format_time(commit.author_time), commit.id)

    def _others(self, base: str, head: str) -> Iterator[Commit]:
        """Yield the commits behind HEAD that are not the agent's, the newest first."""
        for commit in islice(self._tools.repository.walk_first_parents(head), _MOST_COMMITS):
            if commit.id == base:
                return
            if not is_agent(commit.author, self._tools.config.home_id):
                yield commit


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
