"""Ids of notes read from real history: what survives, what is another note, and what it costs."""

from __future__ import annotations

import pytest

from fixtures import commit_all, git, layout_of, make_repo, write_files
from gitmem.backends.dulwich_repository import open_repository
from gitmem.curated import find_notes
from gitmem.note_identity import derive_note_id
from gitmem.note_ids import NoteIds


class _Counting:
    """A repository that counts what is read of it."""

    def __init__(self, inner):
        self.inner = inner
        self.reads = 0

    def __getattr__(self, name):
        if name.startswith("read"):
            self.reads += 1
        return getattr(self.inner, name)


@pytest.fixture
def repo(tmp_path):
    """An empty repository, its branch unborn."""
    return make_repo(tmp_path / "home")


def _ids(repo):
    """Return the ids of all notes on disk, read as a new process would."""
    layout = layout_of(repo)
    repository = open_repository(layout)
    paths = [file.path for file in find_notes(repo).files]
    id_of = NoteIds(repository, layout).lookup(paths)
    found = {path: id_of(path) for path in paths}
    repository.close()
    return found


def _commit(repo, message="change", **files):
    write_files(repo, {f"notes/{name}.md": text for name, text in files.items()})
    return commit_all(repo, message)


def _move(repo, old, new):
    (repo / new).parent.mkdir(parents=True, exist_ok=True)
    (repo / old).rename(repo / new)


def test_an_uncommitted_note_has_the_id_that_its_commit_will_give_it(repo):
    """A ref printed before the commit resolves after it, also on an unborn branch."""
    write_files(repo, {"notes/a.md": "a", "notes/sub/b.md": "b", "README.md": "x"})
    before = _ids(repo)
    assert before == {
        "notes/a.md": derive_note_id("notes/a.md", 0),
        "notes/sub/b.md": derive_note_id("notes/sub/b.md", 0),
    }
    commit_all(repo, "notes")
    assert _ids(repo) == before


def test_edits_amends_and_rebases_keep_ids(repo):
    """I1: a rewritten commit is the same introduction."""
    _commit(repo, x="1")
    _commit(repo, a="1")
    ids = _ids(repo)
    _commit(repo, a="2")
    assert _ids(repo) == ids
    git("commit", "-q", "--amend", "-m", "other words", cwd=repo)
    assert _ids(repo) == ids
    git("checkout", "-q", "-b", "side", "HEAD~1", cwd=repo)
    _commit(repo, y="1")
    git("rebase", "-q", "main", cwd=repo)
    assert {path: ids[path] for path in ids} == {path: _ids(repo)[path] for path in ids}


def test_a_new_note_under_an_old_name_is_another(repo):
    """Two refs, and the old one is known as removed (OPEN-AGENT-16)."""
    _commit(repo, a="first")
    old = _ids(repo)["notes/a.md"]
    (repo / "notes/a.md").unlink()
    commit_all(repo, "remove")
    _commit(repo, a="second")
    new = _ids(repo)["notes/a.md"]
    assert new != old
    layout = layout_of(repo)
    ids = NoteIds(open_repository(layout), layout)
    assert ids.find_removed(old, ["notes/a.md"]) == "notes/a.md"
    assert ids.find_removed(new, ["notes/a.md"]) is None
    assert ids.find_removed(new, []) == "notes/a.md"


def test_a_removed_note_is_known_by_the_id_in_its_front_matter(repo):
    """Its old ref says removed, though the file is gone."""
    _commit(repo, a="---\nid: mine\n---\ntext\n", b="---\nid: other\n---\n")
    (repo / "notes/a.md").unlink()
    commit_all(repo, "remove")
    layout = layout_of(repo)
    ids = NoteIds(open_repository(layout), layout)
    assert ids.find_removed("mine", ["notes/b.md"]) == "notes/a.md"
    assert ids.find_removed("other", ["notes/b.md"]) is None
    assert ids.find_removed("never", ["notes/b.md"]) is None


def test_a_rename_keeps_the_id_before_and_after_its_commit(repo):
    """The operator's `mv`, found by search in between (OPEN-AGENT-15)."""
    _commit(repo, a="text\n", b="other\n")
    note_id = _ids(repo)["notes/a.md"]
    _move(repo, "notes/a.md", "notes/archive/a.md")
    assert _ids(repo)["notes/archive/a.md"] == note_id
    write_files(repo, {"notes/a.md": "new note"})
    assert _ids(repo)["notes/a.md"] == note_id  # until it is committed this reads as an edit
    (repo / "notes/a.md").unlink()
    commit_all(repo, "move")
    assert _ids(repo)["notes/archive/a.md"] == note_id
    _commit(repo, a="new note")
    assert _ids(repo)["notes/a.md"] == derive_note_id("notes/a.md", 1)


def test_a_renamed_folder_keeps_the_ids_of_its_notes(repo):
    """As operators tidy up."""
    write_files(repo, {"notes/old/a.md": "1", "notes/old/deep/b.md": "2", "notes/c.md": "3"})
    commit_all(repo, "notes")
    before = _ids(repo)
    _move(repo, "notes/old", "notes/new")
    commit_all(repo, "tidy")
    assert _ids(repo) == {path.replace("old", "new"): note_id for path, note_id in before.items()}


def test_ids_agree_on_both_sides_of_a_merge(repo):
    """A note made and moved on a side branch keeps its id on main."""
    _commit(repo, a="1")
    git("checkout", "-q", "-b", "side", cwd=repo)
    _commit(repo, b="2")
    _move(repo, "notes/b.md", "notes/c.md")
    commit_all(repo, "move")
    note_id = _ids(repo)["notes/c.md"]
    git("checkout", "-q", "main", cwd=repo)
    _commit(repo, a="3")
    git("merge", "-q", "--no-edit", "side", cwd=repo)
    assert _ids(repo)["notes/c.md"] == note_id == derive_note_id("notes/b.md", 0)


def test_links_and_other_files_are_no_notes_in_history_either(repo):
    """One rule for disk and history."""
    write_files(repo, {"notes/a.txt": "x", "notes/.hidden.md": "y", "notes/real.md": "z"})
    (repo / "notes/link.md").symlink_to("a.txt")
    commit_all(repo, "all sorts")
    layout = layout_of(repo)
    assert set(NoteIds(open_repository(layout), layout).state().live) == {"notes/real.md"}


def test_history_is_read_once(repo):
    """After an amend only the new commit is read, in a new process too."""
    for number in range(12):
        _commit(repo, a=str(number))
    _ids(repo)
    git("commit", "-q", "--amend", "-m", "again", cwd=repo)
    layout = layout_of(repo)
    repository = _Counting(open_repository(layout))
    ids = NoteIds(repository, layout)
    ids.state()
    assert repository.reads <= 4
    before = repository.reads
    ids.state()
    assert repository.reads == before


@pytest.mark.parametrize(
    "damage",
    [
        b"", b"\0\xff\n", b'{"format": 99}\n["x"]\n', b'{"format": 1}\n["half',
        b'{"format": 1}\n["x", "yz", 1, {"notes/a.md": 1}, []]\n',
        b'{"format": 1}\n["x", [[]], null, [], {}]\n',
    ],
)  # fmt: skip
def test_a_damaged_cache_is_read_again(repo, damage):
    """What was kept is derived and may be lost at any time."""
    _commit(repo, a="1")
    (repo / "notes/a.md").unlink()
    commit_all(repo, "remove")
    _commit(repo, a="2")
    expected = _ids(repo)
    cache = layout_of(repo).derived / "note-history.jsonl"
    cache.write_bytes(damage)
    assert _ids(repo) == expected
    assert _ids(repo) == expected


def test_a_line_that_is_missing_from_the_cache_is_read_again(repo):
    """A line that a kill tore stands before others that are whole."""
    for number in range(4):
        _commit(repo, a=str(number))
    expected = _ids(repo)
    cache = layout_of(repo).derived / "note-history.jsonl"
    lines = cache.read_bytes().split(b"\n")
    rows = [number for number, line in enumerate(lines) if line.startswith(b"[")]
    assert len(rows) == 4
    for number in rows[1:]:
        cache.write_bytes(b"\n".join([*lines[:number], lines[number][:20], *lines[number + 1 :]]))
        assert _ids(repo) == expected


def test_a_shallow_clone_has_ids_and_learns_better(repo, tmp_path):
    """Cut off history is a start, not a fault; what was read at the cut is not kept."""
    _commit(repo, a="1")
    (repo / "notes/a.md").unlink()
    commit_all(repo, "remove")
    _commit(repo, a="2")
    _commit(repo, b="1")
    clone = tmp_path / "clone"
    git("clone", "-q", "--depth", "1", repo.as_uri(), clone, cwd=tmp_path)
    assert _ids(clone)["notes/a.md"] == derive_note_id("notes/a.md", 0)
    git("config", "user.name", "Olivia", cwd=clone)
    git("config", "user.email", "o@example.org", cwd=clone)
    _commit(clone, c="1")
    for _ in range(2):
        assert _ids(clone)["notes/a.md"] == derive_note_id("notes/a.md", 0)
    git("reset", "-q", "--hard", "HEAD~1", cwd=clone)
    git("fetch", "-q", "--unshallow", cwd=clone)
    assert _ids(clone) == _ids(repo)


def test_a_move_in_a_home_without_other_changes_reads_only_new_files(repo):
    """Content is looked at only where a note is gone."""
    _commit(repo, a="1", b="2")
    write_files(repo, {"notes/new.md": "3"})
    assert _ids(repo)["notes/new.md"] == derive_note_id("notes/new.md", 0)


def test_ids_are_not_computed_before_one_is_asked_for(repo):
    """A home whose notes all carry their ids never reads history for them."""
    _commit(repo, a="1")
    layout = layout_of(repo)
    repository = _Counting(open_repository(layout))
    NoteIds(repository, layout).lookup(["notes/a.md"])
    assert repository.reads == 0
