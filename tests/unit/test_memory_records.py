"""The ledger's record of a change on the operator's branch, made from the write that waits."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import new_home

from gitmem.branch_changes import PendingChange, PendingWrite
from gitmem.errors import UsageError
from gitmem.memory_records import memory_event


def test_a_message_that_names_no_session_has_a_record_all_the_same() -> None:
    """One write whose trailers make no sense must not hold up the queue behind it."""
    write = PendingWrite(
        id="98e79e8b49b8",
        number=1,
        since=0.0,
        operation="note add",
        turn="turn_7784eb59dfdfa27",
        author="aria <aria@home.invalid>",
        message="note: add a.md\n\nGitmem-Kind: note\nGitmem-Session: two words\n",
        changes=(PendingChange("notes/a.md", None, None, b"x\n"),),
    )
    event = memory_event(write)
    assert event.session is None
    assert event.body["action"] == "add"


@pytest.mark.parametrize("cause", ["ended turn", "author"])
def test_a_cause_that_cannot_be_recorded_is_refused_first(tmp_path: Path, cause: str) -> None:
    """An error means that nothing was written."""
    with new_home(tmp_path / "home") as home:
        with home.turn() as turn:
            turn.message("user", "Note that.")
        given = {"turn": turn} if cause == "ended turn" else {"by": "somebody"}
        with pytest.raises(UsageError):
            home.note_add("a.md", content="One.", **given)
        assert not (tmp_path / "home" / "notes").exists()
        assert home.note_add("a.md", content="One.").committed
