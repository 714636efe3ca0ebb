"""Where and how an agent works, as its caller says it: `--environment`, a JSON object.

Fields that are not known are left out, so that a caller's bookkeeping (an id of the run) changes no prompt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from gitmem.authored_text import one_line
from gitmem.errors import UsageError
from gitmem.records import clean_json, is_name, json_type

_TEXTS: Final = ("anchor", "cwd", "access_mode")
_LISTS: Final = ("instructions", "skills", "tools")
_KNOWN: Final = ("workspace_id", *_TEXTS, *_LISTS)
#: Things in a list at most, and characters of a line.
_MOST: Final = 1000
_LONGEST_LINE: Final = 4096
_EXAMPLE: Final = (
    '{"workspace_id": "ws1", "cwd": "/src/app", "instructions": [{"path": "AGENTS.md", "text": "…"}], '
    '"skills": [{"name": "deploy", "description": "…"}], "tools": [{"name": "shell"}]}'
)

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Instruction:
    """Instructions of the workspace.

    Attributes:
        path: where they come from; empty where the caller does not say.
    """

    text: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class NamedAbility:
    """A skill or a tool: its name and what it is for."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class ExecutionEnvironment:
    """Where and how an agent works.

    Attributes:
        workspace_id: what briefs, work items and episodes are scoped by; None where there is no workspace.
        anchor: the workspace's root.
        cwd: where commands run.
        access_mode: what the agent may do there, in the caller's words.
        instructions, skills, tools: in the caller's order.
        tool_specs: the tools as the caller gave them, for the cache key.
        ignored: names of fields that are not known.
    """

    workspace_id: str | None = None
    anchor: str | None = None
    cwd: str | None = None
    access_mode: str | None = None
    instructions: tuple[Instruction, ...] = ()
    skills: tuple[NamedAbility, ...] = ()
    tools: tuple[NamedAbility, ...] = ()
    tool_specs: tuple[Any, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def semantics(self) -> Mapping[str, Any]:
        """What of it a cached prompt depends on, as JSON data."""
        names = ("workspace_id", *_TEXTS)
        return {**{name: getattr(self, name) for name in names}, "tools": list(self.tool_specs)}


def parse_environment(raw: str | bytes) -> ExecutionEnvironment:
    """Read the text of an environment file.

    Raises:
        UsageError: it is no JSON object, or a field is not what it should be; `field` names it.
    """
    try:
        text = raw.decode("utf-8-sig") if isinstance(raw, bytes) else raw.removeprefix("\ufeff")
        data = json.loads(text)
    except UnicodeDecodeError as error:
        raise _wrong("", "it is not UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise _wrong("", f"it is not JSON: {error}") from error
    return read_environment(data)


def read_environment(data: object) -> ExecutionEnvironment:
    """Check an environment that is JSON data already.

    Raises:
        UsageError: a field is not what it should be.
    """
    if not isinstance(data, Mapping):
        raise _wrong("", f"it is a JSON object, not {json_type(data)}")
    data = dict(clean_json(data))
    workspace = data.get("workspace_id")
    if workspace is not None and not is_name(workspace):
        raise _wrong("workspace_id", "is 1 to 80 of A-Z a-z 0-9 _ . -")
    tools = _list(data, "tools")
    return ExecutionEnvironment(
        workspace,
        anchor=_line(data, "anchor"),
        cwd=_line(data, "cwd"),
        access_mode=_line(data, "access_mode"),
        instructions=_items(data, "instructions", _instruction),
        skills=_items(data, "skills", _ability),
        tools=_items(data, "tools", _ability),
        tool_specs=tuple(tools),
        ignored=tuple(sorted(str(name) for name in data if name not in _KNOWN)),
    )


def _line(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _wrong(name, f"is text, not {json_type(value)}")
    if len(value) > _LONGEST_LINE or one_line(value) != value:
        raise _wrong(name, f"is one line of at most {_LONGEST_LINE} characters, without controls")
    return value


def _list(data: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = data.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(name, f"is a list, not {json_type(value)}")
    if len(value) > _MOST:
        raise _wrong(name, f"has more than {_MOST} items")
    return value


def _items(data: Mapping[str, Any], name: str, read: Callable[[str, Any], _Item]) -> tuple[_Item, ...]:
    return tuple(read(f"{name}[{number}]", item) for number, item in enumerate(_list(data, name)))


def _instruction(field: str, item: Any) -> Instruction:
    if isinstance(item, str):
        return Instruction(item)
    if not isinstance(item, Mapping) or not isinstance(item.get("text"), str):
        raise _wrong(field, "is text, or an object with `text` and perhaps `path`")
    return Instruction(item["text"], _line(item, "path") or "")


def _ability(field: str, item: Any) -> NamedAbility:
    if isinstance(item, str):
        item = {"name": item}
    if not isinstance(item, Mapping) or not isinstance(item.get("name"), str) or not item["name"].strip():
        raise _wrong(field, "is a name, or an object with `name` and perhaps `description`")
    description = item.get("description")
    if description is not None and not isinstance(description, str):
        raise _wrong(f"{field}.description", f"is text, not {json_type(description)}")
    return NamedAbility(one_line(item["name"]), description or "")


def _wrong(field: str, why: str) -> UsageError:
    said = f"{field} {why}" if field else why
    return UsageError(f"the execution environment: {said}", hint=f"For example {_EXAMPLE}.", field=field)
