"""The merge of two trees of the operator's branch, rule by rule."""

from __future__ import annotations

import hashlib

import pytest
from trees import Blobs, forget

from gitmem.branch_merge import conflict_path
from gitmem.closed_tree import episode_stub
from gitmem.entries import entry_digest
from gitmem.git_objects import hash_object
from gitmem.repository import EXECUTABLE_MODE, FILE_MODE, LINK_MODE, SUBMODULE_MODE
from gitmem.text_merge import CLASH
from gitmem.tree_edit import TreeFile
from gitmem.tree_merge import merge_trees


@pytest.fixture
def blobs() -> Blobs:
    """Contents of trees."""
    return Blobs()


def winner_of(one: str, other: str) -> tuple[str, str]:
    """Return which of two texts lives, and which is a copy."""
    ids = [hash_object("blob", text.encode()) for text in (one, other)]
    return (one, other) if ids[0] > ids[1] else (other, one)


def test_changes_of_different_paths_are_all_taken_and_nothing_is_read(blobs: Blobs) -> None:
    """Where one side changed a path its file is taken by id, removals included."""
    base = blobs.tree({"notes/a.md": "a\n", "notes/b.md": "b\n", "notes/c.md": "c\n", "x.txt": "x\n"})
    one = {**base, **blobs.tree({"notes/a.md": "A\n", "notes/new.md": "n\n"})}
    two = {path: file for path, file in base.items() if path != "notes/b.md"} | blobs.tree({"x.txt": "X\n"})
    merged = blobs.merge(base, one, two)
    assert blobs.reads == []
    assert blobs.texts(merged.files) == {
        "notes/a.md": "A\n", "notes/c.md": "c\n", "notes/new.md": "n\n", "x.txt": "X\n"
    }  # fmt: skip
    assert not merged.made
    assert not merged.conflicts
    assert set(merged.fates.values()) == {"taken"}
    assert merged.edits(one) == {"notes/b.md": None, "x.txt": two["x.txt"]}


def test_only_what_both_sides_changed_is_read(blobs: Blobs) -> None:
    """A merge of large homes costs what changed on both sides."""
    base = blobs.tree({f"notes/{n}.md": f"{n}\nmiddle\nend\n" for n in range(50)})
    one = {**base, **blobs.tree({"notes/1.md": "one\nmiddle\nend\n", "notes/2.md": "only here\n"})}
    two = {**base, **blobs.tree({"notes/1.md": "1\nmiddle\nEND\n", "notes/3.md": "only there\n"})}
    merged = blobs.merge(base, one, two)
    assert set(blobs.reads) == {tree["notes/1.md"].id for tree in (base, one, two)}
    assert blobs.texts(merged.files)["notes/1.md"] == "one\nmiddle\nEND\n"
    assert merged.fates["notes/1.md"] == "merged"


def test_a_clash_is_one_live_text_one_copy_and_listed(blobs: Blobs) -> None:
    """The text with the larger blob id lives; the other stands whole below `conflicts/`."""
    base, one, two = (blobs.tree({"notes/a.md": text}) for text in ("0\n", "1\n", "2\n"))
    merged = blobs.merge(base, one, two)
    live, lost = winner_of("1\n", "2\n")
    copy = conflict_path("notes/a.md", lost.encode())
    assert blobs.texts(merged.files) == {"notes/a.md": live, copy: lost}
    assert merged.conflicts == {"notes/a.md": (copy,)}
    assert merged.fates == {"notes/a.md": "clash"}
    again = blobs.merge(two, merged.files, two)
    assert again.files == merged.files


def test_an_edit_beats_a_delete(blobs: Blobs) -> None:
    """Deleted here and edited there: the edit stays, and is told."""
    base, one = blobs.tree({"notes/a.md": "0\n"}), blobs.tree({"notes/a.md": "1\n"})
    merged = blobs.merge(base, one, {})
    assert merged.files == one
    assert merged.fates == {"notes/a.md": "revived"}


def test_an_edit_follows_an_exact_move(blobs: Blobs) -> None:
    """One side moved the note, the other edited it: the edit stands at the new place only."""
    base, moved = blobs.tree({"notes/a.md": "a\nb\n"}), blobs.tree({"notes/ops/a.md": "a\nb\n"})
    edited = blobs.tree({"notes/a.md": "a\nB\n"})
    merged = blobs.merge(base, moved, edited)
    assert blobs.texts(merged.files) == {"notes/ops/a.md": "a\nB\n"}
    assert merged.fates == {"notes/ops/a.md": "moved"}


def test_a_move_that_is_not_exact_is_none(blobs: Blobs) -> None:
    """Moved and edited at once, empty, or one of two equal files: two paths, and no edit is lost."""
    base = blobs.tree({"notes/a.md": "a\n", "notes/e.md": "", "notes/x.md": "same\n", "notes/y.md": "same\n"})
    one = blobs.tree({"notes/b.md": "a!\n", "notes/f.md": "", "notes/z.md": "same\n"})
    two = {**base, **blobs.tree({"notes/a.md": "A\n", "notes/e.md": "E\n", "notes/x.md": "X\n"})}
    merged = blobs.merge(base, one, two)
    assert blobs.texts(merged.files) == {
        "notes/a.md": "A\n", "notes/b.md": "a!\n", "notes/e.md": "E\n", "notes/f.md": "", "notes/x.md": "X\n",
        "notes/z.md": "same\n",
    }  # fmt: skip


def test_moves_to_two_places_are_two_files(blobs: Blobs) -> None:
    """Each side's new place stands."""
    base = blobs.tree({"notes/a.md": "a\n"})
    merged = blobs.merge(base, blobs.tree({"notes/b.md": "a\n"}), blobs.tree({"notes/c.md": "a\n"}))
    assert blobs.texts(merged.files) == {"notes/b.md": "a\n", "notes/c.md": "a\n"}


def test_a_move_onto_a_new_file_keeps_edit_and_file(blobs: Blobs) -> None:
    """The other side edited the note and began another one where it went: one lives, one is a copy."""
    base, one = blobs.tree({"notes/a.md": "a\n"}), blobs.tree({"notes/b.md": "a\n"})
    two = blobs.tree({"notes/a.md": "a\nedit\n", "notes/b.md": "other\n"})
    merged = blobs.merge(base, one, two)
    live, lost = winner_of("a\nedit\n", "other\n")
    assert blobs.texts(merged.files) == {"notes/b.md": live, conflict_path("notes/b.md", lost.encode()): lost}


def test_crossing_moves_with_edits_lose_nothing(blobs: Blobs) -> None:
    """Two notes moved to one place, each edited by the side that did not move it."""
    base = blobs.tree({"notes/a.md": "a\n", "notes/b.md": "b\n"})
    one = blobs.tree({"notes/c.md": "a\n", "notes/b.md": "b\nB\n"})
    two = blobs.tree({"notes/c.md": "b\n", "notes/a.md": "a\nA\n"})
    merged = blobs.merge(base, one, two)
    assert sorted(blobs.texts(merged.files).values()) == ["a\nA\n", "b\nB\n"]
    assert [*merged.conflicts] == ["notes/c.md"]


def test_a_folder_takes_the_place_of_a_file(blobs: Blobs) -> None:
    """File against folder: the folder stays, the file is a copy and listed, whatever its name says."""
    one, two = blobs.tree({"notes/a": "file\n"}), blobs.tree({"notes/a/b.md": "inside\n"})
    merged = blobs.merge({}, one, two)
    copy = conflict_path("notes/a", b"file\n")
    assert blobs.texts(merged.files) == {"notes/a/b.md": "inside\n", copy: "file\n"}
    assert merged.conflicts == {"notes/a": (copy,)}
    assert merged.fates["notes/a"] == "folder"


def test_an_edit_of_a_file_that_gave_way_follows_it(blobs: Blobs) -> None:
    """The file is a copy here by an earlier merge; edited there, the edit is the copy."""
    base = blobs.tree({"notes/a": "file\n"})
    copy = conflict_path("notes/a", b"file\n")
    one = blobs.tree({"notes/a/b.md": "inside\n", copy: "file\n"})
    merged = blobs.merge(base, one, blobs.tree({"notes/a": "edited\n"}))
    edited = conflict_path("notes/a", b"edited\n")
    assert blobs.texts(merged.files) == {"notes/a/b.md": "inside\n", edited: "edited\n"}
    assert merged.fates["notes/a"] == "withdrawn"


def test_a_copy_that_both_sides_have_stays_beside_what_won_against_it(blobs: Blobs) -> None:
    """Here the text is live nowhere any more, there another one lives: that one is no edit of the copy."""
    base = blobs.tree({"notes/a.md": "lost\n"})
    copy = blobs.tree({conflict_path("notes/a.md", b"lost\n"): "lost\n"})
    winner = blobs.tree({"notes/a.md": "won\n"})
    assert blobs.merge(base, copy, {**copy, **winner}).files == {**copy, **winner}


def test_a_file_in_the_way_of_a_copy_becomes_one(blobs: Blobs) -> None:
    """A file called like the folder of a note's copies, or like `conflicts` itself, gives way."""
    for name in ("conflicts", "conflicts/notes", "conflicts/notes/a.md"):
        base, one, two = (blobs.tree({"notes/a.md": text, name: "odd\n"}) for text in ("0\n", "1\n", "2\n"))
        merged = blobs.merge(base, one, two)
        assert sorted(blobs.texts(merged.files).values()) == ["1\n", "2\n", "odd\n"]
        assert name not in merged.files
        assert blobs.merge(merged.files, merged.files, merged.files).files == merged.files


def test_stores_merge_by_entry(blobs: Blobs) -> None:
    """Memory written on two machines is one store, without a copy."""
    base, one, two = (
        blobs.tree({"memory/MEMORY.md": text}) for text in ("a\n§\nb\n", "a\n§\nb\n§\nc\n", "b\n§\nd\n")
    )
    merged = blobs.merge(base, one, two)
    assert blobs.texts(merged.files) == {"memory/MEMORY.md": "b\n§\nc\n§\nd\n"}


def test_episodes_never_change_and_never_go(blobs: Blobs) -> None:
    """An episode is what it was, whatever either side did, in tree and mode."""
    path = "episodes/2026-01/02-x-0a1b.md"
    base = blobs.tree({path: "was\n"})
    assert blobs.merge(base, {}, {}).files == base
    assert blobs.merge(base, {}, base).files == base
    edited = conflict_path(path, b"new\n")
    merged = blobs.merge(base, {}, blobs.tree({path: "new\n"}))
    assert blobs.texts(merged.files) == {path: "was\n", edited: "new\n"}
    assert merged.conflicts == {path: (edited,)}
    link = {path: TreeFile(LINK_MODE, blobs.put("/etc/passwd"))}
    assert blobs.merge(base, link, link).files == base
    moved = blobs.tree({"episodes/2026-01/03-y-0a1b.md": "was\n"})
    assert blobs.merge(base, moved, base).files == {**base, **moved}


def test_modes_merge_by_themselves(blobs: Blobs) -> None:
    """One side makes a file executable, the other edits it."""
    base, two = blobs.tree({"run.sh": "1\n"}), blobs.tree({"run.sh": "2\n"})
    one = {"run.sh": TreeFile(EXECUTABLE_MODE, base["run.sh"].id)}
    assert blobs.merge(base, one, two).files == {"run.sh": TreeFile(EXECUTABLE_MODE, two["run.sh"].id)}
    assert blobs.merge(one, two, one).files == two


def test_links_and_submodules_are_whole_and_never_read(blobs: Blobs) -> None:
    """A file stands against a link, a link against a submodule; what gave way is told."""
    target, other = "1" * 40, "2" * 40
    file = blobs.tree({"notes/a.md": "text\n"})
    link = {"notes/a.md": TreeFile(LINK_MODE, target)}
    merged = blobs.merge({}, file, link)
    assert (merged.files, merged.dropped, merged.fates) == (file, link, {"notes/a.md": "replaced"})
    module = {"notes/a.md": TreeFile(SUBMODULE_MODE, other)}
    assert blobs.merge({}, module, link).files == link
    one, two = (blobs.tree({"notes/a.md": text}) for text in ("1\n", "2\n"))
    assert sorted(blobs.texts(blobs.merge(link, one, two).files).values()) == ["1\n", "2\n"]
    longer = {"notes/a.md": TreeFile(LINK_MODE, other)}
    assert blobs.merge({}, longer, link).files == longer
    assert blobs.merge({}, module, {**blobs.tree({"notes/a.md/b.md": "b\n"})}).dropped == module
    assert target not in blobs.reads
    assert other not in blobs.reads


def test_copies_are_a_set(blobs: Blobs) -> None:
    """A copy stays if both have it or it is new, goes if one side ended it, and is named by its text."""
    kept, ended, edited = (conflict_path("notes/a.md", text) for text in (b"kept\n", b"ended\n", b"old\n"))
    base = blobs.tree({kept: "kept\n", ended: "ended\n", edited: "old\n"})
    one = {path: file for path, file in base.items() if path != ended}
    two = {**base, **blobs.tree({edited: "new\n"})}
    merged = blobs.merge(base, one, two)
    new = conflict_path("notes/a.md", b"new\n")
    assert blobs.texts(merged.files) == {kept: "kept\n", new: "new\n"}
    assert merged.conflicts["notes/a.md"] == tuple(sorted(merged.files))


def test_copies_whose_names_would_be_one_are_both_kept(blobs: Blobs) -> None:
    """Twelve digits are soon found twice by somebody who wants to; the second name is longer."""
    text = "lost\n"
    short = conflict_path("notes/a.md", text.encode())
    base = blobs.tree({short: "put there by hand\n"})
    merged = blobs.merge(base, base, {**base, **blobs.tree({"conflicts/notes/a.md/mine.md": text})})
    name = f"conflicts/notes/a.md/{hashlib.sha256(text.encode()).hexdigest()}.md"
    assert blobs.texts(merged.files) == {short: "put there by hand\n", name: text}


def test_what_git_refuses_is_left_out_and_told(blobs: Blobs) -> None:
    """Names and modes that no checkout may write come into no tree, whoever sent them; the rest proceeds."""
    bad = blobs.tree({".git/hooks/x": "#!/bin/sh\n", "notes/.GIT/config": "x", "../up": "x", "git~1/x": "x"})
    bad["notes/pipe"] = TreeFile(0o010644, blobs.put("x"))
    bad[".gitmodules"] = TreeFile(LINK_MODE, blobs.put("elsewhere"))
    good = blobs.tree({"notes/a.md": "a\n"})
    merged = blobs.merge({}, {**bad, **good}, {})
    assert merged.files == good
    assert merged.refused.keys() == bad.keys()
    shared = {
        "notes/a.md": TreeFile(0o100664, good["notes/a.md"].id),
        "b": TreeFile(0o100700, blobs.put("b")),
    }
    assert {file.mode for file in blobs.merge({}, shared, {}).files.values()} == {FILE_MODE, EXECUTABLE_MODE}


def test_what_stands_in_all_trees_is_no_concern_of_a_merge(blobs: Blobs) -> None:
    """A mode that an old Git wrote stays where nobody touches it, beside one that is made plain."""
    old = {"old": TreeFile(0o100664, blobs.put("old"))}
    new = {"new": TreeFile(0o100664, blobs.put("new"))}
    merged = blobs.merge(old, {**old, **new}, old)
    assert merged.files == {**old, "new": TreeFile(FILE_MODE, new["new"].id)}
    assert [*merged.fates] == ["new"]


def test_names_that_are_one_name_elsewhere_are_told(blobs: Blobs) -> None:
    """Both files stay, the pair is reported, and nobody is told to delete one (OPEN-GIT-25, 28)."""
    one = blobs.tree({"notes/Plan.md": "1\n", "notes/Caf\u00e9.md": "c\n", "notes/same.md": "s\n"})
    two = blobs.tree({"notes/plan.md": "2\n", "notes/Cafe\u0301.md": "d\n", "notes/tab\t.md": "t\n"})
    merged = blobs.merge({}, one, two)
    assert merged.files == {**one, **two}
    assert merged.twins == (
        ("notes/Cafe\u0301.md", "notes/Caf\u00e9.md"), ("notes/Plan.md", "notes/plan.md")
    )  # fmt: skip
    assert merged.odd == {"notes/tab\t.md": "its name has a control character"}


def test_large_and_foreign_texts_are_taken_whole(blobs: Blobs) -> None:
    """Over 1 MiB, over 5,000 lines, or not UTF-8: one file lives, the other is the copy, byte for byte."""
    for old, one, two in (
        (b"0\n" * 5001, b"1\n" * 5001, b"2\n" * 5001),
        (b"x" * (1 << 20) + b"\n", b"y" * (1 << 20) + b"\n", b"z\n"),
        (b"\xff0", b"\xff1", b"\xff2"),
    ):
        was, here, there = (blobs.tree({"notes/a.md": text}) for text in (old, one, two))
        merged = blobs.merge(was, here, there)
        assert {blobs.contents[file.id] for file in merged.files.values()} == {one, two}
        assert [*merged.conflicts] == ["notes/a.md"]


def test_what_was_forgotten_leaves_under_any_name(blobs: Blobs) -> None:
    """A listed blob goes from every side, moved or as a copy; a listed entry leaves its store."""
    secret = blobs.put("secret\n")
    copy = conflict_path("notes/a.md", b"secret\n")
    base = blobs.tree({"notes/a.md": "secret\n", "notes/b.md": "b\n", "memory/USER.md": "pin 1234\n§\nx\n"})
    one = blobs.tree(
        {"notes/moved.md": "secret\n", copy: "secret\n", "memory/USER.md": "pin 1234\n§\nx\n§\ny\n"}
    )
    two = {**base, **blobs.tree({"memory/USER.md": "x\n§\npin 1234\n§\nz\n"})}
    merged = blobs.merge(base, one, two, forget(blobs=(secret,), entries=(entry_digest("pin 1234"),)))
    assert blobs.texts(merged.files) == {"memory/USER.md": "x\n§\ny\n§\nz\n"}
    assert {"notes/moved.md", copy, "notes/a.md", "memory/USER.md"} == merged.forgotten


def test_a_store_without_its_entry_may_be_a_forgotten_file_itself(blobs: Blobs) -> None:
    """The last entry goes, and the empty file that would stay is listed: nothing stays."""
    base = blobs.tree({"memory/USER.md": "pin\n"})
    receipts = forget(entries=(entry_digest("pin"),), blobs=(blobs.put(""),))
    assert blobs.merge(base, base, base, receipts).files == {}


def test_an_edit_of_what_was_forgotten_is_a_copy(blobs: Blobs) -> None:
    """Forgotten here, edited there: the edit is listed and not live, and later edits of it neither."""
    base, edited, later = (blobs.tree({"notes/a.md": text}) for text in ("pin\n", "pin!\n", "pin!!\n"))
    receipts = forget(blobs=(base["notes/a.md"].id,))
    merged = blobs.merge(base, {}, edited, receipts)
    copy = conflict_path("notes/a.md", b"pin!\n")
    assert blobs.texts(merged.files) == {copy: "pin!\n"}
    assert merged.fates == {"notes/a.md": "withdrawn"}
    again = blobs.merge(edited, merged.files, later, receipts)
    assert blobs.texts(again.files) == {conflict_path("notes/a.md", b"pin!!\n"): "pin!!\n"}


def test_a_passage_that_was_forgotten_stays_away(blobs: Blobs) -> None:
    """The versions with the passage are listed, the note without it lives, whoever still has an old one."""
    base, cleaned = (blobs.tree({"notes/a.md": text}) for text in ("a\npin\nb\n", "a\nb\n"))
    receipts = forget(blobs=(base["notes/a.md"].id,))
    assert blobs.merge(base, cleaned, base, receipts).files == cleaned
    assert blobs.merge({}, cleaned, base, receipts).files == cleaned


def test_a_forgotten_episode_is_its_stub(blobs: Blobs) -> None:
    """All that stays is its id and that it was forgotten; an old clone does not bring it back."""
    path, text = "episodes/2026-01/02-x-0a1b.md", "---\nid: ep_0a1b\ntitle: secret\n---\nsecret\n"
    base = blobs.tree({path: text})
    receipts = forget(blobs=(base[path].id,))
    stub = blobs.tree({path: episode_stub("ep_0a1b")})
    for one, two in ((base, base), (stub, base), (stub, stub), ({}, base)):
        assert blobs.merge(base, one, two, receipts).files == stub
    assert blobs.merge(stub, base, {}, receipts).files == stub
    assert blobs.merge(base, stub, stub).files == stub


def test_what_a_merge_puts_together_is_closed_too(blobs: Blobs) -> None:
    """Two halves, each harmless, merge to what was forgotten: it goes."""
    base, one, two = (blobs.tree({"notes/a.md": text}) for text in ("0\n\n0\n", "p\n\n0\n", "0\n\nq\n"))
    receipts = forget(blobs=(blobs.put("p\n\nq\n"),))
    assert blobs.merge(base, one, two, receipts).files == {}


def test_a_virtual_base_tells_a_clash_by_a_line_that_no_file_holds(blobs: Blobs) -> None:
    """Against it both sides count as changed; equal stores are the bytewise smaller file.

    A copy that no base had is none in it: a side that came to rest otherwise would seem to have ended it.
    """
    base = blobs.tree({"notes/a.md": "t\n0\n", "memory/USER.md": "a\n"})
    one = blobs.tree({"notes/a.md": "t\n1\n", "memory/USER.md": "x\n§\ny\n"})
    two = blobs.tree({"notes/a.md": "t\n2\n", "memory/USER.md": "x\r\n§\r\ny\r\n"})
    folded = merge_trees(base, one, two, blobs.read, virtual=True)
    assert folded.made[folded.files["notes/a.md"].id] == b"t\n" + CLASH
    assert folded.files["memory/USER.md"] == one["memory/USER.md"]
    assert not folded.conflicts


def test_of_two_edits_of_what_was_forgotten_the_one_that_shed_more_lives(blobs: Blobs) -> None:
    """A passage was removed and its versions listed; an edit of the same lines elsewhere is the copy."""
    for number in range(6):  # whichever blob id is the larger one
        base, cleaned, edited = (
            blobs.tree({"notes/a.md": text})
            for text in ("a\npin\nb\n", f"a\nnone {number}\nb\n", "a\npin\nmore\nb\n")
        )
        receipts = forget(blobs=(base["notes/a.md"].id,))
        merged = blobs.merge(base, cleaned, edited, receipts)
        assert merged.files["notes/a.md"] == cleaned["notes/a.md"]
        assert [*merged.conflicts] == ["notes/a.md"]
    shed, apart = (blobs.tree({"notes/a.md": text}) for text in ("a\nb\n", "a\npin\nb\nnew\n"))
    assert blobs.texts(blobs.merge(base, shed, apart, receipts).files) == {"notes/a.md": "a\nb\nnew\n"}
    del blobs.contents[base["notes/a.md"].id]  # purged
    assert len(blobs.texts(merge_trees(base, shed, apart, blobs.read, receipts=receipts).files)) == 2


def test_what_only_the_base_had_is_written_too(blobs: Blobs) -> None:
    """A merge may end where it began; the blob of a virtual base is in no object store."""
    base, one, two = (
        blobs.tree({"memory/USER.md": text})
        for text in ("a\n§\nb\n§\nc\n", "b\n§\na\n§\nc\n", "a\n§\nc\n§\nb\n")
    )
    merged = blobs.merge(base, one, two)
    assert merged.files == base
    assert merged.made == {base["memory/USER.md"].id: "a\n§\nb\n§\nc\n".encode()}
