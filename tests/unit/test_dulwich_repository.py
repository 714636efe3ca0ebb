"""The repository on disk beside Git: whatever git does to objects and settings is seen, without reopening."""

from __future__ import annotations

import errno
import gc
import os
import resource
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contract.repository_contract import WHO, commit_of, put, put_chain
from fixtures import commit_all, git, head, make_repo, run_git
from gitmem import new_repository, pack_files
from gitmem.backends.dulwich_repository import DulwichRepository, init_repository, open_repository
from gitmem.errors import HomeError, ObjectMissing
from gitmem.file_lock import file_lock
from gitmem.git_objects import make_object, make_tree
from gitmem.layout import find_layout
from gitmem.repository import ABSENT, FILE_MODE, Head, TreeEntry, read_path

Opened = Callable[[Path], DulwichRepository]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """A function that opens a work tree's repository; all are closed at the end."""
    repositories: list[DulwichRepository] = []

    def open_it(root: Path) -> DulwichRepository:
        repositories.append(open_repository(find_layout(root)))
        return repositories[-1]

    yield open_it
    for repository in repositories:
        repository.close()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one commit on main."""
    path = make_repo(tmp_path / "home")
    commit_all(path, "one", {"notes/a.md": "a\n"})
    return path


class TestObjects:
    """Reading beside Git."""

    def test_git_may_pack_and_unpack_at_any_time(self, repo: Path, opened: Opened) -> None:
        """Loose, packed, packed again, loose again: an open reader finds everything that is reachable."""
        reader = opened(repo)
        commit = head(repo)
        for command in ("gc -q", "repack -q -a -d -f", "gc -q --prune=now", "pack-refs --all"):
            git(*command.split(), cwd=repo)
            for name in (commit, git("rev-parse", "HEAD:notes/a.md", cwd=repo)):
                assert reader.contains(name)
                reader._recent.clear()
                reader.read(name)
            commit = commit_all(repo, command, {"notes/a.md": command})
            assert reader.read_commit(commit).message == f"{command}\n"

    def test_what_was_pruned_is_not_there(self, repo: Path, opened: Opened) -> None:
        """An open index of a removed pack does not answer: `contains` decides whether to write an object."""
        reader = opened(repo)
        blob = make_object("blob", b"unreachable")
        put(reader, blob)
        assert reader.contains(blob.id)
        git("repack", "-q", "-a", "-d", cwd=repo)
        assert not reader.contains(blob.id)

    def test_packs_of_other_processes_are_seen_at_once(self, repo: Path, opened: Opened) -> None:
        """A reader that was opened before a write finds it."""
        reader, writer = opened(repo), opened(repo)
        assert reader.contains(head(repo))
        chain = put_chain(writer, 3)
        assert reader.read_commit(chain[2]).parents == (chain[1],)
        assert reader.contains(chain[0])

    def test_alternates_and_shallow_clones_are_read(self, repo: Path, tmp_path: Path, opened: Opened) -> None:
        """A clone that borrows its objects, and one without its past, are ordinary homes."""
        commit_all(repo, "two", {"notes/b.md": "b"})
        git("clone", "-q", "--shared", repo, tmp_path / "borrowing", cwd=tmp_path)
        git("clone", "-q", "--depth=1", f"file://{repo}", tmp_path / "shallow", cwd=tmp_path)
        commit = head(repo)
        borrowing, shallow = opened(tmp_path / "borrowing"), opened(tmp_path / "shallow")
        assert borrowing.contains(commit)
        assert len(list(borrowing.walk_first_parents(commit))) == 2
        assert [found.id for found in shallow.walk_first_parents(commit)] == [commit]
        assert shallow.is_ancestor(head(repo, "HEAD~1"), commit)
        assert read_path(borrowing, borrowing.read_commit(commit).tree, "notes/b.md") is not None

    @pytest.mark.parametrize("ending", [".pack", ".idx"])
    @pytest.mark.parametrize("size", [0, 20, 60])
    def test_a_torn_pack_hides_nothing_else(self, repo: Path, opened: Opened, ending: str, size: int) -> None:
        """One damaged pack costs only what it alone held."""
        reader = opened(repo)
        good, bad = make_object("blob", b"good"), make_object("blob", os.urandom(500))
        put(reader, bad)
        for path in (repo / ".git" / "objects" / "pack").glob(f"*{ending}"):
            path.chmod(0o644)
            os.truncate(path, size)
        put(reader, good)
        fresh = opened(repo)
        assert fresh.read(good.id) == ("blob", good.content)
        assert fresh.contains(good.id)
        assert fresh.read_commit(head(repo)).message == "one\n"
        with pytest.raises(ObjectMissing):
            fresh.read(bad.id)
        with pytest.raises(ObjectMissing):
            fresh.read("1" * 40)

    @pytest.mark.parametrize("content", [b"", b"\0" * 30, b"x\x9cgarbage"])
    def test_a_torn_loose_object_is_missing(self, repo: Path, opened: Opened, content: bytes) -> None:
        """A file that a power cut emptied is no object, and its id is named."""
        commit = head(repo)
        path = repo / ".git" / "objects" / commit[:2] / commit[2:]
        path.chmod(0o644)
        path.write_bytes(content)
        with pytest.raises(ObjectMissing, match=commit):
            opened(repo).read_commit(commit)

    def test_a_process_out_of_descriptors_does_not_call_objects_missing(
        self, repo: Path, opened: Opened
    ) -> None:
        """What fails for want of files or rights is an error of its own: nobody must repair a sound home."""
        reader = opened(repo)
        assert not reader.contains("1" * 40)
        lowest = os.open(os.devnull, os.O_RDONLY)
        os.close(lowest)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
        try:
            with pytest.raises(OSError) as failure:
                reader.read(head_without_git(repo))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert failure.value.errno == errno.EMFILE

    def test_threads_read_while_others_write(self, repo: Path, opened: Opened) -> None:
        """One object serves several threads."""
        repository = opened(repo)
        tree = make_tree([])
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for turn in range(15):
                    commit = commit_of(tree, message=f"{number}.{turn}\n")
                    put(repository, tree, commit)
                    repository._recent.clear()
                    assert repository.read_commit(commit.id).message == f"{number}.{turn}\n"
                    assert repository.contains(tree.id)
            except BaseException as error:  # noqa: BLE001
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []

    def test_a_forgotten_close_is_quiet(self, repo: Path) -> None:
        """A repository that is dropped lets go of its files without a warning."""
        repository = open_repository(find_layout(repo))
        put(repository, make_tree([]))
        repository._recent.clear()
        repository.read(make_tree([]).id)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del repository
            gc.collect()
        assert caught == []


def head_without_git(repo: Path) -> str:
    """Return the commit of main without starting a process."""
    return (repo / ".git" / "refs" / "heads" / "main").read_text().strip()


class TestSettings:
    """Configuration as Git reads it."""

    def test_the_most_local_value_wins(
        self, repo: Path, tmp_path: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Work tree before repository before user before machine, as `git config` answers."""
        for kind in ("GLOBAL", "SYSTEM"):
            path = tmp_path / kind
            path.write_text(f"[gitmem]\n\ta = {kind}\n\tb = {kind}\n\tc = {kind}\n\td = {kind}\n")
            monkeypatch.setenv(f"GIT_CONFIG_{kind}", str(path))
        monkeypatch.delenv("GIT_CONFIG_NOSYSTEM")
        (tmp_path / "GLOBAL").write_text("[gitmem]\n\ta = user\n\tb = user\n\tc = user\n")
        git("config", "gitmem.a", "first", cwd=repo)
        git("config", "--add", "gitmem.a", "local", cwd=repo)
        git("config", "gitmem.b", "local", cwd=repo)
        git("config", "extensions.worktreeConfig", "true", cwd=repo)
        git("config", "--worktree", "gitmem.a", "tree", cwd=repo)
        repository = opened(repo)
        values = [repository.config(f"gitmem.{name}") for name in "abcd"]
        assert values == ["tree", "local", "user", "SYSTEM"]
        assert values == [git("config", f"gitmem.{name}", cwd=repo) for name in "abcd"]

    def test_a_change_is_seen_at_once(self, repo: Path, opened: Opened) -> None:
        """The operator's `git config` reaches an open home with the next question, through includes too."""
        repository = opened(repo)
        included = repo / ".git" / "more"
        git("config", "include.path", "more", cwd=repo)
        for value in ("one", "two", "six"):
            git("config", "gitmem.x", value, cwd=repo)
            assert repository.config("gitmem.x") == value
            included.write_text(f"[gitmem]\n\ty = {value}\n")
            assert repository.config("gitmem.y") == value
        included.unlink()
        assert repository.config("gitmem.y") is None

    def test_conditional_includes_hold_as_in_git(
        self, repo: Path, tmp_path: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """People give their work identity by folder or branch; it is theirs here too."""
        conditions = {
            "a": f"gitdir:{repo}/",
            "b": "gitdir:home/.git",
            "c": f"gitdir/i:{str(repo).upper()}/**",
            "d": "onbranch:ma*",
            "e": f"gitdir:{tmp_path}/elsewhere/",
            "f": "onbranch:other",
        }
        user = tmp_path / "user"
        rows = []
        for name, condition in conditions.items():
            (tmp_path / f"{name}.inc").write_text(f"[gitmem]\n\t{name} = yes\n")
            rows.append(f'[includeIf "{condition}"]\n\tpath = {name}.inc\n')
        user.write_text("".join(rows))
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(user))
        repository = opened(repo)
        for name, condition in conditions.items():
            told = run_git("config", f"gitmem.{name}", cwd=repo).stdout.decode().strip() or None
            assert repository.config(f"gitmem.{name}") == told, condition

    def test_settings_follow_the_branch(self, repo: Path, opened: Opened) -> None:
        """A switch of the branch changes what `includeIf "onbranch:…"` brings in."""
        (repo / ".git" / "main.inc").write_text("[gitmem]\n\tx = main\n")
        git("config", "includeIf.onbranch:main.path", "main.inc", cwd=repo)
        repository = opened(repo)
        assert repository.config("gitmem.x") == "main"
        git("switch", "-q", "-c", "other", cwd=repo)
        assert repository.config("gitmem.x") is None
        git("switch", "-q", "main", cwd=repo)
        assert repository.config("gitmem.x") == "main"

    def test_own_changes_keep_the_rest_of_the_file(self, repo: Path, opened: Opened) -> None:
        """Comments and order of the operator's file stay; git reads what was set."""
        path = repo / ".git" / "config"
        before = path.read_text() + "# by hand\n[core]\n\tpager = cat ; no less\n"
        path.write_text(before)
        repository = opened(repo)
        repository.set_config("gitmem.branch", "main")
        assert path.read_text() == before + "[gitmem]\n\tbranch = main\n"
        assert git("config", "gitmem.branch", cwd=repo) == "main"
        repository.set_config("gitmem.branch", None)
        assert git("config", "core.pager", cwd=repo) == "cat"

    def test_a_broken_file_is_named(self, repo: Path, opened: Opened) -> None:
        """Git would refuse every command; the message says which file it is."""
        (repo / ".git" / "config").write_text("[core\n")
        with pytest.raises(HomeError, match="config"):
            opened(repo).config("core.bare")

    def test_no_home_directory_is_no_fault(
        self, repo: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A service runs without one."""
        monkeypatch.delenv("GIT_CONFIG_GLOBAL")
        repository = opened(repo)
        assert repository.config("gitmem.x") is None
        assert repository.config("user.name") == "Olivia Operator"

    @pytest.mark.parametrize(
        ("settings", "named"),
        [
            ({}, "sha1"),
            ({"extensions.objectFormat": "sha1", "extensions.worktreeConfig": "true"}, "sha1"),
            ({"extensions.refStorage": "files", "extensions.preciousObjects": "true"}, "sha1"),
            ({"extensions.objectFormat": "sha256"}, "sha256"),
            ({"extensions.refStorage": "reftable"}, "reftable"),
            ({"extensions.partialClone": "origin"}, "partialClone"),
            ({"remote.origin.promisor": "true"}, "partialClone"),
            ({"extensions.fromTheFuture": "1"}, "fromthefuture"),
            ({"core.repositoryFormatVersion": "2"}, "repository format 2"),
        ],
    )
    def test_what_is_not_supported_is_named(
        self, repo: Path, opened: Opened, settings: dict[str, str], named: str
    ) -> None:
        """A home in a format that gitmem does not read is refused by name, not by a crash."""
        for key, value in settings.items():
            git("config", "--file", repo / ".git" / "config", key, value, cwd=repo.parent)
        assert opened(repo).object_format() == named


class TestOpening:
    """What opening costs and cleans up."""

    def test_reading_refs_imports_no_library(self, repo: Path) -> None:
        """`gitmem status` in a prompt should not pay for what it does not use."""
        code = (
            "import sys\nfrom pathlib import Path\n"
            "from gitmem.backends.dulwich_repository import open_repository\n"
            "from gitmem.layout import find_layout\n"
            f"repository = open_repository(find_layout(Path({str(repo)!r})))\n"
            "print(repository.head().commit, *repository.list_refs('refs/heads/'))\n"
            "print([name for name in sys.modules if name.partition('.')[0] == 'dulwich'])\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == f"{head(repo)} refs/heads/main\n[]\n"

    def test_a_killed_writers_keep_goes(self, repo: Path, opened: Opened) -> None:
        """A `.keep` left for ever would keep its pack from every merge."""
        folder = repo / ".git" / "objects" / "pack"
        with subprocess.Popen([sys.executable, "-c", ""]) as process:
            process.wait()
        left = folder / "pack-x.keep"
        left.write_text(f"gitmem {process.pid}\n")
        layout = find_layout(repo)
        with file_lock(layout.maintenance_lock, wait=0):
            opened(repo)
        assert left.exists()
        opened(repo)
        assert not left.exists()

    def test_opening_changes_nothing(self, repo: Path, opened: Opened) -> None:
        """A look at a repository leaves no file in it."""
        before = sorted(repo.rglob("*"))
        repository = opened(repo)
        repository.head()
        repository.config("core.bare")
        repository.read_commit(head(repo))
        assert sorted(repo.rglob("*")) == before


class TestInit:
    """Making a repository."""

    def test_git_finds_an_ordinary_repository(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Branch main whatever Git is set to, no git program needed, settings as `git init` makes them."""
        home, other = tmp_path / "home", tmp_path / "other"
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "init.defaultBranch")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", "trunk")
        with monkeypatch.context() as patch:
            patch.setenv("PATH", str(tmp_path))
            init_repository(home)
        git("init", "-q", other, cwd=tmp_path)
        assert git("symbolic-ref", "HEAD", cwd=home) == "refs/heads/main"
        local = [git("config", "--local", "--list", cwd=repo) for repo in (home, other)]
        assert local[0] == local[1]
        assert git("status", "--porcelain", cwd=home) == ""
        assert [path.name for path in home.iterdir()] == [".git"]

    def test_an_existing_repository_is_left_alone(self, repo: Path, tmp_path: Path) -> None:
        """Neither a repository nor a linked work tree is touched."""
        git("worktree", "add", "-q", "-b", "side", tmp_path / "linked", cwd=repo)
        before = {path: path.stat().st_mtime_ns for path in sorted(repo.rglob("*"))}
        init_repository(repo)
        init_repository(tmp_path / "linked")
        assert {path: path.stat().st_mtime_ns for path in sorted(repo.rglob("*"))} == before
        assert (tmp_path / "linked" / ".git").is_file()

    def test_of_two_at_once_one_wins(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The slower one finds a whole repository and leaves nothing behind."""
        real = new_repository._fill

        def slow(folder: Path) -> None:
            real(folder)
            if not (tmp_path / "home" / ".git").exists():
                monkeypatch.setattr(new_repository, "_fill", real)
                init_repository(tmp_path / "home")

        monkeypatch.setattr(new_repository, "_fill", slow)
        init_repository(tmp_path / "home")
        assert [path.name for path in (tmp_path / "home").iterdir()] == [".git"]
        repository = open_repository(find_layout(tmp_path / "home"))
        assert repository.head() == Head("refs/heads/main", None)

    def test_a_full_disk_leaves_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Half a repository is never found."""

        def full(*args: object, **more: object) -> None:
            raise OSError(errno.ENOSPC, "full")

        monkeypatch.setattr(new_repository, "write_file", full)
        with pytest.raises(OSError, match="full"):
            init_repository(tmp_path / "home")
        assert list((tmp_path / "home").iterdir()) == []


def test_a_turn_in_a_shared_alternate_clone_is_clean_for_git(
    repo: Path, tmp_path: Path, opened: Opened
) -> None:
    """Objects written into a borrowing clone rest on borrowed ones, and git finds no fault."""
    git("clone", "-q", "--shared", repo, tmp_path / "borrowing", cwd=tmp_path)
    repository = opened(tmp_path / "borrowing")
    blob = git("rev-parse", "HEAD:notes/a.md", cwd=repo)
    tree = make_tree([TreeEntry("a.md", FILE_MODE, blob)])
    commit = commit_of(tree, head(repo))
    with repository.write_pack([tree, commit]):
        repository.move_ref("refs/heads/x", old=ABSENT, new=commit.id, message="", who=WHO)
    git("fsck", "--strict", cwd=tmp_path / "borrowing")
    assert len(pack_files.own_packs(tmp_path / "borrowing" / ".git" / "objects" / "pack")) == 1
