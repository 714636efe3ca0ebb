"""`gitmem context`: what an agent should know now, within a budget."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.cli.standard_input import read_all
from gitmem.errors import UsageError

if TYPE_CHECKING:
    from gitmem.agent_sight import Reader
    from gitmem.context_assembly import AssembledContext


@define(example="gitmem context --input 'restart staging' --session s1")
@click.option("--input", "input_", metavar="TEXT|-", help="What the agent is asked now.")
@click.option("--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Tokens at most [4096].")
@click.option("--session", metavar="ID", help="Whose turns and memory stores.")
@click.option(
    "--environment", type=click.File("rb"), metavar="FILE", help="Where work happens, a JSON object."
)
@click.option(
    "--as-of",
    metavar="COMMIT|DATE",
    help="The recorded context of a turn's commit, or what was known at a commit or a time, such as HEAD~2.",
)
@click.option("--explain", is_flag=True, help="Say what became of each section, and why.")
@click.option(
    "--as",
    "by",
    type=click.Choice(["agent", "operator"]),
    default="agent",
    show_default=True,
    help="Who reads: an operator also sees what is kept from the agent; what of it came by sync is marked.",
)
@click.option("--record", is_flag=True, help="Record what the context was made from.")
def command(
    input_: str | None,
    budget: int | None,
    session: str | None,
    environment: Any,
    as_of: str | None,
    *,
    explain: bool,
    record: bool,
    by: Reader,
) -> None:
    """Print what an agent should know now, within a budget of tokens.

    AGENTS.md, memory/operator.md, memory/self.md, the current work item and the input are always in it.
    Without --record nothing is written.
    """
    settings = current()
    home = settings.open_home()
    reply = home.context(
        read_all().decode("utf-8", "replace") if input_ == "-" else input_,
        budget,
        session=session,
        environment=_environment(environment),
        as_of=as_of,
        record=record,
        by=by,
    )
    settings.reply(reply, lambda: describe(reply) if explain else reply.text, exact=not explain)
    if record and reply.commit and not settings.json:
        settings.note(f"recorded; this text again: gitmem context --as-of {reply.commit}")
    for sentence in reply.missing:
        settings.warn(f"missing: {sentence}")


def describe(reply: AssembledContext) -> str:
    """Return the decisions for people."""
    plan = reply.plan
    width = max((len(one.id) for one in plan.decisions), default=0)
    rows = [
        f"{one.id.ljust(width)}  {one.outcome:<9}  {one.allocated:>6} of {one.requested:<6}  {one.reason}"
        for one in plan.decisions
    ]
    head = f"{plan.used} of {plan.budget} tokens; at least {plan.minimum}; {reply.cache_key}"
    return "\n".join([head, "", *rows])


def _environment(file: Any) -> Mapping[str, Any]:
    if file is None:
        return {}
    try:
        data = json.loads(file.read().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"the execution environment: it is not JSON: {error}", field="environment"
        ) from error
    if not isinstance(data, dict):
        raise UsageError("the execution environment: it is a JSON object", field="environment")
    return data
