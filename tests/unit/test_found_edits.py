"""What an operator typed is committed before the agent changes the file, unless it holds a secret."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import new_home

from fixtures import git, head, write_files
from gitmem import AgentHome
from gitmem.errors import ThreatFound

KEY = "AKIA" + "ABCDEFGHIJKLMNOP"
OTHER = "AKIA" + "QRSTUVWXYZ234567"
STORE = "memory/MEMORY.md"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[AgentHome]:
    """A home with an entry and a note."""
    with new_home(tmp_path / "home", operator=True) as home:
        home.entries("memory").add("Alpha one.")
        home.note_add("a.md", content="# A\n")
        yield home


def objects(home: AgentHome) -> str:
    """Return everything in the object store."""
    home.close()
    return git("cat-file", "--batch-all-objects", "--batch", cwd=home.layout.root)


def test_the_agents_memory_waits_for_a_person(home: AgentHome) -> None:
    """A key that somebody typed and has not decided to commit is not committed for them; nothing is lost."""
    write_files(home.layout.root, {STORE: f"Alpha one.\n§\nThe key is {KEY}\n"})
    before = head(home.layout.root)
    reply = home.memory("add", "memory", "Beta two.")
    assert (reply.success, reply.committed) == (True, None)
    assert "holds a secret" in str(reply.reason)
    assert KEY not in str(reply.to_json())
    assert (home.layout.root / STORE).read_text() == f"Alpha one.\n§\nThe key is {KEY}\n§\nBeta two.\n"
    assert head(home.layout.root) == before
    assert KEY not in objects(home)


def test_it_is_committed_when_the_secret_is_gone(home: AgentHome) -> None:
    """Without it, also in between."""
    path = home.layout.root / STORE
    write_files(home.layout.root, {STORE: f"Alpha one.\n§\nThe key is {KEY}\n"})
    home.memory("add", "memory", "Beta two.")
    path.write_text(path.read_text().replace(f"The key is {KEY}", "The key is in the safe."))
    home.commit()
    assert home._parts.branch.pending() == []
    assert git("status", "--short", cwd=home.layout.root) == ""
    assert home.entries("memory").texts == ["Alpha one.", "The key is in the safe.", "Beta two."]
    assert KEY not in objects(home)


def test_it_is_committed_when_a_person_commits_the_secret(home: AgentHome) -> None:
    """They decide."""
    write_files(home.layout.root, {STORE: f"Alpha one.\n§\nThe key is {KEY}\n"})
    home.memory("add", "memory", "Beta two.")
    git("commit", "-q", "--no-verify", "-m", "mine", "--", STORE, cwd=home.layout.root)
    home.commit()
    assert home._parts.branch.pending() == []
    assert git("status", "--short", cwd=home.layout.root) == ""


def test_other_files_go_on(home: AgentHome) -> None:
    """One file that waits holds up no other."""
    write_files(home.layout.root, {STORE: f"Alpha one.\n§\n{KEY}\n"})
    home.memory("add", "memory", "Beta two.")
    assert home.note_append("a.md", "more").committed
    assert home.memory("add", "user", "Likes tea.").committed
    assert home.memory("add", "memory", "Gamma.").committed is None
    assert [write.path for write in home._parts.branch.pending()] == [STORE, STORE]
    assert KEY not in objects(home)


def test_so_do_notes(home: AgentHome) -> None:
    """The same for every file that both write."""
    write_files(home.layout.root, {"notes/a.md": f"# A\n{KEY}\n"})
    assert home.note_append("a.md", "more").committed is None
    assert KEY not in objects(home)


def test_also_while_the_branch_cannot_take_it(home: AgentHome) -> None:
    """What waits is not committed later either."""
    git("checkout", "-q", "--detach", cwd=home.layout.root)
    write_files(home.layout.root, {STORE: f"Alpha one.\n§\n{KEY}\n"})
    assert home.memory("add", "memory", "Beta two.").committed is None
    git("checkout", "-q", "main", cwd=home.layout.root)
    home.memory("add", "user", "Likes tea.")
    assert len(home._parts.branch.pending()) == 1
    assert KEY not in objects(home)


def test_nor_is_it_committed_when_a_write_that_waited_is_settled(home: AgentHome) -> None:
    """The write goes on waiting, and says why, until a person has looked."""
    root = home.layout.root
    git("checkout", "-q", "--detach", cwd=root)
    home.note_append("a.md", "by the agent")
    write_files(root, {"notes/a.md": f"# All new\n{KEY}\n"})
    git("checkout", "-q", "main", cwd=root)
    before = head(root)
    assert home.commit(["memory"]).committed is None
    assert head(root) == before
    (waiting,) = home._parts.branch.pending()
    assert "holds a secret" in waiting.reason
    write_files(root, {"notes/a.md": "# All new\n"})
    assert home.commit().committed
    assert home._parts.branch.pending() == []
    assert KEY not in objects(home)


def test_a_harmless_edit_is_committed_as_found(home: AgentHome) -> None:
    """As ever."""
    write_files(home.layout.root, {STORE: "Alpha one.\n§\nBy hand.\n"})
    assert home.memory("add", "memory", "Beta two.").committed
    assert git("log", "-1", "--skip=1", "--format=%s", cwd=home.layout.root) == f"found: {STORE}"


def test_what_the_branch_has_is_no_news(home: AgentHome) -> None:
    """An operator who committed it has decided; their other edits go on."""
    write_files(home.layout.root, {"notes/a.md": f"# A\n{KEY}\n"})
    assert home.commit(verify=False).committed
    write_files(home.layout.root, {"notes/a.md": f"# A\n{KEY}\nmore\n"})
    assert home.note_append("a.md", "by the agent").committed


def test_this_machine_may_allow_it(home: AgentHome) -> None:
    """The allow list holds here too."""
    git("config", "gitmem.scannerAllow", "aws-access-key-id", cwd=home.layout.root)
    with AgentHome.open(home.layout.root) as again:
        write_files(home.layout.root, {"notes/b.md": f"# B\n{KEY}\n"})
        assert again.note_append("b.md", "more").reason is None


LOSSES = {
    "a file written anew": ("memory/self.md", lambda home: home.memory_write("self", "All new.")),
    "an entry removed": (STORE, lambda home: home.memory("remove", "memory", old_text="Alpha one.")),
    "an entry replaced": (
        STORE,
        lambda home: home.memory("replace", "memory", "Gamma.", old_text="Alpha one."),
    ),
    "a note written anew": ("notes/a.md", lambda home: home.note_edit("a.md", content="All new.")),
    "a note removed": ("notes/a.md", lambda home: home.note_remove("a.md")),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_words_that_would_be_in_no_copy_stay_on_the_disk(loss: str, home: AgentHome) -> None:
    """[real case] An edit that cannot be committed first was overwritten, in the operator's name."""
    path, change = LOSSES[loss]
    file = home.layout.root / path
    file.write_text(edited := file.read_text() + f"Hours of work.\nkey {KEY}\n")
    before = head(home.layout.root)
    try:
        reply = change(home)
    except ThreatFound as refused:
        error = refused.message
    else:
        assert not reply.success
        error = reply.error
    assert "holds a secret" in error
    assert file.read_text() == edited
    assert home._parts.branch.pending() == []
    assert head(home.layout.root) == before
    assert KEY not in objects(home)


def test_a_secret_that_a_person_committed_is_not_blotted_out_of_a_note(home: AgentHome) -> None:
    """An agent that appends a line was not asked to change another; its own secret is replaced."""
    path = home.layout.root / "notes" / "a.md"
    path.write_text(path.read_text() + f"key {KEY}\n")
    git("commit", "-qam", "Keep it", "--no-verify", cwd=home.layout.root)
    reply = home.note_append("a.md", f"A line.\nnew {OTHER}\n")
    assert reply.committed
    assert f"key {KEY}\n" in path.read_text()
    assert OTHER not in path.read_text()
    assert OTHER not in objects(home)
