"""Records as the text that `get` shows: commands and outputs, objects, the conversation of a turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.documents import command_text
from gitmem.graphemes import cut_at
from gitmem.ledger_text import memory_sentence
from gitmem.records import Record

#: Where the items of a batch of tool calls stand in its input and in its output.
BATCH_INPUTS: Final = ("items", "calls", "commands")
BATCH_OUTPUTS: Final = ("items", "results", "outputs")


#: Characters of a title and of a text in the metadata, and items of a list there, that a reply has at most.
MOST_CHARS: Final = 500
MOST_ITEMS: Final = 500


@dataclass(frozen=True, slots=True)
class Whole:
    """What a ref names, whole.

    Attributes:
        record: that it was read from, if it is one record.
    """

    ref: str
    title: str
    text: str
    updated_at: str
    metadata: Mapping[str, Any]
    record: Record | None = None


def shortened(text: str, most: int = MOST_CHARS) -> str:
    """Return a text for a place where a line is expected; a longer one ends with an ellipsis."""
    return text if len(text) <= most else f"{text[: cut_at(text, most - 1)]}…"


def bounded(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata without what would make a reply as long as its text: only the beginnings of it."""
    return {name: value if name == "path" else _bounded(value) for name, value in metadata.items()}


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, list | tuple):
        return [_bounded(item) for item in value[:MOST_ITEMS]]
    return value


def batch_item(value: object, names: Sequence[str], number: int) -> Any:
    """Return one item of a batch: of a list, or of the list that stands under one of the usual names."""
    if isinstance(value, Mapping):
        value = next((value[name] for name in names if isinstance(value.get(name), list)), None)
    if isinstance(value, list) and 1 <= number <= len(value):
        return value[number - 1]
    return None


def output_text(output: object, selector: str) -> str:
    """Return a tool's output: all of it, or the stream that is asked for."""
    if isinstance(output, Mapping) and selector in output:
        return plain(output[selector])
    if selector == "stderr":
        return ""
    if isinstance(output, Mapping) and selector == "output":
        streams = [output[name] for name in ("stdout", "stderr") if isinstance(output.get(name), str)]
        if streams and set(output) <= {"stdout", "stderr", "exit_code"}:
            return "".join(streams)
    return plain(output)


def plain(value: object) -> str:
    """Return a JSON value as text: a text as it is, nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else as_json(value)


def as_json(value: object) -> str:
    """Return a JSON value as readable JSON."""
    return json.dumps(value, ensure_ascii=False, indent=1)


def object_text(fields: Mapping[str, Any]) -> str:
    """Return the fields of a task, wait or work item, one a line."""
    return "\n".join(
        f"{name}: {plain(value)}" for name, value in fields.items() if value not in (None, "", [], {})
    )


def spoken(record: Record, body: Mapping[str, Any]) -> str:
    """Return one record of a turn as a person reads it; nothing for gitmem's own records.

    Args:
        record: of the turn.
        body: its whole body, long texts included.
    """
    if record.redacted:
        return f"[{record.kind} {record.id} was forgotten]"
    if record.kind in ("turn", "assembly"):
        return ""
    if record.kind == "tool_execution":
        call = f"$ {body.get('tool')}: {command_text(body.get('input'))}"
        return "\n".join(filter(None, [call, output_text(body.get("output"), "output").rstrip("\n")]))
    who = body.get("author") or body.get("role") or body.get("brief_kind") or record.kind
    texts = (body.get(name) for name in ("text", "title", "path", "summary", "objective", "waiting_for"))
    text = next((text for text in texts if isinstance(text, str)), None)
    if text is None and record.kind == "memory":
        return memory_sentence(body)
    return f"{who}: {as_json(body) if text is None else text}"
