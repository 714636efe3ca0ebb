"""`gitmem.toml`: what a home is, its limits and switches; its format version is judged before all else."""

from __future__ import annotations

import json
import re
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitmem.errors import UnsupportedFormat

#: The format that this program writes, and the oldest that it reads.
FORMAT: Final = 1
OLDEST_FORMAT: Final = 1

DEFAULT_AGENT: Final = "agent"

#: A memory file's switch, its limit's key, and its limit in characters.
_MEMORY_KEYS: Final[Mapping[str, tuple[str, str, int]]] = {
    "operator": ("operator_enabled", "operator_char_limit", 1500),
    "self": ("self_enabled", "self_char_limit", 1500),
    "memory": ("memory_enabled", "memory_char_limit", 2200),
    "user": ("user_profile_enabled", "user_char_limit", 1375),
}
_OTHER_KEYS: Final[Mapping[tuple[str, str], int]] = {
    ("catalog", "max_notes"): 20,
    ("catalog", "max_chars"): 2000,
    ("context", "budget"): 4096,
}
_LARGEST: Final = 10_000_000
_HOME_ID: Final = re.compile(r"h[0-9a-f]{15}")
_FORMAT_LINE: Final = re.compile(r"^[ \t]*format[ \t]*=[ \t]*([^#\r\n]*)", re.MULTILINE)
_TABLE_LINE: Final = re.compile(r"^[ \t]*\[", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One memory file's switch and its limit in characters (of the store, or of the injected slice)."""

    enabled: bool
    char_limit: int


def _default_memory() -> Mapping[str, MemoryFile]:
    return {name: MemoryFile(enabled=True, char_limit=limit) for name, (_, _, limit) in _MEMORY_KEYS.items()}


@dataclass(frozen=True, slots=True)
class HomeConfig:
    """The portable facts of a home.

    Attributes:
        home_id: `h` and 15 hex digits, minted at `init`.
        memory: switch and limit of `operator`, `self`, `memory` and `user`.
        catalog_notes, catalog_chars: how much of the notes a catalog shows.
        context_budget: tokens of an assembled context.
        problems: values that were passed over for their defaults, a sentence each.
        unknown: keys that this version does not know, as they stand.
    """

    home_id: str
    agent: str = DEFAULT_AGENT
    format: int = FORMAT
    memory: Mapping[str, MemoryFile] = field(default_factory=_default_memory)
    catalog_notes: int = _OTHER_KEYS["catalog", "max_notes"]
    catalog_chars: int = _OTHER_KEYS["catalog", "max_chars"]
    context_budget: int = _OTHER_KEYS["context", "budget"]
    problems: tuple[str, ...] = ()
    unknown: Mapping[str, Any] = field(default_factory=dict)


def mint_home_id() -> str:
    """Return a new random home id."""
    return "h" + secrets.token_hex(8)[:15]


def parse_config(raw: bytes) -> HomeConfig:
    """Read the bytes of a `gitmem.toml`; a bad limit or switch costs only itself.

    Raises:
        UnsupportedFormat: with `reason` `unreadable`, `too_old` or `too_new`.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable("it is not UTF-8 text") from error
    check_format(text)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _unreadable(str(error) or "it is nested too deeply") from error
    return _from_data(data)


def check_format(text: str) -> int:
    """Return the format version that a `gitmem.toml` states, looking at nothing else in it.

    Raises:
        UnsupportedFormat: no version is stated, or this program does not read it.
    """
    table = _TABLE_LINE.search(text)
    line = _FORMAT_LINE.search(text, 0, table.start() if table else len(text))
    if line is None:
        raise _unreadable("it does not say `format = …` before its first table")
    value = line[1].strip()
    if not re.fullmatch(r"-?[0-9]{1,9}", value):
        raise _unreadable(f"its format is no number: {value[:40]!r}")
    version = int(value)
    if version > FORMAT:
        raise UnsupportedFormat(
            f"this home has format {version}, newer than this gitmem, which reads up to {FORMAT}",
            hint="Upgrade gitmem: `pip install --upgrade gitmem-home`.",
            reason="too_new",
            format=version,
        )
    if version < OLDEST_FORMAT:
        raise UnsupportedFormat(
            f"this home has format {version}, older than {OLDEST_FORMAT}, the oldest that gitmem reads",
            hint="See `git log -p -- gitmem.toml` for the format it had.",
            reason="too_old",
            format=version,
        )
    return version


def toml_string(text: str) -> str:
    """Return `text` quoted as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _unreadable(why: str) -> UnsupportedFormat:
    return UnsupportedFormat(
        f"gitmem.toml cannot be read: {why}",
        hint="Mend it, or take it back: `git checkout HEAD -- gitmem.toml`.",
        reason="unreadable",
    )


def _from_data(data: Mapping[str, Any]) -> HomeConfig:
    home_id = data.get("home")
    if not isinstance(home_id, str) or not _HOME_ID.fullmatch(home_id):
        raise _unreadable("`home` is not an id of h and 15 hex digits")
    reader = _Reader(data)
    agent = reader.agent()
    memory = {
        name: MemoryFile(reader.switch("memory", switch), reader.number("memory", limit, default))
        for name, (switch, limit, default) in _MEMORY_KEYS.items()
    }
    others = {key: reader.number(*key, default) for key, default in _OTHER_KEYS.items()}
    return HomeConfig(
        home_id=home_id,
        agent=agent,
        memory=memory,
        catalog_notes=others["catalog", "max_notes"],
        catalog_chars=others["catalog", "max_chars"],
        context_budget=others["context", "budget"],
        problems=tuple(reader.problems),
        unknown=reader.unknown(),
    )


class _Reader:
    """Takes values out of parsed TOML, noting what is wrong and what was taken."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._taken: set[tuple[str, str]] = set()
        self.problems: list[str] = []

    def agent(self) -> str:
        """Return the agent's name."""
        value = self._data.get("agent", DEFAULT_AGENT)
        if isinstance(value, str) and value.strip():
            return value
        self.problems.append(f"agent is not a name: {value!r}")
        return DEFAULT_AGENT

    def switch(self, table: str, key: str) -> bool:
        """Return a switch; on unless it is set to false."""
        value = self._take(table, key, default=True)
        if isinstance(value, bool):
            return value
        self._wrong(table, key, value, "true or false")
        return True

    def number(self, table: str, key: str, default: int) -> int:
        """Return a count of characters, notes or tokens."""
        value = self._take(table, key, default=default)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LARGEST:
            return value
        self._wrong(table, key, value, f"a whole number from 1 to {_LARGEST}")
        return default

    def unknown(self) -> Mapping[str, Any]:
        """Return what nobody took."""
        rest: dict[str, Any] = {}
        tables = {table for table, _ in self._taken}
        for name, value in self._data.items():
            if name in {"format", "home", "agent"}:
                continue
            if name in tables and isinstance(value, Mapping):
                value = {key: item for key, item in value.items() if (name, key) not in self._taken}  # noqa: PLW2901
                if not value:
                    continue
            rest[name] = value
        return rest

    def _take(self, table: str, key: str, *, default: object) -> object:
        self._taken.add((table, key))
        values = self._data.get(table, {})
        return values.get(key, default) if isinstance(values, Mapping) else default

    def _wrong(self, table: str, key: str, value: object, wanted: str) -> None:
        self.problems.append(f"{table}.{key} is {wanted}, not {value!r}"[:200])
