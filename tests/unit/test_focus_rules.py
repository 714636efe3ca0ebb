"""Which work item a session works on."""

from __future__ import annotations

import pytest
from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gitmem.focus_rules import (
    Focus,
    FocusMove,
    FocusState,
    Frame,
    PickReport,
    classify_pick,
    focus_after,
    move_focus,
    move_from,
    turn_item,
)


def pick(item: str, yields: str | None = None, session: str | None = "s1") -> FocusMove:
    """Return a pick."""
    return FocusMove("pick", item, session, yields)


def end(item: str, action: str = "complete", session: str | None = "s1") -> FocusMove:
    """Return an end."""
    return FocusMove(action, item, session)


class TestFocus:
    """Whose focus an event moves."""

    def test_each_session_has_its_own_and_others_the_homes_last(self) -> None:
        """A new conversation goes on with what was picked last, an old one with its own."""
        state = focus_after([pick("a"), pick("b", session="s2"), pick("c", session=None)])
        assert [state.of(name).current for name in ("s1", "s2", "s3", None)] == ["a", "b", "c", "c"]
        assert state.current() == {"a", "b", "c"}

    def test_a_session_that_is_done_has_none(self) -> None:
        """It does not fall into another conversation's work."""
        state = focus_after([pick("a"), pick("b", session="s2"), end("a")])
        assert (state.of("s1").current, state.of("s3").current) == (None, "b")

    def test_whoever_ends_it_it_is_nobodys_focus(self) -> None:
        """The target of a focus is open (§2.5)."""
        for action in ("complete", "drop"):
            state = focus_after([pick("a"), pick("a", session="s2"), end("a", action, "s3")])
            assert state.current() == frozenset()

    @pytest.mark.parametrize("action", ["create", "update", "odd", None, 7])
    def test_nothing_else_moves_it(self, action: object) -> None:
        """A created work item waits to be picked (§2.2)."""
        assert move_from({"action": action}, "a", "s1") is None

    def test_a_record_tells_its_move(self) -> None:
        """What another program wrote into `yields` is an id or nothing."""
        assert move_from({"action": "pick", "yields": "b"}, "a", "s1") == pick("a", "b")
        assert move_from({"action": "pick", "yields": ["b"]}, "a", None) == pick("a", session=None)


class TestYielding:
    """Giving way and coming back."""

    def test_the_end_brings_the_caller_back(self) -> None:
        """Through a chain, one at a time (§2.5)."""
        moves = [pick("a"), pick("b", "a"), pick("c", "b")]
        state = focus_after(moves)
        assert (state.of("s1").current, state.yielded()) == ("c", frozenset("ab"))
        for item, back, left in (("c", "b", "a"), ("b", "a", ""), ("a", None, "")):
            state = move_focus(state, end(item))
            assert (state.of("s1").current, state.yielded()) == (back, frozenset(left))

    def test_what_another_session_works_on_did_not_give_way(self) -> None:
        """A session that never picked begins with the home's focus; leaving it takes from nobody (§2.5)."""
        state = focus_after([pick("a"), pick("b", "a", "s2")])
        assert [state.of(name).current for name in ("s1", "s2")] == ["a", "b"]
        assert state.yielded() == frozenset()
        assert move_focus(state, end("b")).of("s2").current == "a"
        state = focus_after([pick("c", "a")], state)
        assert state.yielded() == {"a"}

    def test_picking_the_caller_unwinds_the_chain(self) -> None:
        """What stood above it is queued again, not brought back later."""
        state = focus_after([pick("a"), pick("b", "a"), pick("c", "b"), pick("a")])
        assert state.of("s1") == Focus("a", ())
        state = focus_after([pick("a"), pick("b", "a"), pick("c", "b"), pick("b")])
        assert state.of("s1") == Focus("b", (Frame("a", "b"),))

    def test_an_override_leaves_the_chain(self) -> None:
        """The blocked one still brings its caller back into the queue when it ends, without a switch."""
        state = focus_after([pick("a"), pick("b", "a"), pick("c"), end("b")])
        assert state.of("s1") == Focus("c", ())

    def test_an_end_in_the_middle_breaks_the_chain(self) -> None:
        """There is nothing to come back to."""
        state = focus_after([pick("a"), pick("b", "a"), end("a", "drop"), end("b")])
        assert state.of("s1") == Focus()

    @pytest.mark.parametrize(
        ("focus", "target", "runnable", "report"),
        [
            (Focus(), "b", True, PickReport("explicit_focus_pick", "runnable")),
            (Focus("b"), "b", True, PickReport("same_work_item", "runnable")),
            (Focus("a"), "b", True, PickReport("yield_current", "runnable", "a")),
            (Focus("a"), "b", False, PickReport("explicit_focus_override", "runnable")),
            (Focus("b", (Frame("a", "b"),)), "a", True, PickReport("explicit_yield_return", "runnable")),
        ],
    )
    def test_a_pick_says_what_it_does(
        self, focus: Focus, target: str, runnable: bool, report: PickReport
    ) -> None:
        """Only what could be worked on gives way and comes back (§2.2)."""
        found = classify_pick(focus, target, current_is_runnable=runnable, target_is_runnable=True)
        assert found == report
        found = classify_pick(focus, target, current_is_runnable=runnable, target_is_runnable=False)
        assert found.mode == "inspection"

    def test_a_chain_has_an_end(self) -> None:
        """Hostile records cost no more than a bounded list."""
        state = focus_after(pick(str(n + 1), str(n)) for n in range(500))
        assert len(state.of("s1").frames) == 64
        assert state.of("s1").current == "500"


@pytest.mark.parametrize(
    ("link", "focus", "moves", "item"),
    [
        (None, None, [], None),
        (None, "a", [], "a"),
        ("w", "a", [pick("b")], "w"),
        (None, "a", [pick("b", "a")], "b"),
        (None, "a", [end("a")], "a"),
        (None, "a", [end("a"), pick("b")], "a"),
        (None, "a", [end("b")], "a"),
        (None, None, [end("b")], "b"),
        (None, "a", [pick("b", "a"), end("b")], "b"),
    ],
)
def test_what_a_turn_belongs_to(
    link: str | None, focus: str | None, moves: list[FocusMove], item: str | None
) -> None:
    """A turn that completes a work item is the last of that one, not the first of the next (W15)."""
    assert turn_item(link, focus, moves) == item


class FocusMachine(RuleBasedStateMachine):
    """Random picks and ends against a plain model: a stack for each session, without frames."""

    def __init__(self) -> None:
        super().__init__()
        self.state = FocusState()
        self.stacks: dict[str, list[str]] = {}
        self.ended: set[str] = set()

    @rule(item=st.sampled_from("abcde"), session=st.sampled_from(["s1", "s2"]), runnable=st.booleans())
    def pick(self, item: str, session: str, runnable: bool) -> None:
        """Pick something that is open, as the rules say what gives way."""
        if item in self.ended:
            return
        stack = self.stacks.setdefault(session, [])
        runnable = runnable or len(stack) > 1  # what an override leaves of a chain has a test of its own
        focus = self.state.sessions.get(session, Focus())
        report = classify_pick(focus, item, current_is_runnable=runnable, target_is_runnable=True)
        self.state = move_focus(self.state, FocusMove("pick", item, session, report.yields))
        if item in stack:
            del stack[stack.index(item) :]
        elif stack and report.kind == "explicit_focus_override":
            stack.clear()
        stack.append(item)

    @rule(item=st.sampled_from("abcde"), session=st.sampled_from(["s1", "s2"]))
    def end(self, item: str, session: str) -> None:
        """End something, whoever has it."""
        self.state = move_focus(self.state, FocusMove("complete", item, session))
        self.ended.add(item)
        for stack in self.stacks.values():
            if item in stack and stack[-1] != item:
                del stack[: stack.index(item) + 1]
            elif item in stack:
                stack.pop()

    @rule(item=st.sampled_from("abcde"))
    def create_again(self, item: str) -> None:
        """An id of its own for what comes next."""
        self.ended.discard(item)

    @invariant()
    def nothing_that_ended_is_held(self) -> None:
        """No focus and no frame names it."""
        assert not self.ended & (self.state.current() | self.state.yielded())

    @invariant()
    def the_top_of_the_stack_is_the_focus(self) -> None:
        """What the model has on top is what the session works on."""
        for session, stack in self.stacks.items():
            assert self.state.sessions[session].current == (stack[-1] if stack else None)

    @invariant()
    def frames_form_chains(self) -> None:
        """Each work item gives way once and brings back one; none gives way to itself."""
        for focus in self.state.sessions.values():
            assert len({frame.active for frame in focus.frames}) == len(focus.frames)
            assert len({frame.suspended for frame in focus.frames}) == len(focus.frames)
            assert all(frame.active != frame.suspended for frame in focus.frames)
            assert focus.current not in {frame.suspended for frame in focus.frames}


FocusMachine.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=30)
TestFocusMachine = FocusMachine.TestCase
