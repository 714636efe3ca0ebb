"""Each command as a person or a program uses it: what it answers, with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from homes import make_home
from system.command_line import Ran, gitmem, gitmem_process

from fixtures import commit_all, git, head, make_repo, write_files
from gitmem.cli import standard_input
from gitmem.home import AgentHome

HELLO = {"kind": "message", "role": "user", "text": "Staging listens on port 2222"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A new home with an operator configured."""
    return make_home(tmp_path / "home", operator=True)


def jsonl(*events: object) -> str:
    """Return events as JSON lines."""
    return "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events)


def turn(home: Path, *events: object, options: tuple[str, ...] = ()) -> Ran:
    """Record a turn through the command line."""
    return gitmem("turn", "--json", *options, stdin=jsonl(*events), cwd=home)


class TestInit:
    """`gitmem init`."""

    def test_nothing_becomes_a_home(self, tmp_path: Path) -> None:
        """A folder that does not exist is made: branch main, a first commit, a clean status."""
        ran = gitmem("init", tmp_path / "new", "--agent", "aria", "--json")
        assert ran.code == 0
        assert ran.json["agent"] == "aria"
        assert ran.json["branch"] == "main"
        assert ran.json["committed"] == head(tmp_path / "new")
        assert git("status", "--porcelain", cwd=tmp_path / "new") == ""

    def test_it_tells_what_it_set_and_what_comes_next(self, tmp_path: Path) -> None:
        """The three next commands are on the screen."""
        ran = gitmem("init", tmp_path / "new", "--agent", "aria")
        assert "push.followTags=true" in ran.out
        assert ran.out.count("gitmem ") >= 2
        assert "AGENTS.md" in ran.out

    def test_the_steps_stand_in_columns(self, tmp_path: Path) -> None:
        """The first screen that a newcomer sees is straight."""
        steps = gitmem("init", tmp_path / "新", "--agent", "aria").out.split("Next:\n")[1].splitlines()
        assert [len(step.encode("gbk").rpartition(b"   ")[0]) for step in steps] == [
            len(steps[0].encode("gbk").rpartition(b"   ")[0])
        ] * 3

    def test_a_second_run_changes_nothing(self, home: Path) -> None:
        """It can be in a script."""
        before = git("for-each-ref", cwd=home), (home / ".git" / "config").read_bytes()
        ran = gitmem("init", home)
        assert ran.code == 0
        assert "Nothing to do" in ran.out
        assert (git("for-each-ref", cwd=home), (home / ".git" / "config").read_bytes()) == before
        assert gitmem("init", home, "--json").json["created"] == []

    def test_a_repository_at_work_keeps_its_work(self, tmp_path: Path) -> None:
        """History, staged and unstaged changes of an existing repository stay as they are."""
        repo = make_repo(tmp_path / "repo")
        first = commit_all(repo, "first", {"README.md": "mine\n", "a.txt": "a\n"})
        write_files(repo, {"a.txt": "changed\n", "new.txt": "staged\n"})
        git("add", "new.txt", cwd=repo)
        assert gitmem("init", "--agent", "aria", cwd=repo).code == 0
        assert git("status", "--porcelain", cwd=repo).splitlines() == [" M a.txt", "A  new.txt"]
        assert (repo / "README.md").read_text() == "mine\n"
        assert git("rev-parse", "HEAD~1", cwd=repo) == first

    def test_a_foreign_ledger_is_refused(self, tmp_path: Path) -> None:
        """Gitmem would write into somebody else's folder."""
        (tmp_path / "ledger").mkdir()
        ran = gitmem("init", tmp_path, "--json")
        assert ran.code == 3
        assert ran.json["error"]["code"] == "refused"

    @pytest.mark.parametrize(
        "setting",
        [
            ("extensions.objectFormat", "sha256"),
            ("extensions.refStorage", "reftable"),
            ("extensions.partialClone", "origin"),
        ],
    )
    def test_a_repository_that_gitmem_cannot_read_is_refused(
        self, tmp_path: Path, setting: tuple[str, str]
    ) -> None:
        """An object of one format in a repository of another would break it; nothing is written."""
        repo = make_repo(tmp_path / "repo")
        git("config", "core.repositoryFormatVersion", "1", cwd=repo)
        git("config", *setting, cwd=repo)
        before = sorted(repo.rglob("*")), (repo / ".git" / "config").read_bytes()
        ran = gitmem("init", repo, "--json")
        assert ran.code == 10
        assert ran.json["error"]["code"] == "unsupported_format"
        assert (sorted(repo.rglob("*")), (repo / ".git" / "config").read_bytes()) == before

    def test_a_bare_repository_is_refused(self, tmp_path: Path) -> None:
        """It has no files to look at; a home inside its folder would be nobody's."""
        git("init", "-q", "--bare", tmp_path / "bare.git", cwd=tmp_path)
        assert gitmem("init", tmp_path / "bare.git").code == 2
        assert not (tmp_path / "bare.git" / "gitmem.toml").exists()

    def test_another_agent_s_name_is_wrong_usage(self, home: Path) -> None:
        """A home belongs to one agent."""
        assert gitmem("init", home, "--agent", "otto").code == 2


class TestTurn:
    """`gitmem turn`."""

    def test_the_receipt_says_what_is_true(self, home: Path) -> None:
        """On disk, committed, indexed, pushed: each stands for itself; the turn's own record is the last."""
        ran = turn(home, {**HELLO, "session": "s1"}, {"kind": "brief", "brief_kind": "ack", "text": "noted"})
        receipt = ran.json
        assert ran.code == 0
        assert receipt["on_disk"] is True
        assert receipt["committed"] == head(home, receipt["branch"])
        assert receipt["reason"] is None
        assert receipt["pushed"] is False
        assert [record["kind"] for record in receipt["records"]] == ["message", "brief", "turn"]
        assert receipt["records"][0]["source_ref"] == f"message:{receipt['records'][0]['id']}"

    def test_events_come_from_a_file_too(self, home: Path, tmp_path: Path) -> None:
        """And options stand for all events."""
        (tmp_path / "events.jsonl").write_text(jsonl(HELLO, HELLO))
        ran = gitmem("turn", "--input", tmp_path / "events.jsonl", "--session", "s9", "--json", cwd=home)
        assert len(ran.json["records"]) == 3
        with AgentHome.open(home) as opened:
            assert {line.turn for line in opened.ledger.lines_newest_first()} == {ran.json["turn_id"]}

    @pytest.mark.parametrize(
        "stdin",
        [
            "",
            "\n\n",
            "not json\n",
            "[1]\n",
            '{"kind": "nope"}\n',
            jsonl(HELLO) + "{",
            '{"kind":"message"}',
            "9" * 5000,
        ],
    )
    def test_invalid_input_records_nothing(self, home: Path, stdin: str) -> None:
        """All or nothing: a wrong event refuses its whole turn, with exit 2 and the number of the line."""
        ran = gitmem("turn", "--json", stdin=stdin, cwd=home)
        assert ran.code == 2
        assert "error" in ran.json
        assert git("for-each-ref", "refs/heads/gitmem", cwd=home) == ""

    @pytest.mark.parametrize(
        ("line", "what"),
        [
            ("{oops", "line 3 is not JSON"),
            ("[]", "line 3 is a list, not a JSON object"),
            ('{"kind": "message", "text": "x"}', "line 3: message: role missing"),
            ('{"kind": "message", "role": "user", "text": 5}', "line 3: message: text is text, not a number"),
            ('{"kind": "work_item", "action": "complete"}', "line 3: work_item: work_item_id missing"),
        ],
    )
    def test_the_line_of_a_wrong_event_is_named(self, home: Path, line: str, what: str) -> None:
        """People count lines from one, and speak no Python."""
        content = f"{jsonl(HELLO)}\n{line}\n"
        gitmem("turn", "open", cwd=home)
        for command in (["turn"], ["turn", "add"], ["turn", "close", "--input", "-"]):
            error = gitmem(*command, "--json", stdin=content, cwd=home).json["error"]
            assert error["details"]["line"] == 3
            assert error["message"].startswith(what)

    def test_who_types_events_is_told_how_they_end(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A command that only waits looks broken."""
        monkeypatch.setattr(standard_input, "is_terminal", lambda: True)
        assert "Ctrl-D" in gitmem("turn", stdin=jsonl(HELLO), cwd=home).err
        assert gitmem("turn", "--quiet", stdin=jsonl(HELLO), cwd=home).err == ""

    def test_any_text_survives(self, home: Path) -> None:
        """U+2028, an emoji, a NUL, bytes that are no UTF-8: none breaks a line or a turn."""
        text = 'a\u2028b\u0085c \U0001f4d6 \x00 "quoted" \\ end'
        raw = jsonl({**HELLO, "text": text}).encode() + b'{"kind":"message","role":"user","text":"\xff"}\n'
        ran = gitmem("turn", "--json", stdin=raw, cwd=home)
        assert ran.code == 0
        assert (
            gitmem("get", ran.json["records"][0]["source_ref"], "--json", cwd=home).json["memory"]["content"]
            == text
        )

    def test_a_secret_is_replaced_and_named(self, home: Path) -> None:
        """The receipt says which rule hit in which record, the secret is nowhere."""
        token = "ghp_" + "a1B2" * 9
        ran = turn(home, {**HELLO, "text": f"token {token}"})
        assert ran.json["redactions"] == [{"rule": "github-token", "record": ran.json["records"][0]["id"]}]
        assert "redacted" in ran.err
        found = [path for path in home.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
        assert not found

    def test_several_processes_feed_one_turn(self, home: Path) -> None:
        """A hook at the prompt and a hook at the end write one turn."""
        turn_id = gitmem_process("turn", "open", "--session", "s1", cwd=home).out.strip()
        for text in ("one", "two"):
            ran = gitmem_process(
                "turn", "add", "--turn", turn_id, stdin=jsonl({**HELLO, "text": text}), cwd=home
            )
            assert ran.code == 0
        closed = gitmem_process("turn", "close", "--turn", turn_id, "--json", cwd=home)
        assert [record["kind"] for record in closed.json["records"]] == ["message", "message", "turn"]
        assert closed.json["turn_id"] == turn_id
        assert closed.json["committed"]
        again = gitmem("turn", "close", "--turn", turn_id, "--json", cwd=home)
        assert again.code == 4

    def test_the_only_open_turn_needs_no_name(self, home: Path) -> None:
        """As long as there is one."""
        assert gitmem("turn", "add", stdin=jsonl(HELLO), cwd=home).code == 2
        gitmem("turn", "open", cwd=home)
        assert gitmem("turn", "add", stdin=jsonl(HELLO), cwd=home).code == 0
        gitmem("turn", "open", cwd=home)
        assert gitmem("turn", "close", cwd=home).code == 2

    def test_quiet_prints_nothing(self, home: Path) -> None:
        """Hooks like it silent."""
        assert gitmem("turn", "-q", stdin=jsonl(HELLO), cwd=home).out == ""

    def test_a_stale_update_is_refused_while_the_turn_is_kept(self, home: Path) -> None:
        """Exit 11: the rest of the turn is recorded, the event that came too late is named."""
        create = {"kind": "work_item", "action": "create", "work_item_id": "w1", "objective": "x"}
        update = {"kind": "work_item", "action": "update", "work_item_id": "w1", "expected_revision": 7}
        turn(home, create)
        ran = turn(home, HELLO, update)
        assert ran.code == 11
        assert ran.json["committed"]
        assert [(refused["event"], refused["code"]) for refused in ran.json["refused"]] == [
            (1, "revision_conflict")
        ]
