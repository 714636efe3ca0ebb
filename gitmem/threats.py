"""Finds text that must not reach a prompt: injected orders, carrying off of data, hidden characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitmem.disguises import disguised_readings
from gitmem.errors import UsageError
from gitmem.invisible_characters import hidden_characters
from gitmem.mentions import is_mention
from gitmem.text_folding import INVISIBLE, FoldedText, fold
from gitmem.threat_rules import IN_SCOPE
from gitmem.threat_shapes import Rule, Shape, compiled, sentence_around

#: What the names of findings about invisible characters begin with; the code point follows.
INVISIBLE_RULE: Final = "invisible_unicode_"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the scanner found.

    Attributes:
        rule: its id.
        scope: the narrowest scope that holds the rule.
        reason: one sentence for people; it repeats nothing of the text.
        start: offset in the text, as it was given, where the match begins.
        end: offset behind it.
    """

    rule: str
    scope: str
    reason: str
    start: int
    end: int


def find_threats(text: str, scope: str = "strict") -> tuple[Finding, ...]:
    """Return what a text holds that must not reach a prompt: at most one finding of each rule.

    Args:
        text: of any length; all of it is read.
        scope: `all` for any text, `context` for files and tool results, `strict` for what is remembered.

    Raises:
        UsageError: there is no such scope.
    """
    rules = IN_SCOPE.get(scope)
    if rules is None:
        raise UsageError(f"no scanner scope {scope!r}", hint=f"Scopes: {', '.join(IN_SCOPE)}.")
    if not text:
        return ()
    findings = list(_hidden(text)) if not text.isascii() and INVISIBLE.search(text) else []
    folded = fold(text)
    found = _matches(folded, rules)
    for reading in disguised_readings(folded):
        found = {**_matches(reading, rules), **found}
    findings += [found[rule.id] for rule in rules if rule.id in found]
    return tuple(findings)


def blocked_message(finding: Finding) -> str:
    """Return what a refused writer is told; it names the rule and repeats nothing of the text."""
    if finding.rule.startswith(INVISIBLE_RULE):
        what = f"invisible unicode character {finding.rule.removeprefix(INVISIBLE_RULE)}"
    else:
        what = f"threat pattern '{finding.rule}'"
    return f"Blocked: the content matches {what}. {finding.reason}"


def _hidden(text: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for place in hidden_characters(text):
        rule = f"{INVISIBLE_RULE}U+{ord(text[place]):04X}"
        if rule not in seen:
            seen.add(rule)
            yield Finding(rule, "all", "It holds a character that nobody sees.", place, place + 1)


def _matches(folded: FoldedText, rules: tuple[Rule, ...]) -> dict[str, Finding]:
    present: dict[str, bool] = {}
    found = {}
    for rule in rules:
        for shape in rule.shapes:
            if _may_match(shape, folded.text, present) and (match := _first(shape, folded.text)):
                start, end = folded.origin(*match.span())
                found[rule.id] = Finding(rule.id, rule.scope, rule.reason, start, end)
                break
    return found


def _may_match(shape: Shape, text: str, present: dict[str, bool]) -> bool:
    for group in shape.signs:
        for sign in group:
            known = present.get(sign)
            if known is None:
                known = present[sign] = sign in text
            if known:
                break
        else:
            return False
    return True


def _first(shape: Shape, text: str) -> re.Match[str] | None:
    """Return the first match that is not ordinary in its sentence and not only spoken of."""
    unless = compiled(shape.unless) if shape.unless else None
    for match in compiled(shape.pattern).finditer(text):
        sentence = sentence_around(text, match.start(), match.end())
        if (unless is None or not unless.search(sentence)) and not is_mention(
            text, match.start(), match.end()
        ):
            return match
    return None
