"""Verifies finished episodes: the file on the branch, the tag and the record in the ledger say one thing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from gitmem.branch_tags import TAGS
from gitmem.episode_file import TAG_DIGEST, TAG_ID, digest_of, tag_name
from gitmem.errors import GitmemError
from gitmem.first_commit import FirstCommits
from gitmem.forgotten import Receipts
from gitmem.git_objects import parse_tag
from gitmem.layout import EPISODES
from gitmem.records import Record
from gitmem.repository import TREE_MODE, ObjectReader, Repository, TreeEntry, read_path, walk_tree
from gitmem.subjects import parse_trailers
from gitmem.tree_changes import changed_paths
from gitmem.verify_finding import Finding

#: Where the tags of episodes are.
EPISODE_TAGS: Final = f"{TAGS}episode/"
_DIGEST: Final = "sha256"
_FRONT: Final = re.compile(rb"\A---\n(.*?)^---$", re.DOTALL | re.MULTILINE)
_ID: Final = re.compile(rb"^id: *(\S+) *$", re.MULTILINE)
_FORGOTTEN: Final = re.compile(rb"^forgotten: *true *$", re.MULTILINE)


def episode_of_tag(name: str) -> str:
    """Return the id of the episode that a tag is named after."""
    return unquote(name.rpartition("episode/")[2])


@dataclass(frozen=True, slots=True)
class EpisodeFile:
    """The file of an episode in a tree."""

    path: str
    blob: str
    id: str
    digest: str
    is_forgotten: bool


class EpisodeVerifier:
    """One look at the episodes of a branch.

    Args:
        repository: tags, and since when something is so.
        objects: its objects, as the many of them are read.
        receipts: what is forgotten is not missed.
        waiting: ids of episodes whose files are not on the branch yet.
        find: returns the record of an episode by its id, from wherever the ledger has it.
        is_on_branch: says whether the branch goes on from a commit.
    """

    def __init__(
        self,
        repository: Repository,
        objects: ObjectReader,
        receipts: Receipts,
        *,
        waiting: Iterable[str],
        find: Callable[[str], Record | None],
        is_on_branch: Callable[[str], bool],
    ) -> None:
        self._repository = repository
        self._objects = objects
        self._receipts = receipts
        self._waiting = frozenset(waiting)
        self._find = find
        self._is_on_branch = is_on_branch
        self._first = FirstCommits(repository)
        self._records: dict[str, Record | None] = {}
        self._files: dict[tuple[str, str], EpisodeFile] = {}
        self._paths: tuple[str, frozenset[str]] = ("", frozenset())

    def look(
        self, tip: str | None, records: Sequence[Record], since: str | None, tags: Mapping[str, str]
    ) -> Iterator[Finding]:
        """Yield what is wrong with episodes.

        Args:
            tip: of the operator's branch; None for an unborn one.
            records: of episodes that were finished since.
            since: a commit whose episodes were verified; None for none.
            tags: value by full name of tags that were verified.
        """
        self._records = {record.id: record for record in records}
        came, went = self._changed(tip, since)
        for file in came.values():
            yield from self._file(file, tip)
        now = self._repository.list_refs(EPISODE_TAGS)
        names = {name for name in now.keys() | tags.keys() if now.get(name) != tags.get(name)}
        moved = {episode_of_tag(name) for name in names}
        others = sorted((moved | came.keys() | went.keys()) - self._records.keys())
        # In the order in which they were finished, so that the folders of one commit serve for the next.
        for episode in [*self._records, *others]:
            record = self._record(episode)
            if record is not None and not self._is_gone(record):
                yield from self._tag(record, tip, is_here=episode in came or episode not in went)

    def _record(self, episode: str) -> Record | None:
        if episode not in self._records:
            self._records[episode] = self._find(episode)
        return self._records[episode]

    def _is_gone(self, record: Record) -> bool:
        return record.redacted or record.id in self._receipts.records

    # Files

    def _changed(
        self, tip: str | None, since: str | None
    ) -> tuple[dict[str, EpisodeFile], dict[str, EpisodeFile]]:
        """Return the files of episodes that came to a branch since a commit, and those that went, by id."""
        came: dict[str, EpisodeFile] = {}
        went: dict[str, EpisodeFile] = {}
        before, after = (self._folder(commit) for commit in (since, tip))
        for change in changed_paths(self._objects, before, after, f"{EPISODES}/"):
            for entry, found in ((change.old, went), (change.new, came)):
                file = self._read(change.path, entry)
                if file is not None:
                    found[file.id] = file
        return came, {name: file for name, file in went.items() if name not in came}

    def _folder(self, commit: str | None) -> str | None:
        if commit is None:
            return None
        entry = read_path(self._objects, self._objects.read_commit(commit).tree, EPISODES)
        return entry.id if entry is not None and entry.mode == TREE_MODE else None

    def _read(self, path: str, entry: TreeEntry | None) -> EpisodeFile | None:
        if entry is None or not path.endswith(".md"):
            return None
        known = self._files.get((path, entry.id))
        if known is not None:
            return known
        with suppress(GitmemError):
            kind, content = self._objects.read(entry.id)
            front = _FRONT.match(content)
            found = _ID.search(front[1]) if front is not None else None
            if kind == "blob" and front is not None and found is not None:
                name = found[1].decode("utf-8", "replace")
                is_forgotten = _FORGOTTEN.search(front[1]) is not None
                file = EpisodeFile(path, entry.id, name, digest_of(content), is_forgotten)
                self._files[path, entry.id] = file
                return file
        return None

    def _file(self, file: EpisodeFile, tip: str | None) -> Iterator[Finding]:
        ref = f"episode:{file.id}"
        record = self._record(file.id)
        if file.is_forgotten or self._receipts.is_forgotten_blob(file.blob):
            return
        if record is None:
            message = f"{file.path} is an episode that no turn here has finished"
            yield Finding("episode_changed", message, "warning", path=file.path, source_ref=ref)
        elif not self._is_gone(record) and record.body.get(_DIGEST) != file.digest:
            commit = self._first.find(tip, file.path, lambda found: _differs(found, record)) if tip else None
            message = f"{file.path} is not what was finished"
            yield Finding("episode_changed", message, path=file.path, commit=commit, source_ref=ref)

    # Tags

    def _tag(self, record: Record, tip: str | None, *, is_here: bool) -> Iterator[Finding]:
        ref = f"episode:{record.id}"
        name = f"{TAGS}{tag_name(record.id)}"
        value = self._repository.read_ref(name)
        if value is None:
            if is_here and record.id not in self._waiting:
                yield Finding(
                    "tag_missing", f"{tag_name(record.id)} is gone", "warning", name, source_ref=ref
                )
            return
        try:
            target, path, fault = self._read_tag(value, record)
        except GitmemError as error:
            yield Finding("tag_moved", f"{name} cannot be read: {error.message}", path=name, source_ref=ref)
            return
        if path is None:
            yield Finding("tag_moved", fault, path=name, commit=target, source_ref=ref)
        elif tip is not None and self._is_on_branch(target):
            yield from self._missing(record, path, tip)

    def _read_tag(self, value: str, record: Record) -> tuple[str, str | None, str]:
        """Return the commit that a tag names, where that puts the episode, and why it is not its tag."""
        name = tag_name(record.id)
        kind, content = self._objects.read(value)
        if kind != "tag":
            return value, None, f"{name} is not the tag that was made: it has no message"
        target, message = parse_tag(content)
        said: Mapping[str, str] = parse_trailers(message)
        if (said.get(TAG_ID), said.get(TAG_DIGEST)) != (record.id, record.body.get(_DIGEST)):
            return target, None, f"{name} says another episode than was finished"
        path = self._path_in(target, record)
        return target, path, f"{name} names a commit that does not bring the episode"

    def _path_in(self, commit_id: str, record: Record) -> str | None:
        """Return where a commit puts an episode as it was finished."""
        commit = self._objects.read_commit(commit_id)
        before = None
        with suppress(GitmemError):  # in a shallow clone all files of the commit are looked at
            before = self._folder(commit.parents[0]) if commit.parents else None
        for change in changed_paths(self._objects, before, self._folder(commit_id), f"{EPISODES}/"):
            file = self._read(change.path, change.new)
            if file is not None and (file.id, file.digest) == (record.id, record.body.get(_DIGEST)):
                return file.path
        return None

    def _missing(self, record: Record, path: str, tip: str) -> Iterator[Finding]:
        """Tell of a file that was on the branch and is not there, nor anywhere else."""
        if path in self._paths_of(tip):
            return
        came, _ = self._changed(tip, None)
        if record.id not in came:
            message = f"the file of episode {record.id} was removed"
            commit = self._first.find(tip, path, lambda found: found is None)
            yield Finding("episode_missing", message, "error", path, None, commit, f"episode:{record.id}")

    def _paths_of(self, tip: str) -> frozenset[str]:
        """Return the paths of all files of episodes that a commit has."""
        folder = self._folder(tip)
        if folder is not None and self._paths[0] != folder:
            paths = (path for path, _ in walk_tree(self._objects, folder, f"{EPISODES}/"))
            self._paths = (folder, frozenset(paths))
        return self._paths[1] if folder is not None else frozenset()


def _differs(content: bytes | None, record: Record) -> bool:
    return content is not None and digest_of(content) != record.body.get(_DIGEST)
