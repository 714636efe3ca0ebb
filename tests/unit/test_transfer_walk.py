"""Which objects a push sends, and how what a fetch brought is found to be whole."""

from __future__ import annotations

import itertools

import pytest

from contract.remote_repository_contract import everything, tag_of, turns
from contract.repository_contract import GONE, commit_of, put
from gitmem.errors import CorruptionError, ObjectMissing
from gitmem.git_objects import make_object, make_tag, make_tree
from gitmem.repository import FILE_MODE, SUBMODULE_MODE, TREE_MODE, GitObject, ObjectKind, TreeEntry
from gitmem.testing import MemoryRepository
from gitmem.transfer_walk import Closure, LackingObject, NewHistory, WalkTooLong, lacking_objects, new_history


class Reads(MemoryRepository):
    """Counts the objects that are read."""

    count = 0

    def read(self, object_id: str) -> tuple[ObjectKind, bytes]:
        """Count and read."""
        self.count += 1
        return super().read(object_id)


def lacking(own: MemoryRepository, history: NewHistory) -> list[str]:
    """Return the ids of what a remote lacks."""
    return [one.id for one in lacking_objects(own, history)]


def test_one_turn_costs_the_same_after_any_history() -> None:
    """What is read for one more turn does not depend on how many there were."""
    costs = []
    for length in (10, 200):
        own = Reads()
        ids = turns(own, length)
        own.count = 0
        sent = lacking(own, new_history(own, [ids[-1]], [ids[-2]]))
        assert len(sent) == 4
        costs.append(own.count)
    assert costs[0] == costs[1] < 20


def test_a_merged_line_ends_the_walk_where_the_remote_has_it() -> None:
    """A parent that only a later value of another branch covers is not followed to the beginning."""
    own = Reads()
    one, two = turns(own, 3, name="a"), turns(own, 200, name="b")
    tree = make_tree([])
    merge = commit_of(tree, one[-1], two[-5], seconds=1_772_449_000)
    put(own, tree, merge)
    own.count = 0
    history = new_history(own, [merge.id], [one[-1], two[-1]])
    assert [commit.id for commit in history.commits] == [merge.id]
    assert own.count < 20


def test_what_the_remote_shows_ends_the_walk_without_being_followed() -> None:
    """Of many branches that a remote has only a few are followed; the others are known all the same."""
    own = Reads()
    one, two = turns(own, 3, name="a"), turns(own, 200, name="b")
    tree = make_tree([])
    merge = commit_of(tree, one[-1], two[-1], seconds=1_772_449_000)
    put(own, tree, merge)
    own.count = 0
    history = new_history(own, [merge.id], {one[-1], two[-1]}, landmarks=[])
    assert [commit.id for commit in history.commits] == [merge.id]
    assert own.count < 20


@pytest.mark.parametrize("length", [1, 3, 20])
def test_what_both_have_is_not_new_where_all_is_of_one_second(length: int) -> None:
    """Commits tell whole seconds: of equal ones those of the remote may be reached last."""
    own, tree = MemoryRepository(), make_tree([])
    shared = [commit_of(tree, seconds=1_772_449_000)]
    for _ in range(length):
        shared.append(commit_of(tree, shared[-1].id, seconds=1_772_449_000))
    sides = [
        commit_of(tree, shared[-1].id, seconds=1_772_449_000, message=f"side {number}") for number in range(8)
    ]
    put(own, tree, *shared, *sides)
    for ours, theirs in itertools.permutations(sides, 2):
        history = new_history(own, [ours.id], [theirs.id])
        assert [commit.id for commit in history.commits] == [ours.id]


def test_versions_of_one_file_are_told() -> None:
    """Each object comes with its place, and with what the remote has there, so that deltas can be made."""
    own = MemoryRepository()
    ids = turns(own, 4, name="a")
    commits = [own.read_commit(one) for one in ids]
    days = [own.read_tree(one.tree)[0].id for one in commits]
    files = [own.read_tree(day)[0].id for day in days]
    assert list(lacking_objects(own, new_history(own, [ids[3]], [ids[1]]))) == [
        LackingObject(ids[2]),
        LackingObject(commits[2].tree, "/", commits[1].tree),
        LackingObject(days[2], "/ledger/", days[1]),
        LackingObject(files[2], "/ledger/a.jsonl", files[1]),
        LackingObject(ids[3]),
        LackingObject(commits[3].tree, "/"),
        LackingObject(days[3], "/ledger/"),
        LackingObject(files[3], "/ledger/a.jsonl"),
    ]


def test_clocks_that_are_wrong_lose_nothing() -> None:
    """With commit times in any order everything that the remote lacks is sent."""
    own = MemoryRepository()
    tree = make_tree([])
    put(own, tree)
    ids: list[str] = []
    for seconds in (500, 100, 900, 50, 700):
        commit = commit_of(tree, *ids[-1:], seconds=seconds)
        put(own, commit)
        ids.append(commit.id)
    for known in range(len(ids)):
        sent = set(lacking(own, new_history(own, [ids[-1]], [ids[known]])))
        assert set(ids[known + 1 :]) <= sent


def test_tags_blobs_and_what_is_known() -> None:
    """A tag goes with its commit; of a tag that the remote has nothing goes."""
    own = MemoryRepository()
    ids = turns(own, 2)
    tag, blob = tag_of(ids[-1]), make_object("blob", b"alone\n")
    put(own, tag, blob)
    assert set(lacking(own, new_history(own, [tag.id, blob.id], []))) == {
        *everything(own, tag.id),
        blob.id,
    }
    assert list(lacking(own, new_history(own, [tag.id], [tag.id]))) == []


def test_long_walks_are_given_up() -> None:
    """A caller may say how long the walk may be."""
    own = MemoryRepository()
    ids = turns(own, 5)
    with pytest.raises(WalkTooLong):
        new_history(own, [ids[-1]], [], most=3)
    assert len(new_history(own, [ids[-1]], [], most=5).commits) == 5


def test_a_shallow_history_is_sent_as_far_as_it_goes() -> None:
    """A parent that is not here ends its path; a tip that is not here is an error."""
    own = MemoryRepository()
    tree = make_tree([])
    commit = commit_of(tree, GONE)
    put(own, tree, commit)
    assert set(lacking(own, new_history(own, [commit.id], []))) == {tree.id, commit.id}
    with pytest.raises(ObjectMissing):
        new_history(own, [GONE], [])


def test_submodules_are_not_sent() -> None:
    """The commit of a submodule belongs to another repository."""
    own = MemoryRepository()
    tree = make_tree([TreeEntry("sub", SUBMODULE_MODE, GONE)])
    commit = commit_of(tree)
    put(own, tree, commit)
    assert set(lacking(own, new_history(own, [commit.id], []))) == {tree.id, commit.id}


def closure_of(*objects: GitObject) -> Closure:
    """Return what arrived."""
    closure = Closure()
    for item in objects:
        closure.add(item.id, item.kind, item.content)
    return closure


def test_what_is_missing_is_found() -> None:
    """A missing blob, folder, parent or wanted commit is found; what is here already is not missing."""
    blob = make_object("blob", b"x")
    tree = make_tree([TreeEntry("a", FILE_MODE, blob.id)])
    commit = commit_of(tree, GONE)
    closure_of(blob, tree, commit).check([commit.id], {GONE}.__contains__)
    for arrived in ((tree, commit), (blob, commit), (blob, tree)):
        with pytest.raises(CorruptionError):
            closure_of(*arrived).check([commit.id], {GONE}.__contains__)
    with pytest.raises(CorruptionError):
        closure_of(blob, tree, commit).check([commit.id], lambda _: False)


@pytest.mark.parametrize("name", ["", ".", "..", ".git", ".GIT", "a/b"])
def test_names_that_lead_out(name: str) -> None:
    """A tree with a name that no path may have is damaged."""
    tree = make_tree([TreeEntry(name, FILE_MODE, GONE)])
    with pytest.raises(CorruptionError):
        closure_of(tree)


@pytest.mark.parametrize(
    "content",
    [b"x", b"100644 a\0short", b"100644 a" + bytes(20), b"777777 a\0" + bytes(20), b"100644 \0" + bytes(20)],
)
def test_trees_that_are_none(content: bytes) -> None:
    """What does not read as a tree from its first byte to its last is damaged."""
    with pytest.raises(CorruptionError):
        closure_of(make_object("tree", content))


def test_modes_of_old() -> None:
    """Trees that early programs wrote, with group rights and padded modes, are taken as Git takes them."""
    blob, empty = make_object("blob", b"x"), make_tree([])
    rows = b"100664 a\0" + bytes.fromhex(blob.id) + b"040000 b\0" + bytes.fromhex(empty.id)
    closure_of(blob, empty, make_object("tree", rows)).check([], lambda _: False)


def test_kinds_are_what_they_are_named_as() -> None:
    """A folder that is a blob, and a file that is a tree, are damaged history."""
    blob, empty = make_object("blob", b"x"), make_tree([])
    for entry in (TreeEntry("a", TREE_MODE, blob.id), TreeEntry("a", FILE_MODE, empty.id)):
        with pytest.raises(CorruptionError):
            closure_of(blob, empty, make_tree([entry])).check([], lambda _: False)


def test_a_tag_of_a_commit_that_is_a_parent_too() -> None:
    """The tag of an episode names a commit that later ones follow, in whatever order they arrive."""
    tree = make_tree([])
    first = commit_of(tree)
    second = commit_of(tree, first.id)
    tag = make_tag(target=first.id, name="x", tagger="x <x>", seconds=0, message="x\n")
    for arrived in ((tree, first, second, tag), (tag, second, first, tree)):
        closure_of(*arrived).check([second.id, tag.id], lambda _: False)


def test_a_clock_behind_hides_nothing() -> None:
    """A commit that its clock puts before its parents went back to an earlier tree, and took that away.

    Told before them it seemed to bring nothing but what its parent had; and its tree, once told, was not
    opened again for the commit that had brought it.
    """
    own = MemoryRepository()
    texts = [make_object("blob", text) for text in (b"one", b"two")]
    folder = make_tree([TreeEntry("new", FILE_MODE, texts[0].id)])
    trees = [
        make_tree([TreeEntry("a", FILE_MODE, text.id), TreeEntry("d", TREE_MODE, folder.id)])
        for text in texts
    ]
    nothing = make_tree([])
    base = commit_of(nothing, seconds=100)
    first = commit_of(trees[0], base.id, seconds=300)
    second = commit_of(trees[1], first.id, seconds=310)
    back = commit_of(trees[0], second.id, seconds=50)
    beside = commit_of(trees[1], second.id, seconds=320)
    tip = commit_of(trees[0], beside.id, back.id, seconds=330)
    put(own, *texts, folder, *trees, nothing, base, first, second, back, beside, tip)
    sent = lacking(own, new_history(own, [tip.id], [base.id]))
    news = [*texts, folder, *trees, first, second, back, beside, tip]
    assert sorted(sent) == sorted(one.id for one in news)
