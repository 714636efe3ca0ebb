"""Bringing a store that people edited to its plain form, in their name, before the agent changes it.

A last line without a line feed, blanks around `§`: the next write of the store takes such things away. Git
counts those lines as changed then, and `git blame` would name the agent for an entry that a person wrote.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from gitmem.branch_changes import PathChange
from gitmem.curated import Store
from gitmem.entries import format_store
from gitmem.errors import RefusedError
from gitmem.git_objects import hash_object
from gitmem.operator_branch import OperatorBranch
from gitmem.subjects import KIND, format_message, found_subject


def tidy_store(branch: OperatorBranch, store: Store) -> Store:
    """Commit the plain form of a store as the operator, if it has another; return the store as it is then.

    Where the branch cannot take it now, the store stays as it is: then the next write does it.

    Args:
        branch: takes the commit; the caller holds the home's lock.
        store: as it was read.
    """
    plain = format_store(store.entries, mark=store.mark).encode()
    if not store.path or store.content.replace(b"\r\n", b"\n") == plain:
        return store
    with suppress(RefusedError):
        done = branch.write(
            [PathChange(store.path, hash_object("blob", store.content), plain)],
            message=format_message(found_subject([store.path]), [(KIND, "found")]),
            author=branch.operator,
            operation="found",
            turn=None,
            locked=True,
            defer=False,
        )
        if done.committed is not None:
            return replace(store, content=plain, newline="\n")
    return store
