"""Replies as JSON data: the one place that turns gitmem's values into what `--json` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Any

from gitmem.records import clean_text


class JsonView:
    """Gives a dataclass the method `to_json`."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON data."""
        data: dict[str, Any] = _from_container(self)
        return data


def to_json(value: Any) -> Any:
    """Return `value` as JSON data: dataclasses by their fields, sequences as lists, sets sorted.

    A value with a `to_json` method speaks for itself. Text that is no valid Unicode (file names hold such)
    gets U+FFFD, so that the reply can be written as UTF-8; a number that JSON lacks becomes null.

    Raises:
        TypeError: there is no JSON for this type.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str | PurePath):
        return clean_text(str(value))
    own = getattr(value, "to_json", None)
    if callable(own) and not isinstance(value, type):
        return to_json(own())
    return _from_container(value)


def _from_container(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((to_json(item) for item in value), key=str)
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    raise TypeError(f"no JSON for {type(value).__name__}")
