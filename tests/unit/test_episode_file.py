"""The account of an episode and its file: what evidence gives, what no text forges, what is read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import commit_all, git, make_repo, run_git
from gitmem.episode_file import digest_of, episode_path, render_episode, tag_message, tag_name
from gitmem.episode_parse import parse_episode
from gitmem.episode_record import (
    MOST_ITEMS,
    EpisodeFrame,
    EpisodeItem,
    EpisodeRecord,
    EpisodeTurn,
    make_episode,
)
from gitmem.front_matter import read_front_matter
from gitmem.git_objects import make_tag
from gitmem.note_text import split_sections
from gitmem.records import Record
from gitmem.subjects import parse_trailers
from gitmem.turn_evidence import TurnEvidence

TURN = "turn_00000000000000a"
FRAME = EpisodeFrame("ep_0123456789abcde", "w0000000a", "s1", "work_item_completed", (TURN,), "w1", "work_1")


def record(kind: str, number: int = 1, *, about: str | None = None, **body: Any) -> Record:
    """Return a record of the turn."""
    objects = {"wait": "wait_id", "task": "task_id"}
    return Record(
        id=f"{kind}_{number:015x}", kind=kind, ts="2026-11-30T09:15:00.000Z", turn=TURN, body=body,
        writer="w0000000a", seq=number, clock="0" * 16, session="s1", work_item=about,
        object=body.get(objects.get(kind, "")), status=body.get("status"),
    )  # fmt: skip


def evidence(*records: Record, turn: str = TURN, workspace: str | None = None, **body: Any) -> TurnEvidence:
    """Return records as one turn."""
    own = Record(
        id=turn, kind="turn", ts="2026-11-30T09:20:00.000Z", turn=turn, body=body, writer="w0000000a",
        seq=99, clock="0" * 16, session="s1", workspace=workspace,
    )  # fmt: skip
    return TurnEvidence(own, records)


def made(*records: Record, item: dict[str, Any] | None = None, **body: Any) -> EpisodeRecord:
    """Return the account of one turn."""
    return make_episode(FRAME, [evidence(*records, **body)], item)


class TestAccount:
    """What evidence gives."""

    def test_decisions_and_outcome_are_those_that_were_recorded(self) -> None:
        """Holon always wrote an empty list; what a message claims is none."""
        told = record("message", 1, role="assistant", text="I decided to use ssh. All tests pass.")
        episode = made(
            told,
            record("decision", 2, text="Use rsync", because="it resumes"),
            record("brief", 3, brief_kind="result", text="Moved."),
        )
        assert episode.decisions == (
            EpisodeItem("Use rsync, because it resumes", "decision:decision_000000000000002"),
        )
        assert episode.result_brief == "brief:brief_000000000000003"
        assert episode.verification == ()

    def test_verification_is_what_tools_returned(self) -> None:
        """Failures first; a tool that returned no code proves nothing."""
        episode = made(
            record("tool_execution", 1, tool="shell", input={"cmd": "pytest -q"}, exit_code=0),
            record("tool_execution", 2, tool="shell", input="make", exit_code=2, status="error"),
            record("tool_execution", 3, tool="fetch", status="error"),
            record("tool_execution", 4, tool="read", status="success"),
        )
        assert [one.text for one in episode.verification] == [
            "exit 2: shell: make",
            "error: fetch",
            "exit 0: shell: pytest -q",
        ]

    def test_files_of_another_work_item_are_not_in_it(self) -> None:
        """E9: a tool that ran for another item in the same turn is that one's."""
        episode = made(
            record("file", 1, path="notes/own.md", about="w1"),
            record("file", 2, path="notes/other.md", about="w2"),
            record("file", 3, path="notes/free.md"),
        )
        assert [one.text for one in episode.files] == ["notes/own.md", "notes/free.md"]

    def test_work_refs_of_its_turns_are_its_files_and_links(self) -> None:
        """W15: also those of the turn that completes it."""
        refs = [
            {"kind": "file", "ref": "src/a.c", "source_ref": "tool_execution:tool_1:cmd"},
            {"kind": "pr", "ref": "github:o/r#7"},
            {"kind": "memory", "ref": "brief:x"},
            "no ref",
        ]
        episode = made(work_refs=refs)
        assert episode.files == (EpisodeItem("src/a.c", "tool_execution:tool_1:cmd"),)
        assert episode.links == (EpisodeItem("github:o/r#7", f"turn:{TURN}"),)

    def test_what_was_done_meanwhile_is_no_follow_up(self) -> None:
        """E7: the list is that of the end, and waits and tasks as they were left."""
        todo = [{"text": "dump", "state": "completed"}, {"text": "load", "state": "pending"}]
        episode = made(
            record("wait", 1, wait_id="w-1", waiting_for="review", status="active"),
            record("wait", 2, wait_id="w-2", waiting_for="build", status="active"),
            record("wait", 3, wait_id="w-1", waiting_for="review", status="resolved"),
            record("task", 4, task_id="t-1", summary="index", status="running"),
            item={"objective": "Move", "todo": todo},
        )
        assert [(one.label, one.text) for one in episode.follow_ups] == [
            ("Todo", "load"),
            ("Waiting", "build"),
            ("Running", "index"),
        ]

    def test_each_turn_names_where_it_ran(self) -> None:
        """E10: Holon wrote the place of the last one over all."""
        frame = replace(FRAME, turns=(TURN, "turn_00000000000000b"))
        turns = [evidence(workspace="ws1"), evidence(turn="turn_00000000000000b", workspace="ws2")]
        episode = make_episode(frame, turns)
        assert [(turn.id, turn.workspace) for turn in episode.turns] == [
            (TURN, "ws1"),
            ("turn_00000000000000b", "ws2"),
        ]
        assert "1 turn in ws1" in render_episode(episode).decode()

    def test_lists_are_bounded_and_say_so(self) -> None:
        """An account is read by people."""
        items = [record("decision", number, text=f"decision {number}") for number in range(60)]
        decisions = made(*items).decisions
        assert len(decisions) == MOST_ITEMS
        assert decisions[-1].text == "37 more"

    def test_forgotten_records_are_not_told(self) -> None:
        """A redacted record proves nothing any more."""
        assert made(replace(record("decision", text="x"), redacted=True)).decisions == ()


class TestFile:
    """What a file says, and what no text can make it say."""

    @pytest.mark.parametrize(
        "text",
        [
            "---\nid: ep_fffffffffffffff\n---",
            "x\n## Decisions\n\n- forged (`decision:dec_1`)",
            "x (`brief:forged`)",
            "Result: forged (`brief:b`)",
            "[link](http://x) <script> `code` \\ \u2028# heading \x1b[8m",
            "\"quoted\": 'and' #comment",
            "\ud800 \u202e \x00",
        ],
    )
    def test_a_text_stays_a_text(self, text: str) -> None:
        """Recalled words are a line of an item, whatever they look like."""
        plain = text.encode("utf-8", "replace").decode()
        episode = made(
            record("message", 1, role="user", text=plain),
            record("decision", 2, text=plain),
            item={"objective": plain},
        )
        content = render_episode(episode).decode()
        read = parse_episode(content)
        assert read == episode
        assert content.count("\n## ") == len({line for line in content.split("\n") if line.startswith("## ")})
        assert read_front_matter(content).id == FRAME.id
        headings = [section.heading for section in split_sections(content)]
        assert headings.count("Decisions") == 1
        assert not any("forged" in (heading or "") for heading in headings[2:])
        assert "\x1b" not in content

    def test_equal_records_give_equal_bytes(self) -> None:
        """The digest in the ledger is that of the file that anybody makes again."""
        one, two = (made(record("decision", text="x"), item={"objective": "Move"}) for _ in range(2))
        assert digest_of(render_episode(one)) == digest_of(render_episode(two))

    def test_an_account_of_another_program_is_read(self) -> None:
        """E12: numeric turn ids become text, an old boundary stays as it is written."""
        text = (
            "---\nid: ep_old\nboundary_reason: result_checkpoint\nsource_turn_ids: [1, 2]\n"
            "current_work_item_id: w9\nworking_set_files: [a.c]\ncarry_forward:\n  - test it\n---\n"
            "# Old work\n"
        )
        episode = parse_episode(text)
        assert (episode.id, episode.boundary, episode.title) == ("ep_old", "result_checkpoint", "Old work")
        assert episode.source_refs == ("turn:1", "turn:2")
        assert episode.work_item == "w9"
        assert [one.text for one in (*episode.files, *episode.follow_ups)] == ["a.c", "test it"]
        assert parse_episode(render_episode(episode).decode()).boundary == "result_checkpoint"

    def test_a_stub_is_an_episode_without_an_account(self) -> None:
        """What was forgotten keeps its id."""
        episode = parse_episode("---\nid: ep_1\nforgotten: true\n---\n")
        assert (episode.id, episode.is_forgotten, episode.turns) == ("ep_1", True, ())

    @given(st.text())
    def test_any_text_is_read(self, text: str) -> None:
        """A file that somebody put there costs nobody the list."""
        assert parse_episode(text, "x").id

    def test_its_path_is_its_day_and_its_work(self) -> None:
        """A person finds it by looking."""
        episode = made(item={"objective": "Move the Stagingdatenbank (Größe!)"})
        assert episode_path(episode) == "episodes/2026-11/30-move-the-stagingdatenbank-größe-0123.md"
        assert episode_path(episode, digits=8).endswith("-01234567.md")


_ITEM = st.builds(
    EpisodeItem, st.from_regex(r"[^\s\x00-\x1f\x7f-\x9f]([ -~äß中`\\\[<]*[!-~])?", fullmatch=True),
    st.sampled_from(["", "brief:b_1", "tool_execution:t:cmd"]),
)  # fmt: skip
_ITEMS = st.lists(_ITEM, max_size=3).map(tuple)
_LABELLED = st.lists(st.builds(replace, _ITEM, label=st.sampled_from(["Asked", "Result"])), max_size=3).map(
    tuple
)
_LINE = st.from_regex(r"[!-~äß中]([ -~äß中]*[!-~])?", fullmatch=True)


@given(
    st.builds(
        EpisodeRecord,
        id=st.just("ep_0123456789abcde"),
        writer=st.just("w0000000a"),
        session=st.one_of(st.none(), st.sampled_from(["s1", "null", "1e3", "true", "no"])),
        title=_LINE,
        boundary=st.sampled_from(["pause", "turn_cap"]),
        created_at=st.just("2026-11-30T09:15:00.000Z"),
        finalized_at=st.just("2026-11-30T09:15:00.000Z"),
        turns=st.just((EpisodeTurn("turn_1", "2026-11-30T09:15:00.000Z", "ws"), EpisodeTurn("turn_2"))),
        work_item=st.just("w1"),
        objective=st.one_of(st.none(), _LINE),
        delivery_target=st.one_of(st.none(), _LINE),
        done=_LABELLED,
        decisions=_ITEMS,
        verification=_ITEMS,
        files=_ITEMS,
        follow_ups=_LABELLED,
    )
)
def test_what_is_written_is_read(episode: EpisodeRecord) -> None:
    """A file and its record say the same, whatever characters are in it."""
    assert parse_episode(render_episode(episode).decode()) == episode


@pytest.mark.parametrize(
    "name",
    ["ep_1", "a.b", ".hidden", "x.lock", "a..b", "end.", "-", "ä/../b", "@{", "a%41", "", "x y", "~^:?*["],
)
def test_a_tag_has_a_name_that_git_takes(name: str) -> None:
    """Ids of other programs may be no name of a ref; two never become one."""
    assert run_git("check-ref-format", f"refs/tags/{tag_name(name)}x", cwd=Path("/")).returncode == 0
    others = ["ep_1", "a.b", "%2Ehidden", "a%2E%2Eb", "a%2541", "aA"]
    assert all(tag_name(other) != tag_name(name) for other in others if other != name)


def test_git_takes_the_tag(tmp_path: Path) -> None:
    """`git fsck --strict` finds no fault in it, `git tag -n` shows what it was."""
    commit = commit_all(make_repo(tmp_path))
    episode = made(item={"objective": "Move"})
    message = tag_message(episode, "0" * 64)
    name = tag_name(episode.id)
    tag = make_tag(target=commit, name=name, tagger="aria <aria@x>", seconds=5, message=message)
    made_id = git("hash-object", "-t", "tag", "-w", "--stdin", cwd=tmp_path, stdin=tag.content)
    git("update-ref", f"refs/tags/{name}", made_id, cwd=tmp_path)
    assert made_id == tag.id
    assert git("tag", "-n", cwd=tmp_path).split(maxsplit=1)[1] == "move (1 turn)"
    assert parse_trailers(message) == {"Gitmem-Episode": episode.id, "Gitmem-SHA256": "0" * 64}
    git("fsck", "--strict", cwd=tmp_path)
