"""The `assembly` record: what a context was made from, so that it can be made again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from gitmem.context_assembly import AssembledContext
from gitmem.errors import UsageError
from gitmem.message_authority import Voice
from gitmem.records import Json, json_type
from gitmem.token_estimate import Tokenizer

#: Of the body; a reader of a higher one says that it cannot make such a context again.
ASSEMBLY_VERSION: Final = 1

_VOICES: Final = ("operator", "runtime", "external")
_MARK: Final = 12
#: Texts that tokenizers count differently.
_PROBES: Final = (
    "The quick brown fox, 1,234.5 times.",
    "混合搜索 こんにちは 안녕하세요 🎉",
    "def f(x):\n    return x[0]\n" * 7,
)


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a caller asks for.

    Attributes:
        input: what the agent is asked now; None for a context without.
        budget: tokens; counts every section.
        session: whose turns and memory stores.
        environment: JSON data; `execution_environment.read_environment` checks it.
        now: RFC 3339; decides what is due.
        tells_time: the text says when it is; by default it does not, so that it does not change by itself.
        voice, origin: whose the input is.
    """

    budget: int
    now: str
    input: str | None = None
    session: str | None = None
    environment: Json = field(default_factory=dict)
    voice: Voice = "operator"
    origin: str = ""
    tells_time: bool = False


@dataclass(frozen=True, slots=True)
class LoadedFiles:
    """The files that a context was made from.

    Attributes:
        blobs: path -> Git blob id of its bytes; None for one that was looked for and is not there.
        frozen: memory store -> blob id that the session sees of it.
        unread: path -> why the file could not be read.
        notes: how many notes there were; None where the record does not say.
        retracted: refs of the notes that were read and retracted.
    """

    blobs: Mapping[str, str | None] = field(default_factory=dict)
    frozen: Mapping[str, str | None] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    notes: int | None = None
    retracted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measures:
    """What besides its inputs a context depends on, so that a difference can be named.

    Attributes:
        program: name and version of what assembled it.
        allowed: stands for what the machine's scanner let pass.
        tokenizer: stands for how tokens were counted.
    """

    program: str
    allowed: str
    tokenizer: str


def check_context_arguments(
    budget: object, told: object, voice: object, origin: object, tokenizer: object
) -> None:
    """Check what a caller gives.

    Raises:
        UsageError: something is not what it should be; `field` names it.
    """
    if not isinstance(budget, int) or isinstance(budget, bool):
        raise UsageError(f"the budget is a number of tokens, not {budget!r}", field="budget")
    if budget < 1:
        raise UsageError(f"the budget is at least 1 token, not {budget}", field="budget", value=budget)
    if told is not None and not isinstance(told, str):
        raise UsageError(f"the input is text, not {json_type(told)}", field="input")
    if voice not in _VOICES:
        raise UsageError(f"the voice is one of {', '.join(_VOICES)}, not {voice!r}", field="voice")
    if not isinstance(origin, str):
        raise UsageError(f"the origin is text, not {json_type(origin)}", field="origin")
    if tokenizer is not None and not callable(tokenizer):
        raise UsageError("the tokenizer is a function that counts the tokens of a text", field="tokenizer")


def checked_tokenizer(count: Tokenizer) -> Tokenizer:
    """Return a tokenizer of a caller that says so where it returns no number of tokens."""

    def counted(text: str) -> int:
        number = count(text)
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise UsageError(f"the tokenizer returned no number of tokens: {number!r}", field="tokenizer")
        return number

    return counted


def check_same(wanted: ContextRequest, given: ContextRequest, named: Collection[str]) -> None:
    """Check that what a caller names is what a recorded context was asked for.

    Args:
        wanted: by the record.
        given: by the caller.
        named: fields that the caller named.

    Raises:
        UsageError: one of them is another.
    """
    for name in sorted(named):
        if getattr(wanted, name) != getattr(given, name):
            raise UsageError(
                f"the context of that commit was recorded with another {name}",
                hint=f"Leave {name} out to have it again, or name the turn before: it makes a new one.",
                field=name,
            )


def assembly_body(
    request: ContextRequest,
    context: AssembledContext,
    loaded: LoadedFiles,
    base: str | None,
    measures: Measures,
) -> dict[str, Any]:
    """Return the body of an `assembly` record.

    Args:
        request: what was asked for.
        context: what was made.
        loaded: of which files.
        base: what HEAD was at the turn before; changes of others are told from there.
        measures: by which it was made.
    """
    return {
        "version": ASSEMBLY_VERSION,
        "input": request.input,
        "voice": request.voice,
        "origin": request.origin,
        "budget": request.budget,
        "environment": dict(request.environment),
        "now": request.now,
        "tells_time": request.tells_time,
        "after": context.commit,
        "head": context.head,
        "base": base,
        "files": dict(sorted(loaded.blobs.items())),
        "frozen": dict(sorted(loaded.frozen.items())),
        "unread": dict(sorted(loaded.unread.items())),
        "notes": loaded.notes,
        "retracted": list(loaded.retracted),
        "program": measures.program,
        "allowed": measures.allowed,
        "tokenizer": measures.tokenizer,
        "cache_key": context.cache_key,
        "fingerprint": context.fingerprint,
        "sections": section_digests(context),
    }


def section_digests(context: AssembledContext) -> dict[str, str]:
    """Return the SHA-256 of each section's text, in the order of the text."""
    return {one.id: text_digest(one.text) for one in context.plan.sections}


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def request_of(body: Json, session: str | None) -> ContextRequest | None:
    """Return what was asked for, from the body of a record; None where the record does not say."""
    budget, now, told = body.get("budget"), body.get("now"), body.get("input")
    voice, origin = body.get("voice"), body.get("origin")
    place = body.get("environment")
    if body.get("version") != ASSEMBLY_VERSION or not isinstance(budget, int) or not isinstance(now, str):
        return None
    return ContextRequest(
        budget,
        now,
        told if isinstance(told, str) else None,
        session,
        place if isinstance(place, Mapping) else {},
        "runtime" if voice == "runtime" else "external" if voice == "external" else "operator",
        origin if isinstance(origin, str) else "",
        body.get("tells_time") is True,
    )


def loaded_of(body: Json) -> LoadedFiles:
    """Return the files that a context was made from."""
    unread, notes, retracted = body.get("unread"), body.get("notes"), body.get("retracted")
    return LoadedFiles(
        _blobs(body.get("files")),
        _blobs(body.get("frozen")),
        {path: reason for path, reason in _blobs(unread).items() if reason is not None},
        notes if isinstance(notes, int) and not isinstance(notes, bool) else None,
        tuple(ref for ref in retracted if isinstance(ref, str)) if isinstance(retracted, list) else (),
    )


def tokenizer_mark(count: Tokenizer) -> str:
    """Return what stands for a way to count tokens: another one counts other texts otherwise."""
    return text_digest(repr([count(text) for text in _PROBES]))[:_MARK]


def allowed_mark(allowed: Iterable[str]) -> str:
    """Return what stands for what a machine's scanner lets pass."""
    return text_digest("\n".join(sorted(allowed)))[:_MARK]


def why_different(
    body: Json, context: AssembledContext, told: Sequence[str], measures: Measures
) -> Sequence[str]:
    """Return why a context is not what it was, a sentence each; the sections where nothing else is known.

    Args:
        body: of the record of what it was.
        context: what it is now.
        told: files and records that are not here any more, a sentence each.
        measures: by which it was made now.
    """
    causes = list(told)
    if body.get("allowed") not in (None, measures.allowed):
        causes.append(
            "what the scanner of this machine lets pass is not what it was: something was released since, or "
            "is refused again (`gitmem config get scannerAllow`)"
        )
    if body.get("tokenizer") not in (None, measures.tokenizer):
        causes.append("tokens were counted by another tokenizer: give that one (`home.context(tokenizer=…)`)")
    if body.get("program") not in (None, measures.program):
        causes.append(f"it was assembled by {body['program']}, this is {measures.program}")
    return causes or [f"the section {name} is not what it was" for name in missing_sections(body, context)]


def missing_sections(body: Json, context: AssembledContext) -> Sequence[str]:
    """Return the sections that are not what they were, in the order of the text."""
    told = body.get("sections")
    before = told if isinstance(told, Mapping) else {}
    now = section_digests(context)
    return [name for name in dict.fromkeys([*before, *now]) if before.get(name) != now.get(name)]


def _blobs(value: object) -> dict[str, str | None]:
    known = value if isinstance(value, Mapping) else {}
    return {
        path: blob for path, blob in known.items() if isinstance(path, str) and isinstance(blob, str | None)
    }
