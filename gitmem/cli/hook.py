"""`gitmem hook NAME`: what gitmem's Git hooks and watcher call; not for people, in no list of commands."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import click

from gitmem.cli.commands import command as define
from gitmem.cli.terminal import shown_on

#: How a hook says no; any other exit code but 0 means that gitmem could not run, and lets the commit pass.
_REFUSED: Final = 3
#: What comes within so many seconds, the index is told at once, in the background and behind other work.
_GATHER: Final = 0.5
_NICE: Final = 10
#: A push that takes longer is not waited for.
_PUSH_SECONDS: Final = 120.0
#: Stands in the private folder while they pass; the hooks of Git that come meanwhile have nothing to do.
_TELLING: Final = "telling"
#: Findings that are listed one by one; the rest is counted.
_LISTED: Final = 20


@define(example="gitmem hook pre-commit", hidden=True)
@click.argument("name")
@click.argument("arguments", nargs=-1)
@click.pass_context
def command(ctx: click.Context, name: str, arguments: tuple[str, ...]) -> None:
    """Do the work of one of gitmem's Git hooks, in the folder in which Git runs it."""
    work = _HOOKS.get(name)
    ctx.exit(work(arguments) if work else 0)


def _pre_commit(_: tuple[str, ...]) -> int:
    from gitmem.commit_checks import check_staged

    findings = check_staged()
    if not findings:
        return 0
    for finding in findings[:_LISTED]:
        _say(str(finding))
    if len(findings) > _LISTED:
        _say(f"and {len(findings) - _LISTED} more")
    _say("gitmem: nothing was committed; to commit it as it is: git commit --no-verify")
    return _REFUSED


def _update(arguments: tuple[str, ...]) -> int:
    from gitmem.pushed_lines import push_faults

    ref, old, new = arguments
    faults = list(push_faults(old, new))
    for fault in faults[:_LISTED]:
        _say(f"gitmem: {ref.removeprefix('refs/heads/')}: {fault}")
    return _REFUSED if faults else 0


def _tell_index(_: tuple[str, ...]) -> int:
    """Bring the search index up to date where no watcher does, and touch nothing else."""
    from gitmem.backends.dulwich_repository import open_repository
    from gitmem.config import parse_config
    from gitmem.durable_file import remove_file
    from gitmem.home_parts import HomeParts
    from gitmem.indexer import Budget
    from gitmem.layout import CONFIG_FILE, find_layout
    from gitmem.watch_state import watch_facts

    os.nice(_NICE)
    layout = find_layout(Path())
    time.sleep(_GATHER)
    remove_file(layout.derived / _TELLING)
    is_indexed = any(folder.is_dir() for folder in layout.indexes.values())
    if not is_indexed or watch_facts(layout, time.time()).get("running"):
        return 0
    config = parse_config((layout.root / CONFIG_FILE).read_bytes())
    parts = HomeParts(layout, config, open_repository(layout), time.time)
    try:
        parts.indexer.catch_up(None, Budget(None, 16_384))
    finally:
        parts.close()
    return 0


def _carry_along(arguments: tuple[str, ...]) -> int:
    """Sync turns and tags with the remote of a push, when that has ended; nobody waits for it."""
    remote, push = arguments
    with suppress(OSError):  # a terminal that is closed takes its own processes along
        os.setsid()
    _wait_for(int(push))
    return _sync_quietly(remote, branch=False)


def _sync(_: tuple[str, ...]) -> int:
    """Sync with the usual remote, for a watcher; what fails is in `gitmem status`."""
    return _sync_quietly(None, branch=True)


def _sync_quietly(remote: str | None, *, branch: bool) -> int:
    from gitmem.errors import GitmemError
    from gitmem.home import AgentHome
    from gitmem.layout import find_home
    from gitmem.sync import SyncOptions

    os.nice(_NICE)
    root = find_home(Path())
    if root is None:
        return 0
    with suppress(GitmemError, OSError), AgentHome.open(root, catches_up=False) as home:
        home.sync_quietly(remote, SyncOptions(branch=branch, wait=0))
    return 0


def _wait_for(process: int) -> None:
    """Wait until a process has ended, within reason."""
    deadline = time.monotonic() + _PUSH_SECONDS
    with suppress(ProcessLookupError, PermissionError):
        while time.monotonic() < deadline:
            os.kill(process, 0)
            time.sleep(0.05)


def _say(line: str) -> None:
    click.echo(shown_on(sys.stderr, line), err=True)


_HOOKS: Final[dict[str, Callable[[tuple[str, ...]], int]]] = {
    "pre-commit": _pre_commit,
    "update": _update,
    "pre-push": _carry_along,
    "sync": _sync,
    "post-commit": _tell_index,
    "post-merge": _tell_index,
    "post-checkout": _tell_index,
    "post-rewrite": _tell_index,
}
