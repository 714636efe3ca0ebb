"""Finds secrets in text before it is stored, and replaces them; one table, the same for every door."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Final

from gitmem.errors import ThreatFound
from gitmem.findings import Finding
from gitmem.secret_rules import LONG, RULES, SecretRule
from gitmem.text_folding import INVISIBLE, without_invisible

_Signs = tuple[tuple[str, int], ...]


def _signs(*, is_long: bool, is_run: bool, is_folded: bool) -> _Signs:
    """Return the signs of one kind of rules, each with the number of its rule."""
    kind = (is_long, is_run, is_folded)
    of_kind = (
        (n, rule) for n, rule in enumerate(RULES) if (rule.is_long, rule.is_run, rule.is_folded) == kind
    )
    return tuple((sign, number) for number, rule in of_kind for sign in rule.signs)


_SHORT: Final = _signs(is_long=False, is_run=False, is_folded=False)
_SHORT_FOLDED: Final = _signs(is_long=False, is_run=False, is_folded=True)
_LONG: Final = _signs(is_long=True, is_run=False, is_folded=False)
_LONG_FOLDED: Final = _signs(is_long=True, is_run=False, is_folded=True)
_RUNS: Final = _signs(is_long=True, is_run=True, is_folded=False)
#: What to do about a secret, by field, where another name is no answer.
_HINTS: Final[Mapping[str, str]] = {"message": "Say it in other words, without it."}
_REASON: Final = "It holds a secret, which would travel with every clone."


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Return where secrets stand in a text, also those that invisible characters split."""
    plain, places = (text, None) if _is_plain(text) else without_invisible(text)
    lower = plain.lower()
    return tuple(
        _finding(rule, start, end, places)
        for rule in _candidates(plain, lower)
        for start, end in rule.spans(plain, lower)
    )


def redact_secrets(text: str, known: Container[str] = ()) -> tuple[str, tuple[str, ...]]:
    """Return `text` with each secret as `[redacted: <rule>]`, and the names of the rules that hit.

    Where invisible characters split a secret, the text comes back without any.

    Args:
        text: what is about to be stored.
        known: secrets that stay, because somebody put them there before.
    """
    cleaned, hits = _redacted(text, known)
    if not _is_plain(text):
        bare, bare_hits = _redacted(without_invisible(text)[0], known)
        if len(bare_hits) > len(hits):
            return bare, bare_hits
    return cleaned, hits


def refuse_secret(value: str, what: str) -> str:
    """Return a name in which no redaction is possible: it becomes a ref, a path or an author.

    Args:
        value: as the caller gave it.
        what: how the caller calls it.

    Raises:
        ThreatFound: it holds a secret.
    """
    rules = redact_secrets(value)[1]
    if rules:
        raise ThreatFound(
            f"{what} looks like a secret ({rules[0]})",
            hint=_HINTS.get(what, f"Give another {what}, one without it."),
            field=what,
            rule=rules[0],
        )
    return value


def redact_values(value: Any) -> tuple[Any, tuple[str, ...]]:
    """Return JSON data with the secrets of all texts and names in it replaced, and the rules that hit."""
    hits: list[str] = []

    def walk(item: Any) -> Any:
        if isinstance(item, str):
            cleaned, found = redact_secrets(item)
            hits.extend(found)
            return cleaned
        if isinstance(item, Mapping):
            return {walk(key): walk(part) for key, part in item.items()}
        if isinstance(item, list):
            return [walk(part) for part in item]
        return item

    return walk(value), tuple(hits)


def _is_plain(text: str) -> bool:
    return text.isascii() or INVISIBLE.search(text) is None


def _candidates(text: str, lower: str) -> list[SecretRule]:
    """Return the rules of which a sign stands in a text, and where it must."""
    found = _standing(_SHORT, text) | _standing(_SHORT_FOLDED, lower)
    runs = " ".join([run for run in text.split() if len(run) >= LONG])
    if runs:
        found |= _standing(_RUNS, runs) | _standing(_LONG, text) | _standing(_LONG_FOLDED, lower)
    return [RULES[number] for number in sorted(found)]


def _standing(signs: _Signs, text: str) -> set[int]:
    return {number for sign, number in signs if sign in text}


def _redacted(text: str, known: Container[str]) -> tuple[str, tuple[str, ...]]:
    hits: list[str] = []
    lower = text.lower()
    for rule in _candidates(text, lower):
        spans = [(start, end) for start, end in rule.spans(text, lower) if text[start:end] not in known]
        label = f"[redacted: {rule.name}]"
        for start, end in reversed(spans):
            text = text[:start] + label + text[end:]
        if spans:
            lower = text.lower()
            hits += [rule.name] * len(spans)
    return text, tuple(hits)


def _finding(rule: SecretRule, start: int, end: int, places: list[int] | None) -> Finding:
    if places is not None:
        start, end = places[start], places[end - 1] + 1
    return Finding(rule.name, "all", _REASON, start, end)
