"""Session search as a method of a home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitmem.agent_sight import Reader
    from gitmem.home_parts import HomeParts


class HomeSessionSearch:
    """The part of `AgentHome` that searches conversations and reads in them."""

    _parts: HomeParts

    def session_search(
        self,
        query: object = "",
        *,
        session_id: str | None = None,
        around_message_id: str | None = None,
        window: Any = None,
        limit: Any = None,
        sort: Any = None,
        role_filter: Any = None,
        profile: str | None = None,
        current_session: str | None = None,
        by: Reader = "agent",
    ) -> dict[str, Any]:
        """Search earlier conversations, or read in one; Hermes' `session_search`.

        The arguments decide what is done: `session_id` and `around_message_id` scroll, `session_id` alone
        reads, a query discovers, nothing browses. What cannot be answered has `success` false and `error`.

        Args:
            query: what to find; plain words, no operators. Anything else than text is looked for as its JSON.
            session_id: a conversation.
            around_message_id: a message in it.
            window: messages on each side of it, 1 to 20, default 5.
            limit: results at most, 1 to 10, default 3.
            sort: `newest` or `oldest`; by relevance without it.
            role_filter: whose words, with commas between; `user,assistant` without it.
            profile: another home; always refused.
            current_session: the conversation that asks; what is in its context is passed over.
            by: who reads.
        """
        given = {
            "query": query,
            "session_id": session_id,
            "around_message_id": around_message_id,
            "window": window,
            "limit": limit,
            "sort": sort,
            "role_filter": role_filter,
            "profile": profile,
        }
        return self._parts.session_search.answer(given, current_session=current_session, by=by)
