"""Hermes' `session_search` on the ledger: browse, discover, scroll and read, by the arguments alone.

Nothing that was said is out of reach: what left a conversation's context is found, also by that conversation;
what a reply cuts says where the rest is read; what was undone, cleared or forgotten is never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gitmem.agent_sight import AgentSight, Reader, check_reader
from gitmem.counted import counted
from gitmem.errors import NotFound, RefusedError, UsageError
from gitmem.judgements import Judgements
from gitmem.ledger import Ledger
from gitmem.quarantine import Quarantine
from gitmem.records import is_name
from gitmem.search_reply import SearchReply
from gitmem.session_discovery import Discovery, Found, Searching, SessionDiscovery
from gitmem.session_lineage import Context, Roots, is_hidden, relatives, root_of
from gitmem.session_map import SessionMap
from gitmem.session_messages import Audience, SessionMessages, seconds_of
from gitmem.session_reply import (
    BOOKEND_CHARS,
    Draft,
    ToldMessage,
    clip_to,
    fit,
    leave_out_calls,
    marked_snippet,
    short,
)
from gitmem.session_request import DEFAULT_WINDOW, WIDEST_WINDOW, SessionRequest, read_request
from gitmem.session_rows import role_of
from gitmem.session_view import SessionView, Window, bookends, window_around

#: A session of more messages is read as its beginning and its end.
MOST_READ: Final = 30
READ_FIRST: Final = 20
READ_LAST: Final = 10
BOOKENDS: Final = 3
_QUERY_CHARS: Final = 500
_SNIPPET_CHARS: Final = 1_000
_CONVERSATION: Final = frozenset({"user", "assistant"})


class SessionSearch:
    """Answers session searches of one home. Safe in threads.

    Args:
        ledger: its records.
        sessions: where messages stand.
        search: returns what ranks them; only a question needs it.
        judgements: what was retracted is marked.
        sight: what an agent may see.
        quarantine: what an agent may not see at all.
    """

    def __init__(
        self,
        ledger: Ledger,
        sessions: SessionMap,
        search: Callable[[], Searching],
        *,
        judgements: Judgements,
        sight: AgentSight,
        quarantine: Quarantine,
    ) -> None:
        self._sessions = sessions
        self._discovery = SessionDiscovery(search, sessions)
        self._messages = SessionMessages(ledger, sessions, judgements, sight, quarantine)
        self._ordered: tuple[int, Sequence[tuple[str, str]]] = (-1, ())

    def answer(
        self, given: Mapping[str, Any], *, current_session: str | None = None, by: Reader = "agent"
    ) -> dict[str, Any]:
        """Return the reply to a session search; what is wrong with it is a reply too, with `error`.

        Args:
            given: `query`, `session_id`, `around_message_id`, `window`, `limit`, `sort`, `role_filter`.
            current_session: the conversation that asks; what is in its context is not told again.
            by: who reads.

        Raises:
            UsageError: the reader is nobody, or the conversation that asks cannot be one.
        """
        reader = check_reader(by)
        if current_session is not None and not is_name(current_session):
            raise UsageError("the current session is an id", field="current_session")
        try:
            request = read_request(given)
            self._sessions.catch_up()
            if request.form == "browse":
                return self._browse(request, current_session, reader)
            forms = {"scroll": self._scroll, "read": self._read, "discover": self._discover}
            context = Context(current_session, self._sessions)
            return forms[request.form](request, context, self._messages.audience(reader))
        except (UsageError, NotFound, RefusedError) as error:
            return {"success": False, "error": short(str(error), _QUERY_CHARS)}

    # Scroll

    def _scroll(self, request: SessionRequest, context: Context, to: Audience) -> dict[str, Any]:
        session, view, warning = self._anchored(request)
        anchor = view.index[request.anchor]
        if context.holds(session, request.anchor):
            raise RefusedError("this message is in the context of the current session: scroll back in it")
        window = window_around(view, anchor, request.window)
        told = self._messages.told(view, range(window.start, window.end), to, anchor=anchor)
        reply: Draft = {
            "success": True,
            "mode": "scroll",
            "session_id": session,
            "around_message_id": request.anchor,
            "session_meta": self._messages.meta(session, to.by),
            "window": request.window,
            "messages": told,
            "messages_before": window.before,
            "messages_after": window.after,
            **self._neighbours(session, view, window, request.window, context),
        }
        return fit(reply if warning is None else {**reply, "warning": warning}, leave_out_calls)

    def _anchored(self, request: SessionRequest) -> tuple[str, SessionView, str | None]:
        """Return the session that holds an anchor, its view, and a warning where another was asked for."""
        view = self._sessions.view(request.session)
        if view is None:
            raise _unknown(request.session)
        if request.anchor in view.index:
            return request.session, view, None
        for name in relatives(request.session, self._sessions.sessions(), self._sessions.facts):
            other = self._sessions.view(name)
            if other is not None and request.anchor in other.index:
                return name, other, f"the message is in {name}, which belongs to the same conversation"
        raise NotFound(
            f"{short(request.anchor, 80)} is no message of session {request.session}, or was taken back"
        )

    def _neighbours(
        self, session: str, view: SessionView, window: Window, size: int, context: Context
    ) -> dict[str, Any]:
        """Return how to go on in both directions, by `size`; nothing where there is no more to tell."""
        steps = {}
        for name, at, is_more in (
            ("previous", window.start, window.start > 0),
            ("next", window.end - 1, window.end < len(view)),
        ):
            if is_more and not context.holds(session, view.ids[at]):
                steps[name] = _step(session, view.ids[at], size)
        return steps

    # Read

    def _read(self, request: SessionRequest, context: Context, to: Audience) -> dict[str, Any]:
        view = self._sessions.view(request.session)
        if view is None:
            raise _unknown(request.session)
        total = len(view)
        is_cut = total > MOST_READ
        places = [*range(READ_FIRST), *range(total - READ_LAST, total)] if is_cut else range(total)
        reply: Draft = {
            "success": True,
            "mode": "read",
            "session_id": request.session,
            "session_meta": self._messages.meta(request.session, to.by),
            "message_count": total,
            "truncated": is_cut,
            "messages": self._messages.told(view, places, to),
        }
        if is_cut:
            last = view.ids[READ_FIRST - 1]
            shown = f"The first {READ_FIRST} and the last {READ_LAST} of {total} messages"
            reply["message"] = f"{shown}; scroll from {last} for the rest."
            if not context.holds(request.session, last):
                reply["next"] = _step(request.session, last, WIDEST_WINDOW)
        return fit(reply, leave_out_calls)

    # Discover

    def _discover(self, request: SessionRequest, context: Context, to: Audience) -> dict[str, Any]:
        discovery = self._discovery.find(request, context, to.by)
        results = [self._result(found, to) for found in discovery.found]
        reply: Draft = {
            "success": True,
            "mode": "discover",
            "query": clip_to(request.query, _QUERY_CHARS),
            "results": results,
            "count": len(results),
            "sessions_searched": discovery.lines,
            **_doubts(discovery.first),
        }
        message = _message_of(discovery)
        return fit({**reply, "message": message} if message else reply, _leave_anchors)

    def _result(self, found: Found, to: Audience) -> Draft:
        session, view = found.session, found.view
        window = window_around(view, found.at, DEFAULT_WINDOW)
        first, last = bookends(view, window, BOOKENDS)
        places = [
            at
            for at in range(window.start, window.end)
            if at == found.at or role_of(view.codes[at]) in _CONVERSATION
        ]
        root = root_of(session, self._sessions.facts)
        snippet = clip_to(marked_snippet(found.hit), _SNIPPET_CHARS) if found.hit else None
        told = self._messages.told(view, places, to, anchor=found.at, snippet=snippet or "")
        return {
            "session_id": session,
            **({"parent_session_id": root} if root != session else {}),
            **self._messages.meta(session, to.by),
            "matched_role": found.role,
            "match_message_id": view.ids[found.at],
            "snippet": self._opening(told) if snippet is None else snippet,
            "bookend_start": self._messages.told(view, first, to, most=BOOKEND_CHARS),
            "messages": told,
            "bookend_end": self._messages.told(view, last, to, most=BOOKEND_CHARS),
            "messages_before": window.before,
            "messages_after": window.after,
        }

    def _opening(self, told: Sequence[ToldMessage]) -> str:
        """Return how the message begins that a title leads to."""
        anchors = (one.text for one in told if one.fields.get("anchor"))
        return short(next(anchors, ""), _SNIPPET_CHARS)

    # Browse

    def _browse(self, request: SessionRequest, current: str | None, by: Reader) -> dict[str, Any]:
        results: list[dict[str, Any]] = []
        for name, last in self._latest():
            view = self._sessions.view(name) if name != current else None
            if view is None or not len(view):
                continue
            facts = self._sessions.facts(name)
            meta = self._messages.meta(name, by)
            results.append(
                {
                    "session_id": name,
                    "title": meta["title"],
                    "source": meta["source"],
                    "started_at": seconds_of(facts.first),
                    "last_active": seconds_of(last),
                    "message_count": len(view),
                    "preview": self._messages.preview(view, by),
                }
            )
            if len(results) == request.limit:
                break
        message = (
            f"The {counted(len(results), 'most recent conversation')}. Give a query to find what was said."
        )
        return fit(
            {
                "success": True,
                "mode": "browse",
                "results": results,
                "count": len(results),
                "message": message if results else "No earlier conversations.",
            }
        )

    def _latest(self) -> Sequence[tuple[str, str]]:
        """Return the sessions that came from no other, the last active first, with when that was.

        A conversation that went on under another id was active when that was.
        """
        version = self._sessions.version
        if self._ordered[0] != version:
            self._ordered = (version, self._by_last_activity())
        return self._ordered[1]

    def _by_last_activity(self) -> Sequence[tuple[str, str]]:
        last: dict[str, str] = {}
        first: list[str] = []
        roots = Roots(self._sessions.facts)
        for name in self._sessions.sessions():
            facts = self._sessions.facts(name)
            if is_hidden(facts):
                continue
            root = roots.of(name)
            last[root] = max(last.get(root, ""), facts.last)
            if not facts.parent:
                first.append(name)
                last.setdefault(name, facts.last)  # its events may have changed just now
        return sorted(((name, last[name]) for name in first), key=lambda pair: pair[::-1], reverse=True)


def _step(session: str, anchor: str, window: int) -> dict[str, Any]:
    """Return the arguments of the call that goes on, with the window, lest it shrinks on the way."""
    return {"session_id": session, "around_message_id": anchor, "window": window}


def _unknown(session: str) -> NotFound:
    return NotFound(f"no session {short(session, 80)} in this home")


def _doubts(first: SearchReply | None) -> dict[str, Any]:
    """Return what a reply says where not everything was searched, or words were found nowhere."""
    if first is None:
        return {}
    doubts: dict[str, Any] = {}
    if first.unmatched_terms:
        doubts["unmatched_terms"] = [short(term, 40) for term in first.unmatched_terms[:10]]
    status = first.index_status
    if status.freshness != "fresh" or status.reasons:
        doubts["index_status"] = {
            "freshness": status.freshness,
            "pending": status.pending,
            "reasons": [short(reason, 200) for reason in status.reasons[:5]],
        }
    return doubts


def _message_of(discovery: Discovery) -> str | None:
    held = counted(discovery.held, "match", "matches")
    in_context = f"{held} in your own context passed over." if discovery.held else ""
    if discovery.found:
        return in_context or None
    return f"Nothing found. {in_context}".strip()


def _leave_anchors(draft: Draft) -> bool:
    """Leave of the last result that has more only the message that was found; say whether there was one."""
    for result in reversed(draft["results"][1:]):
        anchors = [one for one in result["messages"] if one.fields.get("anchor")]
        if result["bookend_start"] or result["bookend_end"] or len(result["messages"]) > len(anchors):
            result |= {"bookend_start": [], "messages": anchors, "bookend_end": []}
            result["messages_left_out"] = True
            return True
    return False
