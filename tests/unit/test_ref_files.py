"""Refs on disk beside Git: every place where Git may keep one, and what must never be guessed."""

from __future__ import annotations

import errno
import os
import resource
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures import commit_all, git, head, make_repo, run_git
from gitmem.backends.dulwich_repository import open_repository
from gitmem.errors import CorruptionError, HeadMoved, HomeError, HomeLocked
from gitmem.layout import find_layout
from gitmem.ref_files import RefFiles
from gitmem.repository import ABSENT, Head

WHO = "aria <aria@example.com>"
LINE = "refs/heads/gitmem/turns/w0123abcd"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with two commits on main."""
    path = make_repo(tmp_path / "home")
    commit_all(path, "one", {"a": "1"})
    commit_all(path, "two", {"a": "2"})
    return path


def refs_of(repo: Path, **settings: str) -> RefFiles:
    """Return the refs of a work tree, with some configuration."""
    return RefFiles(find_layout(repo), settings.get if settings else lambda _: None)


def configured(repo: Path, setting: Callable[[str], str | None]) -> RefFiles:
    """Return the refs of a work tree under a configuration."""
    return RefFiles(find_layout(repo), setting)


def move(refs: RefFiles, old: str, new: str, name: str = LINE) -> None:
    """Move a ref without a word."""
    refs.move(name, old=old, new=new, message="turn", who=WHO)


def test_git_sees_every_move_and_its_reflog(repo: Path) -> None:
    """What is written is what `git update-ref` would have written, log included."""
    refs = refs_of(repo)
    one, two = head(repo, "HEAD~1"), head(repo)
    move(refs, ABSENT, one)
    move(refs, one, two)
    assert head(repo, LINE) == two
    assert git("reflog", "show", "--format=%H %gs %gn", LINE, cwd=repo).split("\n") == [
        f"{two} turn aria",
        f"{one} turn aria",
    ]
    git("fsck", "--strict", cwd=repo)
    assert not [path for path in (repo / ".git").rglob("*") if path.name.endswith((".lock", "-new"))]


@pytest.mark.parametrize("packed_by", [["pack-refs", "--all"], ["gc", "-q"]])
def test_packed_refs_are_read_moved_and_removed(repo: Path, packed_by: list[str]) -> None:
    """After `git gc` a branch stands in packed-refs only; it still reads, moves and goes."""
    refs = refs_of(repo)
    one, two = head(repo, "HEAD~1"), head(repo)
    move(refs, ABSENT, one)
    git("tag", "-a", "-m", "x", "v1", cwd=repo)
    git(*packed_by, cwd=repo)
    assert not (repo / ".git" / LINE).exists()
    assert refs.read(LINE) == one
    assert refs.head() == Head("refs/heads/main", two)
    assert set(refs.below("refs/")) == {LINE, "refs/heads/main", "refs/tags/v1"}
    with pytest.raises(HeadMoved):
        move(refs, ABSENT, two)
    move(refs, one, two)
    assert refs.read(LINE) == two == head(repo, LINE)
    assert refs.below("refs/heads/gitmem/") == {LINE: two}
    move(refs, two, ABSENT)
    assert refs.read(LINE) is None
    assert run_git("rev-parse", "-q", "--verify", LINE, cwd=repo).returncode == 1
    assert git("rev-parse", "v1^{}", cwd=repo) == two
    assert b"^" + two.encode() in (repo / ".git" / "packed-refs").read_bytes()
    move(refs, ABSENT, one)
    assert refs.read(LINE) == one


def test_a_packed_ref_is_removed_when_it_is_packed_only(repo: Path) -> None:
    """Removing needs no loose file."""
    one = head(repo)
    refs = refs_of(repo)
    move(refs, ABSENT, one)
    git("pack-refs", "--all", cwd=repo)
    move(refs, one, ABSENT)
    assert refs.read(LINE) is None
    assert refs.head().commit == one


def test_clashes_with_packed_and_loose_refs_are_refused(repo: Path) -> None:
    """Git would refuse the name too; both halves must not exist at once, whatever is packed."""
    refs = refs_of(repo)
    commit = head(repo)
    git("branch", "gitmem", cwd=repo)
    with pytest.raises(HomeError, match="refs/heads/gitmem stands") as loose:
        move(refs, ABSENT, commit)
    assert "git branch -m gitmem" in (loose.value.hint or "")
    git("pack-refs", "--all", cwd=repo)
    with pytest.raises(HomeError, match="refs/heads/gitmem stands"):
        move(refs, ABSENT, commit)
    git("branch", "-m", "gitmem", "deep/one/two", cwd=repo)
    for packed in (False, True):
        if packed:
            git("pack-refs", "--all", cwd=repo)
        with pytest.raises(HomeError, match="deep/one/two stands"):
            move(refs, ABSENT, commit, "refs/heads/deep/one")
    move(refs, ABSENT, commit)
    git("fsck", "--strict", cwd=repo)


def test_empty_folders_of_former_branches_give_way(repo: Path) -> None:
    """A removed branch leaves folders behind, for refs and for logs; they are no branch."""
    refs = refs_of(repo)
    commit = head(repo)
    for kind in ("", "logs/"):
        (repo / ".git" / f"{kind}{LINE}" / "old" / "er").mkdir(parents=True)
    assert refs.read(LINE) is None
    move(refs, ABSENT, commit)
    git("pack-refs", "--all", cwd=repo)
    (repo / ".git" / LINE / "old").mkdir(parents=True)
    move(refs, commit, head(repo, "HEAD~1"))
    assert head(repo, LINE) == head(repo, "HEAD~1")


def test_linked_worktrees_share_branches_and_keep_their_head(repo: Path, tmp_path: Path) -> None:
    """Branches lie in the common dir, HEAD and bisect refs in each work tree's own."""
    git("worktree", "add", "-q", "-b", "side", tmp_path / "linked", cwd=repo)
    main, linked = refs_of(repo), refs_of(tmp_path / "linked")
    commit = head(repo)
    move(linked, ABSENT, commit)
    assert main.read(LINE) == commit
    assert (main.head().branch, linked.head().branch) == ("refs/heads/main", "refs/heads/side")
    move(linked, ABSENT, commit, "refs/worktree/mark")
    assert git("rev-parse", "refs/worktree/mark", cwd=tmp_path / "linked") == commit
    assert (linked.read("refs/worktree/mark"), main.read("refs/worktree/mark")) == (commit, None)
    assert (repo / ".git" / "logs" / LINE).is_file()


def test_head_is_read_in_all_its_shapes(repo: Path, tmp_path: Path) -> None:
    """Symbolic, detached, unborn, a symbolic link, a branch that points at another."""
    refs = refs_of(repo)
    commit = head(repo)
    assert refs.head() == Head("refs/heads/main", commit)
    git("symbolic-ref", "refs/heads/alias", "refs/heads/main", cwd=repo)
    git("symbolic-ref", "HEAD", "refs/heads/alias", cwd=repo)
    assert refs.head() == Head("refs/heads/alias", commit)
    with pytest.raises(HeadMoved):
        move(refs, commit, head(repo, "HEAD~1"), "refs/heads/alias")
    git("checkout", "-q", "--detach", "main", cwd=repo)
    assert refs.head() == Head(None, commit)
    git("checkout", "-q", "--orphan", "fresh", cwd=repo)
    assert refs.head() == Head("refs/heads/fresh", None)
    (repo / ".git" / "HEAD").unlink()
    (repo / ".git" / "HEAD").symlink_to("refs/heads/main")
    assert refs.head() == Head("refs/heads/main", commit)


@pytest.mark.parametrize("content", [b"", b"\0" * 41, b"ref: ../../../etc/passwd\n", b"deadbeef\n"])
def test_a_damaged_ref_is_told_and_never_read_past(repo: Path, content: bytes) -> None:
    """What a power cut leaves in a loose ref is not the stale value in packed-refs, nor absence."""
    refs = refs_of(repo)
    commit = head(repo)
    move(refs, ABSENT, commit)
    git("pack-refs", "--all", "--no-prune", cwd=repo)
    (repo / ".git" / LINE).write_bytes(content)
    with pytest.raises(CorruptionError):
        refs.read(LINE)
    with pytest.raises(CorruptionError):
        move(refs, commit, head(repo, "HEAD~1"))
    assert list(refs.below("refs/")) == ["refs/heads/main"]
    (repo / ".git" / "HEAD").write_bytes(content)
    with pytest.raises(CorruptionError):
        refs.head()


def test_a_circle_of_refs_ends(repo: Path) -> None:
    """Two refs that name each other are damage, not a hang."""
    for one, other in (("a", "b"), ("b", "a")):
        (repo / ".git" / "refs" / "heads" / one).write_text(f"ref: refs/heads/{other}\n")
    with pytest.raises(CorruptionError):
        refs_of(repo).read("refs/heads/a")
    assert list(refs_of(repo).below("refs/heads/")) == ["refs/heads/main"]


@pytest.fixture
def out_of_files() -> Iterator[None]:
    """Let this process open no further file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_ref_that_cannot_be_opened_is_an_error(repo: Path, request: pytest.FixtureRequest) -> None:
    """Out of descriptors, the stale packed value is never given for the loose one."""
    refs = refs_of(repo)
    one, two = head(repo, "HEAD~1"), head(repo)
    move(refs, ABSENT, one)
    git("pack-refs", "--all", cwd=repo)
    move(refs, one, two)
    request.getfixturevalue("out_of_files")
    with pytest.raises(OSError) as failure:
        refs.read(LINE)
    assert failure.value.errno == errno.EMFILE


def test_an_unreadable_loose_ref_is_an_error(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the right to read it the value is unknown, not what packed-refs says."""
    refs = refs_of(repo)
    one, two = head(repo, "HEAD~1"), head(repo)
    move(refs, ABSENT, one)
    git("pack-refs", "--all", cwd=repo)
    move(refs, one, two)
    real = os.open

    def refuse(path: Path, *args: int, **more: int) -> int:
        # The tests may run as root, whom no permission bit stops.
        if Path(path).name == "w0123abcd":
            raise PermissionError(errno.EACCES, "denied", str(path))
        return real(path, *args, **more)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError):
        refs.read(LINE)
    with pytest.raises(PermissionError):
        move(refs, one, two)


@pytest.mark.parametrize(
    ("setting", "existing", "logged"),
    [(None, False, True), ("false", False, False), ("false", True, True), ("always", False, True)],
)
def test_reflogs_obey_the_operators_setting(
    repo: Path, setting: str | None, existing: bool, logged: bool
) -> None:
    """No log is begun against `core.logAllRefUpdates`; one that exists is continued, as git does."""
    log = repo / ".git" / "logs" / LINE
    if existing:
        log.parent.mkdir(parents=True)
        log.touch()
    refs = configured(repo, lambda key: setting if key == "core.logAllRefUpdates" else None)
    move(refs, ABSENT, head(repo))
    assert (log.exists() and log.stat().st_size > 0) is logged


def test_a_held_lock_is_waited_for_and_never_broken(repo: Path) -> None:
    """A lock of another program stays; the move says whose it is."""
    lock = repo / ".git" / f"{LINE}.lock"
    lock.parent.mkdir(parents=True)
    lock.write_bytes(b"")
    with pytest.raises(HomeLocked):
        move(refs_of(repo), ABSENT, head(repo))
    assert lock.read_bytes() == b""


def test_of_many_movers_each_wins_once(repo: Path) -> None:
    """Compare-and-swap from many threads leaves a chain without a lost step."""
    commits = [commit_all(repo, f"c{n}") for n in range(12)]
    move(refs_of(repo), ABSENT, commits[0])
    moved: list[str] = []

    def climb() -> None:
        refs = refs_of(repo)
        for _ in range(400):
            now = refs.read(LINE)
            assert now is not None
            at = commits.index(now)
            if at == len(commits) - 1:
                return
            try:
                move(refs, now, commits[at + 1])
            except HeadMoved:
                continue
            moved.append(commits[at + 1])

    threads = [threading.Thread(target=climb) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(moved) == sorted(commits[1:])
    assert git("reflog", "show", "--format=%H", LINE, cwd=repo).split() == commits[::-1]


def test_a_full_disk_leaves_the_ref_as_it_was(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the new value cannot be written the old one stands, without a lock or a file left behind."""
    refs = refs_of(repo)
    one, two = head(repo, "HEAD~1"), head(repo)
    move(refs, ABSENT, one)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="full"):
            move(refs, one, two)
    assert refs.read(LINE) == one
    assert [path.name for path in (repo / ".git" / LINE).parent.iterdir()] == ["w0123abcd"]


def test_shared_repositories_stay_writable_for_the_group(tmp_path: Path) -> None:
    """Files and new folders carry the group's rights, which `core.sharedRepository` asks for."""
    git("init", "-q", "-b", "main", "--shared=group", tmp_path / "home", cwd=tmp_path)
    repo = tmp_path / "home"
    git("-c", "user.name=x", "-c", "user.email=y", "commit", "-q", "--allow-empty", "-m", "one", cwd=repo)
    old = os.umask(0o077)
    try:
        repository = open_repository(find_layout(repo))
        repository.move_ref(LINE, old=ABSENT, new=head(repo), message="", who=WHO)
    finally:
        os.umask(old)
    ref = repo / ".git" / LINE
    assert stat.S_IMODE(ref.stat().st_mode) == 0o660
    for folder in (ref.parent, ref.parent.parent, (repo / ".git" / "logs" / LINE).parent):
        assert stat.S_IMODE(folder.stat().st_mode) & 0o2070 == 0o2070
    assert stat.S_IMODE((repo / ".git" / "logs" / LINE).stat().st_mode) == 0o660


def synced_folders(refs: RefFiles, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the folders that `settle` makes durable, as paths below the git dir."""
    seen: list[Path] = []
    monkeypatch.setattr("gitmem.ref_files.sync_folder", seen.append)
    refs.settle()
    return sorted(path.as_posix().rpartition(".git/")[2] for path in seen)


def test_settling_covers_new_folders_and_what_others_moved(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new branch's folders are made durable up to refs/; the turn lines always, whoever moved them."""
    refs = refs_of(repo)
    turns = "refs/heads/gitmem/turns"
    assert synced_folders(refs, monkeypatch) == [turns]
    move(refs, ABSENT, head(repo))
    assert synced_folders(refs, monkeypatch) == ["refs", "refs/heads", "refs/heads/gitmem", turns]
    assert synced_folders(refs, monkeypatch) == [turns]


def test_a_move_that_may_be_lost_is_made_durable_by_settling(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sync for many moves, and for those of other processes; without settling there is none."""
    synced: list[int] = []
    real = os.fsync

    def note(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        real(descriptor)

    def inode(name: str) -> int:
        return (repo / ".git" / name).stat().st_ino

    refs = refs_of(repo)
    line = "refs/heads/gitmem/turns/w0123abcd"
    begin, first, second = head(repo), commit_all(repo), commit_all(repo)
    refs.move(line, old=ABSENT, new=begin, message="", who=WHO)
    monkeypatch.setattr(os, "fsync", note)
    refs.move(line, old=begin, new=first, message="", who=WHO, durable=False)
    refs.move(line, old=first, new=second, message="", who=WHO, durable=False)
    assert synced == []
    refs_of(repo).settle()
    assert synced == [inode(line), inode("refs/heads/gitmem/turns")]
    refs.move("refs/heads/x", old=ABSENT, new=second, message="", who=WHO, durable=False)
    refs.settle()
    assert {inode("refs/heads/x"), inode("refs/heads")} <= set(synced)
    assert refs.read(line) == second


def test_settling_before_the_first_turn_is_no_fault(repo: Path) -> None:
    """There is nothing to make durable yet."""
    refs_of(repo).settle()
