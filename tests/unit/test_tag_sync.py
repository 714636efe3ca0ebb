"""Tags of episodes between here and a remote: made, never moved; compared by what they say."""

from __future__ import annotations

from gitmem.git_objects import make_object, make_tag
from gitmem.tag_sync import MovedTag, plan_tags, tag_names
from gitmem.testing.memory_repository import MemoryRepository

E1, E2 = "refs/tags/episode/e1", "refs/tags/episode/e2"


def tag(repository: MemoryRepository, target: str, digest: str) -> str:
    """Make a tag as those of episodes are; return its id."""
    made = make_tag(
        target=target * 40,
        name="episode/e1",
        tagger="x <x>",
        seconds=0,
        message=f"x (1 turn)\n\nGitmem-Episode: e1\nGitmem-SHA256: {digest}\n",
    )
    with repository.write_pack([made]):
        return made.id


def test_what_one_side_lacks_goes_there() -> None:
    """And what both have is nothing."""
    repository = MemoryRepository()
    one, two = tag(repository, "1", "aa"), tag(repository, "2", "bb")
    assert plan_tags(repository, {E1: one}, {E2: two}).come == {E2: two}
    assert plan_tags(repository, {E1: one}, {E2: two}).go == {E1: one}
    same = plan_tags(repository, {E1: one}, {E1: one})
    assert (same.come, same.go, same.moved) == ({}, {}, ())


def test_tags_agree_by_what_they_say() -> None:
    """A tag made again on an amended commit is the same; another digest is another episode."""
    repository = MemoryRepository()
    one, again, other = tag(repository, "1", "aa"), tag(repository, "2", "aa"), tag(repository, "1", "bb")
    assert plan_tags(repository, {E1: one}, {E1: again}).moved == ()
    assert plan_tags(repository, {E1: one}, {E1: other}).moved == (MovedTag("episode/e1", one, other),)


def test_what_is_no_tag_of_an_episode_is_not_taken() -> None:
    """A name alone makes none: neither a commit, nor anything under a name that leads elsewhere."""
    repository = MemoryRepository()
    blob = make_object("blob", b"x")
    with repository.write_pack([blob]):
        pass
    plan = plan_tags(repository, {}, {E1: blob.id, "refs/tags/episode/../x": tag(repository, "1", "aa")})
    assert plan.come == {}
    assert len(plan.refused) == 2
    assert plan_tags(repository, {E1: blob.id}, {}).go == {}


def test_only_tags_of_episodes_are_looked_at() -> None:
    """The operator's own tags are theirs to push."""
    assert tag_names({E1: "1", "refs/tags/v1": "2", "refs/heads/main": "3"}) == {E1: "1"}
