"""Taking an event out of the spool while its turn is told by somebody."""

from __future__ import annotations

from pathlib import Path

from gitmem.records import Event
from gitmem.spool import Spool

AT = "2026-11-30T10:00:00.000Z"


def event(name: str, text: str) -> Event:
    """Return a message."""
    return Event(name, "message", AT, {"role": "user", "text": text})


def test_the_others_stay_and_more_can_be_told(tmp_path: Path) -> None:
    """The words are gone from the file at once; who tells the turn goes on in it."""
    spool = Spool(tmp_path)
    file = spool.open_turn("turn_0123456789abcde", {"opened": AT})
    file.add(event("msg_000000000000001", "gone"))
    file.add(event("msg_000000000000002", "stays — ü"))
    size = file.path.stat().st_size
    spool.erase({"msg_000000000000001"})
    assert file.path.stat().st_size == size
    assert b"gone" not in file.path.read_bytes()
    file.add(event("msg_000000000000003", "later"))
    file.finish("completed", 1_772_442_000.0)
    (turn,) = spool.told()
    assert [one.body["text"] for one in turn.events] == ["stays — ü", "later"]
    assert turn.end == "completed"


def test_nothing_to_erase_changes_nothing(tmp_path: Path) -> None:
    """Files of other turns keep their bytes."""
    spool = Spool(tmp_path)
    file = spool.open_turn("turn_0123456789abcde", {"opened": AT})
    file.add(event("msg_000000000000001", "stays"))
    before = file.path.read_bytes()
    spool.erase({"msg_00000000000000f"})
    assert file.path.read_bytes() == before
    file.close()
