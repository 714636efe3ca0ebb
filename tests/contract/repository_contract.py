"""What every implementation of `gitmem.repository.Repository` must do; a test class inherits it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gitmem.errors import CorruptionError, HeadMoved, HomeError, ObjectMissing, UsageError
from gitmem.git_objects import make_commit, make_object, make_tree
from gitmem.repository import (
    ABSENT,
    EXECUTABLE_MODE,
    FILE_MODE,
    LINK_MODE,
    SUBMODULE_MODE,
    TREE_MODE,
    GitObject,
    Head,
    Repository,
    TreeEntry,
    read_path,
    walk_tree,
)

WHO = "aria <aria@example.com>"
LINE = "refs/heads/gitmem/turns/w0123abcd"
GONE = "1" * 40


def commit_of(
    tree: GitObject, *parents: str, seconds: int = 1_772_442_000, message: str = "turn\n"
) -> GitObject:
    """Return a commit of `tree`."""
    return make_commit(
        tree=tree.id, parents=parents, author=WHO, committer=WHO, seconds=seconds, message=message
    )


def put(repository: Repository, *objects: GitObject) -> None:
    """Write objects."""
    with repository.write_pack(objects):
        pass


def put_chain(repository: Repository, length: int, *, seconds: Sequence[int] | None = None) -> list[str]:
    """Write a chain of commits, oldest first, and return their ids."""
    tree = make_tree([])
    ids: list[str] = []
    objects = [tree]
    for number in range(length):
        when = seconds[number] if seconds else 1_772_442_000 + number
        commit = commit_of(tree, *ids[-1:], seconds=when, message=f"turn {number}\n")
        ids.append(commit.id)
        objects.append(commit)
    put(repository, *objects)
    return ids


class RepositoryContract:
    """The suite; the inheriting class has a fixture `repository`: a fresh one, HEAD on the unborn `main`."""

    def test_each_kind_reads_back_as_written(self, repository: Repository) -> None:
        """An object has the kind and the bytes it was written with: its id is a promise about both."""
        blob = make_object("blob", b"a\0\xff\n")
        tree = make_tree([TreeEntry("a", FILE_MODE, blob.id)])
        commit = commit_of(tree)
        tag = make_object(
            "tag", f"object {commit.id}\ntype commit\ntag t\ntagger {WHO} 1772442000 +0000\n\nt\n".encode()
        )
        put(repository, blob, tree, commit, tag)
        for item in (blob, tree, commit, tag):
            assert repository.read(item.id) == (item.kind, item.content)
            assert repository.contains(item.id)

    @pytest.mark.parametrize("content", [b"", b"x" * 70_000, bytes(range(256)) * 9000])
    def test_contents_of_any_size_read_back(self, repository: Repository, content: bytes) -> None:
        """Empty, long and incompressible contents survive: headers of sizes are where packs go wrong."""
        blob = make_object("blob", content)
        put(repository, blob)
        assert repository.read(blob.id) == ("blob", content)

    @pytest.mark.parametrize("name", [GONE, ABSENT, "", "abc", "Z" * 40, "../../HEAD", "A" * 40])
    def test_what_is_not_there_is_missing(self, repository: Repository, name: str) -> None:
        """Asking for an absent or malformed id is answered the same way, whatever the ledger says."""
        assert not repository.contains(name)
        with pytest.raises(ObjectMissing):
            repository.read(name)
        with pytest.raises(ObjectMissing):
            repository.read_tree(name)
        with pytest.raises(ObjectMissing):
            repository.read_commit(name)

    def test_tree_entries_keep_order_mode_and_odd_names(self, repository: Repository) -> None:
        """Names that are no UTF-8 come back byte for byte, because operators' trees hold them."""
        entries = [
            TreeEntry("a-b", FILE_MODE, GONE),
            TreeEntry("a", TREE_MODE, GONE),
            TreeEntry("a0", EXECUTABLE_MODE, GONE),
            TreeEntry("caf\udce9", LINK_MODE, GONE),
            TreeEntry("計画", SUBMODULE_MODE, GONE),
        ]
        tree = make_tree(reversed(entries))
        put(repository, tree)
        assert list(repository.read_tree(tree.id)) == entries
        assert list(repository.read_tree(tree.id)) == entries

    def test_a_wide_tree_reads_back(self, repository: Repository) -> None:
        """Ten thousand entries are no special case."""
        tree = make_tree(TreeEntry(f"{n:05}.md", FILE_MODE, GONE) for n in range(10_000))
        put(repository, tree)
        assert len(repository.read_tree(tree.id)) == 10_000

    def test_an_object_of_another_kind_is_refused(self, repository: Repository) -> None:
        """A blob never passes for a tree or a commit."""
        blob = make_object("blob", b"tree 0\n")
        put(repository, blob)
        with pytest.raises(CorruptionError):
            repository.read_tree(blob.id)
        with pytest.raises(CorruptionError):
            repository.read_commit(blob.id)

    def test_commits_are_parsed(self, repository: Repository) -> None:
        """All fields of a commit are there, the message whole."""
        tree = make_tree([])
        first = commit_of(tree)
        second = commit_of(tree, first.id, GONE, seconds=7, message="subject\n\nGitmem-Kind: turn\n")
        put(repository, tree, first, second)
        commit = repository.read_commit(second.id)
        assert (commit.id, commit.tree, commit.parents) == (second.id, tree.id, (first.id, GONE))
        assert (commit.author, commit.author_time, commit.commit_time) == (WHO, 7, 7)
        assert commit.message == "subject\n\nGitmem-Kind: turn\n"

    def test_paths_resolve_through_trees(self, repository: Repository) -> None:
        """A path leads to its entry, and to nothing where a part is absent or is a file."""
        blob = make_object("blob", b"text")
        inner = make_tree([TreeEntry("f", FILE_MODE, blob.id)])
        root = make_tree([TreeEntry("d", TREE_MODE, inner.id), TreeEntry("g", FILE_MODE, blob.id)])
        put(repository, blob, inner, root)
        assert read_path(repository, root.id, "d/f") == TreeEntry("f", FILE_MODE, blob.id)
        assert read_path(repository, root.id, "d/x") is None
        assert read_path(repository, root.id, "g/f") is None
        assert [path for path, _ in walk_tree(repository, root.id)] == ["d/f", "g"]

    def test_a_fresh_repository_has_an_unborn_main(self, repository: Repository) -> None:
        """Nothing is there yet: no commit, no refs, no value."""
        assert repository.head() == Head("refs/heads/main", None)
        assert repository.read_ref("refs/heads/main") is None
        assert repository.list_refs("refs/") == {}

    def test_a_ref_is_made_moved_and_removed(self, repository: Repository) -> None:
        """A ref has the value of its last move; HEAD follows at once."""
        one, two = put_chain(repository, 2)
        repository.move_ref(LINE, old=ABSENT, new=one, message="first", who=WHO)
        assert repository.read_ref(LINE) == one
        repository.move_ref(LINE, old=one, new=two, message="second", who=WHO)
        assert repository.list_refs("refs/heads/") == {LINE: two}
        repository.move_ref("refs/heads/main", old=ABSENT, new=two, message="", who=WHO)
        assert repository.head() == Head("refs/heads/main", two)
        repository.move_ref(LINE, old=two, new=ABSENT, message="", who=WHO)
        assert repository.read_ref(LINE) is None
        assert list(repository.list_refs("refs/")) == ["refs/heads/main"]
        repository.settle_refs()
        repository.settle_refs()

    def test_a_move_from_another_value_is_refused(self, repository: Repository) -> None:
        """Compare-and-swap never overwrites what another process did."""
        one, two = put_chain(repository, 2)
        with pytest.raises(HeadMoved):
            repository.move_ref(LINE, old=one, new=two, message="", who=WHO)
        with pytest.raises(HeadMoved):
            repository.move_ref(LINE, old=one, new=ABSENT, message="", who=WHO)
        assert repository.read_ref(LINE) is None
        repository.move_ref(LINE, old=ABSENT, new=one, message="", who=WHO)
        for old, new in ((ABSENT, two), (two, one), (two, ABSENT)):
            with pytest.raises(HeadMoved):
                repository.move_ref(LINE, old=old, new=new, message="", who=WHO)
        assert repository.read_ref(LINE) == one

    @pytest.mark.parametrize(
        "name",
        [
            "HEAD",
            "main",
            "refs/../HEAD",
            "refs/heads/",
            "refs/heads/a b",
            "refs/heads/a.lock",
            "refs/heads/.a",
        ],
    )
    def test_what_is_no_ref_name_is_refused(self, repository: Repository, name: str) -> None:
        """Only names below refs/ that Git takes are moved, so that no name leads out of the git dir."""
        (one,) = put_chain(repository, 1)
        with pytest.raises(UsageError):
            repository.move_ref(name, old=ABSENT, new=one, message="", who=WHO)

    def test_no_ref_is_made_where_another_needs_a_folder(self, repository: Repository) -> None:
        """A branch `gitmem` and a branch `gitmem/turns/…` exclude each other, as in Git."""
        (one,) = put_chain(repository, 1)
        repository.move_ref("refs/heads/a/b", old=ABSENT, new=one, message="", who=WHO)
        for clash in ("refs/heads/a", "refs/heads/a/b/c", "refs/heads/a/b/c/d"):
            with pytest.raises(HomeError):
                repository.move_ref(clash, old=ABSENT, new=one, message="", who=WHO)
        assert repository.list_refs("refs/") == {"refs/heads/a/b": one}
        repository.move_ref("refs/heads/a/b", old=one, new=ABSENT, message="", who=WHO)
        repository.move_ref("refs/heads/a", old=ABSENT, new=one, message="", who=WHO)
        assert repository.list_refs("refs/") == {"refs/heads/a": one}

    def test_refs_are_listed_by_folder(self, repository: Repository) -> None:
        """Only refs below the prefix are listed, sorted, none of a folder with a longer name."""
        (one,) = put_chain(repository, 1)
        names = ["refs/heads/x/b", "refs/heads/x/a/c", "refs/heads/xy/z", "refs/tags/x/t"]
        for name in names:
            repository.move_ref(name, old=ABSENT, new=one, message="", who=WHO)
        assert list(repository.list_refs("refs/heads/x/")) == ["refs/heads/x/a/c", "refs/heads/x/b"]
        assert list(repository.list_refs("refs/")) == sorted(names)
        assert repository.list_refs("refs/nothing/") == {}

    def test_refs_are_listed_through_a_star(self, repository: Repository) -> None:
        """What each remote brought is found without a look at all that remotes have."""
        one, *_ = put_chain(repository, 1)
        names = ["refs/remotes/a-b/x/w1", "refs/remotes/a/x/w1", "refs/remotes/a/x/w2", "refs/remotes/c/x/w1"]
        others = ["refs/remotes/a/main", "refs/remotes/a/y/w1", "refs/remotes/main", "refs/remotes/a/b/x/w1"]
        for name in [*names, *others]:
            repository.move_ref(name, old=ABSENT, new=one, message="", who=WHO)
        assert list(repository.list_refs("refs/remotes/*/x/").items()) == [(name, one) for name in names]
        assert repository.list_refs("refs/remotes/*/z/") == {}
        assert repository.list_refs("refs/nothing/*/x/") == {}

    def test_objects_are_there_while_the_pack_is_held_and_after(self, repository: Repository) -> None:
        """A ref may be moved inside the context, and a failure inside is the caller's own."""
        tree = make_tree([])
        commit = commit_of(tree)
        with pytest.raises(ZeroDivisionError), repository.write_pack([tree, commit]):  # noqa: PT012
            assert repository.contains(commit.id)
            repository.move_ref(LINE, old=ABSENT, new=commit.id, message="", who=WHO)
            raise ZeroDivisionError
        assert repository.read_commit(commit.id).tree == tree.id

    def test_writing_nothing_or_the_same_again_is_no_fault(self, repository: Repository) -> None:
        """A turn that is committed again after a crash finds its objects there."""
        blob = make_object("blob", b"again")
        put(repository)
        put(repository, blob, blob)
        put(repository, blob)
        assert repository.read(blob.id) == ("blob", b"again")

    def test_settings_are_read_back_and_removed(self, repository: Repository) -> None:
        """Section and name are folded, the subsection is not; what is absent is None."""
        assert repository.config("gitmem.branch") is None
        repository.set_config("gitmem.branch", "main")
        repository.set_config("remote.My.Origin.url", ' a "b" # \\ c;\n ')
        assert repository.config("Gitmem.Branch") == "main"
        assert repository.config("remote.My.Origin.url") == ' a "b" # \\ c;\n '
        assert repository.config("remote.my.origin.url") is None
        repository.set_config("gitmem.branch", "other")
        assert repository.config("gitmem.branch") == "other"
        repository.set_config("gitmem.branch", None)
        repository.set_config("gitmem.branch", None)
        assert repository.config("gitmem.branch") is None

    @pytest.mark.parametrize("key", ["", "gitmem", "gitmem.", ".x", "a b.c", "gitmem.x y", "a.b\nc.d"])
    def test_what_is_no_key_is_refused(self, repository: Repository, key: str) -> None:
        """A key never reaches another line of the file."""
        with pytest.raises(UsageError):
            repository.config(key)
        with pytest.raises(UsageError):
            repository.set_config(key, "x")

    def test_the_object_format_is_sha1(self, repository: Repository) -> None:
        """Other formats are named by this method, so the plain one has to be told apart."""
        assert repository.object_format() == "sha1"

    def test_ancestors_are_known(self, repository: Repository) -> None:
        """Reachability runs along all parents, and a commit reaches itself."""
        chain = put_chain(repository, 6)
        tree = make_tree([])
        side = commit_of(tree, chain[1], message="side\n")
        merge = commit_of(tree, chain[3], side.id, message="merge\n")
        apart = commit_of(tree, message="unrelated\n")
        put(repository, tree, side, merge, apart)
        assert all(repository.is_ancestor(one, chain[5]) for one in chain)
        assert repository.is_ancestor(side.id, merge.id)
        assert repository.is_ancestor(chain[0], merge.id)
        for ancestor, descendant in (
            (chain[5], chain[0]),
            (chain[4], merge.id),
            (merge.id, chain[5]),
            (apart.id, merge.id),
            (GONE, merge.id),
        ):
            assert not repository.is_ancestor(ancestor, descendant)
        with pytest.raises(ObjectMissing):
            repository.is_ancestor(chain[0], GONE)

    def test_wrong_clocks_do_not_change_ancestry(self, repository: Repository) -> None:
        """Commit times may fall along the history; the answer comes from the parents."""
        chain = put_chain(repository, 5, seconds=[500, 5, 9_000, 1, 300])
        assert all(repository.is_ancestor(one, chain[4]) for one in chain)
        assert not repository.is_ancestor(chain[4], chain[2])

    def test_first_parents_are_walked_to_the_end_of_what_is_here(self, repository: Repository) -> None:
        """The walk is newest first and stops, without a fault, where a shallow clone ends."""
        tree = make_tree([])
        first = commit_of(tree, GONE)
        side = commit_of(tree, message="side\n")
        second = commit_of(tree, first.id, side.id)
        put(repository, tree, first, side, second)
        assert [commit.id for commit in repository.walk_first_parents(second.id)] == [second.id, first.id]
        assert repository.is_ancestor(GONE, second.id)
        with pytest.raises(ObjectMissing):
            list(repository.walk_first_parents(GONE))

    def test_it_goes_on_after_close(self, repository: Repository) -> None:
        """Closing lets go of files only."""
        (one,) = put_chain(repository, 1)
        repository.close()
        repository.close()
        assert repository.read_commit(one).id == one

    def test_settings_of_a_section(self, repository: Repository) -> None:
        """All settings of a section come with their subsections, whatever those are called."""
        repository.set_config("url.ssh://git@h/.insteadOf", "https://h/")
        repository.set_config("gitmemtest.name", "one")
        repository.set_config("gitmemtest.https://h/.name", "")
        assert list(repository.config_section("url")) == [("ssh://git@h/", "insteadof", "https://h/")]
        assert sorted(repository.config_section("GitmemTest"), key=str) == [
            ("https://h/", "name", ""),
            (None, "name", "one"),
        ]
        assert list(repository.config_section("gitmemnone")) == []
