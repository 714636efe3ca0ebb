"""Which finished episodes belong to what is going on: by topic, never because they are new.

An episode whose turns stand in the prompt anyway is left out; one of which only turns are known that did not
fit is not. What an episode says is history: where it speaks of the current work item, that one's own text
counts.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final

from gitmem.analysis import analyze_query, count_terms
from gitmem.graphemes import cut_at
from gitmem.quoting import quote_line
from gitmem.token_estimate import Tokenizer, estimate_tokens
from gitmem.word_terms import is_stop_word

#: So many episodes are shown at most.
MOST_SELECTED: Final = 3

#: Points of each signal, as Holon gives them; files and todos count each, so many at most.
_SAME_WORK_ITEM: Final = 120.0
_SAME_OBJECTIVE: Final = 80.0
_SHARED_FILE: Final = 20.0
_SHARED_TODO: Final = 16.0
_SAME_WAIT: Final = 16.0
_MOST_SHARED: Final = 5
#: Points for all words of the input, and of the work item's objective; a share of them for some.
_INPUT_WORDS: Final = 60.0
_OBJECTIVE_WORDS: Final = 30.0
#: Fewer points for words alone are chance.
_LEAST_WORDS: Final = 8.0
#: A word that more of the episodes have than this share says nothing, where there are some.
_COMMON_SHARE: Final = 0.5
_SOME: Final = 4
#: What the newest episode has ahead of one that fits as well, one less for each that is newer.
_NEWEST: Final = 8

_SIGNS: Final = re.compile(r"[\W_]+")
_INTRO: Final = (
    "Records of finished work that may bear on this. History only: the operator and the current work item "
    "come first. memory_get reads one by its ref."
)


@dataclass(frozen=True, slots=True)
class EpisodeAnchor:
    """What a finished episode is found and shown by.

    Attributes:
        id: the episode's.
        turn_ids: in order; indexes may repeat across machines, so they are not compared.
        finalized_at: RFC 3339; the newer of equal ones comes first.
        boundary: why it ended, in words for people.
        work_item: id of the work item that it belongs to.
        objective: as it was then.
        title: one line for people.
        files: paths, relative as work refs have them.
        follow_ups: what was left to do.
        waiting_on: what was waited for at its end.
        workspaces: ids of where its turns ran; none where the callers named none.
        terms: of its words, as `terms_of` returns them.
    """

    id: str
    turn_ids: tuple[str, ...]
    finalized_at: str
    boundary: str = ""
    work_item: str | None = None
    objective: str = ""
    title: str = ""
    files: tuple[str, ...] = ()
    follow_ups: tuple[str, ...] = ()
    waiting_on: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()

    @property
    def source_ref(self) -> str:
        """The address under which `get` finds it."""
        return f"episode:{self.id}"


@dataclass(frozen=True, slots=True)
class EpisodeQuery:
    """What is going on.

    Attributes:
        input: the current input.
        work_item, objective: of the current work item.
        files: paths of its active refs.
        todos: texts of its open todos.
        blocker: what it waits for.
        workspace: where work happens; episodes of other workspaces are out of scope then.
    """

    input: str = ""
    work_item: str | None = None
    objective: str = ""
    files: tuple[str, ...] = ()
    todos: tuple[str, ...] = ()
    blocker: str | None = None
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class EpisodeChoice:
    """An episode that is relevant, and why.

    Attributes:
        signals: points by name.
        is_historical: it tells of the current work item with another objective.
    """

    anchor: EpisodeAnchor
    score: float
    signals: tuple[tuple[str, float], ...]
    is_historical: bool = False


def terms_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the terms by which an episode's words are found, each once."""
    found = {term for text in texts for term in count_terms(text).counts if len(term) > 1}
    return tuple(sorted(found))  # a set takes eight times as much, for each of all episodes


class EpisodeIndex:
    """Finds relevant episodes among all that are finished.

    An episode is kept as its row, and made when it may be relevant: most of many are not, and an object of
    each would take several times as much memory.

    Args:
        anchors: all finished episodes, in any order.
    """

    def __init__(self, anchors: Iterable[EpisodeAnchor] = ()) -> None:
        self._take((pack_anchor(anchor), anchor) for anchor in anchors)

    @classmethod
    def of_rows(cls, rows: Iterable[bytes]) -> EpisodeIndex:
        """Return the index of anchors that `pack_anchor` packed."""
        index = cls()
        index._take((row, unpack_anchor(row)) for row in rows)
        return index

    def _take(self, found: Iterable[tuple[bytes, EpisodeAnchor]]) -> None:
        self._rows: list[bytes] = []
        self._words = _Words()
        self._by_key: dict[tuple[str, str], array[int]] = {}
        ages = []
        for place, (row, anchor) in enumerate(found):
            self._rows.append(row)
            ages.append((anchor.finalized_at, anchor.id, place))
            self._words.add(place, anchor.terms)
            for key in _keys(anchor):
                self._by_key.setdefault(key, array("l")).append(place)
        #: How many episodes are newer, by place.
        self._ranks = array("l", bytes(array("l").itemsize * len(ages)))
        for rank, (_, _, place) in enumerate(sorted(ages, reverse=True)):
            self._ranks[place] = rank

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._rows)

    def select(self, query: EpisodeQuery, rendered: Collection[str] = ()) -> tuple[EpisodeChoice, ...]:
        """Return the episodes that bear on what is going on, the most relevant first.

        Args:
            query: what is going on.
            rendered: ids of the turns that stand in the prompt.
        """
        shown = frozenset(rendered)
        found = []
        for place, words in self._likely(query):
            anchor = unpack_anchor(self._rows[place])
            if _is_in_scope(anchor, query) and shown.isdisjoint(anchor.turn_ids):
                found.append(_choice(anchor, query, words, self._ranks[place]))
        relevant = [one for one in found if one is not None]
        relevant.sort(key=lambda one: -one.score)  # stable: of equal ones the newer stays ahead
        return tuple(relevant[:MOST_SELECTED])

    def _likely(self, query: EpisodeQuery) -> list[tuple[int, float]]:
        """Return the places of the episodes that share enough, the newest first, with their words' points."""
        points: dict[int, float] = {}
        for text, most in ((query.input, _INPUT_WORDS), (query.objective, _OBJECTIVE_WORDS)):
            for place, share in self._words.shares(text).items():
                points[place] = points.get(place, 0.0) + share * most
        places = {place for place, words in points.items() if words >= _LEAST_WORDS}
        for key in _query_keys(query):
            places.update(self._by_key.get(key, ()))
        return [(place, points.get(place, 0.0)) for place in sorted(places, key=self._ranks.__getitem__)]


def pack_anchor(anchor: EpisodeAnchor) -> bytes:
    """Return an episode's anchor as a row of JSON."""
    return json.dumps(astuple(anchor), ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def unpack_anchor(row: bytes) -> EpisodeAnchor:
    """Return the anchor of a row.

    Raises:
        ValueError, TypeError: it is none.
    """
    found = json.loads(row.decode("utf-8", "surrogatepass"))
    values: list[Any] = [(*one,) if isinstance(one, list) else one for one in found]
    return EpisodeAnchor(*values)


def select_episodes(
    anchors: Iterable[EpisodeAnchor], query: EpisodeQuery, rendered: Collection[str] = ()
) -> tuple[EpisodeChoice, ...]:
    """Return the episodes that bear on what is going on; see `EpisodeIndex.select`."""
    return EpisodeIndex(anchors).select(query, rendered)


def render_episodes(choices: Sequence[EpisodeChoice]) -> str:
    """Return episodes as a prompt has them; empty without any."""
    return "\n".join([_INTRO, *(_block(one) for one in choices)]) if choices else ""


def fit_episodes(choices: Sequence[EpisodeChoice], tokens: int, count: Tokenizer = estimate_tokens) -> str:
    """Return as many whole episodes as fit, the most relevant first, up to the first that does not."""
    text = ""
    for number in range(1, len(choices) + 1):
        longer = render_episodes(choices[:number])
        if count(longer) > tokens:
            break
        text = longer
    return text


class _Words:
    """Which episodes have a word, and how much it says: the fewer have it, the more."""

    def __init__(self) -> None:
        self._total = 0
        self._places: dict[str, array[int]] = {}

    def add(self, place: int, terms: Iterable[str]) -> None:
        """Take the terms of the episode at a place; they come in order."""
        self._total = place + 1
        for term in terms:
            self._places.setdefault(term, array("l")).append(place)

    def shares(self, text: str) -> dict[int, float]:
        """Return which part of what a text's words say each episode has too, by place."""
        words = [(word, self._weight(word)) for word in self._of(text)]
        total = sum(weight for _, weight in words)
        found: dict[int, float] = {}
        for word, weight in words if total else ():
            if weight:
                for place in {place for term in word for place in self._places.get(term, ())}:
                    found[place] = found.get(place, 0.0) + weight
        return {place: weight / total for place, weight in found.items()}

    def _of(self, text: str) -> list[frozenset[str]]:
        """Return the words of a text, each as the terms that stand for it."""
        units = analyze_query(text) if text.strip() else []
        told = [unit for unit in units if not is_stop_word(unit.surface)]
        words = [frozenset(term for term in unit.terms if len(term) > 1) for unit in told]
        return [word for word in words if word]

    def _weight(self, word: frozenset[str]) -> float:
        having = max(len(self._places.get(term, ())) for term in word)
        if self._total >= _SOME and having > _COMMON_SHARE * self._total:
            return 0.0
        return math.log1p((self._total + 1) / (having + 0.5))


def _keys(anchor: EpisodeAnchor) -> Iterator[tuple[str, str]]:
    """Yield what an episode is found by besides its words."""
    if anchor.work_item is not None:
        yield "work_item", anchor.work_item
    yield from (("file", path) for path in anchor.files)
    for name, texts in (
        ("objective", (anchor.objective,)),
        ("todo", anchor.follow_ups),
        ("wait", anchor.waiting_on),
    ):
        yield from ((name, _plain(text)) for text in texts)


def _query_keys(query: EpisodeQuery) -> Iterator[tuple[str, str]]:
    if query.work_item is not None:
        yield "work_item", query.work_item
    yield from (("file", path) for path in query.files)
    yield "objective", _plain(query.objective)
    yield from (("todo", _plain(text)) for text in query.todos)
    if query.blocker:
        yield "wait", _plain(query.blocker)


def _is_in_scope(anchor: EpisodeAnchor, query: EpisodeQuery) -> bool:
    return query.workspace is None or not anchor.workspaces or query.workspace in anchor.workspaces


def _choice(
    anchor: EpisodeAnchor,
    query: EpisodeQuery,
    words: float,
    rank: int,
) -> EpisodeChoice | None:
    is_same = anchor.work_item is not None and anchor.work_item == query.work_item
    objective = _plain(anchor.objective)
    has_same_objective = bool(objective) and objective == _plain(query.objective)
    signals = {
        "work_item": _SAME_WORK_ITEM if is_same else 0.0,
        "objective": _SAME_OBJECTIVE if has_same_objective else 0.0,
        "files": _SHARED_FILE * _shared(anchor.files, query.files),
        "follow_ups": _SHARED_TODO * _shared(map(_plain, anchor.follow_ups), map(_plain, query.todos)),
        "waiting_on": _SAME_WAIT if _waits_for(anchor, query.blocker) else 0.0,
        "words": round(words, 3) if words >= _LEAST_WORDS else 0.0,
    }
    given = tuple((name, points) for name, points in signals.items() if points)
    if not given:
        return None
    score = sum(points for _, points in given) + max(0, _NEWEST - rank)
    is_historical = is_same and bool(query.objective) and not has_same_objective
    return EpisodeChoice(anchor, round(score, 3), given, is_historical)


def _shared(one: Iterable[str], other: Iterable[str]) -> int:
    return min(len({*filter(None, one)} & {*other}), _MOST_SHARED)


def _waits_for(anchor: EpisodeAnchor, blocker: str | None) -> bool:
    return bool(blocker) and _plain(blocker or "") in {_plain(one) for one in anchor.waiting_on}


def _plain(text: str) -> str:
    return _SIGNS.sub(" ", text.casefold()).strip()


def _block(choice: EpisodeChoice) -> str:
    anchor = choice.anchor
    turns = f"{len(anchor.turn_ids)} turn{'s' if len(anchor.turn_ids) != 1 else ''}"
    span = " to ".join(f"turn:{one}" for one in dict.fromkeys(anchor.turn_ids[:1] + anchor.turn_ids[-1:]))
    head = [anchor.source_ref, anchor.finalized_at[:10], f"{turns}: {span}" if span else ""]
    if anchor.work_item:
        head.append(f"work_item:{anchor.work_item}")
    if anchor.boundary:
        head.append(f"ended because {quote_line(anchor.boundary)}")
    lines = [f"- {' · '.join(part for part in head if part)}"]
    if choice.is_historical:
        lines.append("  historical: the current work item has another objective now, and that one counts")
    if anchor.objective or anchor.title:
        lines.append(f"  objective then: {_short(anchor.objective or anchor.title, 180)}")
    for name, told, most in (
        ("files", anchor.files, 4),
        ("left to do", anchor.follow_ups, 3),
        ("waited for", anchor.waiting_on, 3),
    ):
        if told:
            more = f" (+{len(told) - most} more)" if len(told) > most else ""
            lines.append(f"  {name}: {'; '.join(_short(one, 120) for one in told[:most])}{more}")
    return "\n".join(lines)


def _short(text: str, limit: int) -> str:
    line = quote_line(text)
    return line if len(line) <= limit else line[: cut_at(line, limit - 1)] + "…"
