"""`gitmem sessions`: the conversations; which there are, what was said in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.catching_up import catch_up
from gitmem.cli.commands import group, options
from gitmem.cli.session_text import describe
from gitmem.cli.settings import current
from gitmem.cli.write_options import reader_option
from gitmem.errors import RefusedError

if TYPE_CHECKING:
    from gitmem.home import AgentHome

asking_option = click.option(
    "--session",
    "current_session",
    metavar="ID",
    help="The conversation that asks: what is in its context is passed over.",
)
limit_option = click.option(
    "--limit", type=int, default=10, show_default=True, help="Conversations at most, 1 to 10."
)
reading_options = options(asking_option, reader_option)


@group(example="gitmem sessions search staging port", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List conversations, search them, read in them.

    Without a word behind it this is `gitmem sessions list`.
    """
    if ctx.invoked_subcommand is None:
        _answer(current().open_home(), {"limit": 10}, {})


@command.command("list", example="gitmem sessions list --limit 5")
@limit_option
@reading_options
def list_(limit: int, **who: Any) -> None:
    """List the conversations, the latest first."""
    _answer(current().open_home(), {"limit": limit}, who)


@command.command("search", example="gitmem sessions search staging port --sort newest")
@click.argument("query", nargs=-1, required=True)
@limit_option
@click.option(
    "--sort", type=click.Choice(["newest", "oldest"]), help="By time; without it the best come first."
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="ROLE",
    help="Whose words: user, assistant, tool, system; may be repeated. Default: user and assistant.",
)
@reading_options
def search(query: tuple[str, ...], limit: int, sort: str | None, roles: tuple[str, ...], **who: Any) -> None:
    """Find conversations by what was said in them, or by their title.

    The words need no quotes; any of them may match. Of each conversation the best place is shown.
    """
    asked = {"query": " ".join(query), "limit": limit, "sort": sort, "role_filter": ",".join(roles)}
    _refuse_blank(query=" ".join(query))
    home = current().open_home()
    reply = _answer(home, asked, who)
    _tell_doubts(reply)
    pending = reply.get("index_status", {}).get("pending", 0)
    if pending:
        catch_up(home, pending)


@command.command("scroll", example="gitmem sessions scroll s1 msg_0c1d2e3f4a5b6c7 --window 10")
@click.argument("session")
@click.argument("message")
@click.option("--window", type=int, default=5, show_default=True, help="Messages on each side, 1 to 20.")
@reading_options
def scroll(session: str, message: str, window: int, **who: Any) -> None:
    """Show the messages around one message of a conversation."""
    _refuse_blank(session=session, message=message)
    asked = {"session_id": session, "around_message_id": message, "window": window}
    _answer(current().open_home(), asked, who)


@command.command("read", example="gitmem sessions read s1")
@click.argument("session")
@reading_options
def read(session: str, **who: Any) -> None:
    """Show a conversation; of a long one its beginning and its end."""
    _refuse_blank(session=session)
    _answer(current().open_home(), {"session_id": session}, who)


def _answer(home: AgentHome, asked: dict[str, Any], who: dict[str, Any]) -> dict[str, Any]:
    settings = current()
    reply = home.session_search(**asked, **{"by": "operator", **who})
    if not reply["success"]:
        if not settings.json:
            raise RefusedError(reply["error"])
        settings.reply(reply)
        click.get_current_context().exit(RefusedError.exit_code)
    settings.reply(reply, lambda: describe(reply))
    return reply


def _tell_doubts(reply: dict[str, Any]) -> None:
    settings = current()
    if settings.json:
        return
    reasons = reply.get("index_status", {}).get("reasons", ())
    if "unmatched_terms" in reply:
        within = " in what was searched" if reasons else ""
        settings.note(f"found nowhere{within}: {' '.join(reply['unmatched_terms'])}")
    for reason in reasons:
        settings.note(reason)


def _refuse_blank(**arguments: str) -> None:
    for name, value in arguments.items():
        if not value.strip():
            raise click.UsageError(f"{name} is blank")
