"""Maintenance of a home as a whole: what it leaves, when it is due, and what it refuses."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures import commit_all, fsck, git, set_identity
from gitmem import AgentHome, maintenance, maintenance_need
from gitmem.errors import HomeError, HomeLocked, UnsupportedFormat, UsageError
from gitmem.file_lock import file_lock
from gitmem.maintenance import MaintainOptions, Maintenance, check_commit_graph
from gitmem.maintenance_need import LastRun, measure_need, read_last, write_last

STEPS = ("packed", "removed", "merged", "locked", "written", "replaced", "ref locked")


class Killed(BaseException):
    """Stands for a kill: nothing that is foreseen for failures runs."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with turns, an operator's commits, and tags."""
    root = tmp_path_factory.mktemp("made") / "home"
    with AgentHome.init(root, agent="aria") as home:
        set_identity(root)
        for number in range(40):
            home.record([{"kind": "message", "role": "user", "text": f"turn {number}"}], session="s1")
    for number in range(4):
        commit_all(root, f"work {number}", {f"notes/n{number}.md": f"# Note {number}\n"})
        git("tag", "-a", "-m", "x", f"episode/2026-11-30-x{number}", cwd=root)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made, tmp_path / "home", symlinks=True))


def state(root: Path) -> tuple[str, str]:
    """Return all refs and all objects as Git reads them."""
    return (
        git("show-ref", "--head", "-d", cwd=root),
        git("cat-file", "--batch-check", "--batch-all-objects", cwd=root),
    )


def maintain(root: Path, step: Callable[[str], object] = lambda _: None, seconds: float = 60.0) -> bool:
    """Run maintenance once; say whether it finished."""
    with AgentHome.open(root, catches_up=False) as home:
        one = Maintenance(home._parts.repository, home.layout, checkpoint=step)
        return one.run(MaintainOptions(seconds=seconds)).finished


def test_a_home_ends_in_one_pack(root: Path) -> None:
    """Nothing loose is left of what refs reach; nothing is lost; a second run has nothing to do."""
    before = state(root)
    with AgentHome.open(root) as home:
        report = home.maintain()
        assert report.finished
        assert report.packs["after"] == 1
        assert report.loose["packed"] == report.loose["removed"] > 12
        assert report.tags["removed"] == report.tags["found"] >= 4
        assert report.bytes["after"] < report.bytes["before"] / 3
        again = home.maintain()
        assert (again.packs["merged"], again.loose["packed"], again.tags["packed"]) == (0, 0, 0)
    assert state(root) == before
    fsck(root)
    with AgentHome.open(root) as home:
        home.record([{"kind": "message", "role": "user", "text": "and on"}], session="s1")
        assert home.verify(full=True).ok


def test_a_dry_run_changes_no_file(root: Path) -> None:
    """It says what a run would do."""
    with AgentHome.open(root) as home:
        before = {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*") if path.is_file()}
        foreseen = home.maintain(dry_run=True)
        after = {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*") if path.is_file()}
        assert before == after
        done = home.maintain()
    assert foreseen.loose["packed"] == done.loose["packed"]
    assert foreseen.tags["packed"] == done.tags["packed"]
    assert foreseen.packs["before"] == done.packs["before"]


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_the_next_run_goes_on(
    root: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git reads every ref and object at once, turns go on, and another run brings it to its end."""
    before = state(root)

    def kill(at: str) -> None:
        if at == step:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("gitmem.git_lock._release", lambda _: None)
        with pytest.raises(Killed):
            maintain(root, kill)
    assert state(root) == before
    fsck(root)
    with AgentHome.open(root) as home:
        home.record([{"kind": "message", "role": "user", "text": "on"}], session="s1")
    assert maintain(root)
    assert state(root)[0].splitlines()[1:] != before[0].splitlines()[1:]  # the new turn
    assert set(before[1].splitlines()) <= set(state(root)[1].splitlines())
    assert not [*(root / ".git/refs").rglob("*.lock")]
    assert not [*(root / ".git/objects/pack").glob("*.keep")]
    fsck(root)


def test_without_time_it_stops_and_another_run_goes_on(root: Path) -> None:
    """Each step that was begun is ended; what is left is done the next time."""
    before = state(root)
    assert not maintain(root, seconds=1e-9)
    assert state(root) == before
    assert maintain(root)
    assert state(root) == before


def test_one_at_a_time(root: Path) -> None:
    """A second one is told so, and does nothing."""
    with AgentHome.open(root) as home:
        with (
            file_lock(root / ".git/gitmem/maintain.lock", wait=0),
            pytest.raises(HomeLocked),
        ):
            home.maintain()
        assert home.maintain().finished


def test_turns_do_not_wait(root: Path) -> None:
    """In the middle of any step a turn is recorded: nothing that it needs is held."""
    recorded = []
    with AgentHome.open(root) as other:

        def turn(at: str) -> None:
            reply: list[object] = []
            event = {"kind": "message", "role": "user", "text": f"at {at}"}
            thread = threading.Thread(target=lambda: reply.append(other.record([event], session="s1")))
            thread.start()
            thread.join(20)
            assert reply, at
            recorded.append(at)

        assert maintain(root, turn)
        assert {*recorded} == {*STEPS}
        assert other.verify(full=True).ok
    fsck(root)


def test_a_partial_clone_is_refused(root: Path) -> None:
    """Objects that are missing on purpose would be told from missing ones no more."""
    (root / ".git/objects/pack/pack-1234.promisor").write_bytes(b"")
    with AgentHome.open(root) as home, pytest.raises(HomeError, match="partial clone"):
        home.maintain()
    git("config", "core.repositoryFormatVersion", "1", cwd=root)
    git("config", "extensions.partialClone", "origin", cwd=root)
    with pytest.raises(UnsupportedFormat):
        AgentHome.open(root)


def test_a_time_of_nothing_is_refused(root: Path) -> None:
    """Or it would seem to work and never do anything."""
    with AgentHome.open(root) as home, pytest.raises(UsageError):
        home.maintain(seconds=0)


def test_what_git_keeps_for_itself_stays(root: Path) -> None:
    """An index of many packs, a bitmap, a commit-graph, a foreign `.keep`: all are valid afterwards."""
    git("repack", "-q", "-a", "-d", "--write-bitmap-index", cwd=root)
    with AgentHome.open(root) as home:
        for number in range(3):
            home.record([{"kind": "message", "role": "user", "text": f"more {number}"}], session="s1")
    git("multi-pack-index", "write", cwd=root)
    git("commit-graph", "write", "--reachable", "--split", cwd=root)
    with AgentHome.open(root) as home:
        for number in range(3):
            home.record([{"kind": "message", "role": "user", "text": f"last {number}"}], session="s1")
    stem = next((root / ".git/objects/pack").glob("*.pack")).with_suffix(".keep")
    stem.write_text("mine\n")
    before = state(root)
    assert maintain(root)
    assert state(root) == before
    assert stem.exists()
    git("multi-pack-index", "verify", cwd=root)
    git("commit-graph", "verify", cwd=root)
    fsck(root)


@pytest.mark.parametrize("split", [False, True])
def test_a_broken_commit_graph_goes(root: Path, split: bool) -> None:
    """[real case] One that a library wrote made every Git command print "improper chunk offset(s)"."""
    assert check_commit_graph(AgentHome.open(root).layout) == "none"
    git("commit-graph", "write", "--reachable", *(["--split"] if split else []), cwd=root)
    with AgentHome.open(root) as home:
        assert home.maintain().commit_graph == "kept"
        (graph,) = (root / ".git/objects/info").rglob("*graph*.graph" if split else "commit-graph")
        graph.chmod(0o644)
        graph.write_bytes(graph.read_bytes()[:-40] + os.urandom(40))
        assert home.maintain().commit_graph == "removed"
    fsck(root)


def test_objects_of_an_alternate_stay_where_they_are(root: Path, tmp_path: Path) -> None:
    """A home that borrows objects packs its own ones only, and nothing of the lender's is touched."""
    lender = tmp_path / "lender"
    git("init", "-q", "--bare", lender, cwd=tmp_path)
    shutil.copytree(root / ".git/objects", lender / "objects", dirs_exist_ok=True)
    shutil.rmtree(root / ".git/objects")
    (root / ".git/objects/info").mkdir(parents=True)
    (root / ".git/objects/info/alternates").write_text(f"{lender}/objects\n")
    there = sorted(path for path in (lender / "objects").rglob("*") if path.is_file())
    commit_all(root, "own", {"notes/own.md": "# Own\n"})
    assert maintain(root)
    assert sorted(path for path in (lender / "objects").rglob("*") if path.is_file()) == there
    fsck(root)


def test_linked_work_trees_share_it(root: Path, tmp_path: Path) -> None:
    """Run in one, it maintains what both use."""
    git("worktree", "add", "-q", "-b", "side", tmp_path / "side", cwd=root)
    commit_all(tmp_path / "side", "beside", {"notes/beside.md": "# Beside\n"})
    before = state(root)
    assert maintain(tmp_path / "side")
    assert state(root) == before
    fsck(root)


def test_when_it_is_due(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limits, and not for what the last run had to leave."""
    layout = AgentHome.open(root).layout
    assert measure_need(layout).reasons == []
    monkeypatch.setattr(maintenance_need, "LOOSE", 3)
    monkeypatch.setattr(maintenance_need, "TAGS", 3)
    monkeypatch.setattr(maintenance_need, "PACKS", 1)
    assert measure_need(layout).reasons == [
        "more than 3 loose objects",
        "more than 1 packs",
        "more than 3 loose tags",
    ]
    for number in range(6):
        git("hash-object", "-w", "--stdin", cwd=root, stdin=f"nobody's {number}\n")
    assert maintain(root)
    assert measure_need(layout).reasons == []
    assert read_last(layout).loose == 6
    write_last(layout, LastRun())
    assert measure_need(layout).loose == 4
    (root / ".git/gitmem/maintenance.json").write_text("[]")
    assert read_last(layout) == LastRun()


def test_git_need_not_be_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but the look at the commit-graph is done without it."""

    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError("git")

    git("commit-graph", "write", "--reachable", cwd=root)
    monkeypatch.setattr(maintenance, "run_git", missing)
    with AgentHome.open(root) as home:
        report = home.maintain()
    assert report.commit_graph == "not looked at"
    assert report.packs["after"] == 1


def test_status_says_when_it_is_due(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what to do about it; once done it says nothing more."""
    monkeypatch.setattr(maintenance_need, "LOOSE", 3)
    with AgentHome.open(root) as home:
        (found,) = [one for one in home.status().findings if one.id == "maintenance"]
        assert found.message == "maintenance is due: more than 3 loose objects"
        assert found.hint == "To do it: gitmem maintain"
        assert found.exit_code == 0
        home.maintain()
        assert not [one for one in home.status().findings if one.id == "maintenance"]


def test_the_watcher_starts_it_once_in_a_while(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is due, and not again within an hour, whoever ran it."""
    layout = AgentHome.open(root).layout
    now = 1_800_000_000.0
    assert not maintenance_need.is_due(layout, now)
    monkeypatch.setattr(maintenance_need, "LOOSE", 3)
    assert maintenance_need.is_due(layout, now)
    write_last(layout, LastRun(now - 3500.0))
    assert not maintenance_need.is_due(layout, now)
    write_last(layout, LastRun(now - 3700.0))
    assert maintenance_need.is_due(layout, now)
    write_last(layout, LastRun(now + 3700.0))  # a clock was set back
    assert maintenance_need.is_due(layout, now)
