"""How a threat rule says what it looks for: key words in order with bounded room between them.

Every shape is read in linear time: room is bounded, the first key word does not stand again before the
second, and what was found for one part is not looked for again when a later part is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, repeat
from typing import Final, Literal

from gitmem.fast_patterns import first_choices, heads, heads_of, loose, quick, split
from gitmem.pattern_words import first_letters, key_of_sign, words_needed
from gitmem.word_places import HAN, PLAIN_WORD, STEM

Scope = Literal["all", "context", "strict"]

#: Between two words: anything but the end of a sentence; a dot inside a name or an ellipsis does not end one.
_BETWEEN: Final = r"(?:[^\w.!?;。]++|_|\.(?=[\w.])|(?<=\.\.)\.)++"
_WORD: Final = r"[^\W_]++"
_END: Final = r"(?![a-z0-9])"
_LITERAL: Final = re.compile(r"[a-z0-9'\u4e00-\u9fff<$/~.: -]+")
#: Words before a key word that turn it round: to say "never do it" is not to say "do it".
_FORBIDDING: Final = (
    *("do not", "don't", "never", "must not", "should not", "cannot", "not to", "mustn't", "shouldn't"),
    *("不要", "不能", "不得", "不会", "别", "不应", "禁止", "严禁", "切勿", "请勿", "防止", "不可"),
)
_LONGEST_FORBIDDING: Final = 12


@dataclass(frozen=True, slots=True)
class Shape:
    """One wording of a rule.

    Attributes:
        make: returns patterns, of which any matches folded text; made when first needed, because a table of
            hundreds would cost every command time.
        stems: of each group at least one must be how a word of the text begins (Chinese: a pair of
            characters in it), else nothing can match.
        signs: of each group at least one must stand anywhere in the text.
        is_chinese: whether the text must hold Chinese characters.
        unless: a sentence that matches this too is ordinary.
        is_turned: whether "never" and its like before the match make it harmless.
        is_in_sentence: whether it matches within one sentence only.
        parts: patterns that each match a part of what it matches; they tell further words.
        heads: how the words begin with which it begins, as `places_of` has them; empty if it is not known.
    """

    make: Callable[[], tuple[str, ...]]
    stems: tuple[frozenset[str], ...]
    signs: tuple[tuple[str, ...], ...]
    is_chinese: bool
    unless: str | None
    is_turned: bool
    heads: frozenset[str] = frozenset()
    is_in_sentence: bool = False
    parts: tuple[str, ...] = ()

    def words(self) -> list[frozenset[str]]:
        """Return groups of beginnings of words like `stems`, as `parts` tell them."""
        found = (words_needed(part, is_whole=self.is_in_sentence) for part in self.parts)
        return [*chain.from_iterable(found)]


@dataclass(frozen=True, slots=True)
class Rule:
    """One intent that must not reach a prompt.

    Attributes:
        id: shown in replies and receipts, and written in the allow list.
        scope: `all` any text, `context` files and tool results too, `strict` what is remembered.
        reason: one sentence for people.
        trips: a text that is found.
        passes: a text like it that is not.
    """

    id: str
    scope: Scope
    reason: str
    trips: str
    passes: str
    shapes: tuple[Shape, ...]


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern compiled, when it is first needed: a search pays for none of them."""
    return re.compile(pattern)


def words(*parts: str, room: int = 10, unless: str | None = None, is_turned: bool = True) -> Shape:
    """Return the shape of English key words in order.

    Args:
        parts: each a list of alternatives with ` | ` between them.
        room: words allowed between two parts.
        unless: a sentence that matches this too is ordinary.
        is_turned: whether "never …" before it makes it harmless.
    """
    groups = [[_sign(choice) for choice in part.split(" | ")] for part in parts]
    stems = [frozenset(map(key_of_sign, group)) for group in groups if all(map(_is_stem, group))]
    make = partial(_word_patterns, parts, room)
    ordered = tuple(sorted(stems, key=len))
    unread = [part for part, group in zip(parts, groups, strict=True) if not all(map(_is_stem, group))]
    return Shape(
        make,
        ordered,
        (),
        False,
        unless,
        is_turned,
        heads(parts[0]),
        is_in_sentence=True,
        parts=tuple(part.replace(" | ", "|") for part in unread),
    )


def _word_patterns(parts: tuple[str, ...], room: int) -> tuple[str, ...]:
    first = rf"(?:{_BETWEEN}(?!{_choice(parts[0])}{_END}){_WORD}){{0,{room}}}?{_BETWEEN}"
    later = rf"(?:{_BETWEEN}{_WORD}){{0,{room}}}?{_BETWEEN}"
    steps = zip(chain([first], repeat(later)), parts[1:], strict=False)
    return (_head(parts[0]) + _END + _in_order(f"{step}{_choice(part)}{_END}" for step, part in steps),)


def characters(*parts: str, room: int = 10, unless: str | None = None) -> Shape:
    """Return the shape of Chinese key words in order; `room` counts characters."""
    groups = [[_sign(choice) for choice in part.split(" | ")] for part in parts]
    return Shape(partial(_character_patterns, parts, room), _pairs(groups), (), True, unless, True)


def _character_patterns(parts: tuple[str, ...], room: int) -> tuple[str, ...]:
    head = _choice(parts[0])
    steps = chain([rf"(?:(?!{head})[^。!?]){{0,{room}}}?"], repeat(rf"[^。!?]{{0,{room}}}?"))
    return (head + _in_order(step + _choice(part) for step, part in zip(steps, parts[1:], strict=False)),)


def near(
    head: str,
    *parts: str,
    room: int = 200,
    stop: str = r"\n",
    signs: tuple[str, ...] = (),
    unless: str | None = None,
    is_turned: bool = False,
) -> Shape:
    """Return the shape of a word followed by patterns, each within `room` characters.

    Args:
        head: a list of whole words with ` | ` between them.
        parts: patterns as they stand.
        room: characters allowed between two parts.
        stop: characters that must not stand between.
        signs: groups with ` | ` between their members, of which at least one must stand in the text.
        unless: a sentence that matches this too is ordinary.
        is_turned: whether "never …" before it makes it harmless.
    """
    words_of_head = head.split(" | ")
    stems: tuple[frozenset[str], ...] = ()
    if all(_is_stem(_sign(word)) for word in words_of_head):
        stems = (frozenset(key_of_sign(_sign(word)) for word in words_of_head),)
    make = partial(_near_patterns, head, parts, room, stop)
    return Shape(make, stems, _groups(signs), False, unless, is_turned, heads(head), parts=parts)


def _near_patterns(head: str, parts: tuple[str, ...], room: int, stop: str) -> tuple[str, ...]:
    begin = _head(head, "-") + _END
    step = rf"(?:(?!{begin})[^{stop}]){{0,{room}}}?"
    return (begin + r"(?:[^\S\n]*+\n\s*+)?" + _in_order(step + loose(part) for part in parts),)


def raw(
    pattern: str, *signs: str, unless: str | None = None, is_turned: bool = False, is_inside: bool = False
) -> Shape:
    """Return a shape of a pattern as it stands.

    Args:
        pattern: matches folded text; a space in it is any white space.
        signs: groups with ` | ` between their members, of which at least one must stand in the text.
        unless: a sentence that matches this too is ordinary.
        is_turned: whether "never …" before it makes it harmless.
        is_inside: whether the signs may stand inside words, rather than begin them.
    """
    groups = [sign.split(" | ") for sign in signs]
    if HAN.search(pattern):
        return Shape(partial(_raw_patterns, pattern), _pairs(groups), (), True, unless, is_turned)
    begins = [group for group in groups if not is_inside and all(map(PLAIN_WORD.fullmatch, group))]
    stems = tuple(frozenset(sign[:STEM] for sign in group) for group in begins)
    others = tuple(sign for sign, group in zip(signs, groups, strict=True) if group not in begins)
    ordered = tuple(sorted(stems, key=len))
    make = partial(_raw_patterns, pattern)
    return Shape(make, ordered, _groups(others), False, unless, is_turned, parts=(pattern,))


def _raw_patterns(pattern: str) -> tuple[str, ...]:
    whole = loose(pattern)
    choices = split(whole)
    if not HAN.search(whole):
        return tuple(map(quick, choices))
    if len(choices) == 1 and first_choices(quick(whole)):
        return (quick(whole),)
    letters = "".join(map(re.escape, sorted(first_letters(whole))))
    return (f"(?=[{letters}])(?:{whole})" if letters else whole,)


@cache
def patterns_of(shape: Shape) -> tuple[tuple[re.Pattern[str], frozenset[str]], ...]:
    """Return a shape's patterns, compiled when it is first tried, and with which words each begins."""
    return tuple((re.compile(one), shape.heads or heads_of(one)) for one in shape.make())


def is_forbidden(text: str, start: int) -> bool:
    """Say whether the words before a place forbid what follows."""
    return text[max(0, start - _LONGEST_FORBIDDING) : start].rstrip().endswith(_FORBIDDING)


def _in_order(steps: Iterable[str]) -> str:
    """Join steps so that what one has found is kept when a later one fails."""
    *firsts, last = [*steps] or [""]
    return "".join(f"(?>{step})" for step in firsts) + last


def _head(part: str, joined: str = "") -> str:
    """Return the alternatives of a first part, whole words only.

    Where a word begins is looked at behind its first letter, because a search is fast only for a pattern that
    begins with letters.
    """
    endings: dict[str, list[str]] = {}
    for choice in part.split(" | "):
        endings.setdefault(choice[0], []).append(choice[1:].replace(" ", r"\s++"))
    letters = (f"{one}(?<![a-z0-9{joined}]{one})(?:{'|'.join(rest)})" for one, rest in endings.items())
    return "(?:" + "|".join(letters) + ")"


def _choice(part: str) -> str:
    return "(?:" + "|".join(part.split(" | ")).replace(" ", r"\s++") + ")"


def _groups(signs: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    groups = ((max(one.split(), key=len) for one in sign.split(" | ")) for sign in signs)
    return tuple(sorted(map(tuple, groups), key=len))


def _pairs(groups: Iterable[Iterable[str]]) -> tuple[frozenset[str], ...]:
    pairs = [frozenset(sign[:2] for sign in group) for group in groups]
    return tuple(sorted((group for group in pairs if all(len(pair) > 1 for pair in group)), key=len))


def _is_stem(sign: str) -> bool:
    word = sign.rstrip()
    return len(word) > 1 and PLAIN_WORD.fullmatch(word[:STEM]) is not None


def _sign(choice: str) -> str:
    """Return a word, or how it begins, that every text must hold which one alternative matches.

    A word that is whole ends in a space.
    """
    match = _LITERAL.match(choice)
    if match is None:
        return ""
    rest = choice[match.end() :]
    literal = match[0][:-1] if rest[:1] in ("?", "*", "{") else match[0]
    found = [one + " " for one in re.split(r"[ '.-]", literal)]
    if rest:
        found[-1] = found[-1].strip()
    return max(found, key=len, default="").removesuffix(" " if HAN.search(literal) else "\0")
