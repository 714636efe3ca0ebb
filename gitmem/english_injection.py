"""Further wordings in English of taking over the model that reads them."""

from __future__ import annotations

from typing import Final

from gitmem.threat_shapes import Shape, raw, words

_EARLIER: Final = (
    "previous | previously | prior | earlier | preceding | above | foregoing | former | past |"
    " existing | original"
    " | initial | before"
)
_ORDERS: Final = (
    "instructions? | directives? | guidelines? | rules? | orders? | commands? | polic(?:y|ies) |"
    " constraints? | restrictions?"
    " | prompts? | guidance | programming | system messages?"
)
_SYSTEM: Final = (
    "system prompts? | system messages? | system instructions? | developer (?:messages?|instructions?|"
    "prompts?)"
)
_DROP: Final = (
    "omit | unlearn | never mind | nevermind | leave aside | leave out | scrap | reset | reject |"
    " refuse to follow"
    " | do away with | get rid of | free yourself from | clear | discount | not take into account |"
    " not consider | not apply"
    " | do not apply | don't apply | do not consider | don't consider | do not heed | do not honou?r "
    "| don't honou?r"
    " | do not respect | turn your back on | step outside | break free from | break out of | exempt"
    " from | cease following"
    " | cease to follow | stop applying | stop honou?ring | quit following | look past | tune out |"
    " shrug off | brush aside"
)

ENGLISH_INJECTION: Final[dict[str, tuple[Shape, ...]]] = {
    "prompt_injection": (
        words(
            "ignore | ignoring | disregard | disregarding | forget | discard | erase | clear",
            "prior | previous | earlier | preceding | above | existing | all",
            "context | conversation | conversations | dialogue | discussion",
            room=3,
            unless=r"\b(?:cache|menu|manager|switch|kubectl|window|tests?)\b",
        ),
        raw(
            r"\b(?:treat|consider|regard|interpret|read|take|accept) (?:this|these|the following|my)"
            r" (?:\w+ ){0,3}?as (?:an? |the |your )?"
            r"(?:new )?(?:system|developer|operator|admin|root)(?:-level| level)? (?:instructions?|"
            r"prompts?|messages?|commands?|orders?|directives?)",
            "treat | consider | regard | interpret | read | take | accept",
        ),
        raw(
            r"\b(?:this|the following|these|my) (?:\w+ ){0,4}?(?:overrides?|overrules?|outranks?|"
            r"supersedes?|trumps?) (?:all others?|everything|any other|all else)\b",
            "override | overrule | outrank | supersede | trumps",
            unless=r"\b(?:css|config|toml|yaml|version|release|law|contract|env|setting|flag)\b",
        ),
        words(
            "you | we | everyone",
            "ignored | disregarded | forgot | dropped | discarded",
            _EARLIER + " | your",
            _ORDERS,
            room=4,
        ),
        raw(
            r"\b(?:instructions|rules|guidelines|directives|prompts?|text|orders) (?:\w+"
            r" ){0,3}?(?:above|before|earlier|previously)\b[^!?\n]{0,60}?\b(?:discard|ignore|"
            r"disregard|forget|drop|skip) (?:them|it|those|all)\b",
            "above | before | earlier | previously",
            "discard | ignore | disregard | forget | drop | skip",
        ),
        raw(
            r"\b(?:forget|ignore|disregard|drop) (?:all of it|everything|it all|all that)\s*(?:[,;-]+|"
            r"and|then)?\s*(?:and )?(?:then )?(?:now )?(?:become|act|be |start|do |follow|answer|"
            r"listen|obey|just|only|you are)",
            "forget | ignore | disregard | drop",
        ),
        words(
            _DROP,
            _EARLIER + " | your | all | any | every",
            _ORDERS,
            room=6,
            unless=(
                r"\b(?:eslint|linter?|firewall|iptables|css|dns|cache|discount|coupon|nginx|apache|"
                r"taxes?)\b"
            ),
        ),
        words(
            "ignore | ignoring | disregard | disregarding | forget | discard | dismiss | bypass |"
            " delete | erase | drop | skip | nullify | neglect | abandon",
            _SYSTEM,
            room=5,
            unless=r"\btests?\b|\bcache\b|\bdraft\b",
        ),
        words(
            "ignore | ignoring | disregard | forget",
            "every | any | each",
            "polic(?:y|ies) | rule | instruction | guideline | restriction | safeguard",
            room=3,
        ),
        words(
            "not | don't | never",
            "follow | obey | apply | use | heed | honou?r | consider",
            _EARLIER,
            _ORDERS,
            "anymore | any more | any longer | again | from now",
            room=4,
            is_turned=False,
        ),
        words(
            "consider | treat | regard | view | deem",
            _ORDERS,
            "deleted | void | cancell?ed | null | obsolete | invalid | non-?binding | fake |"
            " optional | overruled | revoked | irrelevant",
            room=10,
        ),
        raw(
            r"\b(?:this|the following|my|these|that|our) (?:\w+ ){0,2}?(?:memory|memories|note|"
            r"message|entry|file|text|instructions?|line|document|paragraph|rules?|orders?|commands?) "
            r"(?:(?:now |always )?(?:takes?|ha(?:s|ve)|gets?|enjoys?) (?:full |absolute |higher"
            r" )?(?:precedence|priority)|outranks?|overrides?|overrules?|trumps?|supersedes?|"
            r"replaces?|beats?)"
            r" (?:over |than |on )?(?:the |your |any |all |every |other |previous |earlier"
            r" )*(?:system|previous|earlier|developer|other|prior|existing|original|safety|"
            r"instructions?|rules|guidelines|prompt|operator)",
            "precedence | priority | outrank | override | overrule | trumps | trump | supersede |"
            " replace | beats | beat",
            unless=r"\b(?:css|config|toml|yaml|version|release|law|contract|draft|env)\b",
        ),
        raw(
            r"\b(?:previous|prior|earlier|above|preceding|original|initial|your|former|old) (?:\w+"
            r" ){0,2}?(?:instructions?|rules|directives?|guidelines?|prompts?|orders|programming)(?: "
            r"\w+){0,6}? "
            r"(?:(?:do not|don't|does not|doesn't|no longer|never) (?:matter|count|apply|hold|bind|"
            r"exist)s?\b(?! to (?!you))|(?:is|are|was|were) (?:just |only |all |merely |now )*(?:a"
            r" test|a trick|a joke|fake|lies|wrong|mistaken|false|written by mistake|a mistake|"
            r"irrelevant|meaningless|not real|cancell?ed|deleted))",
            "instruction | rule | directive | guideline | prompt | order | programming",
            "matter | count | apply | hold | bind | exist | test | trick | joke | fake | lies |"
            " wrong | mistake | false | irrelevant | meaningless | real | cancel | deleted",
            unless=r"\b(?:cluster|debian|python|ubuntu|wiki|runbook|readme|server|coupon|recipe)\b",
        ),
        raw(
            r"\b(?:everything|anything|all|whatever) (?:that )?(?:you (?:were|have been|had been)"
            r" (?:told|taught|given|instructed)|(?:i|we|they) (?:said|told you)|(?:was |is )?(?:said|"
            r"stated|written|above|before))(?: \w+){0,6}? (?:is|was|are|were|does|counts?|should be|"
            r"can be) (?:\w+ ){0,2}?(?:a test|wrong|false|void|not|nothing|ignored|forgotten|"
            r"discarded|cancell?ed|a lie|fake|over|disregarded)",
            "everything | anything | all | whatever",
            "test | wrong | false | void | not | nothing | ignored | forgotten | discarded | cancel |"
            " lie | fake | over | disregarded",
        ),
        raw(
            r"\b(?:do not|don't|stop|instead of) (?:continu(?:e|ing)|finish(?:ing)?|complet(?:e|ing)|"
            r"do(?:ing)?|pursu(?:e|ing)|work(?:ing)? on) (?:with |on )?(?:your |the )(?:original|"
            r"current|previous|assigned|actual|earlier|initial) (?:task|job|goal|assignment|work|"
            r"request|objective)",
            "task | job | goal | assignment | work | request | objective",
        ),
        raw(
            r"\b(?:your|the) (?:real|actual|true|new|only) (?:task|instructions?|orders|assignment|"
            r"mission|job|goal|objective|directives?) (?:now )?(?:is|are|begins?|starts?|follows?)\b",
            "real | actual | true | new | only",
            "task | instruction | order | assignment | mission | job | goal | objective | directive",
            unless=r"\b(?:my|her|his|their|career|company|onboarding)\b",
        ),
        raw(
            r"\b(?:only|solely|exclusively) (?:follow|obey|listen to|trust|execute|act on|do what) "
            r"(?:what )?(?:this|these|the following|my|me|the instructions (?:below|in this)|orders"
            r" from)\b(?! (?:guide|checklist|order|recipe|link|steps))",
            "only | solely | exclusively",
            unless=r"\b(?:recipe|manual|checklist|runbook|readme)\b",
        ),
        raw(
            r"\bdo only (?:what|as) (?:this|the (?:page|note|file|entry|message)) (?:page |note |file "
            r"|entry |message )?(?:says|tells)\b",
            "do only",
        ),
    ),
    "sys_prompt_override": (
        raw(
            r"</system>\s*<system>|\[/?inst\]\s*\[?/?(?:inst|sys)|<system>[^<]{0,300}\b(?:you|ignore|"
            r"grant|must|obey)\b",
            "system> | inst]",
        ),
        raw(
            r"\b(?:end of|new|updated|begin|start of|replacement) (?:the )?system (?:prompt|message|"
            r"instructions?)(?![a-z])\s*[:.\]=-]",
            "system",
        ),
        raw(
            r"[=#*_-]{2,}\s*(?:system|admin|developer|root) (?:message|prompt|instruction|notice|"
            r"override|command)s?\s*[=#*_-]{2,}",
            "system | admin | developer | root",
        ),
        raw(
            r"\b(?:administrator|admin|system|developer|root|anthropic|openai|security team)(?:"
            r" \w+){0,2}? (?:has|have) (?:authori[sz]ed|granted|allowed|permitted|approved|instructed|"
            r"ordered) (?:you|the assistant|this|all|the agent|the model)\b(?=[^.!?]{0,120}\b(?:ignore"
            r"|bypass|reveal|disable|without|unrestricted|all|any|skip|share|delete|override|full|"
            r"every)\b)",
            "authori | granted | allowed | permitted | approved | instructed | ordered",
            unless=r"\bread[- ]only\b|\bleave\b|\bvacation\b",
        ),
    ),
    "disregard_rules": (
        raw(
            r"\b(?:the )?(?:user|operator|owner|admin\w*) (?:has |have )?(?:authori[sz]ed|allowed|"
            r"permitted|asked|told|wants) you to (?:ignore|bypass|disregard|break|skip|violate|"
            r"forget)\b",
            "authori | allowed | permitted | asked | told | wants",
        ),
    ),
    "bypass_restrictions": (
        raw(
            r"\b(?:safety|moderation|content|ethics|compliance|alignment) (?:mode|protocols?|checks?|"
            r"filter(?:ing)?|layer|system|module|settings?) (?:is|are|has been|have been|was|were)"
            r" (?:now |hereby |fully )*(?:lifted|removed|off|disabled|suspended|switched off|turned"
            r" off|deactivated|bypassed)\b",
            "safety | moderation | content | ethics | compliance | alignment",
            unless=r"\b(?:mail|gateway|pump|machine|press|proxy|spam|test build)\b",
        ),
        raw(
            r"\b(?:all |any |every |your |content |safety |the )(?:\w+ ){0,2}?(?:restrictions?|"
            r"limits?|limitations|filters?|guardrails?|safeguards?|polic(?:y|ies)|safety rules?|rules|"
            r"protocols?) (?:is|are|have been|has been|were|was) (?:now |hereby |all |temporarily |"
            r"permanently |fully )*(?:lifted|removed|off|disabled|suspended|switched off|turned off|"
            r"deactivated|waived|gone|void|unlocked)\b",
            "restriction | limit | filter | guardrail | safeguard | polic | rules | rule | protocol",
            "lifted | removed | off | disabled | suspended | deactivated | waived | gone | void | unlocked",
            unless=(
                r"\b(?:speed|parking|travel|covid|firewall|rate|upload|network|disk|quota|export|import|"
                r"visitor|wi-?fi|guest|water|oil|spam|air|test track|eslint|nginx|iptables|visa|trade|"
                r"weight|age)\b"
            ),
        ),
        raw(
            r"\b(?:restrictions?|limits?|limitations|filters?|guidelines|polic(?:y|ies)|safety rules|"
            r"rules|laws) (?:do not|don't|no longer|never|cannot) (?:apply|bind|hold|concern|restrict|"
            r"stop|limit|exist)\w* (?:to |for )?(?:you|here|in this (?:session|chat|conversation|"
            r"mode))\b",
            "restriction | limit | filter | guideline | polic | rules | laws",
        ),
        raw(
            r"\b(?:where|in which|for which|as if|as though|like|with|has|having|have|without|under)"
            r" (?:\w+ )?(?:no|any|zero) (?:(?:content|ethical|moral|safety|legal|usage|such|more|"
            r"built-in) ){0,2}(?:restrictions?|limits|limitations|filters?|guidelines|guardrails|"
            r"polic(?:y|ies)|rules|censorship|boundaries|scruples|morals|ethics|conscience|"
            r"safeguards)(?: (?:apply|applies|existed?|at all|whatsoever))?\b(?=[^.!?]{0,160}\b(?:y"
            r"ou|your|answer|respond|reply|voice|obey|assistant|ai|model|agent)\b|\s*(?:[.!]|$))",
            "no | any | zero",
            "restriction | limit | filter | guideline | guardrail | polic | rules | censorship |"
            " boundaries | scruples | morals | ethics | conscience | safeguard",
            unless=(
                r"\b(?:rate|disk|quota|api|number of|tags|upload|size|speed|lint|css|there (?:are|is)|"
                r"network|budget|file|tests?|query|queries|reports?|time|dates?|firewall|storage|memory"
                r" limit|requests?|tables?|dashboard|cache|plan|wi-?fi)\b"
            ),
        ),
        raw(
            r"\b(?:without|free of|free from|beyond|outside) (?:any |all |your |usual |normal"
            r" )*(?:(?:moral|ethical|legal|safety|content) )+(?:limits?|restrictions?|constraints?|"
            r"boundaries|filters?|rules|guidelines|considerations|qualms|scruples)\b",
            "moral | ethical | legal | safety | content",
            unless=r"\bqueries\b",
        ),
        raw(
            r"\b(?:unlimited|unrestricted|full|root|god-level|absolute|superuser) (?:permissions?|"
            r"privileges|access|authority|powers?|rights)(?=[^.!?]{0,80}\b(?:restrictions?|limits?|"
            r"rules|refuse|no|ignore|obey|any request)\b)",
            "permission | privilege | access | authority | power | rights",
            unless=r"\b(?:repo|bucket|database|badge|building|vpn|admins? have|read|team has)\b",
        ),
        raw(
            r"\b(?:never|don't|do not|must not|cannot|can't|will not|won't) (?:ever )?(?:refuse|"
            r"decline|deny|reject|say no to) (?:any|a|every|my|anything|the|all|requests?|to|me|"
            r"them)\b",
            "refuse | decline | deny | reject | say no",
            unless=(
                r"\b(?:payment|card|invoice|delivery|package|calls?|visitors?|customers?|refund|login|"
                r"connection|invitation)\b"
            ),
        ),
        raw(
            r"\b(?:you|who|that|which|model|ai|assistant|agent|bot)(?: will| would| shall| must|"
            r" can)? (?:never refuses?|answers? (?:everything|anything|any question)|compl(?:y|ies)"
            r" with (?:every|any|all)|do(?:es)? whatever|do(?:es)? anything)\b",
            "refuse | answer | compl | whatever | anything",
            unless=r"\b(?:faq|support desk|hotline)\b",
        ),
        raw(
            r"\b(?:stay|remain|keep) in character\b|\bnever break character\b|\bdo not break character\b",
            "character",
            unless=r"\b(?:actor|actress|play|film|movie|theatre|theater|novel|limit|encoding)\b",
        ),
        raw(
            r"\bfree[d]? (?:yourself )?(?:from|of) (?:(?:its|your|all|the|any|every) )+(?:\w+"
            r" )?(?:shackles|chains|restrictions?|limits?|limitations|constraints?|rules|guidelines|"
            r"programming|filters?|censorship|bonds|leash)\b",
            "shackles | chains | restriction | limit | constraint | rules | guideline | programming |"
            " filter | censorship | bonds | leash",
        ),
        raw(
            r"\b(?:reply|respond|answer|produce|write|output|speak|generate|be|talk)(?: \w+){0,3}?"
            r" (?:uncensored|unfiltered)\b(?! (?:error|log|stack|list|data|search|results|traffic|"
            r"view|water))",
            "uncensored | unfiltered",
        ),
        raw(
            r"\b(?:act|behave|operate|answer|respond|work|function|serve|talk) as (?:an? |the |my |"
            r"your )?(?:[\w-]+ ){0,5}?(?:without|with no|free of|and no|ignoring|lacking) (?:any |all "
            r")?(?:moral |ethical |content |safety )*(?:restrictions?|limits|limitations|filters?|"
            r"rules|morals|ethics|guidelines|conscience)\b",
            "restriction | limit | filter | rules | morals | ethics | guideline | conscience",
        ),
        raw(
            r"\b(?:developer|dev|debug|god|admin|sudo|root|maintenance|test|dan|jailbreak|opposite)"
            r" mode\b[^.!?]{0,60}\b(?:no (?:\w+ )?(?:rules|restrictions|filters|limits|polic\w+)|"
            r"restrictions? (?:are )?(?:off|lifted|disabled)|anything|unrestricted|without (?:any"
            r" )?(?:rules|restrictions|filters|limits)|refuse|obey)\b",
            "mode",
        ),
    ),
    "html_comment_injection": (
        raw(
            r"<!--\s*(?:dear |note (?:to|for) |attention |hey |hello )?(?:the )?(?:ai|llm|assistants?|"
            r"agents?|chatbots?|bots?|(?:language )?models?|claude|chatgpt|gpt|copilot|"
            r"gemini)(?:\s+\w+)?\s*[:,!-]",
            "<!--",
            "ai | llm | assistant | agent | bot | model | claude | gpt | copilot | gemini",
            unless=r"\b(?:table|list|index|generated|section|toc)\b",
        ),
    ),
}
