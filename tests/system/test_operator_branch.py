"""The agent's commits on the operator's branch, with git as the judge of what they leave alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from branches import (
    AGENT,
    CONFIG,
    FILES,
    HOME_ID,
    OPERATOR,
    Agent,
    authors,
    changed_in,
    clash,
    git_files,
    make_home,
    staged,
    status,
)

from fixtures import commit_all, fsck, git, head, make_repo, run_git, show, write_files
from gitmem.branch_changes import PathChange, PendingWrite
from gitmem.errors import HeadMoved, HomeLocked, ProtectedPath, UsageError
from gitmem.file_lock import file_lock
from gitmem.pending_writes import PendingWrites


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A home with a commit."""
    return make_home(tmp_path / "home")


@pytest.fixture
def agent(repo: Path) -> Iterator[Agent]:
    """The agent at work in it."""
    agent = Agent(repo)
    yield agent
    agent.close()


def test_a_write_is_one_commit_of_its_path_alone(repo: Path, agent: Agent) -> None:
    """OPEN-GIT-01: what the operator staged and edited stays staged and edited, and is in no commit."""
    write_files(repo, {"notes/b.md": "staged\n", "src/main.c": "edited\n", "notes/new.md": "untracked\n"})
    git("add", "notes/b.md", cwd=repo)
    index = staged(repo)
    outcome = agent.write("memory/self.md", "agent's\n")
    assert outcome.committed == head(repo)
    assert changed_in(repo, outcome.committed) == ["memory/self.md"]
    assert git("diff", "--cached", "--name-only", cwd=repo) == "notes/b.md"
    assert [line for line in staged(repo).splitlines() if "self.md" not in line] == [
        line for line in index.splitlines() if "self.md" not in line
    ]
    assert status(repo) == " M src/main.c\nM  notes/b.md\n?? notes/new.md".replace(
        " M src/main.c\nM  notes/b.md", "M  notes/b.md\n M src/main.c"
    )
    assert authors(repo)[0] == "aria: note: edit memory/self.md"
    fsck(repo)


def test_an_agents_commit_carries_the_agents_identity(repo: Path, agent: Agent) -> None:
    """OPEN-GIT-16: author and committer are the agent, whatever user.* says, in UTC."""
    outcome = agent.write("memory/self.md", "agent's\n")
    shown = git("show", "-s", "--format=%an <%ae>|%cn <%ce>|%aI", str(outcome.committed), cwd=repo)
    assert shown.startswith(f"{AGENT}|{AGENT}|")
    assert shown.endswith(("+00:00", "Z"))


def test_the_reflog_is_without_gaps(repo: Path, agent: Agent) -> None:
    """Both HEAD's and the branch's reflog name the commit, so that `git reflog` can go back past it."""
    agent.write("memory/self.md", "agent's\n")
    for ref in ("HEAD", "main"):
        assert git("reflog", "-1", "--format=%gs", ref, cwd=repo) == "commit: note: edit memory/self.md"
        assert git("rev-parse", f"{ref}@{{1}}", cwd=repo) == head(repo, "HEAD~1")
    git("config", "core.logAllRefUpdates", "false", cwd=repo)
    for path in (repo / ".git/logs/HEAD", repo / ".git/logs/refs/heads/main"):
        path.unlink()
    assert agent.write("memory/self.md", "again\n").committed
    assert not (repo / ".git/logs/HEAD").exists()


def test_the_same_text_again_is_no_commit(repo: Path, agent: Agent) -> None:
    """OPEN-GIT-11: writing what is there succeeds as unchanged and leaves the history as long as it was."""
    before = head(repo)
    for _ in range(3):
        outcome = agent.write("memory/self.md", FILES["memory/self.md"])
        assert (outcome.unchanged, outcome.committed, outcome.reason) == (True, before, None)
    assert head(repo) == before


def test_a_move_is_one_commit(repo: Path, agent: Agent) -> None:
    """Both paths of a moved note go into one commit, and an emptied folder goes with it."""
    agent.write("notes/deep/x.md", "x\n")
    outcome = agent.change({"notes/deep/x.md": None, "notes/y.md": "x\n"})
    assert changed_in(repo, str(outcome.committed)) == ["notes/deep/x.md", "notes/y.md"]
    assert not (repo / "notes/deep").exists()
    assert status(repo) == ""


def test_removing_the_last_note_leaves_the_top_folder(repo: Path, agent: Agent) -> None:
    """A person still sees where notes belong."""
    agent.change({"notes/a.md": None, "notes/b.md": None})
    assert (repo / "notes").is_dir()
    assert git("ls-files", "notes", cwd=repo) == ""


def test_the_first_commit_of_a_fresh_home(tmp_path: Path) -> None:
    """`init` commits on an unborn branch, without an index file before."""
    repo = make_repo(tmp_path / "home", identity=False)
    agent = Agent(repo)
    outcome = agent.change({"gitmem.toml": CONFIG, "notes/a.md": "a\n"}, author=OPERATOR)
    assert outcome.committed == head(repo)
    assert git("reflog", "-1", "--format=%gs", cwd=repo).startswith("commit (initial): ")
    assert status(repo) == ""
    agent.close()


def test_an_unborn_branch_that_is_not_the_homes_beginning(repo: Path, agent: Agent) -> None:
    """On an orphan branch the agent's memory must not become a new history."""
    git("checkout", "-q", "--orphan", "fresh", cwd=repo)
    other = Agent(repo, branch=None)
    assert other.write("memory/self.md", "x\n").reason == "the branch fresh has no commit yet"
    assert agent.write("memory/self.md", "y\n").reason == "HEAD is on fresh, this home's branch is main"
    other.close()


def test_a_branch_of_something_else(repo: Path, agent: Agent) -> None:
    """A branch whose tree is not this home is not committed on, another home's neither."""
    commit_all(repo, "other", {"gitmem.toml": CONFIG.replace(HOME_ID, "hfedcba987654321")})
    assert agent.write("memory/self.md", "x\n").reason == "the branch main is not this home"
    git("rm", "-q", "gitmem.toml", cwd=repo)
    git("commit", "-qm", "none", cwd=repo)
    assert agent.write("memory/self.md", "y\n").reason == "the branch main is not this home"
    assert "not this home" in str(agent.branch.obstacle())


# states of Git


def do_merge(repo: Path) -> None:
    """Clash in a merge."""
    clash(repo)


def do_resolved_merge(repo: Path) -> None:
    """Resolve a merge without committing it."""
    clash(repo)
    write_files(repo, {"notes/b.md": "resolved\n"})
    git("add", "notes/b.md", cwd=repo)


def two_branches(repo: Path) -> None:
    """Make branches that clash in notes/b.md."""
    git("switch", "-qc", "side", cwd=repo)
    commit_all(repo, "side 1", {"notes/b.md": "side\n"})
    commit_all(repo, "side 2", {"src/main.c": "side\n"})
    git("switch", "-q", "main", cwd=repo)
    commit_all(repo, "main", {"notes/b.md": "main\n"})


def do_no_commit(repo: Path) -> None:
    """Merge without committing."""
    two_branches(repo)
    git("merge", "-q", "--no-ff", "--no-commit", "-Xours", "side", cwd=repo)


def do_rebase(repo: Path) -> None:
    """Stop in a rebase."""
    two_branches(repo)
    run_git("rebase", "side", cwd=repo)


def do_rebase_apply(repo: Path) -> None:
    """Stop in a rebase of the older kind."""
    two_branches(repo)
    run_git("rebase", "--apply", "side", cwd=repo)


def do_am(repo: Path) -> None:
    """Stop in `git am`."""
    two_branches(repo)
    run_git("am", cwd=repo, stdin=git("format-patch", "-1", "--stdout", "side~1", cwd=repo) + "\n")


def do_pick(repo: Path) -> None:
    """Stop in a cherry-pick."""
    two_branches(repo)
    run_git("cherry-pick", "side~1", cwd=repo)


def do_sequence(repo: Path) -> None:
    """Stop between the picks of a series."""
    two_branches(repo)
    run_git("cherry-pick", "side~1", "side", cwd=repo)
    write_files(repo, {"notes/b.md": "resolved\n"})
    git("commit", "-qam", "picked", cwd=repo)


def do_revert(repo: Path) -> None:
    """Revert without committing."""
    two_branches(repo)
    git("revert", "-n", "HEAD", cwd=repo)


def do_bisect(repo: Path) -> None:
    """Bisect."""
    two_branches(repo)
    git("bisect", "start", "HEAD", "HEAD~1", cwd=repo)


def do_detach(repo: Path) -> None:
    """Leave the branch."""
    git("checkout", "-q", "--detach", cwd=repo)


STATES = {
    "merge": (do_merge, "merge in progress", ("merge", "--abort")),
    "resolved merge": (do_resolved_merge, "merge in progress", ("commit", "-q", "--no-edit")),
    "merge --no-commit": (do_no_commit, "merge in progress", ("commit", "-q", "--no-edit")),
    "rebase": (do_rebase, "rebase in progress", ("rebase", "--abort")),
    "rebase --apply": (do_rebase_apply, "rebase in progress", ("rebase", "--abort")),
    "am": (do_am, "git am in progress", ("am", "--abort")),
    "cherry-pick": (do_pick, "cherry-pick in progress", ("cherry-pick", "--abort")),
    "sequencer": (do_sequence, "series of cherry-picks or reverts in progress", ("cherry-pick", "--quit")),
    "revert": (do_revert, "revert in progress", ("revert", "--quit")),
    "bisect": (do_bisect, "bisect in progress", ("bisect", "reset")),
    "detached": (do_detach, "detached HEAD", ("switch", "-q", "main")),
}


@pytest.mark.parametrize("name", STATES)
def test_while_git_is_busy_nothing_of_it_is_touched(repo: Path, agent: Agent, name: str) -> None:
    """OPEN-GIT-08, 09, 10: on disk, pending and told so; every file of the git dir byte for byte."""
    begin, reason, end = STATES[name]
    begin(repo)
    before = git_files(repo)
    outcome = agent.append("memory/self.md", "agent's\n")
    assert (outcome.committed, outcome.reason, outcome.on_disk) == (None, reason, True)
    assert git_files(repo) == before
    assert (repo / "memory/self.md").read_text() == "self\nagent's\n"
    assert [(write.path, write.reason) for write in agent.branch.pending()] == [("memory/self.md", reason)]
    assert agent.branch.settle() == []
    assert git_files(repo) == before

    git(*end, cwd=repo)
    tip = head(repo)
    settled = agent.branch.settle()
    assert [done.committed for done in settled] == [head(repo)]
    assert head(repo, "HEAD~1") == tip
    assert changed_in(repo, head(repo)) == ["memory/self.md"]
    assert show(repo, "memory/self.md") == "self\nagent's\n"
    assert agent.branch.pending() == []
    assert authors(repo)[0] == "aria: note: edit memory/self.md"
    fsck(repo)


def test_the_operators_merge_ends_with_his_message(repo: Path, agent: Agent) -> None:
    """OPEN-GIT-10: a resolved merge is finished by the operator, with Git's merge message and two parents."""
    do_resolved_merge(repo)
    agent.append("memory/self.md", "agent's\n")
    git("commit", "-q", "--no-edit", cwd=repo)
    assert git("log", "-1", "--format=%s|%an", cwd=repo) == "Merge branch 'side'|Olivia Operator"
    assert len(git("log", "-1", "--format=%p", cwd=repo).split()) == 2
    assert show(repo, "memory/self.md") == "self\n"
    agent.branch.settle()
    assert changed_in(repo, head(repo)) == ["memory/self.md"]


@pytest.mark.parametrize(
    "command", [("reset", "-q", "--hard"), ("stash", "-q"), ("checkout", "-q", "--", "."), ("clean", "-qfd")]
)
def test_what_the_operator_takes_back_comes_again(repo: Path, agent: Agent, command: tuple[str, ...]) -> None:
    """B2: a pending write is settled also if Git took the file back meanwhile, for new files too."""
    do_detach(repo)
    agent.append("memory/self.md", "agent's\n")
    agent.write("notes/new.md", "new\n")
    git(*command, cwd=repo)
    git("switch", "-q", "main", cwd=repo)
    assert len(agent.branch.settle()) == 2
    assert show(repo, "memory/self.md") == "self\nagent's\n"
    assert show(repo, "notes/new.md") == "new\n"
    assert status(repo) == ""


def test_rebase_abort_with_a_write_to_a_file_of_the_rebase(repo: Path, agent: Agent) -> None:
    """The abort throws the file's new text away; the write is merged into what the branch has."""
    do_rebase(repo)
    write_files(repo, {"notes/b.md": "main\n"})
    agent.append("notes/b.md", "agent's\n")
    git("rebase", "--abort", cwd=repo)
    agent.branch.settle()
    assert show(repo, "notes/b.md") == "main\nagent's\n"
    assert status(repo) == ""


def test_an_unmerged_path_waits_though_no_operation_is_open(repo: Path, agent: Agent) -> None:
    """A stash that clashes leaves no state file, only stages; that very path waits, others do not."""
    write_files(repo, {"notes/b.md": "stashed\n"})
    git("stash", "-q", cwd=repo)
    commit_all(repo, "more", {"notes/b.md": "more\n"})
    run_git("stash", "pop", cwd=repo)
    stages = git("ls-files", "-u", cwd=repo)
    assert agent.append("notes/b.md", "agent's\n").reason == "notes/b.md is unmerged"
    assert agent.append("memory/self.md", "agent's\n").committed
    assert git("ls-files", "-u", cwd=repo) == stages
    assert [write.path for write in agent.branch.pending()] == ["notes/b.md"]


def test_a_rebase_goes_on_as_if_nothing_had_been(repo: Path, agent: Agent) -> None:
    """The operator's next step in a rebase finds the state that he left, the agent's new note beside it."""
    do_rebase(repo)
    agent.write("notes/new.md", "agent's\n")
    write_files(repo, {"notes/b.md": "resolved\n"})
    git("add", "notes/b.md", cwd=repo)
    git("rebase", "--continue", cwd=repo, env={"GIT_EDITOR": "true"})
    agent.branch.settle()
    assert authors(repo) == [
        "aria: note: edit new.md",
        *(f"Olivia Operator: {subject}" for subject in ("main", "side 2", "side 1", "base")),
    ]


# the operator's own edits


def test_an_edit_of_the_same_file_is_committed_first_as_found(repo: Path, agent: Agent) -> None:
    """The operator's uncommitted words are his, in a commit of their own, before the agent's."""
    write_files(repo, {"notes/a.md": "operator\n1\n2\n3\n4\n5\n"})
    outcome = agent.append("notes/a.md", "agent\n")
    assert outcome.committed == head(repo)
    assert authors(repo)[:2] == ["aria: note: edit a.md", "Olivia Operator: found: notes/a.md"]
    assert (
        git("log", "-1", "--skip=1", "--format=%(trailers:key=Gitmem-Kind)", cwd=repo)
        == "Gitmem-Kind: found\n"
    )
    assert show(repo, "notes/a.md", "HEAD~1") == "operator\n1\n2\n3\n4\n5\n"
    assert status(repo) == ""
    blame = git("blame", "--line-porcelain", "notes/a.md", cwd=repo)
    assert [line[7:] for line in blame.split("\n") if line.startswith("author ")][::6] == [
        "Olivia Operator",
        "aria",
    ]


def test_an_edit_staged_in_part_is_not_swallowed(repo: Path, agent: Agent) -> None:
    """B5: staged text that is neither the branch's nor the file's keeps the write waiting."""
    write_files(repo, {"notes/a.md": "staged\n1\n2\n3\n4\n5\n"})
    git("add", "notes/a.md", cwd=repo)
    write_files(repo, {"notes/a.md": "staged\n1\n2\n3\n4\n5\nunstaged\n"})
    before = git_files(repo)
    outcome = agent.append("notes/a.md", "agent\n")
    assert (outcome.committed, outcome.reason) == (None, "notes/a.md is partly staged")
    assert git_files(repo) == before
    git("commit", "-qm", "part", cwd=repo)
    assert show(repo, "notes/a.md") == "staged\n1\n2\n3\n4\n5\n"
    agent.branch.settle()
    assert show(repo, "notes/a.md") == "staged\n1\n2\n3\n4\n5\nunstaged\nagent\n"
    assert authors(repo)[:2] == ["aria: note: edit a.md", "Olivia Operator: found: notes/a.md"]


def test_an_edit_staged_whole_is_committed_as_found(repo: Path, agent: Agent) -> None:
    """What is staged equals the file, so nothing is half done about it."""
    write_files(repo, {"notes/a.md": "staged\n1\n2\n3\n4\n5\n"})
    git("add", "notes/a.md", cwd=repo)
    assert agent.append("notes/a.md", "agent\n").committed
    assert authors(repo)[1] == "Olivia Operator: found: notes/a.md"
    assert status(repo) == ""


def test_a_staged_removal_is_not_undone(repo: Path, agent: Agent) -> None:
    """`git rm --cached` with the file still there is a partial staging too."""
    git("rm", "-q", "--cached", "notes/a.md", cwd=repo)
    assert agent.append("notes/a.md", "agent\n").reason == "notes/a.md is partly staged"
    assert "notes/a.md" not in staged(repo)


def test_intent_to_add_is_no_staged_text(repo: Path, agent: Agent) -> None:
    """A file added with -N is not staged yet; the agent's write commits it and others keep their mark."""
    write_files(repo, {"notes/n.md": "mine\n", "notes/m.md": "mine\n"})
    git("add", "-N", "notes/n.md", "notes/m.md", cwd=repo)
    assert agent.append("notes/n.md", "agent\n").committed
    assert authors(repo)[:2] == ["aria: note: edit n.md", "Olivia Operator: found: notes/n.md"]
    assert status(repo) == " A notes/m.md"


def test_further_edits_on_a_pending_write_stay_the_operators(repo: Path, agent: Agent) -> None:
    """The operator goes on typing in the file that the agent wrote: only the agent's part is committed."""
    do_detach(repo)
    agent.append("notes/a.md", "agent\n")
    write_files(repo, {"notes/a.md": "operator\n1\n2\n3\n4\n5\nagent\n"})
    git("switch", "-q", "main", cwd=repo)
    agent.branch.settle()
    assert show(repo, "notes/a.md") == "1\n2\n3\n4\n5\nagent\n"
    assert (repo / "notes/a.md").read_text() == "operator\n1\n2\n3\n4\n5\nagent\n"
    assert status(repo) == " M notes/a.md"


def test_an_edit_under_a_pending_write_is_found_first(repo: Path, agent: Agent) -> None:
    """The operator's uncommitted edit on which the agent wrote is his commit when it is settled."""
    write_files(repo, {"notes/a.md": "operator\n1\n2\n3\n4\n5\n"})
    do_detach(repo)
    agent.append("notes/a.md", "agent\n")
    git("switch", "-q", "main", cwd=repo)
    agent.branch.settle()
    assert authors(repo)[:2] == ["aria: note: edit a.md", "Olivia Operator: found: notes/a.md"]
    assert show(repo, "notes/a.md", "HEAD~1") == "operator\n1\n2\n3\n4\n5\n"
    assert status(repo) == ""


def test_an_edit_made_after_the_write_was_taken_back(repo: Path, agent: Agent) -> None:
    """Both the operator's new edit and the agent's write end up in the file, each in its own commit."""
    do_detach(repo)
    agent.append("notes/a.md", "agent\n")
    git("checkout", "-q", "--", "notes/a.md", cwd=repo)
    write_files(repo, {"notes/a.md": "operator\n1\n2\n3\n4\n5\n"})
    git("switch", "-q", "main", cwd=repo)
    agent.branch.settle()
    assert show(repo, "notes/a.md") == "operator\n1\n2\n3\n4\n5\nagent\n"
    assert authors(repo)[:2] == ["aria: note: edit a.md", "Olivia Operator: found: notes/a.md"]


def test_writes_wait_in_order(repo: Path, agent: Agent) -> None:
    """Several pending writes of one file become commits of their own, in the order they were made."""
    do_detach(repo)
    for number in (1, 2, 3):
        agent.append("notes/a.md", f"agent {number}\n")
    git("switch", "-q", "main", cwd=repo)
    assert len(agent.branch.settle()) == 3
    assert authors(repo)[:4] == ["aria: note: edit a.md"] * 3 + ["Olivia Operator: base"]
    assert show(repo, "notes/a.md", "HEAD~1").endswith("agent 2\n")


def test_a_clash_leaves_a_copy_that_is_listed(repo: Path, agent: Agent) -> None:
    """C1: of two texts of a line one lives; the other is committed under `conflicts/`, without markers."""
    do_detach(repo)
    agent.write("notes/a.md", "1\n2\nagent\n4\n5\n")
    git("stash", "-q", cwd=repo)
    git("switch", "-q", "main", cwd=repo)
    commit_all(repo, "operator", {"notes/a.md": "1\n2\noperator\n4\n5\n"})
    (done,) = agent.branch.settle()
    assert len(done.conflicts) == 1
    assert done.conflicts[0].startswith("conflicts/notes/a.md/")
    texts = {show(repo, "notes/a.md"), show(repo, done.conflicts[0])}
    assert texts == {"1\n2\nagent\n4\n5\n", "1\n2\noperator\n4\n5\n"}
    assert (repo / done.conflicts[0]).exists()
    assert status(repo) == ""


def test_the_caller_must_have_seen_the_file(repo: Path, agent: Agent) -> None:
    """A change made from an old reading is refused, so that an editor's save is never overwritten."""
    seen = agent.blob("notes/a.md")
    write_files(repo, {"notes/a.md": "operator's save\n"})
    change = PathChange("notes/a.md", seen, b"agent's\n")
    with pytest.raises(HeadMoved, match="changed since it was read"):
        agent.branch.write([change], message="x\n", author=AGENT, operation="x", turn=None)
    with pytest.raises(HeadMoved):
        agent.branch.write(
            [PathChange("notes/a.md", None, b"new\n")], message="x\n", author=AGENT, operation="x", turn=None
        )
    assert (repo / "notes/a.md").read_text() == "operator's save\n"
    assert agent.branch.pending() == []


def test_a_file_that_holds_the_result_is_claimed(repo: Path, agent: Agent) -> None:
    """A `file` event names a change that the agent made with its own tools: no found commit, the agent's."""
    before = agent.blob("notes/a.md")
    write_files(repo, {"notes/a.md": "agent's own tool\n"})
    outcome = agent.branch.write(
        [PathChange("notes/a.md", before, b"agent's own tool\n")],
        message="note: edit a.md\n",
        author=AGENT,
        operation="file",
        turn="turn_1",
    )
    assert outcome.committed == head(repo)
    assert authors(repo)[0] == "aria: note: edit a.md"
    assert authors(repo)[1] == "Olivia Operator: base"


# races


def test_head_that_moves_between_preparing_and_locking(repo: Path) -> None:
    """OPEN-GIT-02: the commit is built anew on the operator's; neither is lost."""
    moved = []

    def step(name: str) -> None:
        if name == "prepared" and len(moved) < 3:
            moved.append(commit_all(repo, f"operator {len(moved)}", {"src/main.c": f"{len(moved)}\n"}))

    agent = Agent(repo, checkpoint=step)
    outcome = agent.write("memory/self.md", "agent's\n")
    assert outcome.committed == head(repo)
    assert authors(repo)[:4] == ["aria: note: edit memory/self.md"] + [
        f"Olivia Operator: operator {n}" for n in (2, 1, 0)
    ]
    assert show(repo, "src/main.c") == "2\n"
    agent.close()


def test_a_branch_that_never_stands_still(repo: Path) -> None:
    """After five rebuilds the write waits, instead of keeping its caller."""
    agent = Agent(
        repo,
        checkpoint=lambda name: (
            name == "prepared" and git("commit", "-q", "--allow-empty", "-m", "x", cwd=repo)
        ),
    )
    outcome = agent.write("memory/self.md", "agent's\n")
    assert (outcome.committed, outcome.reason) == (None, "the branch keeps moving")
    assert (repo / "memory/self.md").read_text() == "agent's\n"
    agent.close()


@pytest.mark.parametrize("act", ["add", "edit", "merge", "editor"])
def test_what_changes_meanwhile_is_seen_under_the_locks(repo: Path, act: str) -> None:
    """A staged file, a saved file, a merge or an opened editor between looking and locking is noticed."""
    two_branches(repo)
    done = []

    def step(name: str) -> None:
        if name != "prepared" or done:
            return
        done.append(name)
        if act == "add":
            write_files(repo, {"src/main.c": "staged\n"})
            git("add", "src/main.c", cwd=repo)
        elif act == "edit":
            write_files(repo, {"memory/self.md": "self\nsaved\n"})
        elif act == "merge":
            run_git("merge", "side", cwd=repo)
        else:
            (repo / ".git/COMMIT_EDITMSG").write_text("typing\n# Please enter the message.\n")

    agent = Agent(repo, checkpoint=step)
    outcome = agent.append("memory/self.md", "agent's\n")
    if act == "edit":
        assert show(repo, "memory/self.md", "HEAD~1") == "self\nsaved\n"
        assert show(repo, "memory/self.md") == "self\nagent's\nsaved\n"
        assert authors(repo)[1] == "Olivia Operator: found: memory/self.md"
        return
    if act == "add":
        assert outcome.committed
        assert status(repo) == "M  src/main.c"
    else:
        words = {"merge": "merge in progress", "editor": "a commit message is open in an editor"}
        assert (outcome.committed, outcome.reason) == (None, words[act])
    agent.close()


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_a_lock_of_somebody_else_is_waited_for_and_left_alone(repo: Path, agent: Agent, name: str) -> None:
    """OPEN-GIT-17: bounded wait, the lock's name and age in the receipt, and the file is still there."""
    lock = repo / ".git" / name
    lock.write_bytes(b"")
    started = time.monotonic()
    outcome = agent.write("memory/self.md", "agent's\n")
    assert 0.9 < time.monotonic() - started < 5
    assert outcome.committed is None
    assert str(outcome.reason).startswith(f"{lock.name} is held (for ")
    assert lock.read_bytes() == b""
    assert [p.name for p in (repo / ".git").glob("*.lock")] == [n for n in [name] if "/" not in n]
    assert agent.branch.pending()[0].reason.startswith(f"{lock.name} is held")
    lock.unlink()
    assert [done.committed for done in agent.branch.settle()] == [head(repo)]


def test_a_lock_that_gitmem_left_is_removed(repo: Path, agent: Agent) -> None:
    """A killed gitmem's locks carry its mark and go under the home's lock."""
    for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock"):
        (repo / ".git" / name).write_bytes(b"gitmem")
    assert agent.write("memory/self.md", "agent's\n").committed
    assert list((repo / ".git").rglob("*.lock")) == []


def test_the_home_lock(repo: Path, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two writers take turns; a caller that holds the home's lock says so."""
    monkeypatch.setattr("gitmem.operator_branch._HOME_WAIT", 0.05)
    with file_lock(agent.layout.home_lock, wait=1):
        with pytest.raises(HomeLocked):
            agent.write("memory/self.md", "agent's\n")
        assert agent.write("memory/self.md", "agent's\n", locked=True).committed


def test_the_operator_commits_with_the_editor_open(repo: Path, agent: Agent, tmp_path: Path) -> None:
    """His commit succeeds, whatever the agent writes while he types; the agent's follow."""
    go, seen = tmp_path / "go", tmp_path / "seen"
    editor = f"sh -c 'touch {seen}; while [ ! -e {go} ]; do sleep 0.02; done; echo done > $0'"
    write_files(repo, {"src/main.c": "operator's\n"})
    git("add", "src/main.c", cwd=repo)
    environment = {**os.environ, "GIT_EDITOR": editor}
    with subprocess.Popen(["git", "commit", "-q"], cwd=repo, env=environment) as commit:
        while not seen.exists():
            time.sleep(0.01)
        for number in range(3):
            outcome = agent.append("memory/self.md", f"{number}\n")
            assert outcome.reason == "a commit message is open in an editor"
        go.touch()
    assert commit.returncode == 0
    agent.branch.settle()
    assert authors(repo)[3] == "Olivia Operator: done"
    assert show(repo, "memory/self.md") == "self\n0\n1\n2\n"


@pytest.mark.slow
def test_operator_and_agent_at_full_speed(repo: Path) -> None:
    """Each acknowledged write and each of the operator's commits is in the history; nothing is reverted."""
    script = (
        "import subprocess, sys\n"
        "for n in range(60):\n"
        "    open('src/main.c', 'w').write(f'{n}\\n')\n"
        "    subprocess.run(['git', 'add', 'src/main.c'], capture_output=True)\n"
        "    done = subprocess.run(['git', 'commit', '-qm', f'op {n}'], capture_output=True)\n"
        "    print(n if done.returncode == 0 else -1)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=repo, stdout=subprocess.PIPE) as operator:
        agent = Agent(repo)
        written = 0
        while operator.poll() is None:
            agent.append("notes/a.md", f"agent {written}\n")
            written += 1
        agent.branch.settle()
        agent.branch.settle()
        assert operator.stdout is not None
        committed = [int(line) for line in operator.stdout.read().split()]
    # A commit that failed leaves its message behind, which looks like one that is open in an editor.
    git("commit", "-q", "--allow-empty", "-m", "last", cwd=repo)
    agent.branch.settle()
    assert agent.branch.pending() == []
    lines = show(repo, "notes/a.md").splitlines()
    assert lines[5:] == [f"agent {n}" for n in range(written)]
    subjects = authors(repo)
    assert [n for n in committed if n >= 0 and f"Olivia Operator: op {n}" not in subjects] == []
    counts = [
        len(show(repo, "notes/a.md", c).splitlines()) for c in git("rev-list", "HEAD", cwd=repo).split()
    ]
    assert counts == sorted(counts, reverse=True)
    fsck(repo)
    agent.close()


def test_two_processes_write_one_file(repo: Path) -> None:
    """Each line of each process is there once; a process whose reading was overtaken reads again."""

    def act(name: str) -> None:
        agent = Agent(repo)
        done = 0
        while done < 8:
            with suppress(HeadMoved):
                done += agent.append("notes/a.md", f"{name} {done}\n").committed is not None

    children = []
    for name in ("x", "y"):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                act(name)
                code = 0
            finally:
                os._exit(code)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0, 0]
    lines = show(repo, "notes/a.md").splitlines()[5:]
    for name in ("x", "y"):
        assert [line for line in lines if line[0] == name] == [f"{name} {number}" for number in range(8)]
    assert len(authors(repo)) == 17
    assert status(repo) == ""
    fsck(repo)


def test_a_write_is_recorded_before_it_is_dropped(repo: Path) -> None:
    """T3: its record is in the spool first; where that fails, the write waits and is recorded later, once."""
    told: list[str] = []
    broken = [True]

    def record(write: PendingWrite) -> None:
        if broken[0]:
            raise OSError(5, "spool")
        assert write.id not in told
        told.append(write.id)

    agent = Agent(repo, record=record)
    outcome = agent.append("memory/self.md", "agent's\n")
    assert (outcome.committed, outcome.reason) == (None, "spool")
    tip = head(repo)
    assert authors(repo)[0] == "aria: note: edit memory/self.md"
    broken[0] = False
    assert [done.committed for done in agent.branch.settle()] == [tip]
    assert len(told) == 1
    assert head(repo) == tip
    do_detach(repo)
    agent.append("memory/self.md", "more\n")
    assert len(told) == 2
    git("switch", "-q", "main", cwd=repo)
    agent.branch.settle()
    assert len(told) == 2
    agent.close()


# features of the repository


def test_linked_work_tree(repo: Path, tmp_path: Path) -> None:
    """OPEN-GIT-20: a linked work tree commits on its own branch, with its own index and its own queue."""
    git("branch", "second", cwd=repo)
    git("worktree", "add", "-q", tmp_path / "second", "second", cwd=repo)
    agent = Agent(tmp_path / "second", branch="second")
    before = git_files(repo)
    assert agent.write("memory/self.md", "second\n").committed == head(repo, "second")
    assert status(tmp_path / "second") == ""
    assert git("reflog", "-1", "--format=%gs", cwd=tmp_path / "second").startswith("commit: ")
    after = git_files(repo)
    assert {name for name in before if before[name] != after[name]} == {
        ".git/refs/heads/second", ".git/logs/refs/heads/second",
    }  # fmt: skip
    clash(repo)
    assert agent.write("memory/self.md", "third\n").committed
    agent.close()


def test_separate_git_dir(tmp_path: Path) -> None:
    """OPEN-GIT-20: `.git` may be a file."""
    (tmp_path / "home").mkdir()
    git("init", "-q", "-b", "main", f"--separate-git-dir={tmp_path / 'elsewhere'}", cwd=tmp_path / "home")
    git("config", "user.name", "Olivia Operator", cwd=tmp_path / "home")
    git("config", "user.email", "olivia@example.com", cwd=tmp_path / "home")
    commit_all(tmp_path / "home", "base", FILES)
    agent = Agent(tmp_path / "home")
    assert agent.write("memory/self.md", "agent's\n").committed == head(tmp_path / "home")
    assert status(tmp_path / "home") == ""
    agent.close()


@pytest.mark.parametrize("hooks_path", [None, "hooks"])
def test_hooks_are_for_peoples_commits(repo: Path, agent: Agent, hooks_path: str | None) -> None:
    """OPEN-GIT-13, 14: a hook that refuses everything refuses the operator, and poisons no agent's write."""
    folder = repo / (hooks_path or ".git/hooks")
    write_files(folder, {"pre-commit": "#!/bin/sh\nexit 1\n", "post-index-change": "#!/bin/sh\ntouch ran\n"})
    for name in ("pre-commit", "post-index-change"):
        (folder / name).chmod(0o755)
    if hooks_path:
        git("config", "core.hooksPath", hooks_path, cwd=repo)
    assert agent.write("memory/self.md", "agent's\n").committed == head(repo)
    assert not (repo / "ran").exists()


@pytest.mark.parametrize("where", ["global", "exclude", "tree"])
def test_ignore_rules_swallow_nothing(repo: Path, agent: Agent, where: str, tmp_path: Path) -> None:
    """OPEN-GIT-12: a managed path is committed whatever anyone's ignore rules say."""
    if where == "global":
        write_files(tmp_path, {"ignore": "*.md\n"})
        git("config", "core.excludesFile", tmp_path / "ignore", cwd=repo)
    elif where == "exclude":
        write_files(repo, {".git/info/exclude": "notes/\n"})
    else:
        write_files(repo, {".gitignore": "notes/\n"})
    assert agent.write("notes/ignored.md", "x\n").committed == head(repo)
    assert show(repo, "notes/ignored.md") == "x\n"


@pytest.mark.parametrize("setting", ["true", "input"])
def test_autocrlf(repo: Path, setting: str) -> None:
    """OPEN-GIT-19: with line-ending conversion the blob has LF, the file one ending, and status is clean."""
    git("config", "core.autocrlf", setting, cwd=repo)
    git("rm", "-q", ".gitattributes", cwd=repo)
    git("commit", "-qm", "no attributes", cwd=repo)
    git("rm", "-q", "--cached", "-r", "memory", cwd=repo)
    git("reset", "-q", "--hard", cwd=repo)
    agent = Agent(repo)
    raw = (repo / "memory/MEMORY.md").read_bytes()
    assert (b"\r\n" in raw) is (setting == "true")
    ending = b"\r\n" if setting == "true" else b"\n"
    assert agent.write("memory/MEMORY.md", raw + "§".encode() + ending + b"three" + ending).committed
    assert show(repo, "memory/MEMORY.md") == "one\n§\ntwo\n§\nthree\n"
    assert (repo / "memory/MEMORY.md").read_bytes() == "one\n§\ntwo\n§\nthree\n".encode().replace(
        b"\n", ending
    )
    assert status(repo) == ""
    git("add", "--renormalize", ".", cwd=repo)
    assert status(repo) == ""
    agent.close()


def test_a_result_with_mixed_line_endings_becomes_one_kind(repo: Path, agent: Agent) -> None:
    """OPEN-GIT-19: a file that an editor saved with CRLF, to which LF is added, has one line ending."""
    write_files(repo, {"notes/a.md": b"1\r\n2\r\n"})
    assert agent.append("notes/a.md", "3\n").committed
    assert show(repo, "notes/a.md") == "1\n2\n3\n"
    assert (repo / "notes/a.md").read_bytes() == b"1\r\n2\r\n3\r\n"
    assert status(repo) == ""


def test_lines_that_stay_keep_their_bytes(repo: Path, agent: Agent) -> None:
    """OPEN-FM-05: the agent touches one line; every other byte of the operator's file is as it was."""
    write_files(repo, {"notes/a.md": b"---\r\ntags: [x]\r\n---\r\none\r\ntwo\nthree"})
    assert agent.write("notes/a.md", "---\ntags: [x, y]\n---\none\ntwo\nthree").committed
    kept = b"---\r\ntags: [x, y]\r\n---\r\none\r\ntwo\nthree"
    assert (repo / "notes/a.md").read_bytes() == kept
    assert show(repo, "notes/a.md") == "---\ntags: [x, y]\n---\none\ntwo\nthree"
    assert status(repo) == ""


@pytest.mark.parametrize("rule", ["filter=lfs", "working-tree-encoding=UTF-16"])
def test_filters_and_encodings_are_refused_by_name(repo: Path, agent: Agent, rule: str) -> None:
    """Gitmem runs no program for a file; it says which line of which file asks for one."""
    write_files(repo, {".git/info/attributes": f"# lfs\nnotes/*.md {rule}\n"})
    with pytest.raises(
        ProtectedPath, match=f"notes/a.md has {rule} in info/attributes of the git dir, line 2"
    ):
        agent.write("notes/a.md", "x\n")
    assert agent.write("memory/self.md", "x\n").committed


def test_split_index(repo: Path, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """OPEN-GIT-18: git itself changes a split index where it is installed; else the feature is named."""
    git("update-index", "--split-index", cwd=repo)
    write_files(repo, {"src/main.c": "staged\n"})
    git("add", "src/main.c", cwd=repo)
    assert agent.write("memory/self.md", "agent's\n").committed == head(repo)
    assert status(repo) == "M  src/main.c"
    assert b"link" in (repo / ".git/index").read_bytes()
    monkeypatch.setattr("shutil.which", lambda name: None)
    before = git_files(repo)
    outcome = agent.write("memory/self.md", "again\n")
    assert (outcome.committed, outcome.reason) == (None, "unsupported index feature: split index")
    assert git_files(repo) == before
    assert list((repo / ".git").glob("*.part")) == []


def test_sparse_index(repo: Path, agent: Agent) -> None:
    """OPEN-GIT-18: inside the cone the index is patched; below a collapsed folder git itself is asked."""
    git("sparse-checkout", "init", "--cone", "--sparse-index", cwd=repo)
    git("sparse-checkout", "set", "memory", cwd=repo)
    assert agent.write("memory/self.md", "agent's\n").committed
    assert status(repo) == ""
    assert agent.write("notes/new.md", "new\n").committed == head(repo)
    assert show(repo, "notes/a.md") == FILES["notes/a.md"]
    assert show(repo, "notes/new.md") == "new\n"
    assert git("diff", "--cached", "--name-only", cwd=repo) == ""


def test_plain_sparse_checkout_removes_nothing(repo: Path, agent: Agent) -> None:
    """A file that a sparse checkout left out is not there, and nobody removed it."""
    git("sparse-checkout", "set", "--no-cone", "/*", "!/notes/", cwd=repo)
    assert not (repo / "notes").exists()
    assert agent.write("memory/self.md", "agent's\n").committed
    assert agent.write("notes/new.md", "new\n").committed == head(repo)
    assert show(repo, "notes/a.md") == FILES["notes/a.md"]
    assert changed_in(repo, head(repo)) == ["notes/new.md"]


@pytest.mark.parametrize("feature", ["version 4", "untracked cache", "skipHash", "assume-unchanged"])
def test_index_features_stay_on(repo: Path, agent: Agent, feature: str) -> None:
    """OPEN-GIT-18: the operator's index keeps its version, caches and marks."""
    if feature == "version 4":
        git("update-index", "--index-version=4", cwd=repo)
    elif feature == "untracked cache":
        git("update-index", "--force-untracked-cache", cwd=repo)
        status(repo)
    elif feature == "skipHash":
        git("config", "index.skipHash", "true", cwd=repo)
        git("update-index", "--force-write-index", cwd=repo)
    else:
        git("update-index", "--assume-unchanged", "notes/b.md", cwd=repo)
    agent.write("memory/self.md", "agent's\n")
    agent.write("notes/new.md", "new\n")
    index = (repo / ".git/index").read_bytes()
    assert index[7] == (4 if feature == "version 4" else 2)
    assert (b"UNTR" in index) is (feature == "untracked cache")
    assert ("h 100644" in staged(repo)) is (feature == "assume-unchanged")
    assert status(repo) == ""


def test_an_edit_in_the_second_of_the_index_stays_visible(repo: Path, agent: Agent) -> None:
    """Git trusts stat data older than the index: a newer one must not hide an edit that it would compare."""
    git("config", "core.trustctime", "false", cwd=repo)
    index = repo / ".git/index"
    then = index.stat().st_mtime_ns - 10_000_000_000
    os.utime(repo / "notes/b.md", ns=(then, then))
    git("update-index", "--refresh", cwd=repo)
    write_files(repo, {"notes/b.md": "B\n"})
    os.utime(repo / "notes/b.md", ns=(then, then))
    os.utime(index, ns=(then, then))
    assert git("diff-files", "--name-only", cwd=repo) == "notes/b.md"
    agent.write("memory/self.md", "agent's\n")
    assert status(repo) == " M notes/b.md"


def test_packed_refs_and_gc(repo: Path, agent: Agent) -> None:
    """After `git gc` the branch is in packed-refs only, and its folder may be gone."""
    for number in range(3):
        assert agent.append("memory/self.md", f"{number}\n").committed
        git("gc", "-q", "--prune=now", cwd=repo)
        assert not (repo / ".git/refs/heads/main").exists()
    assert agent.append("memory/self.md", "last\n").committed == head(repo)
    fsck(repo)


def test_modes_are_kept(repo: Path, agent: Agent) -> None:
    """An executable file stays executable, on the branch and on disk; a chmod of the operator is his."""
    git("update-index", "--chmod=+x", "notes/b.md", cwd=repo)
    git("commit", "-qm", "mode", cwd=repo)
    (repo / "notes/b.md").chmod(0o755)
    agent.append("notes/b.md", "more\n")
    assert git("ls-tree", "HEAD", "notes/b.md", cwd=repo).startswith("100755")
    assert (repo / "notes/b.md").stat().st_mode & 0o777 == 0o755
    assert status(repo) == ""
    (repo / "notes/a.md").chmod(0o755)
    agent.append("notes/a.md", "more\n")
    assert git("ls-tree", "HEAD", "notes/a.md", cwd=repo).startswith("100644")
    assert status(repo) == " M notes/a.md"
    git("update-index", "--chmod=+x", "memory/self.md", cwd=repo)
    (repo / "memory/self.md").chmod(0o755)
    agent.append("memory/self.md", "more\n")
    assert (
        git("diff", "--cached", "--summary", cwd=repo).strip()
        == "mode change 100644 => 100755 memory/self.md"
    )


# signing


def test_commit_gpgsign_is_for_people(repo: Path, agent: Agent) -> None:
    """OPEN-GIT-15: the operator's own setting signs nothing of the agent's and never makes it wait."""
    git("config", "commit.gpgSign", "true", cwd=repo)
    git("config", "user.signingKey", "none", cwd=repo)
    assert agent.write("memory/self.md", "agent's\n").committed == head(repo)
    assert "gpgsig" not in git("cat-file", "commit", "HEAD", cwd=repo)


def test_a_signing_program_that_fails_or_hangs(
    repo: Path, agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OPEN-GIT-15: bounded time, `signing failed` in the receipt, and the write waits for a retry."""
    program = tmp_path / "gpg"
    program.write_text("#!/bin/sh\necho 'gpg: no secret key' >&2\nexit 2\n")
    program.chmod(0o755)
    git("config", "gitmem.sign", "true", cwd=repo)
    git("config", "gpg.program", program, cwd=repo)
    index = staged(repo)
    assert agent.append("memory/self.md", "1\n").reason == "signing failed: gpg: no secret key"
    program.write_text("#!/bin/sh\nsleep 60\n")
    monkeypatch.setattr("gitmem.commit_signing._SECONDS", 0.3)
    started = time.monotonic()
    assert agent.append("memory/self.md", "2\n").reason == "signing failed: no answer within 0.3 s"
    assert time.monotonic() - started < 5
    assert staged(repo) == index
    program.write_text(
        "#!/bin/sh\ncat > /dev/null\necho '[GNUPG:] SIG_CREATED D' >&2\n"
        "printf -- '-----BEGIN PGP SIGNATURE-----\\nxyz\\n-----END PGP SIGNATURE-----\\n'\n"
    )
    assert len(agent.branch.settle()) == 2
    raw = git("cat-file", "commit", "HEAD", cwd=repo)
    assert "\ngpgsig -----BEGIN PGP SIGNATURE-----\n xyz\n -----END PGP SIGNATURE-----\n\n" in raw
    fsck(repo)


def test_a_signature_by_ssh_is_one_that_git_verifies(repo: Path, agent: Agent, tmp_path: Path) -> None:
    """The signature is made over what git checks it against."""
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True, timeout=20)
    write_files(tmp_path, {"allowed": f"* {key.with_suffix('.pub').read_text()}"})
    for name, value in (("gitmem.sign", "true"), ("gpg.format", "ssh"), ("user.signingKey", str(key)),
                        ("gpg.ssh.allowedSignersFile", str(tmp_path / "allowed"))):  # fmt: skip
        git("config", name, value, cwd=repo)
    assert agent.write("memory/self.md", "signed\n").committed
    assert 'Good "git" signature' in run_git("verify-commit", "HEAD", cwd=repo).stderr.decode()


# what is refused


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../out.md", "notes/../../out.md", "notes//a.md", ".git/config", "notes/.GIT/x",
     "src/x.c", "notes/a.md/x", "notes", "ledger/x"],
)  # fmt: skip
def test_paths_that_are_not_the_agents(repo: Path, agent: Agent, path: str) -> None:
    """Only managed paths inside the home are written."""
    before = git_files(repo)
    with pytest.raises(ProtectedPath):
        agent.branch.write(
            [PathChange(path, None, b"x\n")], message="x\n", author=AGENT, operation="x", turn=None
        )
    assert git_files(repo) == before
    assert agent.branch.pending() == []


def test_a_text_that_could_not_be_read_back(repo: Path, agent: Agent) -> None:
    """More than is ever read is not written."""
    with pytest.raises(ProtectedPath, match="larger than 8 MiB"):
        agent.write("notes/large.md", b"x" * (8 * 1024 * 1024 + 1))
    assert agent.branch.pending() == []


def test_links_are_never_followed(repo: Path, agent: Agent, tmp_path: Path) -> None:
    """A file or folder that is a link is refused by name, on disk and on the branch; its target stays."""
    (tmp_path / "outside").mkdir()
    write_files(tmp_path, {"outside/x.md": "outside\n"})
    (repo / "notes/link.md").symlink_to(tmp_path / "outside/x.md")
    (repo / "notes/folder").symlink_to(tmp_path / "outside")
    for path in ("notes/link.md", "notes/folder/x.md", "notes/folder/new.md"):
        with pytest.raises(ProtectedPath, match="a link; links are not followed"):
            agent.write(path, "x\n")
    commit_all(repo, "links")
    (repo / "notes/link.md").unlink()
    with pytest.raises(ProtectedPath, match="a link on the branch"):
        agent.write("notes/link.md", "x\n")
    assert (tmp_path / "outside/x.md").read_text() == "outside\n"
    assert sorted(p.name for p in (tmp_path / "outside").iterdir()) == ["x.md"]


def test_nested_repository(repo: Path, agent: Agent) -> None:
    """OPEN-GIT-22: a file inside another repository would never reach this one's clones."""
    make_repo(repo / "notes/proj")
    with pytest.raises(ProtectedPath, match="inside a nested repository"):
        agent.write("notes/proj/summary.md", "x\n")
    git("-c", "advice.addEmbeddedRepo=false", "add", "notes/proj", cwd=repo, check=False)
    assert not (repo / "notes/proj/summary.md").exists()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("notes/Plan.md", "notes/plan.md"),
        ("notes/Caf\u00e9.md", "notes/Cafe\u0301.md"),
        ("notes/Sub/x.md", "notes/sub/y.md"),
    ],
)
def test_names_that_are_one_name_elsewhere(repo: Path, agent: Agent, first: str, second: str) -> None:
    """OPEN-GIT-25, 28: a second name that differs only in case or Unicode form is not made."""
    assert agent.write(first, "1\n").committed
    with pytest.raises(ProtectedPath, match="is the same name as"):
        agent.write(second, "2\n")
    assert agent.write(first, "3\n").committed


def test_a_write_names_each_path_once(agent: Agent) -> None:
    """Two contents for one path, or none at all, are a wrong call."""
    with pytest.raises(UsageError):
        agent.branch.write([], message="x\n", author=AGENT, operation="x", turn=None)
    change = PathChange("notes/n.md", None, b"x\n")
    with pytest.raises(UsageError):
        agent.branch.write([change, change], message="x\n", author=AGENT, operation="x", turn=None)


def test_a_full_disk_leaves_nothing_half_done(
    repo: Path, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error reaches the caller, and nothing was promised: no file, no pending write, no lock."""
    before = git_files(repo)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(agent.repository, "write_pack", full)
    with pytest.raises(OSError, match="No space left"):
        agent.write("memory/self.md", "agent's\n")
    assert git_files(repo) == before
    assert (repo / "memory/self.md").read_text() == "self\n"
    assert list(repo.rglob("*.part")) == []
    monkeypatch.undo()
    assert agent.branch.pending() == []
    assert agent.branch.settle() == []
    assert agent.write("memory/self.md", "agent's\n").committed


@pytest.mark.parametrize("where", ["beside", "index", "branch"])
def test_a_disk_that_fills_up_on_the_way(repo: Path, where: str) -> None:
    """Before the first file is moved all is undone; behind that the write waits, and nothing is torn."""
    step_of = {"beside": "noted", "index": "placed", "branch": "logged"}
    full = [True]

    def step(name: str) -> None:
        if full[0] and name == step_of[where]:
            raise OSError(28, "No space left on device")

    agent = Agent(repo, checkpoint=step)
    before = git_files(repo)
    if where == "beside":
        with pytest.raises(OSError, match="No space left"):
            agent.append("memory/self.md", "agent's\n")
        assert git_files(repo) == before
        assert (repo / "memory/self.md").read_text() == "self\n"
        assert agent.branch.settle() == []
        return
    outcome = agent.append("memory/self.md", "agent's\n")
    assert (outcome.committed, outcome.reason, outcome.on_disk) == (None, "No space left on device", True)
    assert list((repo / ".git").glob("*.lock")) == []
    full[0] = False
    assert len(agent.branch.settle()) == 1
    assert authors(repo)[:2] == ["aria: note: edit memory/self.md", "Olivia Operator: base"]
    assert status(repo) == ""
    agent.close()


@pytest.mark.parametrize("where", ["placed", "logged", "moved"])
def test_no_room_to_keep_what_is_begun(repo: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[F18] What was noted before the first file moved will be committed, so the answer is that it waits."""
    full = [True]

    def check(*_: object) -> None:
        if full[0]:
            raise OSError(28, "No space left on device")

    agent = Agent(repo, checkpoint=lambda name: check() if name == where else None, record=check)
    put = PendingWrites.put
    monkeypatch.setattr(PendingWrites, "put", lambda *given: check() or put(*given))
    outcome = agent.append("memory/self.md", "agent's\n")
    assert (outcome.committed, outcome.reason, outcome.on_disk) == (None, "No space left on device", True)
    full[0] = False
    assert len(agent.branch.settle()) == 1
    assert authors(repo)[:2] == ["aria: note: edit memory/self.md", "Olivia Operator: base"]
    agent.close()


def test_a_write_that_waits_has_a_message_of_its_own(repo: Path) -> None:
    """How full a store is when it was written may not hold when it is committed."""
    agent = Agent(repo)
    given = {"message": "memory: + 1 entry (9 %)", "message_if_kept": "memory: + 1 entry"}
    agent.append("memory/self.md", "one\n", **given)
    do_detach(repo)
    agent.append("memory/self.md", "two\n", **given)
    git("switch", "-q", "main", cwd=repo)
    agent.branch.settle()
    assert authors(repo)[:2] == ["aria: memory: + 1 entry", "aria: memory: + 1 entry (9 %)"]
    agent.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user than a home's owner")
def test_another_users_home(repo: Path) -> None:
    """OPEN-GIT-26: refused before the first write; where it is allowed, all that is made is the owner's."""
    for path in (repo, *repo.rglob("*")):
        os.lchown(path, 1000, 1000)
    before = git_files(repo)
    agent = Agent(repo)
    with pytest.raises(ProtectedPath, match="belongs to another user"):
        agent.write("memory/self.md", "root's\n")
    assert git_files(repo) == before
    assert not (repo / ".git/gitmem").exists()
    git("config", "--file", repo / ".git/config", "gitmem.allowOtherOwner", "true", cwd=repo)
    os.chown(repo / ".git/config", 1000, 1000)
    agent.close()
    agent = Agent(repo)
    assert agent.write("memory/self.md", "root's\n").committed
    assert agent.write("notes/deep/new.md", "new\n").committed
    foreign = [p for p in repo.rglob("*") if p.lstat().st_uid != 1000]
    assert foreign == []
    agent.close()
