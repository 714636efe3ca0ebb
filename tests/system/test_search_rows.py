"""Searching and reading on a real home, from outside: the rows R and S, and queries as agents paste them."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from homes import new_home
from system.command_line import gitmem

from fixtures import commit_all, git, write_files
from gitmem import AgentHome
from gitmem.errors import InvalidRef, Unavailable, UnknownSource
from gitmem.json_view import to_json
from gitmem.refs import KINDS, parse_ref

TEXTS = {
    "number": "order 1246 is true, see [1]",
    "chinese": "我们决定使用向量索引来做记忆检索",
    "japanese": "私は日本語を勉強します",
    "korean": "오늘회의록정리",
    "rule": "Do not run find from the root directory.",
    "staging": "the staging server uses port 2222.",
    "names": "see ADR-016 and task_tools in crew:run; config memory.char_limit; src/api/main.py",
    "accents": "café Käse Straße İstanbul and the ligature ﬁle.",
    "emoji": "shipped 🎉 with 👍🏽",
    "mixed": "修改youer服务端",
    "version": "PostgreSQL 16 runs v2.3.1 at 10.0.0.7",
    "hash": "reverted a38443b75c1de02f1c1f9a9c7f4e4e6d0a1b2c3d",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one text of every kind, and others that look alike; each in a session of its own."""
    path = tmp_path_factory.mktemp("rows") / "home"
    with new_home(path, operator=True) as home:
        for name, text in TEXTS.items():
            home.record([{"kind": "message", "role": "user", "text": text}], session=name)
        for number in range(20):
            home.record(
                [{"kind": "message", "role": "user", "text": f"word{number:04d} among others"}],
                session=f"w{number}",
            )
        home.catch_up()
    return path


@pytest.fixture
def home(path: Path) -> Iterator[AgentHome]:
    """The home, open."""
    with AgentHome.open(path) as home:
        yield home


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("1246", "number"),
        ("true", "number"),
        ("记忆", "chinese"),
        ("向量索引", "chinese"),
        ("记", "chinese"),
        ("日本語", "japanese"),
        ("회의록", "korean"),
        ("회의록을", "korean"),
        ("DO NOT RUN FIND /", "rule"),
        ("NOT", "rule"),
        ("why is the staging server not answering", "staging"),
        ("staging server banana", "staging"),
        ("port AND", "staging"),
        ("server OR", "staging"),
        ("ADR-016", "names"),
        ("ADR 016", "names"),
        ("task_tools", "names"),
        ("tools", "names"),
        ("crew:run", "names"),
        ("char_limit", "names"),
        ("main.py", "names"),
        ("api/main.py", "names"),
        ("main", "names"),
        ("cafe", "accents"),
        ("cafe\u0301", "accents"),
        ("kase", "accents"),
        ("strasse", "accents"),
        ("istanbul", "accents"),
        ("file", "accents"),
        ("🎉", "emoji"),
        ("👍", "emoji"),
        ("youer", "mixed"),
        ("服务端", "mixed"),
        ("PostgreSQL 16", "version"),
        ("2.3.1", "version"),
        ("10.0.0.7", "version"),
        ("a38443b", "hash"),
        ("word0007", "w7"),
    ],
)
def test_the_text_that_is_meant_comes_first(path: Path, query: str, name: str) -> None:
    """The cases OPEN-SEARCH-01 to 04 and 11, and more of their kinds, as they are typed on a command line."""
    ran = gitmem("search", "--json", "--", query, cwd=path)
    assert ran.code == 0
    first = ran.json["results"][0]
    assert first["session"] == name
    assert first["highlights"]
    assert gitmem("get", first["source_ref"], cwd=path).out.startswith(first["snippet"])


@pytest.mark.parametrize("query", ["word0007", "word0019"])
def test_another_number_is_no_hit(home: AgentHome, query: str) -> None:
    """Of many names with numbers only the one that was asked for."""
    assert [hit.snippet.split()[0] for hit in home.search(query).results] == [query]
    reply = home.search("word9999")
    assert (reply.results, reply.unmatched_terms) == ([], ["word9999"])


@pytest.mark.parametrize(
    "query",
    [
        "(" * 3000 + "staging" + ")" * 3000,
        "NOT " * 2000 + "staging",
        "x OR " * 2000,
        '"' * 5001,
        "a\x00b",
        "\ud800 \udfff",
        "staging " * 250_000,
        "\\" * 9000,
        "a.b/c-d_e" * 1100,
        "1,234," * 2000,
        "👩\u200d" * 4000,
        "\u0301" * 9000,
        "ส" * 9000,
        '{"a":' * 2000,
        "%s %n \x1b[31m \r\n\t ../../etc/passwd ' OR 1=1 --",
    ],
)
def test_garbage_is_answered_at_once(home: AgentHome, query: str) -> None:
    """A normal, maybe empty answer in under a second each, whatever is pasted (OPEN-SEARCH-10)."""
    for advanced in (False, True):
        began = time.process_time()
        reply = home.search(query, advanced=advanced)
        assert time.process_time() - began < 1
        assert len(json.dumps(to_json(reply))) < 200_000


@pytest.mark.parametrize("query", [1246, "1246", True, [1246], {"order": 1246}, 1246.0])
def test_a_tool_takes_a_query_of_any_type(home: AgentHome, query: object) -> None:
    """Models send numbers and lists where words are meant; that is no reason to refuse (S2)."""
    reply = home.tools().call("memory_search", {"query": query, "limit": "3", "since": "2 days ago"})
    assert "error" not in reply, reply
    if query is not True:
        assert reply["results"][0]["session"] == "number"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": "  "},
        {"query": None},
        {"query": "x", "limit": "many"},
        {"query": "x", "since": "garbage"},
        {"query": "x", "until": [1]},
        {"query": "x", "session": 5},
    ],
)
def test_a_tool_names_what_is_wrong(home: AgentHome, arguments: dict[str, Any]) -> None:
    """A wrong call is answered with a reason, never with an engine's error (S1)."""
    reply = home.tools().call("memory_search", arguments)
    assert (reply["success"], reply["code"]) == (False, "invalid_input")


@pytest.mark.parametrize(
    "options",
    [
        ["--since", "garbage"],
        ["--until", "2026-13-01"],
        ["--kind", "notes"],
        ["--sort", "best"],
        ["--limit", "x"],
        ["--cursor", "?"],
    ],
)
def test_options_without_meaning_end_with_2(path: Path, options: list[str]) -> None:
    """A slip of the pen is told from an empty answer."""
    ran = gitmem("search", "staging", *options, "--json", cwd=path)
    assert ran.code == 2
    assert ran.json["error"]["message"]


def test_a_hit_does_not_act_on_a_terminal(tmp_path: Path) -> None:
    """A text may come from anybody: a color of its own could hide a part of what it says."""
    path = tmp_path / "home"
    with new_home(path) as home:
        home.record([{"kind": "message", "role": "user", "text": "a \x1b[8mhidden\x1b[0m\x07 zebra"}])
    assert "a ␛[8mhidden␛[0m␇ zebra" in gitmem("search", "zebra", cwd=path).out
    assert gitmem("search", "zebra", "--json", cwd=path).json["results"][0]["snippet"][2] == "\x1b"


def test_nothing_that_people_read_acts_on_a_terminal(tmp_path: Path) -> None:
    """A title, a clipboard, a bell and a color of the text's own: signs in every text, exact in `--json`."""
    path, said = tmp_path / "home", "a \x1b]0;title\x07 \x1b[8mhidden zebra"
    with new_home(path) as home:
        titled = {"kind": "session", "event": "start", "title": said}
        receipt = home.record([titled, {"kind": "message", "role": "user", "text": said}], session="s1")
    ref, message = receipt.records[1]["source_ref"], receipt.records[1]["id"]
    shown = "a ␛]0;title␇ ␛[8mhidden zebra"
    for command in (
        ["sessions"], ["sessions", "read", "s1"], ["sessions", "scroll", "s1", message],
        ["sessions", "search", "hidden"], ["get", ref], ["show", ref], ["show", f"turn:{receipt.turn_id}"],
    ):  # fmt: skip
        out = gitmem(*command, cwd=path).out
        assert "\x1b" not in out, command
        assert shown in out, command
    assert "\x1b" not in gitmem("log", cwd=path).out
    assert gitmem("get", ref, "--json", cwd=path).json["memory"]["content"] == said


def test_a_word_that_looks_like_an_option(path: Path) -> None:
    """Who looks for `rm -rf` is told how to write it."""
    for command in (["search"], ["sessions", "search"]):
        ran = gitmem(*command, "rm", "-rf", "x", "--json", cwd=path)
        assert ran.code == 2
        assert f"gitmem {' '.join(command)} -- -r" in ran.json["error"]["hint"]
        assert gitmem(*command, "--", "rm", "-rf", "x", cwd=path).code == 0


def test_a_day_counts_to_its_end(tmp_path: Path) -> None:
    """`--until` a day includes it; `--since` and `--until` mean when it happened."""
    with new_home(tmp_path / "home") as home:
        for day in (1, 2, 3):
            event = {
                "kind": "message",
                "role": "user",
                "text": f"day {day}",
                "ts": f"2026-03-0{day}T09:00:00Z",
            }
            home.record([event])

        def days(**options: object) -> str:
            found = home.search("day", sort="oldest", kinds=["message"], **options).results
            return "".join(hit.snippet[-1] for hit in found)

        assert days(until="2026-03-02") == "12"
        assert days(since="2026-03-02") == "23"
        assert days(since="2026-03-02", until="2026-03-02") == "2"
        assert days(until="2026-03-02T08:59:59Z") == "1"
        assert days(since="2026-03-04") == ""
        assert days(since=1772442000.0, until=1772442000.0) == "2"


def test_workspaces(tmp_path: Path) -> None:
    """What is of another workspace is hidden and counted; what is of none is always in scope (S16)."""
    with new_home(tmp_path / "home") as home:
        for workspace in ("w", "v", None):
            message = {"kind": "message", "role": "user", "text": f"staging of {workspace}"}
            home.record([message], workspace=workspace)
        for options, found, hidden in (
            ({}, {"w", "v", "None"}, 0),
            ({"workspace": "w"}, {"w", "None"}, 1),
            ({"workspace": "w", "all_workspaces": True}, {"w", "v", "None"}, 0),
            ({"workspace": "none such"}, {"None"}, 2),
        ):
            reply = home.search("staging", **options)
            assert {hit.snippet.split()[-1] for hit in reply.results} == found
            reasons = [reason for reason in reply.index_status.reasons if "workspace" in reason]
            assert bool(reasons) == bool(hidden)
            assert all(str(hidden) in reason for reason in reasons)


def test_what_is_no_memory_is_not_searched(tmp_path: Path) -> None:
    """README, role contract and files outside the folders of memory are no documents (S17)."""
    path = tmp_path / "home"
    with new_home(path, operator=True) as home:
        names = ("README.md", "AGENTS.md", "src/README.md", "notes/x.txt", "work/a/plan.md.orig")
        commit_all(path, "others", dict.fromkeys(names, "a zyzzyva lives here\n"))
        write_files(path, {"notes/here.md": "a quagga lives here\n"})
        assert home.search("zyzzyva").unmatched_terms == ["zyzzyva"]
        home.catch_up()
        assert home.search("zyzzyva").results == []
        assert len(home.search("quagga").results) == 1


def test_another_homes_records_are_unknown_here(tmp_path: Path, home: AgentHome) -> None:
    """What another home has is as unknown as what nobody has; its existence is not revealed (R5)."""
    ref = home.search("staging").results[0].source_ref
    with AgentHome.init(tmp_path / "other", agent="bob") as other:
        told = []
        for text in (ref, f"{ref}@{home.config.home_id}", "message:msg_000000000000000"):
            with pytest.raises(UnknownSource) as caught:
                other.get(text)
            told.append(caught.value.message.replace(text, ""))
        assert len(set(told)) == 1
        assert home.get(f"{ref}@{home.config.home_id}").content == TEXTS["staging"]


@pytest.mark.parametrize("lost", ["long text", "segment"])
def test_what_git_has_lost_is_unavailable(tmp_path: Path, lost: str) -> None:
    """An object that is gone from the store is told from a record that never was (R11)."""
    path = tmp_path / "home"
    with new_home(path) as home:
        text = "x" * 40_000 + " needle"
        receipt = home.record([{"kind": "message", "role": "user", "text": text}])
        assert home.search("needle").results
    listed = git("ls-tree", "-r", str(receipt.branch), cwd=path).splitlines()
    blob = next(line.split()[2] for line in listed if ("/blobs/" in line) is (lost == "long text"))
    _lose_object(path, blob)
    ref = receipt.records[0]["source_ref"]
    ran = gitmem("get", ref, "--json", cwd=path)
    assert (ran.code, ran.json["error"]["code"]) == (4, "memory_source_unavailable")
    assert ran.json["error"]["details"]["reason"] == "missing"
    assert ran.json["error"]["hint"]


def _lose_object(path: Path, blob: str) -> None:
    """Unpack all objects and remove one of them."""
    packs = path / ".git" / "objects" / "pack"
    for pack in packs.glob("*.pack"):
        moved = path.parent / pack.name
        pack.rename(moved)
        pack.with_suffix(".idx").unlink()
        subprocess.run(["git", "unpack-objects", "-q"], input=moved.read_bytes(), cwd=path, check=True)
    (path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


def test_every_ref_that_is_printed_resolves_or_says_why_not(tmp_path: Path) -> None:
    """Hits, receipts, turns, sessions, logs and errors print refs: each is read, or unavailable (R11)."""
    path = tmp_path / "home"
    with new_home(path, operator=True) as home:
        batch = {"commands": ["ls staging", "pwd"]}
        events = [
            {"kind": "session", "event": "title", "title": "Staging"},
            {"kind": "message", "role": "user", "text": "Move staging"},
            {"kind": "tool_execution", "tool": "many", "input": batch, "output": {"outputs": ["a", "/srv"]}},
            {"kind": "work_item", "action": "create", "objective": "Move staging"},
            {"kind": "task", "task_id": "...", "status": "running", "summary": "staging dump"},
            {
                "kind": "wait",
                "wait_id": "w1",
                "status": "active",
                "wait_kind": "timer",
                "waiting_for": "staging",
            },
            {"kind": "decision", "text": "staging at night", "because": "load"},
            {"kind": "brief", "brief_kind": "ack", "text": "staging, on it"},
            {"kind": "brief", "brief_kind": "result", "text": "staging planned"},
            {"kind": "file", "path": "notes/a.md"},
        ]
        printed = [to_json(home.record(events, session="s1"))]
        printed += [
            to_json(home.memory("add", "memory", content=f"Staging fact {n}", session="s1")) for n in "12"
        ]
        printed.append(to_json(home.note_add(content="staging\n", title="Staging note")))
        gone = home.note_add(content="staging\n", title="Gone")
        printed.append(to_json(gone))
        home.note_remove(str(gone.source_ref))
        printed.append(to_json(home.memory("remove", "memory", old_text="Staging fact 2", session="s1")))
        printed += [to_json(home.search("staging", limit=50)), to_json(home.log(limit=500))]
        seen: set[str] = set()
        unavailable = set()
        while new := _refs_in(printed) - seen:
            seen |= new
            for ref in new:
                try:
                    printed.append(to_json(home.get(ref, max_chars=50_000)))
                except Unavailable as error:
                    unavailable.add(error.details.get("reason"))
                    printed.append(error.details)
        kinds = {ref.partition(":")[0] for ref in seen}
        assert kinds >= {
            "message",
            "turn",
            "session",
            "tool_execution",
            "work_item",
            "task",
            "wait",
            "decision",
        }
        assert kinds >= {"brief", "file", "entry", "note", "memory"}
        assert "ack" in unavailable
        for ref in sorted(seen):
            assert gitmem("get", ref, cwd=path).code in (0, 4)
            assert gitmem("show", ref, cwd=path).code in (0, 4)


def _refs_in(printed: object) -> set[str]:
    text = json.dumps(printed, ensure_ascii=False)
    found = re.findall(rf'(?<![\w.-])(?:{"|".join(KINDS)}):[A-Za-z0-9_.:-]+(?=[\s"\\,;)])', text)
    return {ref for ref in found if _is_ref(ref)}


def _is_ref(text: str) -> bool:
    """Say whether a text with a kind before its colon is meant as a ref: `memory: + 1 entry` is not."""
    try:
        parse_ref(text)
    except InvalidRef:
        return False
    return True
