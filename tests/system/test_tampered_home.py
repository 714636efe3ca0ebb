"""What `verify --full` says of whatever is changed outside the trees of turn lines: copy, packs, branch."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from homes import new_home
from originals import copy_of

from fixtures import git
from gitmem import AgentHome
from gitmem.pack_format import parse_index
from gitmem.verify_finding import Finding


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A home of three turns, one with a long text, and two changes to memory."""
    copy_of("tampered home", _create, tmp_path / "home")
    return tmp_path / "home"


def _create(path: Path) -> None:
    with new_home(path, operator=True) as home:
        for text in ("Which port?", "long " * 10_000, "And for staging?"):
            with home.turn(session="s1") as turn:
                turn.message("user", text)
        home.entries("memory").add("Staging listens on 2222.")
        home.note_add("ports.md", content="# Ports\n\n2222\n")


def look(root: Path) -> list[Finding]:
    """Return what a full look finds."""
    with AgentHome.open(root) as home:
        return list(home.verify(full=True).findings)


def files(root: Path, pattern: str) -> list[Path]:
    """Return the files of the copy that match, in order."""
    return sorted((root / "ledger").rglob(pattern))


def segment(root: Path) -> Path:
    """Return the only segment in the copy."""
    (path,) = files(root, "*.jsonl")
    return path


def text(root: Path) -> Path:
    """Return the only long text in the copy."""
    (path,) = [path for path in files(root, "msg_*") if path.is_file()]
    return path


def _rewrite(path: Path, content: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(content)


def _outside(path: Path, root: Path) -> None:
    """Move what is at a path out of the home and put a link in its place."""
    outside = root.parent / "outside"
    shutil.move(path, outside)
    path.symlink_to(outside)


def _in_place(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


#: What is done to the copy on disk -> the path that has to be named, the line if there is one.
COPY: Mapping[str, tuple[Callable[[Path], object], str, int | None]] = {
    "segment changed": (
        lambda root: _rewrite(segment(root), segment(root).read_bytes().replace(b"port", b"ship")),
        "segment",
        1,
    ),
    "segment cut": (lambda root: _rewrite(segment(root), segment(root).read_bytes()[:-40]), "segment", 10),
    "segment emptied": (lambda root: _rewrite(segment(root), b""), "segment", 1),
    "line removed": (
        lambda root: _rewrite(segment(root), segment(root).read_bytes().partition(b"\n")[2]),
        "segment",
        1,
    ),
    "line inserted": (
        lambda root: _rewrite(segment(root), b"more\n" + segment(root).read_bytes()),
        "segment",
        1,
    ),
    "lines reordered": (
        lambda root: _rewrite(segment(root), b"".join(segment(root).read_bytes().splitlines(True)[::-1])),
        "segment",
        None,
    ),
    "line twice": (lambda root: _rewrite(segment(root), segment(root).read_bytes() * 2), "segment", 11),
    "link to a segment": (lambda root: _outside(segment(root), root), "segment", None),
    "folder for a segment": (lambda root: _in_place(segment(root), os.mkdir), "segment", None),
    "pipe for a segment": (lambda root: _in_place(segment(root), os.mkfifo), "segment", None),
    "long text changed": (lambda root: _rewrite(text(root), b"{}"), "text", None),
    "long text cut": (lambda root: _rewrite(text(root), text(root).read_bytes()[:100]), "text", None),
    "link to a long text": (lambda root: _outside(text(root), root), "text", None),
    "folder for a long text": (lambda root: _in_place(text(root), os.mkdir), "text", None),
    "link to a folder": (lambda root: _outside(segment(root).parent, root), "day", None),
    "link to ledger": (lambda root: _outside(root / "ledger", root), "ledger", None),
}


@pytest.mark.parametrize("deed", COPY)
def test_what_is_done_to_the_copy_is_named(root: Path, deed: str) -> None:
    """Whoever reads the copy by eye or with ripgrep is to read the truth."""
    do, what, line = COPY[deed]
    at = {
        "segment": segment(root),
        "text": text(root),
        "day": segment(root).parent,
        "ledger": root / "ledger",
    }
    path = at[what].relative_to(root).as_posix()
    do(root)
    found = [one for one in look(root) if one.severity == "error"]
    assert {(one.rule, one.path) for one in found} == {("disk", path)}
    assert line is None or found[0].line == line


@pytest.mark.parametrize("what", ["segment", "text"])
def test_a_file_of_the_copy_that_no_line_holds_is_told(root: Path, what: str) -> None:
    """A copied or renamed one looks like one of the ledger to whoever reads there."""
    path = segment(root) if what == "segment" else text(root)
    name = path.name.replace("-0001", "-0002") if what == "segment" else "msg_0123456789abcde"
    shutil.copy(path, path.with_name(name))
    (found,) = look(root)
    told = (found.rule, found.severity, found.path)
    assert told == ("disk", "warning", path.with_name(name).relative_to(root).as_posix())


def test_a_whole_home_gives_nothing_and_nor_does_a_missing_copy(root: Path) -> None:
    """A copy that is not there misleads nobody, and is restored."""
    assert look(root) == []
    shutil.rmtree(root / "ledger")
    assert look(root) == []


def _packs(root: Path) -> list[Path]:
    return sorted((root / ".git" / "objects" / "pack").glob("*.pack"))


@pytest.mark.parametrize("how", ["as gitmem packs", "as git packs"])
def test_a_flipped_bit_in_any_object_of_a_pack_is_named(root: Path, how: str) -> None:
    """Also one of an old version that nobody reads: a later clone would get it."""
    if how == "as git packs":
        git("gc", "-q", cwd=root)
        assert look(root) == []
    for pack in _packs(root):
        content = pack.read_bytes()
        rows = parse_index(pack.with_suffix(".idx").read_bytes(), len(content))
        for row in {rows[0], rows[len(rows) // 2], rows[-1]}:
            middle = (row.offset + row.end) // 2
            _rewrite(pack, content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
            told = [one for one in look(root) if one.rule == "store"]
            assert [(one.path, row.id in one.message) for one in told] == [
                (f"objects/pack/{pack.name}", True)
            ]
        _rewrite(pack, content)


@pytest.mark.parametrize("part", ["pack", "idx"])
def test_a_pack_or_index_that_is_cut_is_named(root: Path, part: str) -> None:
    """Whatever else is found then, the file is."""
    path = _packs(root)[-1].with_suffix(f".{part}")
    _rewrite(path, path.read_bytes()[:-30])
    assert f"objects/pack/{path.name}" in [one.path for one in look(root) if one.rule == "store"]


def test_a_loose_object_that_holds_another_one_is_named(root: Path) -> None:
    """Git itself reads it without a look at its id."""
    one, other = (
        git("hash-object", "-w", "--stdin", cwd=root, stdin=content) for content in (b"one\n", b"other\n")
    )
    at = [root / ".git" / "objects" / name[:2] / name[2:] for name in (one, other)]
    _rewrite(at[0], at[1].read_bytes())
    (found,) = look(root)
    assert (found.rule, found.path) == ("store", f"objects/{one[:2]}/{one[2:]}")


@pytest.mark.parametrize("kind", ["Gitmem-Kind: memory\n", ""], ids=["with its kind", "without a kind"])
def test_a_commit_in_the_name_of_a_turn_that_changed_nothing(root: Path, kind: str) -> None:
    """A turn that was imported tells of no change, so that is a warning; gitmem leaves out no kind."""
    agent = git("log", "-1", "--format=%an%n%ae", "--author=gitmem.invalid", "main", cwd=root).split("\n")
    turns = git("log", "--format=%(trailers:key=Gitmem-Turn,valueonly)", "--all", "--", "ledger", cwd=root)
    (root / "memory" / "MEMORY.md").write_text("- never said\n", "utf-8")
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in zip(("NAME", "EMAIL"), agent, strict=True)
    }
    message = f"memory: + 1 entry\n\nGitmem-Turn: {turns.split()[-1]}\n{kind}"
    git("-c", "core.hooksPath=/dev/null", "commit", "-qam", message, cwd=root, env=who)
    commit = git("rev-parse", "HEAD", cwd=root)
    found = [one for one in look(root) if one.rule == "memory_trailer"]
    assert [(one.severity, one.path, one.commit) for one in found] == [
        ("warning" if kind else "error", "memory/MEMORY.md", commit)
    ]
