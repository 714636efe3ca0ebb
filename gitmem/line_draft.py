"""The Git objects of turns: each turn's blobs, trees and commit at the end of a line, not written yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from gitmem.disk_copy import DiskChanges, Growth
from gitmem.episode_closing import EpisodeClosing
from gitmem.forgetting_record import receipts_of
from gitmem.forgotten import Receipts, is_receipt_path, join_receipts, read_receipts
from gitmem.git_objects import make_commit, make_object
from gitmem.growing_file import GrowingFile
from gitmem.ledger_format import SEGMENT_BYTES, segment_path
from gitmem.lifecycle import Lifecycle
from gitmem.line_closing import close_line
from gitmem.line_merge import LineMerge
from gitmem.line_position import LinePosition
from gitmem.repository import GitObject, ObjectReader
from gitmem.sealing import SealedTurn, seal_turn
from gitmem.spool_file import SpooledTurn
from gitmem.subjects import CHAIN, HEAD, HOME, KIND, TURN, format_message, turn_subject


@dataclass(frozen=True, slots=True)
class CommittedTurn:
    """A turn that stands on the line.

    Attributes:
        refused: `{"event", "code"}` of its events that conflicted with the ledger.
        added: `{"id", "kind", "source_ref"}` of the records that follow from its events.
    """

    turn: str
    turn_index: int
    commit: str
    refused: tuple[Mapping[str, Any], ...] = ()
    added: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """What is true of all turns that are drafted together.

    Attributes:
        now: seconds since 1970.
        head: the commit that HEAD names.
        receipts: what was forgotten.
        forgotten: receipts that the turn brings, by path; its commit closes the whole tree under them.
    """

    now: float
    head: str | None
    receipts: Receipts
    forgotten: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draft:
    """What has to be written.

    Attributes:
        objects: everything that is new in Git.
        changes: what the copy on disk has to follow.
        committed: the turns, by id.
        plans: for each work item whose plan may be out of line by them, what happened to it (`PlanNotices`).
    """

    objects: list[GitObject] = field(default_factory=list)
    changes: DiskChanges = field(default_factory=DiskChanges)
    committed: dict[str, CommittedTurn] = field(default_factory=dict)
    plans: dict[str, str] = field(default_factory=dict)

    @property
    def forgets(self) -> bool:
        """Whether receipts of forgetting come with them."""
        return any(is_receipt_path(path) for path in (*self.changes.grown, *self.changes.brought))


@dataclass(frozen=True, slots=True)
class SpoolRun:
    """What one pass over the spool did.

    Attributes:
        committed: by turn id.
        reason: why the spool was left alone, None if it was not.
        warnings: what was found out of place and mended.
    """

    committed: Mapping[str, CommittedTurn]
    reason: str | None = None
    warnings: Sequence[str] = ()


class TurnDrafter:
    """Makes the objects of turns.

    Args:
        objects: where the line's blobs are read from.
        lifecycle: knows the objects that turns change.
        episodes: decides which episodes turns finish.
        home_id: named by the line's root commit.
        agent: `Name <mail>` of the commits.
    """

    def __init__(
        self,
        objects: ObjectReader,
        lifecycle: Lifecycle,
        episodes: EpisodeClosing,
        *,
        home_id: str,
        agent: str,
    ) -> None:
        self._objects = objects
        self._lifecycle = lifecycle
        self._episodes = episodes
        self._home_id = home_id
        self._agent = agent

    def draft(
        self, position: LinePosition, turns: Sequence[SpooledTurn], merge: LineMerge, moment: Moment
    ) -> Draft:
        """Return the objects of turns, each a commit after the one before.

        Args:
            position: where the line ends; moved forward.
            turns: in order.
            merge: what other lines brought; goes into the first turn's commit.
            moment: when this is.
        """
        draft = Draft()
        draft.objects.extend(merge.objects)
        draft.changes.brought.update(merge.files)
        parents = merge.parents
        for turn in turns:
            forgotten = receipts_of(turn.events)
            if forgotten:
                known = join_receipts([moment.receipts, read_receipts(forgotten)])
                moment = replace(moment, receipts=known)
            sealed = self._seal(position, turn, moment)
            self._write(position, sealed, parents, replace(moment, forgotten=forgotten), draft)
            assert position.segment is not None
            assert position.tip is not None
            self._episodes.note(sealed.lines, position.segment, position.tip)
            if "ts" not in turn.header:  # what an import tells of is over, and has no plan here
                draft.plans.update(sealed.plans)
            parents = []
        return draft

    def _seal(self, position: LinePosition, turn: SpooledTurn, moment: Moment) -> SealedTurn:
        sealed = seal_turn(
            turn,
            position.end,
            turn_index=position.turn_index + 1,
            now=moment.now,
            work=self._lifecycle,
            receipts=moment.receipts,
            closing=partial(self._episodes.close, tip=position.tip),
        )
        self._lifecycle.note(sealed.lines, sealed.snapshots)
        position.end = sealed.end
        position.turn_index = sealed.turn_index
        return sealed

    def _write(
        self,
        position: LinePosition,
        sealed: SealedTurn,
        parents: list[str],
        moment: Moment,
        draft: Draft,
    ) -> None:
        for path, content in sealed.blobs.items():
            blob = make_object("blob", content)
            position.tree.put(path, blob.id)
            draft.objects.append(blob)
            draft.changes.grown[path] = Growth(None, content)
        draft.objects.append(_extend_segment(position, sealed, moment.now, draft.changes))
        if moment.forgotten:
            self._close(position, moment, draft)
        root, trees = position.tree.write()
        commit = self._commit(position, sealed, root, parents, moment)
        draft.objects.extend([*trees, commit])
        turn = CommittedTurn(sealed.turn, sealed.turn_index, commit.id, sealed.refused, sealed.added)
        draft.committed[sealed.turn] = turn
        position.tip = commit.id

    def _close(self, position: LinePosition, moment: Moment, draft: Draft) -> None:
        """Bring a turn's receipts into the tree, and take what they name out of all of it."""
        made = {one.id: one.content for one in draft.objects if one.kind == "blob"}

        def read(blob: str) -> bytes:
            return made[blob] if blob in made else self._objects.read(blob)[1]

        closing = close_line(position, moment.forgotten, moment.receipts, read)
        draft.objects.extend(closing.objects)
        for path, content in closing.files.items():
            if content is None:
                draft.changes.grown.pop(path, None)
                draft.changes.brought[path] = None
            else:
                draft.changes.grown[path] = Growth(None, content)

    def _commit(
        self, position: LinePosition, sealed: SealedTurn, root: str, others: list[str], moment: Moment
    ) -> GitObject:
        end = sealed.end
        trailers: list[tuple[str, str | None]] = [
            (KIND, "turn"),
            (TURN, sealed.turn),
            (CHAIN, f"{end.writer}:{end.seq}:{end.prev}"),
            (HEAD, moment.head),
            (HOME, self._home_id if position.tip is None else None),
        ]
        return make_commit(
            tree=root,
            parents=[] if position.tip is None else [position.tip, *others],
            author=self._agent,
            committer=self._agent,
            seconds=max(int(moment.now), 0),
            message=format_message(turn_subject(sealed.turn_index, sealed.kinds(), sealed.state), trailers),
        )


def _extend_segment(
    position: LinePosition, sealed: SealedTurn, now: float, changes: DiskChanges
) -> GitObject:
    """Append a turn's lines to the current segment, or begin the next one; return the segment's blob."""
    writer = sealed.end.writer
    is_full = position.is_closed or len(position.file.content) >= SEGMENT_BYTES
    path = segment_path(now, writer, max(position.number, 1))
    if path != position.segment or is_full:
        position.number += 1
        path = position.segment = segment_path(now, writer, position.number)
        position.file, position.is_closed = GrowingFile(), False
    before = len(position.file.content) or None
    position.file.extend(b"".join(line.raw for line in sealed.lines))
    blob = position.file.blob()
    position.tree.put(path, blob.id)
    earlier = changes.grown.get(path)
    if earlier is not None:
        before = earlier.before
    elif path in changes.brought:
        before = None
    changes.grown[path] = Growth(before, blob.content)
    return blob
