"""Notes found, listed and changed: what a change writes, and what it refuses before anything is touched."""

from __future__ import annotations

import re
import subprocess
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import commit_all, layout_of, make_repo, write_files
from gitmem.authored_text import Problem, decode_text
from gitmem.backends.dulwich_repository import open_repository
from gitmem.errors import (
    AmbiguousMatch,
    GitmemError,
    InvalidRef,
    ProtectedPath,
    RefusedError,
    Unavailable,
    UnknownSource,
    UsageError,
)
from gitmem.git_objects import hash_object
from gitmem.note_paths import note_path
from gitmem.notes import Notes

NOTE = (
    "---\r\nz: 1\r\n# keep\r\nid: mine\r\ntitle: Old\r\ntags: [a]\r\n---\r\n\r\n# Head\r\n\r\nwords\r\n\r\n"
)


@pytest.fixture
def repo(tmp_path):
    """An empty repository, its branch unborn."""
    return make_repo(tmp_path / "home")


@pytest.fixture
def notes(repo):
    """Its notes."""
    layout = layout_of(repo)
    return Notes(open_repository(layout), layout)


def _carry_out(repo, plan):
    """Do what a plan says, checking that it saw what is there."""
    for change in plan.changes:
        file = repo / change.path
        seen = hash_object("blob", file.read_bytes()) if file.exists() else None
        assert seen == change.base
        if change.result is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(change.result)
    return plan


def _text(plan):
    (change,) = plan.changes
    return change.result.decode()


# Adding


def test_an_added_note_carries_its_id_title_and_tags(repo, notes):
    """Its address lies in the file, so nothing can change it (I1)."""
    plan = notes.plan_add("Port 2222.", title="Staging: ssh", tags=["SSH", "#ops"])
    assert plan.path == "notes/staging-ssh.md"
    assert re.fullmatch("[0-9a-f]{15}", plan.id)
    assert _text(plan) == f'---\nid: {plan.id}\ntitle: "Staging: ssh"\ntags: [ssh, ops]\n---\n\nPort 2222.\n'
    _carry_out(repo, plan)
    found = notes.find(plan.source_ref)
    assert (found.path, found.title, found.tags) == (plan.path, "Staging: ssh", ("ssh", "ops"))


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (
            {"title": "Restart the staging database now, please, and tell me"},
            "notes/restart-the-staging-database-now-please.md",
        ),
        ({"content": "# 发布流程\n\n步骤"}, "notes/发布流程.md"),
        ({"title": "X", "path": "ops/staging.md"}, "notes/ops/staging.md"),
        ({"path": "notes/a.MARKDOWN"}, "notes/a.MARKDOWN"),
        ({"path": "Cafe\u0301.md"}, "notes/Café.md"),
    ],
)
def test_a_new_notes_path(notes, arguments, path):
    """As given, below notes/; without one from the title, else the first heading."""
    assert notes.plan_add(**arguments).path == path


def test_a_title_without_letters_still_gives_a_path(notes):
    """An emoji is no file name."""
    plan = notes.plan_add(title="🎉")
    assert plan.path == f"notes/note-{plan.id[:4]}.md"


def test_a_note_needs_something_to_be_called_by(notes):
    """Neither path, title nor heading."""
    with pytest.raises(UsageError, match="needs a path"):
        notes.plan_add("just words")


def test_a_text_with_its_own_block_keeps_it(notes):
    """Fields, comments and order stay; the id is the new one, a copied one would name two notes."""
    plan = notes.plan_add(
        "---\nowner: bob # why\nid: copied\ntags: [a]\n---\nbody", path="x.md", title="T", tags=["b"]
    )
    assert _text(plan) == f"---\nowner: bob # why\nid: {plan.id}\ntags: [a, b]\ntitle: T\n---\nbody\n"


def test_a_text_with_a_malformed_block_is_refused(notes):
    """It would be unreadable from its first day (OPEN-FM-06)."""
    with pytest.raises(RefusedError, match="line 2"):
        notes.plan_add("---\ntitle: a: b\n---\n", path="x.md")


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("../x.md", ProtectedPath),
        ("notes/../x.md", ProtectedPath),
        ("/etc/x.md", ProtectedPath),
        ("./x.md", ProtectedPath),
        ("a\\..\\x.md", ProtectedPath),
        ("memory/self.md", ProtectedPath),
        ("Ledger/x.md", ProtectedPath),
        ("notes/x.txt", UsageError),
        ("notes/x", UsageError),
        ("notes/.md", UsageError),
        ("notes/.hidden.md", UsageError),
        ("notes/.git/x.md", UsageError),
        ("notes/git~1/x.md", UsageError),
        ("notes/\u200c.git/x.md", UsageError),
        ("notes//x.md", UsageError),
        ("notes/", UsageError),
        ("notes/a\nb.md", UsageError),
        ("notes/a\0.md", UsageError),
        ("notes/a\u2028.md", UsageError),
        ("notes/\udcff.md", UsageError),
        ("notes/ a.md", UsageError),
        (f"notes/{'x' * 250}.md", UsageError),
        (f"notes/{'标' * 80}.md", UsageError),
        (f"notes/{'d/' * 30}x.md", UsageError),
    ],
)
def test_paths_that_no_note_may_have(notes, path, error):
    """Out of notes/ is protected, the rest is a wrong call; nothing is written."""
    with pytest.raises(error):
        notes.plan_add("x", path=path)


def test_an_existing_note_is_never_overwritten(repo, notes):
    """Nor one whose name is the same on another file system (OPEN-GIT-25, 28)."""
    write_files(repo, {"notes/Plan.md": "x", "notes/Café.md": "x", "notes/Ops/a.md": "x"})
    for path in (
        "Plan.md",
        "plan.md",
        "PLAN.MD",
        "café.md",
        "ops/b.md",
        unicodedata.normalize("NFD", "Café.md"),
    ):
        with pytest.raises(RefusedError, match=r"exists already|differs only"):
            notes.plan_add("y", path=path)


def test_an_existing_name_in_decomposed_form_is_met(repo, notes):
    """A file from a Mac (OPEN-GIT-25)."""
    write_files(repo, {unicodedata.normalize("NFD", "notes/Café.md"): "x"})
    with pytest.raises(RefusedError, match="Unicode form"):
        notes.plan_add("y", path="Café.md")


def test_a_note_is_not_put_behind_a_link_or_into_anothers_repository(repo, notes, tmp_path):
    """It would be outside, or missing from every clone (OPEN-AGENT-10, OPEN-GIT-22)."""
    (tmp_path / "outside").mkdir()
    write_files(repo, {"notes/file.md": "x"})
    (repo / "notes/dir").symlink_to(tmp_path / "outside")
    (repo / "notes/leak.md").symlink_to(tmp_path / "outside/x.md")
    subprocess.run(["git", "init", "-q", repo / "notes/proj"], check=True)
    for path, error in (
        ("dir/x.md", ProtectedPath),
        ("leak.md", RefusedError),
        ("proj/summary.md", ProtectedPath),
        ("proj/deep/summary.md", ProtectedPath),
        ("file.md/x.md", UsageError),
    ):
        with pytest.raises(error):
            notes.plan_add("x", path=path)


# Changing


def test_a_new_body_keeps_the_block_byte_for_byte(repo, notes):
    """Comments, order and line ending of the file stay (OPEN-FM-05)."""
    write_files(repo, {"notes/a.md": NOTE.encode()})
    head, _, _ = NOTE.partition("# Head")
    assert _text(notes.plan_edit("a.md", content="new\nbody")) == head + "new\r\nbody\r\n"


def test_a_body_over_a_malformed_block_leaves_the_block(repo, notes):
    """The operator still has to mend it; the words are not held back."""
    write_files(repo, {"notes/a.md": "---\ntitle: a: b\n---\nold\n"})
    assert _text(notes.plan_edit("a.md", content="new")) == "---\ntitle: a: b\n---\nnew\n"
    for change in ({"tags": ["x"]}, {"title": "x"}):
        with pytest.raises(RefusedError, match="line 2: front matter is not readable"):
            notes.plan_edit("a.md", **change)


def test_a_text_with_a_block_replaces_all_but_the_id(repo, notes):
    """The agent rewrote the whole note; it is still the same one."""
    write_files(repo, {"notes/a.md": NOTE.encode()})
    plan = notes.plan_edit("a.md", content="---\ntitle: New\nid: other\n---\nbody\n")
    assert _text(plan) == "---\r\ntitle: New\r\nid: mine\r\n---\r\nbody\r\n"
    assert plan.id == "mine"


def test_a_note_without_block_keeps_its_id_whatever_is_written(repo, notes):
    """A derived id must not be replaced by one that a text brings along."""
    write_files(repo, {"notes/a.md": "\ufeffold"})
    plan = notes.plan_edit("a.md", content="---\nid: other\n---\nx")
    assert _text(_carry_out(repo, plan)) == f"\ufeff---\nid: {plan.id}\n---\nx\n"
    assert notes.find("a.md").id == plan.id


def test_title_and_tags_change_one_line_each(repo, notes):
    """Tags are given as a whole (OPEN-FM-05)."""
    write_files(repo, {"notes/a.md": NOTE.encode()})
    plan = notes.plan_edit("a.md", title="New", tags=["x", "Y"])
    assert _text(plan) == NOTE.replace("title: Old", "title: New").replace("tags: [a]", "tags: [x, y]")


def test_no_change_writes_nothing(repo, notes):
    """And so makes no commit."""
    write_files(repo, {"notes/a.md": NOTE.encode()})
    assert notes.plan_edit("a.md", title="Old", tags=["A"], content="# Head\n\nwords\n\n").changes == ()
    with pytest.raises(UsageError, match="nothing to change"):
        notes.plan_edit("a.md")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n", "a\nx\ny\n"),
        ("a", "a\nx\ny\n"),
        ("", "x\ny\n"),
        ("a\r\n", "a\r\nx\r\ny\r\n"),
        ("a\n\n", "a\n\nx\ny\n"),
        ("\ufeffa\r\nb", "\ufeffa\r\nb\r\nx\r\ny\r\n"),
    ],
)
def test_appended_text_stands_on_its_own_lines(repo, notes, before, after):
    """What was there stays as it was, and the next append touches none of it."""
    write_files(repo, {"notes/a.md": before.encode()})
    assert _text(notes.plan_append("a.md", "x\r\ny")) == after


def test_nothing_is_appended_as_nothing(repo, notes):
    """An empty text is a slip of the caller."""
    write_files(repo, {"notes/a.md": "x"})
    with pytest.raises(UsageError):
        notes.plan_append("a.md", " \n")


def test_a_move_is_both_paths_and_the_same_bytes(repo, notes):
    """Half a move would bring the old note back on the next clone (OPEN-AGENT-15)."""
    write_files(repo, {"notes/a.md": NOTE.encode(), "notes/b.md": "no block"})
    commit_all(repo, "notes")
    plan = notes.plan_move("a.md", "archive/a.md")
    assert [(c.path, c.result is None) for c in plan.changes] == [
        ("notes/a.md", True),
        ("notes/archive/a.md", False),
    ]
    assert plan.changes[1].result == NOTE.encode()
    derived = notes.find("b.md").id
    for source, target in (("a.md", "archive/"), ("b.md", "archive/c.md")):
        _carry_out(repo, notes.plan_move(source, target))
    assert notes.find("archive/a.md").id == "mine"
    assert notes.find("archive/c.md").id == derived
    commit_all(repo, "moved")
    assert notes.find("archive/c.md").id == derived


def test_a_move_may_change_the_case_of_the_notes_own_name(repo, notes):
    """Its old name does not stand in its way; another note's does."""
    write_files(repo, {"notes/Plan.md": "x", "notes/other.md": "y"})
    assert notes.plan_move("Plan.md", "plan.md").path == "notes/plan.md"
    with pytest.raises(RefusedError):
        notes.plan_move("Plan.md", "Other.md")
    with pytest.raises(UsageError, match="already"):
        notes.plan_move("Plan.md", "Plan.md")
    with pytest.raises(ProtectedPath):
        notes.plan_move("Plan.md", "../x.md")


def test_a_removed_note_is_unavailable_under_its_old_ref(repo, notes):
    """Not the text of a newer note with that name (OPEN-AGENT-16)."""
    write_files(repo, {"notes/a.md": "one\n"})
    commit_all(repo, "add")
    old = notes.find("a.md").source_ref
    _carry_out(repo, notes.plan_remove("a.md"))
    for _ in range(2):
        with pytest.raises(Unavailable, match="removed") as caught:
            notes.find(old)
        assert caught.value.details["reason"] == "deleted"
        commit_all(repo, "remove")
    _carry_out(repo, notes.plan_add("two", path="a.md"))
    commit_all(repo, "again")
    with pytest.raises(Unavailable):
        notes.find(old)
    assert notes.find("a.md").source_ref != old


def test_contents_that_no_note_can_have(repo, notes):
    """A NUL, and more than is ever read back."""
    with pytest.raises(UsageError, match="NUL"):
        notes.plan_add("a\0b", path="x.md")
    with pytest.raises(RefusedError, match="bytes"):
        notes.plan_add("x" * (8 * 1024 * 1024), path="x.md")
    assert _text(notes.plan_add("a\ud800b", path="x.md")).endswith("a\ufffdb\n")


# Finding


def test_a_note_is_found_by_path_ref_and_short_id(repo, notes):
    """As people type them and as search prints them."""
    write_files(repo, {"notes/ops/a.md": "---\nid: 0123456789abcde\n---\n", "notes/b.md": "x"})
    for name in (
        "notes/ops/a.md",
        "ops/a.md",
        "note:0123456789abcde",
        "0123456789abcde",
        "01234",
        "OPS/A.md",
    ):
        assert notes.find(name).path == "notes/ops/a.md", name
    derived = notes.find("b.md")
    for name in (derived.source_ref, derived.id, derived.id[:8]):
        assert notes.find(name).path == "notes/b.md"


@pytest.mark.parametrize(
    "name", ["note:ffffffffffffff", "ffffffff", "none.md", "message:msg_1", "x", "", "note:a@other", "a b"]
)
def test_what_is_no_note_is_unknown(repo, notes, name):
    """A typed answer, exit 4."""
    write_files(repo, {"notes/a.md": "x"})
    with pytest.raises(UnknownSource):
        notes.find(name)


def test_a_malformed_ref_is_invalid(notes):
    """Refs are opaque and never paths (holon R1)."""
    with pytest.raises(InvalidRef):
        notes.find("note:../x")


def test_a_name_that_fits_several_is_not_guessed(repo, notes):
    """Short ids, case and Unicode twins (OPEN-GIT-25)."""
    write_files(repo, {"notes/Plan.md": "---\nid: abcd1\n---\n", "notes/plan.md": "---\nid: abcd2\n---\n"})
    assert notes.find("plan.md").id == "abcd2"
    for name in ("abcd", "PLAN.md"):
        with pytest.raises(AmbiguousMatch) as caught:
            notes.find(name)
        assert len(caught.value.details["matches"]) == 2


def test_every_listed_ref_leads_to_its_note(repo, notes):
    """Copies included (contract 3)."""
    block = "---\nid: same\n---\n"
    write_files(repo, {"notes/a.md": block, "notes/b.md": block, "notes/c.md": "x", "notes/d/e.md": "y"})
    listed = notes.list().notes
    assert len({note.source_ref for note in listed}) == 4
    assert {note.path: notes.find(note.source_ref).path for note in listed} == {
        n.path: n.path for n in listed
    }


@pytest.mark.parametrize(
    "name", ["leak.md", "dir/x.md", "../secret.md", "notes/../../secret.md", "/etc/x.md", ".hidden.md"]
)
def test_links_and_paths_outside_are_not_read(repo, notes, tmp_path, name):
    """By no name (OPEN-AGENT-10)."""
    (tmp_path / "secret.md").write_text("secret")
    write_files(repo, {"notes/.hidden.md": "x"})
    (repo / "notes/leak.md").symlink_to(tmp_path / "secret.md")
    (repo / "notes/dir").symlink_to(tmp_path)
    with pytest.raises((ProtectedPath, UnknownSource)):
        notes.find(name)


def test_the_catalog_lists_what_is_there(repo, notes):
    """Refs in it resolve; a home without notes has none."""
    assert notes.catalog() == ""
    write_files(repo, {f"notes/{n:02}.md": f"# Note {n}\n" for n in range(25)})
    catalog = notes.catalog()
    refs = re.findall(r"\[(note:[0-9a-f]{15})\]", catalog)
    assert [notes.find(ref).path for ref in refs] == [f"notes/{n:02}.md" for n in range(20)]
    assert "5 more notes are not shown" in catalog
    assert notes.catalog() == catalog


@given(st.text(max_size=30))
def test_any_path_is_below_notes_or_refused(path):
    """No text leads out of the folder."""
    try:
        found = note_path(path)
    except GitmemError:
        return
    names = found.split("/")
    assert names[0] == "notes"
    assert len(names) > 1
    assert not any(name.startswith(".") or not name for name in names)


@given(st.text(max_size=40), st.text(max_size=20), st.lists(st.text(max_size=10), max_size=3))
def test_any_note_that_is_added_is_read_as_it_was_meant(tmp_path_factory, content, title, tags):
    """Id and title survive whatever the caller wrote, and no text becomes a second block."""
    repo = make_repo(tmp_path_factory.mktemp("home"), identity=False)
    layout = layout_of(repo)
    notes = Notes(open_repository(layout), layout)
    try:
        plan = notes.plan_add(content, path="x.md", title=title, tags=tags)
    except GitmemError:
        return
    assert not isinstance(decode_text(plan.changes[0].result), Problem)
    note = notes.find(_carry_out(repo, plan).source_ref)
    assert note.problems == ()
    if " ".join(title.split()).isprintable() and title.strip():
        assert note.title == " ".join(title.split())
