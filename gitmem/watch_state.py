"""What the watcher says of itself, for `status`; and the lock that tells whether there is one.

The file may be a dead watcher's last word. Only the lock, which the kernel frees with its holder, says that a
watcher lives.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal

from gitmem.durable_file import write_file
from gitmem.errors import HomeLocked
from gitmem.file_lock import file_lock, open_lock_file
from gitmem.layout import Layout
from gitmem.times import format_time, parse_timestamp

Phase = Literal["starting", "reconciling", "catching_up", "waiting", "watching", "stopped"]

FORMAT: Final = 1
#: Seconds without a sign of life after which a living watcher counts as stuck.
STUCK_AFTER: Final = 300.0
#: Long enough for those who only look whether the lock is held.
_LOCK_WAIT: Final = 0.25
_TIMES: Final = ("started", "heartbeat", "reconciled")


@dataclass(frozen=True, slots=True)
class WatchState:
    """A watcher's word on itself; times are seconds since 1970.

    Attributes:
        heartbeat: when this was written.
        phase: `reconciling` until everything was compared with the files, `waiting` while Git is at work.
        mode: `native` or `polling`.
        degraded: why it polls.
        alive: whether notifications come; not of one that has stopped.
        reconciled: when everything was last compared with the files.
        rounds: how often the index was brought up to date since the start.
        pending: records known and not yet indexed.
        quarantined: items that could not be indexed.
        provisional: the operation of Git during which files were indexed, until it ended.
        failing: what keeps failing: `duty`, `failures`, `error`, `busy`.
    """

    pid: int
    started: float
    heartbeat: float
    phase: Phase = "starting"
    mode: Literal["native", "polling"] = "native"
    degraded: str | None = None
    alive: bool = True
    reconciled: float | None = None
    rounds: int = 0
    pending: int = 0
    quarantined: int = 0
    provisional: str | None = None
    failing: tuple[Mapping[str, Any], ...] = ()


def state_row(state: WatchState) -> dict[str, Any]:
    """Return a state as JSON has it; times are RFC 3339."""
    row = asdict(state)
    for name in _TIMES:
        row[name] = None if row[name] is None else format_time(row[name])
    return {**row, "failing": list(state.failing)}


def format_state(state: WatchState) -> bytes:
    """Return the content of the watch file."""
    row = {"format": FORMAT, **state_row(state)}
    return json.dumps(row, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n"


def parse_state(content: bytes) -> WatchState | None:
    """Return what a watch file says, or None if it cannot be understood."""
    try:
        row = json.loads(content)
        if row.pop("format") != FORMAT:
            return None
        known = {field.name for field in fields(WatchState)}
        values = {name: value for name, value in row.items() if name in known}
        for name in _TIMES:
            values[name] = None if values.get(name) is None else parse_timestamp(values[name])
        return WatchState(**{**values, "failing": tuple(values.get("failing", ()))})
    except (ValueError, TypeError, AttributeError, KeyError):
        return None


def write_state(layout: Layout, state: WatchState) -> None:
    """Replace the watch file; without a sync, for it is of no use after a crash.

    Raises:
        FileNotFoundError: the home is gone; it must not come back by this file.
    """
    write_file(layout.watch_file, format_state(state), durable=False, make_folder=False)


def watch_facts(layout: Layout, now: float) -> dict[str, Any]:
    """Return what `status` shows of the watcher; `reasons` is empty exactly while all is well."""
    running = is_watched(layout)
    state = _read_state(layout)
    facts: dict[str, Any] = {"running": running, "reasons": _reasons(running, state, now)}
    if state is None:
        return facts
    row = state_row(state)
    if not running:
        row |= {"phase": "stopped", "alive": False}
    return {**facts, **row}


def is_watched(layout: Layout) -> bool:
    """Say whether a watcher lives for this work tree."""
    try:
        descriptor = open_lock_file(watch_lock_file(layout))
    except OSError:
        return False
    try:
        # Shared, so that two who look at once do not take each other for a watcher.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def ask_watcher(layout: Layout) -> None:
    """Let the watcher look at the index now; one that does not hear of it looks within half a minute."""
    with suppress(OSError):
        layout.index_request.touch()
        layout.index_request.unlink()


@contextmanager
def watch_lock(layout: Layout) -> Iterator[None]:
    """Be the one watcher of this work tree.

    Raises:
        HomeLocked: there is one.
    """
    lock = watch_lock_file(layout)
    with ExitStack() as stack:
        try:
            stack.enter_context(file_lock(lock, wait=_LOCK_WAIT))
        except HomeLocked as error:
            state = _read_state(layout)
            who = f" (process {state.pid})" if state else ""
            message = f"this home is being watched already{who}"
            raise HomeLocked(message, hint="One watcher is enough.", lock=lock.name) from error
        yield


def watch_lock_file(layout: Layout) -> Path:
    """Return the file whose lock the watcher holds."""
    return layout.derived / "watch.lock"


def _read_state(layout: Layout) -> WatchState | None:
    try:
        return parse_state(layout.watch_file.read_bytes())
    except OSError:
        return None


def lasting_reasons(state: WatchState) -> list[str]:
    """Return what a living watcher has to complain of, apart from work that it is just doing."""
    reasons = [state.degraded] if state.degraded else []
    if not state.alive and state.phase != "stopped":
        reasons.append("notifications do not come")
    if state.provisional:
        reasons.append(f"provisional: {state.provisional}")
    return reasons + [f"{row.get('duty')}: {row.get('error')}" for row in state.failing]


def _reasons(running: bool, state: WatchState | None, now: float) -> list[str]:
    if not running:
        return ["not running"]
    if state is None:
        return ["starting"]
    reasons = lasting_reasons(state)
    if now - state.heartbeat > STUCK_AFTER:
        reasons.append(f"no sign of life for {now - state.heartbeat:.0f} s")
    if state.phase != "watching":
        reasons.append(state.phase.replace("_", " "))
    return reasons
