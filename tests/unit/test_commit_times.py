"""When files were changed and entries brought in, from real history, where no file's own time matters."""

from __future__ import annotations

import os

import pytest

from fixtures import commit_all, git, head, layout_of, make_repo, write_files
from gitmem.authored_times import UNKNOWN, blobs_of, commit_time
from gitmem.backends.dulwich_repository import open_repository
from gitmem.commit_times import CommitTimes
from gitmem.entries import entry_id
from gitmem.times import format_time

STORE = "memory/MEMORY.md"
T = 1_740_000_000
NOW_NS = 1_796_000_000 * 10**9
NOW = format_time(NOW_NS / 1e9)


@pytest.fixture
def repo(tmp_path):
    """An empty repository, its branch unborn."""
    return make_repo(tmp_path / "home")


def _times(repo, **options):
    """Return the times of HEAD, read as a new process would."""
    repository = open_repository(layout_of(repo))
    found = CommitTimes(repository, layout_of(repo)).at(repository.head().commit, **options)
    repository.close()
    return found


def _file(repo, path):
    return _times(repo).of_file(path, blobs_of((repo / path).read_bytes()), NOW_NS)


def _entry(repo, text):
    return _times(repo).of_entry(STORE, entry_id(text), NOW_NS)


def test_a_file_is_as_old_as_the_commit_that_last_changed_it(repo):
    """Later commits of other files, and a file's own time, change nothing."""
    commit_all(repo, files={"notes/a.md": "a"}, when=T)
    commit_all(repo, files={"notes/sub/b.md": "b", "README.md": "x"}, when=T + 100)
    commit_all(repo, files={"notes/a.md": "a2", "episodes/2026-03/e.md": "e"}, when=T + 200)
    commit_all(repo, files={"memory/self.md": "me"}, when=T + 300)
    os.utime(repo / "notes/a.md", (1, 1))
    names = ("notes/a.md", "notes/sub/b.md", "episodes/2026-03/e.md", "memory/self.md")
    assert [_file(repo, name) for name in names] == [format_time(T + d) for d in (200, 100, 200, 300)]


def test_what_is_not_committed_happened_when_the_file_was_written(repo):
    """An edit, a new file, and everything on an unborn branch."""
    write_files(repo, {"notes/a.md": "a", "notes/b.md": "b"})
    assert _file(repo, "notes/a.md") == NOW
    commit_all(repo, when=T)
    write_files(repo, {"notes/a.md": "edited", "notes/c.md": "new"})
    found = [_file(repo, f"notes/{name}.md") for name in "abc"]
    assert found == [NOW, format_time(T), NOW]


def test_a_content_that_comes_back_is_as_new_as_the_commit_that_brought_it_back(repo):
    """A revert happened when it was made; so did a file that was removed and added again."""
    commit_all(repo, files={"notes/a.md": "one", "notes/b.md": "b"}, when=T)
    (repo / "notes/b.md").unlink()
    commit_all(repo, files={"notes/a.md": "two"}, when=T + 10)
    commit_all(repo, files={"notes/a.md": "one", "notes/b.md": "b"}, when=T + 20)
    assert _file(repo, "notes/a.md") == _file(repo, "notes/b.md") == format_time(T + 20)


def test_an_entry_is_as_old_as_the_commit_that_brought_it_into_the_store(repo):
    """Whatever else changed in the store; one removed and added again is new, one not committed is newest."""
    commit_all(repo, files={STORE: "old\n§\nback\n"}, when=T)
    commit_all(repo, files={STORE: "old\n§\nsecond\n"}, when=T + 10)
    commit_all(repo, files={STORE: "second\n§\nback\n§\nold\n"}, when=T + 20)
    write_files(repo, {STORE: "second\n§\nback\n§\nold\n§\nfresh\n"})
    found = [_entry(repo, text) for text in ("old", "second", "back", "fresh")]
    assert found == [format_time(T), format_time(T + 10), format_time(T + 20), NOW]


def test_a_merge_brings_in_what_the_other_side_wrote(repo):
    """Only first parents are followed."""
    commit_all(repo, files={"notes/a.md": "a"}, when=T)
    git("switch", "-q", "-c", "side", cwd=repo)
    commit_all(repo, files={"notes/side.md": "s"}, when=T + 10)
    git("switch", "-q", "main", cwd=repo)
    commit_all(repo, files={"notes/b.md": "b"}, when=T + 20)
    date = {f"GIT_{who}_DATE": f"@{T + 30} +0000" for who in ("AUTHOR", "COMMITTER")}
    git("merge", "-q", "--no-ff", "-m", "merge", "side", cwd=repo, env=date)
    names = ("notes/a.md", "notes/b.md", "notes/side.md")
    assert [_file(repo, name) for name in names] == [format_time(T + d) for d in (0, 20, 30)]


def test_amended_rebased_reset_and_detached_heads_have_their_own_times(repo):
    """The cache knows commits; whatever HEAD is made to be, its times are those of a fresh look."""
    cache = layout_of(repo).derived / "commit-times.jsonl"
    commit_all(repo, files={"notes/a.md": "a"}, when=T)
    commit_all(repo, files={"notes/b.md": "b"}, when=T + 10)

    def check(**expected):
        known = _times(repo)
        cache.unlink()
        assert known == _times(repo)
        assert {p[6]: at for p, (_, at) in known.files.items()} == {n: T + d for n, d in expected.items()}

    check(a=0, b=10)
    date = f"@{T + 20} +0000"
    git("commit", "-q", "--amend", "--no-edit", "--date", date, cwd=repo, env={"GIT_COMMITTER_DATE": date})
    check(a=0, b=20)
    amended = head(repo)
    git("reset", "-q", "--hard", "HEAD~1", cwd=repo)
    check(a=0)
    commit_all(repo, files={"notes/c.md": "c"}, when=T + 30)
    check(a=0, c=30)
    git("rebase", "-q", amended, cwd=repo)  # keeps the time of the author
    check(a=0, b=20, c=30)
    git("checkout", "-q", "--detach", "HEAD~1", cwd=repo)
    check(a=0, b=20)


def test_where_history_is_cut_off_times_are_unknown_until_it_is_fetched(repo, tmp_path):
    """A shallow clone says nothing of what came before it, and keeps nothing wrong of it."""
    commit_all(repo, files={"notes/a.md": "a", STORE: "old\n"}, when=T)
    commit_all(repo, files={"notes/b.md": "b", STORE: "old\n§\nmid\n"}, when=T + 10)
    commit_all(repo, files={"notes/c.md": "c", STORE: "old\n§\nmid\n§\nnew\n"}, when=T + 20)
    shallow = tmp_path / "shallow"
    git("clone", "-q", "--depth", "2", repo.as_uri(), shallow, cwd=tmp_path)
    names = ("notes/a.md", "notes/b.md", "notes/c.md")
    assert [_file(shallow, name) for name in names] == [NOW, NOW, format_time(T + 20)]
    assert [_entry(shallow, text) for text in ("old", "mid", "new")] == [NOW, NOW, format_time(T + 20)]
    cut = _times(shallow)
    git("fetch", "-q", "--unshallow", cwd=shallow)
    assert [_file(shallow, name) for name in names] == [format_time(T + d) for d in (0, 10, 20)]
    assert _times(shallow).digest != cut.digest


def test_a_clone_has_the_times_of_its_source(repo, tmp_path):
    """Every file of a fresh clone was written just now."""
    commit_all(repo, files={"notes/a.md": "a", STORE: "old\n"}, when=T)
    commit_all(repo, files={"notes/b.md": "b", STORE: "old\n§\nnew\n"}, when=T + 10)
    git("clone", "-q", repo, tmp_path / "clone", cwd=tmp_path)
    assert _times(tmp_path / "clone") == _times(repo)


def test_line_ends_that_git_normalised_are_no_edit(repo):
    """With `core.autocrlf` the file on disk is not byte for byte what the commit has."""
    commit_all(repo, files={"notes/a.md": "a\nb\n"}, when=T)
    write_files(repo, {"notes/a.md": "a\r\nb\r\n"})
    assert _file(repo, "notes/a.md") == format_time(T)


def test_a_commit_reads_one_commit(repo):
    """What each commit did is kept; also by a process that began anew, and behind a torn line."""
    for number in range(5):
        commit_all(repo, files={"notes/a.md": f"{number}", "notes/b.md": "b"}, when=T + number)
    _times(repo)
    cache = layout_of(repo).derived / "commit-times.jsonl"
    with cache.open("ab") as file:
        file.write(b'["torn')
    before = cache.read_bytes()
    commit_all(repo, files={"notes/a.md": "last"}, when=T + 9)
    assert _times(repo).files["notes/b.md"][1] == T
    added = cache.read_bytes()[len(before) :].split()
    assert [row[2:42].decode() for row in added] == [head(repo)]
    assert _file(repo, "notes/a.md") == format_time(T + 9)


def test_history_is_followed_no_further_than_what_there_is_came_from(repo):
    """A home made inside an old repository does not read what was before it."""
    for number in range(4):
        commit_all(repo, files={"src.c": f"{number}"}, when=T + number)
    commit_all(repo, files={"notes/a.md": "a"}, when=T + 9)
    _times(repo)
    assert len((layout_of(repo).derived / "commit-times.jsonl").read_bytes().split()) == 2 + 1


@pytest.mark.parametrize(
    "content", [b"", b"\xff\n", b'{"format": 9}\n["x"]\n', b'{"format": 1}\n[1, 2]\n{}\n']
)
def test_a_damaged_cache_is_read_past(repo, content):
    """Whatever stands in the file, the times are right."""
    commit_all(repo, files={"notes/a.md": "a"}, when=T)
    expected = _times(repo)
    cache = layout_of(repo).derived / "commit-times.jsonl"
    cache.write_bytes(content)
    assert _times(repo) == expected
    assert _times(repo) == expected


def test_reading_that_is_interrupted_goes_on_where_it_ended(repo):
    """Each call reads one commit at least; a search meanwhile takes the files' own times."""
    for number in range(4):
        commit_all(repo, files={"notes/a.md": "a", f"notes/{number}.md": "x"}, when=T + number)
    found = [_times(repo, is_late=lambda: True) for _ in range(4)]
    assert [times is None for times in found] == [True, True, True, False]
    assert found[3].files["notes/a.md"][1] == T


def test_a_search_waits_for_no_long_history(repo):
    """Beyond a few dozen commits that nobody has read, it has no times, until the index has read them."""
    for number in range(40):
        git("commit", "-q", "--allow-empty", "-m", f"{number}", cwd=repo)
        if not number:
            commit_all(repo, files={"notes/a.md": "a"}, when=T)
    repository = open_repository(layout_of(repo))
    times = CommitTimes(repository, layout_of(repo))
    assert times.now() is UNKNOWN
    times.at(head(repo))
    assert times.now().files["notes/a.md"][1] == T
    repository.close()


@pytest.mark.parametrize(
    ("author", "committer", "expected"),
    [(5, 9, 5), (9, 5, 5), (0, 9, 9), (-3, 9, 9), (0, 0, None), (2**62, 2**62, None), (2**62, 7, 7)],
)
def test_a_time_that_cannot_be_is_none(author, committer, expected):
    """The author's time counts, never later than the commit's; broken clocks and tools write anything."""
    assert commit_time(author, committer) == expected
