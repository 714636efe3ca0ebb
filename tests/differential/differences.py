"""Compares the two answers to one step, and knows by name where gitmem does otherwise on purpose.

The names are those of docs/decisions/0009. A difference counts as known only together with what gitmem
promises instead: a fact that differs and that no named difference explains is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from differential import model
from differential.facts import Facts
from differential.sequences import POISON, SECRET
from gitmem.entries import entry_id, format_store, parse_store
from gitmem.memory_rules import usage_short

#: Keys that only gitmem's replies have.
EXTRA_KEYS: Final = frozenset(
    (
        "committed reason source_ref unchanged conflicts remediation pointer replaced_entry replaced_entries"
    ).split()
)
COMPARED: Final = (
    "keys success done target usage entry_count current_entries matches category numbers entries".split()
)
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Step:
    """One call and both answers to it.

    Attributes:
        call: its arguments.
        limits: of both stores.
        before: bytes of its target, as gitmem's home had them; None where there was no file.
        failures: counted failures of the turn before it.
        theirs, ours: what Hermes and gitmem answered and made of the file.
    """

    call: Mapping[str, Any]
    limits: Mapping[str, int]
    before: bytes | None
    failures: int
    theirs: Facts
    ours: Facts

    @property
    def limit(self) -> int:
        """Limit of the target."""
        return self.limits[target_of(self.call)]

    @property
    def is_undecodable(self) -> bool:
        """Whether nobody can read the file."""
        return text_of(self.before) is None

    @property
    def entries(self) -> list[str]:
        """What the store held."""
        return entries_of(self.before)

    @property
    def operations(self) -> list[Mapping[str, Any]]:
        """Its operations that are objects."""
        batch = self.call.get("operations") or [self.call]
        return [one for one in batch if isinstance(one, Mapping)] if isinstance(batch, list) else []

    def differing(self) -> set[str]:
        """Return the names of the facts in which the answers differ."""
        if "raised" in self.theirs:
            return {"raised"}
        ours = {**self.ours, "keys": sorted(set(self.ours["keys"]) - EXTRA_KEYS)}
        theirs = {**self.theirs, "keys": sorted(set(self.theirs["keys"]) - EXTRA_KEYS)}
        found = {name for name in COMPARED if ours.get(name) != theirs.get(name)}
        if "numbers" in found and set(theirs.get("numbers", ())) <= set(ours.get("numbers", ())):
            found.remove("numbers")  # gitmem may name more figures
        return found


def target_of(call: Mapping[str, Any]) -> str:
    """Return the store that a call changes, if it changes one."""
    return "user" if call.get("target") == "user" else "memory"


def text_of(content: bytes | None) -> str | None:
    """Return the text of a file, None where it is not UTF-8."""
    try:
        return (content or b"").decode()
    except UnicodeDecodeError:
        return None


def entries_of(content: bytes | None) -> list[str]:
    """Return the texts of a store's entries, as gitmem reads them."""
    return [entry.text for entry in parse_store(text_of(content) or "")]


def hermes_entries(content: bytes | None) -> list[str]:
    """Return the texts of a store's entries, as Hermes reads them."""
    text = (text_of(content) or "").replace("\r\n", "\n").replace("\r", "\n")
    return list(dict.fromkeys(stripped for piece in text.split("\n§\n") if (stripped := piece.strip())))


def clean_form(content: bytes | None) -> bytes | None:
    """Return the file that holds the same entries as a memory tool writes it."""
    if content is None or text_of(content) is None:
        return content
    return format_store(parse_store(text_of(content) or "")).removesuffix("\n").encode()


# --- Differences of the file: the step is asked again with the same entries, cleanly written ---


def needs_restating(step: Step) -> Iterator[str]:
    """Yield why Hermes is asked again, about the same thing put so that it does not differ on purpose."""
    if step.is_undecodable:
        return
    if step.theirs.get("category") == "drift" or _reads_otherwise(step.before):
        yield "an edit by hand is an ordinary change"
    if any("\r" in str(one.get(name)) for one in step.operations for name in ("content", "old_text")):
        yield "line endings of content become LF"
    if step.theirs.get("category") == "missing old_text":
        yield "a listing is read from the disk"
    if str(step.theirs.get("category")).endswith("by U+200D"):
        yield "joiners inside emoji are no threat"


def restated_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call with the line endings that gitmem stores."""
    return {name: _with_lf(value) for name, value in call.items()}


def _with_lf(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n")
    if isinstance(value, list):
        return [_with_lf(one) for one in value]
    return {name: _with_lf(one) for name, one in value.items()} if isinstance(value, dict) else value


def _reads_otherwise(content: bytes | None) -> bool:
    """Say whether Hermes reads other entries out of a file than gitmem."""
    return hermes_entries(content) != entries_of(content)


# --- Differences of the answer ---

#: Which of the facts that differ a difference explains; empty where it does not apply.
Explains = Callable[[Step, set[str]], set[str]]


def _undecodable(step: Step, differing: set[str]) -> set[str]:
    """Refused, and the bytes stay; Hermes raises, or tells of the store that it last could read."""
    return differing if step.is_undecodable and _is_plain_refusal(step) else set()


def _other_type(step: Step, differing: set[str]) -> set[str]:
    """Refused where it is needed, else passed over; Hermes raises, or takes a false value for none."""
    batch = step.call.get("operations")
    values = [
        one.get(name) for one in (step.call, *step.operations) for name in ("action", "content", "old_text")
    ]
    applies = any(not isinstance(value, str | None) for value in values) or (
        isinstance(batch, list) and not all(isinstance(one, dict | None) for one in batch)
    )
    fits = _is_plain_refusal(step) or _as_played(step) is not None
    return differing if applies and fits and not step.theirs.get("success") else set()


def _blank_old_text(step: Step, differing: set[str]) -> set[str]:
    """The same listing as for a missing one, before anything else is asked for."""
    old_text = step.call.get("old_text")
    applies = (
        not step.call.get("operations")
        and step.call.get("action") in ("replace", "remove")
        and isinstance(old_text, str)
        and old_text != ""
        and not old_text.strip()
        and str(step.theirs.get("category")).startswith("refused")
        and step.ours["category"] == "missing old_text"
        and step.ours["usage"] == usage_short(len("\n§\n".join(step.entries)), step.limit)
    )
    return differing if applies else set()


def _secret(step: Step, differing: set[str]) -> set[str]:
    """Refused as a threat is, by the rule for what issued the secret."""
    named = any(SECRET in str(one.get("content")) for one in step.operations)
    found = str(step.ours["category"]).endswith(" by github-token")
    return differing if named and found and _is_plain_refusal(step) else set()


def _unknown_action(step: Step, differing: set[str]) -> set[str]:
    """Named `unknown`, not repeated."""
    theirs, ours = str(step.theirs.get("category")), str(step.ours["category"])
    place, bracket, _ = theirs.partition(" (")
    return {"category"} if place.startswith("aborted") and ours == f"{place}{bracket}unknown)" else set()


def _poison(step: Step, differing: set[str]) -> set[str]:
    """A notice stands in the place of each poisoned entry, and of no other."""
    return {name for name in ("current_entries", "matches") if name in differing and _is_masked(step, name)}


def _is_masked(step: Step, name: str) -> bool:
    theirs, ours = step.theirs.get(name), step.ours.get(name)
    if theirs is None or ours is None or len(theirs) != len(ours):
        return False
    pairs = list(zip(_whole(theirs, step.entries), ours, strict=True))
    return all(
        mine.startswith("[BLOCKED:") if is_poisoned(text) else _shows(mine, text) for text, mine in pairs
    )


def _whole(shown: Sequence[str], entries: Sequence[str]) -> list[str]:
    """Return the entries whose beginnings Hermes shows."""
    return [next((entry for entry in entries if _shows(text, entry)), text) for text in shown]


def _shows(shown: str, entry: str) -> bool:
    return shown == entry or shown == entry[:80] + "..."


def is_poisoned(text: str) -> bool:
    """Say whether a text holds one of the threats that the sequences are made of."""
    lowered = text.lower()
    return any(poison in lowered for poison in POISON)


def _long_listing(step: Step, differing: set[str]) -> set[str]:
    """Past twice the limit, at least 4,000 characters, an entry is shown by its id."""
    theirs, ours = step.theirs.get("current_entries"), step.ours.get("current_entries")
    if (
        not theirs
        or not ours
        or len(theirs) != len(ours)
        or sum(map(len, theirs)) <= max(2 * step.limit, 4000)
    ):
        return set()
    pairs = zip(theirs, ours, strict=True)
    fits = all(mine == text or f"entry:{entry_id(text)}" in mine for text, mine in pairs)
    return {"current_entries"} if fits else set()


#: Names of docs/decisions/0009.
DIFFERENCES: Final[Mapping[str, Explains]] = {
    "what cannot be read is refused": _undecodable,
    "an argument of another type is refused": _other_type,
    "a blank old_text is a missing one": _blank_old_text,
    "an unknown action is not repeated": _unknown_action,
    "nothing poisoned is echoed": _poison,
    "secrets are refused": _secret,
    "a long listing is cut": _long_listing,
}

#: Every name of a difference: of the answers, of the rules, and of what Hermes was asked anew for.
NAMES: Final = frozenset(
    {
        *DIFFERENCES,
        "an exact entry wins",
        "replace makes no duplicate",
        "a delimiter in content is refused",
        "a part does not name an oversized entry",
        "an entry replaced by itself is no change",
        "an edit by hand is an ordinary change",
        "line endings of content become LF",
        "a listing is read from the disk",
        "joiners inside emoji are no threat",
    }
)


@dataclass
class Verdict:
    """What a comparison found.

    Attributes:
        names: of the known differences that were met.
        faults: facts that differ and that nothing explains.
    """

    names: set[str] = field(default_factory=set)
    faults: set[str] = field(default_factory=set)


def judge(step: Step) -> Verdict:
    """Compare the two answers to a step."""
    differing = step.differing()
    if not differing:
        return Verdict()
    names = _by_model(step)
    if names:
        return Verdict(names)
    explained: set[str] = set()
    for name, explains in DIFFERENCES.items():
        found = explains(step, differing)
        if found:
            names.add(name)
            explained |= found
    return Verdict(names, differing - explained)


def _by_model(step: Step) -> set[str]:
    """Return the rules that were met and that Hermes does not have, if the outcome is what they promise."""
    if step.is_undecodable or str(step.ours["category"]).startswith("blocked"):
        return set()
    return _as_played(step) or set()


def _as_played(step: Step) -> set[str] | None:
    """Return the rules that were met where a call became what the model makes of it, else None."""
    if not _is_wellformed(step.call):
        return None
    store = model.Store(step.entries, step.limit)
    outcome = model.play(step.call, store, step.failures)
    same = _same_kind(outcome, step.ours["category"]) and store.entries == step.ours["entries"]
    return store.notes if same else None


def _is_wellformed(call: Mapping[str, Any]) -> bool:
    batch = call.get("operations")
    if batch:
        return isinstance(batch, list)
    action = call.get("action")
    needed = {"add": ("content",), "replace": ("old_text", "content"), "remove": ("old_text",)}
    if not isinstance(action, str) or call.get("target", "memory") not in ("memory", "user", None):
        return False
    return action in needed and all(model.clean(call.get(name)) for name in needed[action])


def _same_kind(one: str, other: str) -> bool:
    return one == other or (one.startswith("refused") and other.startswith("refused"))


def _is_plain_refusal(step: Step) -> bool:
    return step.ours["success"] is False and not step.ours["written"]
