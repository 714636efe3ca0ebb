"""What finished episodes are found by, kept by the blob of their files, so that each is read once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Final

from gitmem.curated import NOTE_SUFFIXES
from gitmem.durable_file import write_file
from gitmem.episode_parse import parse_episode
from gitmem.episode_record import BOUNDARIES, EpisodeRecord
from gitmem.episode_selection import EpisodeAnchor, EpisodeIndex, pack_anchor, terms_of, unpack_anchor
from gitmem.errors import GitmemError
from gitmem.git_objects import hash_object
from gitmem.layout import EPISODES, Layout
from gitmem.ledger import Ledger
from gitmem.repository import TREE_MODE, Repository, read_path, walk_tree

#: Of the file; another one makes it worthless, also when the terms of texts change.
_FORMAT: Final = 2
#: Letters of a blob's id.
_ID: Final = 40
#: Episodes that may be read anew before the file is written again.
_SPARE: Final = 4


class EpisodeAnchors:
    """Gives the episodes of a tree as an index. Safe in threads.

    The file that keeps them holds texts of episodes, so it holds only as long as nothing more was forgotten.

    Args:
        layout: the file lies in its derived folder.
        repository: where the files of episodes are.
        ledger: knows what was forgotten.
        is_held: says that a version of an episode, by path and blob id, is in quarantine.
    """

    def __init__(
        self,
        layout: Layout,
        repository: Repository,
        ledger: Ledger,
        is_held: Callable[[str, str], bool] = lambda _path, _blob: False,
    ) -> None:
        self._file = layout.derived / "facts" / "episode-anchors.json"
        self._repository = repository
        self._ledger = ledger
        self._is_held = is_held
        self._receipts: frozenset[str] = frozenset()
        self._known: dict[str, bytes | None] | None = None
        self._unkept = 0
        self._index: tuple[object, EpisodeIndex] = (None, EpisodeIndex())
        self._lock = threading.Lock()

    def index(
        self, tree: str | None, waiting: Mapping[str, bytes] | None = None, *, under: object = None
    ) -> EpisodeIndex:
        """Return the episodes that a tree holds, and those that wait for their commit.

        Args:
            tree: of a commit of the operator's branch.
            waiting: files that the tree does not have yet, by path; one that it has is not looked at.
            under: what decides which are in quarantine; another one looks anew.
        """
        entry = read_path(self._repository, tree, EPISODES) if tree else None
        folder = entry.id if entry is not None and entry.mode == TREE_MODE else None
        more = {path: hash_object("blob", content) for path, content in (waiting or {}).items()}
        key = (folder, tuple(sorted(more.items())), under)
        with self._lock:
            self._renew()
            if self._index[0] != key:
                self._index = (key, EpisodeIndex.of_rows(self._all(folder, waiting or {})))
                if self._unkept > _SPARE:
                    self._keep()
            return self._index[1]

    def _renew(self) -> None:
        """Drop what was kept under other receipts: some of it may be forgotten now."""
        receipts = self._ledger.receipts()
        forgotten = receipts.blobs | receipts.records
        if self._known is None or forgotten != self._receipts:
            self._receipts = forgotten
            self._known = self._read()
            self._index = (None, EpisodeIndex())

    def _all(self, folder: str | None, waiting: Mapping[str, bytes]) -> list[bytes]:
        rows = [*self._of_tree(folder)] if folder else []
        receipts = self._ledger.receipts()
        known = {unpack_anchor(row).id for row in rows} if waiting else set()
        for _, content in sorted(waiting.items()):
            waits = None if receipts.is_forgotten_blob(hash_object("blob", content)) else _anchor_in(content)
            if waits is not None and waits.id not in known:
                rows.append(pack_anchor(waits))
        return rows

    def _of_tree(self, folder: str) -> Iterator[bytes]:
        receipts = self._ledger.receipts()
        assert self._known is not None
        for path, entry in walk_tree(self._repository, folder, f"{EPISODES}/"):
            if path.lower().endswith(NOTE_SUFFIXES) and not receipts.is_forgotten_blob(entry.id):
                if entry.id not in self._known:
                    self._known[entry.id] = self._learn(entry.id)
                    self._unkept += 1
                row = self._known[entry.id]
                if row is not None and not self._is_held(path, entry.id):
                    yield row

    def _learn(self, blob: str) -> bytes | None:
        with suppress(GitmemError):
            anchor = _anchor_in(self._repository.read(blob)[1])
            return None if anchor is None else pack_anchor(anchor)
        return None

    def _read(self) -> dict[str, bytes | None]:
        try:
            head, *lines = self._file.read_bytes().split(b"\n")
            if head.decode() == self._head(lines):
                return {line[:_ID].decode(): line[_ID + 1 :] or None for line in lines}
        except (OSError, ValueError):
            pass
        return {}

    def _keep(self) -> None:
        assert self._known is not None
        lines = [b"%b %b" % (blob.encode(), row or b"") for blob, row in self._known.items()]
        with suppress(OSError):  # a home that cannot be written is still read
            write_file(self._file, b"\n".join([self._head(lines).encode(), *lines]), durable=False)
            self._unkept = 0

    def _head(self, lines: Iterable[bytes]) -> str:
        forgotten = sha256(" ".join(sorted(self._receipts)).encode()).hexdigest()
        content = sha256(b"\n".join(lines)).hexdigest()
        return f"gitmem episode anchors {_FORMAT} {forgotten} {content}"


def _anchor_in(content: bytes) -> EpisodeAnchor | None:
    return anchor_of(parse_episode(content.decode("utf-8", "replace")))


def anchor_of(episode: EpisodeRecord) -> EpisodeAnchor | None:
    """Return what an episode is found and shown by; None for one of which only the id is left."""
    if episode.is_forgotten or not episode.id:
        return None
    files = tuple(item.text for item in episode.files)
    follow_ups = tuple(item.text for item in episode.follow_ups)
    lists = (episode.done, episode.decisions, episode.verification)
    texts = [episode.title, episode.objective or "", episode.delivery_target or "", *files, *follow_ups]
    return EpisodeAnchor(
        episode.id,
        tuple(turn.id for turn in episode.turns),
        episode.finalized_at,
        boundary=BOUNDARIES.get(episode.boundary, episode.boundary),
        work_item=episode.work_item,
        objective=episode.objective or "",
        title=episode.title,
        files=files,
        follow_ups=follow_ups,
        workspaces=tuple(sorted({turn.workspace for turn in episode.turns if turn.workspace})),
        terms=terms_of([*texts, *(item.text for items in lists for item in items)]),
    )
