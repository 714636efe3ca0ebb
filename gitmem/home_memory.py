"""Curated memory as methods of a home: the `memory` tool, and the entries of a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gitmem.authoring import Author, Provenance
from gitmem.errors import UsageError
from gitmem.failure_counts import FailureCounts, session_name
from gitmem.home_parts import HomeParts
from gitmem.memory_call import TARGETS
from gitmem.turn import Turn

if TYPE_CHECKING:
    from gitmem.memory_reply import MemoryReply
    from gitmem.memory_stores import ShownEntry, StoreView


class HomeMemory:
    """The part of `AgentHome` that has to do with the two memory stores."""

    _parts: HomeParts

    def memory(
        self,
        action: object = None,
        target: object = None,
        content: object = None,
        old_text: object = None,
        operations: object = None,
        *,
        by: Author = "agent",
        session: str | None = None,
        turn: Turn | str | None = None,
        source: str | None = None,
        reason: str | None = None,
        origin: str = "foreground",
    ) -> MemoryReply:
        """Answer one call of the `memory` tool; whatever its arguments are, the answer is a reply.

        Args:
            action: `add`, `replace` or `remove`; none with `operations`.
            target: `memory` or `user`.
            content: the new text.
            old_text: a part of the entry that is replaced or removed, or `entry:` and its id.
            operations: a list of `{"action", "content", "old_text"}`, of which all hold or none.
            by: `agent` or `operator`.
            session: id of the conversation.
            turn: the open turn that the change belongs to, or the id of one.
            source: ref of the message that led to it.
            reason: why, in words.
            origin: `foreground`, or `background_review` where nobody attends the agent.

        Raises:
            UsageError: one of those from `by` on is malformed.
        """
        self._parts.check_owner()
        cause = Provenance(by, session, turn, source, reason, origin)
        reply = self._parts.memory_tool.call(
            cause, target=target, action=action, content=content, old_text=old_text, operations=operations
        )
        if by == "operator" and reply.success:
            self._lift([content, *_contents(operations)], cause)
        if reply.source_ref and not reply.unchanged:
            self._parts.recorder.commit_waiting()
        return reply

    def _lift(self, texts: Sequence[object], cause: Provenance) -> None:
        """Take back the judgements of texts that an operator says again."""
        from gitmem.retraction import lift

        for text in texts:
            if isinstance(text, str):
                lift(self._parts.judgements, self._parts.recorder, text, by=cause)

    def memory_show(self, target: str = "memory", *, by: Author = "agent") -> StoreView:
        """Return a store as it is now; entries that are poisoned are shown to an operator only."""
        return self._parts.memory_stores.view(_checked(target), hide=by != "operator")

    def entries(self, target: str = "memory") -> EntryList:
        """Return the entries of a store, to read and to change."""
        return EntryList(self, _checked(target))

    def _begin_turn(self, session: str | None) -> None:
        if "memory_tool" in self._parts.__dict__:
            self._parts.memory_tool.begin_turn(session)
        elif session is not None:
            FailureCounts(self._parts.layout).reset(session_name(session), shared=True)


class EntryList:
    """The entries of one store as they are whenever they are asked for.

    Args:
        home: whose they are.
        target: `memory` or `user`.
    """

    def __init__(self, home: HomeMemory, target: str) -> None:
        self._home = home
        self.target = target

    def add(self, text: str, **cause: Any) -> MemoryReply:
        """Add an entry; `cause` is that of `AgentHome.memory`: `session turn source reason by`."""
        return self._home.memory("add", self.target, text, **cause)

    def replace(self, old_text: str, text: str, **cause: Any) -> MemoryReply:
        """Replace the entry that `old_text` is a part of."""
        return self._home.memory("replace", self.target, text, old_text, **cause)

    def remove(self, old_text: str, **cause: Any) -> MemoryReply:
        """Remove the entry that `old_text` is a part of."""
        return self._home.memory("remove", self.target, None, old_text, **cause)

    def batch(self, operations: Sequence[Mapping[str, Any]], **cause: Any) -> MemoryReply:
        """Carry out several operations, all of them or none."""
        return self._home.memory(target=self.target, operations=list(operations), **cause)

    @property
    def texts(self) -> list[str]:
        """The entries' texts, in file order."""
        return [entry.text for entry in self]

    @property
    def usage(self) -> str:
        """How full the store is: `34% — 748/2,200 chars`."""
        return self._view().usage

    def __iter__(self) -> Iterator[ShownEntry]:
        """Yield each entry with `id`, `source_ref`, `text` and `chars`."""
        return iter(self._view().entries)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._view().entries)

    def _view(self) -> StoreView:
        return self._home.memory_show(self.target, by="operator")


def _contents(operations: object) -> list[object]:
    rows = operations if isinstance(operations, list | tuple) else ()
    return [row.get("content") for row in rows if isinstance(row, Mapping)]


def _checked(target: str) -> str:
    if target not in TARGETS:
        raise UsageError(
            f"no store {str(target)[:80]!r}", hint="Use memory or user.", target=str(target)[:80]
        )
    return target
