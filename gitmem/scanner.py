"""What stands against storing a text or showing it to a model: threats and secrets, less what is allowed."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from gitmem.errors import UsageError
from gitmem.findings import MARK_LENGTH, Finding, text_mark
from gitmem.redaction import find_secrets, redact_secrets, redact_values
from gitmem.secret_rules import RULES as SECRET_RULES
from gitmem.threat_rules import RULES as THREAT_RULES
from gitmem.threats import INVISIBLE_RULE, find_threats

__all__ = [
    "ALLOW_SETTING",
    "Scan",
    "find_secrets",
    "parse_allowed",
    "redact_secrets",
    "redact_values",
    "scan",
    "text_mark",
]

#: In Git's configuration, on this machine only: what is allowed travels with no clone.
ALLOW_SETTING: Final = "gitmem.scannerAllow"


@dataclass(frozen=True, slots=True)
class Scan:
    """What the scanner says of one text.

    Attributes:
        findings: what stands against storing it; empty if nothing does.
        allowed_uses: entries of the allow list without which there would be more findings.
    """

    findings: tuple[Finding, ...]
    allowed_uses: tuple[str, ...]


def scan(text: str, scope: str = "strict", allowed: AbstractSet[str] = frozenset()) -> Scan:
    """Return what a text holds that must not be stored or shown to a model, threats and secrets together.

    Args:
        text: of any length.
        scope: of the threat rules.
        allowed: this machine's allow list: `RULE`, or `RULE:<12 hex of the text's SHA-256>`.
    """
    found = (*find_threats(text, scope), *find_secrets(text))
    if not found or not allowed:
        return Scan(found, ())
    uses = {finding.rule: _use(finding.rule, text, allowed) for finding in found}
    left = tuple(finding for finding in found if uses[finding.rule] is None)
    return Scan(left, tuple(use for use in uses.values() if use is not None))


def parse_allowed(setting: str | None) -> frozenset[str]:
    """Return the allow list that a setting holds, its entries separated by commas or spaces.

    Raises:
        UsageError: an entry names no rule, or its mark is not 12 hex digits.
    """
    entries = (setting or "").replace(",", " ").split()
    return frozenset(_checked(entry) for entry in entries)


def _use(rule: str, text: str, allowed: AbstractSet[str]) -> str | None:
    if rule in allowed:
        return rule
    one_text = f"{rule}:{text_mark(text)}"
    return one_text if one_text in allowed else None


def _checked(entry: str) -> str:
    rule, colon, mark = entry.partition(":")
    known = {rule.id for rule in THREAT_RULES} | {rule.name for rule in SECRET_RULES}
    if rule not in known and not _is_invisible_rule(rule):
        raise UsageError(f"no scanner rule {rule!r}", hint="docs/security.md lists the rules.", rule=rule)
    if colon and not _is_mark(mark):
        hint = f"It is {rule}:<12 hex digits>, which the refusal shows."
        raise UsageError(f"not a mark of a text: {mark!r}", hint=hint, rule=rule)
    return f"{rule}:{mark.lower()}" if colon else rule


def _is_invisible_rule(rule: str) -> bool:
    code = rule.removeprefix(f"{INVISIBLE_RULE}U+")
    return code != rule and 4 <= len(code) <= 6 and all(digit in "0123456789ABCDEF" for digit in code)


def _is_mark(mark: str) -> bool:
    return len(mark) == MARK_LENGTH and all(digit in "0123456789abcdef" for digit in mark.lower())
