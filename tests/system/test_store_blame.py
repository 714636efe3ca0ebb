"""`git blame` names who wrote an entry, however a person ended the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures import git, set_identity
from gitmem import AgentHome

#: Real Git in many states takes its time.
pytestmark = pytest.mark.slow

STORE = "memory/MEMORY.md"
EDITS = {
    "no line feed at the end": b"\xc2\xa7\nTheirs.",
    "blanks around the mark": b" \xc2\xa7 \n  Theirs.\n",
    "blanks at the end": b"\xc2\xa7\nTheirs.  \n\n",
    "an empty entry": b"\xc2\xa7\n\n\xc2\xa7\nTheirs.\n",
    "old line ends": b"\xc2\xa7\rTheirs.\r",
    "plain": b"\xc2\xa7\nTheirs.\n",
}


def authors(root: Path) -> dict[str, str]:
    """Return who is named for each line of the store."""
    rows = git("blame", "--line-porcelain", STORE, cwd=root).split("\n")
    names = [row.removeprefix("author ") for row in rows if row.startswith("author ")]
    lines = [row[1:] for row in rows if row.startswith("\t")]
    return {line: name for line, name in zip(lines, names, strict=True) if line not in ("", "§")}


@pytest.mark.parametrize("committed", ["not", "by git", "by gitmem"])
@pytest.mark.parametrize("edit", EDITS)
def test_an_entry_is_its_authors(edit: str, committed: str, tmp_path: Path) -> None:
    """[real case] The agent's next write ended the line, and was named for what a person had written."""
    AgentHome.create(tmp_path / "home", agent="aria")
    root = tmp_path / "home"
    set_identity(root, "Olivia")
    with AgentHome.open(root) as home:
        home.entries("memory").add("Ours one.")
        (root / STORE).write_bytes((root / STORE).read_bytes() + EDITS[edit])
        if committed == "by git":
            git("commit", "-qam", "Add", cwd=root)
        elif committed == "by gitmem":
            assert home.commit().committed
        assert home.memory("add", "memory", "Ours two.").committed
        assert home.entries("memory").texts == ["Ours one.", "Theirs.", "Ours two."]
    found = authors(root)
    assert found == {"Ours one.": "aria", "Theirs.": "Olivia", "Ours two.": "aria"}
    assert git("status", "--short", cwd=root) == ""


def test_a_store_waits_with_the_change_where_the_branch_takes_neither(tmp_path: Path) -> None:
    """What the branch cannot take now is done later; the change itself is on disk at once."""
    root = tmp_path / "home"
    with AgentHome.init(root) as home:
        home.entries("memory").add("Ours one.")
        (root / STORE).write_bytes(b"Ours one.\n\xc2\xa7\nTheirs.")
        git("checkout", "-q", "--detach", cwd=root)
        reply = home.memory("add", "memory", "Ours two.")
        assert (reply.success, reply.committed) == (True, None)
        assert home.entries("memory").texts == ["Ours one.", "Theirs.", "Ours two."]
        git("checkout", "-q", "main", cwd=root)
        home.commit()
        assert home.entries("memory").texts == ["Ours one.", "Theirs.", "Ours two."]
