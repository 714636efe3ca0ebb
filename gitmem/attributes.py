"""What `.gitattributes` says of one path: how its bytes change between the work tree and Git's blobs.

Only what changes bytes is evaluated: `text`, `eol`, `crlf`, `ident`. A `filter` or `working-tree-encoding`
would need a program or an encoding of the machine: it is named, with its place, for the caller to refuse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from gitmem.git_objects import encode_path, hash_object
from gitmem.git_pattern import compile_pattern

_EolRule = Literal["binary", "text", "text lf", "text crlf", "auto", "auto lf", "auto crlf"]

#: Attributes that make bytes of the work tree something that only a program of the machine understands.
FOREIGN: Final = ("filter", "working-tree-encoding")

_TRUE: Final = ("true", "yes", "on", "1")
_WITH_EOL: Final[Mapping[tuple[str, str], _EolRule]] = {
    ("auto", "lf"): "auto lf",
    ("auto", "crlf"): "auto crlf",
    ("text", "lf"): "text lf",
    ("text", "crlf"): "text crlf",
}
_ASKED: Final = ("text", "eol", "crlf", "ident", *FOREIGN)
_BLANK: Final = b" \t\r\n"
_MACRO: Final = b"[attr]"
_QUOTED: Final = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPED: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_IDENT: Final = re.compile(rb"\$Id(?::[^$\n]*)?\$")


@dataclass(frozen=True, slots=True)
class AttributeFile:
    """One file of attributes.

    Attributes:
        name: how it is called in messages.
        folder: the folder whose paths it speaks of, `""` for all.
        content: its bytes.
        defines: whether it may define macros (only the outermost ones may).
    """

    name: str
    folder: str
    content: bytes
    defines: bool = True


@dataclass(frozen=True, slots=True)
class Assigned:
    """What a path has for one attribute: True, False, a value, or None where `!name` takes it away."""

    value: str | bool | None
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Conversion:
    """What happens to a path's bytes on their way between work tree and blob.

    Attributes:
        foreign: why only a program of the machine could convert them, None if gitmem can.
    """

    eol: _EolRule
    crlf_in_work_tree: bool
    ident: bool
    foreign: str | None = None

    def to_blob(self, content: bytes, staged: bytes | None = None) -> bytes:
        """Return the bytes that `git add` would store.

        Args:
            content: bytes of the work tree.
            staged: what is staged for the path now; one with CRLF keeps a guessed text from being folded.
        """
        if b"\r" in content:
            content = self._fold(content, staged)
        return _IDENT.sub(b"$Id$", content) if self.ident else content

    def to_work_tree(self, blob: bytes) -> bytes:
        """Return the bytes that a checkout would write."""
        content = _expand_ident(blob) if self.ident else blob
        if not self.crlf_in_work_tree or not re.search(rb"(?<!\r)\n", content):
            return content
        if self.eol.startswith("auto") and (b"\r" in content or _is_binary(content)):
            return content
        return re.sub(rb"(?<!\r)\n", b"\r\n", content)

    def to_work_tree_like(self, blob: bytes, present: bytes) -> bytes:
        """Return bytes that `git add` would store as a blob and that differ least from those there are.

        A line that stays keeps its bytes; a new one gets the line ending that most lines have.

        Args:
            blob: what the file shall be.
            present: the bytes of the work tree now.
        """
        old, new = _lines(present), _lines(blob)
        bare = [line.replace(b"\r\n", b"\n") for line in old]
        first = _shared(bare, new)
        rest = min(len(bare), len(new)) - first
        last = _shared(bare[::-1][:rest], new[::-1][:rest])
        changed = new[first : len(new) - last]
        if 2 * present.count(b"\r\n") > present.count(b"\n"):
            changed = [re.sub(rb"(?<!\r)\n", b"\r\n", line) for line in changed]
        content = b"".join([*old[:first], *changed, *old[len(old) - last :]])
        return content if self.to_blob(content, blob) == blob else self.to_work_tree(blob)

    def _fold(self, content: bytes, staged: bytes | None) -> bytes:
        if self.eol == "binary":
            return content
        if not self.eol.startswith("auto"):
            return content.replace(b"\r\n", b"\n")
        kept = staged is not None and b"\r\n" in staged and not _is_binary(staged)
        return content if kept or _is_binary(content) else content.replace(b"\r\n", b"\n")


@dataclass(frozen=True, slots=True)
class _Line:
    pattern: bytes
    is_macro: bool
    states: tuple[tuple[str, str | bool | None], ...]
    number: int


def _lines(content: bytes) -> list[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+", content)


def _shared(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """Return with how many equal lines both begin."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def evaluate(path: str, files: Sequence[AttributeFile]) -> dict[str, Assigned]:
    """Return what a path has for each attribute that changes bytes.

    Args:
        path: relative to the work tree, with slashes.
        files: all that may speak of it, the one with the last word last.
    """
    macros = _macros(files)
    found: dict[str, Assigned] = {}
    for file in reversed(files):
        inside = path[len(file.folder) + 1 :] if file.folder else path
        if file.folder and not path.startswith(file.folder + "/"):
            continue
        for line in reversed(_parse(file.content)):
            if not line.is_macro and _matches(line.pattern, encode_path(inside)):
                _fill(found, line, file.name, macros)
    return {name: found[name] for name in _ASKED if name in found}


def conversion_of(
    path: str, files: Sequence[AttributeFile], *, autocrlf: str | None = None, eol: str | None = None
) -> Conversion:
    """Return how a path's bytes are converted.

    Args:
        path: relative to the work tree, with slashes.
        files: as for `evaluate`.
        autocrlf: `core.autocrlf` of Git's configuration.
        eol: `core.eol` of Git's configuration.
    """
    found = evaluate(path, files)
    auto = (autocrlf or "").lower()
    default_crlf = auto in _TRUE or (auto != "input" and (eol or "").lower() == "crlf")
    rule = _eol_rule(found, auto)
    crlf = rule in ("text crlf", "auto crlf") or (rule in ("text", "auto") and default_crlf)
    ident = found.get("ident")
    return Conversion(rule, crlf, bool(ident and ident.value is True), _foreign(found))


def _eol_rule(found: Mapping[str, Assigned], auto: str) -> _EolRule:
    text = _text_rule(found)
    if text == "binary":
        return "binary"
    eol = found.get("eol")
    wanted = eol.value if eol and eol.value in ("lf", "crlf") else None
    if wanted is not None:
        kind = "auto" if text == "auto" else "text"
        return _WITH_EOL[kind, str(wanted)]
    if text is not None:
        return text
    return "auto crlf" if auto in _TRUE else "auto lf" if auto == "input" else "binary"


def _text_rule(found: Mapping[str, Assigned]) -> _EolRule | None:
    for name in ("text", "crlf"):
        value = found[name].value if name in found else None
        if value is True:
            return "text"
        if value is False:
            return "binary"
        if value == "auto":
            return "auto"
        if value == "input":
            return "text lf"
    return None


def _foreign(found: Mapping[str, Assigned]) -> str | None:
    for name in FOREIGN:
        assigned = found.get(name)
        if assigned is not None and isinstance(assigned.value, str):
            return f"{name}={assigned.value} in {assigned.name}, line {assigned.line}"
    return None


@lru_cache(maxsize=64)
def _parse(content: bytes) -> tuple[_Line, ...]:
    lines = (_parse_line(raw, number) for number, raw in enumerate(content.split(b"\n"), 1))
    return tuple(line for line in lines if line is not None)


def _parse_line(raw: bytes, number: int) -> _Line | None:
    raw = (raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw).strip(_BLANK)
    if not raw or raw.startswith(b"#"):
        return None
    quoted = _QUOTED.match(raw)
    if quoted:
        pattern, rest = _ESCAPE.sub(_unescape, quoted[1]), raw[quoted.end() :]
    else:
        pattern = raw.split(None, 1)[0]
        rest = raw[len(pattern) :]
    is_macro = pattern.startswith(_MACRO)
    if pattern.startswith(b"!"):
        return None
    states = tuple(_parse_state(word.decode("utf-8", "replace")) for word in rest.split())
    return _Line(pattern.removeprefix(_MACRO) if is_macro else pattern, is_macro, states, number)


def _parse_state(word: str) -> tuple[str, str | bool | None]:
    if word.startswith("-"):
        return word[1:], False
    if word.startswith("!"):
        return word[1:], None
    name, equals, value = word.partition("=")
    return name, value if equals else True


def _macros(files: Sequence[AttributeFile]) -> dict[str, _Line]:
    macros = {"binary": _Line(b"binary", True, (("diff", False), ("merge", False), ("text", False)), 0)}
    for file in files:
        if file.defines:
            macros.update({line.pattern.decode(): line for line in _parse(file.content) if line.is_macro})
    return macros


def _fill(found: dict[str, Assigned], line: _Line, name: str, macros: Mapping[str, _Line]) -> None:
    for attribute, value in reversed(line.states):
        if attribute not in found:
            found[attribute] = Assigned(value, name, line.number)
            if value is True and attribute in macros:
                macro = macros[attribute]
                _fill(found, _Line(line.pattern, False, macro.states, line.number), name, macros)


def _matches(pattern: bytes, path: bytes) -> bool:
    if pattern.endswith(b"/"):
        return False  # folders only, and only files have content
    expression = compile_pattern(pattern.removeprefix(b"/"))
    if expression is None:
        return False
    return expression.fullmatch(path if b"/" in pattern else path.rpartition(b"/")[2]) is not None


def _unescape(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPED.get(code, code)


def _is_binary(content: bytes) -> bool:
    """Guess as Git does: a NUL, a lone CR, or more than one odd control character in 128."""
    if b"\0" in content or re.search(rb"\r(?!\n)", content):
        return True
    odd = len(re.findall(rb"[\x01-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f]", content))
    plain = len(content) - odd - content.count(b"\r\n") - content.count(b"\n")
    return plain >> 7 < odd - content.endswith(b"\x1a")


def _expand_ident(blob: bytes) -> bytes:
    expanded = b"$Id: " + hash_object("blob", blob).encode() + b" $"

    def expand(found: re.Match[bytes]) -> bytes:
        # With a blank before its end it is another system's keyword, which Git leaves alone.
        inside = found[0][5:-1]
        return found[0] if 0 <= inside.find(b" ") < len(inside) - 1 else expanded

    return _IDENT.sub(expand, blob)
