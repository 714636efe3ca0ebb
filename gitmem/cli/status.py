"""`gitmem status`: one screen on a home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.commands import command as define
from gitmem.cli.settings import current
from gitmem.counted import counted
from gitmem.times import short_time

if TYPE_CHECKING:
    from gitmem.remote_standing import RemoteStanding
    from gitmem.status import Status

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
#: Findings that a row of the screen tells already.
_SHOWN_ABOVE = ("pending",)
#: Waiting writes that are named in their row.
_LISTED = 5


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
        ("waiting", _pending(status.pending, status.git.get("obstacle"))),
        ("index", _index(status.index)),
        ("watch", _watch(status.watch)),
        ("stores", _stores(status.stores)),
        ("sessions", _sessions(status.sessions)),
        ("remotes", ", ".join(map(_remote, status.remotes))),
        ("conflicts", ", ".join(str(conflict["path"]) for conflict in status.conflicts)),
    ]
    lines = [f"{click.style(f'{name:<10}', dim=True)}{text}" for name, text in rows if text]
    lines += [_finding(finding) for finding in status.findings if finding.id not in _SHOWN_ABOVE]
    if not status.exit_code:
        otherwise = "Otherwise all" if status.findings else "All"
        lines.append(click.style(f"{otherwise} is well.", fg="green"))
    return "\n".join(lines)


def _home(home: Mapping[str, Any]) -> str:
    return f"{home.get('agent', '')} ({home.get('id', '')}) in {home.get('path', '')}"


def _git(git: Mapping[str, Any]) -> str:
    at = git["head"][:10] if git.get("head") else "no commit yet"
    where = git.get("branch") or "detached HEAD"
    return f"{where} at {at}"


def _turns(turns: Mapping[str, Any]) -> str:
    branch = turns.get("branch")
    own = f"on {branch}" if branch else "none here yet"
    writers = {line["id"].rpartition("/")[2] for line in turns.get("lines", ())}
    others = len(writers - {str(branch).rpartition("/")[2]})
    more = f", and {counted(others, 'other line')}" if others else ""
    waiting = f", {turns['spooled']} not yet committed" if turns.get("spooled") else ""
    open_ = f", {turns['open']} open" if turns.get("open") else ""
    return f"{own}{more}{waiting}{open_}"


def _remote(remote: RemoteStanding) -> str:
    state = f"lacks {remote.lacks}" if remote.lacks else "has all there is"
    ahead = f", has {counted(remote.ahead, 'commit')} more" if remote.ahead else ""
    synced = f"; synced {short_time(remote.done)}" if remote.done else "; never synced"
    return f"{remote.id} {state}{ahead}{synced}"


def _pending(pending: Sequence[Mapping[str, Any]], obstacle: str | None) -> str:
    return ", ".join(_write(row, obstacle) for row in pending[:_LISTED]) + (
        f" and {len(pending) - _LISTED} more" if len(pending) > _LISTED else ""
    )


def _write(row: Mapping[str, Any], obstacle: str | None) -> str:
    reason = row.get("reason")
    because = f": {reason}" if reason and reason != obstacle else ""
    return f"{row.get('path')} for {_age(row.get('age_seconds') or 0)}{because}"


def _index(index: Mapping[str, Any]) -> str:
    indexed, pending = index.get("indexed", 0), index.get("pending", 0)
    covered = counted(indexed, "record or file", "records and files")
    if not pending:
        return f"fresh, {covered}"
    state = str(index.get("freshness")).replace("_", " ")
    so_far = f"{state}, {covered}" if indexed else "not built yet"
    if index.get("reasons"):  # what an answer lacks now is told below
        return f"{so_far}, {pending:,} to go"
    rest = counted(pending, "file or record is", "files and records are")
    return f"{so_far}; {rest} searched without it"


def _watch(watch: Mapping[str, Any]) -> str:
    if not watch.get("running"):
        return "not running (search does not need it)"
    mode = f", {watch['mode']}" if watch.get("mode") else ""
    return f"running{mode}"


def _stores(stores: Sequence[Mapping[str, Any]]) -> str:
    return " · ".join(f"{store['id']} {_fill(store)}" for store in stores)


def _fill(store: Mapping[str, Any]) -> str:
    if store.get("problem"):
        return "unreadable"
    return "off" if store.get("off") else f"{store['percent']} %"


def _sessions(sessions: Sequence[Mapping[str, Any]]) -> str:
    """Name the sessions whose prompts hold something else than the stores do now."""
    behind = [row for row in sessions if row["changed"]]
    named = [f"{row['id']} began {row['frozen_at'][:16]} and lacks {_lacks(row)}" for row in behind[:_LISTED]]
    more = f" and {len(behind) - _LISTED} more" if len(behind) > _LISTED else ""
    return ", ".join(named) + more


def _lacks(row: Mapping[str, Any]) -> str:
    total = sum(sum(change.values()) for change in row["changed"].values())
    return counted(total, "newer change")


def _finding(finding: Any) -> str:
    color = "red" if finding.exit_code else "yellow"
    hint = f". {finding.hint}" if finding.hint else ""
    return f"{click.style('!', fg=color)} {finding.message}{hint}"


def _age(seconds: float) -> str:
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"
