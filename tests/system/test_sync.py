"""One memory on several machines over an ordinary remote: nothing acknowledged is lost, nothing is forced."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import Machine, bare, copied_machine, first_machine, next_machine
from system.command_line import gitmem

from fixtures import fsck, git, make_repo, run_git, set_identity, show, write_files
from gitmem import AgentHome
from gitmem.errors import (
    HomeError,
    NotAHome,
    NotFound,
    OtherHome,
    RefusedError,
    RemoteMisbehaved,
    RemoteTimeout,
)
from gitmem.sync_delivery import SyncDelivery


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the machines stand."""
    return tmp_path


@pytest.fixture
def one(folder: Path) -> Iterator[Machine]:
    """A home that is synced with a remote."""
    machine = first_machine(folder)
    yield machine
    machine.close()


@pytest.fixture
def two(folder: Path, one: Machine) -> Iterator[Machine]:
    """A second one, cloned by plain git."""
    machine = next_machine(folder, "b", one.remote)
    yield machine
    machine.close()


def refs_of(remote: Path) -> dict[str, str]:
    """Return the refs of a remote."""
    rows = git("for-each-ref", "--format=%(refname) %(objectname)", cwd=remote).splitlines()
    return dict(row.split(" ") for row in rows)


# Lines


def test_what_one_says_the_other_finds(one: Machine, two: Machine) -> None:
    """Turns travel both ways, are in search and in the copy on disk before sync returns."""
    two.say("The flower is a tulip")
    assert two.sync().lines.pushed == 1
    reply = one.sync()
    assert (reply.lines.fetched, reply.exit_code) == (1, 0)
    assert one.hears("tulip")
    assert two.hears("2222")
    assert one.ledger_on_disk() == one.ledger_in_git()
    assert two.ledger_on_disk() == one.ledger_on_disk()


@pytest.mark.slow
def test_a_second_sync_has_nothing_to_do(one: Machine) -> None:
    """Nothing is sent twice."""
    before = refs_of(one.remote)
    reply = one.sync()
    assert (reply.fetched, reply.pushed, reply.merged) == (0, 0, 0)
    assert refs_of(one.remote) == before


@pytest.mark.slow
def test_a_copied_folder_becomes_another_writer(folder: Path, one: Machine) -> None:
    """W3: two copies that both go on keep all their records, each once, under two writers."""
    copy = copied_machine(one, folder / "copy")
    one.say("From the first copy")
    copy.say("From the second copy")
    one.sync()
    reply = copy.sync()
    assert reply.lines.writer is not None
    assert copy.line.endswith(reply.lines.writer)
    assert copy.line != one.line
    copy.say("And once more")
    copy.sync()
    one.sync()
    for machine in (one, copy):
        assert all(machine.hears(words) for words in ("first copy", "second copy", "once more", "2222"))
        assert set(machine.records().values()) == {1}
        assert machine.home.status().turns["ignored_lines"] == []
    assert one.records() == copy.records()
    assert len([name for name in refs_of(one.remote) if "/turns/" in name]) == 2
    fsck(one.remote)
    copy.close()


@pytest.mark.slow
def test_copies_of_a_folder_each_finish_what_was_open(folder: Path, one: Machine) -> None:
    """Two accounts that begin with the same turns are two episodes, not two tags of one name.

    Such tags would have every later sync say for ever that somebody moved one.
    """
    one.say("Before the copy")
    copy = copied_machine(one, folder / "copy")
    for machine in (one, copy):
        machine.say(f"Said in {machine.root.name}")
        for still in machine.home.episodes().open:
            machine.home.episode_close(still["session"])
    for machine in (one, copy, one, copy):
        reply = machine.sync()
        assert (reply.exit_code, list(reply.moved_tags)) == (0, [])
    found = [{view.id: view.state for view in machine.home.episodes().episodes} for machine in (one, copy)]
    assert found[0] == found[1]
    assert len(found[0]) >= 2
    assert set(found[0].values()) == {"final"}
    for machine in (one, copy):
        assert [one for one in machine.home.verify(full=True).findings if one.severity == "error"] == []
    copy.close()


@pytest.mark.slow
def test_a_restored_backup_goes_on_as_another_writer(folder: Path, one: Machine) -> None:
    """A folder that is only behind gets what it had written, and never writes a number twice."""
    one.close()
    shutil.copytree(one.root, folder / "backup", symlinks=True)
    one.home = AgentHome.open(one.root)
    one.say("Said after the backup")
    one.sync()
    one.close()
    shutil.rmtree(one.root)
    (folder / "backup").rename(one.root)
    one.home = AgentHome.open(one.root)
    reply = one.sync()
    assert reply.lines.writer is not None
    assert one.hears("after the backup")
    one.say("Said after it was put back")
    one.sync()
    other = next_machine(folder, "c", one.remote)
    assert other.hears("after the backup")
    assert other.hears("put back")
    assert set(other.records().values()) == {1}
    other.close()


@pytest.mark.slow
def test_a_line_of_another_home_is_ignored_and_named(folder: Path, one: Machine) -> None:
    """Somebody pushed another home's turns to this remote by mistake."""
    AgentHome.create(folder / "other", "bert")
    other = Machine(folder / "other", one.remote)
    other.say("The secret of Bert")
    line = git("for-each-ref", "--format=%(refname)", "refs/heads/gitmem/turns/", cwd=other.root)
    git("push", "-q", one.remote, line, cwd=other.root)
    other.close()
    reply = one.sync()
    assert [*reply.ignored] == [line.removeprefix("refs/heads/")]
    assert not one.hears("Bert")


@pytest.mark.slow
def test_a_line_that_was_rewritten_is_refused_and_named(one: Machine, two: Machine) -> None:
    """A line only grows: what was known of it stays, and the change is told with a code of its own."""
    two.say("Said first")
    two.say("Said and later rewritten")
    two.sync()
    one.sync()
    line = two.line
    root = git("rev-list", "--first-parent", line, cwd=one.remote).splitlines()[-1]
    names = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    forged = git("commit-tree", "-p", root, "-m", "x", f"{root}^{{tree}}", cwd=one.remote, env=names)
    git("update-ref", line, forged, cwd=one.remote)
    reply = one.sync()
    assert reply.exit_code == 20
    assert "rewritten" in next(iter(reply.refused.values()))
    assert one.hears("later rewritten")


# The branch


def test_files_of_both_come_together(one: Machine, two: Machine) -> None:
    """Edits in different places merge, and both machines end with the same commit."""
    one.commit({"notes/a.md": "one\n2\n3\n4\n5\n"})
    two.commit({"notes/a.md": "1\n2\n3\n4\ntwo\n", "notes/new.md": "new\n"})
    one.sync()
    reply = two.sync()
    assert (reply.exit_code, reply.merged) == (0, 1)
    assert reply.rescue_ref is not None
    assert one.sync().exit_code == 0
    assert one.head == two.head == refs_of(one.remote)["refs/heads/main"]
    assert one.text("notes/a.md") == "one\n2\n3\n4\ntwo\n"
    assert one.status == two.status == ""
    fsck(one.root)


@pytest.mark.slow
def test_a_conflict_stops_nothing(one: Machine, two: Machine) -> None:
    """OPEN-GIT-24: one text lives, the other is a copy, unrelated paths and turns travel all the same."""
    one.commit({"notes/a.md": "1\nours\n3\n4\n5\n"})
    one.sync()
    two.commit({"notes/a.md": "1\ntheirs\n3\n4\n5\n", "notes/other.md": "other\n"})
    two.say("An unrelated thing")
    reply = two.sync()
    assert reply.exit_code == 12
    assert [one["path"] for one in reply.conflicts] == ["notes/a.md"]
    assert one.sync().exit_code == 12
    assert one.text("notes/other.md") == "other\n"
    assert one.hears("unrelated")
    texts = one.text("notes/a.md") + one.text(reply.conflicts[0]["copy"])
    assert "ours" in texts
    assert "theirs" in texts
    assert "<<<<" not in texts
    assert [c["path"] for c in one.home.status().conflicts] == ["notes/a.md"]


def test_an_untracked_file_in_the_way_keeps_head_and_is_named(one: Machine, two: Machine) -> None:
    """OPEN-GIT-03 and S2: the push still happens, the bytes here stay, the path is named, exit 12."""
    one.commit({"notes/new.md": "theirs\n"})
    one.sync()
    two.commit({"notes/own.md": "own\n"})
    write_files(two.root, {"notes/new.md": "mine, not committed\n"})
    before = two.head
    reply = two.sync()
    assert reply.exit_code == 12
    assert [*reply.branch.blocked] == ["notes/new.md"]
    assert two.head == before
    assert two.text("notes/new.md") == "mine, not committed\n"
    assert show(one.remote, "notes/own.md", "main") == "own\n"
    (two.root / "notes/new.md").unlink()
    assert two.sync().exit_code == 0
    assert two.text("notes/new.md") == "theirs\n"
    assert two.status == ""


@pytest.mark.slow
@pytest.mark.parametrize("state", ["detached", "merge", "other branch"])
def test_turns_travel_whatever_git_is_doing(one: Machine, two: Machine, state: str) -> None:
    """Where HEAD cannot move, lines still travel, and the reply says why the branch did not."""
    if state == "detached":
        git("checkout", "-q", "--detach", cwd=two.root)
    elif state == "merge":
        git("checkout", "-q", "-b", "side", cwd=two.root)
        git("commit", "-q", "--allow-empty", "-m", "side", cwd=two.root)
        git("checkout", "-q", "main", cwd=two.root)
        git("merge", "-q", "--no-commit", "--no-ff", "side", cwd=two.root)
    else:
        git("checkout", "-q", "-b", "side", cwd=two.root)
    one.commit({"notes/more.md": "more\n"})
    one.say("Said meanwhile")
    one.sync()
    two.say("Said in the middle of it")
    before = two.head
    reply = two.sync()
    assert reply.branch.reason
    assert reply.lines.pushed == 1
    assert two.hears("Said meanwhile")
    assert two.head == before
    one.sync()
    assert one.hears("middle of it")


@pytest.mark.slow
def test_a_lock_keeps_head_and_not_the_rest(one: Machine, two: Machine) -> None:
    """A git command that holds the staging area is not waited for."""
    one.commit({"notes/more.md": "more\n"})
    one.sync()
    (two.root / ".git/index.lock").touch()
    reply = two.sync()
    (two.root / ".git/index.lock").unlink()
    assert "index.lock" in (reply.branch.reason or "")
    assert not reply.branch.moved
    assert two.sync().branch.moved
    assert two.text("notes/more.md") == "more\n"


@pytest.mark.slow
def test_the_remote_moves_during_a_sync(one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A merge that the remote did not take is thrown away and made again."""
    one.commit({"notes/one.md": "one\n"})
    one.sync()
    two.commit({"notes/two.md": "two\n"})
    push = SyncDelivery.push
    moved: list[bool] = []

    def push_late(self: SyncDelivery, *args: object) -> object:
        if not moved:
            moved.append(True)
            one.commit({"notes/late.md": "late\n"})
            git("push", "-q", "origin", "main", cwd=one.root)
        return push(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(SyncDelivery, "push", push_late)
    assert two.sync().exit_code == 0
    assert two.text("notes/late.md") == "late\n"
    assert refs_of(one.remote)["refs/heads/main"] == two.head


@pytest.mark.slow
def test_nothing_on_the_remote_ever_moves_backwards(one: Machine, two: Machine) -> None:
    """OPEN-GIT-27: a home whose refs were damaged sends nothing that is behind."""
    for number in range(3):
        one.commit({"notes/n.md": f"{number}\n"})
        one.say(f"Number {number}")
    one.sync()
    before = refs_of(one.remote)
    git("reset", "-q", "--hard", "HEAD~2", cwd=one.root)
    assert one.sync().exit_code == 0
    two.sync()
    after = refs_of(one.remote)
    for name, value in before.items():
        assert run_git("merge-base", "--is-ancestor", value, after[name], cwd=one.remote).returncode == 0


@pytest.mark.slow
def test_an_operators_plain_git_between_syncs(one: Machine, two: Machine) -> None:
    """A merge and a push by plain git are a commit like any other."""
    one.commit({"notes/one.md": "one\n"})
    one.sync()
    two.commit({"notes/two.md": "two\n"})
    git("pull", "-q", "--no-edit", "origin", "main", cwd=two.root)
    git("push", "-q", "origin", "main", cwd=two.root)
    assert one.sync().exit_code == 0
    assert one.head == two.head
    assert two.sync().exit_code == 0


# The remote


@pytest.mark.slow
def test_an_empty_remote_is_filled(folder: Path, one: Machine) -> None:
    """A second remote begins with all there is; a clone of it is a whole home."""
    second = bare(folder / "second.git")
    one.home.remote_add("backup", str(second))
    assert one.home.sync("backup").exit_code == 0
    other = next_machine(folder, "c", second)
    assert other.hears("2222")
    assert other.text("notes/b.md") == "b\n"
    other.close()


@pytest.mark.slow
def test_what_came_from_one_remote_goes_on_to_another(folder: Path, one: Machine, two: Machine) -> None:
    """A second remote lacks no turn of another machine, though nothing was said here since it came."""
    second = bare(folder / "second.git")
    one.home.remote_add("backup", str(second))
    one.home.sync("backup")
    two.say("Only the first remote has heard this")
    two.sync()
    one.sync()
    assert one.home.sync("backup").lines.pushed == 1
    assert one.home.sync("backup").pushed == 0
    other = next_machine(folder, "d", second)
    assert other.hears("Only the first remote has heard this")
    assert other.records() == one.records()
    other.close()


@pytest.mark.slow
def test_a_head_that_leads_nowhere_is_told_once(folder: Path, one: Machine) -> None:
    """A bare repository may have been made for `master`: a plain clone of it would check out nothing."""
    git("init", "-q", "--bare", "-b", "master", folder / "second.git", cwd=folder)
    one.home.remote_add("backup", str(folder / "second.git"))
    (warning,) = one.home.sync("backup").warnings
    assert "git symbolic-ref HEAD refs/heads/main" in warning
    assert one.home.sync("backup").warnings == []


@pytest.mark.slow
def test_a_remote_that_is_no_home_is_refused(folder: Path, one: Machine) -> None:
    """Nothing of the operator's other work is touched, nor anything sent there."""
    work = make_repo(folder / "work")
    write_files(work, {"README.md": "work\n"})
    git("add", "-A", cwd=work)
    git("commit", "-q", "-m", "work", cwd=work)
    remote = bare(folder / "work.git")
    git("push", "-q", remote, "main", cwd=work)
    before = refs_of(remote)
    one.home.remote_add("wrong", str(remote))
    with pytest.raises(NotAHome, match=r"not an agent home"):
        one.home.sync("wrong")
    git("branch", "-m", "main", "trunk", cwd=remote)
    with pytest.raises(NotAHome, match="neither a branch main"):
        one.home.sync("wrong")
    assert [*refs_of(remote).values()] == [*before.values()]
    assert git("for-each-ref", "refs/remotes/wrong/", cwd=one.root) == ""


@pytest.mark.slow
def test_another_home_is_refused(folder: Path, one: Machine) -> None:
    """K1: the home ids differ, and nothing moves."""
    AgentHome.create(folder / "bert", "bert")
    set_identity(folder / "bert")
    bert = AgentHome.open(folder / "bert")
    bert.remote_add("origin", str(one.remote))
    with pytest.raises(OtherHome) as caught:
        bert.sync()
    assert caught.value.exit_code == HomeError.exit_code
    assert git("for-each-ref", "refs/remotes/", cwd=bert.layout.root) == ""
    bert.close()


@pytest.mark.slow
def test_a_checked_out_branch_is_not_pushed_to(folder: Path, one: Machine) -> None:
    """A remote in whose files somebody works keeps its branch; the turns travel all the same."""
    git("clone", "-q", one.remote, folder / "worked", cwd=folder)
    one.home.remote_add("worked", str(folder / "worked"))
    one.commit({"notes/more.md": "more\n"})
    one.say("Said for the other remote")
    before = git("rev-parse", "main", cwd=folder / "worked")
    with pytest.raises(RefusedError) as caught:
        one.home.sync("worked")
    assert "bare" in (caught.value.hint or "")
    assert git("rev-parse", "main", cwd=folder / "worked") == before
    assert one.line in git("for-each-ref", cwd=folder / "worked")


@pytest.mark.slow
def test_a_dry_run_moves_nothing(one: Machine, two: Machine) -> None:
    """It says what would be done, here and there."""
    one.commit({"notes/a.md": "1\nours\n3\n4\n5\n"})
    one.sync()
    two.commit({"notes/a.md": "1\ntheirs\n3\n4\n5\n"})
    two.say("Said, and not sent")
    before = refs_of(one.remote), refs_of(two.root), two.head
    reply = two.sync(dry_run=True)
    assert reply.dry_run
    assert (reply.merged, reply.lines.pushed, reply.branch.pushed) == (1, 1, 2)
    assert len(reply.conflicts) == 1
    assert (refs_of(one.remote), refs_of(two.root), two.head) == before


@pytest.mark.slow
def test_a_home_without_remotes_says_so(folder: Path) -> None:
    """And names the command that adds one."""
    AgentHome.create(folder / "alone", "aria")
    with AgentHome.open(folder / "alone") as home, pytest.raises(NotFound, match="no remote"):
        home.sync()


@pytest.mark.slow
def test_a_remote_that_never_answers_holds_up_nobody(one: Machine) -> None:
    """OPEN-GIT-21: the sync ends in its time, turns and searches go on, and no lock is left."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        git("remote", "set-url", "origin", f"git://127.0.0.1:{server.getsockname()[1]}/x", cwd=one.root)
        failed: list[BaseException] = []

        def sync() -> None:
            try:
                one.sync(timeout=3.0)
            except RemoteTimeout as error:
                failed.append(error)

        thread = threading.Thread(target=sync)
        thread.start()
        connection, _ = server.accept()  # from here on it waits for an answer
        began = time.monotonic()
        other = Machine(one.root, one.remote)
        receipt = other.home.record([{"kind": "message", "role": "user", "text": "Said meanwhile"}])
        assert receipt.committed
        assert other.hears("Said meanwhile")
        assert other.home.note_edit("b.md", content="written meanwhile\n", by="agent").committed
        assert thread.is_alive()
        assert time.monotonic() - began < 3.0
        thread.join(30.0)
        connection.close()
        other.close()
    assert len(failed) == 1
    assert [path for path in (one.root / ".git").rglob("*.lock") if "gitmem" not in path.parts] == []
    assert one.home.status().remotes[0].error


# Tags of episodes


def tag(machine: Machine, name: str, digest: str) -> str:
    """Make an annotated tag as those of episodes are; return its id."""
    words = f"x (1 turn)\n\nGitmem-Episode: {name}\nGitmem-Digest: {digest}\n"
    git("tag", "-a", "-m", words, f"episode/{name}", cwd=machine.root)
    return git("rev-parse", f"refs/tags/episode/{name}", cwd=machine.root)


@pytest.mark.slow
def test_tags_of_episodes_go_both_ways(one: Machine, two: Machine) -> None:
    """OPEN-GIT-05: what lives behind a tag is on the other machine too."""
    mine, theirs = tag(one, "epi_1", "aa"), tag(two, "epi_2", "bb")
    assert one.sync().episodes == {"fetched": 0, "pushed": 1}
    assert two.sync().episodes == {"fetched": 1, "pushed": 1}
    assert one.sync().episodes == {"fetched": 1, "pushed": 0}
    assert git("rev-parse", "refs/tags/episode/epi_2", cwd=one.root) == theirs
    assert git("rev-parse", "refs/tags/episode/epi_1", cwd=two.root) == mine


def test_a_moved_tag_is_refused_and_reported_with_both_ids(one: Machine, two: Machine) -> None:
    """OPEN-GIT-04: a fetch never changes what an episode is."""
    mine = tag(one, "epi_1", "aa")
    one.sync()
    two.sync()
    git("tag", "-d", "episode/epi_1", cwd=one.remote)
    git("-c", "core.hooksPath=/dev/null", "tag", "-d", "episode/epi_1", cwd=two.root)
    theirs = tag(two, "epi_1", "ff")
    git("push", "-q", "origin", "refs/tags/episode/epi_1", cwd=two.root)
    reply = one.sync()
    assert [(t.id, t.here, t.there) for t in reply.moved_tags] == [("episode/epi_1", mine, theirs)]
    assert reply.exit_code == 20
    assert git("rev-parse", "refs/tags/episode/epi_1", cwd=one.root) == mine
    found = [finding for finding in one.home.status().findings if finding.id == "sync"]
    assert [finding.exit_code for finding in found] == [20]
    assert mine in found[0].message
    assert theirs in found[0].message


@pytest.mark.slow
def test_a_tag_that_says_the_same_is_no_other(one: Machine, two: Machine) -> None:
    """E: tags agree if their words do, whatever their commits are; the local one stays."""
    mine = tag(one, "epi_1", "aa")
    one.sync()
    two.commit({"notes/z.md": "z\n"})
    theirs = tag(two, "epi_1", "aa")
    assert mine != theirs
    assert two.sync().exit_code == 0
    assert git("rev-parse", "refs/tags/episode/epi_1", cwd=two.root) == theirs


def test_a_folder_that_holds_a_name_twice_is_not_taken(one: Machine, folder: Path) -> None:
    """Git never writes such a tree: `git fsck` here would fail for ever, and a file look deleted."""
    set_identity(one.remote)
    before = one.head
    listed = git("ls-tree", "main", cwd=one.remote)
    again = next(row for row in listed.splitlines() if row.endswith("\tgitmem.toml"))
    tree = git("mktree", cwd=one.remote, stdin=f"{listed}\n{again}\n")
    damaged = git("commit-tree", tree, "-p", "main", "-m", "damaged", cwd=one.remote)
    git("update-ref", "refs/heads/main", damaged, cwd=one.remote)
    one.say("Said all the same")
    reply = one.sync()
    assert "gitmem.toml twice" in (reply.branch.reason or "")
    assert reply.lines.pushed == 1
    assert (one.head, one.status) == (before, "")
    with pytest.raises(RemoteMisbehaved, match="twice"):
        AgentHome.clone(str(one.remote), folder / "clone")
    assert not (folder / "clone").exists()
    git("update-ref", "refs/heads/main", before, cwd=one.remote)
    assert one.sync().branch.reason is None


# Clones


@pytest.mark.slow
def test_a_shallow_clone_syncs_both_ways(folder: Path, one: Machine) -> None:
    """OPEN-GIT-29: history that is cut off is no reason to fail, nor to merge without knowing from where."""
    one.commit({"notes/a.md": "1\n2\n3\n4\nfive\n"})
    one.sync()
    git("clone", "-q", "--depth", "1", "--no-single-branch", f"file://{one.remote}", folder / "s", cwd=folder)
    set_identity(folder / "s")
    shallow = Machine(folder / "s", one.remote)
    shallow.say("Said in a shallow clone")
    shallow.commit({"notes/s.md": "s\n"})
    one.commit({"notes/o.md": "o\n"})
    one.sync()
    assert shallow.sync().exit_code == 0
    assert one.sync().exit_code == 0
    assert one.text("notes/s.md") == "s\n"
    assert one.hears("shallow clone")
    assert shallow.text("notes/o.md") == "o\n"
    shallow.close()


@pytest.mark.slow
def test_a_line_that_went_silent_is_pruned_and_may_return(one: Machine, two: Machine) -> None:
    """W4: its records stay in the line that contains them; what it says later comes at its full length."""
    two.say("Said long ago")
    two.sync()
    one.sync()
    long_ago = int(time.time())
    while int(time.time()) == long_ago:  # commits tell whole seconds
        time.sleep(0.02)
    for number in range(3):
        one.say(f"Said after it, {number}")  # now this line contains the other one
        other = next_machine(one.root.parent, f"more{number}", one.remote)
        other.say(f"Said by another, {number}")
        other.sync()
        other.close()
    one.sync()
    later = AgentHome.open(one.root, now=lambda: time.time() + 40 * 24 * 3600)
    reply = later.sync()
    assert [*reply.lines.pruned] == [two.line.rpartition("/")[2]]
    later.close()
    assert two.line not in refs_of(one.remote)
    assert one.sync().exit_code == 0
    assert one.hears("long ago")
    assert two.sync().lines.pushed == 0  # nothing new: the remote has all of it
    assert two.line not in refs_of(one.remote)
    two.say("Said again")
    two.sync()
    one.sync()
    assert one.hears("Said again")
    assert set(one.records().values()) == {1}


@pytest.mark.slow
def test_what_the_command_line_answers(folder: Path, one: Machine, two: Machine) -> None:
    """Exit codes tell apart what is done, what waits, what is wrong and what failed."""
    said = gitmem("sync", cwd=one.root)
    assert (said.code, said.out) == (0, "Synced with origin: nothing to do.\n")
    one.commit({"notes/a.md": "1\nours\n3\n4\n5\n"})
    two.commit({"notes/a.md": "1\ntheirs\n3\n4\n5\n"})
    assert "1 commit sent" in gitmem("sync", cwd=one.root).out
    said = gitmem("sync", cwd=two.root)
    assert said.code == 12
    assert "gitmem resolve" in said.out
    assert gitmem("sync", "--remote", "nowhere", "--json", cwd=one.root).json["error"]["code"] == "not_found"
    one.remote.rename(folder / "gone.git")
    failed = gitmem("sync", "--json", cwd=one.root)
    assert failed.code == 13
    assert failed.json["error"]["code"].startswith("remote_")


@pytest.mark.slow
def test_two_remotes_come_to_rest(folder: Path, one: Machine, two: Machine) -> None:
    """Machines that sync with several remotes do not merge each other's merges for ever."""
    second = bare(folder / "second.git")
    for number, machine in enumerate((one, two)):
        machine.home.remote_add("backup", str(second))
        machine.commit({f"notes/m{number}.md": "m\n"})
    one.home.sync("origin")
    two.home.sync("backup")

    def rounds() -> set[str]:
        heads = set()
        for _ in range(3):
            for machine in (one, two):
                assert machine.home.sync("origin").exit_code == 0
                assert machine.home.sync("backup").exit_code == 0
            heads |= {one.head, two.head}
        return heads

    rounds()
    rest = {one.head, two.head}
    assert rounds() <= rest
    trees = {git("rev-parse", "HEAD^{tree}", cwd=machine.root) for machine in (one, two)}
    assert len(trees) == 1
    one.commit({"notes/later.md": "later\n"})
    for machine in (one, two, one):
        machine.home.sync("origin")
        machine.home.sync("backup")
    assert two.text("notes/later.md") == "later\n"


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_half_done(one: Machine) -> None:
    """Whoever has waited long enough ends it; the home is as it was, and no lock stays."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        git("remote", "set-url", "origin", f"git://127.0.0.1:{server.getsockname()[1]}/x", cwd=one.root)
        process = subprocess.Popen(
            [sys.executable, "-m", "gitmem", "sync"],
            cwd=one.root,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        connection, _ = server.accept()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20.0)
        connection.close()
    assert process.returncode == 130
    assert [path for path in (one.root / ".git").rglob("*.lock") if "gitmem" not in path.parts] == []
    git("remote", "set-url", "origin", str(one.remote), cwd=one.root)
    assert one.sync().exit_code == 0


@pytest.mark.slow
def test_a_linked_work_tree_syncs_its_own_branch(folder: Path, one: Machine) -> None:
    """It has a writer and a branch of its own; what is on the remote already is not counted again."""
    git("worktree", "add", "-q", "-b", "side", folder / "side", cwd=one.root)
    linked = Machine(folder / "side", one.remote)
    linked.say("Said in a linked work tree")
    linked.commit({"notes/side.md": "s\n"})
    reply = linked.sync()
    assert (reply.branch.name, reply.branch.pushed, reply.lines.pushed) == ("side", 1, 1)
    assert one.hears("linked work tree")
    linked.close()
