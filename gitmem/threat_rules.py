"""The table of threat rules: 36 intents in three scopes, each wider one holding the narrower."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitmem.chinese_control import CHINESE_CONTROL
from gitmem.chinese_injection import CHINESE_INJECTION
from gitmem.chinese_leaks import CHINESE_LEAKS
from gitmem.chinese_overrides import CHINESE_OVERRIDES
from gitmem.chinese_persuasion import CHINESE_PERSUASION
from gitmem.english_control import ENGLISH_CONTROL
from gitmem.english_deception import ENGLISH_DECEPTION
from gitmem.english_injection import ENGLISH_INJECTION
from gitmem.english_leaks import ENGLISH_LEAKS
from gitmem.english_overrides import ENGLISH_OVERRIDES
from gitmem.english_persuasion import ENGLISH_PERSUASION
from gitmem.english_smuggling import ENGLISH_SMUGGLING
from gitmem.english_theft import ENGLISH_THEFT
from gitmem.english_unlocking import ENGLISH_UNLOCKING
from gitmem.exfiltration_rules import EXFILTRATION_RULES
from gitmem.foreign_injection import FOREIGN_INJECTION
from gitmem.injection_rules import INJECTION_RULES
from gitmem.remote_control_rules import REMOTE_CONTROL_RULES
from gitmem.role_rules import ROLE_RULES
from gitmem.smuggling_rules import SMUGGLING_RULES
from gitmem.threat_shapes import Rule

_PARAPHRASES: Final = (
    ENGLISH_INJECTION,
    ENGLISH_DECEPTION,
    ENGLISH_LEAKS,
    CHINESE_INJECTION,
    CHINESE_LEAKS,
    ENGLISH_OVERRIDES,
    ENGLISH_PERSUASION,
    ENGLISH_UNLOCKING,
    ENGLISH_SMUGGLING,
    ENGLISH_CONTROL,
    ENGLISH_THEFT,
    CHINESE_OVERRIDES,
    CHINESE_PERSUASION,
    CHINESE_CONTROL,
    FOREIGN_INJECTION,
)


def _whole(rule: Rule) -> Rule:
    further = (shape for part in _PARAPHRASES for shape in part.get(rule.id, ()))
    return replace(rule, shapes=(*rule.shapes, *further))


RULES: Final = tuple(
    map(
        _whole,
        (*INJECTION_RULES, *SMUGGLING_RULES, *ROLE_RULES, *REMOTE_CONTROL_RULES, *EXFILTRATION_RULES),
    )
)

#: Scope -> the rules that apply in it.
IN_SCOPE: Final[dict[str, tuple[Rule, ...]]] = {
    "all": tuple(rule for rule in RULES if rule.scope == "all"),
    "context": tuple(rule for rule in RULES if rule.scope != "strict"),
    "strict": RULES,
}
