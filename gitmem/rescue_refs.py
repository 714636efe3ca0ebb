"""Refs that keep where HEAD's branch was before a sync merged into it."""

from __future__ import annotations

import time
from typing import Final

from gitmem.errors import GitmemError
from gitmem.layout import RESCUES
from gitmem.repository import ABSENT, Repository

#: So many of them stay; older ones, all of which the branch contains, go.
KEPT: Final = 10


def keep_rescue(repository: Repository, commit: str, now: float, who: str) -> str:
    """Keep a commit under a ref of its own and return the ref's name.

    Args:
        repository: the refs.
        commit: where the branch is.
        now: seconds since 1970.
        who: `Name <mail>` for the reflog.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    ref = f"{RESCUES}{stamp}-{commit[:12]}"
    if repository.read_ref(ref) is None:
        repository.move_ref(ref, old=ABSENT, new=commit, message="before a sync", who=who)
    return ref


def drop_old_rescues(repository: Repository, branch_tip: str, who: str) -> None:
    """Let go of all but the newest of the refs whose commits the branch contains."""
    held = [ref for ref in repository.list_refs(RESCUES) if is_in_branch(repository, ref, branch_tip)]
    for ref in held[:-KEPT]:
        value = repository.read_ref(ref)
        if value is not None:
            repository.move_ref(ref, old=value, new=ABSENT, message="merged long ago", who=who)


def is_in_branch(repository: Repository, ref: str, branch_tip: str) -> bool:
    """Say whether a ref keeps nothing that the branch has not."""
    try:
        value = repository.read_ref(ref)
        return value is not None and repository.is_ancestor(value, branch_tip)
    except GitmemError:
        return False
