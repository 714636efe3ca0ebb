"""Laws of the merge of trees, over random trees with files, folders, links, odd names and receipts."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from trees import Blobs, Files, forget

from gitmem.branch_merge import conflict_path
from gitmem.commit_merge import merge_roots
from gitmem.conflict_copies import copies_in, merge_copies
from gitmem.entries import entry_digest, parse_store
from gitmem.path_names import path_harm
from gitmem.repository import EXECUTABLE_MODE, FILE_MODE, LINK_MODE, SUBMODULE_MODE, walk_tree
from gitmem.testing.memory_repository import MemoryRepository
from gitmem.tree_edit import TreeFile, edit_tree
from gitmem.tree_merge import TreeMerge

STORE = "memory/MEMORY.md"
EPISODE = "episodes/2026-01/02-x-0a1b.md"
# Few names and few lines, so that random trees meet, move, clash and stand in each other's way.
PATHS = st.sampled_from(
    ["notes/a.md", "notes/b.md", "notes/c", "notes/c/d.md", "notes/A.md", "x.txt", STORE, EPISODE,
     "conflicts/notes/a.md/mine.md", "conflicts/notes", conflict_path("notes/a.md", b"one\n"), "gitmem.toml",
     "ledger/2026-01/02/w00000000-0001.jsonl", "notes/\udcff.md", "conflicts"]
)  # fmt: skip
HARMFUL = st.sampled_from([".git/config", "notes/.GIT/x", "../x", "git~1/x", "/x"])
LINES = st.lists(st.sampled_from(["one", "two", "three", "", "§", "a = 1", "a = 2", "<<<<<<< x"]), max_size=5)
TEXT = LINES.map(lambda lines: "".join(f"{line}\n" for line in lines).encode()) | st.just(b"\xff\xfe")
MODES = st.sampled_from([FILE_MODE] * 8 + [EXECUTABLE_MODE, LINK_MODE, SUBMODULE_MODE])
TREE = st.dictionaries(PATHS, st.tuples(MODES, TEXT), max_size=7)
#: Three trees that have come of one another: most paths are equal.
SIDES = st.tuples(TREE, TREE, TREE).map(
    lambda trees: (trees[0], {**trees[0], **trees[1]}, {**trees[0], **trees[2]})
)
GONE = st.lists(st.tuples(st.booleans(), PATHS), max_size=3)

_Raw = dict[str, tuple[int, bytes]]


def build(blobs: Blobs, raw: _Raw) -> dict[str, TreeFile]:
    """Return a tree."""
    return {path: TreeFile(mode, blobs.put(text)) for path, (mode, text) in raw.items()}


def sides_of(blobs: Blobs, sides: tuple[_Raw, _Raw, _Raw], gone: list[tuple[bool, str]]) -> list[Files]:
    """Return base and both sides, with some paths removed from one side."""
    base, one, two = (build(blobs, raw) for raw in sides)
    for is_first, path in gone:
        (one if is_first else two).pop(path, None)
    return [base, one, two]


def merge(blobs: Blobs, trees: list[Files]) -> TreeMerge:
    """Merge both ways round."""
    return blobs.merge(trees[0], trees[1], trees[2])


def words_of(blobs: Blobs, tree: Files) -> set[str]:
    """Return all words that regular files hold, and whole files that are no text."""
    texts = [blobs.contents[file.id] for file in tree.values() if file.is_regular]
    found = {word for text in texts for word in re.findall(r"\w+", text.decode("utf-8", "ignore"))}
    return found | {"\xff" for text in texts if b"\xff" in text}


@given(SIDES, GONE)
def test_sides_can_be_exchanged_and_merging_again_changes_nothing(
    sides: tuple[_Raw, _Raw, _Raw], gone: list[tuple[bool, str]]
) -> None:
    """Symmetric; the result is a tree; merged with itself, or with a side that is in it, it stays."""
    blobs = Blobs()
    trees = sides_of(blobs, sides, gone)
    files = merge(blobs, trees).files
    for path in files:
        assert not any(other.startswith(f"{path}/") for other in files), "a file where a folder is"
    assert blobs.merge(files, files, files).files == files
    if not any(EPISODE in tree for tree in trees):  # of an episode the text of the base stands
        for side in trees[1:]:
            assert blobs.merge(side, files, side).files == files


@given(SIDES, GONE)
def test_nothing_is_lost_and_nothing_made_up(
    sides: tuple[_Raw, _Raw, _Raw], gone: list[tuple[bool, str]]
) -> None:
    """Each new word of a side is in a live file or a listed copy; each word comes from a tree."""
    blobs = Blobs()
    trees = sides_of(blobs, sides, gone)
    merged = merge(blobs, trees)
    base, one, two = (words_of(blobs, tree) for tree in trees)
    kept = words_of(blobs, merged.files)
    assert (one | two) - base <= kept
    assert kept <= base | one | two
    listed = {copy for copies in merged.conflicts.values() for copy in copies}
    assert listed == {path for path in merged.files if path.startswith("conflicts/")}


@given(SIDES, GONE)
def test_no_marker_is_written(sides: tuple[_Raw, _Raw, _Raw], gone: list[tuple[bool, str]]) -> None:
    """No file ends a conflict that none of the trees had begun."""
    blobs = Blobs()
    merged = merge(blobs, sides_of(blobs, sides, gone))
    for file in merged.files.values():
        assert b">>>>>>>" not in blobs.contents[file.id]
        assert b"=======" not in blobs.contents[file.id]


@given(SIDES, GONE, st.lists(st.sampled_from(["one", "two\nthree", "a = 1"]), max_size=2), st.data())
def test_nothing_forgotten_is_back(
    sides: tuple[_Raw, _Raw, _Raw], gone: list[tuple[bool, str]], entries: list[str], data: st.DataObject
) -> None:
    """No listed blob is in the result under any name, no listed entry in a store; the result is closed."""
    blobs = Blobs()
    trees = sides_of(blobs, sides, gone)
    known = sorted({file.id for tree in trees for file in tree.values()})
    listed = data.draw(st.lists(st.sampled_from(known), max_size=3)) if known else []
    receipts = forget(blobs=tuple(listed), entries=tuple(map(entry_digest, entries)))
    merged = blobs.merge(trees[0], trees[1], trees[2], receipts)
    assert not {file.id for file in merged.files.values()} & set(listed)
    if STORE in merged.files and merged.files[STORE].is_regular:
        text = blobs.contents[merged.files[STORE].id].decode("utf-8", "ignore")
        if "\ufffd" not in text and b"\xff" not in blobs.contents[merged.files[STORE].id]:
            assert not {entry.text for entry in parse_store(text)} & set(entries)
    assert blobs.merge(merged.files, merged.files, merged.files, receipts).files == merged.files


@given(SIDES, st.dictionaries(HARMFUL, st.tuples(MODES, TEXT), min_size=1), st.integers(0, 0o177777))
def test_nothing_harmful_comes_in(sides: tuple[_Raw, _Raw, _Raw], harmful: _Raw, mode: int) -> None:
    """Whatever stands beside it, what no checkout may write is left out, told, and changes nothing else."""
    blobs = Blobs()
    trees = sides_of(blobs, sides, [])
    plain = merge(blobs, trees)
    odd = {"odd": TreeFile(mode, blobs.put("odd"))}
    sent = blobs.merge(trees[0], {**trees[1], **build(blobs, harmful), **odd}, trees[2])
    assert harmful.keys() <= sent.refused.keys()
    assert not any(path_harm(path) for path in sent.files)
    modes = {FILE_MODE, EXECUTABLE_MODE, LINK_MODE, SUBMODULE_MODE}
    assert {file.mode for file in sent.files.values()} <= modes
    assert {path: file for path, file in sent.files.items() if path != "odd"} == plain.files


@given(TREE, st.lists(TREE, min_size=3, max_size=3))
def test_changes_of_paths_of_their_own_merge_in_any_order(base: _Raw, raws: list[_Raw]) -> None:
    """Three machines that wrote different paths come to one tree, whichever two merge first."""
    blobs = Blobs()
    was = build(blobs, {path: file for path, file in base.items() if path.startswith("notes/a")})
    own = [
        {**was, **{f"notes/m{number}/{path}": file for path, file in build(blobs, raw).items()}}
        for number, raw in enumerate(raws)
    ]
    own = [dict(blobs.merge(was, tree, tree).files) for tree in own]
    one = blobs.merge(was, blobs.merge(was, own[0], own[1]).files, own[2]).files
    two = blobs.merge(was, own[0], blobs.merge(was, own[1], own[2]).files).files
    assert one == two


COPIES = st.sets(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from("123")))


@given(COPIES, COPIES, COPIES, COPIES)
def test_copies_are_a_set_that_merges_in_any_order(
    base: set[tuple[str, str]],
    one: set[tuple[str, str]],
    two: set[tuple[str, str]],
    three: set[tuple[str, str]],
) -> None:
    """Of copies with one base it does not matter which two sides meet first."""
    first = merge_copies(base, merge_copies(base, one, two), three)
    assert first == merge_copies(base, one, merge_copies(base, two, three))
    assert merge_copies(base, one, one) == one


@given(SIDES, GONE)
def test_copies_in_a_result_are_named_by_their_texts(
    sides: tuple[_Raw, _Raw, _Raw], gone: list[tuple[bool, str]]
) -> None:
    """What a merge brings into the set of copies has the name of its text, once."""
    blobs = Blobs()
    trees = sides_of(blobs, sides, gone)
    files = merge(blobs, trees).files
    known = {path for tree in trees for path in tree}
    regular = [path for path, file in files.items() if path.startswith("conflicts/") and file.is_regular]
    for path in [path for path in regular if path not in known]:
        text = blobs.contents[files[path].id]
        original = path.removeprefix("conflicts/").rpartition("/")[0]
        assert path in (conflict_path(original, text), conflict_path(original, text, digits=64))
    assert len(copies_in(files)) <= len(regular)


@given(SIDES, GONE, st.data())
def test_trees_read_from_the_top_merge_as_whole_ones(
    sides: tuple[_Raw, _Raw, _Raw], gone: list[tuple[bool, str]], data: st.DataObject
) -> None:
    """Folders that are passed over because they are equal change nothing, with receipts and without."""
    blobs = Blobs()
    trees = [without_clashes(tree) for tree in sides_of(blobs, sides, gone)]
    known = sorted({file.id for tree in trees for file in tree.values()})
    listed = data.draw(st.lists(st.sampled_from(known), max_size=2)) if known else []
    receipts = forget(blobs=tuple(listed), entries=(entry_digest("one"),) if listed else ())
    whole = blobs.merge(trees[0], trees[1], trees[2], receipts)
    objects = MemoryRepository()
    objects.objects.update((blob, ("blob", content)) for blob, content in blobs.contents.items())
    roots = []
    for tree in trees:
        root, made = edit_tree(objects, None, dict(tree))
        objects.objects.update((one.id, (one.kind, one.content)) for one in made)
        roots.append(root)
    done = merge_roots(objects, roots[0], roots[1], roots[2], receipts=receipts)
    assert done == merge_roots(objects, roots[0], roots[2], roots[1], receipts=receipts)
    objects.objects.update((one.id, (one.kind, one.content)) for one in done.objects)
    files = {path: TreeFile(entry.mode, entry.id) for path, entry in walk_tree(objects, done.tree)}
    assert files == whole.files
    assert (done.merge.conflicts, done.merge.fates) == (whole.conflicts, whole.fates)


def without_clashes(tree: Files) -> dict[str, TreeFile]:
    """Return what of a tree can stand in one: no file where a folder is."""
    return {path: file for path, file in tree.items() if not any(one.startswith(f"{path}/") for one in tree)}
