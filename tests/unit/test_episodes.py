"""Episodes in homes: finished in the turn that ends them, one write on the branch, immutable, read back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from branches import status
from episode_checks import faults
from homes import new_home

from fixtures import CounterClock, fsck, git, head, run_git, write_files
from gitmem import AgentHome
from gitmem.episode_closing import EpisodeNotices, Notice
from gitmem.episode_facts import EpisodeFacts
from gitmem.episode_file import digest_of
from gitmem.episode_rules import episode_id
from gitmem.errors import AmbiguousMatch, NotFound, UnknownSource, UsageError
from gitmem.operator_branch import OperatorBranch
from gitmem.records import Receipt, Record

MOVE = {
    "kind": "work_item",
    "action": "create",
    "work_item_id": "w1",
    "objective": "Move the staging database",
}
PICK = {"kind": "work_item", "action": "pick", "work_item_id": "w1"}


@pytest.fixture
def clock() -> CounterClock:
    """A clock that tests may set forward."""
    return CounterClock()


@pytest.fixture
def home(tmp_path: Path, clock: CounterClock) -> Iterator[AgentHome]:
    """An open home."""
    with new_home(tmp_path / "home", now=clock, operator=True) as opened:
        yield opened


def say(
    home: AgentHome, text: str = "Hello.", *events: dict[str, Any], session: str | None = "s1"
) -> Receipt:
    """Record a turn of one message, and events."""
    message = {"kind": "message", "role": "user", "text": text}
    return home.record([message, *events], session=session)


def finish(home: AgentHome, **links: Any) -> Receipt:
    """End the session."""
    return home.record([{"kind": "session", "event": "end"}], session=links.pop("session", "s1"), **links)


def ending(home: AgentHome) -> tuple[str, str]:
    """Begin the turn that will end the session; return its id, and that of the episode that it finishes."""
    turn = home._parts.recorder.open_held(session="s1")
    (builder,) = home._parts.episodes.builders()
    return turn, episode_id(builder.writer, builder.turns[0].turn, turn)


def end(home: AgentHome, turn: str) -> Receipt:
    """End the session with that turn."""
    return home._parts.recorder.close_held(turn, [{"kind": "session", "event": "end"}])


def work(home: AgentHome) -> Receipt:
    """Do a work item in three turns, and one in which its plan is made; return the receipt of the last."""
    say(home, "Move it, please.", MOVE, PICK)
    tool = {"kind": "tool_execution", "tool": "shell", "input": {"cmd": "pytest -q"}, "exit_code": 0}
    say(home, "Go on.", tool, {"kind": "decision", "text": "Use pg_dump"})
    done = {"kind": "work_item", "action": "complete", "work_item_id": "w1", "report": "It is moved."}
    return say(home, "Done?", {"kind": "brief", "brief_kind": "result", "text": "It is moved."}, done)


def records(home: AgentHome) -> list[Record]:
    """Return the records of finished episodes, the oldest first."""
    found = home.ledger.find_all(b'"kind":"episode"')
    return sorted((record for record in found if record.kind == "episode"), key=lambda record: record.clock)


def ref_of(receipt: Receipt) -> str:
    """Return the ref of the one episode that a turn finished."""
    (ref,) = [one["source_ref"] for one in receipt.records if one["kind"] == "episode"]
    return ref


def check(home: AgentHome) -> None:
    """Fail unless no turn is in two episodes or left out before the open one, and all say the same."""
    rows = list(EpisodeFacts(home.layout, home.ledger).rows())
    assert faults(rows, str(rows[0][-1]).rpartition("/")[2].partition("-")[0]) == []
    for record in records(home):
        view = home.episode(record.id)
        assert digest_of(view.content.encode()) == record.body["sha256"]
        assert [turn.id for turn in view.episode.turns] == record.body["turns"]
    assert EpisodeNotices(home.layout).read() == []


class TestFinishing:
    """What one turn, one commit and one tag hold."""

    def test_completing_a_work_item_finishes_its_episode(self, home: AgentHome) -> None:
        """E8: in that turn, which is in it, with the result brief by name."""
        receipt = work(home)
        view = home.episode(ref_of(receipt))
        episode = view.episode
        assert (view.state, episode.boundary, episode.work_item) == ("final", "work_item_completed", "w1")
        assert episode.source_refs[-1] == f"turn:{receipt.turn_id}"
        assert len(episode.turns) == 4
        assert episode.result_brief in [one["source_ref"] for one in receipt.records]
        assert [one.text for one in episode.decisions] == ["Use pg_dump"]
        assert [one.text for one in episode.verification] == ["exit 0: shell: pytest -q"]
        (record,) = records(home)
        assert record.turn == receipt.turn_id
        assert record.body["sha256"] == digest_of((home.layout.root / view.path).read_bytes())
        check(home)

    def test_it_is_one_commit_and_its_tag(self, home: AgentHome) -> None:
        """Plain git shows what was finished, by whom, and where."""
        root = home.layout.root
        view = home.episode(ref_of(work(home)))
        commit = git("log", "-1", "--format=%H", "--", view.path, cwd=root)
        assert git("rev-parse", f"{view.tag}^{{commit}}", cwd=root) == commit
        assert git("cat-file", "-t", view.tag, cwd=root) == "tag"
        assert (
            git("log", "-1", "--format=%s|%an|%(trailers:key=Gitmem-Kind,valueonly)", commit, cwd=root).split(
                "\n"
            )[0]
            == "episode: move-the-staging-database (4 turns)|aria|episode"
        )
        assert "move-the-staging-database (4 turns)" in git("tag", "-n", cwd=root)
        assert view.content.split("\n")[3] in git("show", view.tag, cwd=root)
        assert status(root) == ""
        fsck(root)

    def test_a_pause_is_decided_by_the_next_turn(self, home: AgentHome, clock: CounterClock) -> None:
        """Half an hour of silence ends a conversation; the record stands in the turn that broke it."""
        say(home, "First.")
        clock.advance(1900)
        receipt = say(home, "Later.")
        episode = home.episode(ref_of(receipt)).episode
        assert episode.boundary == "pause"
        assert f"turn:{receipt.turn_id}" not in episode.source_refs
        check(home)

    def test_finalized_is_the_time_of_the_last_turn(self, home: AgentHome, clock: CounterClock) -> None:
        """Not of the commit: another machine must make the same file."""
        say(home)
        last = finish(home)
        clock.advance(5000)
        (turn,) = [one for one in home.ledger.find_turn(last.turn_id) if one.kind == "turn"]
        assert home.episodes().episodes[0].episode.finalized_at == turn.ts

    def test_an_objective_that_changes_is_a_boundary(self, home: AgentHome) -> None:
        """E3: the finished account has the old one."""
        say(home, "Move it.", MOVE, PICK)
        update = {
            "kind": "work_item",
            "action": "update",
            "work_item_id": "w1",
            "objective": "Move all of it",
        }
        old = home.episode(ref_of(say(home, "All of it.", update))).episode
        assert (old.boundary, old.objective) == ("objective_changed", "Move the staging database")
        done = {"kind": "work_item", "action": "complete", "work_item_id": "w1", "report": "Done."}
        new = home.episode(ref_of(say(home, "Done.", done))).episode
        assert new.objective == "Move all of it"
        check(home)

    def test_a_long_talk_is_told_in_twelves(self, home: AgentHome) -> None:
        """E6: no turn is lost between two episodes."""
        for number in range(30):
            say(home, f"Number {number}.")
        assert [len(record.body["turns"]) for record in records(home)] == [12, 12]
        (left,) = home.episodes().open
        assert len(left["turns"]) == 6
        check(home)

    def test_where_each_turn_ran(self, home: AgentHome) -> None:
        """E10: a workspace that was switched is named with its turn."""
        for place in ("ws1", "ws2"):
            home.record([{"kind": "message", "role": "user", "text": "x"}], session="s1", workspace=place)
        finish(home)
        turns = home.episodes().episodes[0].episode.turns
        assert [turn.workspace for turn in turns] == ["ws1", "ws2", None]

    def test_an_import_is_no_work_that_was_done_here(self, home: AgentHome, tmp_path: Path) -> None:
        """A thousand old conversations do not become a thousand commits."""
        lines = [f'{{"kind":"message","role":"user","text":"old {n}","session":"old","ts":"2020-01-0{n}"}}\n'
                 for n in range(1, 4)]  # fmt: skip
        (tmp_path / "old.jsonl").write_text("".join(lines))
        home.import_jsonl(tmp_path / "old.jsonl")
        say(home, session="old")
        assert records(home) == []
        assert [len(one["turns"]) for one in home.episodes().open] == [1]

    def test_somebody_may_finish_it(self, home: AgentHome) -> None:
        """`episode close` is a turn of its own, and an error where nothing is open."""
        say(home)
        receipt = home.episode_close("s1")
        assert home.episode(ref_of(receipt)).episode.boundary == "closed"
        assert [one["kind"] for one in receipt.records] == ["episode", "turn"]
        with pytest.raises(NotFound):
            home.episode_close("s1")
        check(home)

    def test_another_process_goes_on(self, home: AgentHome) -> None:
        """Who opens the home anew has the same builder; two that take turns have one."""
        for number in range(7):
            say(home, f"{number}")
            with AgentHome.open(home.layout.root, now=home._parts.now) as other:
                say(other, f"{number} too")
        assert [len(record.body["turns"]) for record in records(home)] == [12]
        check(home)


class TestWriting:
    """What keeps the branch from taking it, and what was half done."""

    def test_what_the_branch_cannot_take_waits(self, home: AgentHome) -> None:
        """The record is in the turn; file and tag come when the operator is back on the branch."""
        root = home.layout.root
        git("checkout", "-q", "--detach", cwd=root)
        view = home.episode(ref_of(work(home)))
        assert view.state == "pending"
        assert git("tag", cwd=root) == ""
        git("switch", "-q", "main", cwd=root)
        with AgentHome.open(root) as other:
            assert other.episode(view.source_ref).state == "final"
        assert git("cat-file", "-t", view.tag, cwd=root) == "tag"
        assert status(root) == ""
        check(home)

    def test_a_tag_whose_lock_is_held_waits_alone(self, home: AgentHome) -> None:
        """Nothing is written twice for it."""
        root = home.layout.root
        say(home)
        turn, name = ending(home)
        lock = root / ".git" / "refs" / "tags" / "episode" / f"{name}.lock"
        lock.parent.mkdir(parents=True)
        lock.write_text("somebody")
        end(home, turn)
        commit = head(root)
        assert [write.path for write in home.branch.pending()] == [home.episodes().episodes[0].path]
        lock.unlink()
        home.branch.settle()
        assert home.episodes().episodes[0].state == "final"
        assert head(root) == commit
        assert home.branch.pending() == []

    def test_a_process_that_died_before_it_wrote(
        self, home: AgentHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """E11: the next one writes what the record says, once."""
        say(home)
        with monkeypatch.context() as patch:
            patch.setattr(OperatorBranch, "write", _die)
            with pytest.raises(KeyboardInterrupt):
                finish(home)
        assert git("tag", cwd=home.layout.root) == ""
        with AgentHome.open(home.layout.root) as other:
            assert len(records(other)) == 1
            assert [view.state for view in other.episodes().episodes] == ["final"]
            check(other)
        with AgentHome.open(home.layout.root):
            assert git("log", "--format=%s", cwd=home.layout.root).count("episode:") == 1

    def test_the_same_once_more_changes_nothing(self, home: AgentHome) -> None:
        """A second finalisation with the same content is the first."""
        view = home.episode(ref_of(work(home)))
        (record,) = records(home)
        before = git("for-each-ref", cwd=home.layout.root)
        _again(home, record)
        assert home._parts.settle_episodes() == []
        assert git("for-each-ref", cwd=home.layout.root) == before
        assert home.episode(view.source_ref) == view

    def test_another_content_is_refused(self, home: AgentHome) -> None:
        """An episode whose file says something else now is not written over."""
        root = home.layout.root
        view = home.episode(ref_of(work(home)))
        (record,) = records(home)
        write_files(root, {view.path: view.content.replace("staging", "other")})
        git("commit", "-q", "--no-verify", "-am", "mine", cwd=root)
        before = git("for-each-ref", cwd=root)
        _again(home, record)
        (said,) = home._parts.settle_episodes()
        assert view.path in said
        assert git("for-each-ref", cwd=root) == before
        assert home.episode(view.source_ref).state == "changed"

    def test_a_tag_of_somebody_else_stays(self, home: AgentHome) -> None:
        """A tag never moves."""
        root = home.layout.root
        say(home)
        turn, name = ending(home)
        git("tag", f"episode/{name}", cwd=root)
        before = git("rev-parse", f"episode/{name}", cwd=root)
        receipt = end(home, turn)
        assert any(name in warning for warning in receipt.warnings)
        assert git("rev-parse", f"episode/{name}", cwd=root) == before
        assert git("log", "--format=%s", cwd=root).count("episode:") == 0

    def test_a_place_that_is_taken(self, home: AgentHome) -> None:
        """Two episodes of one day, subject and beginning of an id have two files."""
        say(home, "Hello.")
        turn, name = ending(home)
        short, long = name[3:7], name[3:11]
        path = f"episodes/2026-03/02-hello-{short}.md"
        write_files(home.layout.root, {path: "---\nid: other\n---\n# Other\n"})
        view = home.episode(ref_of(end(home, turn)))
        assert view.path == f"episodes/2026-03/02-hello-{long}.md"

    def test_an_operator_s_edit_is_seen_and_the_hook_refuses_it(self, home: AgentHome) -> None:
        """Immutable is what a list says and what a commit is held to."""
        root = home.layout.root
        view = home.episode(ref_of(work(home)))
        path = root / view.path
        path.write_text(path.read_text() + "- and more\n")
        assert [one.state for one in home.episodes().episodes] == ["changed"]
        git("add", view.path, cwd=root)
        refused = run_git("commit", "-m", "edit", cwd=root)
        assert refused.returncode != 0
        assert b"episode" in refused.stderr

    def test_what_goes_with_a_finished_item_is_in_the_same_commit(self, home: AgentHome) -> None:
        """The plan's way to the finished ones is a part of the write, or nothing of it is done."""
        view = home.episode(ref_of(work(home)))
        commit = git("rev-parse", f"{view.tag}^{{commit}}", cwd=home.layout.root)
        rows = git("show", "--format=", "--name-status", "-M", commit, cwd=home.layout.root).split("\n")
        assert len(rows) == 2
        assert f"A\t{view.path}" in rows
        (plan,) = [row.split("\t") for row in rows if row[0] == "R"]
        assert plan[1].startswith("work/2026-")
        assert plan[2].startswith("work/done/2026-")


class TestReading:
    """How finished work is found again."""

    def test_it_is_searched_and_got_like_anything_else(self, home: AgentHome) -> None:
        """By what it was about, what was decided, and its ref."""
        ref = ref_of(work(home))
        assert ref in [hit.source_ref for hit in home.search("pg_dump", kinds=["episode"]).results]
        assert ref in [hit.source_ref for hit in home.search("staging database", kinds=["episode"]).results]
        assert home.get(ref).content == home.episode(ref).content
        assert "boundary" not in home.search("pg_dump", kinds=["episode"]).results[0].snippet

    def test_a_message_comes_before_the_account_that_previews_it(self, home: AgentHome) -> None:
        """A copy is no better answer than what it was copied from."""
        say(home, "The zebra sleeps in the barn.")
        finish(home)
        kinds = [hit.kind for hit in home.search("zebra").results]
        assert kinds[0] == "message"

    def test_the_list_goes_on_behind_its_cursor(self, home: AgentHome) -> None:
        """Every episode once, the newest first."""
        for number in range(5):
            say(home, f"Talk {number}.", session=f"s{number}")
            finish(home, session=f"s{number}")
        first = home.episodes(limit=3)
        rest = home.episodes(limit=3, cursor=first.cursor)
        ids = [view.episode.id for view in (*first.episodes, *rest.episodes)]
        assert len(set(ids)) == 5
        assert rest.cursor is None

    def test_the_newest_comes_first_within_a_day_too(self, home: AgentHome, clock: CounterClock) -> None:
        """Names of files begin with the day and go on with the title, which says nothing of time."""
        for title in ("Zebra.", "Ant.", "Mule."):
            clock.advance(60)
            say(home, title, session=title[0])
            finish(home, session=title[0])
        page, told = home.episodes(limit=1), []
        while True:
            told += [view.title for view in page.episodes]
            if page.cursor is None:
                break
            page = home.episodes(limit=1, cursor=page.cursor)
        assert told == ["Mule.", "Ant.", "Zebra."]

    @pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": -1}, {"limit": 201}, {"limit": True}])
    def test_a_list_of_no_length_is_refused(self, home: AgentHome, asked: dict[str, int]) -> None:
        """Instead of an empty list with a cursor, which sends a program round and round."""
        with pytest.raises(UsageError):
            home.episodes(**asked)

    @pytest.mark.parametrize("cursor", ["junk", "", "a/b", "a//ep_1", "episodes/2026-11/13-x.md"])
    def test_what_is_no_cursor_is_refused(self, home: AgentHome, cursor: str) -> None:
        """Or a program that mangles one reads the first page for ever."""
        with pytest.raises(UsageError):
            home.episodes(cursor=cursor)

    def test_a_cursor_holds_when_its_episode_is_gone(self, home: AgentHome, clock: CounterClock) -> None:
        """People take files off the branch while a program pages."""
        for number in range(3):
            clock.advance(60)
            say(home, f"Talk {number}.", session=f"s{number}")
            finish(home, session=f"s{number}")
        page = home.episodes(limit=1)
        (home.layout.root / page.episodes[0].path).unlink()
        rest = home.episodes(cursor=page.cursor)
        assert [view.title for view in rest.episodes] == ["Talk 1.", "Talk 0."]

    def test_a_beginning_names_an_episode_if_it_is_the_only_one(self, home: AgentHome) -> None:
        """Else whoever asks gets the account of other work and does not know it."""
        for number in range(2):
            say(home, f"Talk {number}.", session=f"s{number}")
            finish(home, session=f"s{number}")
        first, second = home.episodes().episodes
        assert home.episode(second.id[:9]).id == second.id
        assert home.episode(first.source_ref).id == first.id
        with pytest.raises(AmbiguousMatch) as caught:
            home.episode("ep_")
        assert set(caught.value.details["matches"]) == {first.source_ref, second.source_ref}
        for name in ("", "episode:"):
            with pytest.raises(UnknownSource):
                home.episode(name)

    def test_a_copy_is_not_another_episode(self, home: AgentHome) -> None:
        """A file that somebody copied is listed where it belongs; one that they moved, where it is."""
        say(home, "Hello.")
        finish(home)
        (view,) = home.episodes().episodes
        written = home.layout.root / view.path
        copy = home.layout.root / "episodes" / "copy.md"
        shutil.copy(written, copy)
        assert [one.path for one in home.episodes().episodes] == [view.path]
        assert home.episode(view.id).path == view.path
        written.unlink()
        assert [one.path for one in home.episodes().episodes] == ["episodes/copy.md"]
        assert home.episode(view.id).path == "episodes/copy.md"

    def test_what_json_tells_is_there_as_attributes(self, home: AgentHome) -> None:
        """One word for one thing, on the command line and in Python."""
        work(home)
        for view in home.episodes().episodes:
            assert {name for name in view.to_json() if not hasattr(view, name)} == set()
            assert view.source_turn_ids == [turn.id for turn in view.turns]
            with pytest.raises(AttributeError):
                _ = view.nothing

    def test_the_past_has_what_was_finished_then(self, home: AgentHome, clock: CounterClock) -> None:
        """By a commit of the branch, a turn's commit, or a time."""
        say(home, "First.")
        first = finish(home)
        when = home.episodes().episodes[0].episode.finalized_at
        branch = head(home.layout.root)
        clock.advance(100_000)
        say(home, "Second.")
        finish(home)
        third = say(home, "Third.")
        assert len(home.episodes().episodes) == 2
        assert len(home.episodes(as_of=branch).episodes) == 1
        assert len(home.episodes(as_of=str(third.committed)).episodes) == 2
        assert len(home.episodes(as_of=str(first.committed)).episodes) == 0
        assert len(home.episodes(as_of=when[:10]).episodes) in (0, 1)
        with pytest.raises(NotFound):
            home.episodes(as_of="deadbeef")
        with pytest.raises(UnknownSource):
            home.episode("ep_000000000000000")

    def test_a_clone_reads_the_same(self, home: AgentHome, tmp_path: Path) -> None:
        """Files and tags travel with the branch."""
        view = home.episode(ref_of(work(home)))
        git("clone", "-q", str(home.layout.root), str(tmp_path / "clone"), cwd=tmp_path)
        with AgentHome.open(tmp_path / "clone") as clone:
            assert clone.episode(view.source_ref) == view

    def test_a_clone_does_not_finish_what_is_another_s(self, home: AgentHome, tmp_path: Path) -> None:
        """Only the writer whose turns they are."""
        say(home)
        git("clone", "-q", str(home.layout.root), str(tmp_path / "clone"), cwd=tmp_path)
        with AgentHome.open(tmp_path / "clone", now=home._parts.now) as clone:
            finish(clone)
            assert records(clone) == []

    def test_nothing_is_kept_beside_the_ledger(self, home: AgentHome) -> None:
        """Caches may go at any time."""
        for number in range(5):
            say(home, f"{number}")
        before = home._parts.episodes.builders()
        shutil.rmtree(home.layout.derived / "facts", ignore_errors=True)
        with AgentHome.open(home.layout.root) as other:
            assert other._parts.episodes.builders() == before


def _die(*args: object, **options: object) -> None:
    raise KeyboardInterrupt


def _again(home: AgentHome, record: Record) -> None:
    """Say once more that an episode has to be written."""
    (row,) = [row for row in EpisodeFacts(home.layout, home.ledger).rows() if row[0] == record.turn]
    EpisodeNotices(home.layout).put(Notice(record.id, record.turn, row[-1]))
