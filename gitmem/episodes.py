"""Finished episodes: their files and tags on the operator's branch, listing them, reading them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from gitmem.branch_changes import PathChange, PendingTag
from gitmem.branch_tags import BranchTags
from gitmem.episode_closing import EpisodeNotices, Notice, frame_from_record
from gitmem.episode_facts import EpisodeFacts, places_of
from gitmem.episode_file import (
    digest_of,
    episode_slug,
    own_paths,
    render_episode,
    tag_message,
    tag_name,
)
from gitmem.episode_reading import EpisodePage, EpisodeReading, EpisodeView, id_of
from gitmem.episode_record import EpisodeFrame, EpisodeRecord, make_episode
from gitmem.episode_rules import Builder
from gitmem.errors import EpisodeMoved, GitmemError, NotFound, ProtectedPath
from gitmem.file_lock import file_lock
from gitmem.git_objects import hash_object
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.operator_branch import OperatorBranch
from gitmem.records import TERMINAL_STATUSES, Record
from gitmem.repository import Repository
from gitmem.subjects import KIND, SESSION, TURN, episode_subject, format_message
from gitmem.tree_files import ManagedFile, read_managed
from gitmem.turn_evidence import TurnEvidence
from gitmem.writer import WriterState

#: Seconds to wait for the home's lock; what could not be written then is written at the next turn or open.
_LOCK_WAIT: Final = 2.0
#: Who finishes an episode and what its commit is recorded as.
OPERATION: Final = "episode finalise"


@dataclass(frozen=True, slots=True)
class FinishedEpisode:
    """A finished episode as the ledger knows it, without its texts.

    Attributes:
        turns: ids, in order.
        work_item: what it was for.
        finalized_at: when its last turn ended, RFC 3339.
        recorded_in: id of the turn that holds its record.
    """

    id: str
    writer: str
    session: str | None
    turns: tuple[str, ...]
    work_item: str | None
    finalized_at: str
    recorded_in: str


class Episodes:
    """The episodes of one home.

    Args:
        layout: its folders.
        repository: its objects and refs.
        ledger: its records.
        branch: returns what takes commits.
        agent: `Name <mail>` that finishes episodes.
        writer: returns what is known of the own line.
        moves: returns the changes that go with a finished work item, by its id: its plan's way to the
            finished ones. It may be asked again for the same one and then returns nothing.
        now: the wall clock, seconds since 1970.
    """

    def __init__(
        self,
        layout: Layout,
        repository: Repository,
        ledger: Ledger,
        *,
        branch: Callable[[], OperatorBranch],
        agent: str,
        writer: Callable[[], WriterState | None],
        now: Callable[[], float],
        moves: Callable[[str], Sequence[PathChange]] = lambda _: (),
    ) -> None:
        self._layout = layout
        self._repository = repository
        self._ledger = ledger
        self._branch = branch
        self._agent = agent
        self._writer = writer
        self._now = now
        self._moves = moves
        self._notices = EpisodeNotices(layout)
        self._reasons: dict[str, str] = {}
        self._tags = BranchTags(repository)
        self._facts = EpisodeFacts(layout, ledger)
        self._reading = EpisodeReading(layout, repository, ledger, branch=branch, now=now)

    # Finishing

    def settle(self) -> list[str]:
        """Write the files of what was finished; return what could not be done, in sentences."""
        if not self._notices.read():
            return []
        with file_lock(self._layout.home_lock, wait=_LOCK_WAIT):
            return [told for notice in self._notices.read() if (told := self._write(notice)) is not None]

    def waiting(self) -> Mapping[str, str]:
        """Return why episodes that are finished are neither written nor wait for the branch, by their ids."""
        return {one.id: self._reasons.get(one.id, "the next turn writes it") for one in self._notices.read()}

    def waiting_items(self) -> frozenset[str]:
        """Return the ended work items whose plans wait to be moved by the write of an episode."""
        found: set[str] = set()
        for notice in self._notices.read():
            with suppress(GitmemError):
                record = self._record_of(notice)
                if record is not None:
                    found.update(_ended_items(self._facts.evidence(record.turn, notice.place)))
        return frozenset(found)

    def _write(self, notice: Notice) -> str | None:
        """Write one episode, or take back a notice of one that there is not."""
        record = self._record_of(notice)
        frame = None if record is None or record.kind != "episode" else frame_from_record(record)
        if record is None or frame is None:
            if record is not None or not self._is_spooled(notice.turn):
                self._notices.drop(notice.id)  # its turn came to no line, or it was forgotten
            return None
        try:
            episode, content = self._rebuild(frame, record, notice)
            turn = self._facts.evidence(record.turn, notice.place)
            waits = self._commit(record, turn, episode, content)
        except EpisodeMoved as error:
            self._notices.drop(notice.id)
            return error.message
        except GitmemError as error:
            self._reasons[notice.id] = error.message
            return f"episode {notice.id} waits: {error.message}"
        self._notices.drop(notice.id)
        return f"episode {notice.id} waits: {waits}" if waits else None

    def _record_of(self, notice: Notice) -> Record | None:
        found = self._facts.record(notice.id, notice.place) if notice.place else None
        if found is None:
            found = self._ledger.find(notice.id)
        return found if found is not None and found.writer else None

    def _is_spooled(self, turn: str) -> bool:
        return any(spooled.turn == turn for spooled in self._ledger.spooled())

    def _rebuild(self, frame: EpisodeFrame, record: Record, notice: Notice) -> tuple[EpisodeRecord, bytes]:
        """Return an episode as the ledger gives it.

        Raises:
            EpisodeMoved: what was recorded of it is something else; a turn of it was forgotten since.
        """
        places = notice.places or places_of(self._facts.rows(), frame.turns, frame.item)
        turns = [self._evidence(turn, places) for turn in frame.turns]
        episode = make_episode(frame, turns, self._item(frame, places))
        content = render_episode(episode)
        if digest_of(content) != record.body.get("sha256"):
            raise EpisodeMoved(
                f"episode {frame.id} cannot be written: its turns say something else than they did",
                hint="Something of them was forgotten meanwhile.",
                episode=frame.id,
            )
        return episode, content

    def _evidence(self, turn: str, places: Mapping[str, str]) -> TurnEvidence:
        if turn not in places:
            raise NotFound(f"turn {turn} cannot be read", turn=turn)
        return self._facts.evidence(turn, places[turn])

    def _item(self, frame: EpisodeFrame, places: Mapping[str, str]) -> Mapping[str, Any] | None:
        if frame.item is None:
            return None
        record = self._facts.record(frame.item, places.get(frame.item, ""))
        if record is None:
            raise NotFound(f"the work item of {frame.id} cannot be read", record=frame.item)
        return record.body

    def _commit(
        self, record: Record, turn: TurnEvidence, episode: EpisodeRecord, content: bytes
    ) -> str | None:
        """Write an episode; return what keeps the branch from taking all of it, None if nothing does."""
        path, base = self._place(episode, content)
        digest = digest_of(content)
        subject = episode_subject(episode_slug(episode), len(episode.turns))
        tag = PendingTag(tag_name(episode.id), tag_message(episode, digest))
        if not self._tags.agrees(tag):
            raise EpisodeMoved(
                f"the tag {tag.name} says something else than the episode", episode=episode.id, tag=tag.name
            )
        self._branch().write(
            [PathChange(path, base, content), *self._moves_of(turn)],
            message=format_message(
                subject, [(KIND, "episode"), (TURN, record.turn), (SESSION, record.session)]
            ),
            author=self._agent,
            operation=OPERATION,
            turn=record.turn,
            locked=True,
            tag=tag,
        )
        return next((write.reason for write in self._branch().pending() if write.tag == tag), None)

    def _moves_of(self, turn: TurnEvidence) -> Iterator[PathChange]:
        """Yield the changes that go with the work items that a turn finished."""
        for item in _ended_items(turn):
            yield from self._moves(item)

    def _place(self, episode: EpisodeRecord, content: bytes) -> tuple[str, str | None]:
        """Return the path of an episode's file, and the blob id of what is there."""
        reason = ""
        for path in own_paths(episode):
            found = read_managed(self._layout.root, path)
            if found is None:
                return path, None
            reason = f"{path}: {'another file' if isinstance(found, ManagedFile) else found.reason}"
            if isinstance(found, ManagedFile):
                if found.content == content:
                    return path, hash_object("blob", content)
                if id_of(path, found.content) == episode.id:
                    raise EpisodeMoved(
                        f"{path} is not the episode that was finished", episode=episode.id, path=path
                    )
        raise ProtectedPath(reason, hint="It is written once its place is free.", episode=episode.id)

    # Reading

    def finished(self) -> list[FinishedEpisode]:
        """Return what the ledger knows of finished episodes, the oldest first; no file is read."""
        rows = {row[0]: row for row in self._facts.rows()}
        found = []
        for row in rows.values():
            writer = row[-1].rpartition("/")[2].partition("-")[0]
            for name, turns in row[11]:
                own = [rows[turn] for turn in turns if turn in rows]
                last = max((one[3] for one in own), default=row[3])
                item = next((one[5] or one[6] for one in own if one[5] or one[6]), None)
                session = own[0][1] if own else None
                found.append(FinishedEpisode(name, writer, session, tuple(turns), item, last, row[0]))
        return sorted(found, key=lambda one: (one.finalized_at, one.id))

    def builders(self) -> list[Builder]:
        """Return what is open on the own line."""
        state = self._writer()
        return [] if state is None else self._facts.fold(state.writer).builders()

    def page(self, *, limit: int = 20, cursor: str | None = None, as_of: str | None = None) -> EpisodePage:
        """Return episodes, the newest first, and what is open.

        Args:
            limit: how many at most.
            cursor: of an earlier page.
            as_of: a commit or a time; the files as they were then.

        Raises:
            UsageError: `limit` or `cursor` is not what it should be.
        """
        found, left = self._reading.part(limit=limit, cursor=cursor, as_of=as_of)
        shown = () if as_of is not None else [_open_view(builder) for builder in self.builders()]
        return EpisodePage(found, shown, left)

    def show(self, name: str, *, as_of: str | None = None) -> EpisodeView:
        """Return one episode by its id, its ref, or the unique beginning of its id.

        Raises:
            UnknownSource: there is none.
            AmbiguousMatch: several begin so.
        """
        return self._reading.find(name, as_of)


def _ended_items(turn: TurnEvidence) -> list[str]:
    """Return the work items that a turn finished."""
    last = {record.object: record.status for record in turn.of_kind("work_item")}
    return [item for item, status in last.items() if item is not None and status in TERMINAL_STATUSES]


def _open_view(builder: Builder) -> Mapping[str, Any]:
    return {
        "id": builder.id,
        "session": builder.session,
        "work_item": builder.work_item,
        "turns": [mark.turn for mark in builder.turns],
        "began": builder.turns[0].began,
        "ended": builder.turns[-1].ended,
    }
