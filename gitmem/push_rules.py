"""What may be asked of a remote's refs, decided before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from gitmem.errors import ObjectMissing, UsageError
from gitmem.git_refs import is_ref_name
from gitmem.remote_repository import RefOutcome, RefUpdate
from gitmem.repository import ObjectReader

TAGS: Final = "refs/tags/"


class History(ObjectReader, Protocol):
    """The part of a repository that knows what follows what."""

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Say whether one commit is reachable from another."""
        ...


def check_updates(updates: Sequence[RefUpdate], own: History) -> None:
    """Refuse a call that could never be right.

    Raises:
        UsageError: no full ref name, a name twice, or an update from nothing to nothing.
        ObjectMissing: a new value is not in the own store.
    """
    names = [update.name for update in updates]
    if len(set(names)) != len(names):
        raise UsageError("a ref is updated twice in one push", refs=names)
    for update in updates:
        if not is_ref_name(update.name):
            raise UsageError(f"not a ref name: {update.name!r}", ref=update.name)
        if update.old is None and update.new is None:
            raise UsageError(f"nothing to do for {update.name}", ref=update.name)
        if update.new is not None and not own.contains(update.new):
            raise ObjectMissing(f"{update.new} is not in this repository", object=update.new)


def judge_update(update: RefUpdate, refs: Mapping[str, str], own: History) -> RefOutcome | None:
    """Return the outcome of an update that needs no sending; None for one to send.

    Args:
        update: a checked one.
        refs: what the remote shows now.
        own: the own repository, which must know the remote's value to know that the new one follows it.
    """
    now = refs.get(update.name)
    if now == update.new:
        return RefOutcome(update.name)
    if now != update.old:
        return RefOutcome(update.name, "moved", f"{update.name} is {_short(now)}, not {_short(update.old)}")
    if update.new is None or now is None:
        return None
    return _judge_move(update.name, now, update.new, own)


def _judge_move(name: str, now: str, new: str, own: History) -> RefOutcome | None:
    if name.startswith(TAGS):
        reason = f"the tag is {_short(now)} already, and tags are never moved"
        return RefOutcome(name, "refused", reason)
    if not own.contains(now):
        return RefOutcome(
            name, "fetch_first", f"the remote has {_short(now)}, which is not here: fetch first"
        )
    if not _follows(own, now, new):
        reason = f"{_short(new)} does not follow {_short(now)}: fetch and merge first"
        return RefOutcome(name, "fetch_first", reason)
    return None


def _follows(own: History, old: str, new: str) -> bool:
    kinds = {own.read(old)[0], own.read(new)[0]}
    return kinds == {"commit"} and own.is_ancestor(old, new)


def _short(value: str | None) -> str:
    return "absent" if value is None else value[:10]
