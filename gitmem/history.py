"""The audit trail as a list: turns from the ledger, everything else from the operator's branch."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final, Literal

from gitmem.counted import counted
from gitmem.errors import GitmemError, UsageError
from gitmem.identity import is_agent
from gitmem.ledger import Ledger, spooled_records
from gitmem.ledger_format import decode_lines
from gitmem.records import Record
from gitmem.repository import Commit, Repository
from gitmem.subjects import KIND, REASON, SESSION, TURN, parse_trailers
from gitmem.times import format_time, parse_timestamp
from gitmem.tree_changes import changed_paths

Grouping = Literal["turn", "day", "session"]

#: Kinds of entries: of turns and their sums, then of commits.
KINDS: Final = (
    *("turn", "day", "session"),
    *("note", "memory", "edit", "found", "file", "init", "merge", "episode", "work", "sync", "forget"),
    *("revert", "restore"),
)
#: Characters of a turn's first words that stand for the turn in a list.
_TITLE: Final = 80


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened.

    Attributes:
        id: a commit id, a turn id, a day or a session id.
        kind: `turn day session`, or the kind of a commit: `note memory edit found init episode merge …`.
        author: `agent` or `operator`.
        name: of the author, as the commit has it.
        title: one line for people.
        counts: records by kind, for turns and groups of turns.
        paths: what a commit changed.
    """

    id: str
    kind: str
    at: str
    author: str
    name: str
    title: str
    turn: str | None = None
    session: str | None = None
    reason: str | None = None
    paths: Sequence[str] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    source_ref: str | None = None


@dataclass(frozen=True, slots=True)
class LogQuery:
    """What to list.

    Attributes:
        by: `turn` lists each turn, `day` sums up the turns of a day, `session` those of a session; None lists
            commits one by one and turns by day.
        since, until: seconds since 1970.
        author: `agent`, `operator`, or part of a name.
        kind: kind of entry.
        path: only commits that changed this file or folder; leaves turns out.
        limit: entries at most.
        skip: entries to pass over first (the cursor).
    """

    by: Grouping | None = None
    since: float | None = None
    until: float | None = None
    author: str | None = None
    kind: str | None = None
    path: str | None = None
    session: str | None = None
    limit: int = 50
    skip: int = 0


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of the list, newest first.

    Attributes:
        cursor: what to give for the next page; None at the end.
    """

    commits: Sequence[Entry]
    cursor: str | None


class History:
    """Reads the audit trail.

    Args:
        repository: the operator's branch.
        ledger: the turns.
        home_id: tells the agent's commits from people's.
        agent: the agent's name, shown beside turns.
    """

    def __init__(self, repository: Repository, ledger: Ledger, home_id: str, agent: str) -> None:
        self._repository = repository
        self._ledger = ledger
        self._home_id = home_id
        self._agent = agent

    def log(self, query: LogQuery) -> LogPage:
        """Return a page of what happened."""
        if not 1 <= query.limit <= 1000:
            raise UsageError("limit is a number from 1 to 1000", limit=query.limit)
        self._check_kind(query.kind)
        streams = [self._commits(query)]
        if query.path is None:
            streams.append(self._turns(query))
        merged = heapq.merge(*streams, key=lambda entry: entry.at, reverse=True)
        page: list[Entry] = []
        more = False
        for number, entry in enumerate(merged):
            if number < query.skip:
                continue
            if len(page) == query.limit:
                more = True
                break
            page.append(entry)
        return LogPage(page, str(query.skip + len(page)) if more else None)

    def _check_kind(self, kind: str | None) -> None:
        """See that a kind is one of the log's; a commit may name another one of a later gitmem."""
        if kind is None or kind in KINDS or any(_kind_of(commit) == kind for commit in self._walk()):
            return
        raise UsageError(f"unknown kind {kind!r}", hint=f"Kinds: {', '.join(KINDS)}.", field="kind")

    def turns(self) -> Iterator[Entry]:
        """Yield every turn, newest first; those still in the spool before the rest."""
        for spooled in reversed(self._ledger.spooled()):
            yield _turn_entry(list(spooled_records(spooled)), spooled.turn, self._agent)
        for turn, lines in groupby(self._ledger.lines_newest_first(), key=lambda line: line.turn):
            records = list(decode_lines(reversed(list(lines))))
            if records:
                yield _turn_entry(records, turn, self._agent)

    def _turns(self, query: LogQuery) -> Iterator[Entry]:
        by = query.by or "day"
        if query.kind == by:
            query = replace(query, kind="turn")
        entries = (entry for entry in self.turns() if _matches(entry, query))
        yield from _in_order(entries) if by == "turn" else _grouped(entries, by)

    def _commits(self, query: LogQuery) -> Iterator[Entry]:
        for commit in self._walk():
            if query.since is not None and commit.commit_time < query.since - 86_400:
                return  # a day of slack for clocks of other machines; the exact bound is checked later
            paths = self._paths(commit, query.path)
            entry = self._commit_entry(commit, paths)
            if (query.path is None or paths) and _matches(entry, query):
                yield entry

    def _walk(self) -> Iterator[Commit]:
        """Yield the commits that HEAD reaches, newest first."""
        head = self._repository.head().commit
        waiting: list[tuple[int, str, Commit]] = []
        seen: set[str] = set()

        def push(commit_id: str) -> None:
            if commit_id in seen:
                return
            seen.add(commit_id)
            try:
                commit = self._repository.read_commit(commit_id)
            except GitmemError:
                return  # beyond the boundary of a shallow clone
            heapq.heappush(waiting, (-commit.commit_time, commit_id, commit))

        if head is not None:
            push(head)
        while waiting:
            commit = heapq.heappop(waiting)[2]
            for parent in commit.parents:
                push(parent)
            yield commit

    def _paths(self, commit: Commit, below: str | None) -> list[str]:
        parent = commit.parents[0] if commit.parents else None
        try:
            tree = self._repository.read_commit(parent).tree if parent else None
            changes = [change.path for change in changed_paths(self._repository, tree, commit.tree)]
        except GitmemError:
            return []
        if below is None:
            return changes
        folder = below.rstrip("/") + "/"
        return [path for path in changes if path == below or path.startswith(folder)]

    def _commit_entry(self, commit: Commit, paths: Sequence[str]) -> Entry:
        trailers = parse_trailers(commit.message)
        by_agent = is_agent(commit.author, self._home_id)
        return Entry(
            id=commit.id,
            kind=_kind_of(commit),
            at=format_time(commit.commit_time),
            author="agent" if by_agent else "operator",
            name=commit.author.rpartition(" <")[0],
            title=commit.message.split("\n", 1)[0],
            turn=trailers.get(TURN),
            session=trailers.get(SESSION),
            reason=trailers.get(REASON),
            paths=paths,
        )


def _kind_of(commit: Commit) -> str:
    default = "merge" if len(commit.parents) > 1 else "edit"
    return parse_trailers(commit.message).get(KIND, default)


def _turn_entry(records: Sequence[Record], turn: str, name: str) -> Entry:
    last = records[-1]
    end = last.body if last.kind == "turn" else {}
    text = _first_words(records)
    counts = Counter(record.kind for record in records if record.kind != "turn")
    state = end.get("end", "completed")
    title = text if len(text) <= _TITLE else text[: _TITLE - 1] + "…"
    if state != "completed":
        title = f"({state}) {title}".rstrip()
    return Entry(
        id=turn,
        kind="turn",
        at=last.ts,
        author="agent",
        name=name,
        title=title,
        turn=turn,
        session=next((record.session for record in records if record.session), None),
        counts=dict(counts),
        source_ref=f"turn:{turn}",
    )


def _first_words(records: Sequence[Record]) -> str:
    """Return what a turn began with: what the user said; without a word of theirs, what the agent did."""
    by_user = [r for r in records if r.kind == "message" and r.body.get("role") == "user"]
    by_agent = (r for kind in ("message", "brief", "decision") for r in records if r.kind == kind)
    said = next((text for r in (*by_user, *by_agent) if isinstance(text := r.body.get("text"), str)), "")
    return " ".join(said.split())


def _in_order(entries: Iterable[Entry], window: int = 64) -> Iterator[Entry]:
    """Put entries in the order of their times, where clocks and imports left them a little apart."""
    waiting: list[tuple[str, int, Entry]] = []
    for number, entry in enumerate(entries):
        waiting.append((entry.at, -number, entry))
        if len(waiting) >= window * 2:
            waiting.sort(key=lambda item: item[:2], reverse=True)
            yield from (item[2] for item in waiting[:window])
            del waiting[:window]
    waiting.sort(key=lambda item: item[:2], reverse=True)
    yield from (item[2] for item in waiting)


def _grouped(entries: Iterable[Entry], by: Literal["day", "session"]) -> Iterator[Entry]:
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.at[:10] if by == "day" else entry.session or "", []).append(entry)
    summaries = [_summary(key, group, by) for key, group in groups.items()]
    yield from sorted(summaries, key=lambda entry: entry.at, reverse=True)


def _summary(key: str, group: Sequence[Entry], by: Literal["day", "session"]) -> Entry:
    counts: Counter[str] = Counter()
    for entry in group:
        counts.update(entry.counts)
    sessions = {entry.session for entry in group if entry.session}
    counts["turns"] = len(group)
    counts["sessions"] = len(sessions)
    first = min(group, key=lambda entry: entry.at)
    if by == "day":
        title = f"{counted(len(group), 'turn')} in {counted(len(sessions), 'session')}"
    else:
        title = counted(len(group), "turn") + (f": {first.title}" if first.title else "")
    return Entry(
        id=key or "(no session)",
        kind=by,
        at=max(entry.at for entry in group),
        author="agent",
        name=group[0].name,
        title=title,
        session=key if by == "session" and key else None,
        counts=dict(counts),
        source_ref=f"session:{key}" if by == "session" and key else None,
    )


def _matches(entry: Entry, query: LogQuery) -> bool:
    at = parse_timestamp(entry.at)
    if query.since is not None and at < query.since:
        return False
    if query.until is not None and at > query.until:
        return False
    if query.kind is not None and entry.kind != query.kind:
        return False
    if query.session is not None and entry.session != query.session:
        return False
    wanted = query.author
    return wanted is None or entry.author == wanted or wanted.lower() in entry.name.lower()


def skip_of(cursor: str | None) -> int:
    """Return how many entries a cursor passes over.

    Raises:
        UsageError: it is no cursor of a log page.
    """
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 9:
        raise UsageError(f"not a cursor: {cursor[:40]!r}", hint="Take it from the last page.")
    return int(cursor)
