"""Refs as bytes: what Git writes is read exactly, what is damaged is never taken for a value."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import commit_all, git, make_repo, run_git
from gitmem.git_refs import (
    RefFile,
    clash_with,
    find_packed,
    format_reflog,
    is_logged,
    is_ref_name,
    packed_below,
    packed_folders,
    parse_ref_file,
    parse_reflog,
    without_packed,
)

A, B, C = "a" * 40, "b" * 40, "c" * 40
HEADER = b"# pack-refs with: peeled fully-peeled sorted \n"

PART = st.text("abz-_.{@~é計 \\*[", min_size=1, max_size=4)


@given(st.lists(PART, min_size=1, max_size=4).map("/".join))
def test_names_are_taken_as_git_takes_them(name: str) -> None:
    """No name that Git refuses is ever written, none that it takes is refused."""
    full = f"refs/{name}"
    taken = run_git("check-ref-format", full, cwd=Path("/")).returncode == 0
    assert is_ref_name(full) is taken


@pytest.mark.parametrize("name", ["refs/heads/@", "refs/heads/main", "refs/heads/a.b", "refs/x"])
def test_ordinary_names_are_names(name: str) -> None:
    """The names of everyday pass."""
    assert is_ref_name(name)


@pytest.mark.parametrize(
    "name", ["", "HEAD", "heads/main", "/refs/heads/x", "refs/../x", "refs/a\nb", "refs/"]
)
def test_names_outside_refs_are_none(name: str) -> None:
    """HEAD may say anything; nothing outside refs/ is followed."""
    assert not is_ref_name(name)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (A.encode() + b"\n", RefFile(A, None)),
        (A.encode(), RefFile(A, None)),
        (A.encode() + b"\tbranch 'main' of x\n", RefFile(A, None)),
        (b"ref: refs/heads/main\n", RefFile(None, "refs/heads/main")),
        (b"ref:refs/heads/main", RefFile(None, "refs/heads/main")),
        (b"", None),
        (b"\0" * 41, None),
        (A[:39].encode() + b"\n", None),
        (A.encode() + b"a\n", None),
        (A.upper().encode(), None),
        (b"ref: ../../etc/passwd\n", None),
        (b"ref: \n", None),
    ],
)
def test_a_ref_file_is_an_id_a_name_or_damage(content: bytes, found: RefFile | None) -> None:
    """Empty and zeroed files, which a power cut leaves, are damage and not absence."""
    assert parse_ref_file(content) == found


@given(st.sets(st.text("abc/", min_size=1, max_size=6), max_size=30), st.text("abc/", max_size=6), st.data())
def test_a_packed_ref_is_found_among_any_others(names: set[str], other: str, data: st.DataObject) -> None:
    """Search in the sorted file and in one that does not say so agree with reading all of it."""
    rows = {f"refs/{name}": f"{number:040x}" for number, name in enumerate(sorted(names))}
    peeled = {name for name in rows if data.draw(st.booleans())}
    lines = [
        f"{value} {name}\n".encode() + (f"^{C}\n".encode() if name in peeled else b"")
        for name, value in sorted(rows.items())
    ]
    for content in (HEADER + b"".join(lines), b"".join(lines), b"".join(reversed(lines))):
        assert dict(packed_below(content)) == rows
        for name in [*rows, f"refs/{other}"]:
            assert find_packed(content, name.encode()) == rows.get(name)
            left = without_packed(content, name.encode())
            assert dict(packed_below(left)) == {n: v for n, v in rows.items() if n != name}
            assert left.count(b"^") == len(peeled - {name})


def test_a_packed_ref_is_found_through_a_map(tmp_path: Path) -> None:
    """A file of megabytes is searched without being read."""
    path = tmp_path / "packed-refs"
    rows = [f"{number:040x} refs/tags/t{number:05}\n^{A}\n" for number in range(20_000)]
    path.write_bytes(HEADER + "".join(rows).encode())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        assert find_packed(content, b"refs/tags/t00000") == f"{0:040x}"
        assert find_packed(content, b"refs/tags/t12345") == f"{12345:040x}"
        assert find_packed(content, b"refs/tags/t19999") == f"{19999:040x}"
        assert find_packed(content, b"refs/tags/t2") is None


def test_gits_own_packed_refs_are_read(tmp_path: Path) -> None:
    """Annotated tags with peeled values stand among branches; dropping one leaves Git content."""
    repo = make_repo(tmp_path / "repo")
    commit = commit_all(repo)
    git("tag", "-a", "-m", "x", "v1", cwd=repo)
    git("tag", "v2", cwd=repo)
    git("pack-refs", "--all", cwd=repo)
    path = repo / ".git" / "packed-refs"
    content = path.read_bytes()
    assert find_packed(content, b"refs/heads/main") == commit
    path.write_bytes(without_packed(content, b"refs/tags/v1"))
    assert git("for-each-ref", "--format=%(refname)", cwd=repo).split() == ["refs/heads/main", "refs/tags/v2"]


def test_clashes_are_found_in_both_directions() -> None:
    """A name and a folder of the same name exclude each other; the category itself clashes with nothing."""
    assert clash_with("refs/heads/a/b", {"refs/heads/a": A}) == "refs/heads/a"
    assert clash_with("refs/heads/a", {"refs/heads/a/b/c": A}) == "refs/heads/a/b/c"
    assert clash_with("refs/heads/a", {"refs/heads/ab": A, "refs/heads/a": B}) is None


def test_a_reflog_line_is_one_line() -> None:
    """No message breaks the file, whatever it holds."""
    line = format_reflog(old=A, new=B, who="x <y>", seconds=7, message="two\nlines\tand  more ")
    assert line == f"{A} {B} x <y> 7 +0000\ttwo lines and more\n".encode()
    assert (
        format_reflog(old=A, new=B, who="x <y>", seconds=7, message=" \n")
        == f"{A} {B} x <y> 7 +0000\n".encode()
    )


def test_a_reflog_tells_every_value_newest_first() -> None:
    """Recovery tries them in this order; a torn last line and the zero id are passed over."""
    zero = "0" * 40
    lines = [(zero, A), (A, B), (C, A)]
    content = b"".join(format_reflog(old=o, new=n, who="x <y>", seconds=7, message="m") for o, n in lines)
    assert parse_reflog(content + b"\0" * 60) == [A, C, B]
    assert parse_reflog(content + f"{A} {C[:20]}".encode()) == [A, C, B]
    assert parse_reflog(b"") == []


@pytest.mark.parametrize(
    ("name", "setting", "logged"),
    [
        ("refs/heads/x", None, True),
        ("refs/remotes/o/x", "true", True),
        ("HEAD", "1", True),
        ("refs/tags/x", None, False),
        ("refs/gitmem/rescue/x", "true", False),
        ("refs/tags/x", "Always", True),
        ("refs/heads/x", "false", False),
        ("refs/heads/x", "0", False),
    ],
)
def test_reflogs_are_started_where_git_starts_them(name: str, setting: str | None, logged: bool) -> None:
    """The operator's setting decides."""
    assert is_logged(name, setting) is logged


@pytest.mark.parametrize(
    "header", [b"# pack-refs with: peeled fully-peeled sorted \n", b"", b"# pack-refs with: peeled \n"]
)
def test_packed_folders_are_named_once(header: bytes) -> None:
    """Which remotes have packed refs is seen in a few lines, also beside names that sort into their midst."""
    names = [
        "refs/remotes/a-b/x",
        "refs/remotes/a.b",
        "refs/remotes/a/x",
        "refs/remotes/a/y/z",
        "refs/remotes/é/x",
        "refs/tags/t",
    ]
    content = header + b"".join(
        b"1" * 40 + b" " + name.encode() + b"\n^" + b"2" * 40 + b"\n" for name in names
    )
    assert packed_folders(content, b"refs/remotes/") == ["a-b", "a", "é"]
    assert packed_folders(content, b"refs/heads/") == []
    assert packed_folders(header, b"refs/remotes/") == []
