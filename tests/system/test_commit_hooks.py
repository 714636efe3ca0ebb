"""A plain `git commit` by an operator, in every state of Git, with gitmem's hooks in the home."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from system.command_line import gitmem_process

from fixtures import commit_all, git, head, run_git, write_files
from gitmem.home import AgentHome
from hooked import act, make_home, write_hook

#: Real Git in many states takes its time.
pytestmark = pytest.mark.slow

MARKS = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with hooks, a note and an episode."""
    home = make_home(tmp_path / "aria")
    commit_all(home, "base", {"notes/a.md": "one\n", "episodes/2026-03/e.md": "what was\n"})
    return home


def commit(home: Path, *args: str) -> list[str]:
    """Run `git commit`; return the rules that were broken, by path and line; none if it went through."""
    before = head(home)
    done = run_git("commit", "-qm", "x", *args, cwd=home)
    lines = done.stderr.decode().splitlines()
    if done.returncode == 0:
        assert lines == []
        return []
    assert head(home) == before
    assert lines[-1] == "gitmem: nothing was committed; to commit it as it is: git commit --no-verify"
    return [": ".join(line.split(": ")[:2]) for line in lines[:-1]]


class TestWhatIsStaged:
    """Judged is what would be committed, not what lies on disk."""

    def test_a_good_commit_goes_through_without_a_word(self, home: Path) -> None:
        """The hook has nothing to say about ordinary work."""
        write_files(home, {"notes/b.md": "---\ntitle: B\n---\ntext\n", "src/x.py": MARKS})
        git("add", "-A", cwd=home)
        assert commit(home) == []

    def test_each_finding_is_a_line_with_path_rule_and_fix(self, home: Path) -> None:
        """Whoever reads one line knows where, what and what to do."""
        write_files(home, {"notes/a.md": f"one\n{MARKS}", "memory/MEMORY.md": "x" * 2300})
        git("add", "-A", cwd=home)
        done = run_git("commit", "-m", "x", cwd=home)
        assert done.stderr.decode().splitlines()[:2] == [
            (
                "memory/MEMORY.md: limit: 2,300 of 2,200 characters, 100 too many. Shorten or remove "
                "entries, or raise memory.memory_char_limit in gitmem.toml."
            ),
            (
                "notes/a.md:2: conflict: the marks of an unresolved merge stand here. Keep what is right and "
                "delete the three mark lines; an example stands in a block of code, between ``` lines, or is "
                "indented."
            ),
        ]

    def test_an_example_in_a_note_and_a_clash_in_one(self, home: Path) -> None:
        """[real case] A note on merges is let in; one out of a merge is not, in a block of code either."""
        example = f"one\n```\n{MARKS}```\n"
        write_files(home, {"notes/merges.md": example})
        git("add", "-A", cwd=home)
        assert commit(home) == []
        git("checkout", "-qb", "side", cwd=home)
        commit_all(home, "side", {"notes/a.md": "one\n```\nport 1\n```\n"})
        git("checkout", "-q", "main", cwd=home)
        commit_all(home, "main", {"notes/a.md": "one\n```\nport 2\n```\n"})
        with (home / ".git/info/attributes").open("a") as attributes:
            attributes.write("* merge\n")  # as Git merges without gitmem's driver
        assert run_git("merge", "side", cwd=home).returncode != 0
        text = f"one\n```\n{MARKS}```\n".replace("x", "port 2").replace("y", "port 1")
        write_files(home, {"notes/a.md": text})
        git("add", "-A", cwd=home)
        assert commit(home) == ["notes/a.md:3: conflict"]
        write_files(home, {"notes/a.md": example})
        git("add", "-A", cwd=home)
        assert commit(home) == []

    def test_what_is_no_file_any_more(self, home: Path) -> None:
        """A store that became a folder, an episode that became a program or a link, a linked repository."""
        (home / "memory/MEMORY.md").unlink(missing_ok=True)
        (home / "episodes/2026-03/e.md").chmod(0o755)
        write_files(home, {"memory/MEMORY.md/x": "text\n"})
        git("add", "-A", cwd=home)
        git("update-index", "--add", "--cacheinfo", f"160000,{head(home)},work", cwd=home)
        assert commit(home) == [
            "episodes/2026-03/e.md: episode",
            "memory/MEMORY.md/x: place",
            "work: place",
        ]

    def test_no_verify_is_gits_own_way_around(self, home: Path) -> None:
        """The operator has the last word."""
        write_files(home, {"notes/a.md": MARKS})
        git("add", "-A", cwd=home)
        git("commit", "-qm", "x", "--no-verify", cwd=home)
        write_files(home, {"notes/a.md": MARKS + "more\n"})
        assert commit(home, "-a") == []

    def test_commit_all(self, home: Path) -> None:
        """`commit -a` has a staging area of its own, in which the edit is."""
        write_files(home, {"notes/a.md": MARKS})
        assert commit(home, "-a") == ["notes/a.md:1: conflict"]

    def test_commit_of_one_path(self, home: Path) -> None:
        """`commit -- path` leaves out what else is staged, and so does the judgement."""
        write_files(home, {"notes/bad.md": MARKS, "notes/a.md": "two\n"})
        git("add", "-A", cwd=home)
        assert commit(home, "--", "notes/a.md") == []
        assert commit(home, "--", "notes/bad.md") == ["notes/bad.md:1: conflict"]

    def test_partial_staging(self, home: Path) -> None:
        """With `add -p` the staged half counts: a fault only on disk is not judged, one only staged is."""
        write_files(home, {"notes/a.md": MARKS})
        git("add", "-A", cwd=home)
        write_files(home, {"notes/a.md": "mended on disk only\n"})
        assert commit(home) == ["notes/a.md:1: conflict"]
        git("add", "-A", cwd=home)
        write_files(home, {"notes/a.md": MARKS})
        assert commit(home) == []

    def test_from_a_folder_below(self, home: Path) -> None:
        """Git runs its hooks at the top, wherever the operator stands."""
        write_files(home, {"notes/a.md": MARKS})
        git("add", "-A", cwd=home)
        done = run_git("commit", "-qm", "x", cwd=home / "notes")
        assert done.stderr.startswith(b"notes/a.md:1: conflict")

    @pytest.mark.parametrize(
        "name", ["größe.md", "a\nb.md", 'quote".md', " space.md", "-dash.md", "b\udcff.md"]
    )
    def test_names_as_they_come(self, home: Path, name: str) -> None:
        """No name of a file is misread."""
        write_files(home, {f"notes/{name}": MARKS})
        git("add", "-A", cwd=home)
        (finding,) = commit(home)
        assert finding.endswith(":1: conflict")

    def test_a_rename_is_judged_by_its_new_place(self, home: Path) -> None:
        """Moving a faulty text into memory is bringing it there."""
        commit_all(home, "x", {"src/x.txt": MARKS})
        git("mv", "src/x.txt", "notes/x.md", cwd=home)
        assert commit(home) == ["notes/x.md:1: conflict"]

    def test_the_first_commit(self, tmp_path: Path) -> None:
        """A branch without a commit is compared with nothing."""
        home = make_home(tmp_path / "new")
        git("checkout", "-q", "--orphan", "fresh", cwd=home)
        write_files(home, {"notes/a.md": MARKS})
        git("add", "-A", cwd=home)
        done = run_git("commit", "-qm", "x", cwd=home)
        assert done.stderr.startswith(b"notes/a.md:1: conflict")
        git("rm", "-qf", "notes/a.md", cwd=home)
        git("commit", "-qm", "x", cwd=home)


class TestRules:
    """Each rule through Git."""

    def test_episodes(self, home: Path) -> None:
        """An edited and a removed episode are refused; the fix takes it back."""
        write_files(home, {"episodes/2026-03/e.md": "rather not\n"})
        assert commit(home, "-a") == ["episodes/2026-03/e.md: episode"]
        git("checkout", "HEAD", "--", "episodes/2026-03/e.md", cwd=home)
        git("mv", "episodes/2026-03/e.md", "episodes/2026-03/f.md", cwd=home)
        assert commit(home) == ["episodes/2026-03/e.md: episode"]

    def test_the_ledger(self, home: Path) -> None:
        """[V3] `git add -f` does not bring the ledger's copy onto the branch."""
        with AgentHome.open(home) as opened:
            opened.record([{"kind": "message", "role": "user", "text": "hi"}])
        git("add", "-f", "ledger", cwd=home)
        (finding,) = commit(home)
        assert finding.endswith(".jsonl: ledger")
        git("rm", "-rq", "--cached", "ledger", cwd=home)
        git("commit", "-q", "--allow-empty", "-m", "x", cwd=home)

    def test_secrets_and_the_allow_list(self, home: Path) -> None:
        """A secret in any managed file is refused, unless this machine allows its rule."""
        write_files(home, {"notes/a.md": f"token {TOKEN}\n"})
        (finding,) = commit(home, "-a")
        path, rule = finding.split(": ")
        assert path == "notes/a.md:1"
        git("config", "gitmem.scannerAllow", rule, cwd=home)
        assert commit(home, "-a") == []

    def test_the_limit_that_the_same_commit_raises(self, home: Path) -> None:
        """`gitmem.toml` is read as it is staged."""
        toml = (home / "gitmem.toml").read_text()
        write_files(home, {"memory/MEMORY.md": "x" * 2300})
        assert commit(home, "-a") == ["memory/MEMORY.md: limit"]
        assert "memory_char_limit = 2200" in toml
        write_files(
            home, {"gitmem.toml": toml.replace("memory_char_limit = 2200", "memory_char_limit = 4000")}
        )
        git("add", "memory/MEMORY.md", cwd=home)
        assert commit(home) == ["memory/MEMORY.md: limit"]
        assert commit(home, "-a") == []

    def test_the_homes_own_file(self, home: Path) -> None:
        """A home stays a home: its file is neither broken nor removed nor given another id."""
        write_files(home, {"gitmem.toml": "format = 1\n"})
        assert commit(home, "-a") == ["gitmem.toml: config"]
        git("rm", "-qf", "gitmem.toml", cwd=home)
        assert commit(home) == ["gitmem.toml: config"]

    def test_links(self, home: Path) -> None:
        """A link among the home's files could show what lies outside."""
        (home / "notes" / "link.md").symlink_to("/etc/passwd")
        git("add", "-A", cwd=home)
        assert commit(home) == ["notes/link.md: link"]

    def test_a_branch_that_is_no_home(self, home: Path) -> None:
        """A branch of other things in the same repository is not gitmem's affair."""
        git("checkout", "-q", "--orphan", "pages", cwd=home)
        git("rm", "-rfq", ".", cwd=home)
        write_files(home, {"notes/a.md": MARKS, "ledger/x": "x\n"})
        git("add", "-Af", cwd=home)
        git("commit", "-qm", "x", cwd=home)


class TestStatesOfGit:
    """Amending, merging, picking, rebasing, work trees."""

    def test_amend(self, home: Path) -> None:
        """What an amended commit adds is judged; what it had is not."""
        write_files(home, {"notes/a.md": "two\n"})
        git("commit", "-qam", "two", cwd=home)
        write_files(home, {"notes/a.md": MARKS})
        assert commit(home, "--amend", "-a") == ["notes/a.md:1: conflict"]
        git("checkout", "HEAD", "notes/a.md", cwd=home)
        assert commit(home, "--amend") == []

    def test_a_merge_whose_conflict_was_not_resolved(self, home: Path) -> None:
        """`git add` on a file with marks is the slip that this is for."""
        self._clash(home)
        git("merge", "-q", "side", cwd=home, check=False)
        git("add", "-A", cwd=home)
        assert commit(home) == ["notes/a.md:1: conflict"]
        write_files(home, {"notes/a.md": "both\n"})
        git("add", "-A", cwd=home)
        git("commit", "-q", "--no-edit", cwd=home)

    def test_a_merge_is_not_stopped_by_what_the_other_side_committed(self, home: Path) -> None:
        """Faults of others are in history; only what this merge makes is judged, and episodes."""
        self._clash(home, {"notes/theirs.md": MARKS, "episodes/2026-03/f.md": "theirs\n"})
        git("merge", "-q", "side", cwd=home, check=False)
        write_files(home, {"notes/a.md": "both\n"})
        git("add", "-A", cwd=home)
        assert commit(home) == []

    def test_a_merge_does_not_change_episodes(self, home: Path) -> None:
        """An episode that the other side changed stays what it was."""
        self._clash(home, {"episodes/2026-03/e.md": "their version\n"})
        git("merge", "-q", "side", cwd=home, check=False)
        write_files(home, {"notes/a.md": "both\n"})
        git("add", "-A", cwd=home)
        assert commit(home) == ["episodes/2026-03/e.md: episode"]

    def test_a_pick_with_a_conflict(self, home: Path) -> None:
        """The commit that ends a conflict is judged like any other."""
        self._clash(home)
        git("cherry-pick", "side", cwd=home, check=False)
        git("add", "-A", cwd=home)
        env = {"GIT_EDITOR": "true"}
        done = run_git("cherry-pick", "--continue", cwd=home, env=env)
        assert b"notes/a.md:1: conflict" in done.stderr
        write_files(home, {"notes/a.md": "both\n"})
        git("add", "-A", cwd=home)
        git("cherry-pick", "--continue", cwd=home, env=env)
        assert git("status", "--porcelain", cwd=home) == ""

    def test_a_rebase_runs_through(self, home: Path) -> None:
        """No hook stands in the way of a series of commits, nor is one tracked down again in each of them."""
        git("switch", "-qc", "side", cwd=home)
        for number in range(5):
            commit_all(home, f"side {number}", {f"notes/{number}.md": "x\n"})
        git("switch", "-q", "main", cwd=home)
        commit_all(home, "main", {"notes/a.md": "main\n"})
        git("rebase", "-q", "main", "side", cwd=home)
        assert git("rev-list", "--count", "main..side", cwd=home) == "5"

    def test_a_linked_work_tree(self, home: Path, tmp_path: Path) -> None:
        """A work tree beside the first is judged by its own staging area."""
        linked = tmp_path / "linked"
        git("worktree", "add", "-q", "-b", "side", str(linked), cwd=home)
        write_files(home, {"notes/a.md": MARKS})
        git("add", "-A", cwd=home)
        assert commit(linked, "--allow-empty") == []
        write_files(linked, {"notes/b.md": MARKS})
        git("add", "-A", cwd=linked)
        assert commit(linked) == ["notes/b.md:1: conflict"]

    def _clash(self, home: Path, more: dict[str, str] | None = None) -> None:
        git("switch", "-qc", "side", cwd=home)
        write_files(home, {"notes/a.md": "side\n", **(more or {})})
        git("add", "-A", cwd=home)
        git("commit", "-qm", "side", "--no-verify", cwd=home)
        git("switch", "-q", "main", cwd=home)
        write_files(home, {"notes/a.md": "main\n"})
        git("commit", "-qam", "main", cwd=home)


def test_gitmems_own_writes_run_no_hooks(home: Path) -> None:
    """The agent writes objects and refs itself: a hook that refuses all stops neither turns nor notes."""
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-rewrite"):
        write_hook(home / ".git" / "hooks" / f"{name}.before-gitmem", "#!/bin/sh\nexit 1\n")
    with AgentHome.open(home) as opened:
        assert opened.record([{"kind": "message", "role": "user", "text": "hi"}]).committed
        assert opened.note_add("b.md", content="B", by="agent").committed


@pytest.mark.parametrize("hook", ["post-commit", "post-checkout", "post-merge"])
def test_the_index_is_told(home: Path, hook: str) -> None:
    """After a commit, checkout or merge by hand the index catches up by itself."""
    with AgentHome.open(home) as opened:
        opened.catch_up()
        assert opened.search("zebra").index_status.freshness == "fresh"
    git("switch", "-qc", "side", cwd=home)
    commit_all(home, "zebra", {"notes/z.md": "zebra\n"})
    git("switch", "-q", "main", cwd=home)
    if hook == "post-checkout":
        git("switch", "-q", "side", cwd=home)
    elif hook == "post-merge":
        git("merge", "-q", "side", cwd=home)
    else:
        commit_all(home, "zebra", {"notes/z2.md": "zebra\n"})
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with AgentHome.open(home) as opened:
            found = opened.search("zebra")
        if found.results and found.index_status.pending == 0:
            return
        time.sleep(0.1)
    raise AssertionError(found.index_status)


def test_a_pending_write_is_left_to_gitmem(home: Path) -> None:
    """Nothing commits behind the operator's back while their own command, perhaps in a script, goes on."""
    git("checkout", "-q", "--detach", cwd=home)
    with AgentHome.open(home) as opened:
        assert opened.note_add("b.md", content="B", by="agent").committed is None
        opened.catch_up()
    act(home, "uninstall")
    git("checkout", "-q", "main", cwd=home)
    write_files(home, {"notes/a.md": "edited\n"})
    before = head(home)
    assert gitmem_process("hook", "post-checkout", cwd=home).code == 0
    assert head(home) == before
    assert list((home / ".git/gitmem/main/pending").glob("*"))


def test_a_hook_that_this_gitmem_does_not_know_does_nothing(home: Path) -> None:
    """A hook of a later gitmem is no error, and none of them is among the commands for people."""
    assert gitmem_process("hook", "post-applypatch", "x", cwd=home).code == 0
    assert " hook " not in gitmem_process("--help").out
