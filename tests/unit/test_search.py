"""What a search finds, in which order, and what it says of itself (S rows, OPEN-SEARCH)."""

from __future__ import annotations

import json
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from search_home import OTHER, SearchHome

from gitmem import documents
from gitmem.errors import UsageError
from gitmem.index_backlog import faulty_paths
from gitmem.indexer import Budget
from gitmem.json_view import to_json
from gitmem.records import parse_event
from gitmem.search_reply import SearchReply
from gitmem.spool import SpooledTurn
from gitmem.testing.memory_index import MemoryIndex
from gitmem.tree_files import MAX_FILE

KEYS = {"query", "results", "index_status", "unmatched_terms", "cursor"}
HIT_KEYS = {
    "source_ref", "kind", "title", "snippet", "score", "updated_at", "session", "turn", "workspace_id",
    "path", "line", "metadata",
}  # fmt: skip
STATUS_KEYS = {"freshness", "indexed", "pending", "reasons", "quarantined"}


@pytest.fixture(params=["memory", "disk"])
def home(tmp_path: Path, request: pytest.FixtureRequest) -> SearchHome:
    """An empty home, its index in memory or on disk."""
    return SearchHome.in_memory(tmp_path) if request.param == "memory" else SearchHome.on_disk(tmp_path)


@pytest.fixture(params=["indexed", "not indexed"])
def caught_up(request: pytest.FixtureRequest) -> bool:
    """Whether a test's home is indexed before it is searched: both must answer alike."""
    return bool(request.param == "indexed")


def settle(home: SearchHome, caught_up: bool) -> None:
    """Index the home, or leave that to later."""
    if caught_up:
        home.catch_up()


# What is asked


@pytest.mark.parametrize("query", ["", "  ", "\t\n"])
def test_a_blank_query_is_invalid(home: SearchHome, query: str) -> None:
    """Nothing was asked; an engine's own error would not say so (S1)."""
    with pytest.raises(UsageError, match="blank"):
        home.search(query)


@pytest.mark.parametrize(
    ("query", "text"), [("1246", "order 1246"), ("true", "it is true"), ("[1]", "see 1")]
)
def test_numbers_and_the_like_are_text(home: SearchHome, query: str, text: str) -> None:
    """A query is text, whatever it looks like, also when it comes as a number (S2)."""
    home.say(text)
    assert home.texts(query) == [text]
    assert home.texts(json.loads(query)) == [text]


@pytest.mark.parametrize(
    ("limit", "count"), [(0, 1), (-3, 1), (1, 1), (50, 50), (500, 50), (None, 10), ("7", 7)]
)
def test_limits_are_clamped(home: SearchHome, limit: object, count: int) -> None:
    """Too small or too large a limit is a wish, not an error (S4)."""
    for number in range(60):
        home.say(f"staging {number}")
    home.catch_up()
    assert len(home.search("staging", limit=limit).results) == count


@pytest.mark.parametrize(
    "option", [{"limit": "x"}, {"limit": True}, {"sort": "best"}, {"cursor": "?"}, {"cursor": "e30"}]
)
def test_meaningless_options_are_invalid(home: SearchHome, option: dict[str, object]) -> None:
    """A wrong option is named, never guessed at."""
    with pytest.raises(UsageError):
        home.search("staging", **option)


@pytest.mark.parametrize(
    "query",
    [
        "(" * 3000 + "staging" + ")" * 3000,
        "NOT " * 2000 + "staging",
        "x OR " * 1900 + "staging",
        '"' * 5001 + " staging",
        "a\x00b staging",
        "staging " + "paste " * 400_000,
        "staging \udce9 \ud800",
    ],
)
@pytest.mark.parametrize("advanced", [False, True])
def test_no_query_breaks_a_search(home: SearchHome, query: str, advanced: bool) -> None:
    """Agents paste code and logs: an answer within a second, and its words count (OPEN-SEARCH-10)."""
    home.say("the staging server")
    home.catch_up()
    began = time.process_time()
    reply = home.search(query, advanced=advanced)
    assert time.process_time() - began < 1
    json.dumps(to_json(reply)).encode()
    assert len(reply.query) <= 10_000
    if not advanced:
        assert [hit.snippet for hit in reply.results] == ["the staging server"]
    assert reply.query_cut == (len(query) > 10_000)


# What is found


@pytest.mark.parametrize(
    "query", ["staging server", "why is the staging server not answering", "staging server banana"]
)
def test_any_word_may_match(home: SearchHome, caught_up: bool, query: str) -> None:
    """A question in plain words finds what holds some of them (OPEN-SEARCH-02)."""
    home.say("the staging server uses port 2222.")
    home.say("something else")
    settle(home, caught_up)
    reply = home.search(query)
    assert [hit.snippet for hit in reply.results] == ["the staging server uses port 2222."]


def test_words_that_nothing_holds_are_named(home: SearchHome, caught_up: bool) -> None:
    """An empty answer says why; so does one that a single word was left out of."""
    home.say("the staging server")
    settle(home, caught_up)
    assert home.search("staging banana Banana").unmatched_terms == ["banana", "Banana"]
    reply = home.search("banana split")
    assert (reply.results, reply.unmatched_terms) == ([], ["banana", "split"])
    assert home.search("staging").unmatched_terms == []
    assert home.search("*&^").unmatched_terms == ["*&^"]


def test_a_name_inside_of_a_longer_one_is_held(home: SearchHome, caught_up: bool) -> None:
    """A hit that shows the word in full must not stand beside the claim that nothing holds it."""
    home.say("call getUserName and set_user_names, transportLayer4")
    settle(home, caught_up)
    for query in ("UserName", "user_name", "getUser"):
        reply = home.search(query)
        assert (len(reply.results), reply.unmatched_terms) == (1, []), query
    for query in ("NameUser", "portLayer", "UserNameX"):
        assert home.search(query).unmatched_terms == [query]


def test_more_words_rank_higher(home: SearchHome, caught_up: bool) -> None:
    """Partial matches come behind full ones."""
    home.say("port")
    home.say("the staging port")
    home.say("staging")
    settle(home, caught_up)
    assert home.texts("staging port")[0] == "the staging port"
    assert len(home.texts("staging port")) == 3


@pytest.mark.parametrize(
    ("query", "exact", "near"),
    [
        ("ADR-016", "see ADR-016", ["ADR 016 ADR 016", "ADR-016-b ADR-016-c", "adr016"]),
        ("adr-016", "see ADR-016", ["ADR 016 ADR 016"]),
        ("task_tools", "the task_tools", ["task tools task tools", "task-tools", "taskTools taskTools"]),
        ("crew:run", "see crew:run here", ["run crew crew run"]),
        ("char_limit", "a char_limit", ["memory.char_limit", "char limit char limit"]),
        ("memory.char_limit", "see memory.char_limit", ["memory char_limit memory char_limit"]),
        ("main.py", "open main.py", ["src/api/main.py", "main py main py"]),
        ("api/main.py", "open api/main.py", ["src/api/main.py main.py", "api main.py api main.py"]),
        ("tools", "the tools", ["tool tool tool", "tooling tool"]),
        ("C++", "write C++ code", ["c c c c", "c-language c-language"]),
        ("cafe", "the cafe", ["café café café"]),
        ("café", "the café", ["cafe cafe cafe", "cafés cafe"]),
        (unicodedata.normalize("NFD", "CAFÉ"), "the café", ["cafe CAFE cafe"]),
        ("strasse", "the strasse", ["Straße Straße Straße"]),
        ("Straße", "the straße", ["strasse strasse strasse"]),
        ("istanbul", "in istanbul", ["İstanbul İstanbul İstanbul"]),
        ("file", "the file", ["ﬁle ﬁle ﬁle", "files files"]),
        ("记忆", "他的记忆", ["记 忆 记 忆"]),
        ("staging port", "the staging port", ["staging ports, staging ports", "stage port stage port"]),
    ],
)
def test_the_exact_form_comes_first(
    home: SearchHome, caught_up: bool, query: str, exact: str, near: list[str]
) -> None:
    """Of all that match by folding or in parts, what holds the very word is first (OPEN-SEARCH-04, 11)."""
    for text in [*near, exact, *near]:
        home.say(text)
    settle(home, caught_up)
    assert home.texts(query)[0] == exact
    assert home.texts(query)[1:2] != [exact]


def test_operators_are_words_unless_asked_for(home: SearchHome, caught_up: bool) -> None:
    """A rule quoted in capitals is a rule, not a program (OPEN-SEARCH-03)."""
    home.say("Do not run find from the root directory.")
    home.say("the staging port")
    settle(home, caught_up)
    for query in ("DO NOT RUN FIND /", "do not run find /", "find NOT"):
        assert home.texts(query) == ["Do not run find from the root directory."]
    assert home.texts("port AND") == ["the staging port"]
    assert home.texts("NOT") == ["Do not run find from the root directory."]
    assert home.texts("staging NOT port", advanced=True) == []
    assert home.texts("stag* OR find", advanced=True, sort="oldest") == home.texts(
        "staging find", sort="oldest"
    )
    assert home.texts('"staging port"', advanced=True) == ["the staging port"]
    assert home.texts('"port staging"', advanced=True) == []


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("我们决定使用向量索引来做记忆检索", ["记忆", "检索", "向量索引", "记"]),
        ("私は日本語を勉強します", ["日本語", "勉強"]),
        ("오늘회의록정리", ["회의록"]),
        ("混合 搜索", ["混合搜索"]),
        ("GitHub索引迁移", ["github", "索引迁移"]),
    ],
)
def test_scripts_without_spaces(home: SearchHome, caught_up: bool, text: str, queries: list[str]) -> None:
    """Every part of a Chinese, Japanese or Korean text finds it, and is marked in it (OPEN-SEARCH-01, S5)."""
    home.say(text)
    home.say("something else")
    settle(home, caught_up)
    for query in queries:
        (hit,) = home.search(query).results
        assert hit.snippet == text
        marked = "".join(hit.snippet[a:b] for a, b in hit.highlights)
        assert marked
        assert marked.casefold().replace(" ", "") in query.casefold()


def test_a_long_chinese_text_has_a_short_snippet_around_the_match(home: SearchHome) -> None:
    """A text without a single space is cut around what was asked (S19)."""
    home.say("今天天气很好我们去公园散步。" * 100 + "数据库备份失败了。" + "后来又讨论了别的事情。" * 100)
    home.catch_up()
    (hit,) = home.search("备份失败").results
    assert "备份失败" in hit.snippet
    assert len(hit.snippet) <= 240
    assert [hit.snippet[a:b] for a, b in hit.highlights] == ["备份失败"]


def test_a_match_far_into_a_long_text(home: SearchHome, caught_up: bool) -> None:
    """Character 20,000 counts like the first, and the hit says on which line it is (S20)."""
    filler = "lorem ipsum dolor sit amet, consetetur. \n" * 500
    home.write({"notes/long.md": f"# Long\n\n{filler}the needle is here\n\n{filler}"})
    home.say(f"{filler}another needle {filler}")
    settle(home, caught_up)
    hits = {hit.kind: hit for hit in home.search("needle").results}
    assert hits.keys() == {"note", "message"}
    assert all("needle" in hit.snippet for hit in hits.values())
    assert hits["note"].line is not None
    assert 350 < hits["note"].line <= 503


def test_a_tools_output_is_not_searched(home: SearchHome, caught_up: bool) -> None:
    """Output would fill the index with what nobody asks for; the command is found (S18)."""
    record = home.bent.append(
        {"kind": "tool_execution", "tool": "shell", "input": {"command": "systemctl restart pooler"},
         "output": {"stdout": "zyzzyva\n", "stderr": "", "exit_code": 0}, "status": "success"}
    )  # fmt: skip
    settle(home, caught_up)
    assert home.refs("zyzzyva") == []
    assert home.refs("restart pooler") == [f"tool_execution:{record.id}:cmd"]
    assert home.reader.get(f"tool_execution:{record.id}:stdout").content == "zyzzyva\n"


def test_acknowledgements_are_no_outcome(home: SearchHome, caught_up: bool) -> None:
    """An ack and a blank brief are neither found nor shown; a result is."""
    for kind, text in (
        ("ack", "staging ack"),
        ("result", "  "),
        ("result", "staging moved"),
        ("failure", "staging failed"),
    ):
        home.bent.append({"kind": "brief", "brief_kind": kind, "text": text})
    settle(home, caught_up)
    assert sorted(home.texts("staging")) == ["staging failed", "staging moved"]


# In which order


def test_equal_scores_are_newer_first_then_by_ref(home: SearchHome, caught_up: bool) -> None:
    """The same question has the same answer, in the same order, every time (S21)."""
    for number, day in enumerate([3, 1, 2, 2]):
        home.say("staging", ts=f"2026-03-0{day}T09:00:00Z", record_id=f"msg_{9 - number:015x}")
    settle(home, caught_up)
    wanted = [9, 6, 7, 8]
    assert home.refs("staging") == [f"message:msg_{number:015x}" for number in wanted]


def test_order_by_time(home: SearchHome, caught_up: bool) -> None:
    """What happened last, or first, of all that matches."""
    for day in (2, 3, 1):
        home.say(f"staging day {day}" + " staging" * day, ts=f"2026-03-0{day}T09:00:00Z")
    settle(home, caught_up)
    days = [hit.updated_at[8:10] for hit in home.search("staging", sort="newest").results]
    assert days == ["03", "02", "01"]
    days = [hit.updated_at[8:10] for hit in home.search("staging", sort="oldest").results]
    assert days == ["01", "02", "03"]


def test_indexed_or_not_a_record_scores_alike(home: SearchHome) -> None:
    """A record must not jump when it is indexed: both halves of an answer are counted together."""
    texts = ["staging port", "staging", "port 2222 of staging", "something else entirely", "the port"]
    for text in texts[:3]:
        home.say(text)
    home.catch_up()
    for text in texts[3:]:
        home.say(text)
    before = [(hit.source_ref, hit.score) for hit in home.search("staging port").results]
    home.catch_up()
    assert [(hit.source_ref, hit.score) for hit in home.search("staging port").results] == before


@pytest.mark.parametrize("sort", ["relevance", "newest", "oldest"])
def test_pages_follow_one_another(home: SearchHome, caught_up: bool, sort: str) -> None:
    """All pages together are the whole answer, each hit once."""
    for number in range(25):
        home.say(f"staging {'port ' * (number % 4)}", ts=f"2026-03-01T09:00:{number % 7:02d}Z")
    home.write({"notes/a.md": "# One\n\nstaging\n\n# Two\n\nstaging port\n"})
    settle(home, caught_up)
    whole = home.refs("staging port", sort=sort, limit=50)
    assert len(whole) == len(set(whole)) == 26
    found: list[str] = []
    cursor = None
    while True:
        reply = home.search("staging port", sort=sort, limit=4, cursor=cursor)
        found += [hit.source_ref for hit in reply.results]
        cursor = reply.cursor
        if cursor is None:
            break
    assert found == whole


# Narrowed


def test_filters(home: SearchHome, caught_up: bool) -> None:
    """Kind, session, work item, workspace and time narrow an answer; together they all hold."""
    home.say("staging one", session="s1", ts="2026-03-01T09:00:00Z")
    home.say("staging two", session="s2", work_item="w1", workspace="k1", ts="2026-03-02T09:00:00Z")
    home.bent.append(
        {"kind": "decision", "text": "staging three", "ts": "2026-03-03T09:00:00Z", "workspace": "k2"}
    )
    settle(home, caught_up)

    def found(**options: object) -> list[str]:
        return sorted(text.split()[1] for text in home.texts("staging", **options))

    assert found() == ["one", "three", "two"]
    assert found(kinds=["decision"]) == ["three"]
    assert found(kinds="message") == ["one", "two"]
    assert found(kinds=["message", "decision"]) == ["one", "three", "two"]
    assert found(session="s1") == ["one"]
    assert found(work_item="w1") == ["two"]
    assert found(since=1772442000.0) == ["three", "two"]
    assert found(until=1772442000.0) == ["one", "two"]
    assert found(since=1772442000.0, kinds=["message"]) == ["two"]
    assert found(session="none") == []
    assert found(workspace="k1") == ["one", "two"]
    assert found(workspace="k1", all_workspaces=True) == ["one", "three", "two"]
    assert home.search("staging", workspace="k1").index_status.reasons == [
        "hidden, because of another workspace: 1 hit"
    ]


# What is true now


def test_a_kind_that_is_none_is_named(home: SearchHome, caught_up: bool) -> None:
    """A slip of the pen is no empty answer; a kind that the home just has none of is one."""
    home.say("kind of blue")
    settle(home, caught_up)
    assert home.texts("blue", kinds=["note"]) == []
    with pytest.raises(UsageError, match="notes") as caught:
        home.search("blue", kinds=["message", "notes"])
    assert "message, brief" in (caught.value.hint or "")


def test_a_record_is_found_at_once_behind_a_long_backlog(home: SearchHome) -> None:
    """Thousands of records wait; what was just said is found, and the answer says what is missing (S8)."""
    for number in range(1, 41):
        for line in range(50):
            home.say(f"old {line}", number=number)
    home.say("brandnew word", number=41)
    reply = home.search("brandnew")
    assert [hit.snippet for hit in reply.results] == ["brandnew word"]
    status = reply.index_status
    assert status.freshness == "building"
    assert status.pending == 2001
    assert "not indexed yet and not searched: 1," in status.reasons[0]
    assert home.bent.reads < 40
    home.catch_up()
    reply = home.search("brandnew")
    assert (reply.index_status.freshness, reply.index_status.pending) == ("fresh", 0)
    assert reply.index_status.indexed == 2001
    home.say("newer word", number=41)
    reply = home.search("newer")
    assert len(reply.results) == 1
    assert (reply.index_status.freshness, reply.index_status.pending) == ("catching_up", 1)
    assert reply.index_status.reasons == []


def test_a_long_file_takes_only_its_own_share(home: SearchHome) -> None:
    """A large file hides nothing written before or after it; what is not searched of it is said."""
    home.say("apple before")
    long = "# Big\n\nopening words\n" + "blah blub\n" * 150_000 + "deepnote\n"
    home.write({"notes/small.md": "pear", "notes/big.md": long, "notes/other.md": "plum"})
    home.say("kumquat after")
    for word, ref in (("kumquat", "message"), ("apple", "message"), ("pear", "note"), ("plum", "note")):
        assert [hit.kind for hit in home.search(word).results] == [ref], word
    assert [hit.path for hit in home.search("opening").results] == ["notes/big.md"]
    reply = home.search("deepnote")
    assert reply.results == []
    reasons = reply.index_status.reasons
    assert reasons == ["not indexed yet and searched at the beginning only: 1 long file"]
    home.catch_up()
    assert [hit.path for hit in home.search("deepnote").results] == ["notes/big.md"]


def test_a_long_message_is_read_whole_where_there_is_room(home: SearchHome) -> None:
    """What is not searched of a new message is said, lest its middle seems to be nowhere."""
    home.say("blah blub\n" * 20_000 + "deepword\n" + "blah blub\n" * 20_000)
    reply = home.search("deepword")
    assert (len(reply.results), reply.index_status.reasons) == (1, [])
    long = home.say(
        "opening\n" + "blah blub\n" * 60_000 + "middleword\n" + "blah blub\n" * 60_000 + "ending\n"
    )
    for word in ("opening", "ending"):
        assert [hit.source_ref for hit in home.search(word).results] == [long.source_ref]
    reply = home.search("middleword")
    assert reply.results == []
    reasons = reply.index_status.reasons
    assert reasons == ["not indexed yet and searched at the beginning and end only: 1 long text"]
    assert home.search("middleword").index_status.reasons == reasons
    home.catch_up()
    reply = home.search("middleword")
    assert (len(reply.results), reply.index_status.reasons) == (1, [])


def test_what_of_a_text_is_too_long_to_be_indexed_is_named(
    home: SearchHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is missing silently, and nobody tries again what stays as it is; a note is never so long."""
    assert documents.INDEXED_CHARS >= MAX_FILE
    monkeypatch.setattr(documents, "INDEXED_CHARS", 60_000)
    short = home.say("y" * 20 + " blah" * 11_000)
    long = home.say("blah " * 11_000 + "inword " + "blah " * 11_000 + "outword")
    for _ in range(2):
        status = home.search("outword").index_status
        assert [(one.name, one.reason) for one in status.quarantined] == [(long.source_ref, documents.CUT)]
        assert home.refs("inword") == [long.source_ref]
        home.catch_up()
    manifest = home.snapshot().manifest
    assert manifest.quarantined == {long.source_ref: documents.CUT}
    assert faulty_paths(manifest, None) == faulty_paths(manifest, {long.source_ref}) == frozenset()
    assert short.source_ref not in manifest.quarantined


def test_long_files_leave_the_newest_records_their_room(home: SearchHome) -> None:
    """However many large files wait, half of what is read belongs to what was said last."""
    home.write({f"notes/{number}.md": "blah blub\n" * 60_000 for number in range(30)})
    for number in range(200):
        home.say(f"kumquat {number}")
    assert home.search("kumquat", limit=50).index_status.pending == 230
    assert len(home.search("199").results) == 1
    assert len(home.search("0").results) == 1


def test_the_tail_can_be_left_out(home: SearchHome) -> None:
    """How fast the index itself is can be measured."""
    home.say("staging")
    assert home.search("staging", unindexed=False).results == []
    home.catch_up()
    assert len(home.search("staging", unindexed=False).results) == 1


def test_spooled_turns_are_searched(home: SearchHome) -> None:
    """What is acknowledged is found, though it is on no line yet (T1)."""
    event = parse_event({"kind": "message", "role": "user", "text": "staging"}, now=1796029200.0)
    home.bent.spool = [
        SpooledTurn("turn_00000000000000b", {}, (event,), (), "completed", event.ts, Path("x"))
    ]
    assert home.refs("staging") == [f"message:{event.id}"]
    assert home.search("staging").index_status.pending == 1


def test_a_saved_file_is_found_before_it_is_indexed(home: SearchHome) -> None:
    """The next search sees the new text, not the old one (S22)."""
    home.write({"notes/a.md": "old words", "memory/operator.md": "old orders"})
    home.catch_up()
    home.write({"notes/a.md": "new words", "memory/operator.md": "new orders"})
    (home.root / "notes/b.md").write_text("words too")
    assert home.texts("old") == []
    assert sorted(home.texts("new")) == ["new orders", "new words"]
    assert sorted(home.texts("words")) == ["new words", "words too"]
    (home.root / "notes/a.md").unlink()
    assert home.texts("words") == ["words too"]


def test_what_never_was_indexed_is_not_called_gone(home: SearchHome) -> None:
    """A new link is named as what cannot be found; only a file that became one has something to go."""
    home.write({"notes/a.md": "words"})
    home.catch_up()
    (home.root / "notes/link.md").symlink_to("a.md")
    status = home.search("words").index_status
    assert (status.freshness, status.pending, status.reasons) == ("fresh", 0, [])
    assert [one.name for one in status.quarantined] == ["notes/link.md"]
    (home.root / "notes/a.md").unlink()
    (home.root / "notes/a.md").symlink_to("link.md")
    status = home.search("words").index_status
    assert status.reasons == ["gone and not shown, still to be removed: 1 segment, file or record"]
    home.catch_up()
    status = home.search("words").index_status
    assert (status.freshness, status.pending, status.reasons) == ("fresh", 0, [])
    assert [one.name for one in status.quarantined] == ["notes/a.md", "notes/link.md"]


def test_stale_hits_do_not_take_the_place_of_live_ones(home: SearchHome) -> None:
    """What is gone is dropped before the limit is counted (OPEN-SEARCH-09)."""
    for number in range(20):
        home.write({f"notes/gone{number:02d}.md": "staging staging staging"})
    home.write({f"notes/live{n}.md": "the staging server among other words" for n in range(5)})
    home.catch_up()
    for number in range(20):
        (home.root / f"notes/gone{number:02d}.md").unlink()
    reply = home.search("staging", limit=5)
    assert [hit.path for hit in reply.results] == [f"notes/live{n}.md" for n in (0, 1, 2, 3, 4)] or sorted(
        str(hit.path) for hit in reply.results
    ) == [f"notes/live{n}.md" for n in range(5)]
    for hit in reply.results:
        assert home.reader.get(hit.source_ref).content


def test_a_long_lived_search_sees_other_writers(tmp_path: Path) -> None:
    """A searcher that stays open over a deletion does not go on returning it."""
    home = SearchHome.on_disk(tmp_path)
    home.write({"notes/a.md": "staging"})
    home.catch_up()
    assert len(home.refs("staging", unindexed=False)) == 1
    other = SearchHome.on_disk(tmp_path)
    (home.root / "notes/a.md").unlink()
    other.catch_up()
    assert home.refs("staging", unindexed=False) == []


def test_rewritten_history_leaves_no_ghosts(home: SearchHome) -> None:
    """A line that was purged is not found even before the index knows (S25)."""
    home.say("alpha staging")
    ghost = home.say("beta staging")
    home.say("gamma staging")
    home.catch_up()
    (path,) = home.bent.contents
    home.bent.contents[path] = [
        line for line in home.bent.contents[path] if getattr(line, "id", "") != ghost.id
    ]
    home.say("delta staging", seq=9)
    found = sorted(home.texts("staging"))
    assert found == ["alpha staging", "delta staging", "gamma staging"]
    home.catch_up()
    assert sorted(home.texts("staging")) == found


def test_a_forgotten_record_is_not_found(home: SearchHome) -> None:
    """From the moment its receipt is known, indexed or not (F2)."""
    record = home.say("the secret staging word")
    home.catch_up()
    home.redact(record)
    assert home.refs("secret") == []
    home.catch_up()
    assert home.refs("secret") == []


def test_one_record_in_two_segments_is_one_hit(home: SearchHome, caught_up: bool) -> None:
    """Imported on two machines, or merged: shown once (L6)."""
    for writer in ("w0123abcd", OTHER):
        home.say("staging", writer=writer, record_id="msg_00000000000000f")
    settle(home, caught_up)
    assert home.refs("staging") == ["message:msg_00000000000000f"]


def task(home: SearchHome, status: str, summary: str, after: tuple[str, ...], **place: object) -> str:
    """Add a snapshot of one task and return its id."""
    event = {"kind": "task", "task_id": "t1", "status": status, "summary": summary}
    return home.bent.append(event, revision=1, status=status, after=after, **place).id


@pytest.mark.parametrize("half", [False, True])
def test_only_the_latest_snapshot_is_found(home: SearchHome, caught_up: bool, half: bool) -> None:
    """A task's older states are history, not hits, wherever they are read from (R13)."""
    first = task(home, "running", "move staging alpha", ())
    settle(home, caught_up and half)
    task(home, "completed", "move staging beta", (first,), number=2)
    settle(home, caught_up)
    assert home.texts("staging") == ["move staging beta"]
    assert home.texts("alpha") == []
    assert home.refs("beta") == ["task:t1"]
    assert "beta" in home.reader.get("task:t1").content


def test_a_finished_object_is_not_reopened_by_a_later_clock(home: SearchHome, caught_up: bool) -> None:
    """Of two that were written apart, the terminal one counts (R2)."""
    task(home, "completed", "staging done", (), writer=OTHER)
    task(home, "running", "staging runs", (), clock="01a22baeb6800fff")
    settle(home, caught_up)
    assert home.texts("staging") == ["staging done"]


def test_a_redacted_snapshot_still_supersedes(home: SearchHome) -> None:
    """Forgetting a task's last state must not bring the one before back."""
    first = task(home, "running", "staging alpha", ())
    second = home.bent.find(task(home, "running", "staging beta", (first,)))
    assert second is not None
    home.catch_up()
    home.redact(second)
    home.catch_up()
    assert home.refs("staging") == []


def test_session_titles(home: SearchHome, caught_up: bool) -> None:
    """A session is found by the title it has now."""
    for title in ("Moving staging", "Moving production"):
        home.bent.append({"kind": "session", "event": "title", "title": title, "session": "s1"})
    settle(home, caught_up)
    assert home.refs("moving") == ["session:s1"]
    assert home.texts("moving") == ["Moving production"]
    assert home.texts("staging") == []


# What it says of itself


def test_the_reply_has_the_keys_of_the_contract(home: SearchHome, caught_up: bool) -> None:
    """Programs read these names."""
    home.say("staging", session="s1", workspace="k1")
    home.write({"notes/a.md": "# Ports\n\nstaging\n"})
    settle(home, caught_up)
    data = to_json(home.search("staging"))
    assert data.keys() >= KEYS
    assert data["index_status"].keys() == STATUS_KEYS
    assert all(hit.keys() >= HIT_KEYS for hit in data["results"])
    note = next(hit for hit in data["results"] if hit["kind"] == "note")
    assert (note["path"], note["line"], note["title"]) == ("notes/a.md", 1, "Ports")
    message = next(hit for hit in data["results"] if hit["kind"] == "message")
    assert (message["session"], message["workspace_id"], message["title"]) == ("s1", "k1", "user")


def test_every_hit_resolves(home: SearchHome, caught_up: bool) -> None:
    """Whatever is found can be read (R11)."""
    home.say("staging")
    home.bent.append({"kind": "brief", "brief_kind": "result", "text": "staging"})
    home.bent.append({"kind": "decision", "text": "staging", "because": "cheap"})
    home.bent.append({"kind": "tool_execution", "tool": "shell", "input": "staging"})
    home.bent.append({"kind": "session", "event": "title", "title": "staging", "session": "s1"})
    for kind in ("task", "wait"):
        event = {"kind": kind, f"{kind}_id": "x1", "status": "active" if kind == "wait" else "running"}
        event |= {"summary": "staging", "waiting_for": "staging"}
        home.bent.append(event, revision=1, status=event["status"], after=())
    work = {"kind": "work_item", "action": "create", "work_item_id": "x2", "objective": "staging"}
    home.bent.append(work, revision=1, status="open", after=())
    home.write(
        {
            "notes/a.md": "staging",
            "memory/MEMORY.md": "staging",
            "memory/self.md": "staging",
            "episodes/2026-03/04-x-9e70.md": "---\nid: ep_1\n---\nstaging",
        }
    )
    settle(home, caught_up)
    hits = home.search("staging", limit=50).results
    assert {hit.kind for hit in hits} == {
        "message", "brief", "decision", "tool_execution", "session", "task", "wait", "work_item", "note",
        "entry", "agent_memory", "episode",
    }  # fmt: skip
    for hit in hits:
        memory = home.reader.get(hit.source_ref)
        assert "staging" in memory.content
        assert memory.source_ref == hit.source_ref


def test_quarantined_items_are_named(home: SearchHome) -> None:
    """What cannot be indexed is part of every answer (S11)."""
    home.say("staging")
    home.write({"notes/a.md": b"\xff\xff"})
    home.catch_up()
    (item,) = home.search("staging").index_status.quarantined
    assert item.name == "notes/a.md"
    assert "UTF-8" in item.reason
    assert str(item).startswith("notes/a.md: ")


def test_explanations(home: SearchHome) -> None:
    """What matched, how often, and what it weighs."""
    home.say("staging staging port")
    home.catch_up()
    (hit,) = home.search("staging banana", explain=True).results
    assert hit.explanation is not None
    assert hit.explanation["terms"]["stage"]["count"] == 2
    assert hit.explanation["terms"]["stage"]["weight"] > 0
    assert hit.explanation["text"] > 0


@pytest.mark.parametrize("switch", ["damaged", "refused"])
def test_an_index_that_cannot_be_read_is_a_state(tmp_path: Path, switch: str) -> None:
    """The newest is found, the answer says why the rest is not, and indexing mends it (OPEN-SEARCH-06)."""
    home = SearchHome.in_memory(tmp_path)
    home.say("staging")
    home.catch_up()
    setattr(home.index, switch, True)
    reply = home.search("staging")
    assert [hit.snippet for hit in reply.results] == ["staging"]
    assert reply.index_status.freshness == "building"
    assert any(word in reply.index_status.reasons[0] for word in ("damaged", "refused"))
    assert isinstance(home.index, MemoryIndex)
    home.index.refused = False
    home.catch_up()
    assert home.search("staging").index_status.freshness == "fresh"


def test_damage_that_shows_only_while_searching(tmp_path: Path) -> None:
    """A segment cut off under an open home: an answer all the same, then a new index."""
    home = SearchHome.on_disk(tmp_path)
    home.say("staging")
    home.catch_up()
    for path in home.layout.index.glob("*.seg"):
        path.write_bytes(path.read_bytes()[:30])
    reply = home.search("staging")
    assert [hit.snippet for hit in reply.results] == ["staging"]
    assert reply.index_status.freshness == "building"
    assert "damaged" in reply.index_status.reasons[0]
    home.catch_up()
    assert home.search("staging").index_status.freshness == "fresh"


def test_searching_while_somebody_indexes(home: SearchHome) -> None:
    """A search never waits for a writer."""
    home.say("staging")
    with home.index.writing():
        assert home.texts("staging") == ["staging"]


def test_an_interrupted_build_is_called_building(home: SearchHome) -> None:
    """Until everything was covered once, an answer is called incomplete in kind."""
    for number in range(1, 8):
        for line in range(100):
            home.say(f"staging {line}", number=number)
    home.catch_up(budget=Budget(seconds=0.0))
    assert home.search("staging").index_status.freshness == "building"
    home.catch_up()
    status = home.searcher.index_status()
    assert (status.freshness, status.indexed, status.pending) == ("fresh", 700, 0)


def test_searches_from_several_threads(home: SearchHome) -> None:
    """One home serves several threads at once."""
    for number in range(300):
        home.say(f"staging {number} port {number % 7}")
    home.catch_up()

    def ask(number: int) -> SearchReply:
        return home.search(f"staging {number}")

    wanted = [ask(number).results for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        found = [reply.results for reply in pool.map(ask, range(20))]
    assert found == wanted
