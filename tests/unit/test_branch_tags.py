"""Tags of episodes beside an operator's housekeeping."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fixtures import commit_all, fsck, git, head, make_repo
from gitmem.backends.dulwich_repository import DulwichRepository
from gitmem.branch_changes import PendingTag
from gitmem.branch_tags import BranchTags, tag_object
from gitmem.layout import find_layout

WHO = "aria <aria@example.invalid>"
TAG = PendingTag("episode/ep_000000000000001", "done (1 turn)\n\nGitmem-Episode: ep_000000000000001\n")


class RepackedMeanwhile(DulwichRepository):
    """An operator's `git repack -a -d` in the very moment before a ref is moved."""

    def move_ref(self, name: str, **values: Any) -> None:
        """Let Git drop what no ref names, then move the ref."""
        git("repack", "-q", "-a", "-d", cwd=self._layout.root)
        git("prune", "--expire=now", cwd=self._layout.root)
        super().move_ref(name, **values)


def test_a_tag_that_lies_in_a_pack_already_is_there_when_its_ref_stands(tmp_path: Path) -> None:
    """A killed try leaves the tag in a pack; no ref names it, so that Git may drop it until one does."""
    root = make_repo(tmp_path / "home")
    commit_all(root, "one", {"a.md": "a\n"})
    repository = RepackedMeanwhile(find_layout(root))
    commit = repository.read_commit(head(root))
    with repository.write_pack([tag_object(TAG, commit)]):
        pass
    assert repository.contains(tag_object(TAG, commit).id)
    assert BranchTags(repository).put(TAG, commit.id, WHO) is None
    assert git("tag", "-l", "--format=%(objecttype) %(*objectname)", cwd=root) == f"tag {commit.id}"
    fsck(root)
    repository.close()
