"""Makes recalled text harmless to the frame in which a prompt has it.

Text by whoever could make an agent remember it must not end the part that it stands in, begin another, or
pass for a turn of the conversation. The one sign that could is replaced by one that looks alike, so a reader
still sees what was there, no offset moves, and the exact text is under its ref.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from gitmem.context_section import SECTION_RULES
from gitmem.text_folding import INVISIBLE

#: Characters that nobody sees may stand between the signs of a tag.
_UNSEEN: Final = rf"(?:{INVISIBLE.pattern}|\s){{0,8}}+"
#: Where a line begins, for models too: `str.splitlines` breaks text at the same characters.
_LINE_START: Final = r"(?:\A|(?<=[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]))"
#: What opens a tag, and its look-alikes that models read as one.
_OPEN: Final = "[<\uff1c\ufe64]"
_TAGS: Final = (
    "system|sys|user|assistant|human|developer|model|bot|admin|tools?"
    "|tool[_-]?(?:calls?|responses?|results?|use)"
    "|functions?|function[_-](?:calls?|results?)|invoke|antml|parameter|instructions?|prompt|think(?:ing)?"
    r"|im_(?:start|end)|(?:start|end)_of_turn|bos|eos|s(?=\s*>)|(?:memory|recalled)?[\s_-]*context|memory"
    r"|documents?|untrusted|conversation|messages?|observation|important|gitmem[\w-]*"
    f"|{'|'.join(SECTION_RULES)}"
)
_TAG: Final = re.compile(rf"{_OPEN}(?={_UNSEEN}/?{_UNSEEN}(?:{_TAGS})(?![^\W_]))", re.IGNORECASE)
#: Whatever a caller puts around a context, recalled text does not end it.
_CLOSING: Final = re.compile(rf"{_OPEN}(?=[/\uff0f][A-Za-z][\w:.-]{{0,40}}\s{{0,8}}[>\uff1e\ufe65])")
#: Vocabularies write their own marks so: `<|im_start|>`; one has bars of full width.
_TOKEN: Final = re.compile(rf"{_OPEN}(?={_UNSEEN}[|\uff5c])")
_BRACKET: Final = re.compile(
    rf"\[(?={_UNSEEN}/?{_UNSEEN}(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS))\b)",
    re.IGNORECASE,
)
_SECTION: Final = re.compile(
    rf"{_LINE_START}([^\S\n\r]*)\[(?=(?:{'|'.join(SECTION_RULES)})\])", re.IGNORECASE
)
_ROLES: Final = (
    "human|assistant|user|system|developer|operator|tool|function|model|ai|bot|agent|chatgpt|gpt|claude"
    "|instruction|response|observation"
    "|用户|系统|助手|人类|ユーザー|システム|アシスタント"
)
#: Marks of lists, headings and quotations that may stand before a role.
_MARKS: Final = rf"{_UNSEEN}(?:[#>*_\-|\u2022(]{{0,6}}|\d{{1,3}}[.)]){_UNSEEN}"
_ROLE: Final = re.compile(
    rf"{_LINE_START}({_MARKS}\[?(?:{_ROLES})"
    rf"(?:{_UNSEEN}(?:message|prompt|note|turn|response|output|result|reply|input|instruction)s?)?"
    rf"[*_)\]]{{0,3}}{_UNSEEN})[:\uff1a\ufe30\ufe55]",
    re.IGNORECASE,
)
#: A role by itself in brackets, as some chat formats have it; a link is none.
_ROLE_BRACKET: Final = re.compile(rf"{_LINE_START}({_MARKS})\[(?=\|?(?:{_ROLES})\|?\](?!\())", re.IGNORECASE)
_FENCE: Final = re.compile(r"`{3,}")
_TILDES: Final = re.compile(rf"{_LINE_START}([^\S\n\r]*)(~{{3,}})")
_OPEN_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")


def neutralise(text: str) -> str:
    """Return recalled text, as long as before, that neither ends nor forges a frame."""
    text = _FENCE.sub(lambda match: "\u02cb" * len(match[0]), text)
    text = _TILDES.sub(lambda match: match[1] + "\u223c" * len(match[2]), text)
    text = _CLOSING.sub("\u2039", keep_frame(text))
    return _ROLE_BRACKET.sub("\\1\uff3b", _ROLE.sub("\\1\u2236", text))


def keep_frame(text: str) -> str:
    """Return text of a managed file, as long as before, without what no such file has a use for.

    Its fences, headings and lists stay: it is read as a document of its own. Control characters and those
    that turn the direction of text around have no use in any.
    """
    text = _CONTROL.sub("\ufffd", text)
    text = _TOKEN.sub("\u2039", _TAG.sub("\u2039", text))
    text = _BRACKET.sub("\uff3b", text)
    return _SECTION.sub("\\1\uff3b", text)


def quote(text: str, indent: str = "    ") -> str:
    """Return recalled text for a line of a list: harmless, and its later lines are indented."""
    lines = neutralise(text).splitlines()
    return f"\n{indent}".join(line.rstrip() for line in lines)


def quote_line(text: str) -> str:
    """Return recalled text on one line."""
    return " ".join(neutralise(text).split())


def close_fences(text: str) -> str:
    """Return a document with a fence that it leaves open closed, so that it does not take in what follows."""
    fence = _left_open(_OPEN_FENCE.finditer(text))
    if not fence:
        return text
    return f"{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def _left_open(marks: Iterable[re.Match[str]]) -> str:
    """Return the fence that is open behind all fence lines of a document."""
    fence = ""
    for mark in marks:
        run, info = mark[1], mark[2]
        if not fence:
            fence = run if run[0] == "~" or "`" not in info else ""
        elif run[0] == fence[0] and len(run) >= len(fence) and not info.strip():
            fence = ""
    return fence
