"""[V3] A turn line only grows: the one rule of servers, pushes and verify."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.forgotten import receipt_path
from gitmem.git_objects import make_commit, make_object, make_tree
from gitmem.ledger_format import Line, blob_path, redact, segment_path, union_segments
from gitmem.ledger_growth import ledger_losses, segment_losses
from gitmem.repository import EXECUTABLE_MODE, FILE_MODE, TREE_MODE, Commit, ObjectKind, TreeEntry
from ledgers import START, WRITER, join_lines, messages, tampered

SEGMENT = segment_path(START, WRITER, 1)
LINES = messages(5)
WHOLE = join_lines(LINES)


def rules(old: bytes, new: bytes, *forgotten: str) -> list[str]:
    """Return the rules that a segment breaks on its way from old to new bytes."""
    return [loss.rule for loss in segment_losses(SEGMENT, old, new, lambda name: name in forgotten)]


class TestSegments:
    """One segment, from old to new bytes."""

    def test_growing_is_allowed(self) -> None:
        """Lines come behind, between and before the old ones: a union of two writers' views does that."""
        assert rules(b"", WHOLE) == rules(WHOLE, WHOLE) == rules(join_lines(LINES[:3]), WHOLE) == []
        assert rules(join_lines(LINES[1::2]), WHOLE) == []

    @pytest.mark.parametrize("at", range(5))
    def test_a_line_that_is_gone_is_named(self, at: int) -> None:
        """Each missing line is told by writer and number, never by its words."""
        (loss,) = segment_losses(SEGMENT, WHOLE, join_lines(LINES[:at] + LINES[at + 1 :]), lambda _: False)
        assert loss.message == f"line {at + 1} of {WRITER} is gone or stands elsewhere"
        assert "message" not in loss.message

    def test_order_counts(self) -> None:
        """A subsequence has the order of the old lines."""
        assert rules(WHOLE, join_lines([LINES[1], LINES[0], *LINES[2:]])) == ["line"]

    def test_a_changed_middle_is_a_lost_line(self) -> None:
        """Other words under the same envelope are refused."""
        changed = tampered(LINES[2], b"message 3", b"message 9")
        assert rules(WHOLE, join_lines([*LINES[:2], changed, *LINES[3:]])) == ["line"]

    def test_a_stub_needs_its_receipt(self) -> None:
        """[F3] A redaction is legal with its receipt in the new tip, and comes back never."""
        stubbed = join_lines([*LINES[:2], redact(LINES[2]), *LINES[3:]])
        assert rules(WHOLE, stubbed, LINES[2].id) == []
        assert rules(WHOLE, stubbed, LINES[1].id) == ["redacted"]
        assert rules(stubbed, stubbed) == []
        assert rules(stubbed, WHOLE, LINES[2].id) == ["line"]

    def test_a_damaged_line_may_be_healed(self) -> None:
        """[L5] Of two versions of a line the union takes the one that fits its digest; that is no loss."""
        damaged = join_lines([tampered(LINES[0], b"message 1", b"message X"), *LINES[1:]])
        assert rules(damaged, WHOLE) == []
        assert rules(WHOLE, damaged) == ["line"]

    def test_bad_lines_stay_too(self) -> None:
        """Nothing is ever removed, what cannot be read neither; a torn tail may become whole."""
        torn = join_lines(LINES[:2]) + LINES[2].raw[:100]
        assert rules(torn, WHOLE) == []
        assert rules(torn, join_lines([*LINES[:2], *LINES[3:]])) == ["line"]
        foreign = join_lines([LINES[0], b"what is this", *LINES[1:]])
        assert rules(foreign, WHOLE) == ["line"]
        assert rules(WHOLE, foreign) == []

    @given(
        st.lists(
            st.lists(st.sampled_from(["", "line", "stub"]), min_size=7, max_size=7), min_size=2, max_size=3
        )
    )
    def test_a_union_grows_from_each_of_its_versions(self, choices: list[list[str]]) -> None:
        """[L5] What sync makes of several versions passes the rule from each of them."""
        versions = [join_lines(list(_chosen(choice))) for choice in choices]
        union = union_segments(versions)
        for version in versions:
            assert rules(version, union, *(line.id for line in LINES)) == []


def _chosen(choice: list[str]) -> Iterator[Line | bytes]:
    """Yield the lines of one version, with bytes that are none behind the second and the last."""
    items: list[Line | bytes] = [*LINES[:2], b"foreign", *LINES[2:], b"more"]
    for how, item in zip(choice, items, strict=True):
        if how:
            yield redact(item) if how == "stub" and isinstance(item, Line) else item


class Objects:
    """Trees in memory, made from paths."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[ObjectKind, bytes]] = {}
        self.trees: dict[str, list[TreeEntry]] = {}

    def commit(self, files: Mapping[str, bytes], *, mode: int = FILE_MODE) -> str:
        """Return the id of a commit with these files."""
        tree = self._tree(files, mode)
        made = make_commit(
            tree=tree, parents=[], author="a <a@b>", committer="a <a@b>", seconds=0, message="turn\n"
        )
        self.held[made.id] = ("commit", made.content)
        return made.id

    def _tree(self, files: Mapping[str, bytes], mode: int) -> str:
        folders: dict[str, dict[str, bytes]] = {}
        entries = []
        for path, content in files.items():
            head, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(head, {})[rest] = content
            else:
                blob = make_object("blob", content)
                self.held[blob.id] = ("blob", content)
                entries.append(TreeEntry(head, mode, blob.id))
        entries += [TreeEntry(name, TREE_MODE, self._tree(inner, mode)) for name, inner in folders.items()]
        tree = make_tree(entries)
        self.held[tree.id] = ("tree", tree.content)
        self.trees[tree.id] = entries
        return tree.id

    def read(self, object_id: str) -> tuple[ObjectKind, bytes]:
        """Return kind and content."""
        return self.held[object_id]

    def read_tree(self, tree_id: str) -> list[TreeEntry]:
        """Return the entries."""
        return self.trees[tree_id]

    def read_commit(self, commit_id: str) -> Commit:
        """Return a commit of which only the tree matters."""
        tree = self.held[commit_id][1].split()[1].decode()
        return Commit(commit_id, tree, (), "", 0, "", 0, "")

    def contains(self, object_id: str) -> bool:
        """Say whether it is held."""
        return object_id in self.held


def losses(
    old: Mapping[str, bytes], new: Mapping[str, bytes], *, mode: int = FILE_MODE
) -> list[tuple[str, str]]:
    """Return path and rule of what is lost between two commits."""
    objects = Objects()
    before, after = objects.commit(old), objects.commit(new, mode=mode)
    return [(loss.path, loss.rule) for loss in ledger_losses(objects, before, after)]


BLOB = blob_path(START, LINES[1].id)
FILES = {SEGMENT: WHOLE, BLOB: b"long text", receipt_path("record", LINES[0].id): b"a\nb\n"}


class TestCommits:
    """The whole ledger, tip against tip."""

    def test_growing_is_allowed(self) -> None:
        """New segments, blobs, receipts and lines of receipts."""
        more = {
            **FILES,
            segment_path(START, "w99999999", 1): b"x\n",
            receipt_path("record", LINES[0].id): b"0\na\nb\n",
        }
        assert losses(FILES, more) == losses(FILES, FILES) == losses({"x": b""}, more) == []

    @pytest.mark.parametrize("path", list(FILES))
    def test_no_file_goes(self, path: str) -> None:
        """A fast-forward that deletes a file of the ledger is refused too."""
        assert losses(FILES, {name: c for name, c in FILES.items() if name != path}) == [(path, "deleted")]

    def test_the_whole_ledger_gone(self) -> None:
        """A commit without the folder lost every file of it."""
        assert {rule for _, rule in losses(FILES, {"README.md": b""})} == {"deleted"}
        assert len(losses(FILES, {"ledger": b"a file"})) == len(FILES)

    def test_a_blob_goes_with_the_receipt_of_its_record(self) -> None:
        """[L7, F2] Long texts go with their record, and the record's line becomes its stub."""
        new = {
            SEGMENT: join_lines([LINES[0], redact(LINES[1]), *LINES[2:]]),
            receipt_path("record", LINES[0].id): b"a\nb\n",
            receipt_path("record", LINES[1].id): b"c\n",
        }
        assert losses(FILES, new) == []
        del new[receipt_path("record", LINES[1].id)]
        assert losses(FILES, new) == [(SEGMENT, "redacted"), (BLOB, "deleted")]

    def test_what_is_written_once_does_not_change(self) -> None:
        """Blobs keep their bytes, receipts their lines, files their kind."""
        assert losses(FILES, {**FILES, BLOB: b"other"}) == [(BLOB, "changed")]
        receipt = receipt_path("record", LINES[0].id)
        assert losses(FILES, {**FILES, receipt: b"a\n"}) == [(receipt, "changed")]
        assert {rule for _, rule in losses(FILES, FILES, mode=EXECUTABLE_MODE)} == {"changed"}
