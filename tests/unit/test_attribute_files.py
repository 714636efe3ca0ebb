"""Which attribute files speak of a path, and how often they are looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures import layout_of, make_repo
from gitmem.attribute_files import AttributeFiles


def test_each_file_is_looked_at_once_for_all_paths_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of thousands of notes in one folder nobody asks thousands of times; the next look sees what is new."""
    repo = make_repo(tmp_path / "home")
    (repo / "notes/d").mkdir(parents=True)
    (repo / "notes/.gitattributes").write_text("*.md filter=lfs\n")
    files = AttributeFiles(layout_of(repo), lambda _: None)
    looked: list[str] = []
    stat = Path.stat

    def counted(path: Path, *, follow_symlinks: bool = True) -> object:
        if path.name in (".gitattributes", "attributes"):
            looked.append(str(path))
        return stat(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", counted)
    look = files.look()
    assert all(look.conversion(f"notes/d/{number}.md").foreign for number in range(50))
    assert len(looked) == len(set(looked)) == 5
    assert not look.conversion("README.md").foreign
    (repo / "notes/.gitattributes").unlink()
    assert look.conversion("notes/d/0.md").foreign
    assert not files.look().conversion("notes/d/0.md").foreign
