"""`gitmem edit`: a file of the home in the operator's editor, checked and committed."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

import click

from gitmem.cli import standard_input
from gitmem.cli.commands import command as define
from gitmem.cli.editor import find_editor, forget, keep, opened_for, private_copy, read_copy, run_editor
from gitmem.cli.findings import tell_findings
from gitmem.cli.settings import current
from gitmem.counted import counted
from gitmem.errors import NotFound, RefusedError
from gitmem.status import CONFLICT

if TYPE_CHECKING:
    from gitmem.editing import EditReply, EditTarget
    from gitmem.home import AgentHome


@define(example="gitmem edit operator\nEDITOR='code --wait' gitmem edit staging.md")
@click.argument("what", metavar="operator|self|memory|user|agents|PATH|REF")
@click.option(
    "--no-verify", is_flag=True, help="Commit what the checks refuse; the commit names their rules."
)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the text of FILE, as one that was kept after a refusal, and open no editor.",
)
@click.pass_context
def command(ctx: click.Context, what: str, *, no_verify: bool, source: Path | None) -> None:
    """Edit a file of the home in your editor; it is checked and committed as yours.

    The editor is Git's: GIT_EDITOR, core.editor, VISUAL, EDITOR, else vi. It gets a copy; what the agent
    writes meanwhile is merged with your text, so neither is lost. A path in notes/ that is not there yet
    becomes a new note. To remove a file: delete it and run `gitmem commit`.
    """
    settings = current()
    home = settings.open_home()
    target = home.edit_open(settings.path_in(home, what))
    if source is not None:
        reply = _take(home, target, source, verify=not no_verify)
    else:
        editor = find_editor(home.git_setting)
        name = PurePosixPath(target.path).name
        with private_copy(home.layout.private / "edit", name, target.shown) as copy:
            reply = _edit(home, target, editor, copy, verify=not no_verify)
    settings.reply(reply, lambda: "" if settings.quiet else describe(reply))
    for warning in reply.warnings:
        settings.warn(warning)
    for conflict in reply.conflicts:
        settings.warn(f"others changed the same lines; the text that lost is kept in {conflict}")
    if reply.conflicts:
        ctx.exit(CONFLICT)


def describe(reply: EditReply) -> str:
    """Return what became of an edit, in one line."""
    if reply.unchanged:
        return f"{reply.path}: unchanged"
    merged = ", merged with what was written meanwhile" if reply.merged else ""
    if reply.committed:
        return f"{reply.path}: committed as {reply.committed[:10]}{merged}"
    return f"{reply.path}: written{merged}, not committed: {reply.reason}"


def _take(home: AgentHome, target: EditTarget, source: Path, *, verify: bool) -> EditReply:
    """Take a text that is there already; one that was kept is merged with what came since it was opened."""
    text = read_copy(source)
    if text is None:
        raise NotFound(f"no such file: {source}", path=str(source))
    is_kept, opened = opened_for(source, target.path)
    reply = home.edit_finish(replace(target, opened=opened) if is_kept else target, text, verify=verify)
    if reply.is_refused:
        tell_findings(reply.findings)
        raise _refused(reply, source)
    if is_kept:
        forget(source)
    return reply


def _edit(home: AgentHome, target: EditTarget, editor: str, copy: Path, *, verify: bool) -> EditReply:
    """Let the operator edit until the text can be committed, or they let it be."""
    line = target.line
    while True:
        text = _open(target, editor, copy, line)
        try:
            reply = home.edit_finish(target, text, verify=verify)
        except BaseException:
            current().note(_kept(target.path, keep(copy, target.path, target.opened)))
            raise
        if not reply.is_refused:
            return reply
        tell_findings(reply.findings)
        match _ask():
            case "again":
                line = next((found["line"] for found in reply.findings if found["line"]), None)
            case "keep":
                verify = False
                return home.edit_finish(target, text, verify=False)
            case "discard":
                return home.edit_finish(target, target.shown)
            case None:
                raise _refused(reply, keep(copy, target.path, target.opened))


def _open(target: EditTarget, editor: str, copy: Path, line: int | None) -> bytes:
    """Have the operator edit; return the text that came out of it."""
    try:
        run_editor(editor, copy, line)
    except RefusedError as error:
        if read_copy(copy) not in (None, target.shown):
            error.hint = _kept(target.path, keep(copy, target.path, target.opened))
        raise
    text = read_copy(copy)
    if text is None:
        raise RefusedError(
            "the editor removed the copy; nothing was changed",
            hint=f"To remove {target.path}: delete it and run `gitmem commit`.",
        )
    return text


def _ask() -> Literal["again", "keep", "discard"] | None:
    """Ask what to do about findings; None where nobody is there to answer."""
    if not standard_input.is_terminal() or current().json:
        return None
    answer: str = click.prompt(
        "edit (a)gain, (k)eep it anyway, or (d)iscard it?",
        type=click.Choice(["a", "k", "d"]),
        default="a",
        show_choices=False,
        err=True,
    )
    words: dict[str, Literal["again", "keep", "discard"]] = {"a": "again", "k": "keep", "d": "discard"}
    return words[answer]


def _refused(reply: EditReply, kept: Path) -> RefusedError:
    return RefusedError(
        f"{counted(len(reply.findings), 'finding')} in {reply.path}; nothing was written",
        hint=f"{_kept(reply.path, kept)}; mend it there first, or add --no-verify to commit it as it is.",
        path=reply.path,
        kept=str(kept),
        findings=list(reply.findings),
    )


def _kept(path: str, kept: Path) -> str:
    take = f"gitmem edit {shlex.quote(path)} --from {shlex.quote(str(kept))}"
    return f"Your text is kept in {kept}. To take it: {take}"
