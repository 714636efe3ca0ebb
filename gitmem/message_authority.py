"""Whose voice a recorded message is: the operator's only if everything about it says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from gitmem.records import Json

#: Who speaks. What came from a timer, a task or a channel is never the operator.
Voice = Literal["operator", "runtime", "external", "assistant", "tool"]

#: Later ones know less what the operator wants; of two signs the later one counts.
_INPUTS: Final[tuple[Voice, ...]] = ("operator", "runtime", "external")
_AUTHORITIES: Final[Mapping[str, Voice]] = {
    "operator_instruction": "operator",
    "trusted_operator": "operator",
    "runtime_instruction": "runtime",
    "trusted_system": "runtime",
}
_ORIGINS: Final[Mapping[str, Voice]] = {
    "operator": "operator",
    "system": "runtime",
    "timer": "runtime",
    "task": "runtime",
}


def voice_of(message: Json) -> Voice:
    """Return whose voice the body of a `message` record is.

    Without authority and origin a user's message is the operator's: callers that know others say so. Of
    authority and origin the one that is trusted less counts, and an unknown one is not trusted.
    """
    role = message.get("role")
    if role == "assistant":
        return "assistant"
    if role == "tool":
        return "tool"
    signs: list[Voice] = ["operator" if role == "user" else "runtime"]
    authority, origin = message.get("authority"), message.get("origin")
    if authority is not None:
        signs.append(_AUTHORITIES.get(authority, "external") if isinstance(authority, str) else "external")
    if origin is not None:
        signs.append(_ORIGINS.get(origin_name(origin), "external"))
    return max(signs, key=_INPUTS.index)


def origin_name(origin: object) -> str:
    """Return the name of an origin: text like `channel:general`, or an object with `kind` or one field."""
    if isinstance(origin, Mapping):
        name = origin.get("kind", origin.get("type", next(iter(origin), "") if len(origin) == 1 else ""))
        return name if isinstance(name, str) else ""
    return origin.partition(":")[0] if isinstance(origin, str) else ""
