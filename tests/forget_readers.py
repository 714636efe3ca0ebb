"""Everything that reads a home: after a word was forgotten, none of it may say it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from gitmem import AgentHome
from gitmem.errors import GitmemError
from gitmem.json_view import to_json

Say = Callable[[AgentHome, str, Iterable[str]], object]


def _search(home: AgentHome, word: str, refs: Iterable[str]) -> object:
    found = [
        home.search(query, by=by, sort=sort, limit=50)
        for query in (word, "staging port")
        for by in ("agent", "operator")
        for sort in ("relevance", "newest", "oldest")
    ]
    # A reply tells the words that it was asked for.
    return [[to_json(hit) for hit in reply.results] for reply in found]


def _get(home: AgentHome, word: str, refs: Iterable[str]) -> object:
    return [_told(lambda ref=ref: home.get(ref, by="operator")) for ref in refs]


def _show(home: AgentHome, word: str, refs: Iterable[str]) -> object:
    return [_told(lambda ref=ref: home.show(ref)) for ref in refs]


def _told(ask: Callable[[], object]) -> object:
    try:
        return to_json(ask())
    except GitmemError as error:
        return [error.message, error.hint, to_json(error.details)]


def _sessions(home: AgentHome, word: str, refs: Iterable[str]) -> object:
    messages = [ref.removeprefix("message:") for ref in refs if ref.startswith("message:")]
    found: list[object] = [home.session_search(), home.session_search(session_id="s1")]
    found += [home.session_search(session_id="s1", around_message_id=one) for one in messages]
    # An answer that found nothing tells the words that it was asked for.
    return [*found, home.session_search(query=word)["results"]]


def _work(home: AgentHome, word: str, refs: Iterable[str]) -> object:
    items = home.work_list().work_items
    return [items, [_told(lambda one=one: home.work_show(one.id)) for one in items], home.tasks()]


def _episodes(home: AgentHome, word: str, refs: Iterable[str]) -> object:
    found = home.episodes().episodes
    return [found, [_told(lambda one=one: home.episode(one.id)) for one in found]]


def _log(home: AgentHome, word: str, refs: Iterable[str]) -> object:
    return [home.log(by=by, limit=200) for by in (None, "turn", "day", "session")]


def _context(home: AgentHome, word: str, refs: Iterable[str]) -> object:
    return [home.context(input="which port?", budget=50_000, session="s1").text, home.context().text]


def _past(home: AgentHome, word: str, refs: Iterable[str]) -> object:
    """Return what is told of what was: closed under the receipts of now."""
    repository = home._parts.repository
    tips = [*home.ledger.tips().values(), repository.head().commit or ""]
    commits = [commit.id for tip in tips for commit in islice(repository.walk_first_parents(tip), 12)]
    return [
        _told(ask)
        for commit in commits
        for ask in (
            lambda commit=commit: home.context(as_of=commit).text,
            lambda commit=commit: home.work_list(as_of=commit).work_items,
            lambda commit=commit: home.tasks(as_of=commit),
            lambda commit=commit: [home.episode(one.id) for one in home.episodes(as_of=commit).episodes],
        )
    ]


READERS: Mapping[str, Say] = {
    "search": _search,
    "get": _get,
    "show": _show,
    "sessions": _sessions,
    "context": _context,
    "work": _work,
    "episodes": _episodes,
    "log": _log,
    "notes": lambda home, word, refs: [home.notes(), home.catalog()],
    "memory": lambda home, word, refs: [home.memory_show(), home.memory_show("user")],
    "prompt": lambda home, word, refs: [home.session("s1").prompt_block(), home.memory_block()],
    "prose": lambda home, word, refs: [one.text for one in home.prose_sections()],
    "proposals": lambda home, word, refs: home.proposals(),
    "past": _past,
    "status": lambda home, word, refs: home.status(),
}


def files_with(root: Path, word: str) -> list[str]:
    """Return the files of a home, Git's objects aside, that hold a word in any encoding that gitmem uses."""
    needle = word.casefold().encode()
    paths = (path for path in root.rglob("*") if path.is_file() and "objects" not in path.parts)
    return sorted(str(path.relative_to(root)) for path in paths if needle in path.read_bytes().lower())


def speakers(home: AgentHome, root: Path, word: str, refs: Iterable[str] = ()) -> list[str]:
    """Return the readers and the files that still say a word."""
    known = [*dict.fromkeys(refs)]
    found = [name for name, say in READERS.items() if word.casefold() in _text(say(home, word, known))]
    return [*found, *files_with(root, word)]


def refs_of(home: AgentHome) -> Iterator[str]:
    """Yield the refs of all records of a home, and of its notes and entries."""
    for line in home.ledger.lines_newest_first():
        yield f"{line.kind}:{line.object or line.id}{':cmd' if line.kind == 'tool_execution' else ''}"
    yield from (note.source_ref for note in home.notes().notes)
    with suppress(GitmemError):
        yield from (f"entry:{entry.id}" for entry in home.memory_show().entries)
    yield from ("session:s1", "session:s2")


def _text(value: object) -> str:
    return json.dumps(to_json(value), ensure_ascii=False).casefold()
