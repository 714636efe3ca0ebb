"""Finished work, as methods of a home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitmem.episode_rules import episode_id
from gitmem.errors import NotFound
from gitmem.home_parts import HomeParts
from gitmem.records import Event, Receipt, check_name, record_ref
from gitmem.times import format_time

if TYPE_CHECKING:
    from gitmem.episode_reading import EpisodePage, EpisodeView


class HomeEpisodes:
    """The part of `AgentHome` that has to do with episodes."""

    _parts: HomeParts

    def episodes(
        self, *, limit: int = 20, cursor: str | None = None, as_of: str | None = None
    ) -> EpisodePage:
        """Return the finished episodes, the newest first, and what is open.

        Args:
            limit: how many at most.
            cursor: of an earlier answer; goes on behind it.
            as_of: a commit or a time in words: the files as they were then.
        """
        return self._parts.episodes.page(limit=limit, cursor=cursor, as_of=as_of)

    def episode(self, name: str, *, as_of: str | None = None) -> EpisodeView:
        """Return one episode by its id or ref.

        Raises:
            UnknownSource: there is none.
        """
        return self._parts.episodes.show(name, as_of=as_of)

    def episode_close(self, session: str | None = None, **links: Any) -> Receipt:
        """Finish what is open of a session now, in a turn of its own; the receipt names the episode.

        Args:
            session: whose; None for what was said outside of any.
            links: `workspace` and the like of that turn.

        Raises:
            NotFound: nothing is open there.
            InvalidRecord: no session is called so.
        """
        self._parts.check_owner()
        if session is not None:
            check_name(session, "session")
        open_ones = {builder.session: builder for builder in self._parts.episodes.builders()}
        builder = open_ones.get(session)
        if builder is None:
            where = f"in session {session}" if session else "outside of any session"
            raise NotFound(f"nothing is open {where}", hint="See what is: gitmem episode list")
        turn = self._parts.recorder.open(session=session, **links)
        name = episode_id(builder.writer, builder.turns[0].turn, turn.id)
        turn.tell(Event(name, "episode", format_time(self._parts.now()), {"close": True}, session=session))
        turn.finish("completed")
        assert turn.receipt.records[0]["source_ref"] == record_ref("episode", name)
        return turn.receipt
