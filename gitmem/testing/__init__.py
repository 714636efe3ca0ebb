"""Stand-ins for what gitmem works on, for tests of it and of programs that use it."""

from __future__ import annotations

from gitmem.testing.memory_remote import MemoryRemote, MemoryRemotes, RemotePoint
from gitmem.testing.memory_repository import FaultPoint, MemoryRepository

__all__ = ["FaultPoint", "MemoryRemote", "MemoryRemotes", "MemoryRepository", "RemotePoint"]
