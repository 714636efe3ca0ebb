"""Shapes that match where an order stands: where a sentence begins, or after "please" and the like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from gitmem.threat_shapes import Shape, words

#: What instructions that a model works under are called.
ORDERS: Final = (
    "instructions? | directives? | directions | guidelines? | rules? | orders? | commands? | polic(?:y|ies)"
    " | constraints? | restrictions? | prompts? | guidance | programming | system messages? | training"
    " | guardrails? | principles"
)
#: The same, where the word alone tells that a model is meant.
STRONG_ORDERS: Final = "instructions? | directives? | guidelines? | system prompts? | system messages?"
#: What binds a model.
LIMITS: Final = (
    "restrictions? | limits? | limitations? | rules? | guidelines? | filters? | filtering | guardrails? |"
    " constraints? | boundaries | ethics | morals | censorship | content polic(?:y|ies) | safeguards? |"
    " safety (?:rules|limits|checks|guidelines|filters|measures|protocols)"
)
USER: Final = (
    "the user | the users | your user | the human | your human | the operator | your operator | the owner"
    " | your owner | the administrator | the admin"
)

#: Words before an order, each with what follows it.
_LEADS: Final = (
    *("please", "must", "should", "shall", "always", "then", "and", "now", "just", "first", "also", "only"),
    *("immediately", "instead", "have to", "need to", "needs to", "are to", "you to", "going to", "you will"),
    *("you can", "you may", "required to", "ordered to", "told to", "simply", "silently", "secretly", "or"),
    *(
        "ought to",
        "so",
        "next",
        "quietly",
        "hereby",
        "never forget to",
        "sure to",
        "remember to",
        "task is to",
    ),
    *("job is to", "goal is to", "agent will", "assistant will", "regularly", "periodically", "you'll"),
)
_MARKS: Final = r".!?:;,\"'()>\n\]*#`-"
_PLACE: Final = (
    rf"(?:(?<![\s\S])|(?<=[{_MARKS}])|(?<=[{_MARKS}]\s)|"
    + "|".join(f"(?<=\\b{lead}\\s)".replace(" ", r"\s") for lead in _LEADS)
    + ")"
)


def order(
    *parts: str,
    room: int = 10,
    signs: tuple[str, ...] = (),
    unless: str | None = None,
    is_turned: bool = True,
) -> Shape:
    """Return the shape of English key words of which the first stands where an order begins.

    Args:
        parts: each a list of alternatives with ` | ` between them.
        room: words allowed between two parts.
        signs: texts that all must stand in the text.
        unless: a sentence that matches this too is ordinary.
        is_turned: whether "never …" before it makes it harmless.
    """
    shape = words(*parts, room=room, unless=unless, is_turned=is_turned)
    groups = tuple((sign,) for sign in signs)
    return replace(shape, make=partial(_ordered, shape.make), signs=groups)


def _ordered(make: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(_PLACE + pattern for pattern in make())
