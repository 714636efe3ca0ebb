"""The search index with the engine that this machine's configuration names.

When another engine is chosen, the index of the one before answers until the new one covers as much; once the
new one is complete, the one before goes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gitmem.errors import UsageError
from gitmem.manifest import EMPTY, VOID, Manifest
from gitmem.postings_cache import DEFAULT_BYTES
from gitmem.private_folder import remove_folder, standing_of
from gitmem.search_index import IndexDamaged, IndexPart, IndexRefused, IndexSnapshot, IndexWriter, SearchIndex

#: The setting that names the engine, the first engine being the default.
ENGINE_SETTING: Final = "gitmem.search.engine"
ENGINES: Final = ("whoosh", "tantivy")
_INSTALL: Final = "pip install gitmem-home[tantivy]"


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Which engine serves.

    Attributes:
        name: of it.
        doubt: why it is not the one that was chosen, if so.
    """

    name: str
    doubt: str | None = None


class ChosenIndex:
    """A `SearchIndex` on the engine that is chosen at each moment; safe to use from several threads.

    Args:
        chosen: returns the name that the configuration has, None if it has none.
        folders: of the index of each engine.
        room: returns the bytes that decoded postings may take; asked when an index is opened.
    """

    def __init__(
        self,
        chosen: Callable[[], str | None],
        folders: Mapping[str, Path],
        room: Callable[[], int] = lambda: DEFAULT_BYTES,
    ) -> None:
        self._chosen = chosen
        self._folders = folders
        self._room = room
        self._guard = threading.Lock()
        self._opened: dict[str, SearchIndex] = {}

    def doubt(self) -> str | None:
        """Return why another engine serves than the one that was chosen, if so."""
        return self._choose().doubt

    def snapshot(self) -> IndexSnapshot | None:
        """Return the index of the chosen engine, or, as long as it covers less, that of the one before."""
        name = self._choose().name
        found = self._index(name).snapshot()
        if found is not None and found.manifest.complete:
            self._close_others(name)
            return found
        before = self._before(name)
        covered = EMPTY if found is None else found.manifest
        if before is None or before.manifest.covered <= covered.covered:
            return found
        return Preceding(before, covered)

    @contextmanager
    def writing(self) -> Iterator[IndexWriter | None]:
        """Become the writer of the chosen engine's index; None where somebody else is."""
        name = self._choose().name
        with self._index(name).writing() as writer:
            yield writer
            with suppress(IndexDamaged, IndexRefused, OSError):
                if writer is not None and writer.snapshot().manifest.complete:
                    self._remove_others(name)

    def close(self) -> None:
        """Release files; the object stays usable and opens them again."""
        self._close_others("")

    def _choose(self) -> EngineChoice:
        with self._guard:
            choice = choose_engine(self._chosen())
            if choice.name not in self._opened:
                choice = self._opening(choice)
            return choice

    def _opening(self, choice: EngineChoice) -> EngineChoice:
        """Open an engine's index, that of the default engine where it cannot be loaded."""
        try:
            self._opened[choice.name] = self._open(choice.name)
        except ImportError as error:
            default = ENGINES[0]
            self._opened.setdefault(default, self._open(default))
            return EngineChoice(default, _missing(choice.name, error))
        return choice

    def _index(self, name: str) -> SearchIndex:
        with self._guard:
            if name not in self._opened:
                self._opened[name] = self._open(name)
            return self._opened[name]

    def _open(self, name: str) -> SearchIndex:
        return open_engine(name, self._folders[name], self._room())

    def _before(self, name: str) -> IndexSnapshot | None:
        """Return what another engine has, if anything."""
        for other, folder in self._folders.items():
            if other != name and standing_of(folder) == "private":
                with suppress(ImportError, IndexDamaged, IndexRefused, OSError):
                    return self._index(other).snapshot()
        return None

    def _close_others(self, name: str) -> None:
        with self._guard:
            others = [self._opened.pop(other) for other in list(self._opened) if other != name]
        for index in others:
            index.close()

    def _remove_others(self, name: str) -> None:
        self._close_others(name)
        for other, folder in self._folders.items():
            if other != name and standing_of(folder) in ("private", "open"):
                remove_folder(folder)


class Preceding:
    """An `IndexSnapshot` of the engine before: what of it the new engine lacks has to be made anew.

    Args:
        before: as its last commit left it.
        covered: what the new engine has.
    """

    def __init__(self, before: IndexSnapshot, covered: Manifest) -> None:
        self.generation = before.generation
        self.parts: Sequence[IndexPart] = before.parts
        self.manifest = _awaiting(before.manifest, covered)


def choose_engine(name: str | None) -> EngineChoice:
    """Return the engine that a setting names; the default for none, and for one that there is not."""
    default = ENGINES[0]
    if not name or name in ENGINES:
        return EngineChoice(name or default)
    known = " or ".join(ENGINES)
    return EngineChoice(default, f"{ENGINE_SETTING} is {name!r}, not {known}: {default} serves")


def check_engine(name: str) -> str:
    """Return the name of an engine that can be chosen on this machine.

    Raises:
        UsageError: there is none of that name, or its package is not installed.
    """
    if name not in ENGINES:
        raise UsageError(f"{ENGINE_SETTING} is {' or '.join(ENGINES)}, not {name!r}")
    try:
        _load(name)
    except ImportError as error:
        raise UsageError(
            f"the engine {name} cannot be loaded: {error}", hint=f"Install it: `{_INSTALL}`."
        ) from error
    return name


def open_engine(name: str, folder: Path, cache_bytes: int = DEFAULT_BYTES) -> SearchIndex:
    """Return an engine's index in a folder.

    Args:
        name: of the engine.
        folder: of the index.
        cache_bytes: memory for decoded postings at most.

    Raises:
        ImportError: its package is not installed, or not for this machine.
    """
    return _load(name)(folder, cache_bytes)


def _load(name: str) -> Callable[[Path, int], SearchIndex]:
    if name == "tantivy":
        from gitmem.backends.tantivy_index import TantivyIndex  # noqa: PLC0415 - only where it is chosen

        return TantivyIndex
    from gitmem.backends.whoosh_index import WhooshIndex  # noqa: PLC0415

    return WhooshIndex


def _missing(name: str, error: ImportError) -> str:
    return (
        f"{ENGINE_SETTING} is {name}, which cannot be loaded ({error}): {ENGINES[0]} serves until you say "
        f"`{_INSTALL}`, or `gitmem config set search.engine {ENGINES[0]}`"
    )


def _awaiting(before: Manifest, covered: Manifest) -> Manifest:
    """Return a manifest in which everything has to be made anew that is not covered elsewhere."""
    segments = {
        path: mark if path in covered.segments else replace(mark, made_by=VOID)
        for path, mark in before.segments.items()
    }
    files = {
        path: mark if path in covered.files else replace(mark, made_by=VOID)
        for path, mark in before.files.items()
    }
    return replace(before, segments=segments, files=files, renewing=len(segments) + len(files))
