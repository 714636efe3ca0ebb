"""What reads like an attack in an event that is recorded: it is kept as it came, and named in the receipt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gitmem.threats import find_threats

#: Characters of each text that are looked at; a tool's output may have millions, and nothing is refused here.
SEEN: Final = 16_384
#: A text that is shorter holds no order.
_SHORTEST: Final = 12


def suspicions(told: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Yield a warning of each event, by id and body, that reads like an attack; it is recorded as it came."""
    for record, body in told:
        rules = rules_tripped(body)
        if rules:
            yield f"{record} reads like an attack ({', '.join(rules)}); it is recorded as it came"


def rules_tripped(body: Any) -> tuple[str, ...]:
    """Return the rules of scope `context` that an event's body trips, each once."""
    found = (finding.rule for text in _texts(body) for finding in find_threats(text[:SEEN], "context"))
    return tuple(dict.fromkeys(found))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) >= _SHORTEST:
            yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
