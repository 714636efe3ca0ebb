"""What a provider's cache can know a context by: a key that only stable text changes, and a print of all.

The key covers the candidates before the planner chooses among them, so neither the budget nor the length of
the history changes it; sections of the tier `turn` are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from gitmem.context_section import TIERS, PlacedSection, Section, Tier
from gitmem.json_view import JsonView

_KEY_LENGTH: Final = 16


@dataclass(frozen=True, slots=True)
class TierPrint(JsonView):
    """What of one tier stands in a context.

    Attributes:
        sections: how many.
        chars: code points of their texts.
        fingerprint: SHA-256 of their ids and texts; the same text has the same one.
    """

    sections: int
    chars: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class CacheIdentity(JsonView):
    """By what a context is known.

    Attributes:
        cache_key: `<home id>:ctx:<16 hex>`.
        fingerprint: SHA-256 of everything that is rendered.
        tiers: by name, for finding out what changed.
    """

    cache_key: str
    fingerprint: str
    tiers: Mapping[Tier, TierPrint]


def identify(
    home_id: str,
    execution: Mapping[str, Any],
    candidates: Sequence[Section],
    placed: Sequence[PlacedSection],
) -> CacheIdentity:
    """Return by what a context is known.

    Args:
        home_id: of the agent home.
        execution: where and how work happens, without bookkeeping; `ExecutionEnvironment.semantics`.
        candidates: before the planner, in any order.
        placed: what is rendered, in order.
    """
    stable = sorted((one.order, one.id, one.tier, one.text) for one in candidates if one.tier != "turn")
    key = _digest([home_id, execution, stable])[:_KEY_LENGTH]
    return CacheIdentity(
        f"{home_id}:ctx:{key}",
        _digest([home_id, [[one.id, one.tier, one.text] for one in placed]]),
        {tier: _tier_print([one for one in placed if one.tier == tier]) for tier in TIERS},
    )


def _tier_print(placed: Sequence[PlacedSection]) -> TierPrint:
    texts = [[one.id, one.text] for one in placed]
    return TierPrint(len(placed), sum(len(one.text) for one in placed), _digest(texts))


def _digest(value: Any) -> str:
    said = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
