"""Facts of segments: the same with the kept file, without it, and whatever stands in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.ledger_format import Line, split_segment
from gitmem.lifecycle import Lifecycle
from gitmem.segment_facts import SegmentFacts
from ledgers import WRITER, chain, join_lines
from turns import Desk, again, make_desk, put_on_line

LINE = "refs/remotes/origin/gitmem/turns/w0000000a"


def count_lines(content: bytes) -> int:
    """Return the number of a segment's lines that are not redacted."""
    return sum(isinstance(item, Line) and not item.redacted for item in split_segment(content))


class Reader:
    """Counts what it extracts."""

    def __init__(
        self, desk: Desk, *, version: int = 1, extract: Callable[[bytes], object] = count_lines
    ) -> None:
        self.count = 0
        self._extract = extract
        self.facts = SegmentFacts(desk.layout, desk.ledger, "counts", version, self._read)

    def _read(self, content: bytes) -> object:
        self.count += 1
        return self._extract(content)


def put_segments(desk: Desk, first: int, last: int, *, lines: int = 3) -> None:
    """Bring segments of another machine, each of three lines or as many as are asked for."""
    files: dict[str, bytes | None] = {
        f"ledger/2026-11/30/{WRITER}-{number:04d}.jsonl": join_lines(
            chain([{"kind": "message", "role": "user", "text": f"{number} {line}"} for line in range(lines)])
        )
        for number in range(first, last + 1)
    }
    put_on_line(desk.layout.root, LINE, files)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home that knows another machine's ten segments."""
    desk = make_desk(tmp_path / "home")
    put_segments(desk, 1, 10)
    return desk


def kept(desk: Desk) -> Path:
    """Return the file of the facts."""
    return desk.layout.derived / "facts" / "counts.json"


def test_another_process_reads_only_what_is_new(desk: Desk) -> None:
    """Segments that were read once are not read again, also where later ones came."""
    first = Reader(desk)
    assert set(first.facts.values().values()) == {3}
    assert (first.count, len(first.facts.values())) == (10, 10)
    put_segments(desk, 10, 12)
    desk.say("here")
    later = Reader(again(desk))
    assert len(later.facts.values()) == 13
    assert later.count == 3
    assert Reader(again(desk)).facts.values() == later.facts.values()


def test_what_changed_is_told_once(desk: Desk) -> None:
    """A caller that folds on need not look at everything again; the first time it gets all in one order."""
    facts = Reader(desk).facts
    assert [path for path, _ in facts.catch_up()] == list(desk.ledger.segments())
    assert [*facts.catch_up()] == []
    desk.say("here")
    ((path, value),) = facts.catch_up()
    assert (value, path in facts.values()) == (2, True)
    desk.say("again")
    assert [*facts.catch_up()] == [(path, 4)]
    assert facts.value(path) == 4


def test_what_was_forgotten_is_read_again_and_leaves_the_file(desk: Desk) -> None:
    """A fact holds for the receipts it was taken under, in this process and in the next one."""
    texts = Reader(desk, extract=lambda content: content.decode())
    assert "3 1" in kept_text(texts, desk)
    (line,) = (
        item
        for item in split_segment(texts.facts.values()[f"ledger/2026-11/30/{WRITER}-0003.jsonl"].encode())
        if isinstance(item, Line) and b'"3 1"' in item.mid
    )
    receipt = f"ledger/forgotten/record/{line.id.partition('_')[2][:2]}/{line.id}.jsonl"
    put_on_line(desk.layout.root, LINE, {receipt: b"{}\n"})
    for reader in (texts, Reader(again(desk), extract=lambda content: content.decode())):
        assert '"3 1"' not in kept_text(reader, desk)


def kept_text(reader: Reader, desk: Desk) -> str:
    """Return all facts and all that the file holds."""
    return str(dict(reader.facts.values())) + kept(desk).read_text()


@pytest.mark.parametrize(
    ("damage", "lost"),
    [
        (lambda content: b"", 10),
        (lambda content: content[:-3], 1),
        (lambda content: content.replace(b",3]", b",4]", 1), 1),
        (lambda content: content.partition(b"\n")[0] + b"\n[" * 40_000 + b"\n", 10),
        (lambda content: b"\xff" + content, 10),
        (lambda content: content.partition(b"\n")[0] + b"\n" + json.dumps({"a": 1}).encode() + b"\n", 10),
    ],
    ids=["empty", "torn", "changed", "deep", "not text", "another shape"],
)
def test_what_is_damaged_in_the_file_is_read_again(
    desk: Desk, damage: Callable[[bytes], bytes], lost: int
) -> None:
    """A line that does not fit its check is worth nothing, and the file is whole again."""
    expected = Reader(desk).facts.values()
    kept(desk).write_bytes(damage(kept(desk).read_bytes()))
    reader = Reader(again(desk))
    assert (reader.facts.values(), reader.count) == (expected, lost)
    healed = Reader(again(desk))
    assert (healed.facts.values(), healed.count) == (expected, 0)


def test_what_is_damaged_behind_our_back_is_read_again(desk: Desk) -> None:
    """Values stay in the file, not in memory; each is checked whenever it is read."""
    expected = dict(Reader(desk).facts.values())
    reader = Reader(again(desk))
    assert (dict(reader.facts.values()), reader.count) == (expected, 0)
    with kept(desk).open("r+b") as file:
        file.seek(200)
        file.write(b"?" * 300)
    assert dict(reader.facts.values()) == expected
    assert 0 < reader.count < 10
    with kept(desk).open("r+b") as file:
        file.truncate(0)
    assert dict(reader.facts.values()) == expected
    put_segments(desk, 11, 15)
    assert len(reader.facts.values()) == 15
    healed = Reader(again(desk))
    assert (len(healed.facts.values()), healed.count) == (15, 0)


def test_a_home_that_is_closed_holds_no_file(desk: Desk) -> None:
    """Else the disk that it is on cannot be taken out; whoever goes on begins with the file anew."""
    expected = dict(Reader(desk).facts.values())
    later = again(desk)
    reader = Reader(later)
    assert reader.facts.values() == expected
    held = [path for path in Path("/proc/self/fd").iterdir() if path.exists() and path.samefile(kept(desk))]
    later.ledger.close()
    assert len(held) == 2  # this one and the first one's
    assert [path for path in held if path.exists() and path.samefile(kept(desk))] == held[:1]
    assert (dict(reader.facts.values()), reader.count) == (expected, 0)


def test_another_file_in_its_place_changes_nothing(desk: Desk) -> None:
    """A process reads on in the file that it knows while another one writes it anew, or it is removed."""
    expected = dict(Reader(desk).facts.values())
    reader = Reader(again(desk))
    values = reader.facts.values()
    kept(desk).unlink()
    assert (dict(values), reader.count) == (expected, 0)
    put_segments(desk, 11, 15)
    reader.facts.values()
    assert (len(Reader(again(desk)).facts.values()), reader.count) == (15, 5)


@pytest.mark.slow
def test_the_file_grows_by_what_is_new_and_is_made_anew_in_time(desk: Desk) -> None:
    """Keeping costs as much as what changed, not as the ledger; what is superseded does not pile up."""
    reader = Reader(desk)
    reader.facts.values()
    sizes = []
    for number in range(20):
        begun = kept(desk).read_bytes()
        put_segments(desk, 11 + 5 * number, 15 + 5 * number)
        reader.facts.values()
        assert kept(desk).read_bytes().startswith(begun)
        sizes.append(len(kept(desk).read_bytes()) - len(begun))
    assert max(sizes) < 2 * min(sizes)
    for number in range(40):
        put_segments(desk, 1, 5, lines=4 + number)
        reader.facts.values()
    lines = kept(desk).read_bytes().count(b"\n") - 1
    assert len(reader.facts.values()) == 110
    assert lines <= 2 * 110 + 64
    assert Reader(again(desk)).facts.values() == reader.facts.values()


def test_two_processes_keep_beside_each_other(desk: Desk) -> None:
    """What one process adds to the file stands beside what the other added, and both are taken."""
    one, two = Reader(desk), Reader(again(desk))
    one.facts.values()
    two.facts.values()
    put_segments(desk, 11, 15)
    one.facts.values()
    put_segments(desk, 16, 20)
    two.facts.values()
    later = Reader(again(desk))
    assert (len(later.facts.values()), later.count) == (20, 0)


def test_another_version_reads_everything(desk: Desk) -> None:
    """What an older gitmem extracted is not taken for what this one does."""
    Reader(desk).facts.values()
    newer = Reader(again(desk), version=2)
    newer.facts.values()
    assert newer.count == 10


def test_a_home_that_cannot_be_written_is_read(desk: Desk) -> None:
    """The file is a saving only."""
    desk.layout.derived.parent.mkdir(parents=True, exist_ok=True)
    (desk.layout.derived).mkdir(exist_ok=True)
    (desk.layout.derived / "facts").write_text("in the way")
    assert len(Reader(desk).facts.values()) == 10


EVENTS = st.builds(
    lambda name, status: {"kind": "task", "task_id": name, "status": status, "note": status * 2},
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["running", "queued", "completed"]),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.lists(EVENTS, min_size=1, max_size=3)),
        st.tuples(st.sampled_from(["other", "forget", "process", "drop"]), st.integers(0, 20)),
    ),
    max_size=10,
)


@settings(max_examples=examples(12))
@given(steps=STEPS)
def test_objects_are_the_same_with_and_without_what_was_kept(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, object]]
) -> None:
    """Turns here, lines of others, forgetting, new processes and a lost file in any order."""
    desk = make_desk(tmp_path_factory.mktemp("home") / "home")
    lasting = Lifecycle(desk.layout, desk.ledger)
    for step, what in steps:
        if step == "turn":
            assert isinstance(what, list)
            desk.recorder.record(what)
        elif step == "process":
            Lifecycle(desk.layout, again(desk).ledger).all_heads()
        elif step == "drop":
            (desk.layout.derived / "facts" / "lifecycle.json").unlink(missing_ok=True)
        else:
            assert isinstance(what, int)
            _bring(desk, what, forget=step == "forget")
        kept_heads = Lifecycle(desk.layout, again(desk).ledger).all_heads()
        elsewhere = make_desk(tmp_path_factory.mktemp("empty") / "home").layout
        assert Lifecycle(elsewhere, again(desk).ledger).all_heads() == kept_heads
        assert lasting.all_heads() == kept_heads


def _bring(desk: Desk, number: int, *, forget: bool) -> None:
    """Bring a segment of another machine, or the receipt of one of the snapshots that are known."""
    if not forget:
        segment = f"ledger/2026-11/30/{WRITER}-{number + 1:04d}.jsonl"
        told = {"kind": "task", "task_id": "abc"[number % 3], "status": "running", "number": number}
        lines = chain([told], record_id=f"task_{number:015x}", revision=1, status="running")
        put_on_line(desk.layout.root, LINE, {segment: join_lines(lines)})
        return
    known = sorted(record.id for record in desk.records() if record.kind == "task")
    if known:
        name = known[number % len(known)]
        receipt = f"ledger/forgotten/record/{name.partition('_')[2][:2]}/{name}.jsonl"
        put_on_line(desk.layout.root, LINE, {receipt: b"{}\n"})
