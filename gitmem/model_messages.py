"""A turn's messages as models have them, as events: those of OpenAI, of Anthropic, and plain ones.

A call of a tool and its result among the messages become one `tool_execution`, whose command is searched and
which is evidence. A call without a result proves nothing and stays a field of its message; a result without
its call is a message of role `tool`. Of pictures and other parts that are no text the type is told, never the
data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gitmem.errors import InvalidRecord
from gitmem.records import LINKS, Json, clean_json, json_type

#: Roles that models have under another name.
_ROLES: Final[Mapping[str, str]] = {"developer": "system", "function": "tool"}
_STATUSES: Final = frozenset({"success", "error", "interrupted"})
#: Types of what stands beside messages in OpenAI's responses.
_CALLS: Final = ("function_call", "custom_tool_call")
_RESULTS: Final = ("function_call_output", "custom_tool_call_output")
_REASONING: Final = "reasoning"
#: Types of parts that hold what a model thought, not what it said.
_THOUGHTS: Final = frozenset({"thinking", "reasoning", "reasoning_text"})
#: Fields of a message that its events have elsewhere, or that are data.
_TAKEN: Final = frozenset({"content", "text", "tool_calls", "function_call", "refusal", "audio"})
_TAKEN_OF_THOUGHTS: Final = frozenset({"type", "summary", "encrypted_content"})
_TAKEN_OF_RESULTS: Final = frozenset({"kind", "type", "role", "tool_call_id", "name", "tool_name", "status"})
#: Fields that say nothing of what happened.
_OUTER: Final = frozenset({"kind", "role", "id", "ts", *LINKS})
#: How parts that are no text are named, the best first.
_NAMES: Final = ("filename", "title", "name", "url", "image_url", "file_url")


@dataclass(slots=True)
class _Message:
    """A message as an event.

    Attributes:
        number: of the message that it comes from.
        says_nothing: whether it was there only for its calls and results.
    """

    number: int
    event: dict[str, Any]
    says_nothing: bool = False


@dataclass(slots=True)
class _Call:
    """A call of a tool.

    Attributes:
        raw: as it was given.
        fields: when it was, and what it belongs to.
        result: None where there is none.
    """

    number: int
    id: object
    tool: str
    input: Any
    raw: Json
    fields: Json
    result: _Result | None = None


@dataclass(slots=True)
class _Result:
    """What a tool answered.

    Attributes:
        fields: of the message that it came in.
        is_told: whether it became a part of an execution.
    """

    number: int
    id: object
    tool: object
    output: Any
    status: str | None
    fields: Json
    is_told: bool = False


_Told = _Message | _Call | _Result


@dataclass(slots=True)
class _Parts:
    """A message's content taken apart."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    results: list[_Result] = field(default_factory=list)


def read_messages(messages: Sequence[Mapping[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Return the events that a turn's messages are, each with the number of the message it comes from.

    Args:
        messages: in any of the forms; what has a `kind` that is no message is an event already.

    Raises:
        InvalidRecord: one of them is no object.
    """
    told: list[_Told] = []
    for number, given in enumerate(messages):
        if not isinstance(given, Mapping):
            raise InvalidRecord(f"a message is a JSON object, not {json_type(given)}", event=number)
        told += _read(number, given)
    _pair(told)
    _keep_open_calls(told)
    return [(one.number, event) for one in told if (event := _event(one)) is not None]


def _read(number: int, given: Mapping[str, Any]) -> Iterator[_Told]:
    """Yield what a message tells, in order: results, words, calls."""
    item = None if "role" in given else given.get("type")
    if given.get("kind", "message") != "message":
        yield _Message(number, dict(given))
    elif item in _CALLS:
        yield _call(number, given, given)
    elif item in _RESULTS:
        yield _result(number, given, given.get("call_id"), given.get("output"))
    elif ("tool_call_id" in given and given.get("role") == "tool") or given.get("role") == "function":
        yield _result(number, given, given.get("tool_call_id"), given.get("content", given.get("text")))
    else:
        parts = _take_apart(number, given)
        yield from parts.results
        yield _message(number, given, parts)
        yield from parts.calls


def _message(number: int, given: Mapping[str, Any], parts: _Parts) -> _Message:
    taken = _TAKEN | (_TAKEN_OF_THOUGHTS if given.get("type") == _REASONING else frozenset())
    event = {name: value for name, value in given.items() if name not in taken and value is not None}
    if event.get("type") == "message":
        del event["type"]
    role = given.get("role", "assistant" if given.get("type") == _REASONING else None)
    event |= {"kind": "message", "role": _ROLES.get(role, role) if isinstance(role, str) else role}
    if parts.thoughts:
        event[_REASONING] = "\n".join(parts.thoughts)
    said = "\n".join(parts.texts)
    if given.get("text") is not None:
        event |= {"text": given["text"], **({"content": said} if said else {})}
    elif said or parts.calls or parts.thoughts or "content" in given:
        event["text"] = said
    is_empty = not any(value for name, value in event.items() if name not in _OUTER)
    return _Message(number, event, is_empty and bool(parts.calls or parts.results))


# Parts


def _take_apart(number: int, given: Mapping[str, Any]) -> _Parts:
    parts = _Parts()
    for part in _listed(given.get("content")):
        _take_part(number, given, part, parts)
    audio = given.get("audio")
    for said in (given.get("refusal"), audio.get("transcript") if isinstance(audio, Mapping) else None):
        parts.texts += [said] if isinstance(said, str) and said else []
    if given.get("type") == _REASONING:
        parts.thoughts += _texts_of(given.get("summary"))
    calls = [*_listed(given.get("tool_calls")), *_listed(given.get("function_call"))]
    parts.calls += [_call(number, given, call) for call in calls if isinstance(call, Mapping)]
    return parts


def _take_part(number: int, given: Mapping[str, Any], part: Any, parts: _Parts) -> None:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(kind, str):
        parts.texts.append(_text_of(part))
    elif kind in _THOUGHTS:
        parts.thoughts += _texts_of(part.get("thinking") or part.get("text") or part.get("summary"))
    elif kind.endswith("tool_use"):
        parts.calls.append(_call(number, given, part))
    elif kind.endswith("tool_result"):
        status = "error" if part.get("is_error") else "success" if "is_error" in part else None
        own = {**_placed(given), "status": status}
        parts.results.append(_result(number, own, part.get("tool_use_id"), part.get("content")))
    else:
        parts.texts.append(_text_of(part))


def _placed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return when a message was, and what it belongs to."""
    return {name: given[name] for name in ("ts", *LINKS) if given.get(name) is not None}


def _listed(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)


def _texts_of(value: Any) -> list[str]:
    return [text for part in _listed(value) if (text := _text_of(part))]


def _text_of(part: Any) -> str:
    """Return a part's text; of one that is none its type, and its name or address if it has one."""
    if isinstance(part, str):
        return part
    kind = part.get("type") if isinstance(part, Mapping) else None
    text = part.get("text", part.get("refusal")) if isinstance(part, Mapping) else None
    if isinstance(text, str):
        return text
    if not isinstance(kind, str):  # some value, and not what models have
        return json.dumps(clean_json(part), ensure_ascii=False)
    named = _name_of(part, kind)
    return "\n".join([f"[{kind}: {named}]" if named else f"[{kind}]", *_texts_of(part.get("content"))])


def _name_of(part: Mapping[str, Any], kind: str) -> str | None:
    """Return what a part is called, or where it lies; never what was put in place of an address."""
    places = [part, *(part[key] for key in (kind, "source", "file") if isinstance(part.get(key), Mapping))]
    found = [place.get(name) for name in _NAMES for place in places]
    return next((text for text in found if isinstance(text, str) and text and text[:5] != "data:"), None)


# Tools


def _call(number: int, given: Mapping[str, Any], raw: Mapping[str, Any]) -> _Call:
    inner = next((raw[key] for key in ("function", "custom") if isinstance(raw.get(key), Mapping)), raw)
    tool = inner.get("name")
    name = tool if isinstance(tool, str) and tool else "unknown"
    put = _arguments(inner.get("arguments", inner.get("input")))
    return _Call(number, raw.get("call_id", raw.get("id")), name, put, raw, _placed(given))


def _arguments(given: Any) -> Any:
    """Return a call's arguments as the object that their JSON is; as they are where it is none."""
    if not isinstance(given, str):
        return given
    try:
        read = json.loads(given)
        return clean_json(read) if isinstance(read, dict) else given
    except (ValueError, RecursionError, InvalidRecord):
        return given


def _result(number: int, given: Mapping[str, Any], call: object, content: Any) -> _Result:
    """Return the result of a call.

    Args:
        number: of the message.
        given: the message, of which its other fields are kept.
        call: the id of the call.
        content: text, parts, or any JSON.
    """
    output = content
    if content is None or isinstance(content, list | tuple):
        output = "\n".join(_texts_of(content))
    status = given.get("status")
    known = status if isinstance(status, str) and status in _STATUSES else None
    taken = _TAKEN | _TAKEN_OF_RESULTS | {"output", "call_id"}
    fields = {name: value for name, value in given.items() if name not in taken and value is not None}
    return _Result(number, call, given.get("tool_name") or given.get("name"), output, known, fields)


def _pair(told: Sequence[_Told]) -> None:
    """Give each result to the call before it that it answers."""
    waiting: list[_Call] = []
    for one in told:
        if isinstance(one, _Call):
            waiting.append(one)
        elif isinstance(one, _Result):
            call = next((call for call in waiting if _answers(one, call)), None)
            if call is not None:
                waiting.remove(call)
                call.result, one.is_told = one, True


def _answers(result: _Result, call: _Call) -> bool:
    # OpenAI's first calls had no ids: there was one at a time.
    return result.id == call.id and (result.id is not None or result.tool == call.tool)


def _keep_open_calls(told: list[_Told]) -> None:
    """Let calls without a result stay fields of their messages."""
    messages = {one.number: one for one in told if isinstance(one, _Message)}
    for call in [one for one in told if isinstance(one, _Call) and one.result is None]:
        message = messages.get(call.number)
        if message is None:  # it stood beside the messages
            event = {**call.fields, "kind": "message", "role": "assistant", "text": ""}
            message = messages[call.number] = _Message(call.number, event)
            told[told.index(call)] = message
        message.event["tool_calls"] = [*message.event.get("tool_calls", ()), call.raw]
        message.says_nothing = False


def _event(one: _Told) -> dict[str, Any] | None:
    if isinstance(one, _Message):
        return None if one.says_nothing else one.event
    if isinstance(one, _Call):
        return None if one.result is None else _execution(one, one.result)
    return None if one.is_told else _answer(one)


def _execution(call: _Call, result: _Result) -> dict[str, Any]:
    known = {"tool_call_id": call.id, "input": call.input, "output": result.output, "status": result.status}
    given = {name: value for name, value in known.items() if value is not None}
    return {**call.fields, **result.fields, "kind": "tool_execution", "tool": call.tool, **given}


def _answer(result: _Result) -> dict[str, Any]:
    """Return a result without its call as a message."""
    output = result.output
    text = output if isinstance(output, str) else json.dumps(clean_json(output), ensure_ascii=False)
    known = {"tool_call_id": result.id, "tool_name": result.tool, "status": result.status}
    given = {name: value for name, value in known.items() if value is not None}
    return {**result.fields, "kind": "message", "role": "tool", "text": text, **given}
