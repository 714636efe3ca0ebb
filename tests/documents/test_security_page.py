"""The security page lists every rule of the scanner as the tables have them."""

from __future__ import annotations

from documents.scanner_table import PAGE, render


def test_the_list_of_rules_is_true() -> None:
    """A refusal names a rule, and the page says what it is for."""
    assert PAGE.read_text("utf-8") == render(), (
        "run: PYTHONPATH=tests:. python tests/documents/scanner_table.py"
    )
