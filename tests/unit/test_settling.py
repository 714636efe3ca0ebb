"""How pending writes get onto the branch, from what the branch, the staging area and the disk hold."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from gitmem.branch_changes import PendingChange, PendingWrite
from gitmem.settling import PathSight, SettlePlan, plan_settling

A = "notes/a.md"
B = "notes/b.md"


def write(number: int, *changes: PendingChange) -> PendingWrite:
    """Return a pending write."""
    return PendingWrite(f"w{number}", number, 0.0, "note edit", None, "aria <a@x>", "m\n", changes)


def change(head: str | None, base: str | None, result: str | None, path: str = A) -> PendingChange:
    """Return a change of one file, from texts."""
    return PendingChange(path, *(None if text is None else text.encode() for text in (head, base, result)))


def sight(head: str | None, disk: str | None, staged: str = "head", **more: bool | str) -> PathSight:
    """Return what there is at a path; `staged` says whose text the staging area holds."""
    texts = [None if text is None else text.encode() for text in (head, disk)]
    same = head == disk
    flags = {"staged_is_head": staged == "head" or (same and staged == "disk"),
             "staged_is_disk": staged == "disk" or (same and staged == "head")}  # fmt: skip
    return PathSight(*texts, **{**flags, **more})  # type: ignore[arg-type]


def plan(writes: list[PendingWrite], sights: Mapping[str, PathSight]) -> SettlePlan:
    """Plan with sights by path; other paths are empty."""
    return plan_settling(writes, lambda path: sights.get(path, PathSight(None, None)))


def committed(planned: SettlePlan) -> list[tuple[str | None, dict[str, bytes | None]]]:
    """Return the commits as pairs of write id and files."""
    return [(commit.write, dict(commit.files)) for commit in planned.commits]


def test_a_plain_write() -> None:
    """File as the branch has it: one commit, the file is written, its entry staged."""
    planned = plan([write(1, change("1\n", "1\n", "2\n"))], {A: sight("1\n", "1\n")})
    assert committed(planned) == [("w1", {A: b"2\n"})]
    assert planned.disk == {A: b"2\n"}
    assert planned.stage == {A: True}
    assert planned.settled == ("w1",)


def test_a_write_that_is_on_disk_already() -> None:
    """The file was written when the write had to wait; it is committed and not written again."""
    planned = plan([write(1, change("1\n", "1\n", "2\n"))], {A: sight("1\n", "2\n")})
    assert committed(planned) == [("w1", {A: b"2\n"})]
    assert planned.disk == {}
    assert planned.stage == {A: True}


def test_a_write_that_the_branch_holds() -> None:
    """The operator committed the agent's text with his own `commit -a`: nothing is left to do."""
    planned = plan([write(1, change("1\n", "1\n", "2\n"))], {A: sight("2\n", "2\n")})
    assert planned.is_empty
    assert planned.settled == ("w1",)


def test_an_unstaged_entry_is_caught_up() -> None:
    """Branch and disk hold the write, but the staging area the older text: a kill came in between."""
    seen = PathSight(b"2\n", b"2\n", staged_is_head=False, staged_is_disk=False)
    assert plan([write(1, change("1\n", "1\n", "2\n"))], {A: seen}).blocked == {"w1": f"{A} is partly staged"}


def test_what_blocks_one_write_blocks_later_ones_of_its_paths() -> None:
    """Order is kept on each path; other paths go on."""
    writes = [
        write(1, change("1\n", "1\n", "2\n"), change(None, None, "x\n", B)),
        write(2, change(None, "x\n", "y\n", B)),
        write(3, change(None, None, "z\n", "notes/c.md")),
    ]
    planned = plan(writes, {A: sight("1\n", "2\n", unmerged=True), B: sight(None, "y\n")})
    assert planned.blocked == {
        "w1": f"{A} is unmerged",
        "w2": f"{B} waits for an earlier write: {A} is unmerged",
    }
    assert committed(planned) == [("w3", {"notes/c.md": b"z\n"})]


def test_staged_whole_and_then_edited_further() -> None:
    """What the operator staged of a file that goes on being edited stays staged."""
    texts = ("1\n", "op\n1\nagent\n")
    planned = plan([write(1, change("1\n", "1\n", "1\nagent\n"))], {A: sight(*texts, staged="disk")})
    assert committed(planned) == [("w1", {A: b"1\nagent\n"})]
    assert planned.disk == {}
    assert planned.stage == {}


def test_a_broken_off_commit_is_not_taken_for_the_operators() -> None:
    """The disk holds what a killed process had put there, a merge of both: it is committed as the agent's."""
    writes = [write(1, change("1\n2\n3\n", "1\n2\n3\n", "1\n2\n3\nagent\n"))]
    planned = plan(writes, {A: sight("op\n2\n3\n", "op\n2\n3\nagent\n", landed=True)})
    assert committed(planned) == [("w1", {A: b"op\n2\n3\nagent\n"})]
    assert planned.disk == {}


def test_a_file_taken_back_between_two_writes() -> None:
    """A new note, cleaned away by the operator and written anew: no edit of his, both texts are kept."""
    writes = [write(1, change(None, None, "first\n")), write(2, change(None, None, "second\n"))]
    planned = plan(writes, {A: sight(None, "second\n")})
    assert all(commit.write for commit in planned.commits)
    texts = {text for text in planned.contents.values() if text}
    assert texts == {b"first\n", b"second\n"}
    assert sum(map(len, planned.conflicts.values())) == 1


def test_a_conflict_copy_that_is_in_the_way() -> None:
    """A file that stands where a copy has to go is not overwritten: the write waits."""
    writes = [write(1, change(None, None, "agent\n"))]
    clash = plan(writes, {A: sight("operator\n", "operator\n")})
    (copy,) = clash.conflicts["w1"]
    planned = plan(writes, {A: sight("operator\n", "operator\n"), copy: sight(None, "something\n")})
    assert planned.blocked == {"w1": f"{copy} is in the way"}
    assert planned.is_empty


def test_a_removal_against_an_edit() -> None:
    """The operator's newer text is not removed by a removal that did not know it."""
    planned = plan([write(1, change("1\n", "1\n", None))], {A: sight("1\nop\n", "1\nop\n")})
    assert planned.is_empty
    removed = plan([write(1, change("1\n", "1\n", None))], {A: sight("1\n", "1\n")})
    assert committed(removed) == [("w1", {A: None})]
    assert removed.disk == {A: None}


WORDS = st.lists(st.sampled_from(["one", "two", "three"]), max_size=3, unique=True)


@given(
    head=WORDS,
    agents=st.lists(st.integers(0, 3), min_size=1, max_size=3),
    edit=st.sampled_from(["", "top", "bottom", "taken back", "taken back, top"]),
    under=st.booleans(),
)
def test_no_word_is_lost(head: list[str], agents: list[int], edit: str, under: bool) -> None:
    """Whatever the operator did to the file meanwhile: every word is on the branch, on disk or in a copy."""
    first = text(head)
    lines = [*head, "op-under"] if under else [*head]
    writes = []
    for number, place in enumerate(agents):
        before = text(lines)
        lines.insert(min(place, len(lines)), f"agent-{number}")
        writes.append(write(number, change(first, before, text(lines))))
    disk = {
        "": lines,
        "top": ["op", *lines],
        "bottom": [*lines, "op"],
        "taken back": head,
        "taken back, top": ["op", *head],
    }[edit]
    sights = {A: sight(first, text(disk))}
    planned = plan(writes, sights)
    assert planned.blocked == {}
    on_branch = {word for content in planned.contents.values() for word in (content or b"").split()}
    on_disk = planned.disk.get(A, sights[A].disk) or b""
    assert {f"agent-{number}".encode() for number in range(len(agents))} <= on_branch
    assert {word.encode() for word in disk} <= on_branch | set(on_disk.split())
    operators = [commit for commit in planned.commits if commit.write is None]
    for commit in operators:
        assert b"agent" not in b"".join(content or b"" for content in commit.files.values()) or edit != ""
    again = plan_settling(writes, lambda path: after(planned, sights, path))
    twice = {
        word for content in (planned.contents | again.contents).values() for word in (content or b"").split()
    }
    assert on_branch <= twice


def after(planned: SettlePlan, sights: Mapping[str, PathSight], path: str) -> PathSight:
    """Return what there is at a path once a plan was carried out and nothing was noted of it."""
    seen = sights.get(path, PathSight(None, None))
    head = planned.contents.get(path, seen.head)
    disk = planned.disk.get(path, seen.disk)
    return PathSight(head, disk, staged_is_head=True, staged_is_disk=head == disk)


def text(lines: list[str]) -> str:
    """Return lines as a file's text."""
    return "".join(f"{line}\n" for line in lines)
