"""Verifies that each turn line still holds by itself what its own commits recorded.

Readers take the union of all lines, so what one line lost hides behind another that holds it. Lines are
compared with each other here: a line of the ledger that another one has and this one lacks is lost if it is
in the chain of a commit behind this one's tip, and just not known here yet if it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Final

from gitmem.errors import GitmemError
from gitmem.first_commit import FirstCommits
from gitmem.forgotten import Receipts
from gitmem.ledger_chain import Place, places_in
from gitmem.ledger_format import parse_blob_path, parse_segment_path
from gitmem.long_text import needs_blob
from gitmem.records import Record
from gitmem.repository import TREE_MODE, Repository, TreeEntry, read_path, walk_tree
from gitmem.tree_changes import changed_paths
from gitmem.turn_commits import TurnCommit
from gitmem.verify_finding import Finding

_LEDGER: Final = "ledger"


class LineLosses:
    """What the tips of turn lines lack of what is behind them.

    Args:
        repository: their objects.
        tips: ref and commit of each line.
        commits: of turn lines that are looked at; what older ones recorded is not.
        receipts: what is forgotten.
        find: returns a record by its id.
    """

    def __init__(
        self,
        repository: Repository,
        tips: Mapping[str, str],
        commits: Iterable[TurnCommit],
        receipts: Receipts,
        find: Callable[[str], Record | None],
    ) -> None:
        self._repository = repository
        self._tips = tips
        self._commits = {commit.id: commit for commit in commits}
        self._receipts = receipts
        self._find = find
        self._first = FirstCommits(repository)

    def findings(self) -> Iterator[Finding]:
        """Yield what is lost, each with the first commit that lacks it."""
        trees = {ref: tree for ref, tip in self._tips.items() if (tree := self._ledger_tree(tip))}
        for ref, tip in self._tips.items():
            others = {tree for other, tree in trees.items() if other != ref} - {trees.get(ref)}
            if not others or tip not in self._commits:
                continue
            lacking: dict[str, set[str]] = {}
            with suppress(GitmemError):  # a tree that cannot be read is named where its files are looked at
                for other in sorted(others):
                    for path, blob in self._differing(trees.get(ref), other):
                        lacking.setdefault(path, set()).add(blob)
            if lacking:
                yield from self._lost(tip, lacking, self._chains_behind(tip))

    def _ledger_tree(self, commit: str) -> str | None:
        with suppress(GitmemError):
            entry = read_path(self._repository, self._repository.read_commit(commit).tree, _LEDGER)
            return entry.id if entry is not None and entry.mode == TREE_MODE else None
        return None

    def _differing(self, tree: str | None, other: str) -> Iterator[tuple[str, str]]:
        """Yield path and version of each file that another tree has, and this one not or not as that."""
        for change in changed_paths(self._repository, tree, other, f"{_LEDGER}/"):
            if change.new is not None and not _starts_with(self._repository, change.old, change.new):
                yield change.path, change.new.id

    def _chains_behind(self, tip: str) -> frozenset[str]:
        """Return the hashes of the lines that commits behind a tip recorded as their last."""
        ends = set()
        seen = set()
        waiting = [tip]
        while waiting:
            commit = self._commits.get(waiting.pop())
            if commit is not None and commit.id not in seen:
                seen.add(commit.id)
                waiting.extend(commit.parents)
                if commit.chain is not None:
                    ends.add(commit.chain[2])
        return frozenset(ends)

    def _lost(self, tip: str, lacking: Mapping[str, set[str]], ends: frozenset[str]) -> Iterator[Finding]:
        for path, blobs in sorted(lacking.items()):
            if parse_segment_path(path) is not None:
                yield from self._lost_lines(tip, path, blobs, ends)
            elif (record := parse_blob_path(path)) is not None:
                yield from self._lost_text(tip, path, record)

    def _lost_lines(
        self, tip: str, path: str, blobs: Iterable[str], ends: frozenset[str]
    ) -> Iterator[Finding]:
        held = _hashes(path, self._first.content(tip, path))
        there: dict[str, Place] = {}
        for blob in blobs:
            places = places_in(path, self._repository.read(blob)[1])
            there.update((place.hash, place) for place in _behind(places, ends) if place.hash not in held)
        culprits = _Culprits(self._repository, self._first, tip, path)
        for place in sorted(there.values(), key=lambda one: (one.seq, one.hash)):
            message = f"line {place.seq} of {place.writer} is gone or stands elsewhere"
            commit = culprits.find(_lacks(path, place.hash))
            yield Finding("lost", message, path=path, commit=commit, source_ref=place.ref)

    def _lost_text(self, tip: str, path: str, record_id: str) -> Iterator[Finding]:
        record = self._find(record_id)
        if record is None or record_id in self._receipts.records or not needs_blob(record.body):
            return
        if not self._has_record(tip, path, record_id):
            return
        digest = record.body["blob"]["sha256"]

        def is_lost(content: bytes | None) -> bool:
            return content is None or sha256(content).hexdigest() != digest

        content = self._first.content(tip, path)
        if is_lost(content):
            what = "is gone" if content is None else "that is written once has changed"
            commit = _Culprits(self._repository, self._first, tip, path).find(is_lost)
            yield Finding("lost", f"a file of the ledger {what}", path=path, commit=commit)

    def _has_record(self, tip: str, path: str, record_id: str) -> bool:
        """Say whether a tip has the line of a record; it was sealed on the day of its long text."""
        day = path.removeprefix(f"{_LEDGER}/blobs/").rpartition("/")[0]
        folder = read_path(self._repository, self._repository.read_commit(tip).tree, f"{_LEDGER}/{day}")
        if folder is None or folder.mode != TREE_MODE:
            return False
        sign = f'"id":"{record_id}"'.encode()
        return any(
            sign in self._repository.read(one.id)[1] for _, one in walk_tree(self._repository, folder.id)
        )


class _Culprits:
    """Finds since which commit a line lacks something of a file that it may have had from another line."""

    def __init__(self, repository: Repository, first: FirstCommits, tip: str, path: str) -> None:
        self._repository = repository
        self._first = first
        self._tip = tip
        self._path = path
        self._last: str | None = None

    def find(self, is_lost: Callable[[bytes | None], bool]) -> str:
        """Return the oldest commit of those at the end that all lack it."""
        with suppress(GitmemError):
            if self._last is None or not self._is_boundary(self._last, is_lost):
                self._last = self._walk(is_lost)
            return self._last
        return self._tip

    def _walk(self, is_lost: Callable[[bytes | None], bool]) -> str:
        found = self._tip
        for commit in self._repository.walk_first_parents(self._tip):
            if not is_lost(self._first.content(commit.id, self._path)):
                return found
            found = commit.id
        return self._tip

    def _is_boundary(self, commit: str, is_lost: Callable[[bytes | None], bool]) -> bool:
        parents = self._repository.read_commit(commit).parents
        return (
            bool(parents)
            and is_lost(self._first.content(commit, self._path))
            and not is_lost(self._first.content(parents[0], self._path))
        )


def _behind(places: Iterable[Place], ends: frozenset[str]) -> Iterator[Place]:
    """Yield the lines that are in the chain of one of some last ones, last first."""
    followed = set(ends)
    for place in reversed(list(places)):
        if place.hash in followed:
            followed.add(place.prev)
            yield place


def _lacks(path: str, line_hash: str) -> Callable[[bytes | None], bool]:
    return lambda content: line_hash not in _hashes(path, content)


def _starts_with(repository: Repository, longer: TreeEntry | None, shorter: TreeEntry) -> bool:
    if longer is None or longer.mode != shorter.mode:
        return False
    return repository.read(longer.id)[1].startswith(repository.read(shorter.id)[1])


def _hashes(path: str, content: bytes | None) -> frozenset[str]:
    return frozenset(place.hash for place in places_in(path, content or b""))
