"""What stands against storing a text or showing it to a model: threats and secrets, less what is allowed."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from gitmem.errors import UsageError
from gitmem.findings import ALLOW_SETTING, MARK_LENGTH, Finding, split_allowed, text_mark, without_allowed
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
    return Scan(*without_allowed((*find_threats(text, scope), *find_secrets(text)), text, allowed))


def parse_allowed(setting: str | None) -> frozenset[str]:
    """Return the allow list that a setting holds, its entries separated by commas or spaces.

    Raises:
        UsageError: an entry names no rule, or its mark is not 12 hex digits.
    """
    return frozenset(_checked(entry) for entry in split_allowed(setting))


def change_allowed(setting: str | None, change: str) -> frozenset[str]:
    """Return an allow list behind a change of it.

    Args:
        setting: the list as it is.
        change: entries that take its place; or, each behind a `+` or `-`, those to add and to take out.

    Raises:
        UsageError: an entry names no rule, its mark is not 12 hex digits, or only some have a sign.
    """
    entries = split_allowed(change)
    signed = {entry for entry in entries if entry[0] in "+-"}
    if not signed:
        return parse_allowed(change)
    if signed != entries:
        hint = "Put + or - before each of them, or before none to replace the whole list."
        raise UsageError("some entries have a sign and some have none", hint=hint)
    gone = {entry[1:] for entry in signed if entry[0] == "-"}
    return split_allowed(setting) - gone | {_checked(entry[1:]) for entry in signed if entry[0] == "+"}


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
