"""The staging area as bytes, judged by git itself."""

from __future__ import annotations

import os
import random
import shutil
import struct
from contextlib import suppress
from pathlib import Path

import pytest

from fixtures import commit_all, git, make_repo, run_git, write_files
from gitmem.git_objects import hash_object
from gitmem.staging_area import StagedFile, StagingArea
from gitmem.staging_extensions import StagingRefused

FILES = {
    "AGENTS.md": "role\n",
    "memory/MEMORY.md": "one\n§\ntwo\n",
    "memory/self.md": "self\n",
    "notes/a.md": "a\n",
    "notes/deep/er/b.md": "b\n",
    "notes/deep.md": "beside a folder of its name\n",
    "notes/zz.md": "zz\n",
    "src/main.c": "int main;\n",
}


def twin(repo: Path, tmp_path: Path, name: str = "twin") -> Path:
    """Return a copy of a repository, times included."""
    copy = tmp_path / name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(repo, copy, symlinks=True)
    return copy


def test_both_sides_of_what_was_unmerged(tmp_path: Path) -> None:
    """What Git keeps of a resolved path is read as Git reads it; a damaged list is none."""
    repo = make_repo(tmp_path / "repo")
    commit_all(repo, "base", {"a": "0\n", "b": "0\n", "gone": "0\n"})
    git("checkout", "-qb", "side", cwd=repo)
    git("rm", "-q", "gone", cwd=repo)
    commit_all(repo, "side", {"a": "1\n", "b": "1\n", "new": "1\n"})
    git("checkout", "-q", "main", cwd=repo)
    commit_all(repo, "main", {"a": "2\n", "b": "2\n", "gone": "2\n", "new": "2\n"})
    run_git("merge", "side", cwd=repo)
    git("add", "-A", cwd=repo)
    area = StagingArea((repo / ".git/index").read_bytes())
    one, two = (hash_object("blob", text) for text in (b"1\n", b"2\n"))
    assert [area.resolved_sides(name) for name in (b"a", b"b", b"new")] == [(two, one)] * 3
    assert area.resolved_sides(b"gone") is area.resolved_sides(b"c") is None
    content = (repo / ".git/index").read_bytes()
    at = content.index(b"REUC") + 8
    broken = content[:at] + b"x" * (len(content) - at - 20) + content[-20:]
    assert StagingArea(broken).resolved_sides(b"a") is None


def stage(repo: Path, path: str, content: str | None, *, known_stat: bool = True) -> None:
    """Change one file and stage it the way gitmem does."""
    index = repo / ".git" / "index"
    target = repo / path
    if content is None:
        target.unlink()
        plan = StagingArea(index.read_bytes()).plan({path.encode(): None})
        index.write_bytes(plan.seal({}))
        return
    write_files(repo, {path: content})
    blob = git("hash-object", "-w", "--no-filters", path, cwd=repo)
    plan = StagingArea(index.read_bytes()).plan({path.encode(): StagedFile(0o100644, blob)})
    stats = {path.encode(): os.lstat(target)} if known_stat else {}
    index.write_bytes(plan.seal(stats))


def stage_by_git(repo: Path, path: str, content: str | None) -> None:
    """Change one file and stage it with git's plumbing."""
    if content is None:
        (repo / path).unlink()
    else:
        write_files(repo, {path: content})
    if git("ls-files", "--", path, cwd=repo):
        # git itself does not look at a file whose entry says that it need not.
        git("update-index", "--no-skip-worktree", "--", path, cwd=repo)
        git("update-index", "--no-assume-unchanged", "--", path, cwd=repo)
    git("update-index", "--add", "--remove", "--", path, cwd=repo)


def picture(repo: Path) -> dict[str, str]:
    """Return all that git says of a staging area."""
    listed = git("ls-files", "-s", "-v", cwd=repo)
    written = run_git("write-tree", cwd=repo)
    return {
        "entries": listed,
        "debug": "\n".join(line for line in git("ls-files", "-s", "-t", cwd=repo).splitlines()),
        "status": git("status", "--porcelain=v2", "--untracked-files=all", cwd=repo),
        "resolve-undo": git("ls-files", "--resolve-undo", cwd=repo),
        "tree": (written.stdout + written.stderr).decode(),
        "fsck": run_git("fsck", "--strict", "--no-dangling", cwd=repo).stderr.decode(),
    }


def test_a_changed_file_is_staged_and_nothing_else_moves(tmp_path: Path) -> None:
    """An agent's file is staged while every other entry keeps its bytes, the operator's staged one too."""
    repo = make_repo(tmp_path / "home")
    commit_all(repo, files=FILES)
    write_files(repo, {"notes/a.md": "operator's\n"})
    git("add", "notes/a.md", cwd=repo)
    before = {e.path: e for e in StagingArea((repo / ".git/index").read_bytes()).entries()}
    stage(repo, "memory/self.md", "agent's\n")
    after = {e.path: e for e in StagingArea((repo / ".git/index").read_bytes()).entries()}
    changed = {path for path in before if before[path] != after[path]}
    assert changed == {b"memory/self.md"}
    assert git("diff", "--cached", "--name-only", cwd=repo).split() == ["memory/self.md", "notes/a.md"]
    assert git("status", "--porcelain", cwd=repo) == "M  memory/self.md\nM  notes/a.md"


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_random_changes_equal_those_of_git(tmp_path: Path, version: int, seed: int) -> None:
    """Patch, insert and delete leave what `git update-index` leaves, in every index version and flag."""
    rng = random.Random(f"{version}/{seed}")
    repo = make_repo(tmp_path / "home")
    commit_all(repo, files=FILES)
    dress(repo, rng, version)
    other = twin(repo, tmp_path)
    for _ in range(6):
        path, content = pick_change(repo, rng)
        stage(repo, path, content, known_stat=rng.random() < 0.9)
        stage_by_git(other, path, content)
        assert picture(repo) == picture(other), (path, content)
        assert (repo / ".git/index").read_bytes()[7] in (version, 2, 3)


def dress(repo: Path, rng: random.Random, version: int) -> None:
    """Bring a staging area into a state that an operator may have it in."""
    git("update-index", f"--index-version={version}", cwd=repo)
    if rng.random() < 0.5:
        git("update-index", "--force-untracked-cache", cwd=repo)
        git("status", "--porcelain", cwd=repo)
    if rng.random() < 0.4:
        hook = repo / ".git/hooks/fsmonitor"
        hook.write_text("#!/bin/sh\nprintf 'token\\0/\\0'\n")
        hook.chmod(0o755)
        git("config", "core.fsmonitor", ".git/hooks/fsmonitor", cwd=repo)
        git("status", "--porcelain", cwd=repo)
    if rng.random() < 0.7 or version == 3:
        write_files(repo, {"notes/new.md": "new\n"})
        git("add", "-N", "notes/new.md", cwd=repo)
    if rng.random() < 0.5:
        git("update-index", "--assume-unchanged", "memory/self.md", cwd=repo)
    if rng.random() < 0.5 or version == 3:
        git("update-index", "--skip-worktree", "notes/a.md", cwd=repo)
    if rng.random() < 0.5:
        write_files(repo, {"src/main.c": "staged\n"})
        git("add", "src/main.c", cwd=repo)
    if rng.random() < 0.5:
        git("config", "index.skipHash", "true", cwd=repo)
    if rng.random() < 0.5:
        stages = "".join(
            f"100644 {git('hash-object', '-w', '--stdin', stdin=f'side {n}', cwd=repo)} {n}\tmixed.md\n"
            for n in (1, 2, 3)
        )
        git("update-index", "--index-info", stdin=stages, cwd=repo)


def pick_change(repo: Path, rng: random.Random) -> tuple[str, str | None]:
    """Choose a path and what becomes of it."""
    present = [p for p in ("memory/self.md", "notes/a.md", "notes/deep/er/b.md", "notes/zz.md", "AGENTS.md")
               if (repo / p).exists()]  # fmt: skip
    kind = rng.choice(["patch", "insert", "delete"] if len(present) > 2 else ["patch", "insert"])
    if kind == "delete":
        return rng.choice(present), None
    if kind == "patch":
        return rng.choice(present), f"text {rng.random()}\n"
    name = rng.choice(["0.md", "notes/b.md", "notes/deep/x.md", "notes/zzz/y.md", "work/p/plan.md", "zzz.md"])
    return name, f"text {rng.random()}\n"


def test_the_cached_tree_is_not_trusted_for_the_changed_folders(tmp_path: Path) -> None:
    """The operator's next commit holds the agent's file; a stale cached tree would hide it."""
    repo = make_repo(tmp_path / "home")
    commit_all(repo, files=FILES)
    git("write-tree", cwd=repo)
    assert b"TREE" in (repo / ".git/index").read_bytes()
    stage(repo, "notes/deep/er/b.md", "changed\n")
    assert b"TREE" in (repo / ".git/index").read_bytes()
    git("commit", "-qm", "operator's", cwd=repo)
    assert git("show", "HEAD:notes/deep/er/b.md", cwd=repo) == "changed"
    assert git("show", "HEAD:src/main.c", cwd=repo) == "int main;"


def test_a_folder_becomes_a_file_and_back(tmp_path: Path) -> None:
    """A note may take the name of a folder that goes in the same commit, and only then."""
    repo = make_repo(tmp_path / "home")
    commit_all(repo, files=FILES)
    git("write-tree", cwd=repo)
    index = (repo / ".git/index").read_bytes()
    blob = hash_object("blob", b"")
    git("hash-object", "-w", "--stdin", stdin="", cwd=repo)
    with pytest.raises(StagingRefused, match="is a folder"):
        StagingArea(index).plan({b"notes/deep": StagedFile(0o100644, blob)})
    with pytest.raises(StagingRefused, match="is not a folder"):
        StagingArea(index).plan({b"notes/a.md/x": StagedFile(0o100644, blob)})
    plan = StagingArea(index).plan(
        {b"notes/deep/er": StagedFile(0o100644, blob), b"notes/deep/er/b.md": None}
    )
    (repo / ".git/index").write_bytes(plan.seal({}))
    assert git("ls-files", "notes/deep", cwd=repo) == "notes/deep/er"
    tree = git("write-tree", cwd=repo)
    assert git("ls-tree", "-r", "--name-only", tree, "notes/deep/", cwd=repo) == "notes/deep/er"
    plan = StagingArea((repo / ".git/index").read_bytes()).plan(
        {b"notes/deep/er": None, b"notes/deep/er/b.md": StagedFile(0o100644, blob)},
    )
    (repo / ".git/index").write_bytes(plan.seal({}))
    tree = git("write-tree", cwd=repo)
    assert git("ls-tree", "-r", "--name-only", tree, "notes/deep/", cwd=repo) == "notes/deep/er/b.md"


def test_long_names(tmp_path: Path) -> None:
    """Names longer than the length field can say are walked over, patched and inserted."""
    repo = make_repo(tmp_path / "home")
    blob = git("hash-object", "-w", "--stdin", stdin="x", cwd=repo)
    parts = "/".join(["d" * 200] * 21)
    names = [parts[:4093] + "ab", parts[:4094] + "ab", parts[:4000], parts + "/end"]
    git("update-index", "--add", "--index-info", stdin="".join(f"100644 {blob} 0\t{n}\n" for n in names[:2]),
        cwd=repo)  # fmt: skip
    for name in names[2:]:
        index = (repo / ".git/index").read_bytes()
        plan = StagingArea(index).plan({name.encode() + b"x": StagedFile(0o100644, blob)})
        (repo / ".git/index").write_bytes(plan.seal({}))
    listed = git("-c", "core.quotepath=off", "ls-files", cwd=repo).splitlines()
    assert sorted(listed) == sorted([*names[:2], names[2] + "x", names[3] + "x"])


def test_no_index_file_yet(tmp_path: Path) -> None:
    """The first commit of a fresh home makes the staging area."""
    repo = make_repo(tmp_path / "home")
    blob = git("hash-object", "-w", "--stdin", stdin="x", cwd=repo)
    plan = StagingArea(None).plan({b"b": StagedFile(0o100644, blob), b"a/c": StagedFile(0o100755, blob)})
    (repo / ".git/index").write_bytes(plan.seal({}))
    assert git("ls-files", "-s", cwd=repo) == f"100755 {blob} 0\ta/c\n100644 {blob} 0\tb"


def test_untracked_cache_stays_on_and_tells_the_truth(tmp_path: Path) -> None:
    """An inserted file is not shown as untracked, and the feature is not switched off for the operator."""
    repo = make_repo(tmp_path / "home")
    commit_all(repo, files=FILES)
    git("update-index", "--force-untracked-cache", cwd=repo)
    write_files(repo, {"notes/deep/new.md": "new\n", "notes/x/other.md": "untracked\n"})
    git("status", "--porcelain", cwd=repo)
    stage(repo, "notes/deep/new.md", "new\n")
    assert b"UNTR" in (repo / ".git/index").read_bytes()
    assert git("status", "--porcelain", cwd=repo) == "A  notes/deep/new.md\n?? notes/x/"


def test_split_index_is_named(tmp_path: Path) -> None:
    """A split index is refused by its name, nothing else can read it."""
    repo = make_repo(tmp_path / "home")
    commit_all(repo, files=FILES)
    git("update-index", "--split-index", cwd=repo)
    index = (repo / ".git/index").read_bytes()
    with pytest.raises(StagingRefused) as caught:
        StagingArea(index)
    assert caught.value.reason == "unsupported index feature: split index"


def test_sparse_index_works_inside_the_cone(tmp_path: Path) -> None:
    """In a sparse index only a path below a collapsed folder is refused."""
    repo = make_repo(tmp_path / "home")
    commit_all(repo, files=FILES)
    git("sparse-checkout", "init", "--cone", "--sparse-index", cwd=repo)
    git("sparse-checkout", "set", "memory", cwd=repo)
    index = (repo / ".git/index").read_bytes()
    assert b"sdir" in index
    stage(repo, "memory/self.md", "agent's\n")
    assert git("status", "--porcelain", cwd=repo) == "M  memory/self.md"
    blob = hash_object("blob", b"")
    with pytest.raises(StagingRefused, match="sparse index"):
        StagingArea((repo / ".git/index").read_bytes()).plan({b"notes/a.md": StagedFile(0o100644, blob)})


def test_unmerged_path_is_refused(tmp_path: Path) -> None:
    """A path the operator has to resolve is left to them; other paths can be staged."""
    repo = make_repo(tmp_path / "home")
    commit_all(repo, files=FILES)
    blob = git("hash-object", "-w", "--stdin", stdin="x", cwd=repo)
    rows = "".join(f"100644 {blob} {n}\tnotes/a.md\n" for n in (1, 2, 3))
    git("update-index", "--index-info", stdin=f"0 {'0' * 40}\tnotes/a.md\n{rows}", cwd=repo)
    index = (repo / ".git/index").read_bytes()
    assert [e.stage for e in StagingArea(index).rows(b"notes/a.md")] == [1, 2, 3]
    with pytest.raises(StagingRefused, match=r"notes/a\.md is unmerged"):
        StagingArea(index).plan({b"notes/a.md": StagedFile(0o100644, blob)})
    stage(repo, "memory/self.md", "agent's\n")
    assert git("ls-files", "-u", cwd=repo).count("notes/a.md") == 3


def extension(signature: bytes, content: bytes = b"") -> bytes:
    """Return an index file without entries and with one extension."""
    head = b"DIRC" + struct.pack(">LL", 2, 0)
    return head + signature + len(content).to_bytes(4, "big") + content + bytes(20)


def test_extensions_that_are_not_known() -> None:
    """By Git's rule an unknown extension in capitals may go, one in small letters forbids the change."""
    change = {b"a": StagedFile(0o100644, "0" * 40)}
    assert b"ABCD" not in StagingArea(extension(b"ABCD", b"x")).plan(change).seal({})
    with pytest.raises(StagingRefused, match="unsupported index feature: abcd"):
        StagingArea(extension(b"abcd", b"x")).plan(change)
    for broken in (b"TREE", b"UNTR"):
        assert broken not in StagingArea(extension(broken, b"\xff")).plan(change).seal({})


def test_an_index_without_checksum_stays_without(tmp_path: Path) -> None:
    """Where index.skipHash is on, the trailer stays zero; else it is the SHA-1 of the rest."""
    change = {b"a": StagedFile(0o100644, "0" * 40)}
    assert StagingArea(extension(b"ABCD")).plan(change).seal({})[-20:] == bytes(20)
    repo = make_repo(tmp_path / "home")
    commit_all(repo, files=FILES)
    assert StagingArea((repo / ".git/index").read_bytes()).plan(change).seal({})[-20:] != bytes(20)


@pytest.mark.parametrize("version", [2, 4])
def test_a_damaged_index_is_refused_not_mended(tmp_path: Path, version: int) -> None:
    """Cut or overwritten anywhere, the file is refused or read; nothing else is ever raised."""
    repo = make_repo(tmp_path / "home")
    commit_all(repo, files=FILES)
    git("update-index", f"--index-version={version}", cwd=repo)
    index = (repo / ".git/index").read_bytes()
    rng = random.Random(version)
    change = {b"notes/n.md": StagedFile(0o100644, "0" * 40)}
    for cut in range(len(index)):
        with pytest.raises(StagingRefused):
            StagingArea(index[:cut]).plan(change)
    for _ in range(500):
        broken = bytearray(index)
        broken[rng.randrange(len(index))] = rng.randrange(256)
        for content in (bytes(broken), bytes(broken[:-20]) + bytes(20)):  # the second has no checksum
            with suppress(StagingRefused):
                StagingArea(content).plan(change).seal({})
