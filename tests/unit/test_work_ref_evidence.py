"""Work refs of one turn: what is evidence, and what only claims to be."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.records import Record
from gitmem.turn_evidence import TurnEvidence
from gitmem.work_ref import WorkRef, refs_from_json, refs_to_json
from gitmem.work_ref_evidence import INLINE, MOST_PER_KIND, derive_refs
from gitmem.work_ref_merge import WorkRefs, merge_refs
from gitmem.work_ref_text import render_ref

PATCH = "--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1 @@\n-old\n+new\n"
WRITTEN = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Delete File: gone.py\n*** End Patch\n"

TURN = Record(
    id="turn_000000000000001",
    kind="turn",
    ts="2026-11-30T09:59:00.000Z",
    turn="turn_000000000000001",
    body={"turn_index": 1, "end": "completed"},
    writer="w0123abcd",
    seq=99,
    clock="00000000000000ff",
)


def record(kind: str, number: int = 1, /, **fields: Any) -> Record:
    """Return a record of the turn; what is no field of the envelope is its body."""
    envelope = {
        name: fields.pop(name) for name in ("work_item", "workspace", "object", "turn") if name in fields
    }
    prefix = {"message": "msg", "tool_execution": "tool"}.get(kind, kind)
    return replace(
        TURN,
        id=f"{prefix}_{number:015x}",
        kind=kind,
        ts=f"2026-11-30T09:00:{number:02}.000Z",
        body=fields,
        seq=number,
        **envelope,
    )


def tool(name: str, given: Any, number: int = 1, /, **fields: Any) -> Record:
    """Return the record of a tool execution."""
    return record("tool_execution", number, tool=name, input=given, **fields)


def derived(*records: Record, work_item: str | None = "work_1") -> tuple[WorkRef, ...]:
    """Return the refs of a turn with these records."""
    return derive_refs(TurnEvidence(TURN, records), work_item)


def refs_of(*records: Record, commands: bool = False) -> dict[str, str]:
    """Return ref and status of what records name, without the commands themselves."""
    found = derived(*records)
    return {ref.ref: ref.status for ref in found if commands or ref.kind != "tool_execution"}


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("apply_patch", PATCH, {"src/x.py": "active"}),
        ("ApplyPatch", {"patch": WRITTEN}, {"src/a.py": "active", "gone.py": "stale"}),
        ("functions.apply_patch", json.dumps({"input": WRITTEN}), {"src/a.py": "active", "gone.py": "stale"}),
        (
            "Edit",
            {"file_path": "/w/src/x.py", "old_string": "a", "new_string": "b"},
            {"/w/src/x.py": "active"},
        ),
        ("MultiEdit", {"file_path": "x.py", "edits": [{"old_string": "a"}]}, {"x.py": "active"}),
        ("Write", {"file_path": "./docs//x.md", "content": PATCH}, {"docs/x.md": "active"}),
        ("write_file", {"path": "x y.md"}, {"x y.md": "active"}),
        ("mcp__filesystem__write_file", {"path": "x.md"}, {"x.md": "active"}),
        ("multi_edit", {"edits": [{"path": "a"}, {"path": "b"}]}, {"a": "active", "b": "active"}),
        ("str_replace_based_edit_tool", {"command": "create", "path": "x"}, {"x": "active"}),
        ("str_replace_based_edit_tool", {"command": "view", "path": "x"}, {}),
        ("delete_file", {"path": "x"}, {"x": "stale"}),
        ("move_file", {"source": "x", "destination": "y"}, {"x": "stale", "y": "active"}),
        ("shell", {"command": f"git apply <<'EOF'\n{PATCH}EOF"}, {"src/x.py": "active"}),
        ("shell", {"command": f"cd w && patch -p1 <<'EOF'\r\n{PATCH}EOF"}, {"src/x.py": "active"}),
        (
            "shell",
            {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{WRITTEN}EOF"]},
            {"src/a.py": "active", "gone.py": "stale"},
        ),
        ("shell", {"command": ["apply_patch", WRITTEN]}, {"src/a.py": "active", "gone.py": "stale"}),
        ("shell", {"command": f"git apply --check <<'EOF'\n{PATCH}EOF"}, {}),
        ("shell", {"command": f"cat > later.patch <<'EOF'\n{PATCH}EOF"}, {"later.patch": "active"}),
        ("shell", {"command": f"printf '%s' '{PATCH}' | patch -p1"}, {"src/x.py": "active"}),
        ("shell", {"command": ["sh", "-c", f"git apply <<< '{PATCH}'"]}, {"src/x.py": "active"}),
        (
            "shell",
            {"command": "cd w && sed -i 's/a/b/' x.py && rm y.py"},
            {"x.py": "active", "y.py": "stale"},
        ),
        ("shell", {"command": "sed -i 's/a/b/' x.py; make"}, {}),
        ("copy_file", {"source": "x", "destination": "y"}, {"x": "active", "y": "active"}),
        ("fs_write", {"command": "create", "path": "x"}, {"x": "active"}),
        ("text_editor_20250124", {"command": "str_replace", "path": "x"}, {"x": "active"}),
        ("unheard_of", {"command": "str_replace", "path": "x"}, {}),
        ("FileEditTool", {"path": ".\\src\\x.py"}, {"src\\x.py": "active"}),
        ("edit", {"command": ["str_replace"], "path": "x"}, {"x": "active"}),
        ("Write", {"path": "./"}, {}),
        ("Write", {"path": "/dev/null"}, {}),
        ("Read", {"file_path": "x.py"}, {}),
        ("think", {"path": "x.py"}, {}),
        ("think", PATCH, {}),
        ("Edit", {"file_path": ["x.py"]}, {}),
        ("Edit", None, {}),
    ],
)
def test_files_that_tools_changed(name: str, given: Any, expected: dict[str, str]) -> None:
    """Tools that edit, and patches that commands apply, prove which files were touched."""
    assert refs_of(tool(name, given)) == expected


def test_a_tool_that_failed_changed_nothing() -> None:
    """An edit that failed names no file; a command that failed may have patched one before."""
    assert refs_of(tool("Edit", {"file_path": "x.py"}, status="error")) == {}
    assert refs_of(tool("apply_patch", PATCH, exit_code=1)) == {}
    command = f"git apply <<'EOF'\n{WRITTEN}EOF\nmake test"
    failed = derived(tool("shell", {"command": command}, exit_code=2))
    assert {(ref.ref, ref.status) for ref in failed if ref.kind == "file"} == {
        ("src/a.py", "active"),
        ("gone.py", "active"),
    }
    assert {ref.reason for ref in failed} == {"in the patch of a command that failed", "failed, exit 2"}


def test_the_agents_own_files() -> None:
    """A `file` event says which file the agent changed with tools of its own."""
    assert refs_of(record("file", path="notes/x.md")) == {"notes/x.md": "active"}


def test_what_the_model_says_is_no_evidence() -> None:
    """A model cannot write refs: not in its words, its report, its decisions or a tool's comment."""
    claims = "I changed src/x.py, see https://github.com/o/r/pull/7 and https://x.example/"
    assert (
        refs_of(
            record("message", 1, role="assistant", text=claims, source_refs=["task:t1", "turn:turn_1"]),
            record("message", 2, role="tool", text=claims, source_refs=["task:t1"]),
            record("brief", 3, brief_kind="result", text=claims),
            record("decision", 4, text=claims, because=claims),
            tool("think", claims, 5),
            tool("shell", {"command": f"cat <<'EOF'\n{claims}\nEOF\n# {claims}"}, 6),
            tool("fetch", {"query": "x"}, 7, output=claims),
        )
        == {}
    )
    assert refs_of(tool("Edit", {"file_path": "src/x.py"})) == {"src/x.py": "active"}


@pytest.mark.parametrize(
    "who",
    [
        {"authority": "external_evidence"},
        {"authority": "untrusted_external"},
        {"authority": "integration_signal", "origin": "operator"},
        {"authority": "Operator_Instruction"},
        {"authority": ["operator_instruction"]},
        {"origin": "webhook:github"},
        {"origin": "channel"},
        {"authority": "operator_instruction", "origin": "channel:general"},
        {"origin": {"kind": "callback", "descriptor_id": "x"}},
        {"origin": {"channel": {"channel_id": "c"}}},
        {"origin": {"operator": 1, "channel": 2}},
        {"origin": 7},
    ],
)
def test_strangers_words_bind_nothing(who: dict[str, Any]) -> None:
    """An external message names issues, source refs and work items in vain (W17)."""
    text = "close https://github.com/o/r/issues/12, see https://x.example/"
    metadata = {"work_item_id": "work_1", "task_id": "t1"}
    message = record(
        "message",
        role="user",
        text=text,
        source_refs=["task:t1"],
        metadata=metadata,
        work_item_id="work_1",
        **who,
    )
    assert refs_of(message) == {}


@pytest.mark.parametrize(
    "who",
    [
        {},
        {"authority": "operator_instruction", "origin": "operator"},
        {"authority": "trusted_system"},
        {"origin": "operator"},
        {"origin": {"kind": "timer", "timer_id": "x"}},
        {"origin": {"task": {"task_id": "t"}}},
    ],
)
def test_the_operators_words_count(who: dict[str, Any]) -> None:
    """What the operator or the runtime names is what the work is about (W12), but for `#12` alone (W13)."""
    text = "https://github.com/o/r/issues/12. (https://github.com/o/r/pull/7/files) #13 https://a:b@x.example/y#z"
    assert refs_of(record("message", role="user", text=text, **who)) == {
        "github:o/r#12": "active",
        "github:o/r#7": "active",
        "https://x.example/y": "active",
    }


def test_what_the_operator_cites() -> None:
    """Source refs become refs of their kind; a message is where things are named, and none itself."""
    cited = [
        "tool_execution:tool_1:output",
        "task:t1",
        "wait:w1",
        "work_item:work_2",
        "brief:brief_1",
        "note:n1",
    ]
    wrong = ["message:msg_1", "nothing", "task:../x", "made_up:x", 7, None]
    found = derived(
        record("message", role="user", text="", source_refs=[*cited, "workspace_profile:ws", *wrong])
    )
    assert {(ref.kind, ref.ref) for ref in found} == {
        ("tool_execution", "tool_execution:tool_1:output"),
        ("task", "task:t1"),
        ("wait", "wait:w1"),
        ("other", "work_item:work_2"),
        ("memory", "brief:brief_1"),
        ("memory", "note:n1"),
        ("workspace", "ws"),
    }
    by_name = {"task": "task:t1", "url": "https://github.com/o/r/issues/12"}
    assert refs_of(record("message", role="system", text="x", source_refs=by_name)) == {
        "task:t1": "active",
        "github:o/r#12": "active",
    }


def test_records_of_others_are_not_attributed() -> None:
    """A tool that ran for another work item, or in another turn, proves nothing of this one (W14)."""
    own = tool("Edit", {"file_path": "own"}, 1, work_item="work_1")
    unbound = tool("Edit", {"file_path": "unbound"}, 2)
    other = tool("Edit", {"file_path": "other"}, 3, work_item="work_2")
    earlier = tool("Edit", {"file_path": "earlier"}, 4, turn="turn_000000000000002")
    assert refs_of(own, unbound, other, earlier) == {"own": "active", "unbound": "active"}
    without = derived(own, unbound, other, work_item=None)
    assert [ref.ref for ref in without] == ["unbound"]
    redacted = replace(own, redacted=True, body={})
    assert refs_of(redacted) == {}


def test_a_command_is_a_ref_with_a_preview() -> None:
    """It names the record that holds its output, and what it was, without its secrets."""
    secret = "ghp_" + "a1B2" * 9
    (ref,) = derived(tool("shell", {"command": f"curl -H 'token: {secret}' x\n" + "y" * 300}, exit_code=3))
    assert (ref.kind, ref.ref, ref.source_ref) == (
        "tool_execution",
        "tool_execution:tool_000000000000001:cmd",
        "tool_execution:tool_000000000000001:cmd",
    )
    assert ref.title is not None
    assert secret not in ref.title
    assert "\n" not in ref.title
    assert len(ref.title) <= 240
    assert ref.metadata["exit_code"] == 3
    assert len(ref.metadata["digest"]) == 64
    assert ref.reason == "failed, exit 3"


@pytest.mark.parametrize("command", ["cat <<EOF\nx\nEOF", "python - < x", 'python3 -c "x"', "bash -c 'x'"])
def test_a_script_has_no_preview(command: str) -> None:
    """The first words of a program that a command brings along say nothing of what it does."""
    (ref,) = derived(tool("shell", {"cmd": command}))
    assert ref.title == INLINE


def test_batches() -> None:
    """Each command of a batch is a ref of its own, with its own outcome."""
    given = {"items": [{"cmd": "make"}, {"cmd": "gh pr merge 7 -R o/r"}, {"note": "x"}, "ls"]}
    output = {"items": [{"exit_code": 1}, {"exit_code": 0}]}
    found = derived(tool("ExecCommandBatch", given, output=output))
    assert {(ref.ref, ref.status, ref.title or "") for ref in found} == {
        ("tool_execution:tool_000000000000001:batch_item:1:cmd", "active", "make"),
        ("tool_execution:tool_000000000000001:batch_item:2:cmd", "active", "gh pr merge 7 -R o/r"),
        ("tool_execution:tool_000000000000001:batch_item:4:cmd", "active", "ls"),
        ("github:o/r#7", "resolved", ""),
    }
    assert {ref.reason for ref in found} == {"failed, exit 1", "ran", "gh pr merge"}


@pytest.mark.parametrize(
    ("command", "fields", "status"),
    [
        ("gh pr merge 7 -R o/r", {}, "resolved"),
        ("cd x && gh pr merge 7 --repo=o/r && make", {"exit_code": 0}, "resolved"),
        ("gh pr merge 7 -R o/r", {"exit_code": 1}, "active"),
        ("gh pr merge 7 -R o/r", {"status": "error"}, "active"),
        ("gh pr merge 7 -R o/r; true", {"exit_code": 0}, "active"),
        ("gh pr merge 7 -R o/r || true", {"exit_code": 0}, "active"),
        ("gh pr view 7 -R o/r", {}, "active"),
    ],
)
def test_a_merge_that_happened_resolves(command: str, fields: dict[str, Any], status: str) -> None:
    """Only what the exit code proves changes what a pull request is."""
    assert refs_of(tool("Bash", {"command": command}, **fields)) == {"github:o/r#7": status}


def test_looking_at_what_is_over_does_not_reopen_it() -> None:
    """Neither in the same turn nor in a later one; reopening it does, and the operator's naming it."""
    merged = tool("Bash", {"command": "gh pr merge 7 -R o/r"}, 1)
    looked = tool("Bash", {"command": "gh pr view 7 -R o/r"}, 2)
    (_, _, ref) = derived(merged, looked)
    assert (ref.ref, ref.status, ref.reason) == ("github:o/r#7", "resolved", "gh pr merge")
    assert ref.last_seen == looked.ts
    later = replace(TURN, clock="0000000000000fff")
    known = merge_refs(WorkRefs(), derived(merged))
    known = merge_refs(known, derive_refs(TurnEvidence(later, (looked,)), "work_1"))
    assert [ref.status for ref in known.archived] == ["resolved"]
    reopened = tool("Bash", {"command": "gh pr reopen 7 -R o/r"}, 3)
    assert refs_of(merged, reopened) == {"github:o/r#7": "active"}
    named = record("message", 3, role="user", text="https://github.com/o/r/pull/7 is broken")
    assert refs_of(merged, named) == {"github:o/r#7": "active"}


def test_what_gh_made_is_a_ref() -> None:
    """The number of a new pull request stands nowhere but in the output of the command that made it."""
    output = "https://github.com/o/r/pull/9\n"
    assert refs_of(tool("Bash", {"command": "cd x && gh pr create --fill"}, output=output)) == {
        "github:o/r#9": "active"
    }
    assert refs_of(tool("Bash", {"command": "cat x"}, output=output)) == {}
    assert refs_of(tool("Bash", {"command": "gh pr create --fill"}, output=output, exit_code=1)) == {}


def test_the_last_evidence_of_a_turn_counts() -> None:
    """A file that was deleted and written again is there; the records' order counts, not their times."""
    gone = tool("delete_file", {"path": "x"}, 1)
    written = tool("Write", {"file_path": "x"}, 2)
    assert refs_of(gone, written) == {"x": "active"}
    assert refs_of(written, gone) == {"x": "stale"}


def test_tasks_and_waits() -> None:
    """They are refs while they last, and resolved when they end."""
    running = record("task", 1, object="t1", task_id="t1", status="running", summary="Build it")
    ended = record("task", 2, object="t2", task_id="t2", status="failed")
    waiting = record("wait", 3, object="w1", wait_id="w1", status="active", waiting_for="review")
    arrived = record("wait", 4, object="w2", wait_id="w2", status="resolved")
    expected = {"task:t1": "active", "task:t2": "resolved", "wait:w1": "active", "wait:w2": "resolved"}
    found = derived(running, ended, waiting, arrived)
    assert {ref.ref: ref.status for ref in found} == expected
    assert {ref.title for ref in found} == {"Build it", "review", None}
    others = record("wait", 3, object="w3", wait_id="w3", status="active", work_item_id="work_2")
    assert refs_of(others) == {}


def test_what_was_read_and_where() -> None:
    """Memories that gitmem's tools read, pages that tools went to, and the workspace of a record are refs."""
    hits = {"results": [{"source_ref": f"note:n{n}"} for n in range(9)]}
    assert refs_of(tool("memory_get", {"source_ref": "message:msg_1"})) == {"message:msg_1": "active"}
    assert refs_of(tool("mcp__gitmem__memory_search", {"query": "x"}, output=hits)) == dict.fromkeys(
        ("note:n0", "note:n1", "note:n2"), "active"
    )
    as_text = json.dumps(hits, indent=1)
    assert len(refs_of(tool("memory_search", {"query": "x"}, output=as_text))) == 3
    assert refs_of(tool("memory_get", {"source_ref": "note:n1"}, status="error")) == {}
    assert refs_of(tool("WebFetch", {"url": "https://x.example/#a"})) == {"https://x.example/": "active"}
    assert refs_of(tool("WebFetch", {"url": "https://x.example/"}, status="error")) == {}
    assert refs_of(tool("shell", {"command": "curl https://x.example/y"})) == {
        "https://x.example/y": "active"
    }
    assert refs_of(record("message", role="assistant", text="", workspace="ws1")) == {"ws1": "active"}


def test_addresses_with_secrets_are_not_kept() -> None:
    """A ref goes into prompts and clones."""
    token = "ghp_" + "a1B2" * 9
    assert refs_of(record("message", role="user", text=f"https://x.example/?token={token}")) == {}


def test_a_turn_gives_so_many_of_a_kind() -> None:
    """The rest is in its records; other kinds lose nothing by it."""
    many = " ".join(f"https://x.example/{n}" for n in range(3000))
    found = derived(
        record("message", 1, role="user", text=many),
        record("message", 2, role="user", text=many),
        tool("Edit", {"path": "x"}, 3),
    )
    assert sum(ref.kind == "url" for ref in found) == MOST_PER_KIND
    assert ("file", "x") in {ref.key for ref in found}


def test_a_ref_in_a_prompt() -> None:
    """One line, bounded, with what it points to, why, and the evidence."""
    title, reason = "t" * 500, "r\n" * 300
    line = render_ref(WorkRef("task", "task:t1", title=title, reason=reason, source_ref="task:t1"))
    assert line.startswith(f"- [task] {'t' * 119}… ref=task:t1 — r r r")
    assert len(line) < 120 + 140 + 50
    plain = WorkRef("file", "src/x.py", reason="changed by Edit", source_ref="tool_execution:t:cmd")
    assert render_ref(plain) == "- [file] src/x.py — changed by Edit (tool_execution:t:cmd)"


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=10)
    | st.sampled_from([PATCH, WRITTEN, "gh pr merge 7"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["command", "cmd", "items", "results", "output", "source_ref", "path", "url", "status"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
TOOLS = st.sampled_from(["shell", "Edit", "apply_patch", "move_file", "memory_get", "memory_search", "x"])


BODIES = st.dictionaries(st.sampled_from(["status", "path", "summary", "work_item_id"]), ANY_JSON)
ANY_RECORD = (
    st.builds(tool, TOOLS, ANY_JSON, output=ANY_JSON, status=ANY_JSON)
    | st.builds(
        record, st.just("message"), role=st.just("user"), text=ANY_JSON, source_refs=ANY_JSON, origin=ANY_JSON
    )
    | st.builds(lambda kind, body: record(kind, **body), st.sampled_from(["task", "wait", "file"]), BODIES)
)


@given(st.lists(ANY_RECORD, max_size=5))
def test_any_records_give_refs_that_can_be_kept(records: list[Record]) -> None:
    """Whatever callers put into their events, a turn has refs, and its record gives the same back."""
    refs = derived(*records)
    assert len({ref.key for ref in refs}) == len(refs)
    data = json.loads(json.dumps(refs_to_json(refs)))
    assert refs_from_json(data, clock=TURN.clock, ts=TURN.ts) == refs
    merged = merge_refs(WorkRefs(), refs)
    assert merge_refs(merged, refs) is merged
    assert not any("\n" in render_ref(ref) for ref in merged.active)


@pytest.mark.parametrize(
    "piece",
    [
        "--- \n",
        "https://x.example/",
        "https://x.example/ ",
        "gh pr view 7 -R o/r;",
        "[",
        '{"a":',
        '"source_ref":"',
    ],
)
def test_a_long_hostile_text_is_read_once(piece: str) -> None:
    """64 KiB of anything, in every place where text is read, costs no more than reading it."""
    text = piece * (65_536 // len(piece))
    found = derived(
        record("message", 1, role="user", text=text, source_refs=[text]),
        tool("shell", {"command": f"git apply {text}"}, 2, output=text),
        tool("apply_patch", text, 3),
        tool("memory_search", {"query": text}, 4, output=text),
        tool("Write", {"path": text}, 5),
        tool(text, text, 6),
    )
    assert len(found) <= 2 * MOST_PER_KIND
    assert all(len(ref.ref) <= 1000 for ref in found)
