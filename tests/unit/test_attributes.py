"""Attributes of a path and what they do to its bytes, judged by git itself."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from fixtures import git, make_repo, run_git, write_files
from gitmem.attributes import AttributeFile, conversion_of, evaluate

LINES = {"lf": b"one\ntwo\n", "crlf": b"one\r\ntwo\r\n", "mixed": b"one\r\ntwo\nthree", "none": b"one"}
ODD = {
    "lone cr": b"one\rtwo\r\nthree\n", "nul": b"one\0\r\n", "control": b"\x01\x02\r\n", "eof": b"a\r\n\x1a",
    "ident": b"$Id$ $Id: x $ $Id: 12 34 $ $Id:a b$ $Id: broken\n$ $Id:$\r\n",
}  # fmt: skip
SETTINGS = [
    "", "*.md text", "*.md -text", "*.md text=auto", "*.md eol=lf", "*.md eol=crlf",
    "*.md text=auto eol=crlf", "*.md text=auto eol=lf", "*.md -text eol=crlf", "*.md ident",
    "*.md text ident eol=crlf", "*.md crlf",
    "*.md -crlf", "*.md crlf=input", "*.md binary", "*.md text=input",
]  # fmt: skip
CONFIG = [(None, None), ("true", None), ("input", None), ("false", "crlf"), ("false", "lf")]


def blob_of(repo: Path, path: str) -> bytes:
    """Return what git staged for a path."""
    return run_git("cat-file", "blob", f":{path}", cwd=repo).stdout


@pytest.mark.parametrize(("autocrlf", "eol"), CONFIG)
def test_bytes_become_the_blob_that_git_makes(tmp_path: Path, autocrlf: str | None, eol: str | None) -> None:
    """Every attribute and setting: the blob is the one of `git add`, and the file the one of a checkout."""
    repo = make_repo(tmp_path / "home")
    for name, value in (("core.autocrlf", autocrlf), ("core.eol", eol)):
        if value is not None:
            git("config", name, value, cwd=repo)
    contents = LINES | ODD
    cases = list(itertools.product(range(len(SETTINGS)), contents))
    for number, setting in enumerate(SETTINGS):
        write_files(repo, {f"{number}/.gitattributes": setting + "\n"})
    write_files(repo, {f"{number}/{kind}.md": contents[kind] for number, kind in cases})
    git("-c", "core.safecrlf=false", "add", ".", cwd=repo)
    checked_out = tmp_path / "out"
    git("checkout-index", "-a", f"--prefix={checked_out}/", cwd=repo)
    for number, kind in cases:
        path = f"{number}/{kind}.md"
        file = AttributeFile(".gitattributes", str(number), SETTINGS[number].encode())
        conversion = conversion_of(path, [file], autocrlf=autocrlf, eol=eol)
        blob = blob_of(repo, path)
        assert conversion.to_blob(contents[kind]) == blob, (SETTINGS[number], kind)
        assert conversion.to_work_tree(blob) == (checked_out / path).read_bytes(), (SETTINGS[number], kind)


@pytest.mark.parametrize(("autocrlf", "eol"), CONFIG)
def test_a_staged_file_with_crlf_stays_as_it_is(
    tmp_path: Path, autocrlf: str | None, eol: str | None
) -> None:
    """Where Git only guesses that a file is text, one that was stored with CRLF is not folded."""
    repo = make_repo(tmp_path / "home")
    write_files(repo, {f"{n}/a.md": b"old\r\n" for n in range(len(SETTINGS))})
    git("-c", "core.autocrlf=false", "add", ".", cwd=repo)
    for name, value in (("core.autocrlf", autocrlf), ("core.eol", eol)):
        if value is not None:
            git("config", name, value, cwd=repo)
    for number, setting in enumerate(SETTINGS):
        write_files(repo, {f"{number}/.gitattributes": setting + "\n", f"{number}/a.md": b"new\r\nfile\r\n"})
    git("-c", "core.safecrlf=false", "add", ".", cwd=repo)
    for number, setting in enumerate(SETTINGS):
        file = AttributeFile(".gitattributes", str(number), setting.encode())
        conversion = conversion_of(f"{number}/a.md", [file], autocrlf=autocrlf, eol=eol)
        assert conversion.to_blob(b"new\r\nfile\r\n", b"old\r\n") == blob_of(repo, f"{number}/a.md"), setting


@pytest.mark.parametrize(
    "pattern",
    ["*.md", "a.md", "/a.md", "notes/*.md", "/notes/*", "notes/**", "**/a.md", "notes/**/a.md", "n*s/a.md",
     "notes/?.md", "[a-c].md", "[!a-c].md", "[^b].md", "[[:alpha:]].md", "[]a].md", "[a", "notes/", "*", "**",
     "a\\.md", "\\a.md", '"a\\056md"', "notes/deep/a.md", "deep/a.md", "*/a.md", "*/*/a.md", "n**s/a.md",
     "[a\\-z].md", "caf?.md", "é.md", "notes\\/a.md", "[[:bogus:]].md", "[z-a].md", "a.md\\", "!a.md",
     "#a.md"],
)  # fmt: skip
def test_patterns_match_as_in_git(tmp_path: Path, pattern: str) -> None:
    """Each pattern takes the paths that `git check-attr` says it takes."""
    repo = make_repo(tmp_path / "home")
    paths = ["a.md", "b.md", "].md", "-.md", "é.md", "notes/a.md", "notes/d.md", "notes/deep/a.md",
             "x/y/z/a.md", "caf.md", "café.md", "nos/a.md", "n/s/a.md", "#a.md"]  # fmt: skip
    write_files(repo, {".gitattributes": f"{pattern} eol=lf\n"})
    out = git("check-attr", "-z", "--stdin", "eol", stdin="\0".join(paths), cwd=repo).split("\0")
    by_git = {path: value == "lf" for path, value in zip(out[0::3], out[2::3], strict=False)}
    file = AttributeFile(".gitattributes", "", f"{pattern} eol=lf\n".encode())
    assert {path: "eol" in evaluate(path, [file]) for path in paths} == by_git


def test_the_last_word(tmp_path: Path) -> None:
    """Deeper files beat outer ones, info/attributes all of them, later lines earlier ones."""
    repo = make_repo(tmp_path / "home")
    outer = "[attr]plain text eol=lf\n*.md plain\nnotes/x.md -text\n*.bin binary\nz.md text !eol\n"
    deeper = "a.md eol=crlf\nx.md !text\n[attr]plain -text\nb.md binary\n"
    info = "c.md text=auto\nd.md !text !eol\n[attr]binary text\n"
    write_files(repo, {".gitattributes": outer, "notes/.gitattributes": deeper, ".git/info/attributes": info})
    files = [
        AttributeFile(".gitattributes", "", outer.encode()),
        AttributeFile("notes/.gitattributes", "notes", deeper.encode(), defines=False),
        AttributeFile(".git/info/attributes", "", info.encode()),
    ]
    for path in ("a.md", "z.md", "q.bin", "c.md", *(f"notes/{name}.md" for name in "abcdxz"), "notes/q.bin"):
        said = git("check-attr", "text", "eol", "--", path, cwd=repo).splitlines()
        by_git = [line.rsplit(": ", 1)[1] for line in said]
        found = evaluate(path, files)
        values = [found[name].value if name in found else None for name in ("text", "eol")]
        words = {True: "set", False: "unset", None: "unspecified"}
        assert [words.get(value, value) for value in values] == by_git, path  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "foreign"),
    [("*.md filter=lfs", "filter=lfs in notes/.gitattributes, line 2"),
     ("*.md working-tree-encoding=UTF-16", "working-tree-encoding=UTF-16 in notes/.gitattributes, line 2"),
     ("*.md -filter", None), ("*.md !filter", None), ("*.txt filter=lfs", None)],
)  # fmt: skip
def test_programs_and_encodings_are_named(line: str, foreign: str | None) -> None:
    """What gitmem cannot convert is told with its file and line, so that a person finds it."""
    file = AttributeFile("notes/.gitattributes", "notes", f"# lfs\n{line}\n".encode())
    assert conversion_of("notes/a.md", [file]).foreign == foreign


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(("autocrlf", "eol"), CONFIG)
def test_lines_that_end_in_lf_are_clean_everywhere(
    setting: str, autocrlf: str | None, eol: str | None
) -> None:
    """What gitmem writes, LF only, is stored as it is under every attribute that could stand in a home."""
    file = AttributeFile(".gitattributes", "", setting.encode())
    assert conversion_of("a.md", [file], autocrlf=autocrlf, eol=eol).to_blob(b"one\ntwo\n") == b"one\ntwo\n"
