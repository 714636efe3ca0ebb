"""Long texts of a record: moved from its body to one blob file, and put back exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, TypeGuard

from gitmem.errors import LedgerCorrupt
from gitmem.records import Json, clean_text

#: A text of more bytes (UTF-8) moves to the blob file.
LIMIT: Final = 16 * 1024
#: Characters of its head and tail that stay in the record.
HEAD: Final = 2000
TAIL: Final = 1000

#: The field of a body that says what was moved. A caller's own field of this name stands inside it as `own`.
FIELD: Final = "blob"


def split_long(body: Json) -> tuple[dict[str, Any], bytes | None]:
    """Move the long fields of a body out of it.

    Args:
        body: strict JSON data.

    Returns:
        The body that goes into the line, and the content of the record's blob file, None where it needs none.
    """
    short = dict(body)
    fields: dict[str, Mapping[str, Any]] = {}
    parts: list[bytes] = []
    offset = 0
    for name, value in body.items():
        text = _long_text(value)
        if text is None:
            continue
        content = text.encode("utf-8")
        fields[name] = {"offset": offset, "bytes": len(content), "chars": len(text)}
        if not isinstance(value, str):
            fields[name] = {**fields[name], "json": True}
        short[name] = f"{text[:HEAD]}\n[… {len(text) - HEAD - TAIL} characters left out …]\n{text[-TAIL:]}"
        parts.append(content)
        offset += len(content)
    if not fields and not _is_ours(body.get(FIELD)):
        return short, None
    blob = b"".join(parts)
    moved: dict[str, Any] = {"sha256": sha256(blob).hexdigest(), "bytes": len(blob), "fields": fields}
    if FIELD in short:
        moved["own"] = short.pop(FIELD)
    short[FIELD] = moved
    return short, blob if fields else None


def needs_blob(body: Json) -> bool:
    """Say whether a body as it stands in a line has texts in its record's blob file."""
    moved: object = body.get(FIELD)
    return _is_ours(moved) and bool(moved["fields"])


def join_long(body: Json, blob: bytes | None) -> dict[str, Any]:
    """Return the body as it was before `split_long`.

    Args:
        body: as it stands in a line.
        blob: content of the record's blob file; not looked at where the body needs none.

    Raises:
        LedgerCorrupt: the blob is missing or not the one that was moved out.
    """
    moved: object = body.get(FIELD)
    if not _is_ours(moved):
        return dict(body)
    whole = {name: value for name, value in body.items() if name != FIELD}
    if "own" in moved:
        whole[FIELD] = moved["own"]
    if not moved["fields"]:
        return whole
    if blob is None or len(blob) != moved["bytes"] or sha256(blob).hexdigest() != moved["sha256"]:
        raise LedgerCorrupt("the long text is not the one that the record names", sha256=moved["sha256"])
    for name, place in moved["fields"].items():
        whole[name] = _read_field(name, place, blob)
    return whole


def _long_text(value: object) -> str | None:
    """Return the text of a value that is too long for a line, else None."""
    if isinstance(value, str):
        text = value
    elif isinstance(value, Mapping | list):
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    else:
        return None
    # No character takes more than four bytes.
    if len(text) * 4 <= LIMIT:
        return None
    text = clean_text(text)
    return text if len(text) > LIMIT or len(text.encode("utf-8")) > LIMIT else None


def _is_ours(moved: object) -> TypeGuard[Mapping[str, Any]]:
    return (
        isinstance(moved, Mapping)
        and isinstance(moved.get("sha256"), str)
        and isinstance(moved.get("bytes"), int)
        and isinstance(moved.get("fields"), Mapping)
    )


def _read_field(name: str, place: Any, blob: bytes) -> Any:
    try:
        start, size = place["offset"], place["bytes"]
        inside = 0 <= start <= start + size <= len(blob)
        text = blob[start : start + size].decode("utf-8") if inside else None
        value = json.loads(text) if text is not None and place.get("json") is True else text
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise LedgerCorrupt(f"the long text of {name!r} cannot be read: {error}", field=name) from error
    if text is None:
        raise LedgerCorrupt(f"the long text of {name!r} lies outside the blob", field=name)
    return value
