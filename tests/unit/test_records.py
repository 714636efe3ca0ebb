"""Events as callers give them: what is no event is refused with a reason, whatever it is made of."""

from __future__ import annotations

from typing import Any

import pytest

from gitmem.errors import InvalidRecord
from gitmem.records import parse_event

MESSAGE = {"kind": "message", "role": "user", "text": "x"}


@pytest.mark.parametrize("value", [[], {}, ["user"], 1, True, 0.5])
@pytest.mark.parametrize(
    ("event", "field"),
    [
        (MESSAGE, "kind"),
        (MESSAGE, "role"),
        ({"kind": "session", "event": "start"}, "event"),
        ({"kind": "task", "task_id": "t1", "status": "running"}, "status"),
        ({"kind": "wait", "wait_id": "w1", "status": "active", "wait_kind": "timer"}, "wait_kind"),
        ({"kind": "work_item", "work_item_id": "w1", "action": "pick"}, "action"),
    ],
)
def test_a_word_of_a_closed_list_is_text(event: dict[str, Any], field: str, value: object) -> None:
    """A list or an object where one of a few words belongs is invalid input, not a failure of the program."""
    with pytest.raises(InvalidRecord):
        parse_event({**event, field: value}, now=0.0)
