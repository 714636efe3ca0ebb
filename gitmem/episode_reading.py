"""Finished episodes as they are read: in a list, or one of them, now or as the files were."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from gitmem.authored_files import episode_id
from gitmem.branch_tags import BranchTags
from gitmem.curated import NOTE_SUFFIXES
from gitmem.episode_file import TAG_DIGEST, digest_of, own_paths, tag_name
from gitmem.episode_order import (
    Place,
    ambiguous_name,
    by_day,
    by_name,
    check_limit,
    format_place,
    parse_place,
    place_of,
)
from gitmem.episode_parse import parse_episode
from gitmem.episode_record import EpisodeRecord
from gitmem.errors import GitmemError, UnknownSource
from gitmem.front_matter import read_front_matter
from gitmem.git_objects import hash_object
from gitmem.json_view import JsonView
from gitmem.layout import EPISODES, Layout
from gitmem.ledger import Ledger
from gitmem.operator_branch import OperatorBranch
from gitmem.past_tree import tree_at
from gitmem.repository import TREE_MODE, Repository, read_path, walk_tree
from gitmem.subjects import parse_trailers
from gitmem.tree_files import ManagedFile, list_files, read_managed

#: What an episode says, by its names in JSON.
_TOLD: Final = (*(name for name in EpisodeRecord.__slots__ if name != "is_forgotten"), "source_refs")


@dataclass(frozen=True, slots=True)
class EpisodeView(JsonView):
    """An episode as lists and `show` tell of it.

    Attributes:
        state: `final`; `pending` where its file is on disk and not yet committed; `changed` where the file is
            not the one that was finished; `untagged` where no tag says which one that was.
        path: of its file.
        tag: short name of the tag that it has, or would have.
        source_ref: `episode:<id>`.
        episode: what it says.
        content: the text of its file.
    """

    path: str
    state: str
    tag: str
    source_ref: str
    episode: EpisodeRecord
    content: str

    def __getattr__(self, name: str) -> Any:
        """Return what the episode says, under the name that it has in JSON."""
        if name == "source_turn_ids":
            return [turn.id for turn in self.episode.turns]
        if name in _TOLD:
            return getattr(self.episode, name)
        raise AttributeError(f"an episode has no {name!r}")

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data, without the text."""
        own = ("source_ref", "path", "state", "tag")
        return {name: getattr(self, name) for name in (*own, *_TOLD, "source_turn_ids")}


@dataclass(frozen=True, slots=True)
class EpisodePage(JsonView):
    """A part of the list of episodes, the newest first.

    Attributes:
        open: what no episode holds yet, by session.
        cursor: of the next part; None where nothing is left.
    """

    episodes: Sequence[EpisodeView]
    open: Sequence[Mapping[str, Any]]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class _EpisodeText:
    """An episode's file as it was read: its path, its bytes, their text, and what that says."""

    path: str
    content: bytes
    text: str
    episode: EpisodeRecord


class EpisodeReading:
    """The files of the episodes of one home.

    Args:
        layout: its folders.
        repository: its objects and refs.
        ledger: its records.
        branch: returns what takes commits.
        now: the wall clock, seconds since 1970.
    """

    def __init__(
        self,
        layout: Layout,
        repository: Repository,
        ledger: Ledger,
        *,
        branch: Callable[[], OperatorBranch],
        now: Callable[[], float],
    ) -> None:
        self._layout = layout
        self._repository = repository
        self._ledger = ledger
        self._branch = branch
        self._now = now
        self._tags = BranchTags(repository)

    def part(
        self, *, limit: int, cursor: str | None, as_of: str | None
    ) -> tuple[list[EpisodeView], str | None]:
        """Return a part of the list, the newest first, and the cursor of the next.

        Raises:
            UsageError: `limit` or `cursor` is not what it should be.
        """
        check_limit(limit)
        after = None if cursor is None else parse_place(cursor)
        found = list(islice(self._newest_first(self._tree(as_of), after), limit + 1))
        left = format_place(found[limit - 1][0]) if len(found) > limit else None
        return [self._view(one) for _, one in found[:limit]], left

    def find(self, name: str, as_of: str | None) -> EpisodeView:
        """Return one episode by its id, its ref, or the unique beginning of its id.

        Raises:
            UnknownSource: there is none.
            AmbiguousMatch: several begin so.
        """
        wanted, tree = name.removeprefix("episode:"), self._tree(as_of)
        known = self._paths(tree)
        for paths in by_name(known, wanted) if wanted else ():
            found = {}
            for one in self._accounts(paths, known, tree):
                if one.episode.id == wanted:
                    return self._view(one)
                if one.episode.id.startswith(wanted):
                    found[one.episode.id] = one
            if len(found) > 1:
                raise ambiguous_name(wanted, found)
            if found:
                return self._view(next(iter(found.values())))
        when = "" if as_of is None else f" as of {as_of[:40]}"
        hint = "List them: gitmem episode list"
        raise UnknownSource(f"no episode {name[:80]}{when}", hint=hint, source_ref=name)

    def _newest_first(self, tree: str | None, after: Place | None) -> Iterator[tuple[Place, _EpisodeText]]:
        known = self._paths(tree)
        for day, paths in by_day(known):
            if after is None or day <= after.day:
                read = [(place_of(day, one.episode), one) for one in self._accounts(paths, known, tree)]
                read.sort(key=lambda found: found[0], reverse=True)
                yield from (found for found in read if after is None or found[0] < after)

    def _tree(self, as_of: str | None) -> str | None:
        """Return the tree of a moment, which is empty text where there was none; None is the files of now."""
        return None if as_of is None else self._past(as_of) or ""

    def _paths(self, tree: str | None) -> list[str]:
        if tree is None:
            return [found.path for found in list_files(self._layout.root, EPISODES, NOTE_SUFFIXES).files]
        entry = read_path(self._repository, tree, EPISODES) if tree else None
        if entry is None or entry.mode != TREE_MODE:
            return []
        found = walk_tree(self._repository, entry.id, f"{EPISODES}/")
        return [path for path, _ in found if path.lower().endswith(NOTE_SUFFIXES)]

    def _past(self, as_of: str) -> str | None:
        return tree_at(self._repository, as_of, self._now(), self._ledger.tips().values()).tree

    def _accounts(
        self, paths: Iterable[str], known: Collection[str], tree: str | None
    ) -> Iterator[_EpisodeText]:
        """Yield what the files of some paths tell, without copies of a file that lies where it belongs."""
        for one in self._read_all(paths, tree):
            own = own_paths(one.episode)
            there = () if one.path in own else [path for path in own if path in known]
            if all(other.episode.id != one.episode.id for other in self._read_all(there, tree)):
                yield one

    def _read_all(self, paths: Iterable[str], tree: str | None) -> Iterator[_EpisodeText]:
        receipts = self._ledger.receipts()
        for path in paths:
            content = self._content(path, tree)
            if content is not None and not receipts.is_forgotten_blob(hash_object("blob", content)):
                text = content.decode("utf-8", "replace")
                yield _EpisodeText(path, content, text, parse_episode(text, id_of(path, content)))

    def _view(self, one: _EpisodeText) -> EpisodeView:
        return EpisodeView(
            path=one.path,
            state=self._state(one.path, one.episode.id, one.content),
            tag=tag_name(one.episode.id),
            source_ref=f"episode:{one.episode.id}",
            episode=one.episode,
            content=one.text,
        )

    def _content(self, path: str, tree: str | None) -> bytes | None:
        if tree is None:
            found = read_managed(self._layout.root, path)
            return found.content if isinstance(found, ManagedFile) else None
        entry = read_path(self._repository, tree, path) if tree else None
        with suppress(GitmemError):
            return None if entry is None else self._repository.read(entry.id)[1]
        return None

    def _state(self, path: str, episode: str, content: bytes) -> str:
        tag = self._tags.find(tag_name(episode))
        if tag is not None:
            return "final" if parse_trailers(tag[1]).get(TAG_DIGEST) == digest_of(content) else "changed"
        waiting = (write for write in self._branch().pending() if path in write.paths)
        return "pending" if next(waiting, None) is not None else "untagged"


def id_of(path: str, content: bytes) -> str:
    """Return the id of the episode that a file tells of."""
    return episode_id(path, read_front_matter(content.decode("utf-8", "replace")))
