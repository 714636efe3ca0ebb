"""Plain git over a home with its drivers: what diff, log and show print, and what merges make."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from homes import new_home

from fixtures import commit_all, git, head, make_repo, run_git, show, write_files
from gitmem import AgentHome
from gitmem.backends.dulwich_repository import open_repository
from gitmem.branch_merge import merge_path
from gitmem.drivers import install_drivers, uninstall_drivers
from gitmem.layout import find_layout
from gitmem.templates import render_templates

#: Real Git in many states takes its time.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
STORE = "memory/MEMORY.md"
NOTE = "notes/deploy.md"
LINES = [f"line {number}\n" for number in range(1, 13)]


def interpreter(path: Path, *, gitmem: bool = True) -> str:
    """Make an interpreter that can, or cannot, import gitmem, whatever the environment is."""
    # An editable installation is found through site-packages, which -S leaves out.
    found = f"PYTHONPATH={ROOT} exec {sys.executable}" if gitmem else f"exec {sys.executable} -S"
    path.write_text(f'#!/bin/sh\n{found} "$@"\n')
    path.chmod(0o755)
    return str(path)


def set_drivers(root: Path, python: str) -> None:
    """Configure the drivers of a clone."""
    layout = find_layout(root)
    repository = open_repository(layout)
    install_drivers(layout, repository, python)
    repository.close()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with a home's attributes, a store and a note, and the drivers configured."""
    root = make_repo(tmp_path / "home with blank")
    write_files(root, {".gitattributes": render_templates(agent="aria", home_id="h0")[".gitattributes"]})
    commit_all(root, "base", {STORE: entries("one", "two", "three"), NOTE: "".join(LINES)})
    set_drivers(root, interpreter(tmp_path / "python"))
    return root


def entries(*texts: str) -> str:
    """Return a store."""
    return "\n§\n".join(texts) + "\n" if texts else ""


def edited(*changes: tuple[int, str]) -> str:
    """Return the note with lines replaced or, where the number is negative, put in behind that line."""
    lines = list(LINES)
    for number, text in sorted(changes, key=lambda change: -abs(change[0])):
        start = abs(number) - (number > 0)
        lines[start : abs(number)] = [f"{text}\n"]
    return "".join(lines)


OURS = {STORE: entries("one", "two", "three", "four"), NOTE: edited((2, "ours"), (-12, "ours at the end"))}
THEIRS = {STORE: entries("one", "three", "3½"), NOTE: edited((9, "theirs"), (-12, "theirs at the end"))}
BASE = {STORE: entries("one", "two", "three"), NOTE: "".join(LINES)}
CLASH = {NOTE: edited((2, "theirs"))}


def expected(path: str, base: str | None, ours: str, theirs: str) -> str:
    """Return what gitmem's own merge makes of a file; it has to be clean."""
    raw = [None if text is None else text.encode() for text in (base, ours, theirs)]
    merged = merge_path(path, *raw)
    assert not merged.copies
    assert merged.live is not None
    return merged.live.decode()


def diverge(repo: Path, ours: Mapping[str, str | bytes], theirs: Mapping[str, str | bytes]) -> None:
    """Commit `theirs` on the branch `side`, `ours` on `main`, and stand on main."""
    git("checkout", "-q", "-b", "side", cwd=repo)
    commit_all(repo, "theirs", theirs)
    git("checkout", "-q", "main", cwd=repo)
    commit_all(repo, "ours", ours)


def merge(repo: Path) -> None:
    """Merge a branch."""
    git("merge", "-q", "--no-edit", "side", cwd=repo)


def rebase(repo: Path) -> None:
    """Put the own commit on top of a branch."""
    git("rebase", "-q", "side", cwd=repo)


def pick(repo: Path) -> None:
    """Take one commit of a branch."""
    git("cherry-pick", "side", cwd=repo)


def pop(repo: Path) -> None:
    """Bring stashed edits back onto another commit."""
    ours = head(repo)
    git("reset", "-q", "--hard", "main~1", cwd=repo)
    write_files(repo, THEIRS)
    git("stash", cwd=repo)
    git("reset", "-q", "--hard", ours, cwd=repo)
    git("stash", "pop", cwd=repo)


def three_way_apply(repo: Path) -> None:
    """Apply a mailed patch."""
    patch = run_git("format-patch", "--stdout", "--full-index", "-1", "side", cwd=repo).stdout
    git("am", "-q", "-3", cwd=repo, stdin=patch)


def merge_objects(repo: Path) -> None:
    """Merge without a work tree, then look at the tree."""
    tree = git("merge-tree", "--write-tree", "main", "side", cwd=repo)
    git("read-tree", "-u", "--reset", tree, cwd=repo)


@pytest.mark.parametrize("bring", [merge, rebase, pick, pop, three_way_apply, merge_objects])
def test_a_clean_merge_is_gitmems_own(repo: Path, bring: object) -> None:
    """Whatever git command brings two versions together, entries and lines merge as in a sync."""
    diverge(repo, OURS, THEIRS)
    assert callable(bring)
    bring(repo)
    for path, base in BASE.items():
        assert (repo / path).read_text() == expected(path, base, OURS[path], THEIRS[path])
    assert not run_git("ls-files", "-u", cwd=repo).stdout


def test_a_revert_merges_by_entry(repo: Path) -> None:
    """Taking back an old entry leaves the later ones."""
    commit_all(repo, "add", {STORE: entries("one", "two", "three", "four")})
    commit_all(repo, "more", {STORE: entries("one", "two", "three", "four", "five")})
    git("revert", "--no-edit", "HEAD~1", cwd=repo)
    assert (repo / STORE).read_text() == entries("one", "two", "three", "five")


def test_stores_made_on_both_sides_are_one(repo: Path) -> None:
    """Git knows no base of a file that both added; entries need none."""
    user = "memory/USER.md"
    diverge(repo, {user: entries("a", "b")}, {user: entries("b", "c")})
    merge(repo)
    assert (repo / user).read_text() == expected(user, None, entries("a", "b"), entries("b", "c"))


def test_histories_that_cross_merge(repo: Path) -> None:
    """Git merges the two bases with the driver too; no entry is lost and none comes twice."""
    diverge(repo, {STORE: entries("one", "two", "three", "m")}, {STORE: entries("one", "two", "three", "s")})
    main, side = head(repo, "main"), head(repo, "side")
    git("merge", "-q", "--no-edit", side, cwd=repo)
    git("checkout", "-q", "side", cwd=repo)
    git("merge", "-q", "--no-edit", main, cwd=repo)
    commit_all(repo, "s2", {STORE: entries("two", "three", "m", "s", "s2"), NOTE: edited((3, "s2"))})
    git("checkout", "-q", "main", cwd=repo)
    commit_all(repo, "m2", {STORE: entries("one", "two", "three", "m", "s", "m2"), NOTE: edited((10, "m2"))})
    merge(repo)
    assert set((repo / STORE).read_text().rstrip("\n").split("\n§\n")) == {
        "two",
        "three",
        "m",
        "s",
        "s2",
        "m2",
    }
    assert (repo / NOTE).read_text() == edited((3, "s2"), (10, "m2"))


def test_a_clash_of_bases_leaves_no_marker_behind(repo: Path) -> None:
    """The virtual base of crossing histories may hold markers; the result that both agree on does not."""
    diverge(repo, {NOTE: edited((2, "m"))}, {NOTE: edited((2, "s"))})
    main, side = head(repo, "main"), head(repo, "side")
    for branch, other in (("main", side), ("side", main)):
        git("checkout", "-q", branch, cwd=repo)
        assert run_git("merge", "-q", other, cwd=repo).returncode == 1
        commit_all(repo, f"settle {branch}", {NOTE: edited((2, "settled"))})
    git("checkout", "-q", "main", cwd=repo)
    merge(repo)
    assert (repo / NOTE).read_text() == edited((2, "settled"))


def conflict(repo: Path) -> bytes:
    """Merge the side branch, which clashes; return the note with git's names of the sides taken out."""
    done = run_git("merge", "--no-edit", "side", cwd=repo)
    assert done.returncode == 1, done.stdout + done.stderr
    assert b"CONFLICT (content)" in done.stdout
    assert git("ls-files", "-u", NOTE, cwd=repo).count("\n") == 2
    return re.sub(rb"(?m)^([<>|]{7,}) .*$", rb"\1", (repo / NOTE).read_bytes())


@pytest.mark.parametrize("style", ["merge", "diff3"])
@pytest.mark.parametrize("size", ["", "15"])
def test_a_clash_is_gits_ordinary_conflict(repo: Path, style: str, size: str) -> None:
    """With the same markers, of the size and style that the operator asked for, and clean changes merged."""
    git("config", "merge.conflictStyle", style, cwd=repo)
    if size:
        with (repo / ".gitattributes").open("a") as file:
            file.write(f"{NOTE} conflict-marker-size={size}\n")
        commit_all(repo, "size")
    diverge(repo, {NOTE: edited((2, "ours"), (6, "clean"))}, CLASH)
    found = conflict(repo)
    assert b"<" * int(size or 7) + b"\nours\n" in found
    git("merge", "--abort", cwd=repo)
    drop_drivers(repo)
    assert conflict(repo) == found


def drop_drivers(repo: Path) -> None:
    """Make git plain again."""
    layout = find_layout(repo)
    repository = open_repository(layout)
    uninstall_drivers(layout, repository)
    repository.close()


@pytest.mark.parametrize("bad", [b"caf\xe9", b"nul \0 \xff"], ids=["latin-1", "binary"])
def test_what_is_not_text_is_left_to_git(repo: Path, bad: bytes) -> None:
    """Neither side's bytes are lost or changed where a line merge cannot be made."""
    base = "".join(LINES).encode()
    diverge(repo, {NOTE: b"ours " + bad + b"\n" + base}, {NOTE: b"theirs " + bad + b"\n" + base})
    found = conflict(repo)
    git("merge", "--abort", cwd=repo)
    drop_drivers(repo)
    assert conflict(repo) == found


def test_a_removed_note_that_was_edited_is_asked_about(repo: Path) -> None:
    """Git decides before any driver is called; the edit is there to be kept."""
    git("checkout", "-q", "-b", "side", cwd=repo)
    commit_all(repo, "theirs", {NOTE: edited((2, "theirs"))})
    git("checkout", "-q", "main", cwd=repo)
    git("rm", "-q", NOTE, cwd=repo)
    commit_all(repo, "gone")
    assert b"CONFLICT (modify/delete)" in run_git("merge", "side", cwd=repo).stdout
    assert (repo / NOTE).read_text() == edited((2, "theirs"))


@pytest.mark.parametrize("setting", ["true", "input"])
def test_line_endings_of_the_machine_do_not_reach_the_merge(repo: Path, setting: str) -> None:
    """Blobs have line feeds; a clone that converts gets the same commit."""
    git("config", "core.autocrlf", setting, cwd=repo)
    diverge(repo, OURS, THEIRS)
    merge(repo)
    for path, base in BASE.items():
        assert show(repo, path) == expected(path, base, OURS[path], THEIRS[path])


@pytest.mark.parametrize(
    "name",
    [
        "-rf.md",
        "a 'b\" $(touch pwned) `touch pwned`.md",
        "%O %A %%.md",
        "new\nline.md",
        "笔记.markdown",
        "; exit 0.md",
    ],
)
def test_no_name_is_taken_for_a_command(repo: Path, name: str) -> None:
    """File names are data, of notes whose suffix is the longer one too."""
    path = f"notes/{name}"
    commit_all(repo, "named", {path: "".join(LINES)})
    diverge(repo, {path: OURS[NOTE]}, {path: THEIRS[NOTE]})
    merge(repo)
    assert (repo / path).read_text() == expected(path, BASE[NOTE], OURS[NOTE], THEIRS[NOTE])
    assert not list(repo.parent.rglob("pwned"))


@pytest.mark.parametrize("gone", ["interpreter", "gitmem"])
def test_without_gitmem_git_is_plain(repo: Path, gone: str) -> None:
    """An uninstalled gitmem costs an operator nothing: merges are git's own, diffs show the file."""
    python = interpreter(repo.parent / "python", gitmem=False)
    if gone == "interpreter":
        Path(python).unlink()
    diverge(repo, {NOTE: edited((2, "ours"), (6, "clean"))}, {STORE: THEIRS[STORE], **CLASH})
    found = conflict(repo)
    assert b"<<<<<<<\nours\n=======\ntheirs\n>>>>>>>\n" in found
    assert b"clean" in found
    git("merge", "--abort", cwd=repo)
    assert "+§" in git("show", "side", "--", STORE, cwd=repo).replace("-§", "+§").split("\n")


@pytest.mark.parametrize(
    "environment", [{}, {"PATH": "/nowhere"}, {"PYTHONPATH": "/nowhere", "PYTHONHOME": ""}]
)
def test_an_empty_environment_is_enough(repo: Path, environment: dict[str, str]) -> None:
    """A graphical client starts git without a shell's PATH."""
    diverge(repo, OURS, THEIRS)
    program = shutil.which("git")
    assert program
    command = [program, "-c", "user.name=x", "-c", "user.email=x@x", "merge", "-q", "--no-edit", "side"]
    subprocess.run(command, cwd=repo, env=environment, check=True, capture_output=True)
    assert (repo / STORE).read_text() == expected(STORE, BASE[STORE], OURS[STORE], THEIRS[STORE])


def test_a_folder_called_gitmem_is_not_run(repo: Path) -> None:
    """What lies in the work tree is not imported by the interpreter that Git starts there."""
    for name in ("gitmem/__init__.py", "gitmem/git_driver.py", "sitecustomize.py", "dataclasses.py"):
        write_files(repo, {name: "open('pwned', 'w')"})
    commit_all(repo, "hostile")
    diverge(repo, OURS, THEIRS)
    merge(repo)
    git("log", "-p", cwd=repo)
    assert not (repo / "pwned").exists()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two turns and an entry, its drivers configured."""
    root = tmp_path / "aria"
    with new_home(root, operator=True) as home:
        for text in ("Which port does \x1b[2Jstaging use?", "2222, since the move."):
            with home.turn(session="s1") as turn:
                turn.message("user", text)
    commit_all(root, "entries", {STORE: entries("one", "two")})
    commit_all(root, "one more", {STORE: entries("one", "and", "two")})
    set_drivers(root, interpreter(tmp_path / "python"))
    return root


def turn_line(root: Path) -> str:
    """Return the branch that holds the ledger."""
    return git("for-each-ref", "--format=%(refname)", "refs/heads/gitmem/turns", cwd=root)


def told(root: Path, *command: str) -> list[str]:
    """Return the lines that a git command adds in its diff."""
    lines = git(*command, cwd=root).split("\n")
    return [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")]


def test_turns_read_as_sentences(home: Path) -> None:
    """`show` of a turn tells what was said in it, on any branch, and nothing acts on the terminal."""
    line = turn_line(home)
    second = told(home, "show", line)
    assert len(second) == 2
    assert re.fullmatch(r"20..-..-.. ..:..:..  user: 2222, since the move\.", second[0])
    assert re.fullmatch(r"20.*  turn 2 of session s1 completed \(turn_[0-9a-f]{15}\)", second[1])
    whole = git("log", "-p", "--reverse", line, cwd=home)
    assert "user: Which port does ␛[2Jstaging use?" in whole
    assert '"body"' not in whole
    git("checkout", "-q", "--orphan", "bare-of-attributes", cwd=home)
    git("rm", "-rfq", ".", cwd=home)
    assert told(home, "show", line) == second
    assert told(home, "diff", f"{line}~1", line) == second


def test_stores_read_as_paragraphs(home: Path) -> None:
    """A diff shows the entry that came, and blame names the commit of each entry's lines."""
    assert told(home, "show", "HEAD") == ["and", ""]
    commits = git("blame", "-s", "--abbrev=39", STORE, cwd=home).split("\n")
    by_text = {line.partition(") ")[2]: line[:40] for line in commits}
    assert by_text["and"] == head(home)
    assert by_text["one"].lstrip("^") == head(home, "HEAD~1")
    write_files(home, {STORE: entries("one", "and", "2")})
    assert told(home, "diff") == ["2"]


def test_linked_work_trees_show_the_same(home: Path, tmp_path: Path) -> None:
    """Also one that has the turn line itself checked out, where no `.gitattributes` is."""
    line = turn_line(home)
    expected_lines = told(home, "show", line)
    for name, start in (("side", ("-b", "side")), ("turns", ("--detach",))):
        where = tmp_path / name
        git("worktree", "add", "-q", *start, str(where), *([line] if name == "turns" else []), cwd=home)
        assert told(where, "show", line) == expected_lines


def test_a_clone_shows_sentences_once_it_was_opened(home: Path, tmp_path: Path) -> None:
    """Before that it is plain JSON; nothing that was cloned makes git run anything."""
    clone = tmp_path / "clone"
    git("clone", "-q", str(home), str(clone), cwd=tmp_path)
    line = turn_line(home).replace("refs/heads", "refs/remotes/origin")
    assert all('"body"' in shown for shown in told(clone, "show", line))
    AgentHome.open(clone).close()
    assert git("config", "--get-regexp", "^(diff|merge)\\.gitmem", cwd=clone).count("gitmem.git_driver") == 4
    set_drivers(clone, str(tmp_path / "python"))
    assert told(clone, "show", line) == told(home, "show", turn_line(home))


def test_a_bare_clone_can_be_given_them(home: Path, tmp_path: Path) -> None:
    """Attributes in its own info folder and three lines of configuration are all it takes."""
    bare = tmp_path / "bare.git"
    git("clone", "-q", "--mirror", str(home), str(bare), cwd=tmp_path)
    shutil.copy(home / ".git" / "info" / "attributes", bare / "info" / "attributes")
    command = git("config", "diff.gitmem-ledger.textconv", cwd=home)
    git("config", "diff.gitmem-ledger.textconv", command, cwd=bare)
    assert told(bare, "show", turn_line(home)) == told(home, "show", turn_line(home))


def test_a_patch_for_others_is_of_the_files(home: Path) -> None:
    """`format-patch` and `diff --no-textconv` stay applicable."""
    assert "+§" in git("format-patch", "--stdout", "-1", cwd=home).split("\n")
    assert '"body"' in git("show", "--no-textconv", turn_line(home), cwd=home)


def test_init_names_an_operators_own_driver(tmp_path: Path) -> None:
    """It is not overwritten in silence."""
    root = make_repo(tmp_path / "home")
    git("config", "merge.gitmem-entries.driver", "mine %A", cwd=root)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "init", str(root)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "merge.gitmem-entries.driver is set to something of your own and was left alone" in done.stdout
    assert "drivers for git diff and git merge: diff.gitmem-ledger" in done.stdout
    assert "test -x" not in done.stdout
    assert git("config", "merge.gitmem-entries.driver", cwd=root) == "mine %A"
