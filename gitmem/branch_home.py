"""Whether a branch is this home: its tree holds the `gitmem.toml` with the home's id."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.branch_changes import PendingWrite
from gitmem.config import parse_config
from gitmem.errors import HomeError
from gitmem.git_state import short_name
from gitmem.layout import CONFIG_FILE
from gitmem.repository import Repository
from gitmem.tree_edit import find_file


class BranchHome:
    """Tells this home's branches from others.

    Args:
        repository: the object store.
        home_id: of this home.
    """

    def __init__(self, repository: Repository, home_id: str) -> None:
        self._repository = repository
        self._home_id = home_id
        self._known: tuple[str, bool] | None = None

    def fault(self, tree: str | None, branch: str, writes: Sequence[PendingWrite]) -> str | None:
        """Say why a branch is not this home, if it is not.

        Args:
            tree: of the branch's commit, None while it has none.
            branch: its full name.
            writes: about to be committed; one that brings the home's `gitmem.toml` begins the home there.
        """
        entry = find_file(self._repository, tree, CONFIG_FILE) if tree else None
        if entry is None:
            if any(self._begins_home(write) for write in writes):
                return None
            what = "has no commit yet" if tree is None else "is not this home"
            return f"the branch {short_name(branch)} {what}"
        if self._known is None or self._known[0] != entry.id:
            self._known = (entry.id, self._is_ours(self._repository.read(entry.id)[1]))
        return None if self._known[1] else f"the branch {short_name(branch)} is not this home"

    def _begins_home(self, write: PendingWrite) -> bool:
        return any(
            change.path == CONFIG_FILE and change.result is not None and self._is_ours(change.result)
            for change in write.changes
        )

    def _is_ours(self, config: bytes) -> bool:
        try:
            return parse_config(config).home_id == self._home_id
        except HomeError:
            return False
