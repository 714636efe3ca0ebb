"""Files of the work tree as they are replaced."""

from __future__ import annotations

from pathlib import Path
from stat import S_ISLNK

import pytest

from gitmem.errors import ProtectedPath
from gitmem.tree_files import MAX_FILE
from gitmem.work_tree import check_way, find_twin, is_inside, remove_beside, replaced_file, stat_file


def nothing(_: int) -> None:
    """Grant nothing."""


def put(root: Path, path: str, content: bytes | None, mode: int | None = None) -> None:
    """Replace one file."""
    with replaced_file(root, path, content, mode=mode, token="t", grant=nothing) as file:
        file.place()
        file.settle()


def test_a_file_is_replaced_at_once(tmp_path: Path) -> None:
    """Nobody sees a part of it, its mode stays, and nothing is left beside it."""
    path = tmp_path / "notes" / "deep" / "a.md"
    put(tmp_path, "notes/deep/a.md", b"one\n")
    path.chmod(0o640)
    inode = path.stat().st_ino
    with path.open() as reader:
        put(tmp_path, "notes/deep/a.md", b"two\n", mode=path.stat().st_mode)
        assert reader.read() == "one\n"
    assert path.read_bytes() == b"two\n"
    assert path.stat().st_ino != inode
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in path.parent.iterdir()] == ["a.md"]


def test_what_is_not_placed_leaves_nothing(tmp_path: Path) -> None:
    """A write that is given up leaves no file and no folder."""
    with replaced_file(tmp_path, "notes/deep/a.md", b"x", mode=None, token="t", grant=nothing):
        pass
    assert [p.name for p in tmp_path.rglob("*")] == ["notes"]
    with (
        pytest.raises(KeyError),
        replaced_file(tmp_path, "notes/a.md", b"x", mode=None, token="t", grant=nothing),
    ):
        raise KeyError
    assert [p.name for p in tmp_path.rglob("*")] == ["notes"]


def test_removing(tmp_path: Path) -> None:
    """A file goes with the folders that fall empty, but for the topmost; a missing one is no error."""
    put(tmp_path, "notes/deep/er/a.md", b"x")
    put(tmp_path, "notes/deep/er/a.md", None)
    put(tmp_path, "notes/none/a.md", None)
    assert [p.name for p in tmp_path.rglob("*")] == ["notes"]


@pytest.mark.parametrize(
    "path", ["link/a.md", "notes/link/a.md", "file/a.md", "nested/a.md", "nested/deep/a.md"]
)
def test_ways_that_are_not_gone(tmp_path: Path, path: str) -> None:
    """No write goes through a link, a file or another repository, and nothing outside is changed."""
    (tmp_path / "outside").mkdir()
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    (home / "link").symlink_to(tmp_path / "outside")
    (home / "notes" / "link").symlink_to(tmp_path / "outside")
    (home / "file").write_bytes(b"")
    (home / "nested" / ".git").mkdir(parents=True)
    with pytest.raises(ProtectedPath):
        put(home, path, b"x")
    with pytest.raises(ProtectedPath):
        check_way(home, path)
    assert list((tmp_path / "outside").iterdir()) == []
    check_way(home, "notes/new/deep/a.md")


def test_a_link_put_in_the_way_meanwhile_is_not_followed(tmp_path: Path) -> None:
    """The folder that was entered is the one that is written to, whatever its name points at by then."""
    outside, home = tmp_path / "outside", tmp_path / "home"
    outside.mkdir()
    (home / "notes").mkdir(parents=True)
    with replaced_file(home, "notes/a.md", b"x", mode=None, token="t", grant=nothing) as file:
        (home / "notes").rename(home / "moved")
        (home / "notes").symlink_to(outside)
        file.place()
    assert list(outside.iterdir()) == []
    assert (home / "moved" / "a.md").read_bytes() == b"x"


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    """What could not be read back is not written."""
    with pytest.raises(ProtectedPath, match="larger than 8 MiB"):
        put(tmp_path, "notes/a.md", bytes(MAX_FILE + 1))


@pytest.mark.parametrize(
    ("path", "inside"),
    [("notes/a.md", True), ("notes/.gitignore", True), ("a", True), ("", False), ("/a", False),
     ("../a", False), ("notes/../a", False), ("notes/./a", False), ("notes//a", False), ("notes/", False),
     (".git/config", False), ("notes/.GIT/x", False), ("a\0b", False)],
)  # fmt: skip
def test_paths_by_their_words(path: str, inside: bool) -> None:
    """A path is judged before the disk is asked."""
    assert is_inside(path) is inside


def test_twins(tmp_path: Path) -> None:
    """Names that differ in case or Unicode form only are found at every depth; an exact name is no twin."""
    put(tmp_path, "notes/Sub/Caf\u00e9.md", b"x")
    assert find_twin(tmp_path, "notes/Sub/Cafe\u0301.md") == "notes/Sub/Caf\u00e9.md"
    assert find_twin(tmp_path, "notes/sub/x.md") == "notes/Sub"
    assert find_twin(tmp_path, "notes/Sub/Caf\u00e9.md") is None
    assert find_twin(tmp_path, "notes/Sub/other.md") is None
    assert find_twin(tmp_path, "work/x.md") is None


def test_stat_is_of_the_path_itself(tmp_path: Path) -> None:
    """A link's own data, and None where nothing is."""
    (tmp_path / "link").symlink_to("nowhere")
    found = stat_file(tmp_path, "link")
    assert found is not None
    assert S_ISLNK(found.st_mode)
    assert stat_file(tmp_path, "none/a.md") is None


def test_what_a_kill_left_is_found_by_its_token(tmp_path: Path) -> None:
    """A file beside that nobody moved is removed, and nothing else."""
    put(tmp_path, "notes/a.md", b"x")
    (tmp_path / "notes" / ".a.md.t.part").write_bytes(b"left")
    (tmp_path / "notes" / ".a.md.other.part").write_bytes(b"somebody's")
    remove_beside(tmp_path, "notes/a.md", "t")
    remove_beside(tmp_path, "notes/none/a.md", "t")
    assert sorted(p.name for p in (tmp_path / "notes").iterdir()) == [".a.md.other.part", "a.md"]
