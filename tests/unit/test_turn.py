"""A turn as it is told: what the receipt says is true, whatever else goes wrong."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fixtures import commit_all, git, run_git
from gitmem.errors import InvalidRecord, NotFound, ThreatFound, UsageError
from gitmem.file_lock import file_lock
from gitmem.repository import Head
from gitmem.spool import SpooledTurn
from gitmem.turn import Turn
from gitmem.turn_line import TurnLine
from gitmem.turn_recorder import TurnRecorder
from turns import Desk, check_chains, make_desk

#: Put together at run time, so that scanners of this repository do not take it for one.
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home's turn path."""
    return make_desk(tmp_path / "home")


def message(text: str = "hello", **fields: Any) -> dict[str, Any]:
    """Return an event."""
    return {"kind": "message", "role": "user", "text": text, **fields}


def test_the_receipt_names_every_record_in_order(desk: Desk) -> None:
    """A caller finds what it told by the receipt alone; the turn's own record is the last."""
    with desk.recorder.open(session="s1") as turn:
        ref = turn.message("user", "Which port?", author="Olivia")
        turn.tool("bash", {"command": "ss -tln"}, "2222", status="success", exit_code=0)
        turn.brief("result", "It is 2222.")
        turn.decision("Use 2222", because="it is free")
        turn.event("task", task_id="t1", status="running", summary=None)
    receipt = turn.receipt
    assert [record["kind"] for record in receipt.records] == [
        "message",
        "tool_execution",
        "brief",
        "decision",
        "task",
        "turn",
    ]
    assert receipt.records[0]["source_ref"] == ref
    assert receipt.records[4]["source_ref"] == "task:t1"
    assert [record.id for record in desk.records()] == [record["id"] for record in receipt.records]
    assert (receipt.turn_index, receipt.on_disk, receipt.reason) == (1, True, None)
    assert receipt.committed == git("rev-parse", receipt.branch, cwd=desk.layout.root)
    assert {record.session for record in desk.records()} == {"s1"}


def test_turns_are_numbered_along_the_line(desk: Desk) -> None:
    """The number is given once and survives a restart."""
    desk.say("one")
    again = Desk(desk.layout.root)
    again.say("two")
    ends = [record for record in again.records() if record.kind == "turn"]
    assert [record.body["turn_index"] for record in ends] == [1, 2]


def test_one_invalid_event_refuses_the_whole_turn(desk: Desk) -> None:
    """Half a turn would be a story that did not happen."""
    bad: list[Any] = [
        message("", role="nobody"),
        {"kind": "nothing"},
        "text",
        message(ts="yesterday"),
        message(x=float("nan")),
    ]
    for event in bad:
        with pytest.raises(InvalidRecord) as caught:
            desk.recorder.record([message(), event, message()])
        assert caught.value.details["event"] == 1
    assert not desk.layout.spool.exists()
    assert list(desk.records()) == []


def test_a_turn_without_events_is_no_turn(desk: Desk) -> None:
    """Nothing happened, so nothing is recorded."""
    with pytest.raises(UsageError):
        desk.recorder.record([])
    with desk.recorder.open() as turn:
        pass
    assert (turn.receipt.on_disk, turn.receipt.committed, turn.receipt.reason) == (
        False,
        None,
        "nothing was told",
    )
    assert not [*desk.layout.spool.iterdir()]


def test_an_exception_aborts_the_turn_and_goes_on(desk: Desk) -> None:
    """What the agent did before it failed is what one wants to read later."""
    turn = desk.recorder.open()
    with pytest.raises(ZeroDivisionError), turn:
        turn.tool("divide", [1, 0], 1 / 0)
    turn = desk.recorder.open()
    with pytest.raises(ZeroDivisionError), turn:
        turn.tool("divide", [1, turn.message("user", "divide")], 1 / 0)
    assert turn.receipt.committed
    *_, end = desk.records()
    assert end.body["end"] == "aborted"
    assert "turn 1 (aborted): 1 message" in git(
        "log", "--format=%s", turn.receipt.branch, cwd=desk.layout.root
    )


def test_a_turn_of_a_dead_process_is_interrupted(desk: Desk) -> None:
    """The next open closes it with the events that had come."""
    turn = desk.recorder.open(session="s9")
    turn.message("user", "one")
    turn.flush()
    turn.file.close()  # as the kernel does
    again = Desk(desk.layout.root)
    again.spool.close_dead(again.recorder.now())
    again.line.commit_spooled(wait=1)
    first, end = again.records()
    assert (first.body["text"], end.body["end"], end.session) == ("one", "interrupted", "s9")


def test_an_ended_turn_takes_nothing_more(desk: Desk) -> None:
    """An event told too late would be lost without a word."""
    with desk.recorder.open() as turn:
        turn.message("user", "one")
    with pytest.raises(UsageError):
        turn.message("user", "two")
    turn.finish("completed")
    assert desk.texts() == ["one"]


def test_several_processes_tell_one_turn(desk: Desk) -> None:
    """A hook at the prompt and a hook at the end know only the turn's id, or that there is one."""
    first, second, third = (Desk(desk.layout.root) for _ in range(3))
    turn_id = first.recorder.open_held(session="s1")
    added = second.recorder.add_held(None, [message("one"), message(f"token {SECRET}")])
    assert [record["kind"] for record in added] == ["message", "message"]
    receipt = third.recorder.close_held(turn_id, [message("three")])
    assert receipt.turn_id == turn_id
    assert [record["id"] for record in receipt.records[:2]] == [record["id"] for record in added]
    assert len(receipt.records) == 4
    assert [(r["rule"], r["record"]) for r in receipt.redactions] == [("github-token", added[1]["id"])]
    assert desk.texts() == ["one", "token [redacted: github-token]", "three"]
    assert {record.session for record in desk.records()} == {"s1"}
    with pytest.raises(NotFound):
        first.recorder.add_held(turn_id, [message()])


def test_an_invalid_event_adds_nothing_to_a_held_turn(desk: Desk) -> None:
    """The others of that call may be told again."""
    turn_id = desk.recorder.open_held()
    with pytest.raises(InvalidRecord):
        desk.recorder.add_held(turn_id, [message("one"), {"kind": "nothing"}])
    with pytest.raises(InvalidRecord):
        desk.recorder.close_held(turn_id, [message("one"), {"kind": "nothing"}])
    desk.recorder.close_held(turn_id, [message("two")])
    assert desk.texts() == ["two"]


def everything_written(root: Path) -> bytes:
    """Return every Git object's content and every file below a repository, joined."""
    objects = run_git("cat-file", "--batch-all-objects", "--batch", cwd=root).stdout
    files = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
    return objects + files


def test_a_secret_is_nowhere(desk: Desk) -> None:
    """It is replaced before the first byte of it is written: not in the spool, Git or the copy on disk."""
    turn_id = desk.recorder.open_held()
    desk.recorder.add_held(turn_id, [message(f"held {SECRET}")])
    with desk.recorder.open() as turn:
        turn.message("user", f"the token is {SECRET}.", author=f"x {SECRET}")
        turn.tool("bash", {"env": {"list": [SECRET], SECRET: 1}}, f"{'x' * 20_000} {SECRET}")
        turn.flush()
        assert SECRET.encode() not in everything_written(desk.layout.root)
    desk.recorder.close_held(turn_id)
    assert SECRET.encode() not in everything_written(desk.layout.root)
    rules = {found["record"]: found["rule"] for found in turn.receipt.redactions}
    assert set(rules.values()) == {"github-token"}
    assert set(rules) == {record["id"] for record in turn.receipt.records[:2]}
    assert len(turn.receipt.redactions) == 5
    assert "the token is [redacted: github-token]." in desk.texts()


@pytest.mark.parametrize(
    "event",
    [
        message(session=SECRET),
        message(work_item=SECRET),
        {"kind": "task", "task_id": SECRET, "status": "running"},
    ],
)
def test_a_secret_as_an_id_is_refused(desk: Desk, event: dict[str, Any]) -> None:
    """Ids stand where no redaction reaches, and become refs."""
    with pytest.raises(ThreatFound) as caught:
        desk.recorder.record([message(), event])
    assert caught.value.details["event"] == 1
    with pytest.raises(ThreatFound):
        desk.recorder.open(session=SECRET)
    with desk.recorder.open() as turn:
        turn.message("user", "ok")
        with pytest.raises(ThreatFound):
            turn.add(event)
    assert SECRET.encode() not in everything_written(desk.layout.root)


def test_a_busy_home_is_said_and_the_turn_is_kept(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Acknowledged is acknowledged: the next turn brings both to the line, in their order."""
    monkeypatch.setattr("gitmem.turn_recorder.LOCK_WAIT", 0.01)
    with file_lock(desk.layout.home_lock, wait=0):
        receipt = desk.recorder.record([message("one")])
    assert (receipt.on_disk, receipt.committed, receipt.turn_index) == (True, None, None)
    assert receipt.reason
    assert "lock" in receipt.reason
    assert [turn.turn for turn in desk.ledger.spooled()] == [receipt.turn_id]
    assert desk.recorder.record([message("two")]).turn_index == 2
    assert desk.texts() == ["one", "two"]


def test_while_head_names_the_line_turns_wait(desk: Desk) -> None:
    """The operator looks at the line by checking it out: its files and HEAD stay as they are."""
    root = desk.layout.root
    commit_all(root, files={"a.md": "a\n"})
    desk.say("one")
    branch = desk.own_ref().removeprefix("refs/heads/")
    git("checkout", "-q", branch, cwd=root)
    before = git("rev-parse", "HEAD", cwd=root)
    for desk_ in (desk, Desk(root)):
        receipt = desk_.recorder.record([message("more")])
        assert receipt.committed is None
        assert "HEAD" in (receipt.reason or "")
    desk.settle()
    assert git("rev-parse", "HEAD", cwd=root) == before
    assert git("status", "--porcelain", cwd=root) == ""
    git("checkout", "-q", "main", cwd=root)
    desk.say("last")
    assert desk.texts() == ["one", "more", "more", "last"]


@pytest.mark.parametrize("call", ["write_pack", "move_ref"])
def test_a_full_disk_while_committing_keeps_the_turn(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """The caller has its receipt, with the reason; nothing is told twice when there is room again."""
    desk.say("one")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(desk.repository, call, fail)
        receipt = desk.recorder.record([message("two")])
    assert (receipt.on_disk, receipt.committed) == (True, None)
    assert "No space" in (receipt.reason or "")
    desk.say("three")
    assert desk.texts() == ["one", "two", "three"]
    check_chains(desk.ledger)


@pytest.mark.parametrize("step", ["copied", "remembered", "marked"])
def test_what_fails_after_the_commit_is_a_warning(tmp_path: Path, step: str) -> None:
    """The turn is on the line: a receipt that denies it would have it told again."""
    failing = [False]

    def checkpoint(name: str) -> None:
        if failing[0] and name == step:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    desk = make_desk(tmp_path / "home", checkpoint=checkpoint)
    desk.say("one")
    failing[0] = True
    receipt = desk.recorder.record([message("two")])
    assert receipt.committed == git("rev-parse", receipt.branch, cwd=desk.layout.root)
    assert any("No space" in warning for warning in receipt.warnings)
    failing[0] = False
    desk.say("three")
    desk.settle()
    assert desk.texts() == ["one", "two", "three"]
    assert not [*desk.layout.spool.iterdir()]


def test_a_turn_that_another_process_committed_is_reported_as_such(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever takes the lock first commits all that waits; each caller still gets its commit."""
    other = Desk(desk.layout.root)
    other.say("before")
    real = TurnLine.commit_spooled

    def after_the_other(line: TurnLine, *, wait: float, told: SpooledTurn | None) -> Any:
        if line is desk.line:
            real(other.line, wait=wait)
        return real(line, wait=wait, told=told)

    monkeypatch.setattr(TurnLine, "commit_spooled", after_the_other)
    receipt = desk.recorder.record([message("mine")])
    assert receipt.committed == git("rev-parse", receipt.branch, cwd=desk.layout.root)
    assert (receipt.turn_index, receipt.reason) == (2, None)


def test_an_expected_revision_that_is_not_there_is_refused(desk: Desk) -> None:
    """The turn is recorded, the change that conflicts is not, and the receipt says which one and why."""
    task = {"kind": "task", "task_id": "t1", "status": "running"}
    assert desk.recorder.record([task]).refused == ()
    receipt = desk.recorder.record(
        [message("one"), {**task, "expected_revision": 2}, {**task, "expected_revision": 1}]
    )
    (refused,) = receipt.refused
    assert (refused["event"], refused["code"], refused["expected"], refused["actual"]) == (
        1,
        "revision_conflict",
        2,
        1,
    )
    assert receipt.committed
    snapshots = [record for record in desk.records() if record.kind == "task"]
    assert [record.revision for record in snapshots] == [1, 2]
    *_, end = desk.records()
    assert end.body["refused"] == 1


def test_what_another_process_refused_is_in_the_receipt(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two changes of one revision one is refused, whichever process takes both from the spool."""
    task = {"kind": "task", "task_id": "t1", "status": "running"}
    desk.recorder.record([task])
    other = Desk(desk.layout.root)
    real = TurnLine.commit_spooled

    def after_the_other(line: TurnLine, *, wait: float, told: SpooledTurn | None) -> Any:
        if line is desk.line:
            real(other.line, wait=wait)
        return real(line, wait=wait, told=told)

    monkeypatch.setattr(TurnLine, "commit_spooled", after_the_other)
    late = {**task, "expected_revision": 7}
    receipt = desk.recorder.record([message("one"), late, message("two")])
    (refused,) = receipt.refused
    assert (refused["event"], refused["code"]) == (1, "revision_conflict")
    assert (refused["expected"], refused["actual"]) == (7, 1)
    assert "revision" in refused["message"]
    told = desk.recorder.record([message("three")])
    assert [record["kind"] for record in told.records] == ["message", "turn"]


def test_the_followers_of_a_turn_that_another_process_committed_are_in_the_receipt(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller learns of the brief that completing made, whoever sealed the turn."""
    item = {"kind": "work_item", "work_item_id": "w1"}
    desk.recorder.record([{**item, "action": "create", "objective": "move it"}])
    other = Desk(desk.layout.root)
    real = TurnLine.commit_spooled

    def after_the_other(line: TurnLine, *, wait: float, told: SpooledTurn | None) -> Any:
        if line is desk.line:
            real(other.line, wait=wait)
        return real(line, wait=wait, told=told)

    monkeypatch.setattr(TurnLine, "commit_spooled", after_the_other)
    receipt = desk.recorder.record([{**item, "action": "complete", "report": "moved"}])
    assert [record["kind"] for record in receipt.records] == ["work_item", "brief", "episode", "turn"]


def test_an_event_that_cannot_be_sealed_holds_up_no_other(desk: Desk) -> None:
    """It could never be sealed, so no turn after it would ever be."""
    deep: Any = 1
    for _ in range(62):
        deep = [deep]
    odd = {"blob": {"sha256": "x", "bytes": 1, "fields": {}, "deep": deep}}
    receipt = desk.recorder.record([message("one"), message("x" * 20_000, **odd), message("two")])
    assert receipt.committed
    assert [refused["event"] for refused in receipt.refused] == [1]
    desk.say("three")
    assert desk.texts() == ["one", "two", "three"]


def test_files_that_cannot_be_committed_do_not_undo_the_turn(desk: Desk) -> None:
    """What was told is true whether or not the branch takes the files."""
    seen: list[tuple[list[str], str]] = []

    def on_files(paths: Sequence[str], turn: Turn) -> list[str]:
        turn.message("system", "while the turn is open")
        seen.append((list(paths), turn.id))
        raise UsageError("no such file")

    recorder = TurnRecorder(desk.spool, desk.line, now=desk.recorder.now, on_files=on_files)
    receipt = recorder.record([{"kind": "file", "path": "notes/a.md"}, message()])
    assert seen == [(["notes/a.md"], receipt.turn_id)]
    assert receipt.committed
    assert any("no such file" in warning for warning in receipt.warnings)
    assert desk.texts() == ["hello", "while the turn is open"]


def test_threads_share_a_recorder(desk: Desk) -> None:
    """Each turn is recorded once, and the chain is one."""

    def work(name: int) -> None:
        for number in range(8):
            desk.say(f"{name}.{number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(desk.texts()) == sorted(f"{name}.{number}" for name in range(4) for number in range(8))
    # A record for each turn and message, and one for each twelve turns, which are an episode.
    assert list(check_chains(desk.ledger).values()) == [64 + 2]


def test_head_is_what_it_was_at_the_turn(desk: Desk) -> None:
    """Files of a turn are looked up by the commit that HEAD named; an unborn branch names none."""
    root = desk.layout.root
    first = desk.recorder.record([message()])
    assert "Gitmem-Head" not in git("show", "-s", "--format=%B", str(first.committed), cwd=root)
    head = commit_all(root, files={"a.md": "a\n"})
    second = desk.recorder.record([message()])
    assert f"Gitmem-Head: {head}" in git("show", "-s", "--format=%B", str(second.committed), cwd=root)
    assert desk.repository.head() == Head("refs/heads/main", head)


@pytest.mark.parametrize(
    "act",
    [
        lambda root: git("checkout", "-q", "--detach", cwd=root),
        lambda root: (root / ".git" / "index.lock").touch(),
        lambda root: (root / ".git" / "MERGE_HEAD").write_text("0" * 40 + "\n"),
        lambda root: (root / ".git" / "HEAD.lock").touch(),
        lambda root: (root / ".git" / "refs" / "heads" / "main.lock").touch(),
    ],
)
def test_the_state_of_the_operators_branch_is_no_matter(desk: Desk, act: Callable[[Path], object]) -> None:
    """Turns go on beside whatever the operator is in the middle of."""
    root = desk.layout.root
    commit_all(root, files={"a.md": "a\n"})
    act(root)
    before = git("rev-parse", "HEAD", cwd=root)
    assert desk.recorder.record([message()]).committed
    assert git("rev-parse", "HEAD", cwd=root) == before


def test_no_word_of_a_caller_stands_in_a_commit(desk: Desk) -> None:
    """Forges act on what messages say, and a purge would have to rewrite them."""
    receipt = desk.recorder.record(
        [message("fixes #12 @olivia"), {"kind": "session", "event": "title", "title": "#12"}],
        session="s-closes-12",
    )
    text = git("show", "-s", "--format=%an %ae %cn %ce %B", str(receipt.committed), cwd=desk.layout.root)
    assert "#12" not in text
    assert "olivia" not in text
    assert "s-closes-12" not in text


def test_long_texts_leave_the_line_and_come_back(desk: Desk) -> None:
    """The line stays short; nothing of the text is lost, and what is short stays where it is."""
    edge, long = "é" * 8192, "計" * 200_000
    desk.recorder.record([message(edge), message(long)])
    short, moved, _ = desk.records()
    assert short.body["text"] == edge
    assert len(moved.body["text"]) < 4000
    assert desk.ledger.full_body(moved)["text"] == long
    (blob,) = desk.layout.root.glob("ledger/blobs/*/*/*")
    assert (blob.name, blob.read_text("utf-8")) == (moved.id, long)


@pytest.mark.slow
def test_the_largest_event_passes_and_one_byte_more_is_refused(desk: Desk) -> None:
    """Nothing below 64 MiB is refused for its size."""
    text = "x" * (64 * 1024 * 1024 - 4)
    assert desk.recorder.record([message(text)]).committed
    record, _ = desk.records()
    assert desk.ledger.full_body(record)["text"] == text
    with pytest.raises(InvalidRecord):
        desk.recorder.record([message(text + "x")])
