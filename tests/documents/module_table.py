"""Writes the list of modules in `docs/architecture.md` from their docstrings; run it after one changed."""

from __future__ import annotations

import ast
from pathlib import Path

from test_layers import FLOORS, modules, place_of

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
MARK = "<!-- written by tests/documents/module_table.py -->\n"
FLOOR_NAMES = (
    "0 words",
    "1 pure rules",
    "2 seams",
    "3 one library each",
    "4 one thing remembered",
    "5 use cases",
    "6 doors",
)


def render() -> str:
    """Return the page with the list as it has to be."""
    return PAGE.read_text("utf-8").split(MARK)[0] + MARK + "\n" + _tables()


def _tables() -> str:
    rows: list[list[str]] = [[] for _ in FLOORS]
    shown = sorted((place_of(name), name) for name in modules() if name != "__init__" and _has_sentence(name))
    for (floor, _), name in shown:
        rows[floor].append(f"| `{name}` | {_sentence(name)} |")
    parts = (
        f"**{name}**\n\n| | |\n|---|---|\n" + "\n".join(row)
        for name, row in zip(FLOOR_NAMES, rows, strict=True)
    )
    return "\n\n".join(parts) + "\n"


def _has_sentence(name: str) -> bool:
    # The folders' own `__init__` files say nothing beyond their members.
    return modules()[name].name != "__init__.py" or name.startswith(("cli", "templates"))


def _sentence(name: str) -> str:
    doc = ast.get_docstring(ast.parse(modules()[name].read_text("utf-8")))
    assert doc, f"{name} has no docstring"
    return " ".join(doc.split("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8")
