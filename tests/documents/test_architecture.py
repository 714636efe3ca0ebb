"""The architecture page names every module with the sentence that the module says of itself."""

from __future__ import annotations

from documents.module_table import PAGE, render


def test_the_list_of_modules_is_true() -> None:
    """A newcomer reads one page instead of all docstrings."""
    assert PAGE.read_text("utf-8") == render(), (
        "run: PYTHONPATH=tests:. python tests/documents/module_table.py"
    )
