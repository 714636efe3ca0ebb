"""Who wrote a text that lost a merge, and the one that lives: looked up in history when somebody asks."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from gitmem.errors import GitmemError
from gitmem.identity import is_agent
from gitmem.json_view import JsonView
from gitmem.repository import Commit, Repository
from gitmem.subjects import TURN, parse_trailers
from gitmem.times import format_time
from gitmem.tree_edit import find_file

#: Commits that are looked at; a conflict that is older has been open for a long time.
_MOST: Final = 20_000


@dataclass(frozen=True, slots=True)
class TextOrigin(JsonView):
    """Who wrote a text, where and when.

    Attributes:
        commit: that brought it.
        author: `agent` or `operator`.
        name: of the author, as the commit has it.
        at: when it was written.
        turn: in which turn of the agent.
        writer: on which machine that was: whose turn line holds the turn.
    """

    commit: str
    author: Literal["agent", "operator"]
    name: str
    at: str
    turn: str | None = None
    writer: str | None = None


class TextOrigins:
    """Looks up who wrote what.

    Args:
        repository: the operator's branch.
        home_id: tells the agent's commits from people's.
        writer_of: returns the writer of a turn, None where it is not known here.
    """

    def __init__(self, repository: Repository, home_id: str, writer_of: Callable[[str], str | None]) -> None:
        self._repository = repository
        self._home_id = home_id
        self._writer_of = writer_of

    def find(self, tip: str, path: str, copy: str) -> tuple[TextOrigin | None, TextOrigin | None]:
        """Return who wrote the text of a conflict copy, and who wrote the one that lives.

        Args:
            tip: the commit in whose tree both stand.
            path: of the file whose texts they are.
            copy: path of the conflict copy.
        """
        merge = next((one for one in self._walk(tip) if self._brought(one, copy)), None)
        if merge is None:
            return None, None
        if len(merge.parents) < 2:  # a write that had to wait clashed with what was committed meanwhile
            return self._last(merge.parents[0], path) if merge.parents else None, self._told(merge)
        lost, *others = sorted(merge.parents, key=lambda parent: self._likeness(parent, path, merge, copy))
        return self._last(lost, path), self._last(others[-1], path)

    def _walk(self, tip: str) -> Iterator[Commit]:
        """Yield commits from a tip, the newest first."""
        queue = [(0, tip)]
        seen = {tip}
        while queue and len(seen) < _MOST:
            _, commit_id = heapq.heappop(queue)
            try:
                commit = self._repository.read_commit(commit_id)
            except GitmemError:
                continue  # behind the edge of a shallow clone
            yield commit
            for parent in commit.parents:
                if parent not in seen:
                    seen.add(parent)
                    heapq.heappush(queue, (-self._time(parent), parent))

    def _brought(self, commit: Commit, path: str) -> bool:
        """Say whether a commit's version of a file is none of its parents'."""
        blob = self._blob(commit, path)
        return blob is not None and all(self._blob_at(parent, path) != blob for parent in commit.parents)

    def _last(self, tip: str, path: str) -> TextOrigin | None:
        """Return who last changed a file in a history."""
        wanted = self._blob_at(tip, path)
        for commit in self._walk(tip):
            blob = self._blob(commit, path)
            if blob == wanted and all(self._blob_at(parent, path) != blob for parent in commit.parents):
                return self._told(commit)
        return None

    def _likeness(self, parent: str, path: str, merge: Commit, copy: str) -> tuple[bool, int]:
        """Return a sort key that puts the side first whose text the copy keeps."""
        blob, kept = self._blob_at(parent, path), self._blob(merge, copy)
        if blob is None or kept is None:
            return True, 0
        lines = [{*self._repository.read(one)[1].splitlines()} for one in (blob, kept)]
        return blob != kept, -len(lines[0] & lines[1])

    def _told(self, commit: Commit) -> TextOrigin:
        turn = parse_trailers(commit.message).get(TURN)
        return TextOrigin(
            commit.id,
            "agent" if is_agent(commit.author, self._home_id) else "operator",
            commit.author.rpartition(" <")[0] or commit.author,
            format_time(commit.author_time),
            turn,
            self._writer_of(turn) if turn else None,
        )

    def _time(self, commit: str) -> int:
        try:
            return self._repository.read_commit(commit).commit_time
        except GitmemError:
            return 0

    def _blob(self, commit: Commit, path: str) -> str | None:
        try:
            file = find_file(self._repository, commit.tree, path)
        except GitmemError:
            return None
        return file.id if file is not None and file.is_regular else None

    def _blob_at(self, commit: str, path: str) -> str | None:
        try:
            return self._blob(self._repository.read_commit(commit), path)
        except GitmemError:
            return None
