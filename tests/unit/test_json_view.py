"""Replies become JSON data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pytest

from gitmem.json_view import JsonView, to_json


@dataclass(frozen=True, slots=True)
class Hit(JsonView):
    """A reply with everything in it."""

    path: PurePosixPath
    score: float
    tags: frozenset[str]
    inner: Any = None


def test_a_dataclass_becomes_an_object_of_its_fields() -> None:
    """Nested values, sets and paths come out as plain JSON that a program can compare."""
    hit = Hit(
        PurePosixPath("notes/a.md"), 1.5, frozenset({"b", "a"}), (Hit(PurePosixPath("x"), 0, frozenset()),)
    )
    data = hit.to_json()
    assert data["path"] == "notes/a.md"
    assert data["tags"] == ["a", "b"]
    assert data["inner"][0] == {"path": "x", "score": 0, "tags": [], "inner": None}
    assert to_json({"hit": hit}) == {"hit": data}


def test_what_json_lacks_never_reaches_the_output() -> None:
    """A reply is always valid UTF-8 JSON, whatever a file name or a score holds."""
    data = to_json([float("nan"), float("inf"), "name-\udcff", {1: "x"}])
    assert data == [None, None, "name-\ufffd", {"1": "x"}]
    json.dumps(data, allow_nan=False, ensure_ascii=False).encode()


def test_an_unknown_type_is_a_bug() -> None:
    """Guessing would hide it."""
    with pytest.raises(TypeError, match="object"):
        to_json(object())
