"""Merges of commits: their bases, what is read for them, and the commit that any machine would make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import pytest
from trees import forget

from fixtures import commit_all, fsck, git, layout_of, make_repo
from gitmem import tree_sides
from gitmem.backends.dulwich_repository import open_repository
from gitmem.branch_merge import conflict_path
from gitmem.commit_merge import CommitMerge, make_merge_commit, merge_commits, merge_roots
from gitmem.errors import CorruptionError, NotAHome, OtherHome, RefusedError, UnsupportedFormat
from gitmem.git_objects import make_commit, make_object, make_tree
from gitmem.merge_bases import find_merge_bases
from gitmem.repository import FILE_MODE, LINK_MODE, TREE_MODE, GitObject, TreeEntry, walk_tree
from gitmem.subjects import parse_subject, parse_trailers
from gitmem.testing.memory_repository import MemoryRepository
from gitmem.tree_edit import TreeFile, edit_tree

HOME = 'format = 1\nhome = "h0123456789abcde"\nagent = "Ada"\n'
OPERATOR = "Op <op@example.org>"


class Branch:
    """Commits of a branch in memory; trees and blobs that are read are noted."""

    def __init__(self) -> None:
        self.objects = MemoryRepository()
        self.trees_read: set[str] = set()
        self.blobs_read: set[str] = set()
        self.seconds = 1_780_000_000

    def write(self, *objects: GitObject) -> None:
        """Keep objects."""
        self.objects.objects.update((one.id, (one.kind, one.content)) for one in objects)

    def commit(
        self, parents: Sequence[str], files: Mapping[str, str | None], *, seconds: int | None = None
    ) -> str:
        """Commit changes of the first parent's tree; None removes a file."""
        changes: dict[str, TreeFile | None] = {}
        for path, text in files.items():
            blob = make_object("blob", (text or "").encode())
            self.write(blob)
            changes[path] = None if text is None else TreeFile(FILE_MODE, blob.id)
        root = self.objects.read_commit(parents[0]).tree if parents else None
        tree, trees = edit_tree(self.objects, root, changes)
        return self.commit_tree(tree, parents, trees, seconds=seconds)

    def commit_tree(
        self,
        tree: str,
        parents: Sequence[str],
        trees: Sequence[GitObject] = (),
        *,
        seconds: int | None = None,
    ) -> str:
        """Commit a tree."""
        self.seconds += 1
        made = make_commit(
            tree=tree,
            parents=parents,
            author=OPERATOR,
            committer=OPERATOR,
            seconds=self.seconds if seconds is None else seconds,
            message="m\n",
        )
        self.write(*trees, made)
        return made.id

    def merge(self, first: str, second: str, **kwargs: object) -> CommitMerge:
        """Merge, both ways round; keep what came of it."""
        done = merge_commits(self.objects, first, second, **kwargs)  # type: ignore[arg-type]
        assert done.commit == merge_commits(self.objects, second, first, **kwargs).commit  # type: ignore[arg-type]
        self.write(*done.objects)
        return done

    def files(self, commit: str) -> dict[str, str]:
        """Return what the tree of a commit says."""
        tree = self.objects.read_commit(commit).tree
        return {p: self.objects.read(e.id)[1].decode() for p, e in walk_tree(self.objects, tree)}

    # Reads, noted

    def read(self, object_id: str) -> tuple[str, bytes]:
        """Return an object; blobs are noted."""
        kind, content = self.objects.read(object_id)
        (self.trees_read if kind == "tree" else self.blobs_read).add(object_id)
        return kind, content

    def read_tree(self, tree_id: str) -> Sequence[TreeEntry]:
        """Return a tree's entries, noted."""
        self.trees_read.add(tree_id)
        return self.objects.read_tree(tree_id)


@pytest.fixture
def branch() -> Branch:
    """A branch without commits."""
    return Branch()


def test_two_machines_make_one_commit(branch: Branch) -> None:
    """Parents by id, the home's agent, the later date, a fixed message: nothing tells who merged, or when."""
    base = branch.commit([], {"gitmem.toml": HOME, "notes/a.md": "a\n"})
    one = branch.commit([base], {"notes/b.md": "b\n"}, seconds=50)
    two = branch.commit([base], {"notes/c.md": "c\n"}, seconds=70)
    done = branch.merge(one, two)
    commit = branch.objects.read_commit(done.commit.id)
    assert commit.parents == tuple(sorted([one, two]))
    assert commit.author == commit.committer == "Ada <Ada@h0123456789abcde.gitmem.invalid>"
    assert commit.author_time == commit.commit_time == 70
    assert parse_trailers(commit.message) == {"Gitmem-Kind": "sync"}
    subject = parse_subject(commit.message)
    assert subject is not None
    assert (subject.area, subject.rest) == ("sync", "merge")
    assert done.bases == (base,)
    assert branch.files(commit.id) == {
        "gitmem.toml": HOME, "notes/a.md": "a\n", "notes/b.md": "b\n", "notes/c.md": "c\n"
    }  # fmt: skip
    sides = [branch.objects.read_commit(side) for side in (one, two)]
    assert make_merge_commit(commit.tree, sides[::-1], commit.author) == done.commit


def test_the_agents_name_is_that_of_the_merged_home(branch: Branch) -> None:
    """Renamed on one side: the merge is by the new name, also where the config itself clashed."""
    base = branch.commit([], {"gitmem.toml": HOME})
    one = branch.commit([base], {"gitmem.toml": HOME.replace("Ada", "Bea")})
    two = branch.commit([base], {"notes/a.md": "a\n"})
    done = branch.merge(one, two)
    assert branch.objects.read_commit(done.commit.id).author.startswith("Bea <")


def test_two_homes_are_not_merged(branch: Branch) -> None:
    """Another home id, no home at all, or an unknown format: refused before anything is decided."""
    one = branch.commit([], {"gitmem.toml": HOME})
    other = branch.commit([], {"gitmem.toml": HOME.replace("h0123", "h9999")})
    with pytest.raises(OtherHome) as refused:
        branch.merge(one, other)
    assert sorted(refused.value.details["homes"]) == ["h0123456789abcde", "h9999456789abcde"]
    assert refused.value.exit_code == 10
    with pytest.raises(NotAHome):
        branch.merge(one, branch.commit([], {"README.md": "a project\n"}))
    with pytest.raises(UnsupportedFormat):
        branch.merge(one, branch.commit([], {"gitmem.toml": HOME.replace("1", "2", 1)}))


def test_equal_folders_are_not_read(branch: Branch) -> None:
    """Trees are compared from the top; of a thousand notes only the folders of the changed ones are read."""
    notes = {f"notes/{n % 20}/{n}.md": f"{n}\n" for n in range(1000)}
    base = branch.commit([], {"gitmem.toml": HOME, **notes})
    one = branch.commit([base], {"notes/3/3.md": "here\n"})
    two = branch.commit([base], {"notes/5/5.md": "there\n"})
    base, one, two = (branch.objects.read_commit(commit).tree for commit in (base, one, two))
    done = merge_roots(branch, base, one, two)  # type: ignore[arg-type]
    # Top, notes/, notes/3 and notes/5 of three trees, of which some are equal.
    assert len(branch.trees_read) <= 12
    assert branch.blobs_read == set()
    assert {one.kind for one in done.objects} == {"tree"}


def test_equal_folders_are_closed_too(branch: Branch) -> None:
    """What was forgotten leaves a folder that no side changed; fast-forwarded trees are closed likewise."""
    start = {"gitmem.toml": HOME, "notes/old/a.md": "pin\n", "notes/b.md": "b\n", "memory/USER.md": "pin\n"}
    base = branch.commit([], start)
    blob = make_object("blob", b"pin\n").id
    entry = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0"
    receipts = forget(blobs=(blob,), entries=(entry,))
    one = branch.commit([base], {"notes/c.md": "c\n"})
    two = branch.commit([base], {"notes/d.md": "d\n"})
    merged = branch.merge(one, two, receipts=receipts)
    assert sorted(branch.files(merged.commit.id)) == ["gitmem.toml", "notes/b.md", "notes/c.md", "notes/d.md"]
    tree = branch.objects.read_commit(base).tree
    closed = merge_roots(branch.objects, tree, tree, tree, receipts=receipts)
    assert closed.merge.forgotten == {"notes/old/a.md", "memory/USER.md"}
    branch.write(*closed.objects)
    again = merge_roots(branch.objects, closed.tree, closed.tree, closed.tree, receipts=receipts)
    assert (again.tree, again.objects) == (closed.tree, ())


def criss_cross(branch: Branch) -> tuple[str, str, str, str]:
    """Return two edits of one line, and the two merges of them that keep one text each (OPEN-GIT-07)."""
    base = branch.commit([], {"gitmem.toml": HOME, "memory/self.md": "top\n\nrole\n\nend\n"})
    x, y = (branch.commit([base], {"memory/self.md": f"top\n\n{role}\n\nend\n"}) for role in ("ops", "dev"))
    one = branch.commit([x, y], {"notes/x.md": "x\n"})
    two = branch.commit([y, x], {"notes/y.md": "y\n"})
    return x, y, one, two


def test_a_criss_cross_merge_is_a_conflict(branch: Branch) -> None:
    """Two bases that differ are no base for either text: both are kept, none is merged away (OPEN-GIT-07)."""
    x, y, one, two = criss_cross(branch)
    done = branch.merge(one, two)
    assert done.bases == tuple(sorted([x, y]))
    assert [*done.merge.conflicts] == ["memory/self.md"]
    said = branch.files(done.commit.id)
    assert {text for path, text in said.items() if "self.md" in path} == {
        "top\n\nops\n\nend\n",
        "top\n\ndev\n\nend\n",
    }
    assert said["notes/x.md"] + said["notes/y.md"] == "x\ny\n"


def test_what_criss_cross_bases_agree_on_merges_cleanly(branch: Branch) -> None:
    """A line that both sides left alone since is no conflict, though the bases had it from two commits."""
    _, _, one, two = criss_cross(branch)
    three = branch.commit([one], {"memory/self.md": "TOP\n\nops\n\nend\n"})
    four = branch.commit([two], {"memory/self.md": "top\n\nops\n\nEND\n"})
    done = branch.merge(three, four)
    assert branch.files(done.commit.id)["memory/self.md"] == "TOP\n\nops\n\nEND\n"
    assert not done.merge.conflicts


def test_unrelated_histories_of_one_home_merge_without_a_base(branch: Branch) -> None:
    """A home that was begun anew from its files: what both have equally is no conflict."""
    one = branch.commit([], {"gitmem.toml": HOME, "notes/a.md": "a\n", "notes/b.md": "1\n"})
    two = branch.commit([], {"gitmem.toml": HOME, "notes/a.md": "a\n", "notes/b.md": "2\n"})
    done = branch.merge(one, two)
    assert done.bases == ()
    assert [*done.merge.conflicts] == ["notes/b.md"]


def test_hostile_trees_are_refused_or_cleaned(branch: Branch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harmful names leave the merged tree; damaged, endless and bottomless trees are refused."""
    base = branch.commit([], {"gitmem.toml": HOME, "notes/a.md": "a\n"})
    one = branch.commit([base], {"notes/b.md": "b\n"})
    root = branch.objects.read_commit(base).tree
    blob = make_object("blob", b"#!/bin/sh\n")
    hooks = make_tree([TreeEntry("post-checkout", 0o100755, blob.id)])
    git_dir = make_tree([TreeEntry("hooks", TREE_MODE, hooks.id)])
    top = [*branch.objects.read_tree(root), TreeEntry(".GIT", TREE_MODE, git_dir.id)]
    evil = make_tree([*top, TreeEntry("..", FILE_MODE, blob.id), TreeEntry("link", LINK_MODE, blob.id)])
    two = branch.commit_tree(evil.id, [base], [blob, hooks, git_dir, evil])
    done = branch.merge(one, two)
    assert sorted(branch.files(done.commit.id)) == ["gitmem.toml", "link", "notes/a.md", "notes/b.md"]
    assert set(done.merge.refused) == {".GIT/hooks/post-checkout", ".."}

    twice = make_object("tree", b"100644 a\0" + bytes.fromhex(blob.id) + b"100644 a\0" + bytes(20))
    slash = make_tree([TreeEntry("notes/a", FILE_MODE, blob.id)])
    branch.write(twice, slash)
    for tree in (twice, slash):
        with pytest.raises(CorruptionError):
            merge_roots(branch.objects, root, root, tree.id)
    deep = hooks
    for _ in range(200):
        deep = make_tree([TreeEntry("d", TREE_MODE, deep.id)])
        branch.write(deep)
    with pytest.raises(RefusedError, match="deeper than"):
        merge_roots(branch.objects, root, root, deep.id)
    monkeypatch.setattr(tree_sides, "MAX_FILES", 5000)
    bomb = hooks
    for _ in range(20):
        bomb = make_tree([TreeEntry(str(n), TREE_MODE, bomb.id) for n in range(40)])
        branch.write(bomb)
    with pytest.raises(RefusedError, match="more than"):
        merge_roots(branch.objects, root, root, bomb.id)


def test_a_conflict_of_an_earlier_merge_stays_through_later_ones(branch: Branch) -> None:
    """Copies in a folder that nobody changed are there in the next merge, and end with a resolve."""
    base = branch.commit([], {"gitmem.toml": HOME, "notes/a.md": "0\n"})
    first = branch.merge(*(branch.commit([base], {"notes/a.md": text}) for text in ("1\n", "2\n")))
    (copy,) = first.merge.conflicts["notes/a.md"]
    one = branch.commit([first.commit.id], {"notes/b.md": "b\n"})
    two = branch.commit([first.commit.id], {"notes/c.md": "c\n"})
    second = branch.merge(one, two)
    assert second.merge.conflicts == {"notes/a.md": (copy,)}
    ended = branch.commit([second.commit.id], {copy: None})
    late = branch.commit([first.commit.id], {"notes/d.md": "d\n"})
    third = branch.merge(ended, late)
    assert third.merge.conflicts == {}
    assert conflict_path("notes/a.md", branch.files(second.commit.id)[copy].encode()) == copy


def test_many_bases_are_cut_to_a_few(branch: Branch) -> None:
    """Two octopus merges of fifty lines have fifty bases; sixteen are enough, and the same for everybody."""
    base = branch.commit([], {"gitmem.toml": HOME, "notes/a.md": "0\n"})
    lines = [branch.commit([base], {f"notes/{number}.md": f"{number}\n"}) for number in range(50)]
    files = {f"notes/{number}.md": f"{number}\n" for number in range(50)}
    one = branch.commit(lines, {**files, "notes/a.md": "1\n"})
    two = branch.commit(lines[::-1], {**files, "notes/b.md": "b\n"})
    done = branch.merge(one, two)
    assert done.bases == tuple(sorted(lines)[:16])
    assert branch.files(done.commit.id) == {**branch.files(one), "notes/b.md": "b\n"}


def test_bases_are_gits(tmp_path: Path) -> None:
    """On a history with crossing merges and wrong clocks, every pair has the bases that git finds."""
    repo = make_repo(tmp_path / "repo")
    branch = Branch()
    commits: list[str] = []
    tree = git("write-tree", cwd=repo)
    shapes = [
        (),
        (0,),
        (0,),
        (1, 2),
        (2, 1),
        (3,),
        (4,),
        (5, 6),
        (6, 5),
        (7,),
        (8, 2),
        (0,),
        (11, 9),
        (10, 12),
    ]
    for number, parents in enumerate(shapes):
        ids = [commits[parent] for parent in parents]
        arguments = [part for one in ids for part in ("-p", one)]
        when = f"{1_700_000_000 + (-1000 if number % 3 else 1) * number} +0000"
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        made = git("commit-tree", tree, *arguments, "-m", str(number), cwd=repo, env=dates)
        raw = git("cat-file", "commit", made, cwd=repo)
        branch.objects.objects[made] = ("commit", raw.encode())
        commits.append(made)
    for one, two in combinations(commits, 2):
        wanted = git("merge-base", "--all", one, two, cwd=repo).split()
        assert find_merge_bases(branch.objects.read_commit, [one], [two]) == tuple(sorted(wanted))


def test_git_takes_what_a_merge_makes(tmp_path: Path) -> None:
    """Written into a real repository the merge is sound, two parents, one tree that Git reads as we do."""
    repo = make_repo(tmp_path / "repo")
    start = {"gitmem.toml": HOME, "notes/a.md": "0\n", "notes/c.md": "c\n", "notes/x/y.md": "y\n"}
    commit_all(repo, "base", start)
    git("switch", "-qc", "side", cwd=repo)
    (repo / "notes/link").symlink_to("a.md")
    two = commit_all(
        repo, "two", {"notes/a.md": "2\n", b"notes/\xff.md".decode("utf-8", "surrogateescape"): "odd\n"}
    )
    git("switch", "-q", "main", cwd=repo)
    git("mv", "notes/c.md", "notes/x/c.md", cwd=repo)
    one = commit_all(repo, "one", {"notes/a.md": "1\n"})
    repository = open_repository(layout_of(repo))
    done = merge_commits(repository, one, two)
    with repository.write_pack(done.objects):
        git("update-ref", "refs/heads/main", done.commit.id, one, cwd=repo)
    repository.close()
    git("reset", "-q", "--hard", cwd=repo)
    fsck(repo)
    assert git("rev-list", "--parents", "-1", "main", cwd=repo).split() == [
        done.commit.id,
        *sorted([one, two]),
    ]
    names = git("-c", "core.quotePath=true", "ls-tree", "-r", "--name-only", "main", cwd=repo).split("\n")
    (copy,) = done.merge.conflicts["notes/a.md"]
    assert names == [copy, "gitmem.toml", "notes/a.md", "notes/link", "notes/x/c.md", "notes/x/y.md",
                     '"notes/\\377.md"']  # fmt: skip
    assert {(repo / "notes/a.md").read_text(), (repo / copy).read_text()} == {"1\n", "2\n"}
    assert git("status", "--porcelain", cwd=repo) == ""
