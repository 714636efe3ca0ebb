"""Which files of a home the agent leaves to people: what commands the agent, and what limits it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from gitmem.errors import ProtectedPath

#: Who may write what is decided by these: the agent's orders, its limits, and what Git makes of files.
PROTECTED: Final = ("AGENTS.md", "memory/operator.md", "gitmem.toml", ".gitattributes", ".gitignore")
#: The Git setting that lists those of them which the agent may write all the same, on this machine.
MAY_EDIT: Final = "gitmem.agentMayEdit"

_FOLDED: Final = frozenset(path.casefold() for path in PROTECTED)
_BETWEEN: Final = re.compile(r"[,\s]+")


def parse_paths(value: str | None) -> frozenset[str]:
    """Return the paths that a setting lists, separated by commas or white space."""
    return frozenset(path for path in _BETWEEN.split(value or "") if path)


def refuse_protected(paths: Iterable[str], allowed: Collection[str]) -> None:
    """Refuse a change that the agent makes to a protected file.

    Args:
        paths: of the change.
        allowed: protected paths that it may write on this machine.

    Raises:
        ProtectedPath: one of the paths is protected.
    """
    for path in paths:
        # On a file system that does not tell case apart another spelling is the same file.
        if path.casefold() in _FOLDED and path not in allowed:
            raise ProtectedPath(
                f"{path} is written by people, not by the agent",
                hint="Ask the operator.",
                for_people=f"To allow it here: gitmem config set {MAY_EDIT} {_listed(path, allowed)}",
                path=path,
            )


def _listed(path: str, allowed: Collection[str]) -> str:
    """Return the setting that allows a path besides those that it allows now."""
    name = next(one for one in PROTECTED if one.casefold() == path.casefold())
    return ",".join(sorted({*allowed, name}))
