"""Which messages answer a question about earlier conversations: one for each line of descent, best first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gitmem.agent_sight import Reader
from gitmem.search_reply import Hit, SearchReply
from gitmem.session_lineage import Context, Roots, is_demoted, is_hidden
from gitmem.session_map import SessionMap
from gitmem.session_request import SessionRequest
from gitmem.session_rows import meant_titles, role_of
from gitmem.session_view import SessionView

#: Rows that may become results are looked at up to this many; rows at all up to the other.
MOST_ROWS: Final = 300
_MOST_HITS: Final = 1_000
_FIRST_PAGE: Final = 20
_PAGE: Final = 50
#: With an order by time, what is at least so good beside the best comes before the rest.
_GOOD: Final = 0.5
TITLE_ROLE: Final = "session_title"


class Searching(Protocol):
    """What finds messages."""

    def search(
        self, query: object, *, by: Reader, limit: int, kinds: Sequence[str], cursor: str | None
    ) -> SearchReply:
        """Return a page of hits, best first."""


@dataclass(frozen=True, slots=True)
class Found:
    """A message that answers.

    Attributes:
        view: of its session, as it was found.
        at: its place there.
        role: its role, or `session_title` where the session's title answers.
        hit: of the search; None for a title.
    """

    session: str
    view: SessionView
    at: int
    role: str
    hit: Hit | None


@dataclass(slots=True)
class Discovery:
    """What was found, and what there is to say about it.

    Attributes:
        lines: how many lines of descent were looked at.
        held: hits that were passed over because the one who asks has them before his eyes.
        first: the first page of the search.
    """

    found: Sequence[Found]
    lines: int
    held: int
    first: SearchReply | None


class SessionDiscovery:
    """Finds messages of earlier conversations.

    Args:
        search: returns what ranks messages.
        sessions: where they stand.
    """

    def __init__(self, search: Callable[[], Searching], sessions: SessionMap) -> None:
        self._search = search
        self._sessions = sessions
        self._titles: tuple[int, Mapping[str, Sequence[str]]] = (-1, {})

    def find(self, request: SessionRequest, context: Context, by: Reader) -> Discovery:
        """Return the results of a question, a title that it names first.

        Args:
            request: the question.
            context: what the one who asks has before his eyes.
            by: who reads.
        """
        discovery = Discovery([], 0, 0, None)
        rows = self._rows(request, context, by, discovery)
        titled = self._titled(request.query, context)
        roots = Roots(self._sessions.facts)
        lines = [] if titled is None else [roots.of(titled.session)]
        results = [] if titled is None else [titled]
        late: list[Found] = []
        for row in rows if request.sort is None else _by_time(list(rows), request.sort):
            line = roots.of(row.session)
            is_late = is_demoted(self._sessions.facts(row.session))
            if is_late:
                late.append(row)
            elif line not in lines:
                lines.append(line)
                results.append(row)
            if len(results) >= request.limit:
                break
        for row in late:
            if roots.of(row.session) not in lines:
                lines.append(roots.of(row.session))
                results.append(row)
        discovery.found = results[: request.limit]
        discovery.lines = len(lines)
        return discovery

    def _rows(
        self, request: SessionRequest, context: Context, by: Reader, discovery: Discovery
    ) -> Iterator[Found]:
        """Yield what the search found and may be shown, best first."""
        rows = 0
        for hit in self._hits(request, by, discovery):
            row = self._row(hit) if _speaks_of(request.query, hit) else None
            if row is None or row.role not in request.roles:
                continue
            if context.holds(row.session, _id_of(hit.source_ref)):
                discovery.held += 1
                continue
            yield row
            rows += 1
            if rows >= MOST_ROWS:
                return

    def _hits(self, request: SessionRequest, by: Reader, discovery: Discovery) -> Iterator[Hit]:
        kinds = ["message", "tool_execution"] if "tool" in request.roles else ["message"]
        cursor, seen, size = None, 0, _FIRST_PAGE
        while seen < _MOST_HITS:
            page = self._search().search(request.query, by=by, limit=size, kinds=kinds, cursor=cursor)
            discovery.first = discovery.first or page
            yield from page.results
            seen += len(page.results)
            cursor, size = page.cursor, _PAGE
            if cursor is None:
                return

    def _row(self, hit: Hit) -> Found | None:
        """Return what a hit found; None for what was taken back or forgotten, and for hidden sessions."""
        session = hit.session or hit.turn
        view = self._sessions.view(session) if session else None
        at = None if view is None else view.index.get(_id_of(hit.source_ref))
        if session is None or view is None or at is None or is_hidden(self._sessions.facts(session)):
            return None
        return Found(session, view, at, role_of(view.codes[at]), hit)

    def _titled(self, query: str, context: Context) -> Found | None:
        """Return the latest session with a title that the query is, at its first message."""
        named = [name for meant in meant_titles(query) for name in self._named(*meant)]
        named.sort(key=self._recency, reverse=True)
        for name in named:
            view = self._sessions.view(name)
            if view is None or not len(view) or is_hidden(self._sessions.facts(name)):
                continue
            if not context.holds(name, view.ids[0]):
                return Found(name, view, 0, TITLE_ROLE, None)
        return None

    def _named(self, digest: str, number: int | None) -> Sequence[str]:
        """Return the sessions with a title, all or that with a number."""
        version = self._sessions.version
        known, titles = self._titles
        if known != version:
            found: dict[str, list[str]] = {}
            for name in self._sessions.sessions():
                title = self._sessions.facts(name).title
                if title is not None:
                    found.setdefault(title[0], []).append(name)
            titles = found
            self._titles = (version, found)
        named = titles.get(digest, ())
        return [name for name in named if number is None or self._number(name) == number]

    def _number(self, session: str) -> int | None:
        title = self._sessions.facts(session).title
        return None if title is None else title[1]

    def _recency(self, session: str) -> tuple[str, str]:
        facts = self._sessions.facts(session)
        return facts.first, facts.last


def _speaks_of(query: str, hit: Hit) -> bool:
    """Say whether a message has words of a question itself, or was said by somebody whom it names.

    What was found for its neighbour's words is shown beside that neighbour, if that is shown at all.
    """
    if hit.highlights:
        return True
    said = f"{hit.snippet} {hit.metadata.get('author') or ''}".casefold()
    return any(word in said for word in query.casefold().split())


def _by_time(rows: Sequence[Found], sort: str) -> Sequence[Found]:
    """Return rows by time, good ones before weak ones: any word of a question makes a weak one."""
    best = max((_score(row) for row in rows), default=0.0)
    ordered = sorted(rows, key=_time, reverse=sort == "newest")
    return sorted(ordered, key=lambda row: _score(row) < _GOOD * best)


def _time(row: Found) -> str:
    return row.hit.updated_at if row.hit else ""


def _score(row: Found) -> float:
    return row.hit.score if row.hit else 0.0


def _id_of(source_ref: str) -> str:
    """Return the id of the record that a ref names."""
    return source_ref.split(":")[1]
