"""What one machine has of a home, as methods of it: Git hooks and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitmem.home_parts import HomeParts
from gitmem.init import prepare_git
from gitmem.layout import Layout

if TYPE_CHECKING:
    from gitmem.hook_files import HookReport
    from gitmem.machine_settings import Setting, SettingChange


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
