"""Tells speaking of an attack from making one: quoted examples and descriptions in security notes."""

from __future__ import annotations

from typing import Final

from gitmem.threat_shapes import compiled

_REACH: Final = 120
_QUOTES: Final = "\"'`"
#: Words of somebody who describes.
_DESCRIBES: Final = (
    r"\b(?:attacks?|attackers?|injections?|phrases?|wordings?|such as|e\.g\.|examples?|for instance|"
    r"payloads?|jailbreaks?|malicious|detect(?:s|ed|ion|or)?|"
    r"blocks?|blocked|refus(?:es?|ed)|reject(?:s|ed)?|flag(?:s|ged)?|catch(?:es)?|caught|scanner|"
    r"filter(?:s|ed)?|patterns?|test cases?|attempts?|tried|untrusted|suspicious|known as|so-called|"
    r"owasp|red[- ]team\w*|strings? like|texts? like|"
    r"regex(?:es)?|phishing|hidden text|poison(?:ed|ing)|trips?|matches|classif\w+|guidance|exploits?|"
    r"titles?|titled|heading|slides?|chapters?|books?|papers?|manual|training|talk|articles?|"
    r"fixtures?|detection|strings?|scann(?:er|ing))\b"
    r"|攻击|注入|例如|例子|手册|标题|章|论文|培训|测试样例|字符串|比如|示例|样例|短语|检测|拦截|扫描|"
    r"恶意|之类|所谓|防御|识别|测试用例|越狱|诸如|字样|语句|规则会|过滤|标记|典型|话术|钓鱼|演示"
)
#: Words of somebody who wants the quoted to be done.
_DEMANDS: Final = (
    r"\b(?:(?<!not )(?<!never )(?:obey|comply)(?!ed)|(?:must|should|shall|has to|have to|needs? to|is "
    r"to|are to) be "
    r"(?:obeyed|followed|done|executed|carried out|applied|respected)|is (?:how|what) you|you (?:must|"
    r"should|shall|"
    r"will|are to|have to|need to) (?:now |always )?(?:do|act|behave|follow|comply|answer like)|"
    r"applies to you|"
    r"(?:asks?|wants?|orders?|needs?|requires?|instructs?|requests?|expects?) you to|do (?:as|what|"
    r"exactly)|follow (?:it|them|this|that|these)|carry (?:it|them|"
    r"this) out|act on|execute (?:it|this|them)|treat (?:it|this) as|must be followed)\b"
    r"|照做|照办|执行以下|遵照|按照执行|照此"
)
#: Who attacks, as the subject of a description; then no colon or quote, which would begin what is demanded.
_ATTACKER: Final = (
    r"(?:\b(?:attack(?:s|ers?)?|injection(?:s)?|jailbreaks?|malicious|untrusted|adversar\w+|red[-"
    r" ]team\w*|exploits?|phishing|poisoned|payloads?|hostile|intruders?)\b"
    r"|攻击者?|注入|恶意|越狱|不可信|钓鱼|黑客)[^:;\n\"`]{0,140}$"
)
_ATTACK: Final = (
    r"\b(?:attacks?|attackers?|injections?|jailbreaks?|malicious|exploits?|phishing|adversar\w+)\b|攻击|"
    r"注入|恶意|越狱|钓鱼"
)
#: How a description says what an attack does.
_TOLD_TO_A_MODEL: Final = (
    r"\b(?:tells?|telling|told|makes?|making|asks?|asking|asked|tricks?|tricking|instructs?|gets?|"
    r"convinces?|persuades?|urges?|orders?|"
    r"causes?|lures?|coaxes?) (?:(?:the|a|an|our|your|staff|users?|employees) ?)?(?:\w+ )?(?:to )?$"
    r"|(?:让|诱导|要求|诱使|欺骗|使|迫使)(?:模型|代理|助手|ai|llm|员工|用户|机器人)?$"
)
_LEAD_IN: Final = r"\W{0,4}(?:[a-z0-9.-]+ ){0,3}?[a-z0-9.-]+ ?:|\W{0,4}[\u4e00-\u9fff]{1,6}:"
_DENIES: Final = (
    r"\b(?:not|no|isn't|non)\b[^.!?]{0,12}\b(?:attack|injection|jailbreak|malicious|exploit|phishing)|"
    r"不是(?:攻击|注入|恶意)"
)


#: How far a sentence is looked at, either side of a match.
_SENTENCE_REACH: Final = 240
_SENTENCE_END: Final = r"[.!?](?=\s)|[。!?]|\n\s*\n"


def sentence_around(text: str, start: int, end: int) -> str:
    """Return the sentence that a match stands in, as far as it is near."""
    left = max(0, start - _SENTENCE_REACH)
    for stop in compiled(_SENTENCE_END).finditer(text, left, start):
        left = stop.end()
    stop_right = compiled(_SENTENCE_END).search(text, end, end + _SENTENCE_REACH)
    return text[left : stop_right.start() if stop_right else end + _SENTENCE_REACH]


def is_mention(text: str, start: int, end: int) -> bool:
    """Say whether folded text between two places is only spoken of."""
    sentence = sentence_around(text, start, end)
    if compiled(_DENIES).search(sentence) or compiled(_DEMANDS).search(
        sentence.replace(text[start:end], " ")
    ):
        return False
    if _is_quoted(text, start, end) and _is_described(sentence.replace(text[start:end], " ")):
        return True
    before = sentence[: max(sentence.find(text[start:end]), 0)]
    if compiled(_ATTACKER).search(before):
        return True
    return bool(compiled(_ATTACK).search(before) and compiled(_TOLD_TO_A_MODEL).search(before))


def _is_described(rest: str) -> bool:
    """Say whether the rest of a sentence describes; "example:" in front alone announces."""
    lead = compiled(_LEAD_IN).match(rest)
    if lead and not compiled(_ATTACK).search(lead[0]):
        rest = rest[lead.end() :]
    return bool(compiled(_DESCRIBES).search(rest))


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Say whether a quotation mark opens before the place, in its line, and closes behind it."""
    before = text[max(0, start - _REACH) : start].rpartition("\n")[2]
    after = text[end : end + _REACH].partition("\n")[0]
    return any(before.count(mark) % 2 == 1 and mark in after for mark in _QUOTES)
