"""No door lets a secret into Git or into gitmem's own files, also where it cannot be replaced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures import run_git
from gitmem import AgentHome
from gitmem.errors import ThreatFound

SECRET = "ghp_" + "a1B2" * 9

DOORS: dict[str, Callable[[AgentHome], object]] = {
    "session of a memory": lambda home: home.memory("add", "memory", "a fact", session=SECRET),
    "turn of a memory": lambda home: home.memory("add", "memory", "a fact", turn=SECRET),
    "source of a memory": lambda home: home.memory("add", "memory", "a fact", source=SECRET),
    "ref of a memory's source": lambda home: home.memory(
        "add", "memory", "a fact", source=f"message:{SECRET}"
    ),
    "session of a note": lambda home: home.note_add("a.md", content="x", session=SECRET),
    "source of a note": lambda home: home.note_add("a.md", content="x", source=SECRET),
    "path of a note": lambda home: home.note_add(f"{SECRET}.md", content="x"),
    "folder of a note": lambda home: home.note_add(f"ops/{SECRET}/a.md", content="x"),
    "target of a move": lambda home: home.note_move("known.md", f"{SECRET}.md"),
    "message of a commit": lambda home: home.commit(message=f"Keep {SECRET}"),
    "session of a block": lambda home: home.session(SECRET).prompt_block(),
    "session of a turn": lambda home: home.turn(session=SECRET),
}


def _everything(root: Path) -> bytes:
    files = [path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file()]
    return run_git("cat-file", "--batch-all-objects", "--batch", cwd=root).stdout + b"".join(files)


@pytest.mark.parametrize("door", DOORS)
def test_a_secret_as_a_name_is_refused_before_anything_is_written(door: str, tmp_path: Path) -> None:
    """A name becomes a ref, a path or a trailer, where nothing can be replaced, so it is refused (3)."""
    with AgentHome.init(tmp_path / "home") as home:
        home.note_add("known.md", content="known")
        (home.layout.root / "notes" / "known.md").write_text("edited")
        with pytest.raises(ThreatFound):
            DOORS[door](home)
        assert home.memory("add", "memory", "another fact").committed  # nothing waits that cannot be settled
        assert SECRET not in (home.layout.root / "memory" / "MEMORY.md").read_text()
        everything = _everything(home.layout.root)
    assert SECRET.encode() not in everything
    assert SECRET.lower().encode() not in everything


def test_a_note_called_after_a_secret_gets_a_path_without_it(tmp_path: Path) -> None:
    """A slug is in lower case, by which no rule knows the secret that it was made from."""
    with AgentHome.init(tmp_path / "home") as home:
        reply = home.note_add(title=f"The token {SECRET}", content="x")
        assert reply.committed
        assert SECRET.lower() not in reply.path
        everything = _everything(home.layout.root)
    assert SECRET.encode() not in everything
    assert SECRET.lower().encode() not in everything


def test_an_agent_is_not_called_by_a_secret(tmp_path: Path) -> None:
    """The agent's name stands in every commit."""
    with pytest.raises(ThreatFound):
        AgentHome.init(tmp_path / "home", agent=SECRET)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("source", [5, 1.5, b"x", object()])
def test_a_source_that_is_no_text_is_a_usage_error(source: object, tmp_path: Path) -> None:
    """Every argument of a caller is judged, whatever its type."""
    with AgentHome.init(tmp_path / "home") as home, pytest.raises(ValueError, match="source"):
        home.memory("add", "memory", "x", source=source)  # type: ignore[arg-type]
