"""Secrets are found in whatever text holds them, and ordinary text is left alone."""

from __future__ import annotations

import string
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.redaction import redact_secrets, redact_values
from gitmem.secret_rules import RULES

#: Put together at run time, so that scanners of this repository take none of them for real.
ALNUM = (string.ascii_letters + string.digits) * 4
BASE64 = "MIIEpAIBAAKCAQEA7bq98" + ALNUM[:43] + "\n"
PEM = "-----BEGIN {0}PRIVATE KEY{1}-----\n{2}-----END {0}PRIVATE KEY{1}-----"

SECRETS = {
    "private-key": [
        PEM.format("RSA ", "", BASE64 * 8),
        PEM.format("", "", BASE64 * 3),
        PEM.format("OPENSSH ", "", BASE64 * 4),
        PEM.format("PGP ", " BLOCK", f"Version: GnuPG v2\n\n{BASE64 * 4}=abcd\n"),
        PEM.format("RSA ", "", f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,A1B2\n\n{BASE64 * 4}"),
        PEM.format("EC ", "", BASE64 * 2).replace("\n", "\\n"),
        f"-----BEGIN RSA PRIVATE KEY-----\n{BASE64 * 5}",
    ],
    "aws-access-key-id": ["AKIA" + "QWERTYUIOPASDFGH"],
    "aws-secret-access-key": ["aws_secret_access_key = " + ALNUM[:40]],
    "github-token": ["ghp_" + ALNUM[:36], "ghs_" + ALNUM[:40], "github_pat_" + ALNUM[:82]],
    "gitlab-token": ["glpat-" + ALNUM[:20]],
    "slack-token": ["xoxb-" + "123456789012-" + ALNUM[:24]],
    "api-key": [
        "sk-" + ALNUM[20:68],
        "sk-proj-" + ALNUM[20:60] + "-_" + ALNUM[:50],
        "sk-ant-api03-" + ALNUM[:93],
    ],
    "stripe-key": ["sk_live_" + ALNUM[:24], "rk_live_" + ALNUM[:24]],
    "google-api-key": ["AIza" + ALNUM[:35]],
    "npm-token": ["npm_" + ALNUM[:36]],
    "json-web-token": ["eyJ" + ALNUM[:33] + ".eyJ" + ALNUM[:60] + "." + ALNUM[:43]],
    "bearer-token": ["Authorization: Bearer " + ALNUM[30:60] + "0=="],
    "url-password": ["postgres://app:" + "hunter2hunter2" + "@db.example.com/x"],
}

ORDINARY = [
    "The sk-learn-compatible-estimators-and-transformers are in sk-toggleable__content-arrow.",
    "He is the bearer of internationalization-and-localization news.",
    "A file begins with -----BEGIN RSA PRIVATE KEY----- and then comes the key itself, says the manual.",
    "See https://example.com:8080/a@b and ssh://git@example.com:22/x, mail me@example.com",
    "http://localhost:3000/@vite/client",
    "commit 0123456789abcdef0123456789abcdef01234567, sha256:" + "ab" * 32,
    "The secret of a good AKIAI is AWS secret sauce = garlic",
    "uuid 123e4567-e89b-12d3-a456-426614174000 and turn_0123456789abcde",
    "data:image/png;base64," + ALNUM * 3,
    "eyJhbGciOi is how a token begins; gh_pages and ghp_ are names; npm_config_cache is set",
    "密码是什么？パスワードは？",
    "",
]


@pytest.mark.parametrize(
    ("rule", "secret"), [(rule, text) for rule, texts in SECRETS.items() for text in texts]
)
def test_each_kind_of_secret_is_replaced_wherever_it_stands(rule: str, secret: str) -> None:
    """Alone, in a sentence, in code, in JSON: nothing of it is left but the name of its kind."""
    body = secret.rpartition(" ")[2] if rule in ("bearer-token", "aws-secret-access-key") else secret
    if rule == "url-password":
        body = "hunter2hunter2"
    for text in (secret, f"Use {secret} now.", f'x = "{secret}"\n', f"a\n{secret}\nb"):
        cleaned, rules = redact_secrets(text)
        assert rules == (rule,), text
        assert f"[redacted: {rule}]" in cleaned
        assert not any(body[at : at + 16] in cleaned for at in range(0, max(len(body) - 16, 1), 8))
    assert redact_secrets(f"Use {secret} now.")[0].startswith("Use ")


def test_every_rule_is_tried() -> None:
    """A rule without an example may never have matched anything."""
    assert {rule.name for rule in RULES} == set(SECRETS)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    """A scanner that cries wolf costs memories."""
    cleaned, rules = redact_secrets(text)
    assert rules == () or text.startswith("A file begins")
    assert cleaned == text or "and then comes the key itself, says the manual." in cleaned


def test_several_secrets_in_one_text_are_all_named() -> None:
    """The receipt counts them."""
    token = SECRETS["github-token"][0]
    cleaned, rules = redact_secrets(f"{token} and {token}, {SECRETS['npm-token'][0]}")
    assert rules == ("github-token", "github-token", "npm-token")
    assert cleaned == "[redacted: github-token] and [redacted: github-token], [redacted: npm-token]"


def test_what_was_redacted_stays_as_it_is() -> None:
    """Scanning again, as an import of an export does, changes nothing."""
    for texts in SECRETS.values():
        for text in texts:
            cleaned, _ = redact_secrets(f"x {text} y")
            assert redact_secrets(cleaned) == (cleaned, ())


def test_secrets_are_found_at_every_depth() -> None:
    """A tool's input is an object; its names are words of the caller too."""
    token = SECRETS["github-token"][0]
    value: dict[str, Any] = {"a": [{"b": token}, 1, None, True], token: {"c": f"x{token}"}}
    cleaned, rules = redact_values(value)
    assert token not in str(cleaned).replace(f"x{token}", "")
    assert rules == ("github-token", "github-token")
    assert cleaned["a"][1:] == [1, None, True]


@given(st.text(max_size=300))
def test_any_text_survives(text: str) -> None:
    """No text makes the scanner fail, and without a hit it is returned as it was."""
    cleaned, rules = redact_secrets(text)
    assert rules or cleaned == text


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN RSA PRIVATE KEY-----" * 3000,
        "-----BEGIN PRIVATE KEY-----" + "A" * 200_000,
        "-----BEGIN PRIVATE KEY-----" + "Abc: " * 40_000,
        "sk-" * 60_000,
        "sk-" + "a-" * 90_000,
        "Bearer " + "a" * 200_000,
        "Bearer " * 30_000,
        "eyJ" * 60_000,
        "eyJaaaaaaaa." * 15_000,
        "a://" * 50_000,
        "a://b:" + "c" * 200_000,
        "aws secret " * 20_000,
        "AKIA" * 50_000,
        "A" * 200_000,
    ],
    ids=lambda text: text[:12],
)
def test_no_text_takes_long(text: str) -> None:
    """Hostile text must not hold up a turn."""
    begin = time.process_time()
    redact_secrets(text)
    assert time.process_time() - begin < 1.0
