"""Finishes episodes while turns are sealed: the record stands in the turn by which the episode ends.

The record names id, turns and the SHA-256 of the file, which follows from the ledger alone. Before the turn's
commit a notice says that a file has to be written; who writes it takes the notice away.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitmem.durable_file import remove_file, write_file
from gitmem.episode_facts import EpisodeFacts, light_record
from gitmem.episode_marks import Close, TurnMark, mark_to_row, mark_turn
from gitmem.errors import GitmemError, NotFound
from gitmem.layout import Layout
from gitmem.ledger import Ledger
from gitmem.ledger_format import Line, decode_lines
from gitmem.records import Event, Record
from gitmem.turn_evidence import TurnEvidence

if TYPE_CHECKING:
    from gitmem.episode_record import EpisodeFrame
    from gitmem.episode_rules import Closing, EpisodeFold

_SUFFIX: Final = ".json"


@dataclass(frozen=True, slots=True)
class Notice:
    """An episode whose file is not known to be written.

    Attributes:
        turn: the turn that holds its record.
        place: that turn's segment.
        places: segments of the episode's turns, by their ids, and of the record that holds its work item;
            empty where they have to be looked for.
    """

    id: str
    turn: str
    place: str
    places: Mapping[str, str] = field(default_factory=dict)


class EpisodeNotices:
    """The notices of one work tree, one file each.

    Args:
        layout: where they lie.
    """

    def __init__(self, layout: Layout) -> None:
        self._folder = layout.private / "episodes"

    def put(self, notice: Notice) -> None:
        """Say, durably, that a file has to be written."""
        row = {"turn": notice.turn, "place": notice.place, "places": dict(notice.places)}
        write_file(self._file(notice.id), json.dumps(row).encode())

    def read(self) -> list[Notice]:
        """Return what has to be written; damaged notices, too, name an episode."""
        return [_read(path) for path in sorted(self._files())]

    def drop(self, episode_id: str) -> None:
        """Say that a file is written, or waits among the pending writes."""
        remove_file(self._file(episode_id))

    def _files(self) -> list[Path]:
        try:
            return [path for path in self._folder.iterdir() if path.name.startswith("ep_")]
        except FileNotFoundError:
            return []

    def _file(self, episode_id: str) -> Path:
        return self._folder / f"{episode_id}{_SUFFIX}"


class EpisodeClosing:
    """Decides at the end of each turn which episodes it finishes.

    Args:
        layout: where marks and notices are kept.
        ledger: where earlier turns are read.
    """

    def __init__(self, layout: Layout, ledger: Ledger) -> None:
        self._facts = EpisodeFacts(layout, ledger)
        self._notices = EpisodeNotices(layout)
        self._tip: str | None = None
        self._fold: EpisodeFold | None = None
        self._mark: TurnMark | None = None
        self._unwritten: dict[str, Sequence[Line]] = {}
        self._due: list[Notice] = []
        self._closed: dict[str, Closing] = {}

    def prepare(self) -> None:
        """Read what is not known yet, before anybody's turn waits for it."""
        if self._fold is None:
            with suppress(GitmemError):
                self._facts.prepare()

    def close(
        self,
        turn: Record,
        lines: Sequence[Line],
        asked: bool,
        *,
        tip: str | None,
    ) -> Sequence[Event]:
        """Return the records of the episodes that a turn finishes.

        A ledger that cannot be read costs nobody their turn: the builder stays, and a later turn finishes it.

        Args:
            turn: its own record as it will be.
            lines: its other lines.
            asked: somebody wants the session's builder finished with it.
            tip: the line's commit before it.
        """
        self._closed = {}
        self._mark = mark_turn(turn, [light_record(line) for line in lines])
        if self._mark is None:
            return ()
        with suppress(GitmemError):
            if tip != self._tip or self._fold is None:  # another process was here
                self._fold, self._tip = self._facts.fold(turn.writer), tip
            closings = self._fold.decide(self._mark, asked=asked)
            events = self._events(closings, turn, lines) if closings else ()
            self._closed = {closing.builder.id: closing for closing in closings}
            return events
        return ()

    def note(self, lines: Sequence[Line], place: str, tip: str) -> None:
        """Go on over a turn that was sealed.

        Args:
            lines: all of it.
            place: path of its segment.
            tip: its commit.
        """
        turn = lines[-1].turn
        mark, self._mark = self._mark, None
        episodes = [line for line in lines if line.kind == "episode"]
        self._due += [Notice(line.id, turn, place, self._places(line.id, place)) for line in episodes]
        self._tip = tip
        if mark is None or self._fold is None:
            return
        closes = tuple(Close(one.id, tuple(one.body["turns"])) for one in decode_lines(episodes))
        self._facts.note(mark_to_row(replace(mark, closes=closes)), place)
        self._unwritten[turn] = lines

    def _places(self, episode: str, place: str) -> Mapping[str, str]:
        builder = self._closed[episode].builder
        places = {mark.turn: mark.place or place for mark in builder.turns}
        return (
            places if builder.item is None else {**places, builder.item.record: builder.item.place or place}
        )

    def announce(self) -> None:
        """Write the notices of what was finished since the last commit."""
        for notice in self._due:
            self._notices.put(notice)
        self._due.clear()

    def note_written(self) -> None:
        """Take what was noted as readable."""
        self._unwritten.clear()

    def forget_notes(self) -> None:
        """Drop what was noted; for a commit that failed after its turns were sealed."""
        self._unwritten.clear()
        self._due.clear()
        self._facts.forget_notes()
        self._fold = None

    def _events(self, closings: Sequence[Closing], turn: Record, lines: Sequence[Line]) -> list[Event]:
        from gitmem.episode_file import digest_of, render_episode  # noqa: PLC0415 - few turns finish one
        from gitmem.episode_record import make_episode  # noqa: PLC0415

        now = TurnEvidence(turn, tuple(decode_lines(lines)))
        events = []
        for closing in closings:
            frame = frame_of(closing)
            turns = [
                now if mark.turn == turn.id else self._evidence(mark.turn, mark.place)
                for mark in closing.builder.turns
            ]
            digest = digest_of(render_episode(make_episode(frame, turns, self._item(closing, now))))
            body = episode_body(frame, digest)
            events.append(
                Event(frame.id, "episode", turn.ts, body, session=frame.session, work_item=frame.work_item)
            )
        return events

    def _evidence(self, turn: str, place: str) -> TurnEvidence:
        lines = self._unwritten.get(turn)
        if lines is None:
            return self._facts.evidence(turn, place)
        records = list(decode_lines(lines))
        return TurnEvidence(records[-1], tuple(records[:-1]))

    def _item(self, closing: Closing, now: TurnEvidence) -> Mapping[str, Any] | None:
        item = closing.builder.item
        if item is None:
            return None
        lines = [*now.records, *(r for lines in self._unwritten.values() for r in decode_lines(lines))]
        found = next((record for record in lines if record.id == item.record), None)
        found = found or self._facts.record(item.record, item.place)
        if found is None:
            raise NotFound(f"work item {item.item} cannot be read", record=item.record)
        return found.body


def frame_of(closing: Closing) -> EpisodeFrame:
    """Return what is decided of an episode."""
    from gitmem.episode_record import EpisodeFrame  # noqa: PLC0415

    builder = closing.builder
    return EpisodeFrame(
        id=builder.id,
        writer=builder.writer,
        session=builder.session,
        boundary=closing.boundary,
        turns=tuple(mark.turn for mark in builder.turns),
        work_item=builder.work_item,
        item=None if builder.item is None else builder.item.record,
    )


def episode_body(frame: EpisodeFrame, digest: str) -> dict[str, Any]:
    """Return the body of an episode's record: all from which its file can be made again, and its SHA-256."""
    body: dict[str, Any] = {"turns": list(frame.turns), "boundary": frame.boundary, "sha256": digest}
    return body if frame.item is None else {**body, "item": frame.item}


def frame_from_record(record: Record) -> EpisodeFrame | None:
    """Return what a record says of an episode; None where it was forgotten or says nothing."""
    from gitmem.episode_record import EpisodeFrame  # noqa: PLC0415

    turns, item = record.body.get("turns"), record.body.get("item")
    if not isinstance(turns, list) or not turns or not all(isinstance(turn, str) for turn in turns):
        return None
    return EpisodeFrame(
        id=record.id,
        writer=record.writer,
        session=record.session,
        boundary=str(record.body.get("boundary")),
        turns=tuple(turns),
        work_item=record.work_item,
        item=item if isinstance(item, str) else None,
    )


def _read(path: Path) -> Notice:
    try:
        row = json.loads(path.read_bytes())
        places = {str(name): str(place) for name, place in row["places"].items()}
        return Notice(path.stem, str(row["turn"]), str(row["place"]), places)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Notice(path.stem, "", "")
