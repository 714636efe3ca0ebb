"""What one machine has of a home, as methods of it: Git hooks, settings, and how it is stored."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from gitmem.errors import UsageError
from gitmem.home_parts import HomeParts
from gitmem.init import prepare_git
from gitmem.layout import Layout

if TYPE_CHECKING:
    from gitmem.hook_files import HookReport
    from gitmem.machine_settings import Setting, SettingChange
    from gitmem.maintenance import MaintainReport
    from gitmem.maintenance_need import Need

#: Seconds of rest between two small steps of maintenance, so that turns and searches have disk and processor.
_REST: Final = 0.005


class HomeMachine:
    """The part of `AgentHome` that has to do with this machine alone."""

    layout: Layout
    _parts: HomeParts

    def hooks_list(self) -> HookReport:
        """Return which of gitmem's Git hooks are installed here."""
        return self._parts.hooks.states()

    def hooks_install(self) -> HookReport:
        """Put gitmem's Git hooks there, beside those that are there; a second time changes nothing."""
        self._parts.check_owner()
        prepare_git(self.layout, self._parts.repository)
        return self._parts.hooks.install()

    def hooks_uninstall(self) -> HookReport:
        """Take gitmem's Git hooks out, and put everything back as it was."""
        self._parts.check_owner()
        return self._parts.hooks.uninstall()

    def config_get(self, key: str) -> Any:
        """Return a setting."""
        return self._parts.settings.get(key)

    def config_set(self, key: str, value: str) -> SettingChange:
        """Change a setting of this machine; return what it was and is."""
        return self._parts.settings.set(key, value)

    def config_list(self) -> list[Setting]:
        """Return all settings."""
        return self._parts.settings.list()

    def maintain(
        self,
        *,
        dry_run: bool = False,
        seconds: float | None = None,
        progress: Callable[[str], object] = lambda _: None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> MaintainReport:
        """Merge packs of turns, pack loose objects and loose tags; nothing that Git could miss is removed.

        It may be killed at any moment and goes on when it is called again. Turns do not wait for it.

        Args:
            dry_run: only say what would be done.
            seconds: after this time no further step is begun.
            progress: told what is being done.
            stopping: asked between small steps; once it says true, nothing further is begun.

        Raises:
            HomeLocked: another process maintains this home.
            HomeError: its repository is a partial clone.
            OSError: the disk is full, for example; what was done by then stays.
        """
        from gitmem.maintenance import SECONDS, MaintainOptions, Maintenance

        if seconds is not None and not seconds > 0:
            raise UsageError("seconds is more than 0", field="seconds")
        parts = self._parts
        if not dry_run:
            parts.check_owner()
        maintenance = Maintenance(parts.repository, parts.layout, now=parts.now)
        return maintenance.run(
            MaintainOptions(
                seconds=SECONDS if seconds is None else seconds,
                dry_run=dry_run,
                pause=lambda: time.sleep(_REST),
                progress=progress,
                stopping=stopping,
            )
        )

    def maintenance_need(self) -> Need:
        """Return how much there is to be maintained, and whether it is worth the time."""
        from gitmem.maintenance_need import measure_need

        return measure_need(self._parts.layout)
