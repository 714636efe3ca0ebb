"""Commits by Git's names, which mean here what they mean to Git."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures import commit_all, git, head, layout_of, make_repo
from gitmem.backends.dulwich_repository import open_repository
from gitmem.commit_names import find_commit, is_commit_id, may_be_commit_id, may_be_words
from gitmem.errors import NotFound, UsageError
from gitmem.past_ledger import commit_or_time
from gitmem.repository import Commit, Repository

NAMES = [
    "HEAD",
    "@",
    "HEAD~1",
    "HEAD^",
    "HEAD~",
    "HEAD^2",
    "HEAD^2~1",
    "HEAD~2",
    "HEAD^^",
    "HEAD^0",
    "HEAD~0",
    "main",
    "topic",
    "topic~1",
    "refs/heads/topic",
    "heads/topic",
    "light",
    "episode/ep_1",
    "episode/ep_1^",
    "tags/episode/ep_1",
    "both",
    "主题/一",
    "cafe",
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a merge, branches and tags of both kinds."""
    root = make_repo(tmp_path_factory.mktemp("names") / "repo")
    for number in range(3):
        commit_all(root, f"main {number}", {f"main {number}": "x"})
    git("checkout", "-q", "-b", "topic", "HEAD~1", cwd=root)
    commit_all(root, "topic", {"topic": "x"})
    commit_all(root, "topic again", {"topic again": "x"})
    git("checkout", "-q", "main", cwd=root)
    git("merge", "-q", "--no-ff", "-m", "merge", "topic", cwd=root)
    git("tag", "light", "HEAD~1", cwd=root)
    git("tag", "-a", "-m", "an episode", "episode/ep_1", "topic", cwd=root)
    git("tag", "-a", "-m", "a tag of a tag", "cafe", "episode/ep_1", cwd=root)
    git("tag", "both", "HEAD~2", cwd=root)
    git("branch", "both", "topic", cwd=root)
    git("branch", "主题/一", "topic~1", cwd=root)
    return root


@pytest.fixture
def repository(place: Path) -> Repository:
    """It, opened."""
    return open_repository(layout_of(place))


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_what_it_is_to_git(
    repository: Repository, place: Path, name: str, *, is_packed: bool
) -> None:
    """Loose or packed, a tag before a branch, an annotated tag as its commit."""
    if is_packed:
        git("pack-refs", "--all", cwd=place)
    assert find_commit(repository, name, ()).id == head(place, name)


def test_the_id_of_a_tag_is_that_of_its_commit(repository: Repository, place: Path) -> None:
    """`git rev-parse episode/ep_1` prints the id of the tag."""
    tag, commit_id = git("rev-parse", "episode/ep_1", cwd=place), head(place, "topic")
    assert find_commit(repository, tag, ()).id == commit_id
    assert find_commit(repository, f"{commit_id}^", ()).id != commit_id


@pytest.mark.parametrize(
    "name",
    [
        "",
        "nothing",
        "HEAD~99",
        "HEAD^3",
        "HEAD^99",
        "HEAD~9999999",
        "topic/",
        "episode",
        "heads",
        "refs/heads",
        "../config",
        "refs/heads/../../config",
        "refs/heads/../../HEAD",
        "/refs/heads/main",
        "main.lock",
        "-h",
        "HEAD@{1}",
        ":/main",
        "HEAD:main 0",
        "a b",
        "x" * 5000,
        "a\x00b",
        "~1",
        "^",
        "0" * 40,
        "f" * 40,
        "deadbeef",
    ],
)
def test_what_names_no_commit_is_not_found(repository: Repository, name: str) -> None:
    """Whatever it is, it reads no file outside of the folder of refs, and nothing breaks."""
    with pytest.raises(NotFound):
        find_commit(repository, name, ())


def test_a_tree_or_a_file_is_no_commit(repository: Repository, place: Path) -> None:
    """Their ids are ids too."""
    for name in ("HEAD^{tree}", "HEAD:main 0"):
        with pytest.raises(NotFound):
            find_commit(repository, git("rev-parse", name, cwd=place), ())


def commit_with_digits(root: Path) -> str:
    """Commit until an id begins with nine digits that are no day; return it."""
    tree, dates = (
        git("write-tree", cwd=root),
        {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000"},
    )
    for number in range(2000):
        made = git("commit-tree", tree, "-m", f"{number}", cwd=root, env=dates)
        if made[:9].isdigit() and made[4:6] > "12":
            git("update-ref", "HEAD", made, cwd=root)
            return made
    raise AssertionError("none of so many ids begins with nine digits")


def test_a_short_id_may_be_digits_alone(tmp_path: Path) -> None:
    """One in 280 of those with twelve characters is; what is a day as well is a day."""
    root = make_repo(tmp_path / "repo")
    commit_all(root, "first", {"a": "x"})
    made = commit_with_digits(root)
    repository = open_repository(layout_of(root))
    for digits in (7, 8, 9):
        found = commit_or_time(repository, made[:digits], 0.0, ())
        assert isinstance(found, Commit)
        assert found.id == made
    assert commit_or_time(repository, "20261130", 0.0, ()) == 1_795_996_800
    for neither in ("2026", "9999999"):
        with pytest.raises(UsageError):
            commit_or_time(repository, neither, 0.0, ())


def test_words_are_told_from_names() -> None:
    """A year is no id, and who writes `HEAD~9` means a commit."""
    assert not is_commit_id("2026")
    assert not may_be_commit_id("2026")
    assert may_be_commit_id("2026113")
    assert is_commit_id("cafe")
    assert is_commit_id("1" * 40)
    assert may_be_words("soonish")
    assert may_be_words("main")
    assert not may_be_words("HEAD")
    assert not may_be_words("main~1")
