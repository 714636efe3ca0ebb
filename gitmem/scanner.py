"""Finds secrets in text before it is stored; one table of rules, the same for every door.

What it does not find is stored: the table names formats that issuers publish, so that ordinary text is never
hit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, Final

from gitmem.findings import Finding
from gitmem.threats import find_threats


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret.

    Attributes:
        name: shown in receipts and in the text that replaces the secret.
        pattern: matches the secret; the group `secret`, if there is one, is the part to replace.
        sign: a text without which the pattern cannot match; tested first because it is a hundred times
        faster.
    """

    name: str
    pattern: re.Pattern[str]
    sign: str


def _rule(name: str, sign: str, pattern: str) -> Rule:
    return Rule(name, re.compile(pattern), sign)


RULES: Final = (
    # To its end line, or where that is missing as far as it looks like one: headers and base64.
    _rule(
        "private-key",
        "PRIVATE KEY",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]{1,9000}+|-(?!----(?:BEGIN|END) )){0,200}+"
        r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\s|\\[nr])*(?:[A-Z][A-Za-z-]{2,20}: [^\n]{1,80}|[A-Za-z0-9+/=]{16,})(?=\s|\\[nr]|$))*)",
    ),
    _rule("aws-access-key-id", "A", r"(?<![A-Z0-9])(?:AKIA|ASIA|AROA|AIDA)[A-Z2-7]{16}(?![A-Z0-9])"),
    _rule(
        "aws-secret-access-key",
        "secret",
        r"(?i)aws.{0,20}secret.{0,24}?[\"'=:\s]{1,4}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _rule("github-token", "gh", r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36,255}"),
    _rule("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{50,255}"),
    _rule("gitlab-token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,64}"),
    _rule("slack-token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,250}"),
    # Names of things begin with `sk-` too; none has a digit and a stretch of sixteen letters and digits.
    _rule(
        "api-key",
        "sk-",
        r"(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]{0,200}[0-9])(?=[A-Za-z0-9_-]{0,200}[A-Za-z0-9]{16})[A-Za-z0-9_-]{20,200}",
    ),
    _rule("stripe-key", "k_live_", r"(?<![A-Za-z0-9])[sr]k_live_[A-Za-z0-9]{16,128}"),
    _rule("google-api-key", "AIza", r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}"),
    _rule("npm-token", "npm_", r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}"),
    _rule(
        "json-web-token",
        "eyJ",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{16,2000}",
    ),
    _rule(
        "bearer-token",
        "earer",
        r"\b[Bb]earer\s+(?P<secret>(?=[A-Za-z._~+/-]{0,4000}[0-9])[A-Za-z0-9._~+/-]{20,4000}=*)",
    ),
    _rule(
        "url-password",
        "://",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"']{1,80}:(?P<secret>[^\s/@\"'{}$<>]{3,200})@[^\s/]",
    ),
)


@dataclass(frozen=True, slots=True)
class Scan:
    """What the scanner says of one text.

    Attributes:
        findings: what stands against storing it; empty if nothing does.
        allowed_uses: entries of the allow list without which there would be more findings.
    """

    findings: tuple[Finding, ...]
    allowed_uses: tuple[str, ...]


def scan(text: str, scope: str = "strict", allowed: Set[str] = frozenset()) -> Scan:
    """Return what a text holds that must not be stored or shown to a model, threats and secrets together.

    Args:
        text: of any length.
        scope: of the threat rules.
        allowed: this machine's allow list: `RULE`, or `RULE:<12 hex of the text's SHA-256>`.
    """
    found = (*find_threats(text, scope), *find_secrets(text))
    if not found or not allowed:
        return Scan(found, ())
    mark = text_mark(text)
    names = {finding.rule: (finding.rule, f"{finding.rule}:{mark}") for finding in found}
    uses = {rule: next((name for name in both if name in allowed), None) for rule, both in names.items()}
    left = tuple(finding for finding in found if uses[finding.rule] is None)
    return Scan(left, tuple(use for use in uses.values() if use is not None))


def text_mark(text: str) -> str:
    """Return the part of an allow list's entry that names one text."""
    return sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:12]


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Return where secrets stand in a text."""
    return tuple(
        Finding(
            rule.name, "all", "It holds a secret, which would travel with every clone.", *_span(rule, match)
        )
        for rule in RULES
        if rule.sign in text
        for match in rule.pattern.finditer(text)
    )


def redact_secrets(text: str) -> tuple[str, tuple[str, ...]]:
    """Return `text` with each secret as `[redacted: <rule>]`, and the names of the rules that hit."""
    hits: list[str] = []
    for rule in RULES:
        if rule.sign not in text:
            continue
        text, count = rule.pattern.subn(partial(_replacement, rule), text)
        hits += [rule.name] * count
    return text, tuple(hits)


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


def _span(rule: Rule, match: re.Match[str]) -> tuple[int, int]:
    return match.span("secret" if "secret" in rule.pattern.groupindex else 0)


def _replacement(rule: Rule, match: re.Match[str]) -> str:
    label = f"[redacted: {rule.name}]"
    if "secret" not in rule.pattern.groupindex:
        return label
    start, end = match.span("secret")
    whole = match.start()
    return match[0][: start - whole] + label + match[0][end - whole :]
