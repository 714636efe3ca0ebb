"""Annotated tags that belong to a write: made when its commit is on the branch, and never moved."""

from __future__ import annotations

from typing import Final

from gitmem.branch_changes import PendingTag
from gitmem.errors import GitmemError
from gitmem.git_objects import make_tag, parse_tag
from gitmem.repository import ABSENT, Commit, GitObject, Repository, read_path
from gitmem.subjects import parse_trailers

TAGS: Final = "refs/tags/"
#: How far back the commit is looked for that brought a file.
_LOOK_BACK: Final = 10_000


def tag_object(tag: PendingTag, commit: Commit) -> GitObject:
    """Return a commit's tag; tagger and time are the commit's, so that one made again is the same object."""
    return make_tag(
        target=commit.id,
        name=tag.name,
        tagger=commit.committer,
        seconds=commit.commit_time,
        message=tag.message,
    )


class BranchTags:
    """Puts tags where they belong.

    Args:
        repository: the object store and refs.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def put(self, tag: PendingTag, commit_id: str, who: str) -> str | None:
        """Tag a commit, unless a tag of that name is there; return why that cannot be done now.

        Its value is durable, its name once its folder is.

        Args:
            tag: name and message.
            commit_id: of a commit on the branch.
            who: `Name <mail>` for a reflog.
        """
        ref = f"{TAGS}{tag.name}"
        try:
            if self._repository.read_ref(ref) is not None:
                return None  # the same one, or another, which stays where it is and is reported
            made = tag_object(tag, self._repository.read_commit(commit_id))
            # Also where it lies in a pack already, from an earlier try: a tag that no ref names is dropped by
            # `git repack -a -d`, and only what this pack holds is safe until the ref stands.
            with self._repository.write_pack([made]):
                self._repository.move_ref(ref, old=ABSENT, new=made.id, message="tag", who=who)
        except GitmemError as error:
            return error.message
        return None

    def find(self, name: str) -> tuple[str, str] | None:
        """Return the commit that a tag names and the tag's message; None where there is no such tag."""
        try:
            value = self._repository.read_ref(f"{TAGS}{name}")
            if value is None:
                return None
            kind, content = self._repository.read(value)
            return parse_tag(content) if kind == "tag" else (value, "")
        except GitmemError:
            return None

    def agrees(self, tag: PendingTag) -> bool:
        """Say whether there is no tag of that name, or one that says the same."""
        found = self.find(tag.name)
        return found is None or parse_trailers(found[1]) == parse_trailers(tag.message)

    def commit_of(self, path: str, tip: str | None) -> str | None:
        """Return the commit by which a file came to a branch, looking along first parents."""
        found = None
        for count, commit in enumerate(self._repository.walk_first_parents(tip) if tip else ()):
            if read_path(self._repository, commit.tree, path) is None or count > _LOOK_BACK:
                break
            found = commit.id
        return found
