"""The table of secrets: formats that issuers publish, and values that stand behind the name of a secret.

What it does not find is stored, so it must find much; what it finds for nothing costs memories, so a format
without a mark of its own is only taken where a name says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final


def _always(value: str) -> bool:  # noqa: ARG001
    return True


@dataclass(frozen=True, slots=True)
class SecretRule:
    """One kind of secret.

    Attributes:
        name: shown in receipts and in the text that replaces the secret.
        signs: texts of which one must stand in a text (in lower case, if `is_folded`), else the pattern
            cannot match; tested first because that is a hundred times faster.
        pattern: matches the secret; the group `secret`, if there is one, is the part to replace.
        is_folded: whether the signs are looked for in the text's lower case.
        holds: whether what matched is a secret after all.
        is_long: whether it holds at least `LONG` characters without a space.
        is_run: whether it is one run of characters without a space, sign and all.
    """

    name: str
    signs: tuple[str, ...]
    pattern: str
    is_folded: bool = False
    holds: Callable[[str], bool] = _always
    is_long: bool = True
    is_run: bool = False

    def spans(self, text: str, lower: str) -> Iterator[tuple[int, int]]:
        """Yield where secrets of this kind stand in a text that holds a sign; `lower` is its lower case."""
        # A search that minds no case is three times slower, and the lower case is there already.
        is_lower = self.is_folded and len(lower) == len(text)
        pattern = _compiled(self.pattern, re.IGNORECASE if self.is_folded and not is_lower else 0)
        for match in pattern.finditer(lower if is_lower else text):
            start, end = match.span(self.group)
            if self.holds(text[start:end]):
                yield start, end

    @property
    def group(self) -> str | int:
        """The part of a match to replace."""
        return "secret" if "(?P<secret>" in self.pattern else 0


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)


#: Prose holds no run of characters as long as most secrets are.
LONG: Final = 15
#: Values of examples and templates.
_PLACEHOLDER: Final = re.compile(
    r"(?i)your|example|placeholder|change.?me|redacted|dummy|sample|x{4}|\*{3}|\.{3}|123456789|"
    r"abcdefgh|insert|todo"
    r"|some.?(?:secret|password|token|key)|my.?(?:secret|password|token|key)|replace|getenv|environ|"
    r"process\.env|secrets?\."
)
_UUID: Final = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PARTS: Final = re.compile(r"[^A-Za-z0-9]+")
#: Words of prose and code: lower case, upper case or capitals in front, with a number behind.
_WORDLIKE: Final = re.compile(r"(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[A-Za-z])?(?:[A-Z][a-z]{2,})*[0-9]{0,4}|[0-9]+")
_FEWEST_SIGNS: Final = 6


def is_random(value: str) -> bool:
    """Say whether a value looks made up by a machine or a careful person, rather than a word, path or id."""
    if _PLACEHOLDER.search(value) or _UUID.fullmatch(value):
        return False
    if not re.search("[0-9]", value) or not re.search("[A-Za-z]", value) or len(set(value)) < _FEWEST_SIGNS:
        return False
    if all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", "[!@#$%^&*?]")):
        return True
    return not all(_WORDLIKE.fullmatch(part) for part in _PARTS.split(value))


def _is_chosen(value: str) -> bool:
    """Say whether the password of an address is one, rather than the word for it."""
    return re.search("[^*x.•…_-]", value.lower()) is not None and value.lower() not in (
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "token",
        "xxx",
        "pw",
        "example",
        "changeme",
    )


def _rule(name: str, sign: str, pattern: str, *, is_long: bool = True) -> SecretRule:
    is_run = is_long and _SPACE.search(pattern) is None
    return SecretRule(name, tuple(sign.split(" | ")), _letter_first(pattern), is_long=is_long, is_run=is_run)


def _letter_first(pattern: str) -> str:
    """Return a pattern with its first letter before what must not stand in front: that is found faster."""
    for before in (_A, _W):
        letter, rest = pattern[len(before) : len(before) + 1], pattern[len(before) + 1 :]
        if pattern.startswith(before) and letter.isalnum() and not rest.startswith(("{", "?", "*", "+")):
            return f"{letter}{before[:-1]}{letter}){rest}"
    return pattern


_A: Final = r"(?<![A-Za-z0-9])"
_W: Final = r"(?<![A-Za-z0-9_-])"
#: In a pattern that may match white space.
_SPACE: Final = re.compile(r"\\[sS]| |\[\^|(?<![\\\]])\.[{*+]")
#: Names that a secret's value stands behind; a search is fast for what begins with letters.
_NAMES: Final = (
    r"(?:p(?:ass(?:word|wd|phrase|code)|(?<![a-z]p)wd?|(?<![a-z]p)sk|rivate_KEY)"
    r"|s(?:ecret(?:[ _-]?(?:access)?[ _-]?key)?|(?:ession|igning)_KEY)"
    r"|a(?:pi[ _-]?(?:key|secret|token)|(?:ccess|uth|ccount|pp)_KEY)"
    r"|r(?:efresh_KEY)|b(?:(?:earer|ot)_KEY)|d(?:eploy_KEY)|e(?:ncryption_KEY)|w(?:ebhook_KEY)|m(?:aster_KEY)"
    r"|c(?:lient_KEY|redentials?)"
    r"|t(?<!page_t)(?<!paget)(?<!csrf_t)(?<!xsrf_t)(?<!cursor_t)(?<!sync_t)(?<!cancellation_t)oken"
    r"|密码|口令|密钥|令牌|私钥|密碼|金鑰|權杖)"
).replace("_KEY", "[ _-]?(?:key|token|secret)")
#: Whose it is, in prose.
_OWNER: Final = r"(?:\s(?:of|for|on|at|to|in)(?:\s[\w.@-]{1,40}){1,3}?(?=\s(?:is|=)\s|\s?[:：]))?"
_VALUE: Final = r"(?P<secret>(?![A-Za-z_.]+[(\[])[A-Za-z0-9+/=_.~!@#$%^&*?-]{8,400})(?![(\[{])"

RULES: Final = (
    # To its end line, or where that is missing as far as it looks like one: headers and base64.
    _rule(
        "private-key",
        "PRIVATE KEY",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]{1,9000}+|-(?!----(?:BEGIN|END) )){0,200}+"
        r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\s|\\[nr])*(?:[A-Z][A-Za-z-]{2,20}: [^\n]{1,80}|[A-Za-z0-9+/=]{16,})(?=\s|\\[nr]|$))*)",
        is_long=False,
    ),
    _rule("age-secret-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{50,64}"),
    _rule(
        "putty-private-key", "Private-Lines", r"Private-Lines: [0-9]{1,3}\s+(?:[A-Za-z0-9+/=]{16,}\s*){1,80}"
    ),
    # A pair, as it is shown once: the id first, then the key, with or without a word between.
    _rule(
        "aws-secret-access-key",
        "AKIA | ASIA",
        r"(?:AKIA|ASIA)[A-Z2-7]{16}(?:[^A-Za-z0-9]{1,8}+[A-Za-z]{0,12}+){0,4}?[^A-Za-z0-9]{1,8}+"
        r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _rule(
        "aws-access-key-id",
        "AKIA | ASIA | AROA | AIDA | ABIA | ACCA",
        r"(?<![A-Z0-9])(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Z0-9])",
    ),
    _rule(
        "aws-secret-access-key",
        "secret | SECRET | Secret",
        r"(?i)aws.{0,20}secret.{0,24}?[\"'=:\s]{1,4}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _rule(
        "azure-storage-key",
        "AccountKey= | SharedAccessKey=",
        r"(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})",
    ),
    _rule("azure-sas-token", "sig=", r"[?&]sig=(?P<secret>[A-Za-z0-9%+/]{40,80}(?:%3[dD]|=)?)"),
    _rule(
        "azure-client-secret",
        "Q~",
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])",
    ),
    _rule("github-token", "gh", r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36,255}"),
    _rule("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{50,255}"),
    _rule("gitlab-token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,64}"),
    _rule(
        "gitlab-token",
        "gldt- | glrt- | glcbt- | glptt- | glft- | glimt- | glagent- | glsoat- | gloas-",
        _W + r"gl(?:dt|rt|cbt|ptt|ft|imt|agent|soat|oas)-[A-Za-z0-9_-]{20,64}",
    ),
    _rule("slack-token", "xox", r"xox[abeoprs]-(?=[A-Za-z-]{0,200}[0-9])[A-Za-z0-9-]{10,250}"),
    _rule("slack-token", "xapp-", r"xapp-[0-9]-[A-Z0-9]{8,16}-[0-9]{8,16}-[a-f0-9]{32,80}"),
    _rule(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?P<secret>(?:services|workflows|triggers)/[A-Za-z0-9/_-]{30,120})",
    ),
    _rule(
        "discord-webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/(?P<secret>[0-9]{16,20}/[A-Za-z0-9_-]{50,90})",
    ),
    _rule(
        "discord-bot-token",
        ".",
        r"[MNO](?<![A-Za-z0-9_.-].)[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Z"
        r"a-z0-9_-])",
    ),
    _rule(
        "teams-webhook",
        ".webhook.office.com",
        r"\.webhook\.office\.com/(?P<secret>webhookb2/[A-Za-z0-9@/-]{60,250})",
    ),
    _rule("telegram-bot-token", ":AA", r"(?<![0-9A-Za-z])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
    # Names of things begin with `sk-` too; none has a digit and a stretch of sixteen letters and digits.
    _rule(
        "api-key",
        "sk-",
        r"(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]{0,200}[0-9])(?=[A-Za-z0-9_-]{0,200}[A-Za-z0-9]{16})[A-Za-"
        r"z0-9_-]{20,200}",
    ),
    _rule("hugging-face-token", "hf_ | api_org_", _A + r"(?:hf_|api_org_)[A-Za-z]{30,40}(?![A-Za-z0-9])"),
    _rule("groq-key", "gsk_", _A + r"gsk_[A-Za-z0-9]{40,60}"),
    _rule("xai-key", "xai-", _W + r"xai-[A-Za-z0-9]{60,90}"),
    _rule("perplexity-key", "pplx-", _W + r"pplx-[A-Za-z0-9]{40,60}"),
    _rule("replicate-token", "r8_", _A + r"r8_[A-Za-z0-9]{37,40}"),
    _rule("stripe-key", "k_live_", r"(?<![A-Za-z0-9])[sr]k_live_[A-Za-z0-9]{16,128}"),
    _rule(
        "stripe-key",
        "k_test_ | whsec_",
        _A + r"(?:[sr]k_test_[A-Za-z0-9]{24,128}|whsec_[A-Za-z0-9+/=]{32,64})",
    ),
    _rule("google-api-key", "AIza", r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}"),
    _rule(
        "google-oauth",
        "GOCSPX- | ya29. | 1//0",
        _W + r"(?:GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{30,400}|1//0[A-Za-z0-9_-]{38,100})",
    ),
    _rule("npm-token", "npm_", r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}"),
    _rule("npm-token", "_authToken=", r"_authToken=(?P<secret>[A-Za-z0-9_+/=-]{20,200})"),
    _rule("pypi-token", "pypi-", _W + r"pypi-[A-Za-z0-9_-]{60,300}"),
    _rule("rubygems-key", "rubygems_", _A + r"rubygems_[a-f0-9]{48}"),
    _rule("crates-token", "cio", _A + r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _rule("docker-token", "dckr_", _A + r"dckr_[po]at_[A-Za-z0-9_-]{25,40}"),
    _rule("twilio-key", "SK", r"(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _rule("sendgrid-key", "SG.", _A + r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{40,46}"),
    _rule("mailgun-key", "key-", _W + r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _rule("mailchimp-key", "-us", _A + r"[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])"),
    _rule("heroku-key", "HRKU-", _W + r"HRKU-[A-Za-z0-9_-]{36,70}"),
    SecretRule(
        "heroku-key",
        ("heroku",),
        r"heroku[a-z _-]{0,20}(?:key|token)[\"']?\s{0,3}[=:]\s{0,3}[\"']?(?P<secret>[0-9a-f]{8}(?:"
        r"-[0-9a-f]{4}){3}-[0-9a-f]{12})",
        True,
    ),
    _rule("digitalocean-token", "_v1_", _A + r"do[opr]_v1_[a-f0-9]{64}"),
    _rule("databricks-token", "dapi", _A + r"dapi[a-f0-9]{32}(?:-[0-9])?(?![A-Za-z0-9])"),
    _rule("shopify-token", "shp", _A + r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    _rule(
        "square-token",
        "sq0 | EAAA",
        _W + r"(?:sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{60})(?![A-Za-z0-9_-])",
    ),
    _rule("linear-key", "lin_", _A + r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _rule(
        "notion-token",
        "secret_ | ntn_",
        _A + r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,50})(?![A-Za-z0-9])",
    ),
    _rule("vault-token", "hvs. | hvb. | hvr.", _A + r"hv[sbr]\.[A-Za-z0-9_-]{24,300}"),
    _rule("terraform-token", ".atlasv1.", _A + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,80}"),
    _rule("atlassian-token", "ATATT3 | ATCTT3", _A + r"AT[AC]TT3[A-Za-z0-9_=-]{100,250}"),
    _rule(
        "grafana-token",
        "glsa_ | glc_",
        _A + r"(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/=]{32,400})",
    ),
    _rule("sentry-token", "sntrys_ | sntryu_", _A + r"sntry[su]_[A-Za-z0-9+/=_-]{40,300}"),
    _rule("newrelic-key", "NRAK-", _W + r"NRAK-[A-Z0-9]{27}"),
    _rule("postman-key", "PMAK-", _W + r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _rule("figma-token", "figd_", _A + r"figd_[A-Za-z0-9_-]{38,60}"),
    _rule("airtable-token", "pat", _A + r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _rule("supabase-token", "sbp_", _A + r"sbp_[a-f0-9]{40}"),
    _rule("planetscale-token", "pscale_", _A + r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,64}"),
    _rule("doppler-token", "dp.", _A + r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,64}"),
    _rule("fly-token", "fm1 | fm2", _A + r"fm[12][ar]?_[A-Za-z0-9+/=,_]{80,2000}"),
    _rule("pulumi-token", "pul-", _W + r"pul-[a-f0-9]{40}"),
    _rule("tailscale-key", "tskey-", _W + r"tskey-[a-z]{2,12}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,50}"),
    _rule("buildkite-token", "bkua_ | bkaj_", _A + r"bk(?:ua|aj)_[a-f0-9]{40}"),
    _rule("circleci-token", "CCIPAT_ | CCIPRJ_", _A + r"CCIP(?:AT|RJ)_[A-Za-z0-9]{16,30}_[a-f0-9]{40}"),
    _rule("netlify-token", "nfp_ | nfc_", _A + r"nf[pc]_[A-Za-z0-9]{36,40}"),
    _rule("sonar-token", "sqp_ | squ_ | sqa_", _A + r"sq[pua]_[a-f0-9]{40}"),
    _rule("clojars-token", "CLOJARS_", _A + r"CLOJARS_[a-f0-9]{60}"),
    _rule("nuget-key", "oy2", _A + r"oy2[a-z0-9]{43}(?![A-Za-z0-9])"),
    _rule("bitbucket-token", "ATBB", _A + r"ATBB[A-Za-z0-9_=-]{24,40}(?![A-Za-z0-9_=-])"),
    _rule("1password-token", "ops_eyJ", _A + r"ops_eyJ[A-Za-z0-9_=-]{80,2000}"),
    _rule("contentful-token", "CFPAT-", _W + r"CFPAT-[A-Za-z0-9_-]{43}"),
    _rule("langsmith-key", "lsv2_", _A + r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    _rule("nvidia-key", "nvapi-", _W + r"nvapi-[A-Za-z0-9_-]{50,80}"),
    _rule("pinecone-key", "pcsk_", _A + r"pcsk_[A-Za-z0-9_]{50,90}"),
    _rule("tavily-key", "tvly-", _W + r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{28,40}"),
    _rule("cerebras-key", "csk-", _W + r"csk-[a-z0-9]{40,60}"),
    _rule("elevenlabs-key", "sk_", _A + r"sk_[a-f0-9]{48}(?![A-Za-z0-9])"),
    _rule(
        "launchdarkly-key",
        "sdk- | api- | mob-",
        _W + r"(?:sdk|api|mob)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    _rule("sourcegraph-token", "sgp_", _A + r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
    _rule("typeform-token", "tfp_", _A + r"tfp_[A-Za-z0-9_.=-]{40,64}"),
    _rule("readme-key", "rdme_", _A + r"rdme_[a-z0-9]{60,80}"),
    _rule("shippo-token", "shippo_live_", _A + r"shippo_live_[a-f0-9]{40}"),
    _rule("prefect-key", "pnu_", _A + r"pnu_[A-Za-z0-9]{36}"),
    _rule("cloudflare-key", "v1.0-", _W + r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    _rule("alibaba-key-id", "LTAI", _A + r"LTAI[A-Za-z0-9]{12,20}(?![A-Za-z0-9])"),
    _rule("tencent-key-id", "AKID", _A + r"AKID[A-Za-z0-9]{32,44}(?![A-Za-z0-9])"),
    _rule("mapbox-token", "sk.eyJ", _W + r"sk\.eyJ[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{20,40}"),
    _rule("facebook-token", "EAA", _A + r"EAA[A-Za-z0-9]{90,250}(?![A-Za-z0-9])"),
    _rule("twitter-token", "AAAAAAAAA", _A + r"A{20,24}[A-Za-z0-9%]{60,120}(?![A-Za-z0-9%])"),
    _rule("dropbox-token", "sl.", _A + r"sl\.(?:u\.)?[A-Za-z0-9_-]{120,1500}"),
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
    SecretRule(
        "basic-auth",
        ("basic ",),
        r"authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?basic\s{1,3}(?P<secret>[A-Za-z0-9+/]{8,400}={0,2})",
        True,
        is_long=False,
    ),
    SecretRule(
        "url-password",
        ("://",),
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"']{0,80}:(?P<secret>[^\s/@\"'{}$<>]{3,200})@[^\s/]",
        holds=_is_chosen,
        is_long=False,
    ),
    SecretRule(
        "netrc-password",
        ("machine ",),
        r"machine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(?P<secret>[^\s<${\[][^\s]{3,200})",
        holds=_is_chosen,
        is_long=False,
    ),
    SecretRule(
        "assigned-secret",
        (
            *(
                "passw",
                "passphrase",
                "passcode",
                "pwd",
                "pw:",
                "pw =",
                "pw=",
                "psk",
                "secret",
                "apikey",
                "api key",
                "api_key",
                "api-key",
                "token",
                "credential",
            ),
            *("_key", "-key", " key", "密码", "口令", "密钥", "令牌", "私钥", "密碼", "金鑰", "權杖"),
        ),
        rf"{_NAMES}[0-9]{{0,2}}[\"'`*]{{0,3}}{_OWNER}\s{{0,8}}(?:=>|:=|==?|[:：]|是|为|為|"
        rf"\bis\b)\s{{0,8}}[\"'`]{{0,3}}{_VALUE}",
        is_folded=True,
        holds=is_random,
        is_long=False,
    ),
)
