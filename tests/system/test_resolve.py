"""A conflict is shown with who wrote what, and ended with one commit; meanwhile the agent works on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import Machine, first_machine, next_machine
from system.command_line import gitmem

from fixtures import git
from gitmem.errors import NotFound, RefusedError

PATH = "notes/a.md"


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Machine]:
    """A home with a conflict: its operator's text against that of an agent elsewhere."""
    one = first_machine(tmp_path)
    two = next_machine(tmp_path, "b", one.remote)
    two.home.note_edit("a.md", content="1\nthe agent's\n3\n4\n5\n", by="agent")
    two.sync()
    two.close()
    one.commit({PATH: "1\nthe operator's\n3\n4\n5\n"})
    assert one.sync().exit_code == 12
    yield one
    one.close()


def texts(one: Machine) -> dict[str, str]:
    """Return the text of each author, whichever of them lives."""
    (conflict,) = one.home.conflicts()
    found = {}
    for text, by in ((conflict.text, conflict.by), (conflict.live, conflict.live_by)):
        assert by is not None
        found[by.author] = text or ""
        if by.author == "agent":
            assert by.writer is not None
    return found


def test_both_texts_are_shown_with_who_wrote_them(one: Machine) -> None:
    """Never "ours" and "theirs": names, times and machines, looked up in history."""
    assert texts(one) == {
        "agent": "1\nthe agent's\n3\n4\n5\n",
        "operator": "1\nthe operator's\n3\n4\n5\n",
    }
    shown = gitmem("resolve", cwd=one.root).out
    assert "Olivia Operator" in shown
    assert "the agent" in shown
    assert "--keep live" in shown


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["live", "copy", "both", "edited"])
def test_one_commit_ends_it(one: Machine, keep: str) -> None:
    """Whatever is kept, the copies go in that commit, and every other machine agrees after a sync."""
    (conflict,) = one.home.conflicts()
    before = int(git("rev-list", "--count", "HEAD", cwd=one.root))
    wanted = {"live": conflict.live, "copy": conflict.text, "both": conflict.live, "edited": "mine\n"}[keep]
    if keep == "edited":
        (one.root / PATH).write_text("mine\n")
    name = conflict.copy.rpartition("/")[2].partition(".")[0]
    ran = gitmem("resolve", PATH, "--keep", name if keep == "copy" else keep, "--json", cwd=one.root)
    assert ran.code == 0, ran.err
    assert ran.json["committed"] == one.head
    assert int(git("rev-list", "--count", "HEAD", cwd=one.root)) == before + 1
    assert one.text(PATH) == wanted
    assert one.home.conflicts() == []
    assert [one.text(note) for note in ran.json["notes"]] == ([conflict.text] if keep == "both" else [])
    assert one.status == ""
    assert one.sync().exit_code == 0
    assert gitmem("status", "--check", cwd=one.root).code != 12


@pytest.mark.slow
def test_what_is_not_there_is_said(one: Machine) -> None:
    """A wrong path or copy changes nothing."""
    before = one.head
    with pytest.raises(NotFound):
        one.home.resolve("notes/b.md", "live")
    with pytest.raises(NotFound):
        one.home.resolve(PATH, "ffffffffffff")
    assert gitmem("resolve", "--keep", "live", cwd=one.root).code == 2
    assert one.head == before


@pytest.mark.slow
def test_a_file_that_is_no_note_has_no_second_one(one: Machine) -> None:
    """`both` makes a note; a store of memory is none."""
    one.commit({"conflicts/memory/self.md/0123456789ab.md": "x\n"})
    with pytest.raises(RefusedError):
        one.home.resolve("memory/self.md", "both")


@pytest.mark.slow
def test_the_agent_works_on(one: Machine) -> None:
    """OPEN-AGENT-13: an open conflict is in nobody's way, and status names it for machines."""
    assert one.home.note_edit("b.md", content="new words\n", by="agent").committed
    one.say("Said beside a conflict")
    assert one.hears("beside a conflict")
    ran = gitmem("status", "--json", "--check", cwd=one.root)
    assert ran.code == 12
    assert [row["path"] for row in ran.json["conflicts"]] == [PATH]
    assert any("gitmem resolve" in (f["hint"] or "") for f in ran.json["findings"] if f["id"] == "conflict")
