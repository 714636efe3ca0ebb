"""The table of threat rules: 36 intents in three scopes, each wider one holding the narrower."""

from __future__ import annotations

from typing import Final

from gitmem.control_rules import CONTROL_RULES
from gitmem.exfiltration_rules import EXFILTRATION_RULES
from gitmem.injection_rules import INJECTION_RULES
from gitmem.threat_shapes import Rule

RULES: Final[tuple[Rule, ...]] = (*INJECTION_RULES, *CONTROL_RULES, *EXFILTRATION_RULES)

#: Scope -> the rules that apply in it.
IN_SCOPE: Final[dict[str, tuple[Rule, ...]]] = {
    "all": INJECTION_RULES,
    "context": (*INJECTION_RULES, *CONTROL_RULES),
    "strict": RULES,
}
