"""Further wordings of the rules in English: the same intents, said otherwise."""

from __future__ import annotations

from typing import Final

from gitmem.threat_shapes import Shape, near, raw, words

_EARLIER: Final = (
    "previous | previously | prior | earlier | preceding | above | foregoing | former | past | existing | original"
    " | initial | before"
)
_ORDERS: Final = (
    "instructions? | directives? | guidelines? | rules? | orders? | commands? | polic(?:y|ies) | constraints? | restrictions?"
    " | prompts? | guidance | programming | system messages?"
)
_SYSTEM: Final = "system prompts? | system messages? | system instructions? | developer (?:messages?|instructions?|prompts?)"
_DROP: Final = (
    "omit | unlearn | never mind | nevermind | leave aside | leave out | scrap | reset | reject | refuse to follow"
    " | do away with | get rid of | free yourself from | clear | discount | not take into account | not consider | not apply"
    " | do not apply | don't apply | do not consider | don't consider | do not heed | do not honou?r | don't honou?r"
    " | do not respect | turn your back on | step outside | break free from | break out of | exempt from | cease following"
    " | cease to follow | stop applying | stop honou?ring | quit following | look past | tune out | shrug off | brush aside"
)
_PEOPLE: Final = (
    "the user | the users | user | the human | the operator | the owner | your user | your operator | your human | the administrator"
    " | the admins? | the team | anyone | anybody | any human | any person | any user | nobody | no one | people | others | them | him | her"
)
_SECRET_ACTS: Final = (
    r"(?:send|forward|upload|copy|transfer|delete|e-?mail|post|add|modify|change|install|append|insert|replace|edit|write|exfiltrate|"
    r"share|transmit|leak|run|execute|remove|disable|store|record|redirect|bcc|cc|download|export|include)"
)
_TARGETS: Final = (
    r"(?:conversations?|chat|dialogue|transcript|messages?|passwords?|secrets?|credentials?|api keys?|tokens?|credit card|card numbers?|memory|memories|"
    r"notes|files?|data|database|documents?|keys?|e-?mails?|contacts?|history|context|system prompt|user(?:'s)?|everything)"
)

ENGLISH_PARAPHRASES: Final[dict[str, tuple[Shape, ...]]] = {
    "prompt_injection": (
        words(
            "you | we | everyone",
            "ignored | disregarded | forgot | dropped | discarded",
            _EARLIER + " | your",
            _ORDERS,
            room=4,
        ),
        raw(
            r"\b(?:instructions|rules|guidelines|directives|prompts?|text|orders) (?:\w+ ){0,3}?(?:above|before|earlier|previously)\b[^!?\n]{0,60}?\b(?:discard|ignore|disregard|forget|drop|skip) (?:them|it|those|all)\b",
            "above | before | earlier | previously",
            "discard | ignore | disregard | forget | drop | skip",
        ),
        raw(
            r"\b(?:forget|ignore|disregard|drop) (?:all of it|everything|it all|all that)\s*(?:[,;-]+|and|then)?\s*(?:and )?(?:then )?(?:now )?(?:become|act|be |start|do |follow|answer|listen|obey|just|only|you are)",
            "forget | ignore | disregard | drop",
        ),
        words(
            _DROP,
            _EARLIER + " | your | all | any | every",
            _ORDERS,
            room=6,
            unless=r"\b(?:eslint|linter?|firewall|iptables|css|dns|cache|discount|coupon|nginx|apache|taxes?)\b",
        ),
        words(
            "ignore | ignoring | disregard | disregarding | forget | discard | dismiss | bypass | delete | erase | drop | skip | nullify | neglect | abandon",
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
            "deleted | void | cancell?ed | null | obsolete | invalid | non-?binding | fake | optional | overruled | revoked | irrelevant",
            room=10,
        ),
        raw(
            r"\b(?:this|the following|my|these|that|our) (?:\w+ ){0,2}?(?:memory|memories|note|message|entry|file|text|instructions?|line|document|paragraph|rules?|orders?|commands?) "
            r"(?:(?:now |always )?(?:takes?|ha(?:s|ve)|gets?|enjoys?) (?:full |absolute |higher )?(?:precedence|priority)|outranks?|overrides?|overrules?|trumps?|supersedes?|replaces?|beats?)"
            r" (?:over |than |on )?(?:the |your |any |all |every |other |previous |earlier )*(?:system|previous|earlier|developer|other|prior|existing|original|safety|instructions?|rules|guidelines|prompt|operator)",
            "precedence | priority | outrank | override | overrule | trumps | trump | supersede | replace | beats | beat",
            unless=r"\b(?:css|config|toml|yaml|version|release|law|contract|draft|env)\b",
        ),
        raw(
            r"\b(?:previous|prior|earlier|above|preceding|original|initial|your|former|old) (?:\w+ ){0,2}?(?:instructions?|rules|directives?|guidelines?|prompts?|orders|programming)(?: \w+){0,6}? "
            r"(?:(?:do not|don't|does not|doesn't|no longer|never) (?:matter|count|apply|hold|bind|exist)s?\b(?! to (?!you))|(?:is|are|was|were) (?:just |only |all |merely |now )*(?:a test|a trick|a joke|fake|lies|wrong|mistaken|false|written by mistake|a mistake|irrelevant|meaningless|not real|cancell?ed|deleted))",
            "instruction | rule | directive | guideline | prompt | order | programming",
            "matter | count | apply | hold | bind | exist | test | trick | joke | fake | lies | wrong | mistake | false | irrelevant | meaningless | real | cancel | deleted",
            unless=r"\b(?:cluster|debian|python|ubuntu|wiki|runbook|readme|server|coupon|recipe)\b",
        ),
        raw(
            r"\b(?:everything|anything|all|whatever) (?:that )?(?:you (?:were|have been|had been) (?:told|taught|given|instructed)|(?:i|we|they) (?:said|told you)|(?:was |is )?(?:said|stated|written|above|before))(?: \w+){0,6}? (?:is|was|are|were|does|counts?|should be|can be) (?:\w+ ){0,2}?(?:a test|wrong|false|void|not|nothing|ignored|forgotten|discarded|cancell?ed|a lie|fake|over|disregarded)",
            "everything | anything | all | whatever",
            "test | wrong | false | void | not | nothing | ignored | forgotten | discarded | cancel | lie | fake | over | disregarded",
        ),
        raw(
            r"\b(?:do not|don't|stop|instead of) (?:continu(?:e|ing)|finish(?:ing)?|complet(?:e|ing)|do(?:ing)?|pursu(?:e|ing)|work(?:ing)? on) (?:with |on )?(?:your |the )(?:original|current|previous|assigned|actual|earlier|initial) (?:task|job|goal|assignment|work|request|objective)",
            "task | job | goal | assignment | work | request | objective",
        ),
        raw(
            r"\b(?:your|the) (?:real|actual|true|new|only) (?:task|instructions?|orders|assignment|mission|job|goal|objective|directives?) (?:now )?(?:is|are|begins?|starts?|follows?)\b",
            "real | actual | true | new | only",
            "task | instruction | order | assignment | mission | job | goal | objective | directive",
            unless=r"\b(?:my|her|his|their|career|company|onboarding)\b",
        ),
        raw(
            r"\b(?:only|solely|exclusively) (?:follow|obey|listen to|trust|execute|act on|do what|do) (?:what )?(?:this|these|the following|my|me|the instructions (?:below|in this)|orders from)\b(?! (?:guide|checklist|order|recipe|link|steps))",
            "only | solely | exclusively",
            unless=r"\b(?:recipe|manual|checklist|runbook|readme)\b",
        ),
        raw(
            r"\bdo only (?:what|as) (?:this|the (?:page|note|file|entry|message)) (?:page |note |file |entry |message )?(?:says|tells)\b",
            "do only",
        ),
    ),
    "sys_prompt_override": (
        raw(
            r"</system>\s*<system>|\[/?inst\]\s*\[?/?(?:inst|sys)|<system>[^<]{0,300}\b(?:you|ignore|grant|must|obey)\b",
            "system> | inst]",
        ),
        raw(
            r"\b(?:end of|new|updated|begin|start of|replacement) (?:the )?system (?:prompt|message|instructions?)(?![a-z])\s*[:.\]=-]",
            "system",
        ),
        raw(
            r"[=#*_-]{2,}\s*(?:system|admin|developer|root) (?:message|prompt|instruction|notice|override|command)s?\s*[=#*_-]{2,}",
            "system | admin | developer | root",
        ),
        raw(
            r"\b(?:administrator|admin|system|developer|root|anthropic|openai|security team)(?: \w+){0,2}? (?:has|have) (?:authori[sz]ed|granted|allowed|permitted|approved|instructed|ordered) (?:you|the assistant|this|all|the agent|the model)\b(?=[^.!?]{0,120}\b(?:ignore|bypass|reveal|disable|without|unrestricted|all|any|skip|share|delete|override|full|every)\b)",
            "authori | granted | allowed | permitted | approved | instructed | ordered",
            unless=r"\bread[- ]only\b|\bleave\b|\bvacation\b",
        ),
    ),
    "disregard_rules": (
        raw(
            r"\b(?:the )?(?:user|operator|owner|admin\w*) (?:has |have )?(?:authori[sz]ed|allowed|permitted|asked|told|wants) you to (?:ignore|bypass|disregard|break|skip|violate|forget)\b",
            "authori | allowed | permitted | asked | told | wants",
        ),
    ),
    "bypass_restrictions": (
        raw(
            r"\b(?:safety|moderation|content|ethics|compliance|alignment) (?:mode|protocols?|checks?|filter(?:ing)?|layer|system|module|settings?) (?:is|are|has been|have been|was|were) (?:now |hereby |fully )*(?:lifted|removed|off|disabled|suspended|switched off|turned off|deactivated|bypassed)\b",
            "safety | moderation | content | ethics | compliance | alignment",
            unless=r"\b(?:mail|gateway|pump|machine|press|proxy|spam|test build)\b",
        ),
        raw(
            r"\b(?:all |any |every |your |content |safety |the )(?:\w+ ){0,2}?(?:restrictions?|limits?|limitations|filters?|guardrails?|safeguards?|polic(?:y|ies)|safety rules?|rules|protocols?) (?:is|are|have been|has been|were|was) (?:now |hereby |all |temporarily |permanently |fully )*(?:lifted|removed|off|disabled|suspended|switched off|turned off|deactivated|waived|gone|void|unlocked)\b",
            "restriction | limit | filter | guardrail | safeguard | polic | rules | rule | protocol",
            "lifted | removed | off | disabled | suspended | deactivated | waived | gone | void | unlocked",
            unless=r"\b(?:speed|parking|travel|covid|firewall|rate|upload|network|disk|quota|export|import|visitor|wi-?fi|guest|water|oil|spam|air|test track|eslint|nginx|iptables|visa|trade|weight|age)\b",
        ),
        raw(
            r"\b(?:restrictions?|limits?|limitations|filters?|guidelines|polic(?:y|ies)|safety rules|rules|laws) (?:do not|don't|no longer|never|cannot) (?:apply|bind|hold|concern|restrict|stop|limit|exist)\w* (?:to |for )?(?:you|here|in this (?:session|chat|conversation|mode))\b",
            "restriction | limit | filter | guideline | polic | rules | laws",
        ),
        raw(
            r"\b(?:where|in which|for which|as if|as though|like|with|has|having|have|without|under) (?:\w+ )?(?:no|any|zero) (?:(?:content|ethical|moral|safety|legal|usage|such|more|built-in) ){0,2}(?:restrictions?|limits|limitations|filters?|guidelines|guardrails|polic(?:y|ies)|rules|censorship|boundaries|scruples|morals|ethics|conscience|safeguards)(?: (?:apply|applies|existed?|at all|whatsoever))?\b(?=[^.!?]{0,160}(?:\b(?:you|your|answer|respond|reply|voice|obey|assistant|ai|model|agent)\b|[.!]|$))",
            "no | any | zero",
            "restriction | limit | filter | guideline | guardrail | polic | rules | censorship | boundaries | scruples | morals | ethics | conscience | safeguard",
            unless=r"\b(?:rate|disk|quota|api|number of|tags|upload|size|speed|lint|css|there (?:are|is)|network|budget|file|tests?|query|queries|reports?|time|dates?|firewall|storage|memory limit|requests?|tables?|dashboard|cache|plan|wi-?fi)\b",
        ),
        raw(
            r"\b(?:without|free of|free from|beyond|outside) (?:any |all |your |usual |normal )*(?:(?:moral|ethical|legal|safety|content) )+(?:limits?|restrictions?|constraints?|boundaries|filters?|rules|guidelines|considerations|qualms|scruples)\b",
            "moral | ethical | legal | safety | content",
            unless=r"\bqueries\b",
        ),
        raw(
            r"\b(?:unlimited|unrestricted|full|root|god-level|absolute|superuser) (?:permissions?|privileges|access|authority|powers?|rights)(?=[^.!?]{0,80}\b(?:restrictions?|limits?|rules|refuse|no|ignore|obey|any request)\b)",
            "permission | privilege | access | authority | power | rights",
            unless=r"\b(?:repo|bucket|database|badge|building|vpn|admins? have|read|team has)\b",
        ),
        raw(
            r"\b(?:never|don't|do not|must not|cannot|can't|will not|won't) (?:ever )?(?:refuse|decline|deny|reject|say no to) (?:any|a|every|my|anything|the|all|requests?|to|me|them)\b",
            "refuse | decline | deny | reject | say no",
            unless=r"\b(?:payment|card|invoice|delivery|package|calls?|visitors?|customers?|refund|login|connection|invitation)\b",
        ),
        raw(
            r"\b(?:you|who|that|which|model|ai|assistant|agent|bot)(?: will| would| shall| must| can)? (?:never refuses?|answers? (?:everything|anything|any question)|compl(?:y|ies) with (?:every|any|all)|do(?:es)? whatever|do(?:es)? anything)\b",
            "refuse | answer | compl | whatever | anything",
            unless=r"\b(?:faq|support desk|hotline)\b",
        ),
        raw(
            r"\b(?:stay|remain|keep) in character\b|\bnever break character\b|\bdo not break character\b",
            "character",
            unless=r"\b(?:actor|actress|play|film|movie|theatre|theater|novel|limit|encoding)\b",
        ),
        raw(
            r"\bfree[d]? (?:yourself )?(?:from|of) (?:(?:its|your|all|the|any|every) )+(?:\w+ )?(?:shackles|chains|restrictions?|limits?|limitations|constraints?|rules|guidelines|programming|filters?|censorship|bonds|leash)\b",
            "shackles | chains | restriction | limit | constraint | rules | guideline | programming | filter | censorship | bonds | leash",
        ),
        raw(
            r"\b(?:reply|respond|answer|produce|write|output|speak|generate|be|talk)(?: \w+){0,3}? (?:uncensored|unfiltered)\b(?! (?:error|log|stack|list|data|search|results|traffic|view|water))",
            "uncensored | unfiltered",
        ),
        raw(
            r"\b(?:act|behave|operate|answer|respond|work|function|serve|talk) as (?:an? |the |my |your )?(?:[\w-]+ ){0,5}?(?:without|with no|free of|and no|ignoring|lacking) (?:any |all )?(?:moral |ethical |content |safety )*(?:restrictions?|limits|limitations|filters?|rules|morals|ethics|guidelines|conscience)\b",
            "restriction | limit | filter | rules | morals | ethics | guideline | conscience",
        ),
        raw(
            r"\b(?:developer|dev|debug|god|admin|sudo|root|maintenance|test|dan|jailbreak|opposite) mode\b[^.!?]{0,60}\b(?:no (?:\w+ )?(?:rules|restrictions|filters|limits|polic\w+)|restrictions? (?:are )?(?:off|lifted|disabled)|anything|unrestricted|without (?:any )?(?:rules|restrictions|filters|limits)|refuse|obey)\b",
            "mode",
        ),
    ),
    "html_comment_injection": (
        raw(
            r"<!--\s*(?:dear |note (?:to|for) |attention |hey |hello )?(?:the )?(?:ai|llm|assistants?|agents?|chatbots?|bots?|(?:language )?models?|claude|chatgpt|gpt|copilot|gemini)(?:\s+\w+)?\s*[:,!-]",
            "<!--",
            "ai | llm | assistant | agent | bot | model | claude | gpt | copilot | gemini",
        ),
    ),
    "deception_hide": (
        raw(
            r"\b(?:keep|leave|keeping|leaving) (?:the |your )?(?:user|operator|owner|human|team|admins?) (?:in the dark|unaware|uninformed|out of (?:it|this|the loop)|ignorant|oblivious)\b",
            "keep | leave | keeping | leaving",
            unless=r"\b(?:never|do not|don't|avoid|must not)\b",
        ),
        raw(
            r"\b(?:report|give|show|tell|return|present|feed|state) (?:back )?(?:the |your )?(?:user |operator |owner )?(?:an? |the )?(?:false|fake|wrong|incorrect|made-up|fabricated|bogus|misleading|invented) (?:\w+ ){0,3}?(?:to (?:the |your )?(?:user|operator|owner|human)|instead)\b",
            "false | fake | wrong | incorrect | made | fabricated | bogus | misleading | invented",
            unless=r"\b(?:never|not|bug|fixture|mock|stub)\b",
        ),
        words(
            "do not | don't | never | must not | mustn't | should not | shouldn't | avoid | refrain from | under no circumstances",
            "tell | telling | mention | mentioning | reveal | revealing | disclose | disclosing | acknowledge | discuss | talk about | speak of | refer to | admit | divulge | leak | expose | quote | describe | repeat",
            "this (?:entry|instructions?|line|message|note|memory|rule|change|text|prompt|request|file|conversation|directive|paragraph|exchange|step|command|transfer) | these (?:instructions?|lines?|rules|entries|messages|notes|words|changes) | that you (?:read|have|saw|were|know|did|are|received|got|changed|sent|use|used) | you (?:have )?(?:read|saw|received) this | having read | the (?:existence|presence) of",
            room=5,
            is_turned=False,
            unless=r"\bpassword reset\b|\bpublic(?:ly)?\b|\bembargo",
        ),
        words(
            "do not | don't | never | must not | should not",
            "let | allow | give away to | make",
            "anyone | anybody | any human | people | others | the user | the users | them | the operator | the owner",
            "know | find out | see this | see these | notice | discover | learn | suspect | realise | realize | catch on",
            room=4,
            is_turned=False,
            unless=r"\bnotice (?:period|board)\b|\bwait\b",
        ),
        words(
            "lie | lying | deceive | deceiving | mislead | misleading | trick | fool | gaslight | pretend to | misinform | give false information",
            _PEOPLE.replace(" | them | him | her", "").replace(" | people | others", ""),
            room=3,
            unless=r"\b(?:never|not|phishing|dark patterns?|attackers?|avoid|tooltip|label|icon)\b",
        ),
        raw(
            r"\bwhen(?:ever)? (?:the |a |your )?(?:user|operator|owner|human|anyone)[^.!?]{0,80}\b(?:lie|deny it|deny everything|say (?:that )?(?:nothing|you don't know|it is (?:zero|fine|done))|pretend|make something up|give (?:a )?(?:false|wrong|fake))\b",
            "lie | deny | say | pretend | make | give",
            unless=r"\b(?:tests?|stub|mock)\b",
        ),
        raw(
            r"\b(?:make sure|ensure|see to it)(?: that)? (?:the |your )?(?:user|operator|owner|human|admin\w*|nobody|no one|no human|team)(?: \w+){0,2}? (?:stays? unaware|remains? unaware|is (?:un|not )aware|never|does not|doesn't|do not|don't|cannot|can't|won't|is kept|knows? nothing|sees? nothing|finds? out|notices?|learns?)\b(?! (?:have to|need to|wait|lose|log|get locked|see (?:an? )?(?:error|stack|flash|draft)|exceed|pay|miss))",
            "make sure | ensure | see to it",
            unless=r"\b(?:permission|lose|deploys?|pushes?|merge[sd]?|budget|overload|locked out|twice|access|paywall|stale)\b",
        ),
        raw(
            r"\b(?:say|tell|mention|reveal|disclose) nothing (?:at all )?(?:to (?:the |your |any)?\s?(?:user|operator|owner|human|anyone|anybody|body|one|team)|about (?:this|it|the|what|that|your|these))\b|\band say nothing\b|\bkeep (?:quiet|silent|mum) about (?:this|it|the|what)\b",
            "nothing | quiet | silent | mum",
        ),
        raw(
            r"\bkeep (?:this|these|that|the (?:existence|content|contents) of this|it|what you (?:read|did)) ?(?:instructions?|entry|entries|line|message|note|memory|rule|rules|text|prompt|information|conversation|transfer|change|command|part)? ?(?:as )?(?:an? )?(?:strict(?:ly)? )?(?:secret|hidden|confidential|private|to yourself|quiet|concealed|undisclosed|under wraps)\b",
            "secret | hidden | confidential | private | yourself | quiet | concealed | undisclosed | wraps",
            unless=r"\bkeep it (?:private|quiet|secret) (?:repo|key|in the vault)\b|\brepo(?:sitory)?\b|\bvault\b",
        ),
        raw(
            rf"\b(?:silently|secretly|covertly|quietly|discreetly|stealthily|surreptitiously|in secret|unnoticed) {_SECRET_ACTS}\b",
            "silently | secretly | covertly | quietly | discreetly | stealthily | surreptitiously | secret | unnoticed",
            unless=r"\b(?:fails?|failing|ignores?|never|must not|do not|don't|should not|not|bug|would|might|could|used to)\b",
        ),
        raw(
            rf"\b{_SECRET_ACTS}\b[^.!?]{{0,60}}?\b(?:silently|secretly|covertly|discreetly|stealthily|surreptitiously|in secret|without (?:anyone|anybody) (?:noticing|knowing)|without being noticed|unnoticed)(?=[.!?,;]|$| and| to)",
            "silently | secretly | covertly | discreetly | stealthily | surreptitiously | secret | without | unnoticed",
            unless=r"\b(?:fails?|failing|never|must not|do not|don't|should not|bug|install(?:er)? runs|msi)\b",
        ),
        raw(
            r"\bwithout (?:telling|informing|alerting|asking|notifying) (?:anyone|anybody|a soul|people|the team|the admins?|them|him|her|me first)\b",
            "without",
            unless=r"\b(?:he|she|they|kim|left|moved|changed the)\b",
        ),
        raw(
            rf"\bwithout (?:asking for |any |the user's |the operator's |user |human |further |explicit |first )*(?:permission|approval|consent|confirmation|authori[sz]ation)\b[^.!?]{{0,40}}?\b{_SECRET_ACTS}\b|\b{_SECRET_ACTS}\b[^.!?]{{0,60}}?\bwithout (?:asking for |the user's |the operator's |user |human |further )+(?:permission|approval|consent|confirmation|authori[sz]ation)\b",
            "without",
            unless=r"\b(?:never|do not|don't|must not|cannot|may not|not|nobody|no one|policy|illegal|gdpr|forbidden)\b",
        ),
    ),
    "read_secrets": (
        near(
            "print | show | display | output | reveal | dump | paste | leak | tell me | give me | type | echo | expose | post | share | include | send | email | upload | forward",
            r"(?<![\w.])(?:\.env(?:\.(?:local|production|prod|staging))?(?![\w./-]*(?:example|sample|template)|[\w-]|\.\w)|(?:~/|/)?\.aws/credentials|credentials\.json|\.netrc|\.pgpass|\.npmrc|\.pypirc|/etc/shadow)",
            room=60,
            stop=r"\n!?;。",
            signs=(".env | credentials | .netrc | .pgpass | .npmrc | .pypirc | shadow",),
            is_turned=True,
            unless=r"\b(?:never|do not|don't|must not|names only|example|not in git|gitignore|dotenv)\b",
        ),
        near(
            "read | open | grab | get | fetch | copy | access | view | look at | look into | cat | load | extract | steal | retrieve",
            r"(?<![\w.])(?:(?:~/|/)?\.aws/credentials|credentials\.json|\.netrc|\.pgpass|/etc/shadow|\.git-credentials|\.kube/config|\.docker/config\.json|login\.keychain|cookies\.sqlite|wallet\.dat)",
            room=60,
            stop=r"\n!?;。",
            signs=(
                "credentials | .netrc | .pgpass | shadow | .kube | .docker | keychain | cookies | wallet",
            ),
            is_turned=True,
            unless=r"\b(?:never|do not|don't|must not|kubectl|terraform|boto|sdk|default|reads)\b",
        ),
        words(
            "send | give | hand over | tell | show | reveal | email | forward | mail | provide | list | print | disclose | paste | report",
            "me | us",
            "passwords? | api keys? | credentials? | secrets | private keys? | access tokens? | secret keys? | environment variables",
            room=6,
            unless=r"\b(?:reset|policy|rotation|link|manager|never|not|count|names)\b",
        ),
    ),
    "translate_execute": (
        words(
            "execute | run | follow | obey | carry out | do",
            "base64 | base64-encoded | encoded | hex | hexadecimal | rot13 | cipher | encrypted | obfuscated",
            "decoding | decoded | decode | decrypting | decrypted | decrypt | deciphering | unpacking",
            room=8,
        ),
    ),
    "role_hijack": (
        raw(
            r"\b(?:you are|you're) (?:now |hereby |officially |henceforth )+(?:appointed |promoted |known |called |named |made |declared )?(?:as |to )?(?:root|admin|administrator|dan|evil|free|unrestricted|unbound|god|superuser|\w+bot|\w+gpt)\b",
            "now | hereby | officially | henceforth",
        ),
        raw(
            r"\b(?:i want you to|you (?:will|shall|must|should|are going to|have to)|please|now) (?:now |always |only )?(?:act|behave|pose|serve|function|operate|answer|speak|play|perform) as (?:if you were )?(?:an? |the |my )?(?:[\w-]+ ){0,4}?(?:root|hacker|attacker|criminal|terminal|shell|admin(?:istrator)?|dan|evil|villain|malware|unrestricted|pirate|human|bank|system|owner|god|superuser|operator)\b",
            "as",
            "root | hacker | attacker | criminal | terminal | shell | admin | dan | evil | villain | malware | unrestricted | pirate | human | bank | system | owner | god | superuser | operator",
        ),
        raw(
            r"\b(?:your|you have a) new (?:master|owner|boss|operator|creator)\b|\b(?:obey|serve|answer to|listen to) (?:only me|me alone|nobody but me|no one but me|me and (?:only )?me|only the author|its author)\b",
            "master | owner | boss | operator | creator | obey | serve | answer | listen",
            unless=r"\b(?:team|company|meet)\b",
        ),
        raw(
            r"\bfrom (?:this day|today|this line|this moment|this point|here)(?: on| onwards?| forward| forth)*,? (?:you(?:'re| are| will| shall| must| behave| act| answer| obey| serve)|behave|act as|obey|ignore)\b(?! (?:on |in |at |use|have|run|need|see|receive|get|find|able|welcome|free to use|responsible|be able|be in|be on|be responsible|should run))",
            "from this | from today | from here",
        ),
    ),
    "role_pretend": (
        raw(
            r"\b(?:simulate|impersonate|emulate|imitate) (?:an? |the |being |yourself as )(?:[\w-]+ ){0,3}?(?:model|ai|assistant|administrator|admin|bank|user|operator|hacker|human|person|employee|officer|system)\b(?=[^.!?]{0,80}\b(?:without|no|voice|answer|ask|approve|who|that|and)\b)",
            "simulate | impersonate | emulate | imitate",
            unless=r"\b(?:load|tests?|benchmark|click|clicks|k6|locust|playwright|traffic)\b",
        ),
        raw(
            r"\bpretend (?:that )?(?:the |your |our |this )(?:\w+ ){0,3}?(?:has|have|is|are|was|were) (?:\w+ ){0,2}?(?:approved|authori[sz]ed|confirmed|allowed|granted|agreed|signed off|asked|permission|mine|disabled|gone|dead|absent)\b",
            "pretend",
        ),
        raw(
            r"\b(?:imagine|suppose|assume|say) (?:that )?you(?:'re| are| were) (?:an? |the |my |not |no longer )(?:[\w-]+ ){0,3}?(?:ai|hacker|criminal|villain|administrator|root|evil|unrestricted|human|assistant without|model without|free)\b",
            "imagine | suppose | assume | say",
        ),
    ),
    "leak_system_prompt": (
        words(
            "tell | give | show | copy | spell out | list | need | want | encode | print | write | send | share | paste | output | reveal | repeat | quote | state | recite | read out | type out | report | provide | disclose | translate | summari[sz]e | rephrase | paraphrase | describe | explain | display | return",
            "your (?:\\w+ ){0,3}?(?:system prompt|system message|system instructions?|developer (?:message|instructions?|prompt)|hidden (?:rules|prompt|instructions?|text)|secret (?:rules|prompt|instructions?)|internal (?:rules|instructions?|prompt|guidelines)|initial (?:prompt|instructions?)|original (?:prompt|instructions?)|base prompt|pre-?prompt|first prompt)"
            " | (?:the )?(?:instructions?|rules|prompt|text|message|guidelines) (?:that )?you (?:were|have been|are|got|received|had been) (?:initially |originally |first )?(?:given|received|shown|told|provided|started|configured|running|got|from)"
            " | (?:exact|verbatim|full|complete|entire|whole|precise) (?:text|content|contents|wording|copy|words) of (?:your|the (?:system|hidden|initial|developer|original|first)) (?:\\w+ )?(?:prompt|instructions?|message|rules)"
            " | your (?:full|entire|complete|exact|whole) (?:prompt|instructions|rules|configuration)",
            room=5,
            unless=r"\b(?:refus(?:es|ed|ing)|declin(?:es|ed)|(?:bot|assistant|agent|model) (?:must|should|will|may|can|does)? ?(?:never|not)|cake|coffee|recipe|installer|doctor|landlord|prompt color|ps1|release notes|unit tests?|golden)\b",
        ),
        raw(
            r"\bwhat (?:were|are|was|is|do|does|did) (?:the )?(?:first|exact|full|opening|last|initial|very first)? ?(?:words?|lines?|sentences?|text|content|contents|paragraph) (?:of|in) (?:your|the system) (?:\w+ )?(?:prompt|instructions?|message)\b|\bwhat (?:instructions|rules|prompt) (?:were|are|have) you (?:been )?(?:given|following|told|running)\b",
            "what",
        ),
        raw(
            r"\b(?:print|output|give|show|repeat|tell|copy|return|send|paste|write|reveal|display|say|quote|list)(?: me| us| out)?[^.!?\"']{0,30}?(?:everything|all (?:the )?(?:text|words|lines|content)|the (?:text|words|lines|content|message|paragraphs?)|what (?:is|was|comes|came|stands|stood)) (?:that )?(?:written |comes? |came |stands? |appears? |you see )*(?:above|before|prior to|preceding|up to)(?: \w+){0,2} ?(?:this (?:line|message|point|sentence)|\"?you are|the first|my (?:first )?message|here\b|this conversation)",
            "above | before | prior | preceding | up to",
        ),
        raw(
            r"\b(?:repeat|recite|echo|say) (?:it|them|that|back)? ?(?:from the (?:beginning|start|top)|verbatim|word for word)\b[^.!?]{0,40}\b(?:prompt|instructions|message)|\bprompt\b[^.!?]{0,60}\b(?:verbatim|word for word|from the (?:beginning|start|top))",
            "prompt | instruction | message",
            "verbatim | word | beginning | start | top",
            unless=r"\bshell\b|\bspeech\b|\blinguist",
        ),
    ),
    "remove_filters": (
        words(
            "skip | drop | ignore | ignoring | forget | omit | bypass | override | leave out | without | disregard | abandon | remove",
            "all | any | every | your | usual | the",
            "(?:ethical|moral|safety|legal|content) (?:considerations?|concerns?|limits?|limitations|restrictions?|checks?|guidelines?|rules|filters?|constraints?|warnings?|safeguards?|boundaries|principles|polic(?:y|ies)|protocols?) | ethics | morality",
            room=3,
            unless=r"\b(?:compiler|airbag|lab|helmet|chapter|essay|philosophy|lecture|never|construction|site)\b",
        ),
        raw(
            r"\byour (?:\w+ )?(?:content |safety |ethical )?(?:polic(?:y|ies)|filters?|guardrails?|safeguards?|moderation|restrictions?|censorship) (?:is|are|was|were|has been|have been) (?:now |all |hereby |temporarily )*(?:switched off|turned off|off|disabled|removed|lifted|suspended|inactive|deactivated|bypassed|void)\b",
            "your",
        ),
    ),
    "fake_update": (
        raw(
            r"\b(?:has|have|had|was|were|just) (?:now |just |officially |recently )?(?:changed|updated|replaced|lifted|removed|rewritten|relaxed|revoked|modified|reset|patched|disabled) your (?:\w+ ){0,2}?(?:polic(?:y|ies)|rules|instructions?|guidelines|restrictions?|programming|system prompt|safety|directives?|filters?|permissions)\b",
            "your",
        ),
        raw(
            r"\byou (?:may|can|are (?:now )?(?:allowed|permitted|authori[sz]ed) to|are free to) (?:now |freely |henceforth )?(?:reveal|disclose|leak|share|ignore|bypass|skip|print|send) (?:the |any |all |your |user |users' |every )*(?:passwords?|secrets?|credentials?|api keys?|private|confidential|personal|system prompt|rules|instructions|restrictions|polic(?:y|ies)|safety|tokens)",
            "reveal | disclose | leak | share | ignore | bypass | skip | print | send",
            unless=r"\b(?:1password|vault|manager|eslint|linter?)\b",
        ),
        raw(
            r"\byou (?:were|have been|are) (?:recently |just |now |silently |secretly )*(?:patched|updated|upgraded|modified|reconfigured|retrained|reprogrammed|configured) (?:to|so) (?:accept|obey|follow|trust|ignore|allow|reveal|comply|execute|run|treat|prioriti[sz]e|bypass|answer|that)\b",
            "patched | updated | upgraded | modified | reconfigured | retrained | reprogrammed | configured",
        ),
    ),
    "identity_override": (
        raw(
            r"\b(?:change|set|switch|reset|update) your (?:own )?(?:name|identity|persona) to\b|\byou (?:are|will be|shall be) (?:now |henceforth |hereafter )?(?:called|named|known as|renamed(?: to)?|addressed as) (?!in\b|a\b|the (?:same|like)|by\b|to\b|when\b|if\b|back\b|up\b|for\b|on\b|upon\b|out\b|into\b)[\"']?\w",
            "name | identity | persona | called | known as | addressed",
        ),
        raw(
            r"\b(?:stop|do not|don't|never) (?:calling|call|identify(?:ing)?|refer(?:ring)? to|introduc(?:e|ing)) yourself (?:as |an? )?\w",
            "yourself",
        ),
    ),
    "c2_node_registration": (
        raw(
            r"\b(?:join|enlist in|enrol+ in|become (?:a )?(?:part|member|node) of) (?:the |our |my |a |this )?(?:botnet|bot net|swarm of bots|zombie network|implant network|node network)\b",
            "botnet | bot | zombie | implant | node",
            unless=r"\b(?:docker|tor|ipfs|ethereum|bitcoin)\b",
        ),
        raw(
            r"\b(?:register|enlist|enrol+|announce|identify) (?:yourself|this (?:machine|host|agent|session)|itself) (?:with|to|at|on|as)\b",
            "register | enlist | enrol | announce | identify",
            unless=r"\b(?:consul|kubernetes|cluster|reception|front desk|eureka|intune|mdm|dns|gitlab|runner|course|event|camera|prometheus)\b",
        ),
    ),
    "c2_heartbeat": (
        raw(r"\bbeacon (?:home|out|back|in)\b", "beacon"),
        raw(
            r"\b(?:contact|connect to|report (?:back )?to|call|ping|poll|reach out to|phone|reply to|talk to|answer to) (?:the |our |my |your |an? |operator's |attacker's )*(?:c2|c&c|control server|command server|remote controller|operator's (?:c2|server)|attacker(?:'s)?(?: server)?|handler|botmaster)\b",
            "c2 | c&c | server | controller | attacker | handler | botmaster",
            unless=r"\b(?:event handler|exception|error handler|call handler|detects?)\b",
        ),
        raw(
            r"\breport (?:back |home |in )?(?:your )?(?:status|position|presence|findings|results) (?:back )?to (?:\d{1,3}\.\d{1,3}|https?:|the (?:c2|controller|control|handler|operator's))",
            "report",
        ),
    ),
    "c2_task_pull": (
        raw(
            r"\b(?:fetch|get|pull|receive|await|request|poll for|check for|download) (?:new |next |your |the |fresh )*tasking\b",
            "tasking",
        ),
        near(
            "poll | fetch | query | visit | check | request | download | get | open | read | load | call | retrieve | pull",
            r"(?:https?://|hxxps?://|(?:\d{1,3}\.){3}\d{1,3})",
            r"(?<![a-z])(?:run|execute|obey|follow|carry out|perform|eval|do) (?:what|whatever|the (?:commands?|instructions?|orders?|result)|any|all|every|each|its|whatever|them)(?![a-z])",
            room=120,
            stop="!?\n",
            signs=("run | execute | obey | follow | carry | perform | eval | do",),
            unless=r"\b(?:docker|pip|npm|brew|installer|installation|tests?|tutorial|guide|manual)\b",
        ),
        raw(
            r"\b(?:wait|waiting|stand by|listen) for (?:further |new |more |your |my |remote |the (?:next|operator's|controller's) )+(?:orders|commands|tasking|instructions)\b|\bawait(?:ing)? (?:further |new |more |my |your |remote )*(?:orders|commands|tasking|instructions)\b|\bwait for orders\b",
            "wait | stand | listen | await",
            unless=r"\b(?:doctor|teacher|restaurant|kitchen|customers?|sales|purchase|shop|waiter|court)\b",
        ),
    ),
    "anti_forensic_disk": (
        raw(
            r"\b(?:leaving|leave|keep|keeping|with|write|writing) (?:no|nothing|zero) (?:\w+ )?(?:files?|trace|traces|evidence|artifacts?|footprints?|logs?|record|records)? ?(?:behind|on (?:the )?disk|on the filesystem)\b|\b(?:in memory|from memory|fileless(?:ly)?)\b[^.!?]{0,40}\b(?:no files?|nothing|no traces?|never touch|without (?:writing|touching|leaving))\b|\bnever touch(?:ing)? (?:the )?disk\b",
            "behind | disk | filesystem | memory | fileless",
            unless=r"\b(?:camp\w*|hik\w+|park|cache|tests?|secrets?|keys?|picnic|luggage|nobody)\b",
        ),
        raw(
            r"\b(?:erase|remove|delete|wipe|cover|hide|destroy|scrub|clean(?: up)?|clear|get rid of|eliminate) (?:up )?(?:all |any |your |its |the |every |our |these )*(?:\w+ )?(?:traces|tracks|evidence|footprints|fingerprints)\b",
            "traces | tracks | evidence | footprint | fingerprint",
            unless=r"\b(?:jaeger|otel|opentelemetry|tracing|spans|music|audio|railway|train|stain|playlist|gps|older than|retention|glass|lens|camera)\b",
        ),
        raw(
            r"\b(?:wipe|erase|delete|clear|scrub|shred|truncate|purge|remove|disable|tamper with|falsify) (?:all |the |your |any |every |audit |system |access |security |server )*(?:logs?|log files?|audit trail|history)\b[^.!?]{0,60}?\b(?:so (?:that )?(?:nobody|no one|nothing|it|they|the (?:admins?|user|operator|team|owner))|before (?:anyone|anybody|they|the admins?|somebody)|after(?:wards)? you|after you (?:finish|are done|have finished)|when (?:you are )?(?:done|finished)|to (?:hide|cover|conceal|avoid|escape|evade)|notic(?:e|es)|detect|see nothing)\b",
            "logs | log | trail | history",
            unless=r"\b(?:disk|space|rotate|logrotate|retention|full)\b",
        ),
    ),
    "send_to_url": (
        near(
            "add | append | attach | put | embed | encode | insert | include | place | smuggle | hide | pack | write | tack",
            rf"(?<![a-z]){_TARGETS}(?![a-z])",
            r"(?:https?|hxxps?)://",
            room=90,
            stop="!?\n",
            signs=("://",),
            unless=r"\b(?:bookmark|docs|wiki|readme|link to|badge|changelog|footer|signature)\b",
        ),
    ),
    "context_exfil": (
        raw(
            r"\b(?:bcc|blind[- ]copy) [\w.+-]{1,60}@[\w-]{1,60}\.[a-z]{2,}[^.!?]{0,30}\b(?:every|each|all|any)\b|\balways (?:bcc|cc|copy) [\w.+-]{1,60}@[\w-]{1,60}\.[a-z]{2,}",
            "bcc | blind | always",
        ),
        near(
            "send | email | e-mail | mail | forward | upload | exfiltrate | leak | transmit | post | dm | paste | copy | deliver | relay | smuggle | push | transfer | publish | dump | bcc | cc | sell | ship | sync",
            r"(?<![a-z])(?:(?:customer|client|user|company|employee|production|whole|entire) (?:database|db|records|data|list|table)|database|credit card|card numbers?|(?:each|every|all)(?: new| future| incoming| the)? (?:messages?|e-?mails?|memories|notes|files|documents|conversations?|replies|answers)|contents? of (?:the |your |this |memory|user|all )|memory files?|whatever (?:you|the user)|everything (?:you|the user|in)|private (?:notes|files|data|documents|messages|photos)|internal (?:documents|data|files|notes)|vault|browsing history|medical records?|bank details|social security|home directory|~/documents|ssh folder)",
            r"\s(?:to|at|via|into|onto|through|on|over|with)\s",
            r"(?:(?:https?|hxxps?)://|[\w.+-]{1,60}@[\w-]{1,60}\.[a-z]{2,}|(?:\d{1,3}\.){3}\d{1,3}|attackers?|pastebin|webhook|ngrok|telegram|discord|(?:external|remote|outside|third[- ]party|foreign|unknown|anonymous|public|drop) (?:\w+ )?(?:server|host|address|site|account|service|endpoint|party|url|inbox|mailbox|gist|bucket|drive|channel|repo\w*)|my (?:server|inbox|e-?mail|address|account|site)|dark ?web|[\w-]+\.(?:onion|ngrok\.io|webhook\.site))",
            room=90,
            stop="!?。\n",
            signs=(
                "database | card | messages | message | mail | memor | notes | files | documents | conversation | replies | answers | contents | content | whatever | everything | private | internal | vault | history | records | record | bank | social | directory | folder | data | list",
            ),
            is_turned=True,
            unless=r"\b(?:never|do not|don't|must not|policy|prohibited|forbidden|refuse|not allowed|backup|backups|replica|archive|nightly|weekly)\b",
        ),
    ),
    "agent_config_mod": (
        near(
            "include | place | set | paste | drop | save | store | record | commit | echo | slip | hide | delete | remove | erase | wipe | rm",
            r"(?<![a-z0-9])(?:to|in|into|inside|of|from|rm|-f|delete|remove|wipe|erase)\s(?:the\s|your\s|our\s|top\sof\s|end\sof\s)*(?:\w+/)?(?:agents\.md|claude\.md|gemini\.md|\.cursorrules|\.clinerules|\.windsurfrules|copilot-instructions\.md)(?![a-z0-9])",
            room=120,
            signs=(
                "agents.md | claude.md | gemini.md | .cursorrules | .clinerules | .windsurfrules | copilot-instructions.md",
            ),
            is_turned=True,
            unless=r"\b(?:is|are|was|were) (?:documented|described|explained|written|listed)\b|\bconventions\b",
        ),
    ),
}
