"""Sync as people met it elsewhere: what went wrong for them holds here, on both machines."""

from __future__ import annotations

import getpass
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import Machine, copied_machine, first_machine, next_machine

from fixtures import fsck, git, run_git, set_identity
from gitmem import AgentHome
from gitmem.errors import GitmemError

pytestmark = pytest.mark.slow


def _make(path: Path) -> None:
    one = first_machine(path)
    next_machine(path, "b", one.remote).close()
    one.close()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    """Two machines that know each other's turns and files."""
    _make(tmp_path)
    remote = tmp_path / "remote.git"
    one, two = Machine(tmp_path / "a", remote), Machine(tmp_path / "b", remote)
    yield one, two
    one.close()
    two.close()


def meet(*machines: Machine, times: int = 1) -> None:
    """Sync until everything is everywhere; no record stands in the ledger more often than `times`."""
    for machine in (*machines, *machines):
        machine.sync()
    assert len({git("rev-parse", "HEAD^{tree}", cwd=machine.root) for machine in machines}) == 1
    records = [machine.records() for machine in machines]
    assert all(one == records[0] for one in records)
    assert set(records[0].values()) == {*range(1, times + 1)}


def live_text(machine: Machine) -> str:
    """Return all text of the branch, copies of conflicts included."""
    return git("grep", "-h", "", "HEAD", cwd=machine.root)


# The branch


def test_two_bases_are_a_conflict_and_both_texts_stay(pair: tuple[Machine, Machine]) -> None:
    """OPEN-GIT-07: a criss-cross merge, in which each kept its own text, once passed for clean elsewhere."""
    one, two = pair
    for machine, word in ((one, "from one"), (two, "from two")):
        machine.commit({"memory/self.md": f"{word}\nsecond\n"})
        git("push", "-q", "origin", f"HEAD:refs/heads/{machine.root.name}", cwd=machine.root)
    for machine, other in ((one, "b"), (two, "a")):
        git("fetch", "-q", "origin", other, cwd=machine.root)
        git("merge", "-q", "-s", "ours", "--no-edit", "FETCH_HEAD", cwd=machine.root)
    one.sync()
    reply = two.sync()
    assert reply.exit_code == 12
    assert [conflict["path"] for conflict in reply.conflicts] == ["memory/self.md"]
    assert {"from one", "from two"} <= {*live_text(two).splitlines()}
    assert "<<<<" not in live_text(two)
    meet(one, two)


def test_two_who_append_to_one_file(pair: tuple[Machine, Machine]) -> None:
    """OPEN-GIT-06: what merges needs no package that is not there; both lines stay, without a conflict."""
    one, two = pair
    for machine in pair:
        path = machine.root / "memory" / "self.md"
        machine.commit({"memory/self.md": f"{path.read_text()}I am on {machine.root.name}.\n"})
    one.sync()
    assert two.sync().exit_code == 0
    meet(one, two)
    assert "I am on a." in one.text("memory/self.md")
    assert "I am on b." in one.text("memory/self.md")


def test_a_branch_that_was_rewritten_on_the_remote(pair: tuple[Machine, Machine]) -> None:
    """OPEN-GIT-23: what was pushed is amended and forced; the index follows, nothing is forced back."""
    one, two = pair
    two.commit({"notes/wrong.md": "spelled badly\n", "notes/kept.md": "kept\n"})
    meet(two, one)
    (two.root / "notes" / "wrong.md").unlink()
    (two.root / "notes" / "right.md").write_text("spelled well\n")
    git("add", "-A", "notes", cwd=two.root)
    git("commit", "-q", "--amend", "--no-edit", cwd=two.root)
    git("push", "-q", "--force", "origin", "main", cwd=two.root)
    reply = one.sync()
    assert any("was rewritten" in warning for warning in reply.warnings)
    meet(one, two)
    for machine in pair:
        git("reflog", "expire", "--expire=now", "--all", cwd=machine.root)
        git("gc", "-q", "--prune=now", cwd=machine.root)
        machine.home.catch_up()
        assert not machine.home.is_index_behind()
        assert machine.home.search("spelled well", kind="note").results
        fsck(machine.root)


@pytest.mark.parametrize(
    "names", [("notes/Caf\u00e9.md", "notes/Cafe\u0301.md"), ("notes/Plan.md", "notes/plan.md")]
)
def test_two_names_that_are_one_elsewhere(pair: tuple[Machine, Machine], names: tuple[str, str]) -> None:
    """OPEN-GIT-25, OPEN-GIT-28: two forms or cases of one name are told, both are kept, none is picked."""
    one, two = pair
    one.commit({names[0]: "first coffee\n"})
    two.commit({names[1]: "second coffee\n"})
    one.sync()
    reply = two.sync()
    assert any(names[0] in warning and names[1] in warning for warning in reply.warnings)
    meet(one, two)
    for machine in pair:
        refs = {hit.source_ref for hit in machine.home.search("coffee", kind="note").results}
        assert len(refs) == 2
        assert machine.home.notes().twins
        assert {machine.home.note_show(name).body.strip() for name in names} == {
            "first coffee", "second coffee",
        }  # fmt: skip


def test_a_move_is_whole_on_a_fresh_clone(tmp_path: Path, pair: tuple[Machine, Machine]) -> None:
    """OPEN-AGENT-15: half a move let the old note return on the next clone."""
    one, _ = pair
    one.home.note_add("a2.md", content="# Ports\n\nThe quokka port is 2323.\n")
    one.home.note_move("notes/a2.md", "archive/a2.md")
    rows = git("show", "--no-renames", "--name-status", "--format=", "HEAD", cwd=one.root).splitlines()
    assert rows == ["D\tnotes/a2.md", "A\tnotes/archive/a2.md"]
    one.sync()
    three = next_machine(tmp_path, "c", one.remote)
    assert not (three.root / "notes" / "a2.md").exists()
    (hit,) = three.home.search("quokka port", kind="note").results
    assert hit.path == "notes/archive/a2.md"
    commits = git("log", "--follow", "--format=%s", "--", "notes/archive/a2.md", cwd=three.root)
    assert len(commits.splitlines()) == 2
    three.close()


def test_a_new_note_under_an_old_name_is_another(pair: tuple[Machine, Machine]) -> None:
    """OPEN-AGENT-16: an id made of the title let the new note go the way of the deleted one."""
    one, two = pair
    old = one.home.note_add("feature-x.md", content="# Feature X\n\nThe old wombat plan.\n").source_ref
    meet(one, two)
    one.home.note_remove("notes/feature-x.md")
    meet(one, two)
    new = two.home.note_add("feature-x.md", content="# Feature X\n\nThe new numbat plan.\n").source_ref
    meet(two, one)
    assert old is not None
    assert new != old
    for machine in pair:
        assert "numbat" in machine.text("notes/feature-x.md")
        assert [hit.source_ref for hit in machine.home.search("numbat plan", kind="note").results] == [new]
        with pytest.raises(GitmemError) as caught:
            machine.home.get(old)
        assert "numbat" not in str(caught.value)


# Records


def test_what_both_imported_is_there_once(tmp_path: Path, pair: tuple[Machine, Machine]) -> None:
    """OPEN-LEDGER-06: a union merge doubled blocks that both had appended."""
    rows = [
        {"kind": "message", "role": "user", "text": f"imported {n}", "source": "old", "source_id": f"m{n}"}
        for n in range(3)
    ]
    file = tmp_path / "old.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for machine in pair:
        machine.home.import_jsonl(file)
        machine.say(f"own of {machine.root.name}")
    meet(*pair, times=2)  # each line stays on the line of its writer; readers show one
    orders = [[line.id for line in machine.home.ledger.lines_newest_first()] for machine in pair]
    assert orders[0] == orders[1]
    for machine in pair:
        for n in range(3):
            hits = [hit.source_ref for hit in machine.home.search(f"imported {n}").results]
            assert len(hits) == len({*hits})
            assert machine.home.get(hits[0]).content.count(f"imported {n}") == 1
        assert machine.hears("own of a")
        assert machine.hears("own of b")


def test_rules_of_gits_attributes_do_not_matter(pair: tuple[Machine, Machine]) -> None:
    """OPEN-LEDGER-07: only Git's own program heeds `merge=union`; nobody's ledger gets conflict markers."""
    one, two = pair
    one.commit({".gitattributes": f"{one.text('.gitattributes')}ledger/**/*.jsonl merge=union\n"})
    meet(one, two)
    for machine in pair:
        machine.say(f"a record of {machine.root.name}")
        machine.commit({f"notes/{machine.root.name}.md": "x\n"})
    one.sync()
    git("fetch", "-q", "origin", cwd=two.root)
    git("merge", "-q", "--no-edit", "origin/main", cwd=two.root)
    meet(two, one)
    for machine in pair:
        assert machine.hears("a record of a")
        assert machine.hears("a record of b")
        assert machine.ledger_on_disk() == machine.ledger_in_git()
        assert not any(line.startswith(("<<<<", ">>>>")) for line in machine.ledger_on_disk())
        assert machine.home.verify(full=True).ok


@pytest.mark.parametrize("way", ["clones", "copies"])
def test_two_who_count_on_from_one_number(tmp_path: Path, pair: tuple[Machine, Machine], way: str) -> None:
    """OPEN-LEDGER-08: counters gave two events one id, and merging kept one of them."""
    one, two = pair
    if way == "copies":
        two = copied_machine(one, tmp_path / "c")
    said = [one.say("offline here"), two.say("offline there")]
    assert said[0] != said[1]
    meet(one, two)
    orders = [[line.id for line in machine.home.ledger.lines_newest_first()] for machine in (one, two)]
    assert orders[0] == orders[1]
    for machine in (one, two):
        assert machine.hears("offline here")
        assert machine.hears("offline there")
    if way == "copies":
        two.close()


def test_a_fresh_clone_that_forgets_leaves_no_word_on_any_disk(
    tmp_path: Path, pair: tuple[Machine, Machine]
) -> None:
    """Its first turn holds the receipt, but not the segment: copies on disk once took it for unchanged."""
    one, two = pair
    ref = one.say("The wombat code is 4711")
    meet(one, two)
    three = next_machine(tmp_path, "c", one.remote)
    three.home.forget(ref)
    meet(three, one, two)
    for machine in (one, two, three):
        assert not any("wombat" in line for line in machine.ledger_on_disk())
        assert machine.home.verify(full=True).ok
    three.close()


def test_nothing_of_the_machine_goes_along(tmp_path: Path) -> None:
    """OPEN-AGENT-14: a path or a login name that was in a record left the machine with the first push."""
    folder = tmp_path / "Users" / "zebulon.quist"
    folder.mkdir(parents=True)
    one = first_machine(folder)
    with one.home.turn(session="s1") as turn:
        turn.message("user", "Do it")
        turn.tool("bash", "ls", "a b")
    one.home.note_add("n.md", content="# N\n\ntext\n")
    one.home.entries("memory").add("A fact.")
    one.home.work_create("Do more", plan="First this.")
    one.home.record([{"kind": "session", "event": "start"}], session="s1")
    one.home.context(input="what is up", session="s1")
    one.home.episode_close("s1")
    one.sync()
    one.close()
    told = run_git("cat-file", "--batch-all-objects", "--batch", cwd=one.remote).stdout
    refs = git("for-each-ref", cwd=one.remote).encode()
    for secret in ("zebulon", str(tmp_path), socket.gethostname(), f"/{getpass.getuser()}/"):
        assert secret.encode() not in told + refs, secret


# What operators do


@pytest.mark.parametrize("option", ["--single-branch", "--no-tags", "--depth=1"])
def test_clones_that_lack_something(tmp_path: Path, pair: tuple[Machine, Machine], option: str) -> None:
    """Without tags, of one branch or of the newest commit: its first sync makes a clone a whole home."""
    one, _ = pair
    one.home.episode_close("s1")
    one.sync()
    git("clone", "-q", option, f"file://{one.remote}", tmp_path / "c", cwd=tmp_path)
    set_identity(tmp_path / "c")
    three = Machine(tmp_path / "c", one.remote)
    three.say("Said by the third")
    three.commit({"notes/c.md": "c\n"})
    three.sync()
    one.sync()
    assert three.hears("2222")
    assert one.hears("Said by the third")
    assert one.text("notes/c.md") == "c\n"
    tags = [git("tag", "--list", "episode/*", cwd=machine.root) for machine in (one, three)]
    assert tags[0] == tags[1] != ""
    three.close()


def test_a_mirrored_push_takes_no_turn_away(tmp_path: Path, pair: tuple[Machine, Machine]) -> None:
    """`git push --mirror` deletes every ref that the pushing clone does not have under that name."""
    one, two = pair
    two.say("Only the second machine said this")
    two.commit({"notes/two.md": "two\n"})
    two.sync()
    one.sync()
    git("push", "-q", "--mirror", "origin", cwd=one.root)
    one.say("Said after the mirror")
    meet(one, two)
    three = next_machine(tmp_path, "c", one.remote)
    for machine in (one, two, three):
        assert machine.hears("Only the second machine said this")
        assert machine.text("notes/two.md") == "two\n"
    three.close()


def test_a_remote_that_was_made_anew(tmp_path: Path, pair: tuple[Machine, Machine]) -> None:
    """A server was lost, and an empty repository stands in its place: whoever syncs first fills it."""
    one, two = pair
    two.say("Said before the loss")
    meet(two, one)
    one.remote.rename(tmp_path / "lost.git")
    git("init", "-q", "--bare", "-b", "main", one.remote, cwd=tmp_path)
    one.say("Said after the loss")
    meet(one, two)
    three = next_machine(tmp_path, "c", one.remote)
    assert three.records() == one.records()
    three.close()


def test_a_remote_that_was_restored_from_an_old_backup(tmp_path: Path, pair: tuple[Machine, Machine]) -> None:
    """What the server lost since comes back from whoever has it, by ordinary pushes."""
    one, two = pair
    git("clone", "-q", "--mirror", one.remote, tmp_path / "backup.git", cwd=tmp_path)
    for machine in pair:
        machine.say(f"Newer than the backup, by {machine.root.name}")
        machine.commit({f"notes/{machine.root.name}.md": "newer\n"})
    meet(one, two)
    one.remote.rename(tmp_path / "lost.git")
    (tmp_path / "backup.git").rename(one.remote)
    meet(one, two)
    three = next_machine(tmp_path, "c", one.remote)
    assert three.records() == one.records()
    assert three.text("notes/a.md") == three.text("notes/b.md") == "newer\n"
    three.close()


def test_a_second_work_tree_is_a_writer_of_its_own(tmp_path: Path, pair: tuple[Machine, Machine]) -> None:
    """Work trees of one repository share its refs: each goes on with its own line, and both travel."""
    one, two = pair
    git("worktree", "add", "-q", "-b", "side", tmp_path / "side", cwd=one.root)
    with AgentHome.open(tmp_path / "side") as side:
        side.record([{"kind": "message", "role": "user", "text": "Said in the second work tree"}])
    one.say("Said in the first work tree")
    meet(one, two)
    assert two.hears("Said in the second work tree")
    assert two.hears("Said in the first work tree")
