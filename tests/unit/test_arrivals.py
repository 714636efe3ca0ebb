"""Whether anything can have come from elsewhere: where nothing did, nothing is judged for it."""

from __future__ import annotations

from pathlib import Path

from fixtures import commit_all, git, make_repo, set_identity
from gitmem.arrivals import Arrivals
from gitmem.backends.dulwich_repository import open_repository
from gitmem.layout import find_layout


def test_a_branch_that_only_this_machine_wrote(tmp_path: Path) -> None:
    """Commits made here bring nothing of others; a fetch, a merge of what came, or a clone may."""
    root = make_repo(tmp_path / "home")
    commit_all(root, "one", {"a.md": "a\n"})
    layout = find_layout(root)
    arrivals = Arrivals(open_repository(layout), layout)
    assert not arrivals.is_possible()
    commit_all(root, "two", {"a.md": "b\n"})
    assert not arrivals.is_possible()
    git("clone", "-q", str(root), str(tmp_path / "clone"), cwd=tmp_path)
    set_identity(tmp_path / "clone")
    cloned = find_layout(tmp_path / "clone")
    assert Arrivals(open_repository(cloned), cloned).is_possible()
    commit_all(tmp_path / "clone", "theirs", {"b.md": "b\n"})
    git("pull", "-q", "--no-rebase", str(tmp_path / "clone"), "main", cwd=root)
    assert arrivals.is_possible()
