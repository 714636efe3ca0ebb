"""`gitmem work` and `gitmem tasks` from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from system.command_line import Ran, gitmem

from fixtures import git, set_identity
from gitmem import AgentHome


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A new home with an operator."""
    assert gitmem("init", tmp_path / "home", "--agent", "aria").code == 0
    set_identity(tmp_path / "home")
    return tmp_path / "home"


def work(home: Path, *arguments: str, stdin: str = "") -> Ran:
    """Run `gitmem work … --json`."""
    return gitmem("work", *arguments, "--json", "-C", home, stdin=stdin)


def test_a_work_item_from_end_to_end(home: Path) -> None:
    """Create, pick, wait, answer, complete: every step says what holds."""
    made = work(home, "create", "Move staging", "--todo", '[{"text": "dump", "state": "in_progress"}]').json
    item = made["id"]
    assert (made["revision"], made["work_item"]["current_todo"]["text"]) == (1, "dump")
    assert work(home, "pick", item, "--session", "s1").json["pick"] == "explicit_focus_pick"
    waiting = work(home, "wait", "--for", "the port", "--session", "s1").json
    assert waiting["work_item"]["readiness"] == "waiting_for_operator"
    event = {"kind": "message", "role": "user", "text": "2222"}
    assert gitmem("turn", "--session", "s1", "-C", home, stdin=json.dumps(event)).code == 0
    assert work(home, "list", "--session", "s1").json["work_items"][0]["readiness"] == "runnable"
    refused = work(home, "complete", item, "--session", "s1")
    assert (refused.code, refused.json["error"]["code"]) == (3, "completion_report_missing")
    done = work(home, "complete", item, "--report", "-", "--session", "s1", stdin="Moved.")
    assert (done.code, done.json["work_item"]["status"]) == (0, "completed")
    assert "unfinished_todos: 1 (1 in progress): dump" in done.err
    shown = work(home, "show", item).json
    assert shown["plan"]["path"].startswith("work/done/")
    assert shown["total_turns"] >= 4
    for ref in [shown["work_item"]["source_ref"], shown["work_item"]["result_brief"], *shown["turns"]]:
        assert gitmem("get", ref, "--json", "-C", home).code == 0, ref
    assert work(home, "show", item, "--as-of", "HEAD").json["work_item"]["status"] == "completed"
    first = work(home, "show", item, "--as-of", made["committed"]).json
    assert first["work_item"]["status"] == "open"
    assert first["turns"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("update", "w1", "--objective", "x"), 3, "work_item_not_open"),
        (("wait", "w1", "--for", "x"), 3, "work_item_not_open"),
        (("pick", "nothing"), 4, "work_item_not_found"),
        (("show", "work_item:w2@h0123456789abcdef"), 4, "work_item_not_found"),
        (("update", "w2", "--objective", "x", "--expected-revision", "7"), 11, "revision_conflict"),
        (("update", "w2", "--clear-blocker"), 2, "invalid_record"),
        (("update", "w2", "--objective", "x", "--expected-revision", "0"), 11, "revision_conflict"),
        (("update", "w2", "--todo", "[7"), 2, "invalid_input"),
        (("update", "w2", "--todo", "a", "--todo", '{"text"'), 2, "invalid_input"),
        (("create", "One", "--objective", "Two"), 2, "invalid_input"),
        (("list", "--as-of", "HEAD~99"), 4, "not_found"),
        (("wait", "w2", "--for", "x", "--wake", "timer"), 2, "invalid_record"),
        (("create",), 2, "invalid_input"),
        (("create", "x", "--work-item-id", "w2"), 3, "work_item_exists"),
        (("list", "--as-of", "soonish"), 2, "invalid_input"),
        (("list", "--cursor", "x"), 2, "invalid_input"),
    ],
)
def test_exit_codes(home: Path, arguments: tuple[str, ...], code: int, error: str) -> None:
    """Each refusal has its exit code and its word."""
    assert work(home, "create", "Old", "--work-item-id", "w1").code == 0
    assert work(home, "complete", "w1", "--report", "done").code == 0
    assert work(home, "create", "New", "--work-item-id", "w2").code == 0
    ran = work(home, *arguments)
    assert (ran.code, ran.json["error"]["code"]) == (code, error)


def test_people_read_text(home: Path) -> None:
    """One line for each, and what to do where there is nothing."""
    assert "No work items" in gitmem("work", "list", "-C", home).out
    assert gitmem("tasks", "-C", home).out == "No tasks.\n"
    gitmem("work", "create", "搬数据库", "--work-item-id", "w1", "--plan", "1. dump", "-C", home)
    assert "w1  runnable  搬数据库" in gitmem("work", "list", "-C", home).out
    assert "1. dump" in gitmem("work", "show", "w1", "-C", home).out
    assert "it is so already" in gitmem("work", "update", "w1", "-C", home).out
    task = {"kind": "task", "task_id": "t1", "status": "running", "summary": "dump"}
    gitmem("turn", "-C", home, stdin=json.dumps(task))
    assert "running      t1  dump" in gitmem("tasks", "-C", home).out
    said = gitmem("work", "wait", "--for", "it", "--wake", "task", "--resource", "t1", "-C", home)
    assert "waits for it" in said.out


def test_an_empty_list_says_what_was_asked_for(home: Path) -> None:
    """Somebody with many work items who asks for the blocked ones is not told to create the first."""
    work(home, "create", "Move", "--work-item-id", "w1")
    said = gitmem("work", "list", "--filter", "blocked", "--as-of", "2 days ago", "-C", home).out
    assert said == "No work items with --filter blocked --as-of '2 days ago'.\n"
    assert gitmem("tasks", "--status", "failed", "-C", home).out == "No tasks with --status failed.\n"
    said = gitmem("episode", "list", "--as-of", "yesterday", "-C", home).out
    assert said == "No episodes with --as-of yesterday.\n"
    assert "No episodes. They are written when work ends." in gitmem("episode", "list", "-C", home).out


def test_what_was_not_there_yet_is_said_so(home: Path) -> None:
    """Or somebody who sees it in the list of now takes it for lost."""
    work(home, "create", "Move", "--work-item-id", "w1")
    ran = work(home, "show", "w1", "--as-of", "2 days ago")
    assert (ran.code, ran.json["error"]["details"]["work_item"]) == (4, "w1")
    assert "there is no work item 'w1' as of 2 days ago" in ran.err


def test_steps_are_text_or_json(home: Path) -> None:
    """A step with its state may stand among others; what cannot be told as text says how it is."""
    step = '{"text": "dump", "state": "completed"}'
    made = work(home, "create", "Move", "--work-item-id", "w1", "--todo", step, "--todo", "load").json
    told = [(one["text"], one["state"]) for one in made["work_item"]["todo"]]
    assert told == [("dump", "completed"), ("load", "pending")]
    ran = gitmem("work", "update", "w1", "--todo", "[urgent] call", "-C", home)
    assert ran.code == 2
    given = ran.err.partition("--todo '")[2].rpartition("'")[0]
    assert work(home, "update", "w1", "--todo", given).json["work_item"]["todo"][0]["text"] == "[urgent] call"


def test_no_plan_and_many_turns_are_shown_briefly(home: Path) -> None:
    """No gap stands where a plan has no body, and the turns that are left out are counted."""
    work(home, "create", "Move", "--work-item-id", "w1")
    work(home, "pick", "w1", "--session", "s1")
    for number in range(5):
        work(home, "update", "w1", "--todo", f"step {number}", "--session", "s1")
    shown = gitmem("work", "show", "w1", "-C", home).out
    assert "\n\n\n" not in shown
    assert "turns: 6, the last 5\n" in shown
    assert shown.count("turn:turn_") == 5


def test_an_event_that_is_refused_for_good_is_not_told_to_try_again(home: Path) -> None:
    """Exit 11 invites to repeat a turn, which helps where a revision is stale, and nowhere else."""
    work(home, "create", "Move", "--work-item-id", "w1")
    stale = {"kind": "work_item", "action": "update", "work_item_id": "w1", "expected_revision": 7}
    unknown = {"kind": "work_item", "action": "pick", "work_item_id": "w9"}
    unreported = {"kind": "work_item", "action": "complete", "work_item_id": "w1"}
    for events, code in [([stale], 11), ([unknown], 4), ([unreported], 3), ([stale, unknown], 4)]:
        ran = gitmem("turn", "--json", "-C", home, stdin="\n".join(map(json.dumps, events)))
        assert (ran.code, len(ran.json["refused"])) == (code, len(events))
        assert ran.json["committed"]


def test_an_operator_edits_a_plan_and_commits_it(home: Path) -> None:
    """What they changed of the front matter is put back, and they are told."""
    work(home, "create", "Move", "--work-item-id", "w1")
    (plan,) = home.glob("work/*/plan.md")
    plan.write_text("---\nid: w1\nobjective: Stay\n---\n\nmine\n")
    ran = gitmem("commit", "-C", home)
    assert ran.code == 0
    assert "objective was put back" in ran.err
    assert plan.read_text() == "---\nid: w1\nobjective: Move\n---\n\nmine\n"
    assert git("status", "--short", cwd=home) == ""


def test_a_model_keeps_track_by_its_tool(home: Path) -> None:
    """Answers are JSON, refusals too, and a wrong argument breaks nothing."""
    with AgentHome.open(home) as opened:
        tools = opened.tools(["memory_work"], session="s1")

        def call(**arguments: object) -> dict[str, object]:
            return tools.call("memory_work", arguments)

        made = call(action="create", objective="Move", todo=[{"text": "dump"}], work_item_id="w1")
        assert made["revision"] == 1
        assert call(action="pick", work_item_id="w1")["focus_mode"] == "runnable"
        assert call(action="wait", waiting_for="the port", wake="operator_input")["work_item_id"] == "w1"
        assert call(action="list", filter="waiting_for_operator")["total_matching"] == 1
        assert call(action="complete", work_item_id="w1")["code"] == "completion_report_missing"
        assert call(action="complete", work_item_id="w1", report=7)["code"] == "invalid_input"
        assert call(action="dance")["code"] == "invalid_input"
        assert call(action="update", work_item_id="w1", report="done")["code"] == "invalid_input"
        assert call(action="update", work_item_id="w1", report="", objective="Move")["unchanged"] is True
        assert call(action="update", work_item_id=["w1"])["code"] == "invalid_input"
        assert call(action="create", objective="x", todo={"text": "y"})["code"] == "invalid_record"
        shown = call(action="show", work_item_id="w1")
        assert isinstance(shown["work_item"], dict)
        assert call(action="drop", work_item_id="w1", reason="not needed")["unchanged"] is False
