"""`gitmem status`: one screen on a home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current

if TYPE_CHECKING:
    from gitmem.status import Status

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


@define(example="gitmem status --check && git push")
@click.option(
    "--check", is_flag=True, help="Exit with 11, 12 or 20 if something waits, conflicts or is damaged."
)
@click.pass_context
def command(ctx: click.Context, *, check: bool) -> None:
    """Show whether all is well with the home: Git, turns, writes that wait, index, watcher, stores."""
    settings = current()
    status = settings.open_home().status()
    settings.reply(status, lambda: describe(status))
    if check and status.exit_code:
        ctx.exit(status.exit_code)


def describe(status: Status) -> str:
    """Return one screen for people."""
    rows = [
        ("home", _home(status.home)),
        ("git", _git(status.git)),
        ("turns", _turns(status.turns)),
        ("waiting", _pending(status.pending)),
        ("index", _index(status.index)),
        ("watch", _watch(status.watch)),
        ("stores", _stores(status.stores)),
        ("conflicts", ", ".join(str(conflict["path"]) for conflict in status.conflicts)),
    ]
    lines = [f"{click.style(f'{name:<10}', dim=True)}{text}" for name, text in rows if text]
    lines += [_finding(finding) for finding in status.findings]
    if not any(finding.exit_code for finding in status.findings):
        lines.append(click.style("All is well.", fg="green"))
    return "\n".join(lines)


def _home(home: Mapping[str, Any]) -> str:
    return f"{home.get('agent', '')} ({home.get('id', '')}) in {home.get('path', '')}"


def _git(git: Mapping[str, Any]) -> str:
    at = git["head"][:10] if git.get("head") else "no commit yet"
    where = git.get("branch") or "detached HEAD"
    pinned = (
        f", the home's branch is {git['pinned']}"
        if git.get("pinned") not in (None, git.get("branch"))
        else ""
    )
    obstacle = f"; commits wait: {git['obstacle']}" if git.get("obstacle") else ""
    return f"{where} at {at}{pinned}{obstacle}"


def _turns(turns: Mapping[str, Any]) -> str:
    count = f"{turns['count']} " if turns.get("count") is not None else ""
    waiting = f", {turns['spooled']} not yet committed" if turns.get("spooled") else ""
    open_ = f", {turns['open']} open" if turns.get("open") else ""
    others = max(0, len(turns.get("lines", ())) - 1)
    more = f", and {others} other line{'' if others == 1 else 's'}" if others else ""
    return f"{count}on {turns.get('branch', '')}{more}{waiting}{open_}"


def _pending(pending: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(
        f"{row.get('path')} ({_age(row.get('age_seconds'))}{row.get('reason') or 'waits'})" for row in pending
    )


def _index(index: Mapping[str, Any]) -> str:
    indexed = f", {index['indexed']} documents" if index.get("indexed") is not None else ""
    pending = f", {index['pending']} to go" if index.get("pending") else ""
    return f"{str(index.get('freshness', 'unknown')).replace('_', ' ')}{indexed}{pending}"


def _watch(watch: Mapping[str, Any]) -> str:
    if not watch.get("running"):
        return "not running (search does not need it)"
    mode = f", {watch['mode']}" if watch.get("mode") else ""
    return f"running{mode}"


def _stores(stores: Sequence[Mapping[str, Any]]) -> str:
    return " · ".join(f"{store.get('id')} {store.get('percent', 0)} %" for store in stores)


def _finding(finding: Any) -> str:
    color = "red" if finding.exit_code else "yellow"
    hint = f" {finding.hint}" if finding.hint else ""
    return f"{click.style('!', fg=color)} {finding.message}{hint}"


def _age(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}, "
    return f"{int(seconds)} s, "
