"""`gitmem hooks`: put gitmem's Git hooks into a repository, list them, take them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.columns import fill, width_of
from gitmem.cli.commands import group
from gitmem.cli.settings import current

if TYPE_CHECKING:
    from gitmem.hook_files import HookFiles, HookReport


@group(example="gitmem hooks list")
def command() -> None:
    """Put gitmem's Git hooks into a repository, list them, take them out.

    They look through your own commits, and see to it that turn lines only grow. Hooks that you have run
    first, and stay yours.
    """


def _server(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--server",
        metavar="PATH",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="A bare repository that homes push to, instead of a home.",
    )(function)


@command.command("install", example="gitmem hooks install\ngitmem hooks install --server /srv/git/aria.git")
@_server
def install(server: Path | None) -> None:
    """Install the hooks; a second time changes nothing."""
    settings = current()
    report = _run(server, lambda hooks: hooks.install(), "hooks_install")
    settings.reply(report, lambda: "" if settings.quiet else describe_install(report))


@command.command("uninstall", example="gitmem hooks uninstall")
@_server
def uninstall(server: Path | None) -> None:
    """Take the hooks out, and put everything back as it was."""
    settings = current()
    report = _run(server, lambda hooks: hooks.uninstall(), "hooks_uninstall")
    settings.reply(report, lambda: "" if settings.quiet else describe_uninstall(report))


@command.command("list", example="gitmem hooks list --json")
@_server
def list_(server: Path | None) -> None:
    """List the hooks: whether each is installed, and which of yours runs before it."""
    settings = current()
    report = _run(server, lambda hooks: hooks.states(), "hooks_list")
    settings.reply(report, lambda: describe(report))


@contextmanager
def _hooks_of(server: Path) -> Iterator[HookFiles]:
    """Yield the hooks of a bare repository."""
    from gitmem.backends.dulwich_repository import open_repository
    from gitmem.errors import UsageError
    from gitmem.hook_files import SERVER, HookFiles
    from gitmem.layout import Layout

    folder = server.resolve()
    if not (folder / "objects").is_dir() or not (folder / "HEAD").is_file():
        hint = "Name the folder that holds HEAD and objects."
        raise UsageError(f"not a bare repository: {server}", hint=hint)
    layout = Layout(folder, folder, folder)
    repository = open_repository(layout)
    try:
        yield HookFiles(layout, repository, SERVER)
    finally:
        repository.close()


def _run(server: Path | None, act: Callable[[HookFiles], HookReport], in_home: str) -> HookReport:
    """Do something with the hooks of a bare repository, or of the current home by its method."""
    if server is None:
        report: HookReport = getattr(current().open_home(), in_home)()
        return report
    with _hooks_of(server) as hooks:
        return act(hooks)


def describe(report: HookReport) -> str:
    """Return the hooks as a table."""
    width = max(width_of(hook.id) for hook in report.hooks)
    rows = []
    for hook in report.hooks:
        after = f", after {hook.chained}" if hook.chained else ""
        rows.append(f"{fill(hook.id, width)}  {hook.state}{after}")
    if any(hook.state != "installed" for hook in report.hooks):
        rows.append("To install them all: gitmem hooks install")
    return "\n".join([f"In {report.folder}", *rows])


def describe_install(report: HookReport) -> str:
    """Return what was installed, for people."""
    if not report.changed and not report.notes:
        return f"Nothing to do: the hooks are in {report.folder}."
    lines = [f"Installed in {report.folder}: {' '.join(report.changed)}"] if report.changed else []
    lines += [f"  {hook.id} runs after {hook.chained}" for hook in report.hooks if hook.chained]
    return "\n".join([*lines, *(f"  not installed: {note}" for note in report.notes)])


def describe_uninstall(report: HookReport) -> str:
    """Return what was taken out, for people."""
    lines = [f"Taken out: {' '.join(report.changed)}" if report.changed else "No hooks of gitmem's are here."]
    return "\n".join([*lines, *(f"  {note}" for note in report.notes)])
