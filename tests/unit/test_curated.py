"""Authored files as they are on disk: no link followed, nothing endless, one bad file costs only itself."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import unicodedata
from pathlib import Path

import pytest

from gitmem.curated import (
    PROSE,
    STORES,
    find_notes,
    is_note_path,
    list_notes,
    read_note,
    read_prose,
    read_store,
)
from gitmem.path_names import find_twins, fold_path
from gitmem.tree_files import MAX_FILE, ManagedFile, Skipped, read_managed


@pytest.fixture
def root(tmp_path):
    """A home's work tree with an empty notes folder, and a secret beside it."""
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    (home / "memory").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("# secret zebra\n")
    return home


def _write(root, path, content="# T\n"):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def _id_of(path):
    return f"id-{len(path)}-{abs(hash(path))}"


def _paths(root):
    return [file.path for file in find_notes(root).files]


def _skipped(root):
    return {item.path: item.reason for item in find_notes(root).skipped}


def test_every_markdown_file_below_notes_is_a_note(root):
    """N18: any depth, any case, no dotfiles, shallow first."""
    for name in ("b.md", "a.md", "X.MARKDOWN", "sub/x.md", "x.txt", ".md", ".draft.md", "sub/.obsidian/c.md"):
        _write(root, f"notes/{name}")
    listing = find_notes(root)
    assert [file.path for file in listing.files] == [
        "notes/X.MARKDOWN",
        "notes/a.md",
        "notes/b.md",
        "notes/sub/x.md",
    ]
    assert listing.hidden == ("notes/.draft.md", "notes/.md")
    assert listing.skipped == ()


@pytest.mark.parametrize(
    ("path", "is_note"),
    [
        ("notes/a.md", True),
        ("notes/a/b.Markdown", True),
        ("notes/.a.md", False),
        ("notes/.a/b.md", False),
        ("notes/a.txt", False),
        ("notes/a.md/", False),
        ("notes", False),
        ("memory/a.md", False),
    ],
)
def test_a_notes_path_says_that_it_is_one(path, is_note):
    """History is read by the same rule as the disk."""
    assert is_note_path(path) is is_note


@pytest.mark.parametrize("notes", [None, "file"])
def test_a_home_without_notes_has_none(root, notes):
    """N20: no folder, or something else in its place."""
    (root / "notes").rmdir()
    if notes:
        _write(root, "notes")
    listing = list_notes(root, _id_of)
    assert listing.notes == ()
    assert bool(listing.skipped) is bool(notes)


def test_links_are_named_and_never_followed(root, tmp_path):
    """A planted link must not read outside the home, in any code path (OPEN-AGENT-10)."""
    outside = tmp_path / "outside"
    (root / "notes/leak.md").symlink_to(outside / "secret.md")
    (root / "notes/dir").symlink_to(outside)
    (root / "notes/loop").symlink_to(root / "notes/loop")
    (root / "notes/up").symlink_to("..")
    (root / "notes/gone.md").symlink_to("nowhere.md")
    (root / "memory/self.md").symlink_to(outside / "secret.md")
    _write(root, "notes/real.md")
    assert _paths(root) == ["notes/real.md"]
    assert {path: reason[:6] for path, reason in _skipped(root).items()} == dict.fromkeys(
        ["notes/dir", "notes/gone.md", "notes/leak.md", "notes/loop", "notes/up"], "a link"
    )
    for path in ("notes/leak.md", "notes/dir/secret.md", "notes/loop/x.md", "notes/up/notes/real.md"):
        read = read_managed(root, path)
        assert isinstance(read, Skipped), path
        assert "link" in read.reason
    assert isinstance(read_prose(root, PROSE["self"]), Skipped)
    assert isinstance(read_note(root, "notes/leak.md", _id_of), Skipped)


def test_a_notes_folder_that_is_a_link_is_not_entered(root, tmp_path):
    """The top of the tree counts too (OPEN-AGENT-10)."""
    (root / "notes").rmdir()
    (root / "notes").symlink_to(tmp_path / "outside")
    assert _paths(root) == []
    assert "link" in _skipped(root)["notes"]


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../outside/secret.md",
        "notes/../../outside/secret.md",
        "notes//a",
        ".",
        "a\0b",
        "notes/",
    ],
)
def test_only_plain_paths_are_read(root, path):
    """Whatever text is asked for, nothing outside is opened."""
    assert isinstance(read_managed(root, path), Skipped)


@pytest.mark.parametrize("path", ["notes/none.md", "none/a.md", "notes/a.md/b.md"])
def test_what_is_not_there_is_none(root, path):
    """Absence is no fault: a memory file may be missing."""
    _write(root, "notes/a.md")
    assert read_managed(root, path) is None


def test_a_nested_repository_is_named_and_left_alone(root):
    """Its files would never reach another clone (OPEN-GIT-22)."""
    subprocess.run(["git", "init", "-q", root / "notes/proj"], check=True)
    _write(root, "notes/proj/summary.md")
    _write(root, "notes/sub/.git", "gitdir: elsewhere\n")
    _write(root, "notes/sub/deep/x.md")
    assert _paths(root) == []
    assert _skipped(root) == {"notes/proj": "a nested repository", "notes/sub": "a nested repository"}
    assert read_managed(root, "notes/sub/deep/x.md") == Skipped(
        "notes/sub/deep/x.md", "inside a nested repository"
    )


def test_odd_files_cost_only_themselves(root):
    """A folder named like a note, a pipe, a socket, wrong bytes: each has its reason (OPEN-FM-08, N19)."""
    _write(root, "notes/good.md", "# Good\n")
    _write(root, "notes/latin.md", b"na\xefve\n")
    _write(root, "notes/utf16.md", "# x".encode("utf-16"))
    _write(root, "notes/d.md", "---\ntitle: a: b\n---\nzebra\n")
    _write(root, "notes/folder.md/inner.md")
    os.mkfifo(root / "notes/pipe.md")
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        try:
            os.chdir(root / "notes")  # the name of a socket is at most 107 bytes
            one.bind("socket.md")
        finally:
            os.chdir(here)
    listing = list_notes(root, _id_of)
    assert [note.path for note in listing.notes] == [
        "notes/d.md",
        "notes/good.md",
        "notes/folder.md/inner.md",
    ]
    assert {f"{p.path}:{p.line or ''} {p.reason}" for p in listing.problems} == {
        "notes/d.md:2 front matter is not readable: mapping values are not allowed in this context",
        "notes/folder.md: a folder that is named like a file",
        "notes/latin.md:1 not UTF-8 (byte 0xEF)",
        "notes/pipe.md: not a regular file",
        "notes/socket.md: not a regular file",
        "notes/utf16.md: UTF-16 LE text; save it as UTF-8",
    }
    assert read_managed(root, "notes/pipe.md") == Skipped("notes/pipe.md", "not a regular file")
    assert read_managed(root, "notes/folder.md") == Skipped("notes/folder.md", "a folder")


@pytest.fixture
def as_stranger(root, monkeypatch):
    """Being a user who may not read everything, in the home's folder (its parents are closed to others)."""
    monkeypatch.chdir(root)
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(65534)
    yield Path()
    os.seteuid(mine)


def test_unreadable_files_and_folders_are_named(root, request):
    """Permission is a fault of the file, not of the pass (OPEN-FM-08)."""
    _write(root, "notes/a.md").chmod(0)
    _write(root, "notes/b.md")
    _write(root, "notes/sub/c.md")
    (root / "notes/sub").chmod(0)
    listing = list_notes(request.getfixturevalue("as_stranger"), _id_of)
    assert [note.path for note in listing.notes] == ["notes/b.md"]
    assert {item.path: item.reason for item in listing.skipped} == {
        "notes/a.md": "unreadable: Permission denied",
        "notes/sub": "unreadable: Permission denied",
    }


def test_a_huge_file_is_not_read(root):
    """Memory stays bounded whatever lies in the folder."""
    with _write(root, "notes/big.md").open("wb") as file:
        file.truncate(MAX_FILE + 1)
    with _write(root, "notes/fits.md").open("wb") as file:
        file.truncate(MAX_FILE)
    assert _skipped(root) == {"notes/big.md": "larger than 8 MiB"}
    assert read_managed(root, "notes/big.md") == Skipped("notes/big.md", "larger than 8 MiB")
    assert isinstance(read_managed(root, "notes/fits.md"), ManagedFile)


def test_names_that_cannot_be_shown_are_named(root):
    """A line feed in a name would forge a catalog entry; a name that is no UTF-8 fits in no JSON."""
    _write(root, "notes/a\nb.md")
    (root / "notes" / os.fsdecode(b"\xff.md")).write_text("x")
    assert _paths(root) == []
    assert sorted(_skipped(root).values()) == ["its name has a control character", "its name is not UTF-8"]


def test_folders_nested_without_end_end(root):
    """Depth is bounded."""
    _write(root, f"notes/{'d/' * 40}x.md")
    assert _paths(root) == []
    assert list(_skipped(root).values()) == ["deeper than 32 folders"]


def test_twins_by_unicode_form_are_reported_and_both_listed(root):
    """One name on another machine: two notes with two refs here (OPEN-GIT-25)."""
    composed, decomposed = (unicodedata.normalize(form, "Café.md") for form in ("NFC", "NFD"))
    _write(root, f"notes/{composed}", "# One\n")
    _write(root, f"notes/{decomposed}", "# Two\n")
    listing = list_notes(root, _id_of)
    assert sorted(note.title for note in listing.notes) == ["One", "Two"]
    assert len({note.source_ref for note in listing.notes}) == 2
    assert [twins.differs for twins in listing.twins] == ["unicode form"]
    assert "differs only in unicode form from" in listing.problems[-1].reason


def test_twins_by_case_are_reported():
    """`Plan.md` and `plan.md` are one file elsewhere, in folders too (OPEN-GIT-28)."""
    twins = find_twins(["notes/Plan.md", "notes/plan.md", "notes/A/x.md", "notes/a/x.md", "notes/other.md"])
    assert [pair.paths for pair in twins] == [
        ("notes/Plan.md", "notes/plan.md"),
        ("notes/A/x.md", "notes/a/x.md"),
    ]
    assert {pair.differs for pair in twins} == {"case"}
    assert fold_path("STRASSE") == fold_path("straße")


def test_a_copied_note_does_not_share_its_ref(root):
    """`cp a.md b.md` copies the id too; each ref leads to one note."""
    for name in ("a", "b", "c"):
        _write(root, f"notes/{name}.md", "---\nid: same\n---\n")
    listing = list_notes(root, _id_of)
    assert listing.notes[0].id == "same"
    assert len({note.id for note in listing.notes}) == 3
    assert [str(p.line) + p.reason for p in listing.problems] == [
        "2its id is that of notes/a.md; a copy needs its own"
    ] * 2


def test_ids_are_asked_for_only_where_front_matter_has_none(root):
    """Most notes have one; computing the others reads history."""
    _write(root, "notes/a.md", "---\nid: mine\n---\n")
    _write(root, "notes/b.md", "# B\n")
    asked = []
    listing = list_notes(root, lambda path: asked.append(path) or "derived")
    assert asked == ["notes/b.md"]
    assert [note.id for note in listing.notes] == ["mine", "derived"]


def test_stores_are_read_by_entry(root):
    """Entries, their size and the file's line ending (OPEN-GIT-19)."""
    _write(root, STORES["memory"], "one\r\n§\r\ntwo\r\n")
    store = read_store(root, STORES["memory"])
    assert [(entry.text, entry.line) for entry in store.entries] == [("one", 1), ("two", 3)]
    assert (store.chars, store.newline) == (9, "\r\n")
    assert read_store(root, STORES["user"]) is None


def test_an_unreadable_store_or_prose_is_named(root):
    """The prompt still builds; the section says why it is empty (holon A8)."""
    _write(root, STORES["memory"], b"\xff\xfea\0")
    _write(root, PROSE["operator"], b"caf\xe9")
    assert read_store(root, STORES["memory"]) == Skipped(
        "memory/MEMORY.md", "UTF-16 LE text; save it as UTF-8"
    )
    assert read_prose(root, PROSE["operator"]) == Skipped("memory/operator.md", "not UTF-8 (byte 0xE9)", 1)


def test_prose_has_plain_line_feeds_and_no_mark(root):
    """CRLF and a byte order mark count for nothing (holon A10)."""
    _write(root, PROSE["self"], "\ufeff\r\na\rb\r\n".encode())
    assert read_prose(root, PROSE["self"]).text == "\na\nb\n"


def test_a_file_that_vanishes_during_a_pass_is_no_fault(root):
    """An editor's save moves files about."""
    _write(root, "notes/a.md")
    found = list_notes(root, lambda path: (root / "notes/b.md").unlink(missing_ok=True) or "x")
    assert len(found.notes) == 1


def test_only_as_many_notes_are_read_as_are_wanted(root):
    """The catalog shows twenty of them and counts the rest."""
    for number in range(30):
        _write(root, f"notes/{number:02}.md")
    listing = list_notes(root, _id_of, limit=20)
    assert (len(listing.notes), listing.total) == (20, 30)


@pytest.mark.slow
def test_ten_thousand_notes_are_listed_in_a_moment(root):
    """By looking at folders only."""
    for folder in range(20):
        (root / f"notes/{folder}").mkdir()
        for number in range(500):
            os.close(os.open(root / f"notes/{folder}/{number}.md", os.O_CREAT | os.O_WRONLY))
    began = time.process_time()
    assert len(find_notes(root).files) == 10_000
    assert time.process_time() - began < 1
