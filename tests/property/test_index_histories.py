"""Whatever happened to a home and its index: caught up with, it is what one built from nothing is (S13)."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_home import OTHER, WRITER, SearchHome

from gitmem.backends.tantivy_index import TantivyIndex
from gitmem.backends.whoosh_index import WhooshIndex
from gitmem.changes import Hints
from gitmem.indexer import Budget
from gitmem.ledger_format import Line
from gitmem.search_index import COLUMNS, SearchIndex

Engine = Callable[[Path], SearchIndex]
ENGINES: list[Engine] = [WhooshIndex, TantivyIndex]

WRITERS = st.sampled_from([WRITER, OTHER])
NOTES = st.sampled_from("abc")
SMALL = st.integers(0, 5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), WRITERS, st.integers(1, 3), SMALL),
        st.tuples(st.just("burst"), WRITERS, st.integers(1, 3), st.integers(2, 30)),
        st.tuples(st.just("long"), WRITERS, SMALL),
        st.tuples(st.just("task"), st.integers(0, 2), st.sampled_from(["running", "completed"])),
        st.tuples(st.just("note"), NOTES, SMALL),
        st.tuples(st.just("same id"), NOTES, SMALL),
        st.tuples(st.just("no text"), NOTES),
        st.tuples(st.just("remove"), NOTES),
        st.tuples(st.just("move"), NOTES, NOTES),
        st.tuples(st.just("facts"), st.lists(SMALL, max_size=4)),
        st.tuples(st.just("commit"), SMALL),
        st.tuples(st.just("reset"), SMALL),
        st.tuples(st.just("touch"), NOTES, SMALL),
        st.tuples(st.just("forget"), st.integers(0, 40)),
        st.tuples(st.just("drop segment"), SMALL),
        st.tuples(st.just("drop line"), SMALL),
        st.tuples(st.just("bad line"), SMALL),
        st.just("mend"),
        st.tuples(st.just("catch up"), st.sampled_from([None, 0.0])),
        st.tuples(st.just("hinted"), st.sampled_from([None, 0.0])),
        st.tuples(st.just("killed"), st.integers(0, 6)),
        st.tuples(st.just("merge"), st.sampled_from([0, 8, 10_000])),
        st.tuples(st.just("renew"), st.booleans()),
        st.just("another process"),
        st.just("back up"),
        st.just("restore"),
        st.tuples(st.just("flip"), st.integers(0, 10_000), st.integers(0, 3)),
    ),
    min_size=4,
    max_size=30,
)


class Kill(BaseException):
    """The process dies here."""


class History:
    """A home to which one thing after the other happens.

    Attributes:
        changed: paths of files that changed since the index was last asked to catch up.
        bad: what stood where a bad line stands now.
    """

    def __init__(self, folder: Path, engine: Engine) -> None:
        self.home = SearchHome(folder / "home", engine(folder / "home.git" / "gitmem" / "index"))
        self.changed: set[str] = set()
        self.bad: dict[bytes, Line | bytes] = {}
        self.backup = folder / "backup"
        (self.home.root / "notes").mkdir()

    def step(self, kind: str, *rest: Any) -> None:
        """Let one thing happen."""
        getattr(self, kind.replace(" ", "_"))(*rest)

    # To the sources

    def say(self, writer: str, number: int, word: int) -> None:
        """A record; some cannot be made into documents."""
        said = self.home.say(f"word{word}", writer=writer, number=number, session=f"s{word}")
        if word == 5:
            self.home.failing.add(said.id)

    def burst(self, writer: str, number: int, count: int) -> None:
        """Many records at once."""
        for one in range(count):
            self.home.say(f"burst {'of words ' * one}", writer=writer, number=number)

    def long(self, writer: str, word: int) -> None:
        """A long text, in an object of its own; some are missing."""
        said = self.home.say(f"long{word} {'lorem ipsum ' * 4000} end{word}", writer=writer)
        if word > 3:
            self.home.bent.blobs.pop(said.id)

    def task(self, number: int, status: str) -> None:
        """A snapshot of an object."""
        event = {"kind": "task", "task_id": f"t{number}", "status": status, "summary": "do"}
        self.home.bent.append(event, revision=1, status=status, after=())

    def write(self, path: str, content: str | bytes) -> None:
        """A file is saved."""
        self.home.write({path: content})
        self.changed.add(path)

    def note(self, name: str, word: int) -> None:
        """A note is saved."""
        self.write(f"notes/{name}.md", f"# Title {word}\n\ntext{word}\n")

    def same_id(self, name: str, word: int) -> None:
        """A note claims an id that others claim too."""
        self.write(f"notes/{name}.md", f"---\nid: n1\n---\ntext{word}\n")

    def no_text(self, name: str) -> None:
        """A note is no text."""
        self.write(f"notes/{name}.md", b"\xff\xfe\x00")

    def facts(self, numbers: list[int]) -> None:
        """A store is saved."""
        self.write("memory/MEMORY.md", "\n§\n".join(f"fact {number}" for number in numbers))

    def remove(self, name: str) -> None:
        """A note is deleted."""
        (self.home.root / f"notes/{name}.md").unlink(missing_ok=True)
        self.changed.add(f"notes/{name}.md")

    def move(self, name: str, other: str) -> None:
        """A note is renamed, perhaps over another one."""
        path = self.home.root / f"notes/{name}.md"
        if path.exists():
            path.rename(self.home.root / f"notes/{other}.md")
            self.changed |= {f"notes/{name}.md", f"notes/{other}.md"}

    def commit(self, hours: int) -> None:
        """All files are committed, at no matter which time."""
        self.home.commit(when=1_700_000_000 + 3600 * hours)

    def reset(self, back: int) -> None:
        """The branch goes back by some commits; the files stay."""
        self.home.reset(back)

    def touch(self, name: str, hours: int) -> None:
        """A note's file gets another time, and keeps its content."""
        path = self.home.root / f"notes/{name}.md"
        if path.exists():
            os.utime(path, (1_600_000_000 + 3600 * hours,) * 2)
            self.changed.add(f"notes/{name}.md")

    def forget(self, number: int) -> None:
        """A record is redacted."""
        lines = [one for lines in self.home.bent.contents.values() for one in lines if isinstance(one, Line)]
        if lines:
            self.home.bent.forgotten |= {lines[number % len(lines)].id}

    def drop_segment(self, number: int) -> None:
        """A line was rewritten: a segment is gone."""
        paths = sorted(self.home.bent.contents)
        if paths:
            del self.home.bent.contents[paths[number % len(paths)]]

    def drop_line(self, number: int) -> None:
        """A line was rewritten: a segment begins later."""
        lines = self._segment(number)
        if lines:
            lines.pop(0)

    def bad_line(self, number: int) -> None:
        """A line is damaged in the middle of its segment."""
        lines = self._segment(number)
        at = len(lines) // 2
        if lines and isinstance(line := lines[at], Line):
            bad = b"X" + line.raw[1:]  # as long as it was, so that what follows stands where it stood
            self.bad[bad], lines[at] = line, bad

    def mend(self) -> None:
        """What failed works again, and what was damaged comes whole with a fetch."""
        self.home.failing.clear()
        for lines in self.home.bent.contents.values():
            lines[:] = [line if isinstance(line, Line) else self.bad[line] for line in lines]

    def _segment(self, number: int) -> list[Line | bytes]:
        paths = sorted(self.home.bent.contents)
        return self.home.bent.contents[paths[number % len(paths)]] if paths else []

    # To the index

    def catch_up(self, seconds: float | None) -> None:
        """Somebody catches up, perhaps in a hurry."""
        self.home.catch_up(budget=Budget(seconds=seconds))

    def hinted(self, seconds: float | None) -> None:
        """The watcher catches up with what it was told of."""
        self.home.catch_up(Hints(frozenset(self.changed), turns=True), Budget(seconds=seconds, merged=0))
        self.changed.clear()

    def killed(self, syncs: int) -> None:
        """Whoever catches up dies when so much of it is durable."""
        folder, left = self.home.layout.index, [syncs]
        frozen = folder.with_name("frozen")
        real = os.fsync

        def fsync(descriptor: int) -> None:
            left[0] -= 1
            if left[0] < 0:
                if folder.exists():
                    shutil.copytree(folder, frozen)
                raise Kill
            real(descriptor)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            try:
                self.home.catch_up()
            except Kill:
                patch.undo()
                shutil.rmtree(folder, ignore_errors=True)
                if frozen.exists():
                    frozen.rename(folder)
        self.another_process()

    def merge(self, most: int) -> None:
        """Parts of the index become one."""
        self.home.indexer.merge(most)

    def renew(self, to_the_end: bool) -> None:
        """Everything is to be indexed anew."""
        if to_the_end:
            self.home.indexer.rebuild()
        else:
            self.home.indexer.renew()

    def another_process(self) -> None:
        """One goes, and another one comes, which remembers nothing."""
        self.home.index.close()
        self.home.indexer = self.home.new_indexer()

    def back_up(self) -> None:
        """The index is copied."""
        shutil.rmtree(self.backup, ignore_errors=True)
        if self.home.layout.index.exists():
            shutil.copytree(self.home.layout.index, self.backup)

    def restore(self) -> None:
        """The copy is put in the index's place, under whoever has it open."""
        if self.backup.exists():
            shutil.rmtree(self.home.layout.index, ignore_errors=True)
            shutil.copytree(self.backup, self.home.layout.index)

    def flip(self, at: int, which: int) -> None:
        """A bit of the index changes; a process that has read the file before does not see it."""
        paths = sorted(self.home.layout.index.iterdir()) if self.home.layout.index.exists() else []
        files = [path for path in paths if path.is_file() and path.stat().st_size]
        if files:
            path = files[which % len(files)]
            content = bytearray(path.read_bytes())
            content[at % len(content)] ^= 1 << at % 8
            path.write_bytes(content)
            self.another_process()


def held(index: SearchIndex) -> Counter[tuple[object, ...]]:
    """Return all that an index holds: of each document what it says, its terms and its numbers."""
    found: Counter[tuple[object, ...]] = Counter()
    snapshot = index.snapshot()
    assert snapshot is not None
    for part in snapshot.parts:
        terms: dict[int, list[tuple[str, float]]] = {}
        for term in part.terms_from("", 1_000_000):
            for number, count in zip(*part.postings(term), strict=True):
                terms.setdefault(number, []).append((term, count))
        columns = [part.column(name) for name in COLUMNS]
        for number in set(range(part.size)) - part.removed:
            numbers = tuple(column[number] for column in columns)
            found[str(part.document(number)), tuple(sorted(terms.get(number, []))), numbers] += 1
    return found


def check(history: History, anew: SearchIndex) -> None:
    """Catch up, and compare with an index built from nothing; see what a search finds."""
    home = history.home
    assert home.catch_up().pending == 0
    incremental = held(home.index), home.snapshot().manifest.quarantined
    status = home.search("word1 text1 fact long1").index_status
    assert (status.freshness, list(status.reasons)) == ("fresh", [])
    found = home.refs("word1 text1 fact burst long1", limit=50)
    assert len(found) == len(set(found))
    home.index = anew
    home.new_indexer().catch_up()
    assert (held(anew), home.snapshot().manifest.quarantined) == incremental


def run(steps: list[Any], folder: Path, engine: Engine) -> None:
    """Let a history happen, and check what is left."""
    history = History(folder, engine)
    for step in steps:
        history.step(*((step,) if isinstance(step, str) else step))
    check(history, engine(folder / "anew"))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=150)
@given(steps=STEPS)
def test_caught_up_equals_built_anew(
    tmp_path_factory: pytest.TempPathFactory, engine: Engine, steps: list[Any]
) -> None:
    """Texts, terms, numbers and what is quarantined: all of it, whatever happened in between."""
    run(steps, tmp_path_factory.mktemp("history"), engine)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=8)
@given(steps=STEPS)
def test_a_few_histories(tmp_path_factory: pytest.TempPathFactory, engine: Engine, steps: list[Any]) -> None:
    """The same, for a quick run."""
    run(steps, tmp_path_factory.mktemp("history"), engine)
