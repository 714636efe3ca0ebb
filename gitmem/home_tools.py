"""Memory as tools for a model: descriptions in the shapes that servers take, and calls that always answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from gitmem.errors import GitmemError, UsageError
from gitmem.guidance import tool_descriptions
from gitmem.json_view import to_json

if TYPE_CHECKING:
    from gitmem.config import HomeConfig
    from gitmem.guidance import ToolDescription

Arguments = Mapping[str, Any]

#: Arguments of a call that say what led to it, whatever the tool.
_CAUSE: Final = ("session", "turn", "source", "reason")

#: Arguments that a tool takes besides those that its description names.
_ALSO: Final[Mapping[str, Sequence[str]]] = {"memory": ("new_text",), "session_search": ("profile",)}
#: Tools that see for themselves to the types of their arguments: a query may look like a number.
_LENIENT: Final = frozenset({"memory", "memory_search", "session_search", "memory_work"})
#: What the tool of work items hands on, by its action.
_WORK: Final[Mapping[str, Sequence[str]]] = {
    "create": ("work_item_id", "plan", "plan_status", "todo", "delivery_target", "blocked_by",
               "recheck_after_ms"),
    "update": ("objective", "plan", "plan_status", "todo", "delivery_target", "blocked_by",
               "recheck_after_ms", "clear_blocker", "expected_revision"),
    "pick": ("clear_blocker",),
    "wait": ("wake", "resource", "recheck_after_ms"),
    "complete": ("report",),
    "drop": (),
}  # fmt: skip


#: What these need beside.
_NEEDED_WORK: Final[Mapping[str, Sequence[str]]] = {"create": ("objective",), "wait": ("waiting_for",)}


class ToolHome(Protocol):
    """What the tools call of a home; the arguments are those of `AgentHome`."""

    config: HomeConfig

    @property
    def memory(self) -> Callable[..., Any]:
        """Answers a call of the memory tool."""

    @property
    def search(self) -> Callable[..., Any]:
        """Searches."""

    @property
    def get(self) -> Callable[..., Any]:
        """Returns what a source ref names."""

    @property
    def session_search(self) -> Callable[..., Any]:
        """Searches conversations, and reads in them."""

    @property
    def note_show(self) -> Callable[..., Any]:
        """Returns a note."""

    @property
    def note_add(self) -> Callable[..., Any]:
        """Adds a note."""

    @property
    def note_edit(self) -> Callable[..., Any]:
        """Changes a note."""

    @property
    def note_append(self) -> Callable[..., Any]:
        """Adds text at a note's end."""

    @property
    def note_move(self) -> Callable[..., Any]:
        """Gives a note another path."""

    @property
    def work_create(self) -> Callable[..., Any]:
        """Creates a work item."""

    @property
    def work_update(self) -> Callable[..., Any]:
        """Changes a work item."""

    @property
    def work_pick(self) -> Callable[..., Any]:
        """Puts a work item into focus."""

    @property
    def work_wait(self) -> Callable[..., Any]:
        """Registers a wait."""

    @property
    def work_complete(self) -> Callable[..., Any]:
        """Completes a work item."""

    @property
    def work_drop(self) -> Callable[..., Any]:
        """Drops a work item."""

    @property
    def work_list(self) -> Callable[..., Any]:
        """Lists work items."""

    @property
    def work_show(self) -> Callable[..., Any]:
        """Shows a work item."""

    @property
    def context(self) -> Callable[..., Any]:
        """Assembles a context."""

    @property
    def note_remove(self) -> Callable[..., Any]:
        """Removes a note."""


class HomeTools:
    """The part of `AgentHome` that offers memory as tools."""

    def tools(self: ToolHome, names: Iterable[str] | None = None, **cause: Any) -> Tools:
        """Return tools for a model.

        Args:
            names: which of `memory`, `memory_search`, `memory_get`, `memory_note`, `session_search`,
                `memory_work` and `memory_context`; None is all.
            cause: `session`, `turn`, `by` and `origin` of whatever the model changes.
        """
        return Tools(self, names, cause)


class Tools:
    """Some tools of a home.

    Args:
        home: whose memory they work on.
        names: which tools; None is all of them.
        cause: `session`, `turn` and `origin` of all calls.

    Raises:
        UsageError: there is no such tool.
    """

    def __init__(self, home: ToolHome, names: Iterable[str] | None, cause: Arguments) -> None:
        self._home = home
        self._cause = dict(cause)
        known = tool_descriptions(home.config)
        chosen = list(known if names is None else names)
        for name in chosen:
            if name not in known:
                raise UsageError(f"no tool {name!r}", hint=f"Tools: {', '.join(known)}.", tool=name)
        self._tools: dict[str, ToolDescription] = {name: known[name] for name in chosen}
        self._calls: Mapping[str, Callable[[dict[str, Any]], Any]] = {
            "memory": self._memory,
            "memory_search": self._search,
            "memory_get": self._get,
            "memory_note": self._note,
            "session_search": self._sessions,
            "memory_work": self._work,
            "memory_context": self._context,
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools."""
        return tuple(self._tools)

    def schemas(self, shape: str = "openai") -> list[dict[str, Any]]:
        """Return the tools' descriptions.

        Args:
            shape: `openai` (chat completions), `anthropic` (messages) or `mcp`.

        Raises:
            UsageError: there is no such shape.
        """
        make = _SHAPES.get(shape)
        if make is None:
            raise UsageError(f"no shape {shape!r}", hint=f"Shapes: {', '.join(_SHAPES)}.", shape=shape)
        return [make(tool) for tool in self._tools.values()]

    def call(self, name: str, arguments: Arguments | str | None = None) -> dict[str, Any]:
        """Answer a model's call; what is wrong with it is an answer too, with `error`.

        Args:
            name: of the tool.
            arguments: an object, or its JSON as some servers send it.
        """
        try:
            if name not in self._tools:
                raise UsageError(f"no tool {str(name)[:80]!r}", hint=f"Tools: {', '.join(self._tools)}.")
            given = _parse(arguments)
            _refuse_unknown(self._tools[name], given)
            if name not in _LENIENT:
                _check(self._tools[name], given)
            reply: dict[str, Any] = to_json(self._calls[name](given))
        except (GitmemError, TypeError, ValueError, OSError) as error:
            return _error(error)
        return reply

    def _memory(self, given: dict[str, Any]) -> Any:
        known = ("action", "target", "content", "old_text", "operations")
        if given.get("content") is None:
            given["content"] = given.get("new_text")
        return self._home.memory(**{key: given.get(key) for key in known}, **self._with_cause(given))

    def _search(self, given: dict[str, Any]) -> Any:
        names = ("limit", "kind", "session", "work_item", "since", "until")
        chosen = {name: given[name] for name in names if given.get(name) is not None}
        return self._home.search(given.get("query"), by="agent", **chosen)

    def _get(self, given: dict[str, Any]) -> Any:
        options = {key: given[key] for key in ("offset", "max_chars") if given.get(key) is not None}
        return {"memory": self._home.get(_needed(given, "source_ref"), by="agent", **options)}

    def _sessions(self, given: dict[str, Any]) -> Any:
        current = self._with_cause(given).get("session")
        asked = {key: value for key, value in given.items() if key not in _CAUSE}
        return self._home.session_search(**asked, current_session=current, by="agent")

    def _note(self, given: dict[str, Any]) -> Any:
        action, cause = given.get("action"), self._with_cause(given)
        note, content = given.get("note"), given.get("content")
        named = {key: given.get(key) for key in ("title", "tags") if given.get(key) is not None}
        if action == "add":
            return self._home.note_add(note, content=content or "", **named, **cause)
        if action == "edit":
            return self._home.note_edit(_needed(given, "note"), content=content, **named, **cause)
        if action == "append":
            return self._home.note_append(_needed(given, "note"), _needed(given, "content"), **cause)
        if action == "move":
            return self._home.note_move(_needed(given, "note"), _needed(given, "target"), **cause)
        if action == "remove":
            return self._home.note_remove(_needed(given, "note"), **cause)
        if action == "show":
            found = self._home.note_show(_needed(given, "note"), by="agent")
            return {"note": {"id": found.id, "path": found.path, "title": found.title, "content": found.text}}
        raise UsageError("action is one of add, edit, append, move, remove, show", field="action")

    def _work(self, given: dict[str, Any]) -> Any:
        action, cause = str(given.get("action")), self._with_cause(given)
        if action == "list":
            options = {"limit": given["limit"]} if given.get("limit") is not None else {}
            return self._home.work_list(given.get("filter") or "all", session=cause.get("session"), **options)
        if action == "show":
            return self._home.work_show(_needed(given, "work_item_id"))
        if action not in _WORK:
            raise UsageError(f"action is one of {', '.join((*_WORK, 'list', 'show'))}", field="action")
        chosen = {name: given[name] for name in _WORK[action] if given.get(name) is not None}
        _refuse_of_others(action, given)
        if action == "create":
            return self._home.work_create(_needed(given, "objective"), **chosen, **cause)
        if action == "wait":
            item = given.get("work_item_id")
            return self._home.work_wait(_needed(given, "waiting_for"), work_item=item, **chosen, **cause)
        changes = {
            "update": self._home.work_update,
            "pick": self._home.work_pick,
            "complete": self._home.work_complete,
            "drop": self._home.work_drop,
        }
        return changes[action](_needed(given, "work_item_id"), **chosen, **cause)

    def _context(self, given: dict[str, Any]) -> Any:
        budget = given.get("budget")
        wanted = None if budget is None else _number(budget, "budget")
        made = self._home.context(given.get("input"), wanted, session=self._with_cause(given).get("session"))
        names = ("text", "budget", "used", "cache_key", "fingerprint", "commit", "head", "warnings")
        return {name: getattr(made, name) for name in names}

    def _with_cause(self, given: dict[str, Any]) -> dict[str, Any]:
        own = {key: given[key] for key in _CAUSE if given.get(key) is not None}
        return {**own, **self._cause}


def _parse(arguments: Arguments | str | None) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            raise UsageError("the arguments are not JSON") from error
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise UsageError("the arguments are an object")
    return {str(name): value for name, value in arguments.items()}


def _refuse_of_others(action: str, given: Arguments) -> None:
    """Refuse arguments of `memory_work` that belong to another action: their words would be lost."""
    own = {*_WORK[action], "work_item_id", *_NEEDED_WORK.get(action, ())}
    known = {name for names in (*_WORK.values(), *_NEEDED_WORK.values()) for name in names}
    for name in given:
        if name in known - own and given[name] not in (None, "", [], False):
            hint = f"Arguments of {action}: {', '.join(sorted(own))}."
            raise UsageError(f"{action} takes no {name}", hint=hint, field=name)


def _refuse_unknown(tool: ToolDescription, given: Arguments) -> None:
    """Refuse arguments that the tool would pass over: their words would be lost without a word."""
    known = (*tool.parameters["properties"], *_CAUSE, *_ALSO.get(tool.name, ()))
    unknown = [name for name in given if name not in known]
    if unknown:
        listed = ", ".join(tool.parameters["properties"])
        raise UsageError(
            f"{tool.name} has no argument {unknown[0][:80]!r}", hint=f"Arguments: {listed}.", field=unknown[0]
        )


def _check(tool: ToolDescription, given: Arguments) -> None:
    """Refuse arguments of another type than the tool's description says."""
    for name, schema in tool.parameters["properties"].items():
        value = given.get(name)
        if value is None or schema["type"] == "integer":  # numbers come as text, too, and are read as such
            continue
        values = value if schema["type"] == "array" and isinstance(value, list) else [value]
        if not all(isinstance(one, str) for one in values):
            wanted = "a list of texts" if schema["type"] == "array" else "text"
            raise UsageError(f"{name} is {wanted}", field=name)


def _number(value: object, name: str) -> int:
    """Return a number that may come as text."""
    try:
        if isinstance(value, str | int) and not isinstance(value, bool):
            return int(value)
    except ValueError:
        pass
    raise UsageError(f"{name} is a number", field=name)


def _needed(given: Arguments, name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise UsageError(f"{name} is missing", field=name)
    return value


def _error(error: Exception) -> dict[str, Any]:
    if isinstance(error, GitmemError):
        message, hint, code = error.message, error.hint, error.code
    else:
        message, hint, code = f"the call does not fit: {error}", None, "invalid_input"
    return {"success": False, "error": message, "code": code, **({"hint": hint} if hint else {})}


def _openai(tool: ToolDescription) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _anthropic(tool: ToolDescription) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}


def _mcp(tool: ToolDescription) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.parameters)}


_SHAPES: Final = {"openai": _openai, "anthropic": _anthropic, "mcp": _mcp}
