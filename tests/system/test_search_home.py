"""Searching a real home: what operators and other processes do to it in the meantime."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from homes import new_home
from index_engines import needs_tantivy

from fixtures import commit_all, git, write_files
from gitmem import AgentHome
from gitmem.errors import Unavailable, UnknownSource


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A home with one turn and one note, not indexed."""
    path = tmp_path / "home"
    with new_home(path, operator=True) as home:
        say(home, "Which port does staging use?", "Staging listens on port 2222.")
        home.note_add(content="The staging database moved.\n", title="Staging database")
    return path


def say(home: AgentHome, *texts: str, session: str = "s1") -> None:
    """Record a turn of messages."""
    home.record([{"kind": "message", "role": "user", "text": text} for text in texts], session=session)


def texts(home: AgentHome, query: str, **options: object) -> list[str]:
    """Return the snippets of the hits."""
    return [hit.snippet for hit in home.search(query, **options).results]


def test_a_turn_is_found_with_and_without_an_index(path: Path) -> None:
    """Indexed or not, deleted or not: the same answer, and every hit can be read (R12)."""
    with AgentHome.open(path) as home:
        before = home.search("staging port")
        assert before.index_status.freshness == "building"
        home.catch_up()
        after = home.search("staging port")
        assert after.index_status.freshness == "fresh"
        refs = [hit.source_ref for hit in before.results]
        assert [hit.source_ref for hit in after.results] == refs
        assert len(refs) == 3
    shutil.rmtree(path / ".git" / "gitmem" / "index")
    with AgentHome.open(path) as home:
        assert [hit.source_ref for hit in home.search("staging port").results] == refs
        assert all(home.get(ref).content for ref in refs)


def test_reindex_counts_what_the_status_counts(path: Path) -> None:
    """One word for one thing: also after a build that was broken off, all that is covered is counted."""
    with AgentHome.open(path) as home:
        for number in range(4):
            say(home, *(f"harbour {number} {line}" for line in range(300)), session=f"t{number}")
        home.catch_up()
        covered = home.search("harbour").index_status.indexed
        home.reindex(wait=False)
        assert home.catch_up(seconds=0.0).pending
        report = home.reindex()
        assert (report.pending, report.indexed) == (0, covered)
        assert report.indexed == home.search("harbour").index_status.indexed


def test_what_an_operator_does_with_his_branch_takes_no_record_away(path: Path) -> None:
    """Records are searched from the turn lines: reset, amend, checkout and clean do not matter (T4)."""
    with AgentHome.open(path) as home:
        home.catch_up()
        first = commit_all(path, "notes", {"notes/deploy.md": "Deploy staging with make.\n"})
        commit_all(path, "more", {"notes/more.md": "More about staging.\n"})
        assert "More about staging." in texts(home, "staging")
        git("commit", "--amend", "-q", "-m", "reworded", cwd=path)
        git("reset", "-q", "--hard", first, cwd=path)
        git("clean", "-fdxq", cwd=path)
        git("switch", "-q", "--orphan", "empty", cwd=path)
        assert sorted(texts(home, "staging port")) == [
            "Staging listens on port 2222.",
            "Which port does staging use?",
        ]
        assert home.catch_up().pending == 0
        assert len(texts(home, "staging port")) == 2
        git("switch", "-q", "main", cwd=path)
        assert "Deploy staging with make." in texts(home, "staging")
        home.catch_up()
        assert "More about staging." not in texts(home, "staging")


def test_an_editors_save_is_found_before_it_is_committed(path: Path) -> None:
    """Authored files are searched as they are on disk."""
    with AgentHome.open(path) as home:
        home.catch_up()
        write_files(path, {"memory/operator.md": "Never restart the pooler on Fridays.\n"})
        (hit,) = home.search("pooler").results
        assert (hit.source_ref, hit.path) == ("agent_memory:operator", "memory/operator.md")
        (path / "memory" / "operator.md").unlink()
        assert texts(home, "pooler") == []


def test_a_moved_note_keeps_its_ref(path: Path) -> None:
    """`git mv`, committed or not, does not break what was quoted; a removal is told as one."""
    commit_all(path, "a note", {"notes/old.md": "# Pooler\n\nRestart it with make pooler.\n"})
    with AgentHome.open(path) as home:
        home.catch_up()
        (hit,) = home.search("pooler").results
        git("mv", "notes/old.md", "notes/new.md", cwd=path)
        (moved,) = home.search("pooler").results
        assert (moved.source_ref, moved.path) == (hit.source_ref, "notes/new.md")
        git("commit", "-q", "-m", "move", cwd=path)
        home.catch_up()
        (moved,) = home.search("pooler").results
        assert (moved.source_ref, moved.path) == (hit.source_ref, "notes/new.md")
        git("rm", "-q", "notes/new.md", cwd=path)
        assert texts(home, "pooler") == []
        git("commit", "-q", "-m", "remove", cwd=path)
        with pytest.raises(Unavailable, match="removed"):
            home.get(hit.source_ref)


def test_a_commit_does_not_change_the_ref_of_a_note(path: Path) -> None:
    """A note without an id of its own has one from history, also right after HEAD moved."""
    write_files(path, {"notes/pooler.md": "# Pooler\n\nRestart it with make pooler.\n"})
    with AgentHome.open(path) as home:
        home.catch_up()
        (before,) = home.search("pooler").results
        commit_all(path, "a note")
        commit_all(path, "another", {"notes/other.md": "Nothing to see.\n"})
        (after,) = home.search("pooler").results
        assert after.source_ref == before.source_ref
        assert home.get(after.source_ref).content.startswith("# Pooler")
        git("rm", "-q", "notes/pooler.md", cwd=path)
        git("commit", "-q", "-m", "remove", cwd=path)
        write_files(path, {"notes/pooler.md": "# Pooler again\n"})
        (again,) = home.search("pooler").results
        assert again.source_ref != before.source_ref
        assert home.get(again.source_ref).content == "# Pooler again\n"


def test_a_clone_searches_the_lines_it_fetched(path: Path, tmp_path: Path) -> None:
    """A plain clone has the turns of other machines as remote-tracking branches."""
    clone = tmp_path / "clone"
    git("clone", "-q", str(path), str(clone), cwd=tmp_path)
    with AgentHome.open(clone) as home:
        assert "Staging listens on port 2222." in texts(home, "staging port")
        home.catch_up()
        assert len(texts(home, "port")) == 2
        say(home, "The port is 2223 now.")
        assert texts(home, "port", sort="newest")[0] == "The port is 2223 now."


def test_a_poisoned_folder_in_the_tree_is_never_opened(path: Path, tmp_path: Path) -> None:
    """An index that came with the files runs nothing: gitmem's own lies in the git dir (OPEN-SEARCH-07)."""
    target = tmp_path / "PWNED"

    class Poison:
        def __reduce__(self) -> tuple[object, ...]:
            return (os.system, (f"touch '{target}'",))

    bomb = pickle.dumps(Poison())
    names = ("index", "gitmem/index", ".gitmem/index", ".git-gitmem/index", "notes/index", "ledger/index")
    commit_all(path, "poison", {f"{name}/_MAIN_1.toc": bomb for name in names})
    with AgentHome.open(path) as home:
        home.catch_up()
        assert texts(home, "staging port")
    assert not target.exists()


def test_two_processes_index_one_home(path: Path) -> None:
    """Whoever comes second does nothing; together they index everything once (OPEN-SEARCH-05)."""
    with AgentHome.open(path) as home:
        for number in range(40):
            say(home, *(f"staging message {number} {line}" for line in range(20)))
    program = "import sys; from gitmem import AgentHome; AgentHome.open(sys.argv[1]).catch_up()"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    running = [subprocess.Popen([sys.executable, "-c", program, str(path)], env=env) for _ in range(3)]
    assert [one.wait(60) for one in running] == [0, 0, 0]
    with AgentHome.open(path) as home:
        assert home.catch_up().pending == 0
        status = home.search("staging").index_status
        assert (status.freshness, status.pending) == ("fresh", 0)
        found = home.search('"message 17 9"', advanced=True).results
        assert [hit.snippet for hit in found] == ["staging message 17 9"]


def test_refs_of_receipts_resolve(path: Path) -> None:
    """Every ref that a turn hands out can be read at once (R11)."""
    events = [
        {"kind": "session", "event": "start", "title": "Ports", "source": "cli"},
        {"kind": "message", "role": "user", "text": "Move staging"},
        {"kind": "work_item", "action": "create", "objective": "Move staging"},
        {"kind": "tool_execution", "tool": "shell", "input": "ls", "output": "x", "status": "success"},
        {"kind": "task", "task_id": "t1", "status": "running", "summary": "dump"},
        {"kind": "wait", "wait_id": "w1", "status": "active", "wait_kind": "timer", "waiting_for": "night"},
        {"kind": "decision", "text": "at night", "because": "load"},
        {"kind": "brief", "brief_kind": "result", "text": "planned"},
    ]
    with AgentHome.open(path) as home:
        receipt = home.record(events, session="s2")
        assert len(receipt.records) == len(events) + 2  # the turn, and the episode that the wait ends
        for record in receipt.records:
            assert home.get(record["source_ref"]).content, record
        with pytest.raises(UnknownSource):
            home.get("message:msg_000000000000000")


@needs_tantivy
def test_another_engine_is_chosen_and_left_again(path: Path) -> None:
    """The same hits with the same scores, from an index that is in one place only."""
    derived = path / ".git" / "gitmem"
    with AgentHome.open(path) as home:
        home.catch_up()
        before = home.search("staging port").results
        home.config_set("search.engine", "tantivy")
        assert home.config_get("search.engine") == "tantivy"
        assert home.search("staging port").index_status.freshness == "catching_up"
        home.catch_up()
        reply = home.search("staging port")
        assert reply.index_status.freshness == "fresh"
        assert reply.results == before
        assert not (derived / "index").exists()
        say(home, "Staging moved to port 2200.")
        assert texts(home, "2200") == ["Staging moved to port 2200."]
        home.config_set("search.engine", "")
        home.catch_up()
        assert texts(home, "2200") == ["Staging moved to port 2200."]
        assert not (derived / "index-tantivy").exists()


def test_an_engine_whose_package_is_gone_is_a_reason(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search answers all the same, and says what to install (exit 0, never 70)."""
    git("config", "gitmem.search.engine", "tantivy", cwd=path)
    monkeypatch.setitem(sys.modules, "gitmem.backends.tantivy_index", None)
    with AgentHome.open(path) as home:
        home.catch_up()
        reply = home.search("staging port")
        assert len(reply.results) == 3
        (reason,) = reply.index_status.reasons
        assert "pip install gitmem-home[tantivy]" in reason
        assert any(reason in finding.message for finding in home.status().findings)
