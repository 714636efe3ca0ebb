"""A note is found by its id without reading the others, and never another one than by reading them all."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from homes import new_home
from hypothesis import given, settings
from hypothesis import strategies as st

import gitmem.notes
from fixtures import commit_all, layout_of, write_files
from gitmem.backends.dulwich_repository import open_repository
from gitmem.errors import GitmemError
from gitmem.notes import Notes
from gitmem.tree_files import read_managed

PATHS = ["notes/a.md", "notes/b.md", "notes/deep/c.md", "notes/z.md"]
IDS = ["1" * 15, "2" * 15, "plain"]


def text(note_id: str | None, words: str = "words") -> str:
    """Return a note."""
    return f"---\nid: {note_id}\n---\n{words}\n" if note_id else f"{words} {IDS[0]}\n"


def settle_times(root: Path) -> None:
    """Let all files be older than a moment, so that their times tell whether they are the same."""
    past = time.time_ns() - 60 * 10**9
    for path in (root / "notes").rglob("*.md"):
        os.utime(path, ns=(past, past))


def found(notes: Notes, name: str) -> str:
    """Return the path of what a name finds, or why it finds nothing."""
    try:
        return notes.find(name).path
    except GitmemError as error:
        return error.code


@settings(max_examples=15)
@given(
    before=st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from([*IDS, None])), max_size=6),
    after=st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from([*IDS, None, "gone"])), max_size=4),
)
def test_marks_change_no_answer(
    tmp_path_factory: pytest.TempPathFactory,
    before: Sequence[tuple[str, str | None]],
    after: Sequence[tuple[str, str | None]],
) -> None:
    """Whatever was written, removed or claimed twice since the index was built."""
    root = tmp_path_factory.mktemp("home")
    with new_home(root) as home:
        for path, note_id in before:
            write_files(root, {path: text(note_id)})
        (root / "notes").mkdir(exist_ok=True)
        settle_times(root)
        home.catch_up()
        for path, note_id in after:
            (root / path).unlink(missing_ok=True)
            if note_id != "gone":
                write_files(root, {path: text(note_id, "others")})
        plain = Notes(open_repository(layout_of(root)), layout_of(root))
        for name in [*IDS, *(f"note:{note_id}" for note_id in IDS)]:
            assert found(home._parts.notes, name) == found(plain, name)


def test_other_notes_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thirty notes the one is read, and those that changed since."""
    root = tmp_path / "home"
    with new_home(root, operator=True) as home:
        commit_all(root, "notes", {f"notes/{n}.md": text(f"{n:015x}") for n in range(30)})
        settle_times(root)
        time.sleep(0.06)  # times of files written less than a clock tick ago tell nothing
        home.catch_up()
        write_files(root, {"notes/5.md": text("0" * 14 + "5", "changed")})
        read: list[str] = []

        def reading(folder: Path, path: str) -> object:
            read.append(path)
            return read_managed(folder, path)

        monkeypatch.setattr(gitmem.notes, "read_managed", reading)
        assert home.get(f"note:{7:015x}").metadata["path"] == "notes/7.md"
        assert set(read) <= {"notes/5.md", "notes/7.md"}
