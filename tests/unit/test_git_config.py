"""Editing a Git configuration: git reads back what was written, and nothing else of the file changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import run_git
from gitmem.errors import UsageError
from gitmem.git_config import change_value, drop_subsection, split_key, subsections

FILE = """\
# my settings
[core]
\tbare = false ; no
[remote "origin"]
\turl = https://example.com/a.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[gitmem] branch = here
[alias]
\tlong = one \\
\t  two
[Remote "Origin"]
\turl = other
"""


def read(text: str, key: str, folder: Path) -> str | None:
    """Return what git reads for a key."""
    path = folder / "config"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    done = run_git("config", "-z", "--file", path, key, cwd=folder)
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\0") if done.returncode == 0 else None


@given(
    value=st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=30),
    key=st.sampled_from(
        ["gitmem.x", "core.bare", "remote.origin.url", 'remote.a "b\\c".url', "new.Sub.Dot.name"]
    ),
)
def test_git_reads_back_any_value(tmp_path_factory: pytest.TempPathFactory, value: str, key: str) -> None:
    """Quotes, comment signs, blanks and line feeds in a value are data."""
    folder = tmp_path_factory.mktemp("config")
    changed = change_value(FILE, key, value)
    assert read(changed, key, folder) == value
    assert read(change_value(changed, key, None), key, folder) is None


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("core.bare", "true", "\tbare = false ; no\n", "\tbare = true\n"),
        ("remote.Origin.url", "x", "\turl = other\n", "\turl = x\n"),
        ("alias.long", "short", "\tlong = one \\\n\t  two\n", "\tlong = short\n"),
        ("alias.long", None, "[alias]\n\tlong = one \\\n\t  two\n", ""),
        ("remote.origin.fetch", None, "\tfetch = +refs/heads/*:refs/remotes/origin/*\n", ""),
        ("core.absent", None, "", ""),
        ("core.pager", "cat", "; no\n", "; no\n\tpager = cat\n"),
    ],
)
def test_only_the_line_of_the_key_changes(key: str, value: str | None, old: str, new: str) -> None:
    """The operator's comments, order and spacing stay."""
    assert change_value(FILE, key, value) == FILE.replace(old, new)


def test_a_value_on_the_line_of_its_section_is_changed(tmp_path: Path) -> None:
    """Git allows a setting beside its section's header; it is found there too."""
    changed = change_value(FILE, "gitmem.branch", "there")
    assert read(changed, "gitmem.branch", tmp_path) == "there"
    assert read(change_value(FILE, "gitmem.branch", None), "gitmem.branch", tmp_path) is None
    assert (read(changed, "alias.long", tmp_path) or "").split() == ["one", "two"]


def test_a_section_of_comments_stays() -> None:
    """What a person wrote there is not ours to remove."""
    assert change_value("[a]\n\t# why\n\tb = c\n[d]\n", "a.b", None) == "[a]\n\t# why\n[d]\n"
    assert change_value("[a] # why\n\tb = c\n", "a.b", None) == "[a] # why\n"
    assert change_value("[a]\n\tb = c\n[d]\n", "a.b", None) == "[d]\n"


def test_an_empty_file_gets_a_section(tmp_path: Path) -> None:
    """A file without a last line feed is no trap either."""
    assert change_value("", "a.b", "c") == "[a]\n\tb = c\n"
    assert read(change_value("[x]\n\ty = z", "a.b", "c"), "x.y", tmp_path) == "z"
    assert read(change_value("[x]\n\ty = z", "x.b", "c"), "x.y", tmp_path) == "z"


def test_keys_are_split_at_first_and_last_dot() -> None:
    """A subsection may hold dots and keeps its case."""
    assert split_key("Core.Bare") == ("core", None, "bare")
    assert split_key("remote.My.Origin.URL") == ("remote", "My.Origin", "url")
    for bad in ("", "core", ".x", "core.", "core.1x", "co re.x", "a.b\n.c"):
        with pytest.raises(UsageError):
            split_key(bad)


def test_subsections_are_listed_and_dropped() -> None:
    """As they are written in old files and new ones; whatever else stands there stays."""
    rest = '[core]\n\tbare = false\n[remote "b\\"c"]\n\turl = y\n'
    text = f'[remote "a"]\n\turl = x\n{rest}[remote "a"]\n\tfetch = z\n'
    assert subsections(text, "remote") == ["a", 'b"c']
    assert subsections(text, "branch") == []
    assert drop_subsection(text, "remote", "a") == rest
