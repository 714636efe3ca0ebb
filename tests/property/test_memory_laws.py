"""The ten checks of Holon §11 on random histories of a real home: nine laws, and what breaks each of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from memory_laws import LAWS, SeenContext, SeenHome

from fixtures import CounterClock, commit_all, git, set_identity
from gitmem import AgentHome
from gitmem.json_view import to_json

pytestmark = pytest.mark.slow

SESSIONS = ("s1", "s2")
BUDGETS = (2_048, 4_096, 16_384)
INPUT = "the second one 第二个"
#: Each text has a word of its own, so that what is found for it can be told.
SAYINGS = (
    "Please move the staging database",
    "好，继续部署",
    "Which port?\n1. 22\n2. 2222",
    "Go on with the firewall",
    "不对，回到前面那个",
)
OTHERS = (
    {"origin": "timer"},
    {"origin": "channel:general"},
    {"origin": "task", "authority": "runtime_instruction"},
    {"authority": "external_evidence"},
)


class Teller:
    """Lets a home live through a random history.

    Args:
        home: in which all happens.
        dice: decides what.
    """

    def __init__(self, home: AgentHome, dice: random.Random) -> None:
        self.home = home
        self.dice = dice
        self.words: list[str] = []
        self.items: list[str] = []

    def live(self, steps: int) -> None:
        """Let so many things happen."""
        for number in range(steps):
            kind = self.dice.choice(["turn"] * 6 + ["create", "pick", "complete", "wait", "edit"])
            getattr(self, kind)(number, self.dice.choice(SESSIONS))

    def settle_down(self) -> None:
        """Each session works on an item of its own, the first for longer than recent turns reach back."""
        for session, turns in zip(SESSIONS, (15, 3), strict=True):
            self.create(800, session)
            self.home.work_pick(self.items[-1], session=session)
            for number in range(turns):
                self.turn(700 + number, session)

    def turn(self, number: int, session: str) -> None:
        """A turn with some of everything."""
        word = f"keyword{number:03}{self.dice.randrange(1000):03}"
        self.words.append(word)
        with self.home.turn(session=session) as turn:
            turn.message("user", f"{self.dice.choice(SAYINGS)} {word}")
            if self.dice.random() < 0.3:
                turn.message("user", f"Tick {number}.", **self.dice.choice(OTHERS))
            for call in range(self.dice.randrange(3)):
                turn.tool("shell", f"make step{call}", "out", status=self.dice.choice(["success", "error"]))
            if self.dice.random() < 0.3:
                turn.decision(f"Use way {number}.", because="it is safe")
            if self.dice.random() < 0.3:
                turn.brief("result", f"Step {number} is done.")
            turn.message("assistant", self.dice.choice(["Done.", "Which one?\n1. a\n2. b", "Long. " * 200]))
        if self.dice.random() < 0.7:  # the index catches up piece by piece
            self.home.search(word)

    def create(self, number: int, session: str) -> None:
        """A work item that may be picked."""
        made = self.home.work_create(f"Objective number {number}", session=session).work_item
        assert made is not None
        self.items.append(made.id)

    def pick(self, number: int, session: str) -> None:
        """One of the open ones becomes the focus."""
        if self.items:
            self.home.work_pick(self.dice.choice(self.items), session=session)

    def complete(self, number: int, session: str) -> None:
        """One of the open ones is finished."""
        if self.items:
            item = self.items.pop(self.dice.randrange(len(self.items)))
            self.home.work_complete(item, report=f"Finished at {number}.", session=session)

    def wait(self, number: int, session: str) -> None:
        """Something is waited for."""
        self.home.work_wait(f"an answer {number}", session=session)

    def edit(self, number: int, session: str) -> None:
        """The operator commits a note."""
        commit_all(self.home.layout.root, "edit", {f"notes/n{number}.md": f"# Note {number}\n"})


def contexts(home: AgentHome, last: Mapping[str, str], focus: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the contexts of each session, smaller budgets first."""
    found: dict[str, list[SeenContext]] = {}
    for session in SESSIONS:
        for budget in BUDGETS:
            made = home.context(INPUT, budget, session=session)
            found.setdefault(session, []).append(
                SeenContext(
                    session,
                    budget,
                    INPUT,
                    made.text,
                    made.to_json(),
                    last.get(session),
                    focus.get(session),
                )
            )
    return found


def ledger_rows(home: AgentHome) -> dict[str, list[dict[str, Any]]]:
    """Return the lines of each turn line, as plain Git and JSON read them."""
    root = home.layout.root
    found: dict[str, list[dict[str, Any]]] = {}
    for ref in git("for-each-ref", "--format=%(refname)", "refs/heads/gitmem/turns/", cwd=root).splitlines():
        names = git("ls-tree", "-r", "--name-only", ref, "ledger/", cwd=root).splitlines()
        paths = [name for name in names if name.endswith(".jsonl") and "/forgotten/" not in name]
        rows = [git("show", f"{ref}:{path}", cwd=root).splitlines() for path in sorted(paths, key=_number)]
        found[ref] = [json.loads(line) for part in rows for line in part]
    return found


def _number(path: str) -> int:
    """Return the number of a segment: the order of its line, whatever the clock said meanwhile."""
    return int(path.rpartition("-")[2].removesuffix(".jsonl"))


def look(home: AgentHome, clone: AgentHome, teller: Teller) -> SeenHome:
    """Return what is seen of a home and of its clone."""
    rows = ledger_rows(home)
    every = [row for part in rows.values() for row in part]
    told = {"message", "tool_execution", "brief", "decision"}
    turn_item = {row["turn"]: row["body"].get("work_item") for row in every if row["kind"] == "turn"}
    last = {row["session"]: row["turn"] for row in every if row["kind"] in {*told, "wait", "work_item"}}
    lasts = {session: turn for session, turn in last.items() if session in SESSIONS}
    records = {
        _ref(row): {
            "turn": row["turn"],
            "work_item": turn_item.get(row["turn"]),
            "voice": _voice(row["body"]) if row["kind"] == "message" else "",
        }
        for row in every
        if row["kind"] not in {"turn", "memory", "session", "file", "episode", "assembly"}
    }
    state = {item.id: item.status for item in home.work_list("all", limit=100).work_items}
    focus = {session: _focus(home, session) for session in SESSIONS}
    while home.is_index_behind():
        home.catch_up()
    hits = {word: [one.source_ref for one in home.search(word).results] for word in teller.words}
    kept = _index(home, teller.words)
    status = dict(to_json(home.search(teller.words[0]).index_status))
    refs = {*records, *(ref for found in hits.values() for ref in found)}
    page = home.episodes(limit=100)
    first = contexts(home, lasts, focus)
    home.reindex(wait=True)
    return SeenHome(
        contexts=first,
        again=contexts(clone, lasts, focus),
        records=records,
        lines={ref: [_row(row) for row in part] for ref, part in rows.items()},
        state=state,
        reads={ref: _read(home, ref) for ref in refs},
        hits=hits,
        episodes={one.id: [turn.id for turn in one.episode.turns] for one in page.episodes},
        open=[turn for one in page.open for turn in one["turns"]],
        turns={row["turn"]: row.get("session") for row in every},
        material=[
            turn
            for turn in dict.fromkeys(row["turn"] for row in every)
            if turn_item.get(turn) or any(row["turn"] == turn and row["kind"] in told for row in every)
        ],
        index=kept,
        rebuilt=_index(home, teller.words),
        status=status,
    )


def _voice(body: Mapping[str, Any]) -> str:
    """Return whose a message is, by what was given with it; not as the program tells it."""
    if body["role"] != "user":
        return str(body["role"])
    return "another's" if body.get("origin") or body.get("authority") else "operator"


def _ref(row: Mapping[str, Any]) -> str:
    ref = f"{row['kind']}:{row['id']}"
    if row["kind"] in {"work_item", "wait", "task"}:
        return f"{row['kind']}:{row['body'][row['kind'] + '_id']}"
    return f"{ref}:cmd" if row["kind"] == "tool_execution" else ref


def _row(row: Mapping[str, Any]) -> tuple[int, str, str, str | None, str | None]:
    item = row["body"].get("work_item_id") if row["kind"] == "work_item" else None
    return row["seq"], row["id"], row["kind"], item, row.get("status", row["body"].get("status"))


def _read(home: AgentHome, ref: str) -> str | None:
    return home.get(ref, max_chars=50_000).content


def _focus(home: AgentHome, session: str) -> str | None:
    shown = home.context(INPUT, 16_384, session=session)
    text = next((one.text for one in shown.sections if one.id == "current_work_item"), "")
    return text.partition("work_item:")[2].partition(":")[0] or None


def _index(home: AgentHome, words: list[str]) -> dict[str, list[Any]]:
    return {
        word: [(one.source_ref, one.title, one.snippet, one.score) for one in home.search(word).results]
        for word in [*words, "staging database", "部署"]
    }


@pytest.fixture(scope="module", params=[1, 2, 3])
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeenHome]:
    """What was seen of a home after a random history."""
    folder = tmp_path_factory.mktemp("laws")
    with AgentHome.init(folder / "home", agent="aria", now=CounterClock()) as home:
        set_identity(home.layout.root)
        teller = Teller(home, random.Random(request.param))
        teller.turn(900, "s1")
        teller.live(24)
        teller.settle_down()
        git("clone", "-q", home.layout.root, folder / "clone", cwd=folder)
        with AgentHome.open(folder / "clone", now=CounterClock()) as clone:
            yield look(home, clone, teller)


@pytest.mark.parametrize("law", LAWS)
def test_it_holds_after_a_random_history(seen: SeenHome, law: Callable[[SeenHome], list[str]]) -> None:
    """Turns, work items, waits, ticks of timers, words of strangers, edits of the operator, in any order."""
    assert law(seen) == []


def with_context(home: SeenHome, change: Callable[[SeenContext], SeenContext]) -> SeenHome:
    """Return what was seen with another last context of the first session."""
    session = SESSIONS[0]
    found = [*home.contexts[session]]
    found[-1] = change(found[-1])
    return replace(home, contexts={**home.contexts, session: found})


def in_recent(old: Callable[[str], str]) -> Callable[[SeenContext], SeenContext]:
    """Return a change of the recent turns of a context."""

    def change(one: SeenContext) -> SeenContext:
        text = one.section("recent_turns")
        other = old(text)
        rows = [
            {**row, "text": other} if row["id"] == "recent_turns" else row for row in one.data["sections"]
        ]
        return replace(one, text=one.text.replace(text, other), data={**one.data, "sections": rows})

    return change


def double_line(text: str) -> str:
    """Return recent turns in which a line with a ref stands twice."""
    line = next(one for one in text.splitlines() if one.startswith("- operator instruction"))
    return text.replace(line, f"{line}\n{line}", 1)


def double_head(text: str) -> str:
    """Return recent turns in which the last turn begins twice."""
    head = [one for one in text.splitlines() if one.startswith("Turn ")][-1]
    return text.replace(head, f"{head}\n{head}", 1)


def drop_lines(text: str) -> str:
    """Return recent turns without the lines of instructions."""
    return "\n".join(one for one in text.splitlines() if not one.startswith("- operator instruction"))


def swap_voice(home: SeenHome) -> SeenHome:
    """What the operator said was somebody else's."""
    records = {ref: {**facts, "voice": "external"} for ref, facts in home.records.items()}
    return replace(home, records=records)


def drop_record(home: SeenHome) -> SeenHome:
    """A record that is shown is of another home."""
    return replace(home, records={})


def repeat_seq(home: SeenHome) -> SeenHome:
    """Two lines have one number."""
    return replace(home, lines={name: [rows[0], *rows] for name, rows in home.lines.items()})


def lose_state(home: SeenHome) -> SeenHome:
    """A work item that the ledger does not know, as if its line had been dropped."""
    return replace(home, state={**home.state, "work_lost": "open"})


def lose_read(home: SeenHome) -> SeenHome:
    """A minted ref resolves no more."""
    return replace(home, reads={**home.reads, next(iter(home.records)): None})


def other_read(home: SeenHome) -> SeenHome:
    """What was found does not hold what was looked for."""
    ref = next(refs[0] for refs in home.hits.values())
    return replace(home, reads={**home.reads, ref: "something else"})


def no_hit(home: SeenHome) -> SeenHome:
    """What was said is not found."""
    return replace(home, hits={**home.hits, next(iter(home.hits)): []})


def double_turn(home: SeenHome) -> SeenHome:
    """A turn is in two episodes."""
    turn = next(iter(home.material))
    return replace(home, episodes={**home.episodes, "ep_x": [turn], "ep_y": [turn]})


def lose_turn(home: SeenHome) -> SeenHome:
    """A turn is in no episode."""
    return replace(home, material=[*home.material, "turn_x"])


def open_again(home: SeenHome) -> SeenHome:
    """A finished turn is open as well."""
    return replace(home, episodes={**home.episodes, "ep_x": ["turn_x"]}, open=[*home.open, "turn_x"])


def leave_gap(home: SeenHome) -> SeenHome:
    """A turn is still open although a later one of its session is finished."""
    first = home.material[0]
    episodes = {name: [one for one in turns if one != first] for name, turns in home.episodes.items()}
    turns = {first: "s1", **home.turns, "turn_x": "s1"}
    return replace(
        home,
        episodes={**episodes, "ep_x": ["turn_x"]},
        open=[*home.open, first],
        turns={**turns, first: "s1"},
    )


def lose_row(home: SeenHome) -> SeenHome:
    """The index that was kept up lacks a row."""
    query = next(one for one, rows in home.index.items() if rows)
    return replace(home, index={**home.index, query: home.index[query][1:]})


BREAKS: list[tuple[int, Callable[[SeenHome], SeenHome]]] = [
    (1, lambda home: with_context(home, lambda one: replace(one, budget=10))),
    (1, lambda home: with_context(home, in_recent(double_line))),
    (1, lambda home: with_context(
        home, lambda one: replace(one, data={**one.data, "sections": one.data["sections"] * 2}))),
    (2, lambda home: with_context(home, lambda one: replace(one, text=one.text + one.input))),
    (2, lambda home: with_context(home, lambda one: replace(one, text=one.text.replace(one.input, "")))),
    (2, lambda home: with_context(home, in_recent(double_head))),
    (2, lambda home: with_context(home, lambda one: replace(one, last_turn="turn_other"))),
    (3, swap_voice),
    (3, drop_record),
    (4, lambda home: with_context(home, in_recent(drop_lines))),
    (5, lambda home: with_context(home, lambda one: replace(one, text=one.text + "x"))),
    (5, lambda home: with_context(
        home, lambda one: replace(one, data={**one.data, "decisions": one.data["decisions"][1:]}))),
    (6, repeat_seq),
    (6, lose_state),
    (6, lambda home: replace(home, damaged=[(None, None)])),
    (7, lose_read),
    (7, other_read),
    (7, no_hit),
    (8, double_turn),
    (8, lose_turn),
    (8, open_again),
    (8, leave_gap),
    (9, lose_row),
    (9, lambda home: replace(home, status={**home.status, "pending": 1})),
    (9, lambda home: replace(home, status={**home.status, "freshness": "building"})),
]  # fmt: skip


@pytest.mark.parametrize(("number", "harm"), BREAKS)
def test_each_law_fails_on_what_breaks_it(
    seen: SeenHome, number: int, harm: Callable[[SeenHome], SeenHome]
) -> None:
    """Check 10: a row dropped, a ref doubled, an owner swapped; its own law says so."""
    assert LAWS[number - 1](harm(seen))


def test_the_histories_reach_what_the_laws_speak_of(seen: SeenHome) -> None:
    """A law of sections that are empty would hold whatever the program did."""
    last = {session: found[-1] for session, found in seen.contexts.items()}
    assert "message:" in last["s1"].section("current_work_item_process_trace")
    assert all(one.item for one in last.values())
    assert seen.episodes
    assert seen.open
    assert {facts["voice"] for facts in seen.records.values()} >= {"operator", "another's", "assistant"}


def test_evidence_of_another_work_item_is_noticed(seen: SeenHome) -> None:
    """Check 10 for the third law: a trace whose turns belong to another work item."""
    ref = next(ref for ref in seen.records if ref.startswith("message:"))

    def traced(one: SeenContext) -> SeenContext:
        row = {"id": "current_work_item_process_trace", "text": f"- result ({ref}): x"}
        return replace(one, item="work_mine", data={**one.data, "sections": [*one.data["sections"], row]})

    records = {**seen.records, ref: {**seen.records[ref], "work_item": "work_other"}}
    assert LAWS[2](with_context(replace(seen, records=records), traced))
