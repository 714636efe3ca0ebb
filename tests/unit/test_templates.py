"""The files of a new home, and whether anything was written into them."""

from __future__ import annotations

import pytest

from gitmem.templates import is_untouched, render_templates

FILES = render_templates(agent="aria (old)", home_id="0" * 16)


@pytest.mark.parametrize("path", ["memory/operator.md", "memory/self.md"])
def test_a_new_file_is_untouched_until_somebody_writes(path: str) -> None:
    """Whatever the agent is called; one word more is a word of somebody."""
    text = FILES[path].decode()
    assert is_untouched(path, text)
    assert not is_untouched(path, f"{text}- Be brief.\n")
    assert not is_untouched(path, text.replace("\n", " \n", 1))
    assert not is_untouched(path, "")


def test_other_files_are_somebodys() -> None:
    """Only what gitmem wrote itself can be as gitmem wrote it."""
    assert not is_untouched("notes/a.md", "# A\n")
    assert not is_untouched("memory/MEMORY.md", "")
