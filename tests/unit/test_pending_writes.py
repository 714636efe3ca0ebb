"""The queue of writes that wait, on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gitmem.branch_changes import PendingChange, PendingWrite
from gitmem.pending_writes import Landing, PendingWrites, mint_write_id

WRITE = PendingWrite(
    id="0123456789ab",
    number=1,
    since=1772442000.5,
    operation="note edit",
    turn="turn_0123",
    author="aria <aria@x>",
    message="note: edit a.md\n\nGitmem-Kind: note\n",
    changes=(
        PendingChange("notes/a.md", b"1\n", b"1\n", b"2\n"),
        PendingChange("notes/b.md", None, None, None),
    ),
    reason="merge in progress",
)
CONTENT = st.none() | st.binary(max_size=20)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    changes=st.lists(st.builds(PendingChange, TEXT, CONTENT, CONTENT, CONTENT), min_size=1, max_size=3),
    words=st.tuples(TEXT, TEXT, TEXT, TEXT),
)
def test_any_write_survives(
    tmp_path_factory: object, changes: list[PendingChange], words: tuple[str, str, str, str]
) -> None:
    """Every content and every wording comes back as it was put in, binary ones too."""
    folder = tmp_path_factory.mktemp("queue")  # type: ignore[attr-defined]
    queue = PendingWrites(folder)
    operation, turn, author, message = words
    write = replace(
        WRITE, operation=operation, turn=turn, author=author, message=message, changes=tuple(changes)
    )
    queue.put(write)
    assert queue.read() == [write]


def test_order_and_removal(tmp_path: Path) -> None:
    """Writes come back in the order of their numbers, whatever their ids are, until they are dropped."""
    queue = PendingWrites(tmp_path / "pending")
    assert queue.read() == []
    writes = [replace(WRITE, id=mint_write_id(), number=number) for number in (2, 10, 1)]
    for write in writes:
        queue.put(write)
    assert [write.number for write in queue.read()] == [1, 2, 10]
    queue.drop(writes[:1])
    queue.drop(writes[:1])
    assert [write.number for write in queue.read()] == [1, 10]
    queue.put(replace(writes[1], recorded=True))
    assert queue.read()[1].recorded


def test_a_damaged_file_costs_only_itself(tmp_path: Path) -> None:
    """A file that cannot be read is named and left where it is; the others are read."""
    queue = PendingWrites(tmp_path)
    queue.put(WRITE)
    for name, content in {
        "000002-x.json": b"",
        "000003-y.json": b'{"v": 9}',
        "000004-z.json": b"\xff",
    }.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / ".000005-w.json.abc.part").write_bytes(b"left by a kill")
    (tmp_path / "notes.txt").write_bytes(b"somebody's")
    assert queue.read() == [WRITE]
    assert queue.damaged() == ["000002-x.json", "000003-y.json", "000004-z.json"]


def test_landing(tmp_path: Path) -> None:
    """What is under way is read back whole, or not at all."""
    queue = PendingWrites(tmp_path / "pending")
    assert queue.read_landing() is None
    queue.forget_landing()
    landing = Landing(
        tip="1" * 40,
        commits={"w": "2" * 40, "v": None},
        conflicts={"w": ("conflicts/a",)},
        files={"notes/a.md": "3" * 40},
        token="t",
        fresh=WRITE,
    )
    queue.note_landing(landing)
    assert queue.read_landing() == landing
    short = replace(landing, fresh=None, files={})
    queue.note_landing(short)
    assert queue.read_landing() == short
    assert queue.read() == []
    queue.forget_landing()
    assert queue.read_landing() is None
    (tmp_path / "pending" / "landing.json").write_bytes(b'{"tip": "')
    assert queue.read_landing() is None
