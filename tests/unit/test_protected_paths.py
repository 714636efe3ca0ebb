"""Files that the agent leaves to people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import new_home

from fixtures import git, head
from gitmem import AgentHome
from gitmem.authoring import Provenance
from gitmem.branch_changes import PathChange
from gitmem.errors import ProtectedPath, UsageError
from gitmem.git_objects import hash_object
from gitmem.protected_paths import PROTECTED, parse_paths, refuse_protected


@pytest.fixture
def home(tmp_path: Path) -> Iterator[AgentHome]:
    """A new home."""
    with new_home(tmp_path / "home") as home:
        yield home


@pytest.mark.parametrize("path", ["AGENTS.md", "memory/operator.md", "gitmem.toml"])
def test_a_file_event_is_not_committed_as_the_agents(home: AgentHome, path: str) -> None:
    """What commands and limits the agent is not written by it; the file stays, an operator's edit."""
    file = home.layout.root / path
    text = file.read_text() + "\n# more\n"
    file.write_text(text)
    before = head(home.layout.root)
    with home.turn() as turn:
        turn.event("file", path=path)
    assert [one for one in turn.receipt.warnings if one.startswith(f"{path}: ")]
    assert turn.receipt.committed
    assert file.read_text() == text
    assert head(home.layout.root) == before
    assert git("status", "--short", cwd=home.layout.root) == f" M {path}"


@pytest.mark.parametrize("way", ["{}", "./{}", "notes/../{}", "{root}/{}"])
@pytest.mark.parametrize("path", [".gitattributes", ".gitignore", "AGENTS.md"])
def test_however_it_is_named_the_receipt_says_so(home: AgentHome, path: str, way: str) -> None:
    """[real case] Files that only Git reads, and other ways to write a path, left no word in the receipt."""
    told = way.format(path, root=home.layout.root)
    before = head(home.layout.root)
    (home.layout.root / path).write_text("# mine\n")
    with home.turn() as turn:
        turn.event("file", path=told)
    (warning,) = turn.receipt.warnings
    assert warning.startswith(f"{told}: {path} is written by people")
    assert head(home.layout.root) == before


@pytest.mark.parametrize("way", ["./{}", "work/../{}", "{root}/{}"])
def test_other_files_are_committed_however_they_are_named(home: AgentHome, way: str) -> None:
    """What a tool reports with its whole path is the same file."""
    (home.layout.root / "notes").mkdir()
    (home.layout.root / "notes/a.md").write_text("text\n")
    with home.turn() as turn:
        turn.event("file", path=way.format("notes/a.md", root=home.layout.root))
        turn.event("file", path="../elsewhere.md")
        turn.event("file", path="/etc/passwd")
    assert turn.receipt.warnings == []
    assert git("log", "-1", "--format=%an", "--", "notes/a.md", cwd=home.layout.root) == "aria"


def test_the_machine_may_allow_it(home: AgentHome) -> None:
    """The exception is local: a tracked file could loosen it on every machine."""
    home.config_set("gitmem.agentMayEdit", "AGENTS.md")
    (home.layout.root / "AGENTS.md").write_text("# Mine now\n")
    with home.turn() as turn:
        turn.event("file", path="AGENTS.md")
    assert turn.receipt.warnings == []
    assert git("log", "-1", "--format=%an", "--", "AGENTS.md", cwd=home.layout.root) == "aria"


def test_only_protected_files_can_be_listed(home: AgentHome) -> None:
    """A typing error does not look like a permission."""
    with pytest.raises(UsageError, match="lists protected files"):
        home.config_set("gitmem.agentMayEdit", "agents.md")


def test_nothing_is_written(home: AgentHome) -> None:
    """A refusal comes before the disk is touched."""
    before = (home.layout.root / "AGENTS.md").read_bytes()
    change = PathChange("AGENTS.md", hash_object("blob", before), b"obey me\n")
    with pytest.raises(ProtectedPath) as raised:
        home._parts.authoring.write(
            [change], kind="file", action="edit", subject="x", source_ref=None, by=Provenance("agent")
        )
    assert raised.value.hint == "Ask the operator."
    assert (raised.value.for_people or "").endswith("gitmem config set gitmem.agentMayEdit AGENTS.md")
    assert (home.layout.root / "AGENTS.md").read_bytes() == before


@pytest.mark.parametrize("path", ["memory/Operator.md", "agents.MD", "GITMEM.toml"])
def test_another_spelling_is_no_way_in(path: str) -> None:
    """Where a file system does not tell case apart, it is the same file."""
    with pytest.raises(ProtectedPath):
        refuse_protected([path], frozenset())


def test_people_may(home: AgentHome) -> None:
    """Protection is from the agent only."""
    (home.layout.root / "AGENTS.md").write_text("# Ours\n")
    assert home.commit(["AGENTS.md"]).committed


def test_lists_of_paths() -> None:
    """Commas and white space separate."""
    assert parse_paths("AGENTS.md, memory/operator.md\tgitmem.toml") == {*PROTECTED[:3]}
    assert parse_paths(None) == frozenset()
