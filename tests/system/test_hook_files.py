"""Git hooks are put beside those that are there, in whatever folder Git uses, and leave no trace."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from system.command_line import gitmem

from fixtures import commit_all, git, make_repo, run_git, write_files
from gitmem.hook_files import CLIENT, SERVER, HookState
from hooked import act, git_bare_path, make_home, picture, write_hook

MARKS = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"
#: A hook that writes down what it is told.
LISTENING = """#!/bin/sh
seen=$(git rev-parse --git-common-dir)/seen
cat >> "$seen"
echo "$@" >> "$seen"
"""
#: A hook that puts marks of a merge into a note and stages it.
STAGING = """#!/usr/bin/env python3
import subprocess
open('notes/a.md', 'w').write('<<<<<<< a\\n=======\\n>>>>>>> b\\n')
subprocess.run(['git', 'add', 'notes/a.md'])
"""


def states(home: Path) -> set[str]:
    """Return the states that occur among gitmem's hooks."""
    return {hook.state for hook in act(home, "states").hooks}


def refuses(home: Path) -> bool:
    """Say whether a plain commit of a file with marks of a merge is refused."""
    write_files(home, {"notes/clash.md": MARKS})
    git("add", "-A", cwd=home)
    done = run_git("commit", "-qm", "clash", cwd=home)
    git("reset", "-q", "--hard", cwd=home)
    return done.returncode != 0 and b"notes/clash.md:1: conflict" in done.stderr


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home without hooks, and its git dir as it was."""
    return make_home(tmp_path / "aria", hooks=False)


class TestInGitsFolder:
    """`core.hooksPath` is not set: hooks lie in the git dir."""

    def test_a_second_install_changes_nothing(self, home: Path) -> None:
        """The first one does everything, and says what."""
        assert states(home) == {"missing"}
        assert list(act(home, "install").changed) == list(CLIENT)
        before = picture(home / ".git")
        assert act(home, "install").changed == []
        assert picture(home / ".git") == before
        assert states(home) == {"installed"}
        assert refuses(home)

    @pytest.mark.parametrize("folder", ["as git makes it", "absent", "empty"])
    def test_uninstall_leaves_no_trace(self, home: Path, folder: str) -> None:
        """Not a byte of the git dir is other than before, the folder itself included."""
        hooks = home / ".git" / "hooks"
        if folder != "as git makes it":
            for path in hooks.iterdir():
                path.unlink()
        if folder == "absent":
            hooks.rmdir()
        before = picture(home / ".git")
        act(home, "install")
        assert list(act(home, "uninstall").changed) == list(CLIENT)
        assert picture(home / ".git") == before
        assert not refuses(home)

    def test_hooks_that_were_there_come_back_byte_for_byte(self, home: Path, tmp_path: Path) -> None:
        """Scripts, links, links to nothing, odd permissions, files that Git does not run: all are kept."""
        hooks = home / ".git" / "hooks"
        shared = write_hook(tmp_path / "shared" / "hook", "#!/bin/sh\n")
        write_hook(hooks / "pre-commit", "#!/bin/sh\r\nexit 0", 0o700)
        (hooks / "post-commit").symlink_to(shared)
        (hooks / "post-merge").symlink_to("nowhere")
        write_hook(hooks / "pre-push", "not run\n", 0o644)
        write_hook(hooks / "commit-msg", "#!/bin/sh\n")
        before = picture(home / ".git")
        act(home, "install")
        assert states(home) == {"installed"}
        chained = {hook.id for hook in act(home, "states").hooks if hook.chained}
        assert chained == {"pre-commit", "post-commit"}
        act(home, "uninstall")
        assert picture(home / ".git") == before

    def test_a_hook_that_was_there_runs_first_and_its_no_counts(self, home: Path) -> None:
        """Its exit code is Git's answer, whether or not gitmem would have had something to say."""
        hook = write_hook(home / ".git" / "hooks" / "pre-commit", "#!/bin/sh\necho mine >&2\nexit 7\n")
        act(home, "install")
        done = run_git("commit", "--allow-empty", "-qm", "x", cwd=home)
        assert (done.returncode, done.stderr) == (1, b"mine\n")
        write_hook(hook.with_name("pre-commit.before-gitmem"), "#!/bin/sh\necho mine >&2\n")
        assert refuses(home)

    def test_a_hook_in_another_language_and_one_that_stages(self, home: Path) -> None:
        """What a formatter stages in its hook is what gitmem looks through."""
        write_hook(home / ".git" / "hooks" / "pre-commit", STAGING)
        act(home, "install")
        write_files(home, {"notes/a.md": "fine\n"})
        git("add", "-A", cwd=home)
        done = run_git("commit", "-qm", "x", cwd=home)
        assert done.returncode == 1
        assert b"notes/a.md:1: conflict" in done.stderr

    def test_standard_input_reaches_both(self, home: Path, tmp_path: Path) -> None:
        """Hooks that Git tells by standard input hear the same as without gitmem's before them."""
        for name in ("pre-push", "reference-transaction", "post-rewrite"):
            write_hook(home / ".git" / "hooks" / name, LISTENING)
        git("init", "-q", "--bare", str(tmp_path / "o.git"), cwd=tmp_path)

        def heard() -> str:
            commit_all(home, "a", {"notes/a.md": "a\n"}, when=1_772_442_100)
            git("push", "-q", str(tmp_path / "o.git"), "HEAD:refs/heads/x", "HEAD:refs/heads/y", cwd=home)
            env = {"GIT_COMMITTER_DATE": "@1772442200 +0000"}
            git("commit", "-q", "--amend", "-m", "b", cwd=home, env=env)
            said = (home / ".git" / "seen").read_text()
            (home / ".git" / "seen").unlink()
            git("reset", "-q", "--hard", "HEAD~1", cwd=home)
            git("push", "-q", str(tmp_path / "o.git"), ":x", ":y", cwd=home)
            (home / ".git" / "seen").unlink()
            return said

        alone = heard()
        assert "prepared" in alone
        assert "amend" in alone
        act(home, "install")
        assert heard() == alone

    def test_a_refusal_of_each_kind_is_kept(self, home: Path, tmp_path: Path) -> None:
        """A push, a ref and a checkout fail as they did when the operator's hook says no."""
        git("init", "-q", "--bare", str(tmp_path / "o.git"), cwd=tmp_path)
        for name in ("pre-push", "post-checkout"):
            write_hook(home / ".git" / "hooks" / name, "#!/bin/sh\nexit 3\n")
        write_hook(home / ".git" / "hooks" / "reference-transaction", "#!/bin/sh\n! grep -q refs/heads/bad\n")
        act(home, "install")
        assert run_git("push", "-q", str(tmp_path / "o.git"), "HEAD:refs/heads/x", cwd=home).returncode == 1
        assert run_git("checkout", "-qb", "good", cwd=home).returncode == 1
        assert run_git("branch", "bad", cwd=home).returncode == 128
        assert run_git("branch", "fine", cwd=home).returncode == 0

    def test_a_framework_that_comes_later_and_moves_the_hook_aside(self, home: Path) -> None:
        """The framework pre-commit runs what it finds as `.legacy`: gitmem's hook is still installed."""
        hooks = home / ".git" / "hooks"
        own = write_hook(hooks / "pre-commit", '#!/bin/sh\n[ -z "$PRE_COMMIT_RUNNING_LEGACY" ] || exit 9\n')
        act(home, "install")
        (hooks / "pre-commit").rename(hooks / "pre-commit.legacy")
        script = '#!/bin/sh\n[ -z "$PRE_COMMIT_RUNNING_LEGACY" ] || exit 9\n'
        write_hook(own, script + 'PRE_COMMIT_RUNNING_LEGACY=1 exec "${0%/*}/pre-commit.legacy"\n')
        assert states(home) == {"installed"}
        assert act(home, "install").changed == []
        assert refuses(home)
        git("commit", "-q", "--allow-empty", "-m", "fine", cwd=home)
        write_hook(hooks / "pre-commit.before-gitmem", own.read_text())
        act(home, "uninstall")
        assert not list(hooks.glob("pre-commit.*[!e]"))
        assert (hooks / "pre-commit").read_text().startswith(script)

    def test_a_hook_that_overwrote_gitmems_is_named_and_left(self, home: Path) -> None:
        """What was there before and what came later are both the operator's: nothing is thrown away."""
        hooks = home / ".git" / "hooks"
        write_hook(hooks / "pre-commit", "#!/bin/sh\necho one >&2\n")
        act(home, "install")
        write_hook(hooks / "pre-commit", "#!/bin/sh\necho two >&2\n")
        assert states(home) == {"installed", "replaced"}
        report = act(home, "install")
        assert report.changed == []
        assert "pre-commit.before-gitmem" in report.notes[0]
        report = act(home, "uninstall")
        assert "pre-commit.before-gitmem" in report.notes[0]
        assert (hooks / "pre-commit").read_text().endswith("two >&2\n")
        assert (hooks / "pre-commit.before-gitmem").read_text().endswith("one >&2\n")

    def test_a_hook_that_took_a_free_name_is_chained_by_the_next_install(self, home: Path) -> None:
        """Where there was none before, the newcomer is simply the one that runs first."""
        act(home, "install")
        write_hook(home / ".git" / "hooks" / "pre-commit", "#!/bin/sh\nexit 0\n")
        assert act(home, "install").changed == ["pre-commit"]
        assert states(home) == {"installed"}
        assert refuses(home)

    def test_another_interpreter_is_noticed_and_put_right(self, home: Path) -> None:
        """Hooks of a gitmem that moved are `outdated`; installing again mends them."""
        act(home, "install", python="/opt/old/python")
        assert states(home) == {"installed", "outdated"}
        act(home, "install")
        assert states(home) == {"installed"}

    @pytest.mark.parametrize("folder", [None, ".githooks"])
    def test_an_interpreter_of_two_names_is_one(self, home: Path, tmp_path: Path, folder: str | None) -> None:
        """`python -c` and `gitmem` of one environment start by other names, and no hook is outdated by it."""
        if folder is not None:
            git("config", "core.hooksPath", folder, cwd=home)
        for name in ("one", "two"):
            environment = tmp_path / name / "bin"
            environment.mkdir(parents=True)
            (environment / "python").symlink_to(sys.executable)
            (environment / "python3").symlink_to("python")
        act(home, "install", python=str(tmp_path / "one/bin/python"))
        same = str(tmp_path / "one/bin/python3")
        assert {hook.state for hook in act(home, "states", python=same).hooks} == {"installed"}
        assert act(home, "install", python=same).changed == []
        other = str(tmp_path / "two/bin/python")
        assert "outdated" in {hook.state for hook in act(home, "states", python=other).hooks}
        assert "pre-commit" in act(home, "install", python=other).changed


@pytest.mark.slow
class TestInAnotherFolder:
    """`core.hooksPath` names a folder outside the git dir: it stays as it is."""

    @pytest.fixture(params=["relative", "absolute", "home directory", "included", "user's own"])
    def theirs(
        self, request: pytest.FixtureRequest, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Path:
        """An operator's folder of hooks, and Git's configuration that names it."""
        monkeypatch.setenv("HOME", str(tmp_path))
        place = tmp_path / "shared-hooks"
        if request.param == "relative":
            place = home / ".githooks"
            git("config", "core.hooksPath", ".githooks", cwd=home)
        elif request.param == "absolute":
            git("config", "core.hooksPath", str(place), cwd=home)
        elif request.param == "home directory":
            git("config", "core.hooksPath", "~/shared-hooks", cwd=home)
        elif request.param == "included":
            (home / ".git" / "more").write_text(f"[core]\n\thooksPath = {place}\n")
            text = (home / ".git" / "config").read_text()
            (home / ".git" / "config").write_text("[include]\n\tpath = more\n" + text)
        else:
            (tmp_path / "user-config").write_text(f"[core]\n\thooksPath = {place}\n")
            monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "user-config"))
        write_hook(place / "pre-commit", "#!/bin/sh\necho theirs >&2\n")
        write_hook(place / "commit-msg", '#!/bin/sh\ngrep -q . "$1" && echo message >&2\n')
        write_hook(place / "post-update", "#!/bin/sh\n")
        if request.param == "relative":
            commit_all(home, "hooks", {})
        return place

    def test_both_run_and_uninstall_leaves_no_trace(self, home: Path, theirs: Path) -> None:
        """The operator's folder is not touched, and Git's configuration is the same again afterwards."""
        folder, git_dir = picture(theirs), picture(home / ".git")
        report = act(home, "install")
        assert picture(theirs) == folder
        assert git("status", "--porcelain", cwd=home) == ""
        assert act(home, "install").changed == []
        states = {hook.id: hook for hook in report.hooks}
        chained = str(theirs / "pre-commit")
        path = str(home / ".git" / "gitmem" / "hooks" / "pre-commit")
        assert states["pre-commit"] == HookState("pre-commit", path, "installed", chained)
        assert refuses(home)
        done = run_git("commit", "-q", "--allow-empty", "-m", "x", cwd=home)
        assert done.stderr == b"theirs\nmessage\n"
        git("reset", "-q", "--soft", "HEAD~1", cwd=home)
        before = git("rev-parse", "HEAD", cwd=home)
        act(home, "uninstall")
        assert git("rev-parse", "HEAD", cwd=home) == before
        after = picture(home / ".git")
        for name in ("config", "hooks", "gitmem/hooks", "gitmem/hooks.json"):
            assert after.get(name) == git_dir.get(name)
        assert picture(theirs) == folder

    def test_hooks_that_people_add_there_later_run(self, home: Path, theirs: Path) -> None:
        """The folder is still where an operator puts hooks."""
        act(home, "install")
        write_hook(theirs / "prepare-commit-msg", '#!/bin/sh\necho later >> "$1"\n')
        git("commit", "-q", "--allow-empty", "-m", "x", cwd=home)
        assert git("log", "-1", "--format=%B", cwd=home).endswith("later\n")

    def test_other_repositories_with_that_folder_see_nothing_of_gitmem(
        self, home: Path, theirs: Path
    ) -> None:
        """A folder that repositories share brings none of gitmem's hooks into the others."""
        act(home, "install")
        other = make_repo(home.parent / "other")
        git("config", "core.hooksPath", str(theirs), cwd=other)
        commit_all(other, "clash", {"notes/a.md": MARKS})


def test_a_hook_manager_that_sets_the_path_later_is_noticed(home: Path) -> None:
    """Husky sets `core.hooksPath` at each `npm install`; then the list says that gitmem's do not run."""
    act(home, "install")
    write_hook(home / ".husky" / "_" / "pre-commit", "#!/bin/sh\necho husky >&2\n")
    git("config", "core.hooksPath", ".husky/_", cwd=home)
    assert states(home) == {"missing"}
    act(home, "install")
    assert refuses(home)
    git("config", "core.hooksPath", ".husky/_", cwd=home)
    assert states(home) == {"missing"}
    act(home, "install")
    assert refuses(home)
    act(home, "uninstall")
    assert git("config", "core.hooksPath", cwd=home) == ".husky/_"
    assert {path.suffix for path in (home / ".git" / "hooks").iterdir()} == {".sample"}


def test_a_folder_of_hooks_that_is_a_link(home: Path) -> None:
    """Some link `.git/hooks` to a tracked folder: nothing is written through the link."""
    write_hook(home / "tools" / "pre-commit", "#!/bin/sh\necho linked >&2\n")
    commit_all(home, "tools")
    shutil.rmtree(home / ".git" / "hooks")
    (home / ".git" / "hooks").symlink_to("../tools")
    before = picture(home / ".git")
    act(home, "install")
    assert git("status", "--porcelain", cwd=home) == ""
    assert states(home) == {"installed"}
    assert refuses(home)
    assert run_git("commit", "-q", "--allow-empty", "-m", "x", cwd=home).stderr == b"linked\n"
    git("reset", "-q", "--soft", "HEAD~1", cwd=home)
    act(home, "uninstall")
    after = picture(home / ".git")
    assert all(after.get(name) == before.get(name) for name in ("config", "hooks", "gitmem/hooks.json"))


def test_linked_work_trees_share_the_hooks(home: Path, tmp_path: Path) -> None:
    """Git has one folder of hooks for all work trees, and each is judged by its own staging area."""
    act(home, "install")
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", "-b", "side", str(linked), cwd=home)
    assert {hook.state for hook in act(linked, "states").hooks} == {"installed"}
    assert refuses(linked)
    git("config", "core.hooksPath", ".githooks", cwd=home)
    write_hook(linked / ".githooks" / "pre-commit", "#!/bin/sh\nexit 1\n")
    act(linked, "install")
    assert refuses(home)
    assert run_git("commit", "-q", "--allow-empty", "-m", "x", cwd=linked).returncode == 1


def test_a_separate_git_dir(tmp_path: Path) -> None:
    """The hooks stand in the git dir wherever that is."""
    place = tmp_path / "elsewhere" / "git"
    place.parent.mkdir()
    git("init", "-q", "-b", "main", "--separate-git-dir", str(place), str(tmp_path / "aria"), cwd=tmp_path)
    home = make_home(tmp_path / "aria")
    assert (place / "hooks" / "pre-commit").is_file()
    assert refuses(home)


def test_a_bare_repository_and_nothing_else_in_it(tmp_path: Path) -> None:
    """A server gets one hook, and is byte for byte what it was when that is taken out."""
    bare = tmp_path / "aria.git"
    git("init", "-q", "--bare", str(bare), cwd=tmp_path)
    before = picture(bare)
    ran = gitmem("hooks", "install", "--server", bare, "--json")
    assert [(hook["id"], hook["state"]) for hook in ran.json["hooks"]] == [("update", "installed")]
    assert act(bare, "install", names=SERVER).changed == []
    assert gitmem("hooks", "uninstall", "--server", bare).out == "Taken out: update\n"
    assert picture(bare) == before
    assert gitmem("hooks", "install", "--server", tmp_path).code == 2


def test_init_installs_them_and_leaves_hooks_that_are_there_working(tmp_path: Path) -> None:
    """A repository with hooks of its own becomes a home whose operator still has them."""
    repo = make_repo(tmp_path / "aria")
    write_hook(repo / ".git" / "hooks" / "pre-commit", "#!/bin/sh\necho mine >&2\n")
    ran = gitmem("init", repo)
    assert "installed Git hooks: pre-commit post-commit" in ran.out
    assert refuses(repo)
    assert run_git("commit", "-q", "--allow-empty", "-m", "x", cwd=repo).stderr == b"mine\n"
    assert "Nothing to do" in gitmem("init", repo).out


def test_status_says_what_is_not_installed(home: Path) -> None:
    """A clone brings no hooks: the command is told. gitmem's own are never named as not run."""

    def said() -> str:
        return gitmem("status", cwd=home).out

    assert "gitmem's hooks are not installed" in said()
    assert "gitmem hooks install" in said()
    assert gitmem("hooks", "install", cwd=home).code == 0
    assert "All is well." in said()
    write_hook(home / ".git" / "hooks" / "pre-commit.before-gitmem", "#!/bin/sh\n")
    assert "do not run these hooks: pre-commit\n" in said()
    (home / ".git" / "hooks" / "post-merge").unlink()
    assert "post-merge is missing" in said()


def test_the_path_and_environment_of_a_program_with_a_window_are_enough(home: Path) -> None:
    """A hook finds gitmem's interpreter without the operator's PATH."""
    act(home, "install")
    write_files(home, {"notes/a.md": MARKS})
    assert git_bare_path("add", "-A", cwd=home).returncode == 0
    done = git_bare_path("commit", "-qm", "x", cwd=home)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].startswith("notes/a.md:1: conflict: ")


@pytest.mark.parametrize("gone", ["interpreter", "package"])
def test_a_gitmem_that_is_gone_is_said_once_and_stops_nothing(home: Path, gone: str) -> None:
    """A removed environment costs the checks, with one line, and never an operator's commit."""
    python = "/nonexistent/python3" if gone == "interpreter" else "/usr/bin/false"
    act(home, "install", python=python)
    write_files(home, {"notes/a.md": MARKS})
    git("add", "-A", cwd=home)
    done = git_bare_path("-c", "user.name=o", "-c", "user.email=o@x", "commit", "-qm", "x", cwd=home)
    assert done.returncode == 0
    assert done.stderr.startswith("gitmem: not checked")
    assert done.stderr.count("\n") == 1
    assert (
        subprocess.run(["git", "checkout", "-q", "-b", "x"], cwd=home, capture_output=True, check=True).stderr
        == b""
    )
