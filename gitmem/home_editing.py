"""An operator's edits, as methods of a home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gitmem.config import HomeConfig
from gitmem.home_owner import HomeOwner
from gitmem.home_parts import HomeParts
from gitmem.layout import Layout
from gitmem.memory_get import MOST_CHARS
from gitmem.work_paths import is_plan_path

if TYPE_CHECKING:
    from gitmem.editing import Editing, EditReply, EditTarget


class HomeEditing:
    """The part of `AgentHome` that has to do with files as people edit them."""

    layout: Layout
    config: HomeConfig
    _parts: HomeParts

    def edit_open(self, what: str) -> EditTarget:
        """Return a file to edit: `operator self memory user agents`, a path of the home, or a source ref.

        The ref of a work item leads to its plan.
        """
        self._parts.check_owner()
        if what.startswith("work_item:"):
            what = self._parts.work_files.path_of(self._parts.work.resolve(what))
        return self._editing().open(what)

    def edit_finish(self, target: EditTarget, edited: bytes, *, verify: bool = True) -> EditReply:
        """Write and commit an edited text as the operator, merged with what was written meanwhile.

        Args:
            target: as `edit_open` gave it.
            edited: the whole text.
            verify: refuse what has findings; nothing is written then.
        """
        reply = self._editing().finish(target, edited, verify=verify)
        if reply.committed is None or not is_plan_path(reply.path):
            return reply
        warnings = self._parts.work_files.put_back([reply.path])
        self._parts.recorder.commit_waiting()
        return replace(reply, warnings=warnings)

    def settle_plans(self) -> Sequence[str]:
        """Put front matter of plans back that people committed otherwise; return what was done, in words."""
        return self._parts.settle_work()

    def git_setting(self, key: str) -> str | None:
        """Return a value of this repository's Git configuration, or None."""
        return self._parts.repository.config(key)

    def _editing(self) -> Editing:
        from gitmem.editing import Editing

        parts = self._parts
        return Editing(
            parts.branch,
            self.layout,
            HomeOwner(self.layout, parts.repository.config),
            config=self.config,
            get=lambda ref: parts.search.get(ref, max_chars=MOST_CHARS),
            allowed=lambda: parts.allowed,
        )
