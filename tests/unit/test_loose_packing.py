"""Packing loose objects: what refs reach goes into durable packs, everything else stays where it is."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures import commit_all, flip_byte, fsck, git, make_repo
from gitmem import loose_packing, pack_files
from gitmem.backends.dulwich_repository import open_repository
from gitmem.layout import find_layout
from gitmem.loose_objects import loose_ids, read_loose
from gitmem.loose_packing import LoosePacking, LooseReport


class Killed(BaseException):
    """Stands for a kill: nothing that is foreseen for failures runs."""


def packing(repo: Path, step: Callable[[str], object] = lambda _: None) -> LoosePacking:
    """Return what packs a repository's loose objects."""
    layout = find_layout(repo)
    return LoosePacking(open_repository(layout), layout, pause=lambda: None, checkpoint=step)


def never() -> bool:
    """Give all the time there is."""
    return False


def loose(repo: Path) -> set[str]:
    """Return the ids of the loose objects."""
    return {*loose_ids(repo / ".git/objects")}


def objects(repo: Path) -> dict[str, str]:
    """Return all objects that Git finds, with kind and size."""
    rows = git("cat-file", "--batch-check", "--batch-all-objects", cwd=repo).splitlines()
    return {row.split(" ")[0]: row for row in rows}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An operator's repository: commits of a note that grows, in a folder, and a tag."""
    repo = make_repo(tmp_path_factory.mktemp("made") / "home")
    text = "# A note\n\n"
    for number in range(30):
        text += f"Line {number} of a note that grows with each commit of the operator.\n"
        commit_all(repo, f"commit {number}", {"notes/a.md": text, f"notes/{number}.md": f"{number}\n"})
    git("tag", "-a", "-m", "one", "one", cwd=repo)
    return repo


@pytest.fixture
def repo(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made, tmp_path / "home"))


def test_everything_that_refs_reach_is_packed_and_small(repo: Path) -> None:
    """As small as `git gc` makes it, within a third; each object once; Git finds no fault."""
    before = objects(repo)
    assert len(before) == 151
    report = packing(repo).run(never)
    assert report == LooseReport(151, 151, 151, 1)
    assert not loose(repo)
    assert objects(repo) == before
    fsck(repo)
    ours = sum(path.stat().st_size for path in (repo / ".git/objects/pack").glob("*.pack"))
    git("repack", "-q", "-a", "-d", "-f", cwd=repo)
    theirs = sum(path.stat().st_size for path in (repo / ".git/objects/pack").glob("*.pack"))
    assert ours < theirs * 4 / 3
    assert packing(repo).run(never) == LooseReport()


def test_what_nothing_reaches_stays_loose(repo: Path) -> None:
    """In a pack it would live longer, or go sooner, than the operator's Git has in mind.

    A rewritten history with a secret in it goes when `git gc` says so; a pack would make it young again, and
    `git repack -a -d` drops at once what it packs not, without the weeks that a loose object is given.
    """
    orphan = git("hash-object", "-w", "--stdin", cwd=repo, stdin="nobody's\n")
    staged = repo / "notes/staged.md"
    staged.write_text("staged\n")
    git("add", "notes/staged.md", cwd=repo)
    blob = git("rev-parse", ":notes/staged.md", cwd=repo)
    report = packing(repo).run(never)
    assert loose(repo) == {orphan, blob}
    assert (report.found, report.removed) == (153, 151)
    git("gc", "-q", "--prune=now", cwd=repo)
    assert orphan not in objects(repo)
    assert blob in objects(repo)


def test_what_only_a_reflog_reaches_is_packed(repo: Path) -> None:
    """An amended commit can be had back for as long as Git remembers it."""
    amended = git("rev-parse", "HEAD", cwd=repo)
    git("commit", "-q", "--amend", "-m", "better", cwd=repo)
    packing(repo).run(never)
    assert not loose(repo)
    assert git("log", "-1", "--format=%s", amended, cwd=repo) == "commit 29"
    fsck(repo)


def test_other_work_trees_count(repo: Path, tmp_path: Path) -> None:
    """A detached HEAD of a linked work tree is a ref like any other."""
    other = tmp_path / "other"
    git("worktree", "add", "-q", "--detach", other, cwd=repo)
    tip = commit_all(other, "elsewhere", {"b.md": "b\n"})
    (repo / ".git/worktrees/other/logs/HEAD").unlink()
    packing(repo).run(never)
    assert not loose(repo)
    assert git("cat-file", "-t", tip, cwd=repo) == "commit"
    fsck(repo)


def test_packed_and_loose_commits_in_turn(repo: Path) -> None:
    """The agent's commits come in packs, the operator's loose; each is found behind the other."""
    packing(repo).run(never)
    commit_all(repo, "loose", {"x.md": "x\n"})
    git("repack", "-q", "-d", cwd=repo)
    commit_all(repo, "loose again", {"y.md": "y\n"})
    middle = len(loose(repo))
    assert middle == 3
    assert packing(repo).run(never).removed == middle
    fsck(repo)


def test_a_damaged_object_is_named_and_left(repo: Path) -> None:
    """Its file may still be worth something to whoever repairs it; what is around it is packed."""
    blob = git("rev-parse", "HEAD:notes/5.md", cwd=repo)
    path = repo / ".git/objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    flip_byte(path)
    report = packing(repo).run(never)
    assert report.damaged == (blob,)
    assert loose(repo) == {blob}


def test_a_large_object_stays_loose(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded; `git gc` streams such a one."""
    monkeypatch.setattr(loose_packing, "_LARGEST", 1500)
    report = packing(repo).run(never)
    assert report.large == len(loose(repo)) > 0
    fsck(repo)


@pytest.mark.parametrize("step", ["packed", "removed"])
def test_killed_at_any_step_it_goes_on(repo: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects are twice there at worst; the next run removes the loose ones and packs nothing again."""
    before = objects(repo)
    monkeypatch.setattr(loose_packing, "_CHUNK", 50)

    def kill(at: str) -> None:
        if at == step:
            raise Killed

    with pytest.raises(Killed):
        packing(repo, kill).run(never)
    assert objects(repo) == before
    report = packing(repo).run(never)
    assert (report.packed, report.packs) == (0, 0)
    assert not loose(repo)
    assert objects(repo) == before
    fsck(repo)


def test_a_full_disk_leaves_everything_loose(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no file behind."""
    before = loose(repo)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pack_files, "write_all", full)
    with pytest.raises(OSError, match="No space"):
        packing(repo).run(never)
    assert loose(repo) == before
    assert not [*(repo / ".git/objects/pack").iterdir()]


def test_a_pack_that_goes_takes_nothing_along(repo: Path) -> None:
    """Somebody removes the new pack: the loose files that are left then stay."""
    before = objects(repo)

    def meddle(at: str) -> None:
        if at == "packed":
            for path in (repo / ".git/objects/pack").glob("pack-*"):
                path.unlink()

    report = packing(repo, meddle).run(never)
    assert report.removed == 0
    assert objects(repo) == before


def test_time_over_it_stops_between_two_packs(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk ends and what was found by then is packed; the next run goes on."""
    monkeypatch.setattr(loose_packing, "_BATCH", 10)
    before = objects(repo)
    asked = []

    def soon() -> bool:
        asked.append(1)
        return len(asked) > 35

    report = packing(repo).run(soon)
    assert not report.finished
    assert 0 < report.packed < 151
    assert objects(repo) == before
    while loose(repo):
        packing(repo).run(never)
    assert objects(repo) == before
    fsck(repo)


def test_files_have_the_permissions_that_the_repository_asks_for(repo: Path) -> None:
    """`core.sharedRepository`: a pack that others cannot read would hide what they could read before."""
    git("config", "core.sharedRepository", "0640", cwd=repo)
    packing(repo).run(never)
    for path in (repo / ".git/objects/pack").iterdir():
        assert path.stat().st_mode & 0o777 == 0o440


def test_an_object_is_read_only_under_its_own_id(repo: Path) -> None:
    """A file in the wrong place is damage, whatever it holds."""
    one, other = sorted(loose(repo))[:2]
    root = repo / ".git/objects"
    read_loose(root, one)
    (root / other[:2] / other[2:]).unlink()
    (root / other[:2] / other[2:]).write_bytes((root / one[:2] / one[2:]).read_bytes())
    report = packing(repo).run(never)
    assert other in report.damaged
