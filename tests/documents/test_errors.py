"""`docs/errors.md` lists every exit code and error code there is, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gitmem import errors
from gitmem.cli.failures import OWN_CODES

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text("utf-8")
CONTRACT = {0, 2, 3, 4, 10, 11, 12, 13, 20, 70, 130}


def error_classes(root: type[errors.GitmemError] = errors.GitmemError) -> Iterator[type[errors.GitmemError]]:
    """Yield the root and all that is built on it."""
    yield root
    for child in root.__subclasses__():
        yield from error_classes(child)


def test_every_code_is_listed() -> None:
    """Scripts rely on a closed list."""
    listed = {
        code: int(exit_code)
        for code, exit_code in re.findall(r"^\| `([a-z_]+)` \| (\d+) \|", PAGE, re.MULTILINE)
    }
    own = {cls.code: cls.exit_code for cls in error_classes() if cls.__module__ == errors.__name__}
    assert listed == {**own, **OWN_CODES}


def test_every_error_is_declared_where_the_tree_is_drawn() -> None:
    """A code that appears elsewhere would be missing in the list."""
    assert {cls.__module__ for cls in error_classes()} == {"gitmem.errors"}


def test_every_exit_code_is_listed() -> None:
    """The table of exit codes is the contract's."""
    table = PAGE.split("## Exit codes")[1].split("## ")[0]
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)} == CONTRACT
    assert {cls.exit_code for cls in error_classes()} <= CONTRACT
