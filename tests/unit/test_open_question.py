"""Tests of `gitmem.open_question`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.open_question import find_question

LONG = "I looked at the logs.\n" * 100


@pytest.mark.parametrize(
    ("message", "text", "options"),
    [
        ("Done.", None, ()),
        ("Shall I restart it?", "Shall I restart it?", ()),
        (f"{LONG}Which one?\n1. Port 22\n2. Port 2222\n", "Which one?\n1. Port 22\n2. Port 2222", 2),
        ("Which one?\n\n- a\n  more of a\n- b\n\nI would take b.", "Which one?\n\n- a\n  more of a\n- b", 2),
        ("Two ways:\n1) fast\n2) safe\n\nWhich do you prefer?",
         "1) fast\n2) safe\n\nWhich do you prefer?", 2),
        ("Please choose one of:\n- a\n- b", "Please choose one of:\n- a\n- b", 2),
        ("I did:\n- a\n- b", None, ()),
        ("选哪个？\n1、快\n2、稳", "选哪个？\n1、快\n2、稳", 2),
        ("要重启吗？", "要重启吗？", ()),
        ("① 快\n② 稳\n哪个？", "① 快\n② 稳\n哪个？", 2),
        ("Pick one:\n- Restart it?\n- Leave it?", "Pick one:\n- Restart it?\n- Leave it?", 2),
        ("See https://x.test/a?b=c for it.", None, ()),
        ("Is it?\n" + "\n".join(f"Line {n}." for n in range(20)), None, ()),
        ("- a\n- b\nReally?\n", "- a\n- b\nReally?", 2),
        ("- only\nReally?", "Really?", ()),
        ("", None, ()),
        ("Two ports:\n\n1. 2222\n2. 22\n\nLet me know which one to use.",
         "1. 2222\n2. 22\n\nLet me know which one to use.", 2),
        ("Two plans.\nA) fast\nB) slow\nPick one.", "A) fast\nB) slow\nPick one.", 2),
        ("1. staging\n2. prod\n\n选哪个", "1. staging\n2. prod\n\n选哪个", 2),
        ("我可以：\n（1）重启\n（2）回滚\n请告诉我选哪个。", "（1）重启\n（2）回滚\n请告诉我选哪个。", 2),
        ("方案一：甲\n方案二：乙\n你选哪个？", "方案一：甲\n方案二：乙\n你选哪个？", 2),
        ("要重启吗", "要重启吗", ()),
        ("どちらにしますか\n・甲\n・乙", "どちらにしますか\n・甲\n・乙", 2),
        ("**Option 1**: ssh\n**Option 2**: http\n\nWhich one?",
         "**Option 1**: ssh\n**Option 2**: http\n\nWhich one?", 2),
        ("Options:\n- a\n- b\nWhich?", "- a\n- b\nWhich?", 2),
        ("| # | way |\n|---|---|\n| 1 | ssh |\n| 2 | http |\n\nWhich one?",
         "| # | way |\n|---|---|\n| 1 | ssh |\n| 2 | http |\n\nWhich one?", 2),
        ("Which?\n```\n1. a\n2. b\n```", "Which?\n```\n1. a\n2. b\n```", 2),
        ("1\ufe0f\u20e3 ssh\n2\ufe0f\u20e3 http\nWhich?", "1\ufe0f\u20e3 ssh\n2\ufe0f\u20e3 http\nWhich?", 2),
        ("I did:\n- a\n- b\n\nAll options are set.", None, ()),
        ("Two ways:\n- a\n- b\n\nI pick the first.", None, ()),
        ("我做了：\n- a\n- b\n我选了第一个。", None, ()),
    ],
)  # fmt: skip
def test_the_question_that_a_message_ends_in(
    message: str, text: str | None, options: int | tuple[()]
) -> None:
    """With the list that belongs to it, above or below; a list of what was done is no question."""
    found = find_question(message)
    assert (found.text if found else None) == text
    if found:
        assert len(found.options) == (options or 0)
        assert message[found.start :].lstrip().startswith(found.text)


@given(
    st.lists(st.sampled_from(["- a\n", "1. b?\n", "Which?\n", "  go on\n", "\n", "Text.\n", "Pick:\n"])).map(
        "".join
    )
)
def test_it_is_a_piece_of_the_message(message: str) -> None:
    """Nothing is made up: question and options stand in the message as they are shown."""
    found = find_question(message)
    if found:
        assert found.text in message
        assert all(option in found.text for option in found.options)
        assert message[found.start :].lstrip().startswith(found.text)
