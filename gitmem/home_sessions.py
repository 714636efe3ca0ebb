"""Sessions and prose memory as methods of a home: what a prompt gets of memory, and how that is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gitmem.authoring import Provenance, WriteReply
from gitmem.curated import PROSE
from gitmem.errors import GitmemError, UsageError
from gitmem.home_parts import HomeParts
from gitmem.model_messages import read_messages
from gitmem.records import check_name
from gitmem.redaction import refuse_secret

if TYPE_CHECKING:
    from gitmem.frozen_block import FrozenBlock, StoreChange
    from gitmem.prose_section import ProseSection
    from gitmem.records import Receipt
    from gitmem.search import SearchReply


class Session:
    """One conversation of the agent.

    Args:
        parts: of the home.
        session_id: its id.
    """

    def __init__(self, parts: HomeParts, session_id: str) -> None:
        self._parts = parts
        self.id = refuse_secret(check_name(session_id, "session"), "session")

    def prompt_block(self) -> str | None:
        """Return the memory stores as this session's prompt has them; None where both are empty.

        The text is frozen when the session starts, in every process the same until it ends. It is frozen anew
        where the agent builds its prompt anew: at another `start`, at `switch`, `compact` and `clear`.
        """
        return self.frozen().text

    def frozen(self) -> FrozenBlock:
        """Return that text with when it was frozen, and from which commit."""
        return self._parts.snapshots.read(self.id)

    def changed(self) -> Mapping[str, StoreChange]:
        """Return, by store, what was added, removed and replaced since; unchanged stores are left out."""
        return self._parts.snapshots.changed(self.frozen())

    def recall(self, query: str, **options: Any) -> SearchReply:
        """Search all that is remembered, for the agent; options as on the command line."""
        return self._parts.search.search(query, **{"by": "agent", **options})

    def search(self, query: str = "", **options: Any) -> dict[str, Any]:
        """Search earlier conversations, as `AgentHome.session_search` does, for this one.

        Args:
            query: what to find.
            options: the other arguments of a session search.
        """
        by = options.pop("by", "agent")
        given = {"query": query, **options}
        return self._parts.session_search.answer(given, current_session=self.id, by=by)

    def record(self, messages: Sequence[Mapping[str, Any]], **links: Any) -> Receipt:
        """Record a turn of this session.

        Args:
            messages: as models have them, OpenAI's and Anthropic's, or plain ones with `role` and `text`, and
                other fields of a message. A call of a tool and its result become a tool execution.
            links: `workspace` and `work_item`.

        Raises:
            InvalidRecord: a message is malformed; `event` in the details is its number, from 0.
        """
        self._parts.check_owner()
        told = read_messages(messages)
        try:
            return self._parts.recorder.record([event for _, event in told], session=self.id, **links)
        except GitmemError as error:
            if "event" in error.details:
                error.details["event"] = told[error.details["event"]][0]
            raise


class HomeSessions:
    """The part of `AgentHome` that has to do with sessions and prose memory."""

    _parts: HomeParts

    def session(self, session_id: str) -> Session:
        """Return the conversation with this id, whether it has begun or not."""
        return Session(self._parts, session_id)

    def memory_block(self) -> str | None:
        """Return the memory stores as a session would see them that starts now."""
        return self._parts.sights.render(self._parts.sights.read())

    def prose_sections(self) -> list[ProseSection]:
        """Return what a prompt gets of `operator.md` and `self.md`, in this order, as they are now."""
        from gitmem.auto_load import read_sections

        parts = self._parts
        held, receipts = parts.quarantine.parts, parts.ledger.receipts()
        return read_sections(parts.layout.root, parts.config, parts.judge, held, receipts=receipts)

    def memory_write(self, target: str, content: str, **cause: Any) -> WriteReply:
        """Give `operator.md` or `self.md` another text.

        Args:
            target: `operator` or `self`.
            content: the whole text.
            cause: `session`, `turn`, `source`, `reason`, `by` (`agent` or `operator`) and `origin`.
        """
        return self._written(self._parts.prose_writes.write, target, content, cause)

    def memory_append(self, target: str, content: str, **cause: Any) -> WriteReply:
        """Add text at the end of `operator.md` or `self.md`."""
        return self._written(self._parts.prose_writes.append, target, content, cause)

    def memory_guide(self) -> str:
        """Return the text that tells an agent what to remember, and how, with this home's limits."""
        from gitmem.guidance import guide

        return guide(self._parts.config)

    def _written(self, write: Any, target: str, content: str, cause: Mapping[str, Any]) -> WriteReply:
        if target not in PROSE:
            raise UsageError(f"target is {' or '.join(PROSE)}, not {target!r}", field="target")
        self._parts.check_owner()
        given = dict(cause)
        reply: WriteReply = write(target, content, Provenance(given.pop("by", "agent"), **given))
        self._parts.recorder.commit_waiting()
        return reply
