"""Forgetting on real homes: no reader has anything of it, the chain holds, and it does not come back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from forget_readers import files_with, refs_of, speakers
from homes import new_home
from machines import first_machine, next_machine
from system.command_line import gitmem

from fixtures import git, head, write_files
from gitmem import AgentHome
from gitmem.errors import RefusedError, Unavailable, UnknownSource, UsageError
from gitmem.forgetting_record import Forgetting, forgetting_event
from gitmem.git_objects import hash_object
from gitmem.memory_files import file_id

WORD = "zebrafisch"
MEMORY = "memory/MEMORY.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of a new home with an operator."""
    new_home(tmp_path / "home", operator=True).close()
    return tmp_path / "home"


@pytest.fixture
def home(root: Path) -> Iterator[AgentHome]:
    """That home, open."""
    with AgentHome.open(root) as opened:
        yield opened


def say(home: AgentHome, text: str = f"The hint is {WORD}.") -> str:
    """Record a turn with this text; return the message's ref."""
    events = [{"kind": "message", "role": "user", "text": "Which port?"}]
    events.append({"kind": "message", "role": "assistant", "text": text})
    return str(home.record(events, session="s1").records[1]["source_ref"])


def is_redacted(home: AgentHome, ref: str) -> bool:
    """Say whether a ref answers that what it named was forgotten."""
    with pytest.raises(Unavailable) as raised:
        home.get(ref)
    return bool(raised.value.details["reason"] == "redacted")


def check_silent(home: AgentHome, root: Path, refs: list[str]) -> None:
    """Fail if anything says the word, in this process or the next, or if anything is not whole."""
    assert speakers(home, root, WORD, refs) == []
    with AgentHome.open(root) as other:
        assert speakers(other, root, WORD, refs) == []
        found = other.verify(full=True)
        assert [one for one in found.findings if one.severity == "error"] == []


class TestRecords:
    """What stands in the ledger."""

    def test_a_message(self, home: AgentHome, root: Path) -> None:
        """It becomes a stub in its segment; its neighbours, and the chain, stay as they are."""
        ref = say(home)
        kept = say(home, "The port is 2222.")
        home.catch_up()
        reply = home.forget(ref, reason="private", by="operator")
        assert reply.committed is not None
        assert reply.receipts == (f"record/{ref.removeprefix('message:')}",)
        assert is_redacted(home, ref)
        assert home.get(kept).content == "The port is 2222."
        check_silent(home, root, [*refs_of(home)])

    def test_a_long_text_goes_with_its_record(self, home: AgentHome, root: Path) -> None:
        """Its blob is on no turn line's tip and not on disk."""
        with home.turn(session="s1") as turn:
            ref = turn.tool("bash", f"echo {WORD}", f"{WORD}\n" * 5_000)
        assert [*root.glob("ledger/blobs/*/*/*")]
        home.forget(ref)
        assert not [*root.glob("ledger/blobs/*/*/*")]
        assert is_redacted(home, ref)
        check_silent(home, root, [*refs_of(home)])

    @pytest.mark.parametrize("kind", ["brief", "decision", "session", "task", "wait"])
    def test_every_kind(self, home: AgentHome, root: Path, kind: str) -> None:
        """Whatever a turn told can be forgotten; a lifecycle object with all its snapshots."""
        with home.turn(session="s1") as turn:
            refs = {
                "brief": turn.brief("result", f"{WORD} works"),
                "decision": turn.decision("Go on", because=WORD),
                "session": turn.event("session", event="title", title=f"On {WORD}"),
                "task": turn.event("task", task_id="t1", status="running", summary=WORD),
                "wait": turn.event(
                    "wait", wait_id="w1", wait_kind="operator", status="active", waiting_for=WORD
                ),
            }
        with home.turn(session="s1") as turn:
            turn.event("task", task_id="t1", status="completed", summary=f"{WORD} done")
        home.forget(refs[kind])
        assert is_redacted(home, refs[kind])
        for other in refs.keys() - {kind}:
            assert WORD in json.dumps([home.get(refs[other]).title, home.get(refs[other]).content])
        home.forget_matching(WORD)
        check_silent(home, root, [*refs_of(home), *refs.values()])

    def test_a_turn_and_a_session(self, home: AgentHome, root: Path) -> None:
        """All their records go, and both names answer that they were forgotten."""
        first = home.record([{"kind": "message", "role": "user", "text": f"{WORD} one"}], session="s1")
        home.record([{"kind": "message", "role": "user", "text": f"{WORD} two"}], session="s1")
        home.record([{"kind": "message", "role": "user", "text": "other"}], session="s2")
        home.forget(f"turn:{first.turn_id}")
        assert is_redacted(home, f"turn:{first.turn_id}")
        assert WORD in home.get("session:s1").content
        home.forget("session:s1")
        assert is_redacted(home, "session:s1")
        assert "other" in home.get("session:s2").content
        check_silent(home, root, [*refs_of(home)])

    def test_what_is_only_spooled(self, root: Path) -> None:
        """A turn that several processes feed loses the event at once, and is sealed without it."""
        with AgentHome.open(root) as home:
            turn = home.turn_open(session="s1")
            rows = home.turn_add(
                [{"kind": "message", "role": "user", "text": text} for text in (WORD, "stays")], turn
            )
            home.forget(rows[0]["source_ref"])
            assert files_with(root, WORD) == []
            home.turn_close(turn=turn)
            assert home.get(rows[1]["source_ref"]).content == "stays"
            check_silent(home, root, [*refs_of(home)])

    def test_twice_and_unknown(self, home: AgentHome) -> None:
        """The second time says what the first did and writes nothing; what never was is not found."""
        ref = say(home)
        first = home.forget(ref)
        again = home.forget(ref)
        assert (again.unchanged, again.turn_id, again.receipts) == (True, None, first.receipts)
        for unknown in ("message:msg_000000000000000", "entry:000000000000000", "session:none", "note:none"):
            with pytest.raises(UnknownSource):
                home.forget(unknown)
        for wrong in ("workspace:w1", f"file:{file_id('gitmem.toml')}"):
            with pytest.raises(UsageError):
                home.forget(wrong)

    def test_a_dry_run_changes_nothing(self, home: AgentHome, root: Path) -> None:
        """It lists what would go, and no ref moves."""
        ref = say(home)
        before = git("for-each-ref", cwd=root)
        reply = home.forget(ref, dry_run=True)
        assert [row["source_ref"] for row in reply.forgotten] == [ref]
        assert reply.dry_run
        assert git("for-each-ref", cwd=root) == before
        assert home.get(ref).content == f"The hint is {WORD}."

    def test_its_own_record_is_never_forgotten(self, home: AgentHome) -> None:
        """What says that a thing was forgotten has no words, and is what refs answer by."""
        home.forget(say(home))
        record = next(one for one in home.ledger.find_all(b'"forget"') if one.kind == "memory")
        with pytest.raises(UsageError):
            home.forget(record.source_ref)


class TestFiles:
    """What stands on the operator's branch."""

    def test_an_entry(self, home: AgentHome, root: Path) -> None:
        """It leaves the store in one commit; the others stay, and so does a frozen block without it."""
        ref = home.entries("memory").add(f"{WORD} is the hint.").source_ref
        home.entries("memory").add("The port is 2222.")
        assert WORD in str(home.session("s1").prompt_block())
        home.catch_up()
        before = head(root)
        reply = home.forget(str(ref), by="operator")
        assert git("rev-list", f"{before}..HEAD", cwd=root).split() == [reply.branch_committed]
        assert (root / MEMORY).read_text() == "The port is 2222.\n"
        assert is_redacted(home, str(ref))
        assert "2222" in str(home.session("s1").prompt_block())
        check_silent(home, root, [*refs_of(home), str(ref)])

    @pytest.mark.parametrize("by", ["agent", "operator"])
    def test_it_cannot_be_added_again(self, home: AgentHome, root: Path, by: str) -> None:
        """No door takes it; typed back by hand it is read by nobody, and goes with the next write."""
        home.entries("memory").add(f"{WORD} is the hint.")
        home.forget_matching(WORD)
        reply = home.entries("memory").add(f"{WORD} is the hint.", by=by)
        assert not reply.success
        assert WORD not in json.dumps(reply.to_json())
        write_files(root, {MEMORY: f"Typed.\n§\n{WORD} is the hint.\n"})
        assert home.entries("memory").texts == ["Typed."]
        with pytest.raises(RefusedError) as raised:
            home.commit()
        assert WORD not in raised.value.message
        home.entries("memory").add("Goes on.", by=by)
        assert (root / MEMORY).read_text() == "Typed.\n§\nGoes on.\n"

    def test_retracted_and_removed_entries(self, home: AgentHome, root: Path) -> None:
        """The record of a retraction keeps an entry's words: it goes as well. So does what history has."""
        store = home.entries("memory")
        refs = [str(store.add(f"{WORD} number {n}.").source_ref) for n in range(2)]
        home.retract(refs[0], by="operator", reason="wrong")
        store.remove(f"{WORD} number 1.")
        for ref in refs:
            home.forget(ref)
            assert is_redacted(home, ref)
        check_silent(home, root, [*refs_of(home), *refs])

    def test_a_note_with_all_versions(self, home: AgentHome, root: Path) -> None:
        """Each version that its path had is listed, wherever it was moved."""
        ref = str(home.note_add("a.md", content=f"# A\n\n{WORD}\n").source_ref)
        home.note_edit("a.md", content=f"{WORD} again\n")
        home.note_move("a.md", "b.md")
        home.note_append("b.md", "more")
        home.catch_up()
        reply = home.forget(ref)
        assert len([one for one in reply.receipts if one.startswith("blob/")]) == 3
        assert not (root / "notes/b.md").exists()
        assert is_redacted(home, ref)
        check_silent(home, root, [*refs_of(home), ref])

    def test_a_removed_note(self, home: AgentHome, root: Path) -> None:
        """A note that is gone already is still in history, and is kept from coming back."""
        ref = str(home.note_add("a.md", content=f"# A\n\n{WORD}\n").source_ref)
        text = (root / "notes/a.md").read_bytes()
        home.note_remove("a.md")
        home.forget(ref)
        assert is_redacted(home, ref)
        (root / "notes/c.md").write_bytes(text)
        with pytest.raises(RefusedError):
            home.commit(["notes/c.md"])

    def test_a_note_that_git_brings_back(self, home: AgentHome, root: Path) -> None:
        """Whatever an operator's git puts on disk: no reader has it."""
        ref = str(home.note_add("a.md", content=f"# A\n\n{WORD}\n").source_ref)
        home.forget(ref)
        git("checkout", "-q", "HEAD~1", "--", "notes/a.md", cwd=root)
        home.catch_up()
        found = [one for one in speakers(home, root, WORD, [ref]) if one != "notes/a.md"]
        assert found == []

    def test_prose_and_a_plan_that_git_brings_back(self, home: AgentHome, root: Path) -> None:
        """Neither a prompt nor a work item has what lies on disk again."""
        home.memory_write("self", f"I like {WORD}.\n", by="operator")
        item = home.work_create("Move it", session="s1", plan=f"1. {WORD}").work_item_id
        plan = str(home.work_show(item).plan.path)
        home.forget("agent_memory:self")
        home.forget(f"file:{file_id(plan)}")
        git("checkout", "-q", "HEAD~2", "--", "memory/self.md", plan, cwd=root)
        assert WORD in (root / plan).read_text()
        assert [one.path for one in home.prose_sections()] == ["memory/operator.md"]
        home.catch_up()
        told = speakers(home, root, WORD)  # the records of the item keep its plan; it was not forgotten
        assert not {"prose", "prompt", "notes", "status"} & {*told}, told
        found = home.work_show(item).plan
        assert (found.exists, found.preview, found.problems) == (False, "", ["it was forgotten"])

    def test_an_episode_becomes_its_stub(self, home: AgentHome, root: Path) -> None:
        """Its file holds its id alone, its tag stays, and that is no tampering."""
        say(home)
        home.episode_close(session="s1")
        path = next(root.glob("episodes/*/*.md"))
        tags = git("show-ref", "--tags", cwd=root)
        name = home.episodes().episodes[0].id
        home.forget(f"episode:{name}")
        assert path.read_text() == f"---\nid: {name}\nforgotten: true\n---\n"
        assert git("show-ref", "--tags", cwd=root) == tags
        assert is_redacted(home, f"episode:{name}")
        home.forget_matching(WORD)
        check_silent(home, root, [*refs_of(home)])

    def test_what_an_episode_quotes(self, home: AgentHome, root: Path) -> None:
        """An account that quotes a forgotten message goes with it, as it is forgotten whole."""
        ref = say(home)
        home.episode_close(session="s1")
        reply = home.forget(ref)
        assert [row["kind"] for row in reply.forgotten] == ["message", "episode"]
        check_silent(home, root, [*refs_of(home)])

    def test_a_work_item(self, home: AgentHome, root: Path) -> None:
        """All snapshots, the plan's versions, the report and the episode; the item answers that it was."""
        item = home.work_create("Move it", session="s1", plan=f"1. {WORD}").work_item_id
        home.work_update(item, plan=f"1. {WORD}\n2. more", session="s1")
        home.work_complete(item, report=f"{WORD} is done", session="s1")
        home.forget(f"work_item:{item}")
        assert is_redacted(home, f"work_item:{item}")
        assert not [*root.glob("work/**/*.md")]
        check_silent(home, root, [*refs_of(home), f"work_item:{item}"])

    def test_a_passage(self, home: AgentHome, root: Path) -> None:
        """Edited out first, the note stays, and the versions that held it are listed."""
        home.note_add("a.md", content=f"# A\n\n{WORD}\n\nkept\n")
        home.note_edit("a.md", content="# A\n\nkept\n")
        reply = home.forget_matching(WORD)
        assert len(reply.receipts) == 1
        assert "kept" in (root / "notes/a.md").read_text()
        check_silent(home, root, [*refs_of(home)])

    def test_prose_memory(self, home: AgentHome, root: Path) -> None:
        """A whole file goes by its ref; the home's own file cannot."""
        home.memory_write("self", f"I like {WORD}.\n", by="operator")
        home.forget("agent_memory:self")
        assert not (root / "memory/self.md").exists()
        assert is_redacted(home, "agent_memory:self")
        check_silent(home, root, [*refs_of(home)])

    def test_proposals(self, home: AgentHome, root: Path) -> None:
        """A change that waits for an operator's word and holds it is dropped."""
        home.config_set("gitmem.writeApproval", "true")
        home.memory("add", content=f"{WORD} is the hint.")
        assert len(home.proposals()) == 1
        home.config_set("gitmem.writeApproval", "false")
        ref = str(home.memory("add", content=f"{WORD} is the hint.", by="operator").source_ref)
        home.forget(ref)
        assert home.proposals() == []
        check_silent(home, root, [*refs_of(home)])


def merging(root: Path) -> None:
    """Leave a merge in progress."""
    git("checkout", "-q", "-b", "side", cwd=root)
    write_files(root, {"README.md": "side\n"})
    git("commit", "-qam", "side", cwd=root)
    git("checkout", "-q", "main", cwd=root)
    write_files(root, {"README.md": "main\n"})
    git("commit", "-qam", "main", cwd=root)
    git("merge", "-q", "side", cwd=root, check=False)


def detached(root: Path) -> None:
    """Let HEAD name no branch."""
    git("checkout", "-q", "--detach", cwd=root)


class TestOperatorsState:
    """The operator's repository may be in any state: the receipts need no branch."""

    @pytest.mark.parametrize(
        ("begin", "end"),
        [
            (merging, lambda root: git("merge", "--abort", cwd=root)),
            (detached, lambda root: git("checkout", "-q", "main", cwd=root)),
        ],
        ids=["merge", "detached"],
    )
    def test_the_branch_part_waits(
        self, root: Path, begin: Callable[[Path], None], end: Callable[[Path], object]
    ) -> None:
        """In force and off the disk at once; the commit is made when the branch can take it."""
        with AgentHome.open(root) as home:
            ref = str(home.entries("memory").add(f"{WORD} is the hint.").source_ref)
        begin(root)
        with AgentHome.open(root) as home:
            reply = home.forget(ref)
            assert reply.committed is not None
            assert reply.branch_committed is None
            assert reply.branch_reason
            assert is_redacted(home, ref)
            assert WORD not in (root / MEMORY).read_text()
            assert files_with(root, WORD) == []
        end(root)
        with AgentHome.open(root) as home:
            home.catch_up()
            assert WORD not in git("show", f"HEAD:{MEMORY}", cwd=root)
            check_silent(home, root, [ref])

    def test_an_uncommitted_edit_is_not_lost(self, home: AgentHome, root: Path) -> None:
        """What an operator typed beside the entry stays; it is committed first, as found."""
        ref = str(home.entries("memory").add(f"{WORD} is the hint.").source_ref)
        (root / MEMORY).write_text(f"{WORD} is the hint.\n§\nTyped by hand.\n")
        home.forget(ref)
        assert (root / MEMORY).read_text() == "Typed by hand.\n"
        assert "Typed by hand." in git("show", f"HEAD:{MEMORY}", cwd=root)
        check_silent(home, root, [ref])

    def test_an_edit_of_a_forgotten_note_is_a_copy(self, home: AgentHome, root: Path) -> None:
        """Forgotten here, edited there: the edit is kept as a conflict copy, and is not live."""
        ref = str(home.note_add("a.md", content=f"# A\n\n{WORD}\n").source_ref)
        known = (root / "notes/a.md").read_bytes()
        (root / "notes/a.md").write_bytes(known.replace(WORD.encode(), b"typed"))
        # As another machine's receipt would: it lists what was committed, not what is typed here.
        what = Forgetting(blobs={hash_object("blob", known): "notes/a.md"})
        with home.turn() as turn:
            turn.tell(forgetting_event(what, at="2026-11-30T00:00:00.000Z", by="operator", reason=None))
        assert not (root / "notes/a.md").exists()
        copies = [*root.glob("conflicts/notes/a.md/*.md")]
        assert [copy.read_text().count("typed") for copy in copies] == [1]
        assert [one.path for one in home.conflicts()] == ["notes/a.md"]
        assert ref not in str(home.notes())

    def test_staged_text_of_that_file(self, home: AgentHome, root: Path) -> None:
        """A partly staged file keeps the operator's staging; the write waits, the receipts do not."""
        ref = str(home.entries("memory").add(f"{WORD} is the hint.").source_ref)
        (root / MEMORY).write_text(f"{WORD} is the hint.\n§\nStaged.\n")
        git("add", MEMORY, cwd=root)
        (root / MEMORY).write_text(f"{WORD} is the hint.\n§\nStaged.\n§\nNot staged.\n")
        reply = home.forget(ref)
        assert reply.committed is not None
        assert reply.branch_reason
        assert is_redacted(home, ref)
        assert "Staged." in git("show", f":{MEMORY}", cwd=root)
        git("add", MEMORY, cwd=root)
        home.commit()
        assert (root / MEMORY).read_text() == "Staged.\n§\nNot staged.\n"
        check_silent(home, root, [ref])

    def test_a_write_that_waits(self, root: Path) -> None:
        """A pending write does not bring back what was forgotten while it waited."""
        detached(root)
        with AgentHome.open(root) as home:
            ref = str(home.entries("memory").add(f"{WORD} is the hint.").source_ref)
            home.entries("memory").add("The port is 2222.")
            assert files_with(root, WORD)
            home.forget(ref)
            assert files_with(root, WORD) == []
        git("checkout", "-q", "main", cwd=root)
        with AgentHome.open(root) as home:
            assert (root / MEMORY).read_text() == "The port is 2222.\n"
            check_silent(home, root, [ref])


class TestMachines:
    """Receipts travel with the turn lines."""

    def test_another_machine_forgets_too(self, tmp_path: Path) -> None:
        """What was forgotten on one is gone on the other after a sync, also from segments of the other."""
        one = first_machine(tmp_path)
        two = next_machine(tmp_path, "b", one.remote)
        ref = two.say(f"The hint is {WORD}")
        two.commit({"notes/c.md": f"# C\n\n{WORD}\n"})
        two.sync()
        one.sync()
        assert one.hears(WORD)
        one.home.forget_matching(WORD)
        one.sync()
        reply = two.sync()
        assert f"record:{ref.removeprefix('message:')}" in reply.receipts
        for machine in (one, two):
            assert is_redacted(machine.home, ref)
            assert speakers(machine.home, machine.root, WORD, [ref]) == []
            assert machine.home.verify(full=True).ok
            machine.close()

    def test_what_only_this_machine_keeps_is_cleaned_too(self, tmp_path: Path) -> None:
        """A pending write and a proposal of the other machine: gone with the sync, without another turn."""
        one = first_machine(tmp_path)
        two = next_machine(tmp_path, "b", one.remote)
        one.home.entries("memory").add(f"{WORD} is the hint.")
        one.sync()
        two.sync()
        two.home.config_set("gitmem.writeApproval", "true")
        two.home.memory("replace", content=f"{WORD} is another.", old_text=WORD)
        assert len(two.home.proposals()) == 1
        assert WORD in str(two.home.session("s9").prompt_block())
        one.home.forget_matching(WORD)
        one.sync()
        two.sync()
        assert two.home.proposals() == []
        assert speakers(two.home, two.root, WORD) == []
        for machine in (one, two):
            machine.close()

    def test_an_old_clone_does_not_bring_it_back(self, tmp_path: Path) -> None:
        """A machine that never heard of it syncs later, with edits of its own on top."""
        one = first_machine(tmp_path)
        two = next_machine(tmp_path, "b", one.remote)
        one.commit({MEMORY: f"{WORD} is the hint.\n§\nThe port is 2222.\n"})
        one.sync()
        two.sync()
        two.home.entries("memory").add("From the other one.")
        one.home.forget_matching(WORD)
        one.sync()
        two.sync()
        one.sync()
        for machine in (one, two):
            assert sorted(machine.text(MEMORY).split("\n§\n")) == [
                "From the other one.\n",
                "The port is 2222.",
            ]
            assert speakers(machine.home, machine.root, WORD) == []
            machine.close()


class TestCommand:
    """`gitmem forget` as people and programs call it."""

    def test_exit_codes_and_words(self, home: AgentHome, root: Path) -> None:
        """Found 0, unknown 4, wrong 2; what is forgotten is in no answer."""
        ref = say(home)
        assert gitmem("forget", "message:msg_000000000000000", cwd=root).code == 4
        assert gitmem("forget", cwd=root).code == 2
        assert gitmem("forget", "--match", WORD, cwd=root).code == 2
        assert gitmem("forget", "--match", "-", stdin="ab", cwd=root).code == 2
        listed = gitmem("forget", "--match", "-", "--dry-run", stdin=f"{WORD}\n", cwd=root)
        assert listed.code == 0
        assert f"  {ref}" in listed.out
        done = gitmem("forget", "--match", "-", stdin=WORD, cwd=root)
        assert done.code == 0
        assert done.out.startswith("Forgotten: 1 thing.")
        assert WORD not in listed.out + listed.err + done.out + done.err
        assert gitmem("forget", "--match", "-", stdin=WORD, cwd=root).out == "Nothing holds it.\n"
        assert gitmem("forget", ref, cwd=root).out.startswith("Forgotten before: 1 thing.")
