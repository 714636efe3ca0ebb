"""The part of `docs/format.md` on authored files: its examples are read, its numbers are the code's."""

from __future__ import annotations

import re
import tomllib
from itertools import zip_longest
from pathlib import Path

import pytest

from gitmem import catalog, front_matter_yaml, note_text, tree_files
from gitmem.config import parse_config
from gitmem.entries import count_chars, format_store, parse_store
from gitmem.front_matter import READ_FIELDS
from gitmem.note_identity import derive_note_id
from gitmem.note_text import make_note, split_sections
from gitmem.templates import render_templates

PAGE = (Path(__file__).parents[2] / "docs" / "format.md").read_text("utf-8")


def example(info: str) -> str:
    """Return the one block with this info string."""
    (block,) = re.findall(rf"^```{info}\n(.*?\n)```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(block)


def test_the_store_is_read_as_the_page_says():
    """Entries, their size and the id that is shown."""
    entries = parse_store(example("markdown store"))

    assert [entry.line for entry in entries] == [1, 3]
    assert entries[1].text == "Deploys go out on Tuesdays.\nThe window closes at 16:00 UTC."
    assert entries[1].id == example("text entry").strip()
    assert count_chars(entries) == len(example("markdown store")) - 1
    assert format_store(entries) == example("markdown store")


def test_the_note_is_read_as_the_page_says():
    """Fields, summary, sections, and its line in the catalog."""
    note = make_note("notes/staging.md", example("markdown note"), "3f9c2a7d1e5b804")

    assert note.front.id == note.id
    assert (note.title, note.summary, note.tags) == (
        "Staging: ssh",
        "Port 2222, since the move.",
        ("ops", "ssh"),
    )
    assert [section.heading for section in split_sections(note.text)] == [None, "Staging", "Restart"]
    assert catalog.render_catalog([note]) == example("text catalog")


def test_the_home_s_own_file_is_read_as_the_page_says():
    """The example is read; the table has every key of a new home with the value that it has there."""
    config = parse_config(example("toml home").encode())
    assert (config.home_id, config.agent, config.memory["memory"].char_limit) == (
        "h5b7e02c94d1a6f3",
        "aria",
        3000,
    )
    assert (config.problems, config.unknown) == ((), {})

    part = PAGE.split("## The home's own file")[1].split("## The authored files")[0]
    rows = [row.strip("| ").split(" | ") for row in part.splitlines() if row.startswith("| `")]
    listed = [
        (key, value.strip("`"))
        for keys, _, values in rows
        for key, value in zip_longest(re.findall(r"`([a-z_.]+)`", keys), values.split(", "), fillvalue="true")
    ]
    new = tomllib.loads(render_templates(agent="agent", home_id=config.home_id)["gitmem.toml"].decode())
    own = {
        f"{name}.{key}": value
        for name in new
        if isinstance(new[name], dict)
        for key, value in new[name].items()
    }
    own |= {"format": "must be there", "home": "must be there", "agent": "agent"}
    assert {key: str(value).lower() for key, value in own.items()} == dict(listed)


def test_the_derived_id_is_the_one_shown():
    """By the rule of the page."""
    assert derive_note_id("notes/staging.md", 0) == example("text note id").strip()


def test_the_fields_are_those_that_are_read():
    """No more and no fewer."""
    rows = re.findall(r"^\| `(\w+)` \|", PAGE.split("### Notes")[1].split("### The catalog")[0], re.MULTILINE)

    assert tuple(rows) == READ_FIELDS


@pytest.mark.parametrize(
    ("words", "is_true"),
    [
        ("of more than 8 MiB", tree_files.MAX_FILE == 8 * 1024 * 1024),
        ("up to 32 folders", tree_files.MAX_DEPTH == 32),
        ("more than 64 KiB", front_matter_yaml.MAX_BLOCK == 64 * 1024),
        ("up to 120 characters", note_text.MAX_TITLE == 120),
        ("up to 200 characters", note_text.MAX_SUMMARY == 200),
        ("shows eight, none of more than 40 characters", (note_text.MAX_TAGS, note_text.MAX_TAG) == (8, 40)),
        ("first 20 notes", catalog.MAX_NOTES == 20),
        ("at most 2,000 characters", catalog.MAX_CHARS == 2000),
    ],
)
def test_numbers(words, is_true):
    """Limits are the code's."""
    assert words in PAGE
    assert is_true
