"""A Git repository on disk: objects and configuration read through dulwich, refs and packs through own files.

dulwich is imported when the first object or the first configuration value is asked for, so that opening a
home and reading its refs costs nothing.
"""

from __future__ import annotations

from gitmem.backends.dulwich_repository.repository import (
    DulwichRepository,
    init_repository,
    open_repository,
)

__all__ = ["DulwichRepository", "init_repository", "open_repository"]
