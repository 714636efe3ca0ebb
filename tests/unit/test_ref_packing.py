"""Packing tags: the file is what Git would write, and no tag is lost or comes back, whoever is at work."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures import commit_all, fsck, git, make_repo
from gitmem import ref_packing
from gitmem.backends.dulwich_repository import open_repository
from gitmem.errors import CorruptionError, HomeLocked
from gitmem.git_objects import parse_tag
from gitmem.layout import find_layout
from gitmem.ref_packing import RefPacking, RefReport, clashes, count_loose_tags, loose_tags


class Killed(BaseException):
    """Stands for a kill: nothing that is foreseen for failures runs."""


def packing(repo: Path, step: Callable[[str], object] = lambda _: None) -> RefPacking:
    """Return what packs a repository's tags."""
    layout = find_layout(repo)
    store = open_repository(layout)

    def peel(object_id: str) -> str | None:
        kind, content = store.read(object_id)
        return parse_tag(content)[0] if kind == "tag" else None

    return RefPacking(layout, peel, shared=None, pause=lambda: None, checkpoint=step)


def never() -> bool:
    """Give all the time there is."""
    return False


def refs(repo: Path) -> str:
    """Return every ref with its value and what it peels to, as Git reads them."""
    return git("show-ref", "--head", "-d", cwd=repo)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with annotated and plain tags, in folders and not."""
    repo = make_repo(tmp_path / "home")
    commit_all(repo, "one", {"a.md": "a\n"})
    for name in ("episode/2026-11-30-b", "episode/2026-11-30-a", "v1"):
        git("tag", "-a", "-m", name, name, cwd=repo)
    git("tag", "plain", cwd=repo)
    git("branch", "gitmem/turns/w0123abcd", cwd=repo)
    return repo


def test_the_file_is_byte_for_byte_what_git_writes(repo: Path, tmp_path: Path) -> None:
    """Header, order and peeled values: `git ls-remote` of a file without these shows no `^{}`."""
    twin = tmp_path / "twin"
    shutil.copytree(repo, twin)
    git("pack-refs", cwd=twin)
    before = refs(repo)
    assert packing(repo).run(never) == RefReport(4, 4, 4)
    assert (repo / ".git/packed-refs").read_bytes() == (twin / ".git/packed-refs").read_bytes()
    assert refs(repo) == before
    assert count_loose_tags(repo / ".git", 10) == 0
    assert not (repo / ".git/refs/tags/episode").exists()
    fsck(repo)


def test_branches_stay_loose(repo: Path) -> None:
    """A turn line is read at each turn: its own file is one look, packed-refs may have twenty thousand lines.

    Also where `git gc` had packed it before, which `git pack-refs` would do again.
    """
    git("pack-refs", "--all", cwd=repo)
    line = "refs/heads/gitmem/turns/w0123abcd"
    head = git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "t", cwd=repo)
    git("update-ref", line, head, cwd=repo)
    git("tag", "later", cwd=repo)
    packing(repo).run(never)
    assert (repo / ".git" / line).read_text() == head + "\n"
    assert git("rev-parse", line, cwd=repo) == head


def test_what_is_packed_is_kept_with_its_peeled_value(repo: Path) -> None:
    """Old files lack peeled values or order; both are put right, also a tag that moved since."""
    git("pack-refs", "--all", cwd=repo)
    file = repo / ".git/packed-refs"
    rows = [line for line in file.read_bytes().splitlines(keepends=True) if line[:1] not in b"#^"]
    file.write_bytes(b"".join(reversed(rows)))
    commit_all(repo, "two", {"a.md": "b\n"})
    git("tag", "-f", "-a", "-m", "new", "v1", cwd=repo)
    before = refs(repo)
    packing(repo).run(never)
    assert refs(repo) == before
    shutil.rmtree(repo / ".git/refs/tags")  # nothing of it was needed
    assert refs(repo) == before
    assert b"peeled fully-peeled sorted" in file.read_bytes().splitlines()[0]


def test_what_is_no_plain_tag_is_left(repo: Path) -> None:
    """A symbolic ref, a damaged file and a tag of a missing object are not for the list."""
    tags = repo / ".git/refs/tags"
    (tags / "symbolic").write_text("ref: refs/heads/main\n")
    (tags / "damaged").write_text("what?\n")
    (tags / "missing").write_text("12" * 20 + "\n")
    report = packing(repo).run(never)
    assert (report.found, report.packed, report.removed) == (5, 4, 4)
    assert sorted(path.name for path in tags.iterdir()) == ["damaged", "missing", "symbolic"]


def test_a_clash_of_names_is_not_made_worse(repo: Path) -> None:
    """A name that is a folder of another one: both in one list would be a fault that Git cannot undo."""
    assert [*clashes(["refs/tags/a/b", "refs/tags/c", "refs/tags/d"], ["refs/tags/a", "refs/tags/c/x"])] == [
        "refs/tags/a/b",
        "refs/tags/c",
    ]
    packing(repo).run(never)
    commit = git("rev-parse", "HEAD", cwd=repo)
    folder = repo / ".git/refs/tags/v1"
    folder.mkdir()
    (folder / "below").write_text(commit + "\n")
    report = packing(repo).run(never)
    assert report.clashing == ("refs/tags/v1/below",)
    assert (folder / "below").exists()
    assert b"v1/below" not in (repo / ".git/packed-refs").read_bytes()


def test_a_damaged_list_is_not_written_anew(repo: Path) -> None:
    """What cannot be understood cannot be kept either."""
    file = repo / ".git/packed-refs"
    file.write_bytes(b"# pack-refs with: peeled fully-peeled sorted \nrubbish\n")
    before = file.read_bytes()
    with pytest.raises(CorruptionError):
        packing(repo).run(never)
    assert file.read_bytes() == before
    assert len(loose_tags(repo / ".git")) == 4
    assert not (repo / ".git/packed-refs.lock").exists()


def test_a_lock_of_gits_is_waited_for_and_left(repo: Path) -> None:
    """Somebody else's lock is never removed."""
    lock = repo / ".git/packed-refs.lock"
    lock.write_bytes(b"")
    with pytest.raises(HomeLocked):
        packing(repo).run(never)
    assert lock.exists()
    assert len(loose_tags(repo / ".git")) == 4


def test_a_full_disk_costs_nothing(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[measured] A packing of refs by a library deleted all tags where the disk was full."""

    def full(descriptor: int, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = refs(repo)
    with monkeypatch.context() as patch:
        patch.setattr(ref_packing, "write_all", full)
        with pytest.raises(OSError, match="No space"):
            packing(repo).run(never)
    assert refs(repo) == before
    assert len(loose_tags(repo / ".git")) == 4
    assert not [path for path in (repo / ".git").iterdir() if path.name.startswith("packed-refs.")]


@pytest.mark.parametrize("step", ["locked", "written", "replaced", "ref locked"])
def test_killed_at_any_step_it_goes_on(repo: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tag reads the same at once; the locks that the killed run left are taken for what they are."""
    before = refs(repo)

    def kill(at: str) -> None:
        if at == step:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("gitmem.git_lock._release", lambda _: None)  # the locks of a killed process stay
        patch.setattr(ref_packing, "remove_file", lambda _: False)
        with pytest.raises(Killed):
            packing(repo, kill).run(never)
    assert refs(repo) == before
    assert packing(repo).run(never).finished
    assert refs(repo) == before
    assert not loose_tags(repo / ".git")
    assert not [*(repo / ".git").rglob("*.lock")]
    fsck(repo)


def test_a_tag_that_moves_or_goes_meanwhile_is_respected(repo: Path) -> None:
    """Deleted before the list is written it does not come back; moved afterwards it keeps its new value."""
    commit_all(repo, "two", {"a.md": "b\n"})
    newer = git("rev-parse", "HEAD", cwd=repo)
    done = []

    def interfere(at: str) -> None:
        if at == "locked":
            # As the end of `git tag -d` that began before: the file goes while the list is held.
            (repo / ".git/refs/tags/episode/2026-11-30-a").unlink()
        if at == "replaced":
            (repo / ".git/refs/tags/plain").write_text(newer + "\n")
        done.append(at)

    report = packing(repo, interfere).run(never)
    assert (report.packed, report.removed) == (3, 2)
    assert "2026-11-30-a" not in refs(repo)
    assert git("rev-parse", "plain", cwd=repo) == newer
    assert done.count("locked") == 1


def test_many_tags_are_packed_in_rounds(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is held for a short time only, and a run whose time is over stops between two rounds."""
    monkeypatch.setattr(ref_packing, "_ROUND", 2)
    before = refs(repo)
    report = packing(repo).run(lambda: True)
    assert report == RefReport(4, 2, 2, finished=False)
    assert refs(repo) == before
    assert packing(repo).run(never) == RefReport(2, 2, 2)
    assert refs(repo) == before


def test_a_dry_run_changes_nothing(repo: Path) -> None:
    """It counts."""
    assert packing(repo).run(never, dry_run=True) == RefReport(4, 4)
    assert not (repo / ".git/packed-refs").exists()


def test_a_kill_behind_the_removal_leaves_no_lock_for_ever(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of that tag is gone, so no later run would come by: each looks for such locks by itself."""

    def killed(lock: Path) -> None:
        if "tags" in lock.parts:
            raise Killed
        lock.unlink()

    with monkeypatch.context() as patch:
        patch.setattr("gitmem.git_lock._release", killed)
        with pytest.raises(Killed):
            packing(repo).run(never)
    tags = repo / ".git" / "refs" / "tags"
    assert len([*tags.rglob("*.lock")]) == 1
    foreign = tags / "theirs.lock"
    foreign.write_text("somebody else's")
    for _ in range(2):
        packing(repo).run(never)
    assert [*tags.rglob("*.lock")] == [foreign]
