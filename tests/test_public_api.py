"""The names that `import gitmem` offers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import gitmem

PACKAGE = Path(gitmem.__file__).parent


def test_all_is_sorted_and_complete() -> None:
    """`__all__` is what the facade declares, sorted, because it is what readers and type checkers see."""
    assert list(gitmem.__all__) == sorted(gitmem.__all__)
    declared = set()
    for node in ast.walk(ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gitmem"):
            declared |= {alias.asname or alias.name for alias in node.names}
    assert set(gitmem.__all__) == declared | {"__version__"}


def test_every_public_name_is_there() -> None:
    """Each promised name can be had, though it is imported late."""
    for name in gitmem.__all__:
        assert getattr(gitmem, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    """The late import does not hide a misspelling."""
    assert not hasattr(gitmem, "AgentHouse")


def test_the_package_is_typed() -> None:
    """The marker for type checkers ships."""
    assert (PACKAGE / "py.typed").is_file()


def test_importing_gitmem_is_cheap() -> None:
    """`import gitmem` pulls in no library, so that a command's help is quick."""
    code = "import sys, gitmem; print(' '.join(sorted({m.split('.')[0] for m in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"dulwich", "whoosh", "watchdog", "numpy", "yaml", "frontmatter", "rich", "click", "merge3"}
    assert not heavy & set(done.stdout.split())
