"""The sample home is real: its files are a home's, its ledger is a chain, a copy of it is a repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures import commit_all, fsck, git, show
from gitmem.config import parse_config
from gitmem.errors import UsageError
from gitmem.home import AgentHome
from gitmem.ledger_format import NO_PREV, Line, parse_segment_path, split_segment
from gitmem.sample_home import copy_sample_home, read_history, sample_files

SAMPLE = sample_files()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working copy that tests only look at."""
    path = tmp_path_factory.mktemp("sample") / "aria"
    copy_sample_home(path)
    return path


def files_below(folder: Path) -> dict[str, bytes]:
    """Return path and content of every file that is not Git's."""
    paths = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_a_copy_is_the_sample_byte_for_byte(copy: Path) -> None:
    """What is read in this repository is what a copy holds; only the ignore rules come with `init`."""
    copied = files_below(copy)
    assert copied.pop(".gitignore")
    assert copied == files_below(SAMPLE)


def test_a_copy_is_a_clean_repository(copy: Path) -> None:
    """Plain git finds nothing to say."""
    assert git("status", "--porcelain", cwd=copy) == ""
    fsck(copy)
    for path, content in files_below(SAMPLE).items():
        if not path.startswith("ledger/"):
            assert show(copy, path).encode() == content


def test_a_copy_is_the_same_each_time(copy: Path, tmp_path: Path) -> None:
    """No clock, name or path of the machine gets into it."""
    copy_sample_home(tmp_path / "again")
    refs = ("for-each-ref", "--format=%(refname) %(objectname)")
    assert git(*refs, cwd=tmp_path / "again") == git(*refs, cwd=copy)


def test_the_chain_of_the_sample_is_unbroken() -> None:
    """Its segments are what gitmem wrote: each line names the one before, each body fits its digest."""
    segments = sorted((SAMPLE / "ledger").rglob("*.jsonl"), key=lambda path: path.name)
    lines = [line for path in segments for line in split_segment(path.read_bytes())]
    assert all(isinstance(line, Line) for line in lines)
    previous = NO_PREV
    for number, line in enumerate(lines, start=1):
        assert isinstance(line, Line)
        assert (line.seq, line.prev) == (number, previous)
        previous = line.envelope_hash
    assert all(parse_segment_path(path.relative_to(SAMPLE).as_posix()) for path in segments)


def test_the_turn_line_has_a_commit_for_each_turn(copy: Path) -> None:
    """Its trailers say what the lines say."""
    (ref,) = git("for-each-ref", "--format=%(refname:short)", "refs/heads/gitmem", cwd=copy).splitlines()
    log = git("log", "--format=%(trailers:key=Gitmem-Turn,valueonly,separator=)", ref, cwd=copy).splitlines()
    with AgentHome.open(copy) as home:
        turns = {line.turn for line in home.ledger.lines_newest_first()}
    assert len(log) == len(set(log)) == len(turns) == 14
    assert set(log) == turns
    assert git("ls-tree", "--name-only", ref, cwd=copy) == "ledger"
    root = git(
        "log", "--max-parents=0", "--format=%(trailers:key=Gitmem-Home,valueonly)", ref, cwd=copy
    ).strip()
    assert root == parse_config((SAMPLE / "gitmem.toml").read_bytes()).home_id


def test_turns_go_on_after_those_of_the_sample(tmp_path: Path) -> None:
    """A copy is a home to work in: its own writer, the sample's records beside it."""
    copy_sample_home(tmp_path / "aria")
    with AgentHome.open(tmp_path / "aria") as home:
        for text in ("one", "two"):
            assert home.record([{"kind": "message", "role": "user", "text": text}]).committed
        assert len(home.ledger.tips()) == 2
    commit_all(tmp_path / "aria", "an operator's edit", {"notes/new.md": "New\n"})
    fsck(tmp_path / "aria")


def test_the_history_brings_every_file_and_its_earlier_texts_fit() -> None:
    """A file that no commit brings would be missing in a copy; a text that is gone would change nothing."""
    steps, earlier = read_history()
    authored = {path for path in files_below(SAMPLE) if not path.startswith("ledger/")}
    assert {path for step in steps for path in step.paths} == authored - {"gitmem.toml", ".gitattributes"}
    for row in earlier:
        assert row.today in (SAMPLE / row.path).read_text("utf-8")
        assert row.until in {step.at for step in steps if row.path in step.paths}


def test_a_copy_never_lands_on_something(tmp_path: Path) -> None:
    """Nothing of the person who tries it is touched."""
    (tmp_path / "mine").touch()
    with pytest.raises(UsageError, match="not empty"):
        copy_sample_home(tmp_path)
