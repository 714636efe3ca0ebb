"""The memory of a long-lived AI agent as plain files in a Git repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitmem.home import AgentHome

__version__ = "0.1.0"

__all__ = ["AgentHome", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the facade on first use, so that `gitmem --help` does not pay for it."""
    if name == "AgentHome":
        from gitmem.home import AgentHome  # noqa: PLC0415

        return AgentHome
    raise AttributeError(name)
