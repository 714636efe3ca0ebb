"""`gitmem context` from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from system.command_line import gitmem

TURN = """\
{"kind": "message", "role": "user", "text": "Which port does staging use?"}
{"kind": "message", "role": "assistant", "text": "Shall it be 22 or 2222?"}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one turn."""
    gitmem("init", str(tmp_path / "home"), cwd=tmp_path)
    gitmem("turn", "--session", "s1", stdin=TURN, cwd=tmp_path / "home")
    return tmp_path / "home"


def test_a_context_is_text(home: Path) -> None:
    """For a prompt as it is; the decisions on demand."""
    ran = gitmem("context", "--input", "the second one", "--session", "s1", cwd=home)
    assert ran.code == 0
    assert ran.out.startswith("[agents_md]\n")
    assert "Shall it be 22 or 2222?" in ran.out
    assert ran.out.rstrip().endswith("the second one")
    told = gitmem("context", "--explain", cwd=home)
    assert "selected_full" in told.out
    assert "of 4096 tokens" in told.out


def test_what_does_not_fit_is_exit_3_with_both_numbers(home: Path) -> None:
    """A caller can ask again with what is needed."""
    ran = gitmem("context", "--budget", "10", "--json", cwd=home)
    assert ran.code == 3
    details = ran.json["error"]["details"]
    assert details["budget"] == 10
    assert gitmem("context", "--budget", str(details["minimum"]), cwd=home).code == 0
    assert gitmem("context", "--budget", str(details["minimum"] - 1), cwd=home).code == 3


def test_a_recorded_context_comes_back(home: Path, tmp_path: Path) -> None:
    """By the commit that the answer names, with the environment that it had."""
    place = tmp_path / "place.json"
    place.write_text(json.dumps({"workspace_id": "ws1", "cwd": "/src", "tools": ["shell"]}))
    options = ["--input", "-", "--environment", str(place), "--record", "--json"]
    first = gitmem("context", *options, stdin="Go.", cwd=home)
    assert first.code == 0
    gitmem("note", "add", "later.md", "--title", "Later", "--content", "x", cwd=home)
    again = gitmem("context", "--as-of", first.json["commit"], "--json", cwd=home)
    assert again.json["exact"] is True
    assert again.json["sections"] == first.json["sections"]
    assert "current folder: /src" in json.dumps(first.json["sections"])


def test_who_records_a_context_is_told_how_to_see_it_again(home: Path) -> None:
    """Without JSON nothing else names the commit that `--as-of` needs; the text itself stays as it is."""
    ran = gitmem("context", "--input", "Go.", "--record", cwd=home)
    told = ran.err.strip()
    assert told.startswith("recorded; this text again: gitmem context --as-of ")
    assert gitmem("context", "--as-of", told.split()[-1], cwd=home).out == ran.out
    assert gitmem("context", "--input", "Go.", "--record", "-q", cwd=home).err == ""


@pytest.mark.parametrize("text", ["[", "[]", '{"cwd": 7}', '{"workspace_id": "a b"}'])
def test_a_wrong_environment_is_exit_2(home: Path, tmp_path: Path, text: str) -> None:
    """The field is named."""
    place = tmp_path / "place.json"
    place.write_text(text)
    ran = gitmem("context", "--environment", str(place), cwd=home)
    assert ran.code == 2
    assert "environment" in ran.err
