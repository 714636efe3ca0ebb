"""Plans kept in line with their work items, whatever people do to the files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from branches import status
from homes import new_home

from fixtures import CounterClock, fsck, git
from gitmem import AgentHome, work_files
from gitmem.plan_notices import CHANGED, NEW, PlanNotices
from gitmem.records import Receipt


@pytest.fixture
def home(tmp_path: Path, clock: CounterClock) -> Iterator[AgentHome]:
    """A home with an operator, and a work item that was talked about."""
    with new_home(tmp_path / "home", now=clock, operator=True) as made:
        made.work_create("Move the database", work_item_id="w1", plan="1. dump", session="s1")
        made.work_pick("w1", session="s1")
        say(made)
        yield made


def say(home: AgentHome) -> Receipt:
    """Record a turn of one message."""
    return home.record([{"kind": "message", "role": "user", "text": "Go on."}], session="s1")


def plan_of(home: AgentHome) -> Path:
    """Return the file of the plan, wherever it is."""
    (path,) = (home.layout.root / "work").rglob("plan.md")
    return path


def edit(home: AgentHome, old: str, new: str) -> None:
    """Edit the plan in an editor and commit it with plain Git."""
    path = plan_of(home)
    path.write_text(path.read_text().replace(old, new))
    git("commit", "-q", "--no-verify", "-am", "mine", cwd=home.layout.root)


def complete(home: AgentHome) -> list[str]:
    """Complete the work item; return what was said."""
    return list(home.work_complete("w1", "It is moved.", session="s1").warnings)


def subjects(home: AgentHome) -> list[str]:
    """Return the subjects of the branch, the newest first."""
    found: list[str] = git("log", "--format=%s", cwd=home.layout.root).split("\n")
    return found


def said_of_plans(home: AgentHome) -> list[str]:
    """Return what the status says of plans and episodes."""
    return [one.message for one in home.status().findings if one.id in ("plan", "episode")]


class TestCommittedByHand:
    """Front matter is gitmem's, also where nothing of gitmem saw the edit."""

    @pytest.mark.parametrize(
        ("old", "new", "field"),
        [("Move the database", "Sell it", "objective"), ("id: w1", "id: w9", "id"), ("id: w1\n", "", "id")],
    )
    def test_the_next_turn_puts_it_back_and_says_so(
        self, home: AgentHome, old: str, new: str, field: str
    ) -> None:
        """The body that came with it stays."""
        say(home)
        edit(home, old, new)
        with plan_of(home).open("a") as file:
            file.write("\n2. load\n")
        git("commit", "-qam", "more", cwd=home.layout.root)
        (told,) = say(home).warnings
        assert f"{field} was put back" in told
        text = plan_of(home).read_text()
        assert "id: w1\n" in text
        assert "objective: Move the database\n" in text
        assert text.endswith("1. dump\n\n2. load\n")
        assert status(home.layout.root) == ""
        assert list(say(home).warnings) == []

    def test_a_status_puts_it_back_and_says_so(self, home: AgentHome) -> None:
        """Whoever looks whether all is well is told."""
        say(home)
        edit(home, "Move the database", "Sell it")
        with AgentHome.open(home.layout.root) as other:
            (told,) = said_of_plans(other)
            assert "objective was put back" in told
            assert "objective: Move the database\n" in plan_of(other).read_text()
            assert said_of_plans(other) == []

    def test_what_is_as_it_should_be_is_left_alone(self, home: AgentHome) -> None:
        """A body is anybody's, and no commit is made for it."""
        say(home)
        edit(home, "1. dump", "1. copy")
        before = subjects(home)
        assert list(say(home).warnings) == []
        assert subjects(home) == before

    def test_a_folder_that_was_moved_is_moved_back(self, home: AgentHome) -> None:
        """The ledger says whether a work item ended, not the folder."""
        say(home)
        root, folder = home.layout.root, plan_of(home).parent
        (root / "work" / "done").mkdir()
        git("mv", folder.relative_to(root).as_posix(), "work/done/", cwd=root)
        git("commit", "-qm", "mine", cwd=root)
        (told,) = say(home).warnings
        assert "put back" in told
        assert plan_of(home).parent == folder

    def test_what_another_machine_wrote_waits_for_its_records(self, home: AgentHome) -> None:
        """Its ledger comes later: putting the plan back would be a quarrel between two machines."""
        say(home)
        path = plan_of(home)
        path.write_text(path.read_text().replace("Move the database", "Move both"))
        message = "work: edit the-database\n\nGitmem-Kind: work\n"
        git("commit", "-q", "--no-verify", "-am", message, cwd=home.layout.root)
        assert list(say(home).warnings) == []
        assert "objective: Move both\n" in path.read_text()

    def test_many_are_put_back_in_several_turns(
        self, home: AgentHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nobody's turn waits for a commit of each of hundreds of plans."""
        monkeypatch.setattr(work_files, "MOST_AT_ONCE", 2)
        for name in ("w2", "w3"):
            home.work_create("Move the database", work_item_id=name)
        say(home)
        plans = list((home.layout.root / "work").rglob("plan.md"))
        for path in plans:
            path.write_text(path.read_text().replace("Move the database", "Sell it"))
        git("commit", "-q", "--no-verify", "-am", "mine", cwd=home.layout.root)
        assert [len(say(home).warnings) for _ in range(3)] == [2, 1, 0]
        assert all("Move the database" in path.read_text() for path in plans)

    def test_nothing_is_done_on_another_branch(self, home: AgentHome) -> None:
        """The plan of the home is that of its branch."""
        say(home)
        git("switch", "-q", "-c", "topic", cwd=home.layout.root)
        edit(home, "Move the database", "Sell it")
        assert list(say(home).warnings) == []
        assert "objective: Sell it\n" in plan_of(home).read_text()

    def test_ending_it_tells_what_was_put_back(self, home: AgentHome) -> None:
        """The plan goes with the episode, and the edit is not undone in silence."""
        path = plan_of(home)
        path.write_text(path.read_text().replace("Move the database", "Sell it"))
        (told,) = complete(home)
        assert "objective was put back" in told
        assert "objective: Move the database\n" in plan_of(home).read_text()


class TestLeft:
    """A plan that cannot be moved is moved when it can be."""

    def test_a_link_that_went(self, home: AgentHome, tmp_path: Path) -> None:
        """It is told once, shown by the status, and done without being asked again."""
        path = plan_of(home)
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        (told,) = complete(home)
        assert "a link" in told
        assert list(say(home).warnings) == []
        assert said_of_plans(home) == [told]
        path.unlink()
        (tmp_path / "elsewhere").rename(path)
        assert list(say(home).warnings) == []
        assert "done" in plan_of(home).parts
        assert said_of_plans(home) == []
        assert status(home.layout.root) == ""

    def test_a_place_that_was_taken(self, home: AgentHome) -> None:
        """A file of the operator's is not written over."""
        folder = home.layout.root / "work" / "done" / plan_of(home).parent.name
        folder.mkdir(parents=True)
        (folder / "plan.md").write_text("mine\n")
        assert any("is taken" in told for told in complete(home))
        say(home)
        assert (folder / "plan.md").read_text() == "mine\n"
        (folder / "plan.md").unlink()
        say(home)
        assert plan_of(home).parent == folder


class TestWithItsEpisode:
    """File, tag and the plan's move are one write."""

    @pytest.mark.parametrize("kind", ["file", "link"])
    def test_what_keeps_the_episode_keeps_the_plan(self, home: AgentHome, tmp_path: Path, kind: str) -> None:
        """Neither is done alone; both are one commit once the way is free."""
        root = home.layout.root
        in_the_way: Any = root / "episodes"
        in_the_way.write_text("mine\n") if kind == "file" else in_the_way.symlink_to(tmp_path)
        (told,) = complete(home)
        assert "episode ep_" in told
        say(home)
        assert "done" not in plan_of(home).parts
        assert any("cannot be written" in one for one in said_of_plans(home))
        assert home.status().exit_code == 11
        in_the_way.unlink()
        say(home)
        assert "done" in plan_of(home).parts
        (tag,) = git("tag", cwd=root).split()
        commit = git("rev-parse", f"{tag}^{{commit}}", cwd=root)
        assert len(git("show", "--format=", "--name-status", "-M", commit, cwd=root).split("\n")) == 2
        assert said_of_plans(home) == []
        assert status(root) == ""
        fsck(root)

    def test_the_answer_says_that_it_waits(self, home: AgentHome) -> None:
        """The turn is committed, the branch cannot take the file yet: both are told."""
        git("checkout", "-q", "--detach", cwd=home.layout.root)
        (told,) = complete(home)
        assert "detached HEAD" in told
        assert told.startswith("episode ep_")


class TestNotices:
    """What says that a plan may be out of line."""

    def test_a_notice_is_not_lost_to_one_who_takes_them_meanwhile(
        self, home: AgentHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of two processes one writes into a file that the other has just taken and read."""
        notices, other = PlanNotices(home.layout), PlanNotices(home.layout)
        real = Path.open
        taken: list[dict[str, str]] = []

        def then_taken(path: Path, *given: Any, **named: Any) -> Any:
            file = real(path, *given, **named)
            if path.name == "plans" and not taken:
                taken.append({})
                taken.append(other.take())
                other.done()
            return file

        monkeypatch.setattr(Path, "open", then_taken)
        notices.put({"w1": NEW})
        assert taken[1] == {}
        assert other.take() == {"w1": NEW}

    def test_what_was_told_once_is_told_again_after_a_change(self, home: AgentHome) -> None:
        """A change counts for more than that the plan was left."""
        notices = PlanNotices(home.layout)
        notices.put({"w1": "?"})
        notices.put({"w1": CHANGED})
        assert notices.take() == {"w1": CHANGED}

    def test_what_was_taken_and_not_done_with_is_taken_again(self, home: AgentHome) -> None:
        """A disk that was full while one was followed costs none of them."""
        notices = PlanNotices(home.layout)
        notices.put({"w1": NEW})
        assert notices.take() == {"w1": NEW}
        notices.put({"w2": CHANGED})
        assert notices.take() == {"w1": NEW, "w2": CHANGED}
        notices.done()
        assert not notices.exist()

    def test_a_plan_is_written_once(self, home: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
        """Who was killed behind the commit leaves a notice; what people wrote since is not written over."""
        with monkeypatch.context() as patch:
            patch.setattr(PlanNotices, "done", _die)
            with pytest.raises(KeyboardInterrupt):
                home.work_update("w1", plan="1. copy")
        path = plan_of(home)
        assert path.read_text().endswith("1. copy\n")
        path.write_text(path.read_text() + "2. mine\n")
        with AgentHome.open(home.layout.root) as other:
            assert plan_of(other).read_text().endswith("1. copy\n2. mine\n")
            other.work_update("w1", plan="1. dump")
            assert plan_of(other).read_text().endswith("\n\n1. dump\n")

    def test_a_line_right_behind_a_plan_that_waits_stays(self, home: AgentHome) -> None:
        """The body waits for the branch, and somebody goes on writing where it ends."""
        git("checkout", "-q", "--detach", cwd=home.layout.root)
        home.work_update("w1", plan="1. copy")
        path = plan_of(home)
        path.write_text(path.read_text() + "2. mine\n")
        git("switch", "-q", "main", cwd=home.layout.root)
        say(home)
        home.branch.settle()
        assert path.read_text().endswith("1. copy\n2. mine\n")
        assert not (home.layout.root / "conflicts").exists()
        assert subjects(home)[0].startswith("work: edit")
        assert "2. mine" not in git(
            "show", f"HEAD:{path.relative_to(home.layout.root)}", cwd=home.layout.root
        )


def _die(*_: Any) -> None:
    raise KeyboardInterrupt
