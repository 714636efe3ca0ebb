"""Contexts, as a method of a home."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gitmem.config import HomeConfig
from gitmem.home_parts import HomeParts
from gitmem.records import check_name

if TYPE_CHECKING:
    from gitmem.agent_sight import Reader
    from gitmem.context_assembly import AssembledContext
    from gitmem.message_authority import Voice


class HomeContext:
    """The part of `AgentHome` that has to do with contexts."""

    config: HomeConfig
    _parts: HomeParts

    def context(
        self,
        input: str | None = None,  # noqa: A002 - the word of the command
        budget: int | None = None,
        *,
        session: str | None = None,
        environment: Mapping[str, Any] | None = None,
        as_of: str | None = None,
        record: bool = False,
        now: str | None = None,
        voice: Voice = "operator",
        origin: str = "",
        tokenizer: Callable[[str], int] | None = None,
        by: Reader = "agent",
    ) -> AssembledContext:
        """Return what the agent should know now, within a budget; `.text` is for its prompt.

        Args:
            input: what it is asked; stands in the context, and chooses what is recalled.
            budget: tokens at most; by default the home's.
            session: whose turns and memory stores.
            environment: where work happens: `workspace_id anchor cwd access_mode instructions skills tools`.
            as_of: the commit of a recorded context gives that context again; another turn's commit, a commit
                of the operator's branch or a time gives one of what was known then.
            record: record what the context was made from, in a turn of its own.
            now: RFC 3339; stands in the text. By default the text does not tell the time, so that the same
                context has the same bytes a minute later.
            voice: whose the input is; `runtime` and `external` are never taken for the operator.
            origin: where an input comes from that is not the operator's.
            tokenizer: counts tokens exactly; by default they are estimated, rather too many than too few.
            by: who reads: an `operator` also sees what is kept from the agent, and what of it came by sync is
                marked; that is nothing for a prompt.

        Raises:
            BudgetExceeded: what must be in it does not fit; `details` has both numbers.
            UsageError: an argument is not what it should be.
        """
        from gitmem.agent_sight import check_reader
        from gitmem.context_record import ContextRequest, check_context_arguments, checked_tokenizer
        from gitmem.errors import UsageError
        from gitmem.times import format_time, parse_timestamp
        from gitmem.token_estimate import estimate_tokens

        wanted = self.config.context_budget if budget is None else budget
        check_context_arguments(wanted, input, voice, origin, tokenizer)
        if record and as_of is not None:
            raise UsageError("a context of the past is not recorded again", field="record")
        if record and check_reader(by) == "operator":
            raise UsageError("what is recorded is what the agent was shown, not the operator", field="by")
        moment = self._parts.now() if now is None else parse_timestamp(now)
        request = ContextRequest(
            wanted,
            format_time(moment),
            input,
            None if session is None else check_name(session, "session"),
            environment or {},
            voice,
            origin,
            tells_time=now is not None,
        )
        count = checked_tokenizer(tokenizer) if tokenizer is not None else estimate_tokens
        contexts = self._parts.contexts if check_reader(by) == "agent" else self._parts.marked_contexts
        if as_of is not None:
            named = {"input": input, "budget": budget, "session": session, "environment": environment or None}
            given = frozenset(name for name, value in named.items() if value is not None)
            return contexts.assemble_past(request, as_of, count, is_now=now is None, given=given)
        if record:
            self._parts.check_owner()
            return contexts.record(request, count)
        return contexts.assemble(request, count)
