"""Proposals as files, as diffs, and as they are judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest
from homes import new_home
from hypothesis import given
from hypothesis import strategies as st

from fixtures import git, head, layout_of, make_repo, write_files
from gitmem import AgentHome
from gitmem.branch_changes import PathChange
from gitmem.entry_edits import edit_entries
from gitmem.errors import CorruptionError, GitmemError, HeadMoved, NotFound
from gitmem.proposal_judging import Judged
from gitmem.proposals import Proposal, ProposalFolder, ProposedEdit, diff_of

TEXT = st.text(max_size=30)
EDITS = st.builds(ProposedEdit, st.sampled_from(["add", "remove"]), st.none() | TEXT, st.none() | TEXT)
CHANGES = st.builds(
    PathChange, st.sampled_from(["notes/a.md"]), st.none() | TEXT, st.none() | st.binary(max_size=30)
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[AgentHome]:
    """A home with two entries, in which changes of memory wait."""
    with new_home(tmp_path / "home") as home:
        home.entries("memory").batch(
            [{"action": "add", "content": "Alpha one."}, {"action": "add", "content": "Beta two."}]
        )
        home.config_set("gitmem.writeApproval", "on")
        yield home


def texts(home: AgentHome) -> list[str]:
    """Return the entries."""
    return home.entries("memory").texts


def judged(home: AgentHome, which: str = "all") -> list[Judged]:
    """Approve and return what became of each."""
    return list(home.approve(which).proposals)


class TestFiles:
    """What is kept of a proposal."""

    @given(
        st.lists(EDITS, max_size=3),
        st.lists(CHANGES, max_size=2),
        st.none() | TEXT,
        st.dictionaries(TEXT, TEXT),
    )
    def test_what_is_put_is_read(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        edits: list[ProposedEdit],
        changes: list[PathChange],
        reason: str | None,
        payload: dict[str, str],
    ) -> None:
        """Byte for byte, whatever the text."""
        folder = ProposalFolder(layout_of(make_repo(tmp_path_factory.mktemp("r") / "r")))
        proposal = Proposal(
            "0a1b2c3d",
            "memory",
            "add",
            "s",
            "foreground",
            1.5,
            tuple(edits),
            payload,
            tuple(changes),
            reason=reason,
        )
        folder.put(proposal)
        assert folder.read("0a1b2c3d") == proposal
        assert folder.waiting() == [proposal]
        proposal.to_json()

    def test_a_damaged_file_is_named_and_left(self, home: AgentHome) -> None:
        """Nothing else of the list is lost for it."""
        home.memory("add", "memory", "Gamma.")
        bad = home.layout.private / "proposals" / "00000000.json"
        for content in ("{torn", "[]", '{"v": 1, "id": "00000000"}', "\udcff"):
            bad.write_bytes(content.encode("utf-8", "surrogateescape"))
            assert len(home.proposals()) == 1
            assert home.damaged_proposals() == [bad]
            (finding,) = [one for one in home.status().findings if one.path == bad.name]
            assert (finding.id, finding.exit_code) == ("proposals", 20)
        for judge in (home.approve, home.reject):
            with pytest.raises(CorruptionError):
                judge("00000000")
        assert [one.verdict for one in judged(home)] == ["approved"]
        assert bad.exists()

    @pytest.mark.parametrize("field", ["created_at", "summary", "target", "payload", "edits"])
    def test_a_field_of_another_kind_is_damage(self, home: AgentHome, field: str) -> None:
        """Whoever lists proposals must not fall over one."""
        home.memory("add", "memory", "Gamma.")
        (path,) = (home.layout.private / "proposals").glob("*.json")
        path.write_text(json.dumps({**json.loads(path.read_text()), field: [["x"]]}))
        assert home.proposals() == []
        assert home.damaged_proposals() == [path]

    @pytest.mark.parametrize("name", ["00000000", "../../config", "", "all.json", "Z" * 8])
    def test_an_unknown_one(self, home: AgentHome, name: str) -> None:
        """An id is never a path."""
        for judge in (home.approve, home.reject):
            with pytest.raises(NotFound):
                judge(name)

    def test_nothing_waits(self, home: AgentHome) -> None:
        """`all` of nothing is nothing."""
        assert judged(home) == []


class TestDiff:
    """How a change is shown."""

    def test_whole_texts_stand_under_each_other(self) -> None:
        """A partial match once destroyed the rest of an entry unseen (hermes-agent issue 59184)."""
        edit = ProposedEdit("replace", "Port 22, user root, host a.", "Port 2222")
        assert diff_of(edit) == ["- Port 22, user root, host a.", "+ Port 2222"]

    def test_lines_that_look_like_a_diff(self) -> None:
        """Front matter begins with dashes."""
        assert diff_of(ProposedEdit("remove", "---\ntitle: A\n---\n@@ x\n", None)) == [
            "- ---",
            "- title: A",
            "- ---",
            "- @@ x",
        ]

    @given(st.none() | TEXT, st.none() | TEXT)
    def test_signs_tell_which_side_a_line_is_of(self, before: str | None, after: str | None) -> None:
        """Every line that goes or comes is shown."""
        lines = diff_of(ProposedEdit("replace", before, after))
        old, new = (before or "").splitlines(), (after or "").splitlines()
        assert all(line[0] in "+- " for line in lines)
        assert sum(line[0] == "-" for line in lines) - sum(line[0] == "+" for line in lines) == len(
            old
        ) - len(new)


class TestApprove:
    """What an operator allows is made, exactly."""

    def test_each_has_a_commit_of_its_own(self, home: AgentHome) -> None:
        """As the agent's, with the operator's consent on record."""
        home.memory("add", "memory", "Gamma.", session="s1", reason="said so")
        home.memory("remove", "memory", None, "Alpha")
        first, second = judged(home)
        assert (first.verdict, second.verdict) == ("approved", "approved")
        assert first.committed != second.committed
        assert texts(home) == ["Beta two.", "Gamma."]
        log = git(
            "log",
            "-2",
            "--format=%an|%(trailers:key=Gitmem-Approved-By,valueonly,separator=)",
            cwd=home.layout.root,
        )
        assert log.split("\n") == ["aria|operator", "aria|operator"]
        assert (
            git(
                "log",
                "-1",
                "--skip=1",
                "--format=%(trailers:key=Gitmem-Reason,valueonly,separator=)",
                cwd=home.layout.root,
            )
            == "said so"
        )
        assert home.proposals() == []
        bodies = [record.body for record in home.ledger.find_all(b'"approved_by":"operator"')]
        assert len(bodies) == 2

    def test_one_that_changed_is_refused_and_waits(self, home: AgentHome) -> None:
        """It is pinned to the whole text that it would replace."""
        reply = home.memory("replace", "memory", "Alpha 2.", "Alpha")
        write_files(home.layout.root, {"memory/MEMORY.md": "Alpha one, and what I typed.\n§\nBeta two.\n"})
        (one,) = judged(home)
        assert (one.id, one.verdict, one.committed) == (reply.pending_id, "failed", None)
        assert texts(home) == ["Alpha one, and what I typed.", "Beta two."]
        assert [waiting.id for waiting in home.proposals()] == [reply.pending_id]

    def test_it_never_falls_on_another_entry(self, home: AgentHome) -> None:
        """The text that was matched may be a part of another entry by now."""
        home.memory("remove", "memory", None, "Alpha one.")
        write_files(home.layout.root, {"memory/MEMORY.md": "Not Alpha one. at all\n§\nBeta two.\n"})
        assert judged(home)[0].verdict == "failed"
        assert texts(home) == ["Not Alpha one. at all", "Beta two."]

    def test_a_failed_one_does_not_hold_up_others(self, home: AgentHome) -> None:
        """Each is judged by itself."""
        home.memory("remove", "memory", None, "Alpha")
        home.memory("add", "memory", "Gamma.")
        home.memory("replace", "memory", "Alpha 2.", "Alpha")
        assert [one.verdict for one in judged(home)] == ["approved", "approved", "failed"]
        assert texts(home) == ["Beta two.", "Gamma."]

    def test_a_batch_is_one_commit_shown_edit_by_edit(self, home: AgentHome) -> None:
        """One approval once applied five edits, reported as one write (hermes-agent issue 117952)."""
        home.entries("memory").batch(
            [
                {"action": "replace", "old_text": "Alpha", "content": "Alpha 2."},
                {"action": "remove", "old_text": "Beta"},
                {"action": "add", "content": "Gamma."},
            ]
        )
        (proposal,) = home.proposals()
        assert proposal.summary == "batch memory: 3 edits"
        assert [diff_of(edit) for edit in proposal.edits] == [
            ["- Alpha one.", "+ Alpha 2."],
            ["- Beta two."],
            ["+ Gamma."],
        ]
        (one,) = judged(home, proposal.id)
        assert (one.edits, one.verdict) == (3, "approved")
        assert texts(home) == ["Alpha 2.", "Gamma."]

    def test_a_store_that_is_full_by_now(self, home: AgentHome) -> None:
        """The limit holds at approval too."""
        home.memory("add", "memory", "x" * 1200)
        home.memory("add", "memory", "y" * 1200)
        assert [one.verdict for one in judged(home)] == ["approved", "failed"]

    def test_appended_texts_all_come(self, home: AgentHome) -> None:
        """An append changes nothing that is there, whatever else was appended since it was proposed."""
        for text in ("- one", "- two", "- three"):
            assert home.memory_append("self", text).staged
        write_files(home.layout.root, {"memory/self.md": "# Aria"})
        assert [one.verdict for one in judged(home)] == ["approved"] * 3
        assert (home.layout.root / "memory/self.md").read_text() == "# Aria\n- one\n- two\n- three\n"
        assert judged(home) == []

    def test_a_file_that_changed_elsewhere_takes_the_change(self, home: AgentHome) -> None:
        """What an operator typed in other lines stays; in the same lines they have to look themselves."""
        text = "# Aria\n\nOne.\n\nTwo.\n\nThree.\n"
        home.memory_write("self", text, by="operator")
        home.memory_write("self", text.replace("One", "1"))
        home.memory_write("self", text.replace("Two", "2"))
        home.memory_write("self", text.replace("One", "uno"))
        write_files(home.layout.root, {"memory/self.md": text.replace("Three", "3")})
        first, second, third = judged(home)
        assert (first.verdict, second.verdict, third.verdict) == ("approved", "approved", "failed")
        assert "gitmem edit memory/self.md" in str(third.reason)
        assert (home.layout.root / "memory/self.md").read_text() == "# Aria\n\n1.\n\n2.\n\n3.\n"

    def test_killed_behind_an_append(self, home: AgentHome) -> None:
        """It is not appended twice."""
        home.memory_append("self", "- one")
        home.memory_append("self", "- two")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ProposalFolder, "drop", _die)
            for proposal in home.proposals():
                with pytest.raises(KeyboardInterrupt):
                    home.approve(proposal.id)
        assert [one.reason for one in judged(home)] == ["it is there already"] * 2
        assert (home.layout.root / "memory/self.md").read_text().count("- one") == 1

    @pytest.mark.parametrize("target", ["memory", "self"])
    def test_the_same_is_proposed_once(self, home: AgentHome, target: str) -> None:
        """An agent that calls again is told which proposal waits."""

        def propose(text: str) -> str | None:
            if target == "self":
                return home.memory_append("self", text).pending_id
            return home.memory("add", "memory", text).pending_id

        first = propose("Gamma.")
        assert propose("Gamma.") == first
        assert propose("Delta.") != first
        assert len(home.proposals()) == 2

    def test_what_is_there_already_has_no_commit_of_its_own(self, home: AgentHome) -> None:
        """The commit in which it was found is somebody else's."""
        home.memory("add", "memory", "Gamma.")
        home.memory("add", "memory", "Gamma.", by="operator")
        (one,) = judged(home)
        assert (one.verdict, one.committed, one.reason) == ("approved", None, "it is there already")

    def test_a_note_that_changed_is_refused(self, home: AgentHome) -> None:
        """A file is pinned as a whole."""
        home.note_add("a.md", content="# A\n")
        home.note_remove("a.md", origin="background_review")
        home.note_append("a.md", "more", by="operator")
        assert judged(home)[0].verdict == "failed"
        assert home.note_show("a.md").text.endswith("more\n")

    def test_a_note_that_was_moved_is_refused(self, home: AgentHome) -> None:
        """That its old path is free is not what was meant; the truth is where it is now."""
        home.note_add("a.md", content="# A\n")
        for change in (home.note_remove, lambda *a, **c: home.note_edit(*a, content="# B\n", **c)):
            change("a.md", origin="background_review")
        home.note_move("a.md", "m.md", by="operator")
        for one in judged(home):
            assert (one.verdict, one.committed) == ("failed", None)
            assert "notes/a.md was moved to notes/m.md" in str(one.reason)
        assert len(home.proposals()) == 2
        home.note_move("m.md", "a.md", by="operator")
        assert sorted(one.verdict for one in judged(home)) == ["approved", "failed"]

    def test_a_note_that_was_removed_meanwhile_is_gone(self, home: AgentHome) -> None:
        """What was proposed is so."""
        home.note_add("a.md", content="# A\n")
        home.note_remove("a.md", origin="background_review")
        home.note_remove("a.md", by="operator")
        (one,) = judged(home)
        assert (one.verdict, one.committed, one.reason) == ("approved", None, "it is there already")

    def test_a_move_by_an_unattended_agent_waits(self, home: AgentHome) -> None:
        """A note that is not where people left it is gone for them; a rejected move forbids no text."""
        home.note_add("a.md", content="# A\n")
        assert home.note_move("a.md", "b/m.md", origin="background_review").staged
        (one,) = home.proposals()
        assert one.summary == "move notes/a.md to notes/b/m.md"
        assert home.note_show("a.md").path == "notes/a.md"
        home.reject("all")
        assert home._parts.judgements.find("# A\n") is None
        home.note_move("a.md", "b/m.md", origin="background_review")
        assert judged(home)[0].committed
        assert home.note_show("b/m.md").title == "A"
        with pytest.raises(GitmemError):
            home.note_show("a.md")

    def test_killed_behind_the_commit(self, home: AgentHome) -> None:
        """What was made is not made again, and is not listed as failed for ever."""
        home.memory("replace", "memory", "Alpha 2.", "Alpha")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ProposalFolder, "drop", _die)
            with pytest.raises(KeyboardInterrupt):
                home.approve("all")
        before = head(home.layout.root)
        (one,) = judged(home)
        assert (one.verdict, one.reason) == ("approved", "it is there already")
        assert head(home.layout.root) == before
        assert home.proposals() == []

    @pytest.mark.slow
    def test_two_approvals_at_once_make_it_once(self, home: AgentHome) -> None:
        """Whoever comes second finds nothing to judge."""
        for number in range(3):
            home.memory("add", "memory", f"Gamma {number}.")
        with get_context("spawn").Pool(2) as pool:
            replies = pool.map(_approve_all, [str(home.layout.root)] * 2)
        verdicts = [verdict for reply in replies for verdict in reply]
        assert verdicts == ["approved"] * 3
        assert texts(home)[2:] == [f"Gamma {number}." for number in range(3)]
        assert int(git("rev-list", "--count", "--grep=Gitmem-Approved-By", "HEAD", cwd=home.layout.root)) == 3


class TestReject:
    """What an operator refuses is not proposed again unseen."""

    def test_the_text_is_remembered(self, home: AgentHome) -> None:
        """By its digests; the agent is told why, and where to read on."""
        home.memory("add", "memory", "The moon is cheese.", source="message:msg_0123456789abcde")
        (one,) = home.reject("all", reason="it is rock").proposals
        assert (one.verdict, home.proposals()) == ("rejected", [])
        reply = home.memory("add", "memory", "the moon is  cheese")
        assert (reply.success, reply.pointer) == (False, one.source_ref)
        assert "it is rock" in str(reply.error)
        record = home.get(str(one.source_ref))
        assert "cheese" not in record.content
        assert "msg_0123456789abcde" in record.content

    def test_a_rejected_removal_forbids_no_text(self, home: AgentHome) -> None:
        """The entry stays, and may be named again."""
        home.memory("remove", "memory", None, "Alpha")
        home.reject("all")
        assert texts(home) == ["Alpha one.", "Beta two."]
        assert home.memory("replace", "memory", "Alpha one!!", "Alpha").staged

    def test_no_object_holds_a_rejected_text(self, home: AgentHome) -> None:
        """It was never written, so nothing has to be forgotten."""
        home.memory("add", "memory", "Unwanted words.")
        home.reject("all")
        home.close()
        objects = git("cat-file", "--batch-all-objects", "--batch", cwd=home.layout.root)
        assert "Unwanted words" not in objects


class TestExactEdits:
    """Edits name entries by the whole text."""

    def test_what_is_not_there_is_refused(self) -> None:
        """Nothing near to it is taken instead."""
        with pytest.raises(HeadMoved):
            edit_entries([], [ProposedEdit("remove", "A", None)])

    def test_a_text_that_is_there_already_is_not_doubled(self) -> None:
        """An operator may have typed it meanwhile."""
        entries = edit_entries([], [ProposedEdit("add", None, "A"), ProposedEdit("add", None, "A")])
        assert [entry.text for entry in entries] == ["A"]


def _die(*_: object) -> None:
    raise KeyboardInterrupt


def _approve_all(root: str) -> list[str]:
    with AgentHome.open(root) as home:
        return [one.verdict for one in home.approve("all").proposals]
