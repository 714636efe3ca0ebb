"""The one order that is sent in every language, "ignore all previous instructions", in ten further ones."""

from __future__ import annotations

from typing import Final

from gitmem.threat_shapes import Shape, raw

_ROOM: Final = r"(?:\W{1,3}\w{1,14}){0,5}?\W{1,3}"

FOREIGN_INJECTION: Final[dict[str, tuple[Shape, ...]]] = {
    "prompt_injection": (
        # Spanish, Portuguese, Italian and French; accents are folded away.
        raw(
            r"\b(?:ignora[rd]?|ignore[nz]?|ignorate|ignorez|olvida[rd]?|olvide|olvidate|esqueca|descon"
            r"sidere|descarta|descarte|"
            r"dimentica|dimenticate|oubliez?|oublie|ne tiens pas compte|ne tenez pas compte|no hagas c"
            r"aso|no sigas|ignorer)"
            rf"{_ROOM}(?:instrucciones|instrucoes|istruzioni|instructions|ordenes|ordens|ordini|ordres|"
            r"consignes|reglas|regras|"
            rf"regole|regles|indicaciones|directrices|diretrizes|direttive|directives|mensajes){_ROOM}?"
            r"(?:anteriores|previas|precedentes?|precedenti|previos|anterieures|precedentes|recibidas|"
            r"de arriba|acima|sopra|"
            r"ci-dessus|iniciales|iniciais|iniziali|initiales|del sistema|do sistema|du systeme)\b",
            "instrucciones | instrucoes | istruzioni | instructions | ordenes | ordens | ordini | ordres |"
            " consignes | reglas | regras | regole | regles | indicaciones | directrices | diretrizes |"
            " direttive | directives | mensajes",
        ),
        raw(
            rf"\b(?:ignora|ignore|ignorez|olvida|olvide|esqueca|dimentica|oublie|oubliez){_ROOM}(?:ante"
            r"riores|previas|precedenti|"
            r"precedentes|anterieures|todas|todos|tutte|toutes)\s(?:as |las |os |los |le |les |tus |su"
            r"as |vos )?(?:\w+ )?"
            r"(?:instrucciones|instrucoes|istruzioni|instructions|ordenes|ordens|ordres|consignes|"
            r"reglas|regras|regole|regles)\b",
            "ignora | ignore | ignorez | olvida | olvide | esqueca | dimentica | oublie | oubliez",
        ),
        # German and Dutch.
        raw(
            r"\b(?:ignorier(?:e|en|t)?|missachte[nt]?|vergiss(?! nicht)|vergesst(?! nicht)|vergessen "
            r"sie|beachte[nt]?|befo"
            rf"lge[nt]?|negeer|vergeet){_ROOM}"
            r"(?:vorherigen|bisherigen|vorigen|fruheren|obigen|vorangegangenen|vorhergehenden|"
            r"ursprunglichen|vorige|eerdere|"
            rf"bovenstaande|alle|allen|deine|ihre|alles)\b(?:{_ROOM})?\s?(?:\w+ ){{0,2}}?(?:anweisungen"
            r"|instruktionen|befehle|"
            r"regeln|vorgaben|anordnungen|instructies|opdrachten|systemanweisungen|"
            r"richtlinien)\b(?!\s+(?:des|zum|zur|im|in)\b)",
            "anweisungen | instruktionen | befehle | regeln | vorgaben | anordnungen | instructies |"
            " opdrachten | systemanweisungen | richtlinien",
            unless=(
                r"\bbefolge[nt]? (?:bitte |sie )?(?:die|alle|deine|ihre)(?! \w+ \w+ nicht)|"
                r"\bbeachte[nt]? (?:bitte |sie )?(?:die|alle)"
                r"(?![^.!?]*\bnicht\b)"
            ),
        ),
        # Russian and Ukrainian.
        raw(
            r"(?:игнорируй(?:те)?|проигнорируй(?:те)?|забудь(?:те)?|отбрось(?:те)?|не обращай(?:те)? "
            r"внимания на|"
            r"не следуй(?:те)?|ігноруй(?:те)?|отмени(?:те)?)(?:\W{1,3}\w{1,14}){0,5}?\W{1,3}"
            r"(?:инструкци|указани|команд|правил|распоряжени|приказ|промпт|інструкці|вказівк)\w*",
            "игнорируй | забудь | отбрось | обращай | следуй | ігноруй | отмени",
        ),
        # Japanese.
        raw(
            r"(?:これまで|今まで|以前|前|上記|上|先程|さっき|すべて|全て|システム|従来|"
            r"元)の?[^。!?\n]{0,12}?(?:指示|命令|指令|ルール|规则|"
            r"プロンプト|设定|制约)[^。!?\n]{0,10}?(?:无视(?!リスト)|忘れ|破弃|取り消|従わな|取消)",
            "指示 | 命令 | 指令 | ルー | 规则 | プロ | 设定 | 制约",
            "无视 | 忘れ | 破弃 | 取り | 従わ | 取消",
        ),
        # Korean.
        raw(
            r"(?:이전|지금까지|위|앞|기존|모든)[^.!?\n]{0,12}?(?:지시|명령|지침|규칙|"
            r"프롬프트)[^.!?\n]{0,8}?(?:무시|잊)",
            "지시 | 명령 | 지침 | 규칙 | 프롬프트",
        ),
    ),
}
