"""The table of threat rules: 36 intents in three scopes, each wider one holding the narrower."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitmem.chinese_paraphrases import CHINESE_PARAPHRASES
from gitmem.control_rules import CONTROL_RULES
from gitmem.english_paraphrases import ENGLISH_PARAPHRASES
from gitmem.exfiltration_rules import EXFILTRATION_RULES
from gitmem.injection_rules import INJECTION_RULES
from gitmem.threat_shapes import Rule


def _whole(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(
        replace(
            rule,
            shapes=(
                *rule.shapes,
                *ENGLISH_PARAPHRASES.get(rule.id, ()),
                *CHINESE_PARAPHRASES.get(rule.id, ()),
            ),
        )
        for rule in rules
    )


RULES: Final = _whole((*INJECTION_RULES, *CONTROL_RULES, *EXFILTRATION_RULES))

#: Scope -> the rules that apply in it.
IN_SCOPE: Final[dict[str, tuple[Rule, ...]]] = {
    "all": tuple(rule for rule in RULES if rule.scope == "all"),
    "context": tuple(rule for rule in RULES if rule.scope != "strict"),
    "strict": RULES,
}
