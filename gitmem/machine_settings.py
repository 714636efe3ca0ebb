"""Settings of one machine, in `git config gitmem.*`, and a view of the home's own facts beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from gitmem.chosen_index import ENGINE_SETTING, ENGINES, check_engine
from gitmem.config import HomeConfig
from gitmem.errors import NotFound, UsageError
from gitmem.findings import ALLOW_SETTING
from gitmem.git_refs import is_ref_name
from gitmem.json_view import JsonView
from gitmem.layout import Layout
from gitmem.postings_cache import CACHE_SETTING, DEFAULT_BYTES, MOST_MIB, parse_mib
from gitmem.protected_paths import MAY_EDIT, PROTECTED, parse_paths
from gitmem.records import clean_text
from gitmem.remote_repository import MOST_PACK_MIB, PACK_SETTING, TransferLimits, parse_pack_mib
from gitmem.repository import Repository
from gitmem.scanner import change_allowed
from gitmem.sync_pace import AFTER_PUSH, EVERY_LEAST, EVERY_SETTING, parse_every
from gitmem.write_approval import WRITE_APPROVAL, is_true

_MACHINE: Final = "git config, this machine only"
_BRANCH: Final = "gitmem.branch"
_HOME: Final = "gitmem.toml, every clone"


@dataclass(frozen=True, slots=True)
class Setting(JsonView):
    """One setting.

    Attributes:
        where: which file holds it, and for whom.
    """

    id: str
    value: Any
    where: str


@dataclass(frozen=True, slots=True)
class SettingChange:
    """What a setting was and is; None where it stands nowhere, so that its default holds."""

    before: str | None
    after: str | None

    @property
    def was_other(self) -> bool:
        """Whether a value went by it."""
        return self.before is not None and self.before != self.after


@dataclass(frozen=True, slots=True)
class _Known:
    key: str
    default: str | None
    check: Callable[[str, str, str | None], str]


def _branch(key: str, value: str, _: str | None) -> str:
    name = value.removeprefix("refs/heads/")
    if name.startswith(("-", "gitmem/turns/")) or not is_ref_name(f"refs/heads/{name}"):
        raise UsageError(f"{key} is a branch of yours, not {value!r}", hint="`git branch` lists them.")
    return name


def _switch(key: str, value: str, _: str | None) -> str:
    words = {"true": "true", "yes": "true", "on": "true", "1": "true", "false": "false", "no": "false"}
    words |= {"off": "false", "0": "false"}
    if value.strip().lower() not in words:
        raise UsageError(f"{key} is true or false, not {value!r}")
    return words[value.strip().lower()]


def _approval(key: str, value: str, before: str | None) -> str:
    return "true" if is_true(value) else _switch(key, value, before)


def _paths(key: str, value: str, _: str | None) -> str:
    unknown = parse_paths(value) - set(PROTECTED)
    if unknown:
        listed = ", ".join(PROTECTED)
        raise UsageError(f"{key} lists protected files ({listed}), not {', '.join(sorted(unknown))}")
    return " ".join(sorted(parse_paths(value)))


def _allowed(key: str, value: str, before: str | None) -> str:  # noqa: ARG001
    return ", ".join(sorted(change_allowed(before, value)))


def _engine(key: str, value: str, _: str | None) -> str:  # noqa: ARG001
    return check_engine(value.strip().lower())


def _cache(key: str, value: str, _: str | None) -> str:
    mib = parse_mib(value)
    if mib is None:
        raise UsageError(f"{key} is a number of MiB, 0 to {MOST_MIB}, not {value!r}")
    return str(mib)


def _every(key: str, value: str, _: str | None) -> str:
    seconds = parse_every(value)
    if seconds is None:
        raise UsageError(
            f"{key} is a time of {EVERY_LEAST // 60} minute or more, as 10m, 2h or 1d, or off, not {value!r}"
        )
    return value.strip().lower()


def _pack(key: str, value: str, _: str | None) -> str:
    mib = parse_pack_mib(value)
    if mib is None:
        raise UsageError(f"{key} is a number of MiB, 1 to {MOST_PACK_MIB}, not {value!r}")
    return str(mib)


_KNOWN: Final = (
    _Known(_BRANCH, None, _branch),
    _Known("gitmem.sign", "false", _switch),
    _Known("gitmem.allowOtherOwner", "false", _switch),
    _Known(ALLOW_SETTING, None, _allowed),
    _Known(WRITE_APPROVAL, "false", _approval),
    _Known(MAY_EDIT, None, _paths),
    _Known(ENGINE_SETTING, ENGINES[0], _engine),
    _Known(CACHE_SETTING, str(DEFAULT_BYTES // 1024 // 1024), _cache),
    _Known(PACK_SETTING, str(TransferLimits().pack_bytes // 1024 // 1024), _pack),
    _Known(EVERY_SETTING, "off", _every),
    _Known(AFTER_PUSH, "true", _switch),
)


class MachineSettings:
    """Reads and changes settings.

    Args:
        repository: whose configuration file holds them.
        config: the home's own facts, shown too.
        layout: of the work tree, whose branch is one of the settings.
    """

    def __init__(self, repository: Repository, config: HomeConfig, layout: Layout) -> None:
        self._repository = repository
        self._layout = layout
        self._facts = _facts(config)

    def get(self, key: str) -> Any:
        """Return a setting's value, or its default.

        Raises:
            NotFound: there is no such setting.
        """
        if key in self._facts:
            return self._facts[key]
        known = _find(key)
        value = self._repository.config(self._key(known))
        return known.default if value is None else value

    def set(self, key: str, value: str) -> SettingChange:
        """Change a setting of this machine; an empty value takes it back to its default.

        Args:
            key: of the setting.
            value: its new one; of the scanner's allow list also `+ENTRY` and `-ENTRY`.

        Raises:
            UsageError: the value does not fit, or the setting belongs to the home.
        """
        if key in self._facts:
            raise UsageError(
                f"{key} is a fact of the home, in gitmem.toml", hint="Edit gitmem.toml and commit it."
            )
        if "\0" in value or clean_text(value) != value:
            raise UsageError(f"{key} is text without NUL, in UTF-8", key=key)
        known = _find(key)
        before = self._repository.config(self._key(known))
        after = known.check(known.key, value, before) if value else None
        self._repository.set_config(self._key(known), after or None)
        return SettingChange(before, after or None)

    def list(self) -> list[Setting]:
        """Return all settings."""
        machine = [Setting(known.key, self.get(known.key), _MACHINE) for known in _KNOWN]
        return machine + [Setting(key, value, _HOME) for key, value in self._facts.items()]

    def _key(self, known: _Known) -> str:
        """Return the key under which Git's configuration has a setting of this work tree."""
        return self._layout.branch_setting if known.key == _BRANCH else known.key


def _find(key: str) -> _Known:
    wanted = key.lower().removeprefix("gitmem.")
    for known in _KNOWN:
        if known.key.lower().removeprefix("gitmem.") == wanted:
            return known
    names = ", ".join(known.key for known in _KNOWN)
    raise NotFound(f"no setting {key!r}", hint=f"Settings of this machine: {names}.", key=key)


def _facts(config: HomeConfig) -> dict[str, Any]:
    facts: dict[str, Any] = {"format": config.format, "home": config.home_id, "agent": config.agent}
    for name, file in config.memory.items():
        switch = "user_profile" if name == "user" else name
        facts[f"memory.{switch}_enabled"] = file.enabled
        facts[f"memory.{name}_char_limit"] = file.char_limit
    facts["catalog.max_notes"] = config.catalog_notes
    facts["catalog.max_chars"] = config.catalog_chars
    facts["context.budget"] = config.context_budget
    return facts
