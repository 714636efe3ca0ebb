"""How sessions came from each other, and what of them the one who asks has before his eyes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gitmem.session_map import SessionMap
from gitmem.session_view import SessionFacts, SessionView

#: Conversations of programs with themselves; they are never found.
HIDDEN_SOURCES: Final = frozenset({"subagent", "tool"})
#: Found, but behind everything else.
DEMOTED_SOURCES: Final = frozenset({"cron"})


def root_of(session: str, facts: Callable[[str], SessionFacts]) -> str:
    """Return the first session of a line of descent; of a circle, which somebody wrote, the least id."""
    return Roots(facts).of(session)


class Roots:
    """The first sessions of lines of descent; what many sessions descend from is walked once.

    Args:
        facts: what is known of a session; it must not change while this is in use.
    """

    def __init__(self, facts: Callable[[str], SessionFacts]) -> None:
        self._facts = facts
        self._known: dict[str, str] = {}

    def of(self, session: str) -> str:
        """Return the first session of a line of descent; of a circle, which somebody wrote, the least id."""
        walked: dict[str, int] = {}
        while (root := self._known.get(session)) is None:
            walked[session] = len(walked)
            parent = self._facts(session).parent
            if not parent:
                root = session
                break
            if parent in walked:
                root = min(list(walked)[walked[parent] :])
                break
            session = parent
        self._known.update(dict.fromkeys(walked, root))
        return root


def is_hidden(facts: SessionFacts) -> bool:
    """Say whether a session is none of a conversation with somebody."""
    return facts.source.casefold() in HIDDEN_SOURCES


def is_demoted(facts: SessionFacts) -> bool:
    """Say whether a session ran by the clock."""
    return facts.source.casefold() in DEMOTED_SOURCES


def relatives(session: str, sessions: Iterable[str], facts: Callable[[str], SessionFacts]) -> Sequence[str]:
    """Return the other sessions with the same root."""
    roots = Roots(facts)
    root = roots.of(session)
    return [name for name in sessions if name != session and roots.of(name) == root]


class Context:
    """What a session has in its context: its own messages that are live, and those that it began with.

    Args:
        session: whose; None is nobody's, and holds nothing.
        sessions: where messages stand.
    """

    def __init__(self, session: str | None, sessions: SessionMap) -> None:
        self._sessions = sessions
        self._views: dict[str, SessionView] = {}
        self._next: tuple[str, str] | None = None
        view = sessions.view(session) if session else None
        if session and view is not None:
            self._take(session, view)

    def holds(self, session: str, message: str) -> bool:
        """Say whether a message is before the eyes of the one who asks."""
        while self._next is not None and session not in self._views:
            parent, until = self._next
            self._next = None
            if parent not in self._views:
                self._take(parent, self._sessions.view_before(parent, until))
        view = self._views.get(session)
        at = None if view is None else view.index.get(message)
        return view is not None and at is not None and view.live[at]

    def _take(self, session: str, view: SessionView) -> None:
        self._views[session] = view
        facts = self._sessions.facts(session)
        # A branch began with what its parent held then; what was let go since may be the parent's words too.
        if facts.is_branch and facts.parent and not view.has_let_go:
            self._next = (facts.parent, facts.began)
