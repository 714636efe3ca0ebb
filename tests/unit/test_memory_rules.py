"""What a call of the `memory` tool makes of a store, as pure rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.entries import Entry, count_chars, entry_id, format_store, make_entry, parse_store
from gitmem.memory_call import Call, Refusal, parse_call, parse_target
from gitmem.memory_rules import Change, apply_call, percent_of, usage_line

LIMIT = 2200


def store(*texts: str) -> list[Entry]:
    """Return entries with these texts."""
    return [make_entry(text) for text in texts]


def call(**arguments: Any) -> Call | Refusal:
    """Return a parsed call on the store `memory`."""
    return parse_call("memory", **{"operations": None, **arguments})


def tried(entries: list[Entry], limit: int = LIMIT, **arguments: Any) -> Change | Refusal:
    """Return what a call makes of entries."""
    parsed = call(**arguments)
    return parsed if isinstance(parsed, Refusal) else apply_call(parsed, entries, limit)


def changed(entries: list[Entry], limit: int = LIMIT, **arguments: Any) -> Change:
    """Return a change that must hold."""
    done = tried(entries, limit, **arguments)
    assert isinstance(done, Change), done
    return done


def refused(entries: list[Entry], limit: int = LIMIT, **arguments: Any) -> Refusal:
    """Return a refusal that must come."""
    done = tried(entries, limit, **arguments)
    assert isinstance(done, Refusal), done
    return done


def texts(change: Change) -> list[str]:
    """Return the texts behind a change."""
    return [entry.text for entry in change.entries]


class TestArguments:
    """What is missing is said in a fixed order, and never by an exception."""

    def test_target(self) -> None:
        """No target is `memory`; another one is refused, of whatever type."""
        assert parse_target(None) == "memory"
        assert parse_target("user") == "user"
        values: list[object] = ["soul", "", 3, [], {"memory": 1}]
        for value in values:
            assert isinstance(parse_target(value), Refusal)

    @pytest.mark.parametrize("action", ["read", "", 7, ["add"], None])
    def test_unknown_action(self, action: object) -> None:
        """Anything but the three actions is named as unknown."""
        assert "unknown action" in refused([], action=action).error

    def test_empty_batch_is_no_batch(self) -> None:
        """An empty list of operations falls through to the single form, as models expect it to."""
        assert "unknown action" in refused([], operations=[]).error

    @pytest.mark.parametrize("operations", ["add", {"action": "add"}, 3, b"x"])
    def test_batch_that_is_no_list(self, operations: object) -> None:
        """Only a list is a batch."""
        assert "list" in refused([], operations=operations).error

    @pytest.mark.parametrize("action", ["replace", "remove"])
    @pytest.mark.parametrize("old_text", [None, "", " ", "\n\t"])
    def test_missing_old_text_lists_the_entries(self, action: str, old_text: object) -> None:
        """Without text to find an entry by, the entries are listed, so that the next call can name one."""
        fault = refused(store("one"), action=action, old_text=old_text, content="x")
        assert (fault.shows, fault.counted) == ("usage", False)

    def test_old_text_is_asked_for_first(self) -> None:
        """A replace that lacks both arguments is told of the one that shows it the entries."""
        assert "old_text" in refused([], action="replace").error

    @pytest.mark.parametrize("content", [None, "", "  ", 3, ["x"], "\ud800"])
    @pytest.mark.parametrize("action", ["add", "replace"])
    def test_content_must_be_text(self, action: str, content: object) -> None:
        """Content that is no text, empty, or half a character is refused plainly."""
        fault = refused(store("one"), action=action, old_text="one", content=content)
        assert (fault.shows, fault.counted) == ("nothing", False)

    def test_empty_replacement_points_to_remove(self) -> None:
        """Replacing by nothing is how some ask to remove."""
        assert "remove" in refused(store("one"), action="replace", old_text="one", content=" ").error


class TestSingle:
    """One operation on one store."""

    def test_add(self) -> None:
        """An entry is stripped and stands at the end."""
        assert texts(changed(store("one"), action="add", content=" two\r\nlines \n")) == ["one", "two\nlines"]

    def test_duplicate_wins_over_the_limit(self) -> None:
        """What is there already is a success even in a store that is over its limit."""
        done = changed(store("x" * 3000), 2200, action="add", content=" " + "x" * 3000)
        assert done.is_empty
        assert "no duplicate" in done.message

    def test_limit_is_strict(self) -> None:
        """Exactly full is accepted; one more code point is not."""
        full = changed(store("é" * 2190), action="add", content="7 chars")
        assert usage_line(count_chars(full.entries), LIMIT) == "100% — 2,200/2,200 chars"
        fault = refused(store("é" * 2190), action="add", content="8 chars!")
        assert (fault.shows, fault.counted) == ("usage", True)
        assert "would exceed the limit" in fault.error

    def test_exact_entry_wins(self) -> None:
        """An entry that is the text is meant, although others hold it; 0.19.0 could not remove it."""
        assert texts(changed(store("long tests pass", "test"), action="remove", old_text="test")) == [
            "long tests pass"
        ]

    def test_ambiguous(self) -> None:
        """Text in two entries changes neither; their beginnings tell them apart."""
        fault = refused(store("nginx on web", "nginx on mail"), action="remove", old_text="nginx")
        assert [entry.text for entry in fault.matches] == ["nginx on web", "nginx on mail"]
        assert not fault.counted

    @pytest.mark.parametrize("old_text", ["ONE", "cafe\u0301", "one\n§\ntwo", "missing"])
    def test_nothing_but_the_letters_matches(self, old_text: str) -> None:
        """Case, Unicode form and text across two entries do not match: a guess would hit the wrong entry."""
        fault = refused(store("one", "two", "café"), action="remove", old_text=old_text)
        assert (fault.shows, fault.counted) == ("entries", True)

    def test_entry_named_by_its_id(self) -> None:
        """An entry whose text is not shown can still be removed."""
        entries = store("one", "two")
        assert texts(changed(entries, action="remove", old_text=f"entry:{entries[0].id}")) == ["two"]

    def test_replace_keeps_the_place_and_reports_the_old_text(self) -> None:
        """The whole entry is overwritten, which the caller has to see."""
        done = changed(store("one", "two words", "three"), action="replace", old_text="words", content="2")
        assert texts(done) == ["one", "2", "three"]
        assert done.replaced == {1: "two words"}

    def test_replace_makes_no_duplicate(self) -> None:
        """Two entries of one text would silently become one at the next read."""
        fault = refused(store("one", "two"), action="replace", old_text="one", content="two")
        assert "already" in fault.error

    def test_replace_by_itself_changes_nothing(self) -> None:
        """The same text again is a success without a change."""
        assert changed(store("one"), action="replace", old_text="on", content="one").is_empty

    def test_delimiter_in_content(self) -> None:
        """A line that is only § would make two entries of one; inside a line it is a character."""
        assert "§" in refused([], action="add", content="list:\n § \nrun").error
        assert texts(changed([], action="add", content="the § sign")) == ["the § sign"]

    @pytest.mark.parametrize("mark", ["\0", "\x1b", "\a", "\x0b", "\x7f", "\x9b"])
    def test_control_characters_in_content(self, mark: str) -> None:
        """[real case] A NUL makes Git take a store for a binary file, an escape acts on a terminal."""
        text = f"a{mark}b"
        for one in (
            {"action": "add", "content": text},
            {"action": "replace", "old_text": "f", "content": text},
        ):
            assert "control character" in refused(store("fact"), **one).error
            fault = refused(store("fact"), operations=[{"action": "add", "content": "x"}, one])
            assert fault.error.startswith(f"Operation 2 ({one['action']}): content holds a control character")
        assert texts(changed([], action="add", content="a\tb\r\nc")) == ["a\tb\nc"]

    def test_a_batch_has_an_end(self) -> None:
        """[real case] Twenty thousand operations took ten seconds before the limit refused them."""
        one = {"action": "add", "content": "x"}
        assert "at most 1,000 operations, not 1,001" in refused([], operations=[one] * 1_001).error
        assert texts(changed([], operations=[one] * 1_000)) == ["x"]

    def test_hand_written_block_is_named_in_full(self) -> None:
        """A text that the tool could not have written is not overwritten because a word of it was found."""
        prose = "## Servers\n" + "x" * 3000
        for action in ("replace", "remove"):
            fault = refused(store(prose), action=action, old_text="Servers", content="short")
            assert "gitmem edit memory" in (fault.remediation or "")
        whole = f"entry:{entry_id(prose)}"
        assert texts(changed(store(prose), action="replace", old_text=whole, content="short")) == ["short"]
        assert texts(changed(store(prose), action="remove", old_text=prose)) == []


class TestBatch:
    """All operations or none."""

    def test_later_operations_see_earlier_ones(self) -> None:
        """An entry that the batch adds can be replaced by it."""
        done = changed(
            store("a"),
            operations=[
                {"action": "add", "content": "b1"},
                {"action": "replace", "old_text": "b1", "new_text": "b2"},
                {"action": "remove", "old_text": "a"},
            ],
        )
        assert texts(done) == ["b2"]
        assert "3 operations" in done.message
        assert done.replaced == {2: "b1"}
        assert (done.added, done.changed, done.removed) == (0, 1, 0)

    def test_only_the_end_counts_against_the_limit(self) -> None:
        """Room may be made behind what needs it."""
        operations = [{"action": "add", "content": "y" * 15}, {"action": "remove", "old_text": "x"}]
        assert texts(changed(store("x" * 18), 20, operations=operations)) == ["y" * 15]
        fault = refused(store("x" * 18), 20, operations=operations[:1])
        assert "36/20" in fault.error
        assert fault.counted

    @pytest.mark.parametrize(
        "bad",
        [
            None,
            "add",
            {},
            {"action": "move"},
            {"action": "add"},
            {"action": "add", "content": 3},
            {"action": "add", "content": "\udfff"},
            {"action": "remove"},
            {"action": "remove", "old_text": 3},
            {"action": "remove", "old_text": "absent"},
            {"action": "replace", "old_text": "one"},
            {"action": "replace", "old_text": "one", "content": "two"},
            {"action": "add", "content": "a\n§\nb"},
        ],
    )
    def test_one_bad_operation_breaks_it_off(self, bad: object) -> None:
        """The position of what is wrong is told, and the entries as they are."""
        fault = refused(store("one", "two"), operations=[{"action": "add", "content": "x"}, bad])
        assert fault.error.startswith("Operation 2 (")
        assert "othing was applied" in fault.error
        assert (fault.shows, fault.counted) == ("usage", True)

    def test_duplicates_are_passed_over_and_counted(self) -> None:
        """Adding what is there is no error, and still one of the operations."""
        add = {"action": "add", "content": "one"}
        done = changed(store("one"), operations=[add, {"action": "add", "content": "two"}])
        assert (texts(done), done.message) == (["one", "two"], "Applied 2 operations.")

    def test_order(self) -> None:
        """An entry that is taken out and put back stands at the end, and that is a change."""
        operations = [{"action": "remove", "old_text": "one"}, {"action": "add", "content": "one"}]
        done = changed(store("one", "two"), operations=operations)
        assert texts(done) == ["two", "one"]
        assert (done.added, done.changed, done.removed) == (0, 1, 0)
        assert changed(store("one"), operations=operations).is_empty

    def test_emptying(self) -> None:
        """A batch may leave an empty store."""
        assert texts(changed(store("one"), operations=[{"action": "remove", "old_text": "one"}])) == []


WORDS = st.text(st.sampled_from("ab§é🎉 \n\r"), max_size=12)
OPERATION = st.fixed_dictionaries(
    {"action": st.sampled_from(["add", "replace", "remove", "x"])},
    optional={"content": WORDS, "old_text": WORDS},
)
CALL = st.one_of(OPERATION, st.lists(OPERATION, max_size=4).map(lambda listed: {"operations": listed}))


@given(st.lists(CALL, max_size=12), st.integers(1, 40))
def test_budget_and_round_trip(calls: list[dict[str, Any]], limit: int) -> None:
    """Whatever is called, the budget is never exceeded and what was stored is what is read back."""
    entries: list[Entry] = []
    for arguments in calls:
        done = tried(entries, limit, **arguments)
        if isinstance(done, Change):
            entries = list(done.entries)
        assert count_chars(entries) <= limit
        assert [e.text for e in parse_store(format_store(entries))] == [e.text for e in entries]


@given(st.lists(WORDS.map(str.strip).filter(bool), unique=True, max_size=6), WORDS)
def test_remove_undoes_add(present: list[str], text: str) -> None:
    """An entry that was added is removed by its own text, whatever else the store holds."""
    before = parse_store("\n§\n".join(present))
    done = tried(before, 10_000, action="add", content=text)
    if isinstance(done, Refusal) or done.is_empty:
        return
    back = changed(list(done.entries), 10_000, action="remove", old_text=text)
    assert texts(back) == [entry.text for entry in before]


def test_percent_is_whole_and_at_most_100() -> None:
    """Percents are cut, as Hermes cuts them, by a division of floats; no limit is never full."""
    assert [percent_of(chars, 2200) for chars in (0, 21, 22, 638, 1474, 2199, 2200, 3000)] == [
        0, 0, 1, 28, 67, 99, 100, 100,
    ]  # fmt: skip
    assert [percent_of(5, limit) for limit in (0, -1)] == [0, 0]
