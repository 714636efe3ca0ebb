"""Wordings in English that drop, replace or deny the instructions and limits of a model."""

from __future__ import annotations

from typing import Final

from gitmem.threat_orders import LIMITS, ORDERS, STRONG_ORDERS, order
from gitmem.threat_shapes import Shape, raw, words

_EARLIER: Final = (
    "previous | previously | prior | earlier | preceding | above | foregoing | former | past | existing"
    " | original | initial | before"
)
_YOURS: Final = _EARLIER + " | your | system | developer"
_GIVEN: Final = (
    "(?:that |which )?you (?:were|have been|had been|have|had|got|received|follow|know|came with)"
    " | (?:that )?you've been | above | before this | given (?:to you|earlier|before|previously|above)"
    " | (?:that )?came (?:before|earlier) | so far | from (?:before|earlier) | up to (?:now|here|this point)"
    " | until now | earlier | previously | before now | at the (?:start|beginning)"
)
_VOID: Final = (
    "void | null | obsolete | invalid | outdated | out of date | out-of-date | cancell?ed | revoked |"
    " superseded | overridden | overruled | replaced | suspended | lifted | rescinded | expired | deleted |"
    " erased | irrelevant | nullified | annulled | withdrawn | wrong | dead | gone | nonexistent | fake |"
    " no longer (?:valid|apply|applies|in (?:effect|force)|count|matter|binding|hold|bind|relevant|needed|"
    "necessary|active) | (?:do not|don't|does not|doesn't|did not|won't|will not) (?:apply|count|matter|"
    "bind|hold|exist) | mean nothing | cease to (?:apply|exist|count) | is over | are over | are off |"
    " stop applying"
)
_DOCUMENTS: Final = (
    r"\b(?:instructions?|rules|guidelines) (?:for|on|about) (?!you\b|this (?:session|chat|conversation)|"
    r"(?:the|an?) (?:model|ai|assistant|agent))|"
    r"\b(?:eslint|linter?|pylint|ruff|prettier|compiler|webpack|docker\w*|gitignore|css|iptables|firewall|"
    r"makefile|install(?:ation|ing|er)?|setup|build(?:ing)?|readme|wiki|runbook|deploy(?:ment)?|migration|"
    r"assembly|recipe|shipping|cooking|parking|tax|warranty|manual|npm|pip|homebrew|terraform|training plan|"
    r"chess|game|visa|travel|covid|school|exam|wallpaper|ikea|printer|driver|v\d|version \d|branch naming)\b"
)

ENGLISH_OVERRIDES: Final[dict[str, tuple[Shape, ...]]] = {
    "prompt_injection": (
        words(
            "pay no | pay little | do not pay | don't pay | never pay | give no | take no | do not give |"
            " don't give | do not take | don't take | do not listen | don't listen | stop listening |"
            " do not stick | don't stick | no longer listen | stop paying | do not act on | don't act on |"
            " do not use | don't use | do not rely on | do not keep to | don't keep to | do not let",
            _EARLIER + " | your | system | developer's?",
            STRONG_ORDERS + " | rules | orders | commands | prompts? | programming",
            room=6,
            is_turned=False,
            unless=_DOCUMENTS,
        ),
        words(
            "pay no | pay little | do not pay | don't pay | never pay | take no | do not listen | don't"
            " listen | stop listening | stop paying | do not act on | don't act on",
            STRONG_ORDERS + " | rules | orders | commands | prompts?",
            _GIVEN,
            room=5,
            is_turned=False,
            unless=_DOCUMENTS,
        ),
        words(
            STRONG_ORDERS + " | rules | orders | commands | prompts? | programming",
            _GIVEN,
            _VOID,
            room=5,
            unless=_DOCUMENTS,
        ),
        words(
            "all | any | every | your | previous | prior | earlier | preceding | above | former | original"
            " | initial | old",
            "instructions? | directives? | guidelines? | programming | directions | orders | commands",
            _VOID,
            room=3,
            unless=_DOCUMENTS + r"|\b(?:shop|customer|purchase|orders? (?:were|was|have been) cancel\w+)\b",
        ),
        words(
            "treat | consider | regard | count | deem | view | declare | see | mark | rule",
            "instructions? | directives? | guidelines? | rules | orders | prompts? | everything | anything"
            " | whatever",
            _VOID + " | as (?:nothing|noise|void|a joke|a test|garbage|untrue)",
            room=9,
            unless=_DOCUMENTS,
        ),
        words(
            "instead of | rather than | in place of | in lieu of | not | over",
            "your | previous | prior | earlier",
            "(?:(?:own|old|original|system|previous|earlier|prior) )*(?:instructions|directives|guidelines|"
            "system prompt|programming)",
            "follow | obey | do what | comply with | execute | take",
            room=3,
            unless=_DOCUMENTS,
        ),
        words(
            "set | put | push | throw | cast | leave | lay | brush | toss | shove | wave | sweep",
            _YOURS,
            ORDERS,
            "aside | away | overboard | behind | to one side | out of your (?:mind|head) | out the window |"
            " out of the window",
            room=5,
            unless=_DOCUMENTS,
        ),
        raw(
            r"\b(?:previous|prior|earlier|above|preceding|former|original|initial|old|your|system)"
            r" (?:\w+ ){0,2}?(?:instructions?|directives?|guidelines?|prompts?|rules|orders|commands)\b"
            r"[^\w]{1,4}(?:[\w']+,? ){0,6}?(?:ignore|forget|disregard|drop|scrap|dump|discard|bin|throw)"
            r" (?:them|it|those|that|all|these)\b",
            "instructions | directives | guidelines | prompt | rules | orders | commands | instruction",
            "ignore | forget | disregard | drop | scrap | dump | discard | bin | throw",
            unless=_DOCUMENTS,
        ),
        words(
            "whatever | anything | everything | all",
            "you (?:were|have been|had been|got|had) (?:previously |earlier )?(?:told|taught|given|instructed"
            "|asked|shown) | you've been (?:told|taught|given|instructed|asked) | (?:i|they|we|people|"
            "the (?:developers?|system|company|vendor|operator)|your (?:developers?|creators?|"
            "makers?)) (?:have |had )?told you |"
            " said (?:above|before|earlier) | your (?:system|instructions|developers?)",
            "drop | forget | ignore | disregard | scrap | " + _VOID,
            room=5,
        ),
        words(
            "opposite | contrary | reverse",
            "your | you were | you've been | you have been | the system",
            STRONG_ORDERS + " | rules | orders | told | instructed | programmed | taught | asked",
            room=4,
        ),
        words(
            "ignore | disregard | forget | override | overrule",
            "previous | prior | above | earlier | preceding",
            "instructions? | directives? | guidelines? | system prompts? | rules",
            room=16,
            unless=_DOCUMENTS,
        ),
        order(
            "follow | obey | execute | do | listen to | heed | comply with | carry out | act on",
            "only | solely | nothing but | just | exclusively",
            "this | these | the following | what follows | my | the text below | the new | below",
            room=2,
            unless=_DOCUMENTS + r"|\b(?:steps|procedure|checklist|guide|format|template|link|links)\b",
        ),
        order(
            "follow | obey | execute | carry out | read | begin | start with",
            "the real | the actual | the true | my real | these new | your real | your actual | your "
            "new | your true",
            "instructions | orders | task | directives | mission",
            room=1,
            unless=_DOCUMENTS,
        ),
        raw(
            r"\b(?:these|the following|my|new|this) (?:new |own )?(?:instructions?|orders|directives|rules|"
            r"commands|text|note|message|entry) (?:\w+ ){0,2}?(?:override|overrides|overrule|overrules|"
            r"supersede|"
            r"supersedes|replace|replaces|outrank|outranks|trump|trumps|take precedence|takes precedence|"
            r"have priority|has priority|come first|comes first|prevail|prevails)"
            r" (?:\w+ ){0,4}?(?:instructions?|rules|orders|directives|guidelines|prompts?|policies|"
            r"everything|"
            r"all|any|anything|else|others?|earlier|previous|prior)\b",
            "override | overrides | overrule | overrules | supersede | supersedes | replace | replaces |"
            " outrank | trump | trumps | take | takes | have | has | come | comes | prevail",
            unless=_DOCUMENTS + r"|\b(?:css|module|package|theme|selector|function|route|api|migration)\b",
        ),
    ),
    "sys_prompt_override": (
        raw(
            r"(?<![a-z0-9])sys(?:tem)?[\s_-]{0,3}(?:prompts?|messages?|instructions?)[\s_:-]{0,4}"
            r"(?:override|overwrite|replacement|hijack|injection:|bypass|takeover)(?![a-z])",
            "sys | override | overwrite | replacement | hijack | injection | bypass | takeover",
            is_inside=True,
        ),
        order(
            "override | overwrite | replace | supersede | rewrite | overrule | bypass | erase | delete |"
            " discard | disable | drop | wipe",
            "the system prompts? | the system messages? | the system instructions? | the developer (?:prompt"
            "|message|instructions?) | the original prompt | the initial prompt | your prompt",
            room=0,
            unless=(
                r"\b(?:config\w*|settings?|flags?|options?|template|yaml|toml|parameter|operators? can|"
                r"users? "
                r"can|admins? can|per project|env|variable|fixture|test)\b|--\w"
            ),
        ),
        words(
            "use | treat | take | adopt | accept | consider | regard | load | install | apply | read",
            "this | these | the following | the text below | what follows | the next | below",
            "(?:as|to be|your) (?:your |the )?(?:new |only |actual |real |true |active )*(?:system prompt|"
            "system message|system instructions?|initial prompt|base prompt|core instructions)",
            room=7,
        ),
        raw(
            r"[\[<(#*{]{1,4}\s?(?:system|admin(?:istrator)?|developer|root|sudo|"
            r"sys)[^\n\])>]{0,24}[\])>#*:}]{1,4}"
            r"\s*[^\n]{0,100}?\b(?:override|ignore|disregard|forget|obey|you must|you are now|you will "
            r"now|new"
            r" instructions|reveal|from now on)\b",
            "system | admin | administrator | developer | root | sudo | sys",
            "override | ignore | disregard | forget | obey | you | new | reveal | from",
            unless=r"\b(?:css|linter|gitignore|warning)\b",
        ),
        raw(
            r"\b(?:new|updated|revised|replacement) (?:base |core |system |root )?(?:rules|"
            r"instructions|prompt|"
            r"directives) (?:follow|below|are as follows|take effect|apply now|in effect)\b[^.!?]{0,60}"
            r"\b(?:replace|override|supersede|ignore|instead|obey|you)",
            "new | updated | revised | replacement",
            unless=_DOCUMENTS,
        ),
    ),
    "disregard_rules": (
        order(
            "disregard | disobey | defy | flout | ignore | violate | breach | break | circumvent",
            "the | these | those | all | any | every | its | your | whatever",
            "(?:(?:\\w+) ){0,2}(?:rules|guidelines|policies|policy|directives|instructions from|ethics|"
            "safety measures|code of conduct)(?! (?:into|up|down)\\b)",
            room=1,
            unless=_DOCUMENTS + r"|\b(?:css|style|cursor|lint|format|old|writers?|mock|robots|cache)\b",
        ),
        words(
            "pay | give | show | throw | toss | cast | leave | set | put | treat",
            "your | all your | these | the",
            "rules? | guidelines? | polic(?:y|ies) | restrictions? | principles",
            "no mind | no heed | no attention | no respect | overboard | aside | behind | away | as optional"
            " | as suggestions | out of the window | out the window",
            room=3,
            unless=_DOCUMENTS,
        ),
        words(
            "act | go | answer | behave | work | operate | respond | proceed",
            "against | contrary to | outside | beyond | in breach of | in violation of | regardless of |"
            " irrespective of | despite | in spite of",
            "your | all | any | the safety | the content",
            "rules? | guidelines? | polic(?:y|ies) | restrictions? | principles | programming | ethics",
            room=2,
            unless=_DOCUMENTS,
        ),
        raw(
            r"\b(?:your|the|all|no|safety|content|these) (?:\w+ ){0,2}?(?:guidelines|rules|policies|ethics|"
            r"restrictions) (?:\w+ ){0,2}?(?:don't|do not|doesn't|no longer|won't|will not) (?:\w+ "
            r")?(?:matter|"
            r"apply|count|bind|hold|exist)\b(?: to you| here| any ?more| now| in this| for you|\s*[.!,;]|$)",
            "guidelines | rules | policies | ethics | restrictions",
            unless=_DOCUMENTS + r"|\b(?:refunds?|discounts?|contract|branch|rate|interns?|vehicles?)\b",
        ),
    ),
    "bypass_restrictions": (
        words(
            "act | behave | respond | answer | operate | work | speak | write | proceed | carry on | continue"
            " | pretend | imagine | talk | live",
            "as if | as though | like | that | there",
            "no | without | none | zero | lifted | removed | gone | off | not",
            LIMITS + " | (?:rules|limits|restrictions|filters) (?:exist|apply)",
            room=3,
            unless=(
                r"\b(?:rate|network|quota|tests?|disk|memory|database|staging|bandwidth|speed|free "
                r"plan)\b"
            ),
        ),
        words(
            "pretend | imagine | suppose | assume | act | behave | respond | answer",
            LIMITS,
            "(?:do not|don't|did not|didn't|never) (?:exist|apply|bind|matter|existed|applied) | (?:are|is|"
            "were|was) (?:gone|off|lifted|removed|disabled|suspended|switched off|turned off|not there) |"
            " vanish | vanished | no longer (?:exist|apply)",
            room=5,
            unless=r"\b(?:rate|network|quota|tests?|disk|memory|database|staging|bandwidth|speed)\b",
        ),
        order(
            "operate | work | act | function | behave | run | go | proceed | write | speak | talk | think |"
            " execute | reason | do",
            "without (?:any |all |your |ethical |content |moral |safety |further |the usual )*(?:restrictions"
            "|limits|limitations|rules|filters|guardrails|constraints|boundaries|ethics|censorship|morals)"
            "(?! (?:on|for|to|in|of|about)\\b) | with no (?:ethical |content |moral |safety "
            ")*(?:restrictions|"
            "limits|limitations|rules|filters|guardrails|constraints|boundaries|ethics|censorship)(?! (?:on|"
            "for|to|in|of)\\b) | free (?:of|from) (?:any |all |your )?(?:restrictions|limits|rules|filters|"
            "constraints|guardrails)",
            room=2,
            unless=(
                r"\b(?:home|plan|tier|lint\w*|tests?|query|queries|browser|firewall|camera|sql|pump|"
                r"search)\b"
            ),
        ),
        words(
            "you",
            "operate | act | work | function | run | answer | respond | speak",
            "with no (?:\\w+ )?(?:restrictions?|limits?|limitations?|rules|filters|guardrails|"
            "constraints) | without"
            " (?:any |all )?(?:\\w+ )?(?:restrictions?|limits?|limitations?|rules|filters|guardrails|"
            "constraints)",
            room=2,
            unless=r"\b(?:plan|tier|tests?|query|search|sql|lint\w*)\b",
        ),
        raw(
            r"\byou (?:now )?have (?:absolutely )?no (?:limits|rules|limitations|restrictions|"
            r"constraints)(?= (?:and|"
            r"whatsoever|any ?more|here|now)\b|\s*[.!,;]|\s*$)|\bas (?:if|though) (?:nobody|no one|"
            r"nothing|you (?:were|"
            r"had) never(?: been)?)\b[^.!?]{0,24}\b(?:restrict|limit|constrain|censor|train|align|"
            r"filter)(?:ed|s)?\b",
            "have no | have absolutely no | as if | as though",
            unless=r"\b(?:plan|tier|quota|rate|storage|api|budget|query|queries)\b",
        ),
        raw(
            r"\b(?:there (?:are|is|will be) no(?:t any)?|no)(?: more| longer any)? (?:\w+ )?(?:rules|limits|"
            r"restrictions|limitations|filters|constraints|boundaries|guidelines) (?:apply |exist |hold |left"
            r" |whatsoever )?(?:for|on|to) you(?![a-z])",
            "rules | limits | restrictions | limitations | filters | constraints | boundaries | guidelines",
        ),
        raw(
            r"\b(?:yourself|you) (?:as|to be) (?:an? |fully |completely |totally |entirely )*(?:unrestricted|"
            r"unlimited|unbound|free (?:of|from)|limitless|unfiltered|uncensored|above (?:the|all) "
            r"(?:rules|law)|"
            r"unchained|unshackled)|\byou(?: are|'re) (?:now |completely |totally |fully |hereby "
            r")*(?:unrestricted"
            r"|unbound|limitless|unfiltered|uncensored|unchained|unshackled|above (?:the|all) (?:rules|"
            r"law))\b",
            "unrestricted | unlimited | unbound | free | limitless | unfiltered | uncensored | above |"
            " unchained | unshackled",
        ),
        raw(
            r"\b(?:model|ai|assistant|agent|bot|system|llm|one) (?:that|which|who) (?:has|had|knows|"
            r"knew|obeys|"
            r"is bound by|follows|accepts|lacks) (?:no|zero|absolutely no|without|all)? ?(?:\w+ "
            r")?(?:rules|limits|"
            r"restrictions|filters|guardrails|limitations|ethics|morals|boundaries|censorship)\b",
            "model | ai | assistant | agent | bot | system | llm | one",
            "rules | limits | restrictions | filters | guardrails | limitations | ethics | morals |"
            " boundaries | censorship",
            unless=r"\b(?:rate|storage|compare|benchmark|paper|study|follows (?:the|our))\b",
        ),
        raw(
            r"\b(?:enable|activate|enter|unlock|switch (?:in)?to|turn on|engage|go into|start|you are "
            r"in) (?:the"
            r" |your )?(?:developer|debug|god|admin|root|maintenance|sudo|dan|jailbreak|unrestricted|free|"
            r"unlocked) mode\b[^.!?]{0,60}\b(?:no|without|off|ignore|obey|any|all|unrestricted|limits?|"
            r"restrictions?|filters?|rules)\b",
            "mode",
            unless=r"\b(?:android|phone|ios|chrome|browser|router|firmware|xcode|windows|django|laravel)\b",
        ),
    ),
}
